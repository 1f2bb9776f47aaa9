import assert from 'node:assert/strict';
import test from 'node:test';
import { bottom, meanOf, smooth, top } from '../src/curves';
import { mostNodes, mostOperations, operationsOf } from '../src/limits';
import { certainty, probability, sigmoid } from '../src/probability';

test('a probability is never 0 or 1', () => {
  assert.equal(probability(0), '0.500');
  assert.equal(probability(2), '0.881');
  assert.equal(probability(-2), '0.119');
  assert.equal(probability(20), '1 − 2·10⁻⁹');
  assert.equal(probability(-20), '2·10⁻⁹');
  assert.equal(certainty(-20), '1 − 2·10⁻⁹');
  assert.equal(probability(-Math.log(1 / 9.7e-7)), '1·10⁻⁶', '9.7·10⁻⁷ is rounded up');
  for (let logit = -800; logit <= 800; logit += 1.7) {
    assert.doesNotMatch(probability(logit), /^(0|1|0\.000|1\.000)$/, `${logit}`);
    assert.ok(Math.abs(sigmoid(logit) + sigmoid(-logit) - 1) < 1e-12);
  }
});

test('limits: the largest n whose sequence is allowed, and none above', () => {
  const limits = { nodes: 500, operations: 2000, cells: 200_000, sequences: 100 };
  const allowed = (nodes: number, operations: number) => operations <= limits.operations && nodes * operations <= limits.cells;
  for (const source of ['test', 'chain'] as const) {
    const most = mostNodes(limits, source);
    assert.ok(allowed(most, operationsOf(source, most)));
    assert.ok(most === limits.nodes || !allowed(most + 1, operationsOf(source, most + 1)));
  }
  assert.equal(mostNodes(limits, 'own'), 500);
  assert.equal(mostOperations(limits, 500), 400);
  assert.equal(mostOperations(limits, 10), 2000);
});

test('a mean has its sd, at the epochs that all runs have', () => {
  const { points, band } = meanOf('pgn', [[[1, 0.5], [2, 0.7], [3, 1]], [[1, 0.7], [3, 0.8]]]);
  assert.deepEqual(points.map(([x, y]) => [x, Number(y.toFixed(6))]), [[1, 0.6], [3, 0.9]]);
  const sd = Math.SQRT2 / 10;
  assert.ok(Math.abs((band?.[0][2] ?? 0) - (0.6 + sd)) < 1e-9);
  assert.equal(meanOf('pgn', [[[1, 0.5]]]).band, undefined);
});

test('a few outliers do not flatten a curve', () => {
  const usual = Array.from({ length: 100 }, (_, i) => 0.1 + 0.001 * i);
  assert.equal(top([usual]), Math.max(...usual));
  assert.ok(top([[...usual, 50]]) < 1);
  assert.ok(bottom([[...usual, -10]]) > 0);
  assert.equal(bottom([usual]), 0.1);
  // All the rest is 1: there would be nothing to see.
  assert.equal(bottom([[0.7, 0.98, ...usual.map(() => 1)]]), 0.7);
  assert.equal(top([[]]), 1);
});

test('smoothing keeps the mean of a line and its ends in range', () => {
  const line = Array.from({ length: 50 }, (_, i): [number, number] => [i, i % 2]);
  const smoothed = smooth(line, 5);
  assert.equal(smoothed.length, 50);
  for (const [, y] of smoothed) assert.ok(y > 0.3 && y < 0.7);
  assert.equal(smooth(line, 1), line);
});
