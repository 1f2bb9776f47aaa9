/** The choice of a model, the same in the player and the playground. */

import type { Run } from './api';
import { h } from './dom';

let last: string | null = null;

/** Remembers which model was looked at, for the other views. */
export function chooseModel(id: string): void {
  last = id;
}

export function modelPicker(models: Run[], asked: string | null): HTMLSelectElement {
  const picker = h('select', {}, ...models.map((run) =>
    h('option', { value: run.id }, run.built_in ? `${run.name} (${run.model})` : `${run.name} (${run.task} ${run.model})`)));
  const known = [asked, last].find((id) => models.some((run) => run.id === id));
  if (known) picker.value = known;
  return picker;
}
