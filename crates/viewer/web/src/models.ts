/** The choice of a model, the same in the rollout and the playground. */

import type { Run } from './api';
import { choice } from './dom';

let last: string | null = null;

/** Remembers which model was looked at, for the other views. */
export function chooseModel(id: string): void {
  last = id;
}

export function nameOf(run: Run): string {
  return run.built_in ? `${run.name} (${run.model})` : `${run.name} (${run.task} ${run.model})`;
}

/**
 * A choice of models. One that was asked for but is not there stays chosen under its own name, so
 * that the page never shows another model in its place.
 */
export function modelPicker(models: Run[], asked: string | null): HTMLSelectElement {
  const options = models.map((run): [string, string] => [run.id, nameOf(run)]);
  const known = (id: string | null) => models.some((run) => run.id === id);
  if (asked !== null && !known(asked)) options.unshift([asked, `${asked} (not found)`]);
  return choice(options, asked ?? (known(last) ? last : null));
}

/** The chosen run; a sentence is thrown if there is none. */
export function chosenModel(models: Run[], picker: HTMLSelectElement): Run {
  const run = models.find((run) => run.id === picker.value);
  if (run) return run;
  throw new Error(models.length ? `There is no trained model \`${picker.value}\` in the folder being served. Choose another model.` : 'There is no trained model to roll out.');
}
