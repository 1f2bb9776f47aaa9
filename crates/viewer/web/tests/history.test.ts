import assert from 'node:assert/strict';
import test from 'node:test';
import type { Move, Replay } from '../src/api';
import { components, nextMistake, sameComponents, unroll } from '../src/history';

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

test('a model without pointers has no wrong ones', () => {
  const frames = unroll({ ...replay, pointers: 'none' });
  assert.ok(frames.every(({ wrong }) => wrong.size === 0));
});

test('components ignore directions and circles', () => {
  assert.deepEqual(components([1, 2, 0, 3, 3]), [0, 0, 0, 3, 3]);
  assert.ok(sameComponents([1, 1, 1], [0, 0, 1]));
  assert.ok(sameComponents([1, 0], [1, 1]));
  assert.ok(!sameComponents([0, 1], [1, 1]));
});
