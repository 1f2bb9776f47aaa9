/** The choice of a model, the same in the rollout and the playground. */

import { isMachine } from './about';
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
export function modelPicker(models: Run[], asked: string | null, all: Run[] = models): HTMLSelectElement {
  const options = models.map((run): [string, string] => [run.id, nameOf(run)]);
  const known = (id: string | null) => models.some((run) => run.id === id);
  const other = all.find((run) => run.id === asked);
  if (asked !== null && !known(asked)) options.unshift([asked, other ? `${other.name} (no rollout)` : `${asked} (not found)`]);
  return choice(options, asked ?? (known(last) ? last : null));
}

/** The chosen run; a sentence is thrown if there is none, or if it is one of `all` that cannot be rolled out. */
export function chosenModel(models: Run[], picker: HTMLSelectElement, all: Run[] = models): Run {
  const run = models.find((run) => run.id === picker.value);
  if (run) return run;
  const other = all.find((run) => run.id === picker.value);
  if (other && isMachine(other)) throw new Error(`\`${other.name}\` has no rollout: its operations are not all queries on two nodes. Choose it under Step by step instead.`);
  if (other) throw new Error(`\`${other.name}\` has no trained model yet. Choose another model.`);
  throw new Error(models.length ? `There is no trained model \`${picker.value}\` in the folder being served. Choose another model.` : 'There is no trained model to roll out.');
}
