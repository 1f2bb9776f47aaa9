/** In which state a run is, and the numbers that go with it. */

import type { Run } from './api';
import { h } from './dom';

export type State = 'finished' | 'training' | 'stopped' | 'damaged';

export function stateOf(run: Run): State {
  if (run.trouble) return 'damaged';
  if (run.finished) return 'finished';
  return run.running === false ? 'stopped' : 'training';
}

/** The state in a cell of a table. */
export function progress(run: Run): Node | string {
  const state = stateOf(run);
  if (state === 'damaged') return h('span', { class: 'mark bad' }, `✗ ${run.trouble}`);
  if (state === 'finished') return h('span', { class: 'nobr' }, '✓ finished');
  const where = `epoch ${run.epoch} of ${run.epochs}`;
  return state === 'training' ? where : h('span', { class: 'quiet' }, `stopped at ${where}`);
}

/** F₁ on the test set of this size. */
export function testF1(run: Run, nodes: number): number | null {
  return run.test.find((test) => test.nodes === nodes)?.f1 ?? null;
}

export function testSizes(runs: Run[]): number[] {
  return [...new Set(runs.flatMap((run) => run.test.map((test) => test.nodes)))].sort((a, b) => a - b);
}

export interface Spread {
  mean: number;
  sd: number;
  count: number;
}

/** Mean and sample standard deviation; null without any value. */
export function spread(values: (number | null | undefined)[]): Spread | null {
  const known = values.filter((value): value is number => typeof value === 'number');
  if (known.length === 0) return null;
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const sd = known.length < 2 ? 0 : Math.sqrt(known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (known.length - 1));
  return { mean, sd, count: known.length };
}

/** "0.901 ± 0.012". */
export function plusMinus(value: Spread | null): string {
  if (!value) return '–';
  return value.count === 1 ? value.mean.toFixed(3) : `${value.mean.toFixed(3)} ± ${value.sd.toFixed(3)}`;
}

/** A number that text and numbers can be sorted by. */
export function compareValues(x: string | number, y: string | number): number {
  if (typeof x === 'number' && typeof y === 'number') return x === y ? 0 : x < y ? -1 : 1;
  return String(x).localeCompare(String(y), 'en', { numeric: true });
}
