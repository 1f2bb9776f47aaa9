import assert from 'node:assert/strict';
import test from 'node:test';
import type { Move, Replay } from '../src/api';
import { components, nextMistake, rightSets, unroll } from '../src/history';

const step = (u: number, v: number, answers: [0 | 1, 0 | 1], truth: Move[], model: Move[], visited: [number[], number[]]) => ({
  u,
  v,
  truth: { answer: answers[0], visited: visited[0], moved: truth },
  model: { answer: answers[1], logit: 0, probability: 0.5, visited: visited[1], moved: model },
});

const replay: Replay = {
  task: 'dsu',
  nodes: 3,
  priorities: [0.1, 0.2, 0.3],
  pointers: 'masked',
  has_masks: true,
  has_attention: true,
  steps: [
    step(0, 1, [1, 1], [[0, 1]], [[0, 1]], [[0, 1], [0, 1]]),
    step(1, 2, [1, 0], [[1, 2]], [], [[1, 2], [1, 2]]),
    step(0, 2, [0, 0], [[0, 2]], [[0, 2]], [[0, 1, 2], [0, 2]]),
  ],
};

test('moves add up to pointers, and wrong ones are found', () => {
  const frames = unroll(replay);
  assert.deepEqual(frames.map(({ truth }) => truth), [[0, 1, 2], [1, 1, 2], [1, 2, 2], [2, 2, 2]]);
  assert.deepEqual(frames.map(({ model }) => model), [[0, 1, 2], [1, 1, 2], [1, 1, 2], [2, 1, 2]]);
  assert.deepEqual(frames.map(({ wrong }) => [...wrong]), [[], [], [1], [1]]);
});

test('mistakes are found by kind', () => {
  const frames = unroll(replay);
  assert.equal(nextMistake(frames, 0, 'answer'), 2);
  assert.equal(nextMistake(frames, 2, 'answer'), null);
  // At step 3 the wrong pointer is an old one.
  assert.equal(nextMistake(frames, 0, 'pointer'), 2);
  assert.equal(nextMistake(frames, 2, 'pointer'), null);
  assert.equal(nextMistake(frames, 0, 'mask'), 3);
});

test('left, right and flips are unrolled: sides as pointed to, and the tree that is represented', () => {
  const one = (fields: Record<string, Move[]>, truth: Move[]) => {
    const it = step(0, 1, [0, 0], truth, truth, [[0, 1], [0, 1]]);
    return { ...it, truth: { ...it.truth, fields } };
  };
  // 1 becomes the left child of 0, which hangs from 2 by a path-parent; then the flip of 0.
  const frames = unroll({ ...replay, task: 'lct', steps: [one({ left: [[0, 1]] }, [[1, 0], [0, 2]]), one({ flip: [[0, 1]] }, [])] });
  assert.deepEqual(frames[0].tree?.sides, [null, null, null]);
  assert.deepEqual([frames[1].tree?.sides, [...frames[1].tree!.pathParents]], [[null, 'left', null], [0]]);
  assert.deepEqual(frames[1].tree?.represented, [1, 2, 2]);
  assert.deepEqual([frames[2].tree?.represented, [...frames[2].tree!.flipped]], [[2, 0, 2], [0]]);
  assert.equal(unroll(replay)[1].tree, null);
});

test('a model without pointers has no wrong ones', () => {
  const frames = unroll({ ...replay, pointers: 'none' });
  assert.ok(frames.every(({ wrong }) => wrong.size === 0));
});

test('components ignore directions and circles', () => {
  assert.deepEqual(components([1, 2, 0, 3, 3]), [0, 0, 0, 3, 3]);
  assert.equal(rightSets([1, 1, 1], [0, 0, 1]), 3);
  assert.equal(rightSets([1, 0], [1, 1]), 2);
  assert.equal(rightSets([0, 1], [1, 1]), 0);
  assert.equal(rightSets([0, 0, 2, 2], [0, 0, 2, 3]), 2);
});
