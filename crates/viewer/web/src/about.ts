/** What data structures and models are: the server knows, those of one's own included. */

import * as api from './api';

let known: api.About | null = null;

/** Asks once. Must come before the names are used. */
export async function learnNames(): Promise<void> {
  known ??= await api.about();
}

/** The name of a data structure; one that nobody knows goes by its own name. */
export function structureName(task: string): string {
  return known?.tasks?.[task] ?? task;
}

/** What the answers 0 and 1 of a data structure mean, if anybody knows. */
export function answerWords(task: string): [string, string] | undefined {
  return known?.answers?.[task];
}

/** What a model is, in a few words. */
export function aboutModel(model: string): string {
  return known?.models?.[model] ?? '';
}

/** Whether a run's model executes a program, micro-step by micro-step. */
export function isMachine({ model }: { model: string }): boolean {
  return model === 'pgn-machine';
}
