import assert from 'node:assert/strict';
import test from 'node:test';
import { ASPECT, LARGEST, MARGIN, SMALLEST, cellSize, forest, place } from '../src/forest';

/** Numbers that look random but are the same every time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('a forest has roots, children and depths', () => {
  // 3 → 2 → 0, 1 alone
  const { roots, children, depth, backEdges } = forest([0, 1, 0, 2]);
  assert.deepEqual(roots, [0, 1]);
  assert.deepEqual(children, [[2], [], [3], []]);
  assert.deepEqual(depth, [0, 0, 1, 2]);
  assert.equal(backEdges.size, 0);
});

test('a cycle hangs from its lowest node', () => {
  // 1 → 2 → 3 → 1, 0 → 2, 4 ⇄ 5
  const { roots, depth, backEdges, children } = forest([2, 2, 3, 1, 5, 4]);
  assert.deepEqual(roots, [1, 4]);
  assert.deepEqual([...backEdges], [1, 4]);
  assert.deepEqual(children[1], [3]);
  assert.deepEqual(depth, [3, 0, 2, 1, 0, 1]);
});

test('any pointers at all are placed, none on top of another, all inside', () => {
  const next = numbers(7);
  for (let n = 1; n <= 120; n++) {
    const pointers = Array.from({ length: n }, () => next(n));
    const columns = 2 + next(25);
    const { x, y, width, height } = place(pointers, columns);
    assert.ok(width <= columns);
    const taken = new Set<string>();
    for (let node = 0; node < n; node++) {
      assert.ok(x[node] >= 0.5 && x[node] <= width - 0.5, `x of ${node}`);
      assert.ok(y[node] >= 0.5 && y[node] <= height - 0.5, `y of ${node}`);
      for (let other = 0; other < node; other++) {
        const apart = Math.abs(x[node] - x[other]) >= 0.99 || Math.abs(y[node] - y[other]) >= 0.99;
        assert.ok(apart, `${node} and ${other} of ${JSON.stringify(pointers)}`);
      }
      taken.add(`${x[node]},${y[node]}`);
    }
    assert.equal(taken.size, n);
  }
});

test('whoever points is below the target, cycles apart', () => {
  const next = numbers(3);
  const pointers = Array.from({ length: 80 }, (_, node) => next(node + 1));
  const { y } = place(pointers, 20);
  pointers.forEach((pointer, node) => assert.ok(pointer === node || y[node] > y[pointer]));
});

test('a long chain does not exhaust the stack', () => {
  const chain = Array.from({ length: 500 }, (_, node) => Math.max(0, node - 1));
  const { height } = place(chain, 10);
  assert.equal(height, 500);
  assert.equal(Math.max(...forest(chain).depth), 499);
});

test('a wide tree is made to fit a narrow room', () => {
  const star = Array.from({ length: 100 }, () => 0);
  assert.ok(place(star, 100).width > 10);
  assert.ok(place(star, 10).width <= 10);
});

test('cells are as large as the room allows', () => {
  const alone = Array.from({ length: 20 }, (_, node) => node);
  const [width, height] = [400, 300];
  const cell = cellSize([alone], width, height);
  const fits = (size: number) => {
    const [across, down] = [width - 2 * MARGIN, height - 2 * MARGIN];
    const places = place(alone, Math.floor(across / size));
    return places.width * size <= across && places.height * size * ASPECT <= down;
  };
  assert.ok(fits(cell) && (cell === LARGEST || !fits(cell + 1)));
  const chain = Array.from({ length: 100 }, (_, node) => Math.max(0, node - 1));
  assert.equal(cellSize([alone, chain], width, height), SMALLEST);
  assert.equal(cellSize([alone, chain], width, height, 7), 7);
});
