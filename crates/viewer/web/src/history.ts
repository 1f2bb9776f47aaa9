/** A replay unrolled: where every pointer is after every step, and what is wrong with it. */

import type { Replay, ReplayStep } from './api';
import { type BinaryTree, binaryTree } from './binary-tree';

/** The structure after `step` operations; at step 0 every node points to itself. */
export interface Frame {
  step: number;
  operation: ReplayStep | null;
  truth: number[];
  model: number[];
  /** Nodes whose pointer the last operation moved. */
  truthMoved: Set<number>;
  modelMoved: Set<number>;
  /** Nodes with mask 0 in the last operation; null where the model has no masks. */
  truthVisited: Set<number>;
  modelVisited: Set<number> | null;
  /** Nodes whose pointer in the model is not the truth's. */
  wrong: Set<number>;
  /** Left and right in the truth, for structures that tell them apart. */
  tree: BinaryTree | null;
}

/** The further fields after a step, from those before it: new arrays for those that changed. */
function moved(before: Map<string, number[]>, { truth }: ReplayStep): Map<string, number[]> {
  const after = new Map(before);
  for (const [name, moves] of Object.entries(truth.fields ?? {})) {
    const values = before.get(name)?.slice() ?? [];
    for (const [node, to] of moves) values[node] = to;
    after.set(name, values);
  }
  return after;
}

/** Nil is written as the node itself, except in bits. */
function tree(up: number[], fields: Map<string, number[]>): BinaryTree | null {
  const nil = (values: number[]) => values.map((to, node) => (to === node ? null : to));
  return fields.size ? binaryTree(new Map([['up', nil(up)], ...[...fields].map(([name, values]): [string, (number | null)[]] => [name, SIDES.includes(name) ? nil(values) : values])])) : null;
}

const SIDES = ['left', 'right'];

export function unroll(replay: Replay): Frame[] {
  const self = Array.from({ length: replay.nodes }, (_, node) => node);
  const frames: Frame[] = [{
    step: 0,
    operation: null,
    truth: self,
    model: self,
    truthMoved: new Set(),
    modelMoved: new Set(),
    truthVisited: new Set(),
    modelVisited: replay.has_masks ? new Set() : null,
    wrong: new Set(),
    tree: null,
  }];
  const names = new Set(replay.steps.flatMap(({ truth }) => Object.keys(truth.fields ?? {})));
  let fields = new Map([...names, ...(names.size ? SIDES : [])].map((name) => [name, SIDES.includes(name) ? self : self.map(() => 0)]));
  if (replay.task === 'lct' && names.size) fields.set('flip', fields.get('flip') ?? self.map(() => 0));
  frames[0].tree = tree(self, fields);
  for (const [index, operation] of replay.steps.entries()) {
    const truth = frames[index].truth.slice();
    const model = frames[index].model.slice();
    for (const [node, to] of operation.truth.moved) truth[node] = to;
    for (const [node, to] of operation.model.moved) model[node] = to;
    fields = moved(fields, operation);
    const compare = replay.pointers !== 'none';
    frames.push({
      step: index + 1,
      operation,
      truth,
      model,
      truthMoved: new Set(operation.truth.moved.map(([node]) => node)),
      modelMoved: new Set(operation.model.moved.map(([node]) => node)),
      truthVisited: new Set(operation.truth.visited),
      modelVisited: operation.model.visited && new Set(operation.model.visited),
      wrong: new Set(compare ? self.filter((node) => truth[node] !== model[node]) : []),
      tree: tree(truth, fields),
    });
  }
  return frames;
}

export type Mistake = 'answer' | 'pointer' | 'mask';

/** Whether the last operation of a frame brought a mistake of this kind. */
export function hasMistake(frames: Frame[], step: number, kind: Mistake): boolean {
  const { operation, wrong, truthVisited, modelVisited } = frames[step];
  if (!operation) return false;
  if (kind === 'answer') return operation.truth.answer !== operation.model.answer;
  if (kind === 'pointer') return [...wrong].some((node) => !frames[step - 1].wrong.has(node));
  if (!modelVisited) return false;
  return truthVisited.size !== modelVisited.size || [...truthVisited].some((node) => !modelVisited.has(node));
}

/** The first step after `step` with a mistake of this kind, or null. */
export function nextMistake(frames: Frame[], step: number, kind: Mistake): number | null {
  for (let next = step + 1; next < frames.length; next++) {
    if (hasMistake(frames, next, kind)) return next;
  }
  return null;
}

/** The last step before `step` with a mistake of this kind, or null. */
export function previousMistake(frames: Frame[], step: number, kind: Mistake): number | null {
  for (let before = step - 1; before > 0; before--) {
    if (hasMistake(frames, before, kind)) return before;
  }
  return null;
}

/** The share of right pointers after each step; null where the model has none. */
export function pointerAccuracy(replay: Replay, frames: Frame[]): number[] | null {
  if (replay.pointers === 'none' || replay.pointers === 'given') return null;
  return frames.slice(1).map(({ wrong }) => 1 - wrong.size / replay.nodes);
}

/** The share of right masks in each step; null where the model has none. */
export function maskAccuracy(replay: Replay, frames: Frame[]): number[] | null {
  if (!replay.has_masks) return null;
  return frames.slice(1).map(({ truthVisited, modelVisited }) => {
    const both = [...truthVisited].filter((node) => modelVisited?.has(node)).length;
    return 1 - (truthVisited.size + (modelVisited?.size ?? 0) - 2 * both) / replay.nodes;
  });
}

/** How many nodes are connected to the very same nodes by both sets of pointers, ignoring directions. */
export function rightSets(a: number[], b: number[]): number {
  const [x, y] = [components(a), components(b)];
  const count = (keys: string[]) => keys.reduce((counts, key) => counts.set(key, (counts.get(key) ?? 0) + 1), new Map<string, number>());
  // The same component: as large in one as in the other, and as what they share.
  const [inX, inY, inBoth] = [x.map(String), y.map(String), x.map((lowest, node) => `${lowest} ${y[node]}`)];
  const [sizeX, sizeY, sizeBoth] = [inX, inY, inBoth].map(count);
  return x.filter((_, node) => sizeX.get(inX[node]) === sizeBoth.get(inBoth[node]) && sizeY.get(inY[node]) === sizeBoth.get(inBoth[node])).length;
}

/** For each node the lowest node it is connected to. */
export function components(pointers: number[]): number[] {
  const above = pointers.map((_, node) => node);
  const find = (node: number): number => {
    while (above[node] !== node) {
      above[node] = above[above[node]];
      node = above[node];
    }
    return node;
  };
  for (const [node, pointer] of pointers.entries()) {
    const [x, y] = [find(node), find(pointer)];
    above[Math.max(x, y)] = Math.min(x, y);
  }
  return pointers.map((_, node) => find(node));
}
