import assert from 'node:assert/strict';
import test from 'node:test';
import { binaryTree } from '../src/binary-tree';
import { place } from '../src/forest';

const memory = (fields: Record<string, (number | null)[]>) => new Map(Object.entries(fields));

test('binary trees are drawn in order, an only child on its own side', () => {
  // 3 is the root; 1 its left child, with 0 and 2 below; 5 its right child, with 4 on the left.
  const fields = memory({ up: [1, 3, 1, null, 5, 3], left: [null, 0, null, 1, null, 4], right: [null, 2, null, 5, null, null] });
  const tree = binaryTree(fields)!;
  assert.deepEqual(tree.sides, ['left', 'left', 'right', null, 'left', 'right']);
  const { x, y } = place([1, 3, 1, 3, 5, 3], 20, tree.sides);
  for (let node = 1; node < 6; node++) assert.ok(x[node - 1] < x[node], `${node}: ${x}`);
  assert.deepEqual(y.map(Math.floor), [2, 1, 2, 0, 2, 1]);
  // Zig-zig and zig-zag look different.
  const chain = place([1, 2, 2], 20, ['left', 'left', null]);
  const bent = place([1, 2, 2], 20, ['right', 'left', null]);
  assert.ok(chain.x[0] < chain.x[1] && bent.x[0] > bent.x[1]);
});

test('a link/cut tree stands for a tree: paths in order, flips pending, path-parents above', () => {
  // The path 0, 1, 2 in a splay tree with root 1; 3 hangs by a path-parent below 2's path at 1.
  const fields = { up: [1, null, 1, 1], left: [null, 0, null, null], right: [null, 2, null, null] };
  const plain = binaryTree(memory({ ...fields, flip: [0, 0, 0, 0] }))!;
  assert.deepEqual([...plain.pathParents], [3]);
  assert.deepEqual(plain.represented, [0, 0, 1, 1]);
  const flipped = binaryTree(memory({ ...fields, flip: [0, 1, 0, 0] }))!;
  assert.deepEqual([...flipped.flipped], [1]);
  assert.deepEqual(flipped.represented, [1, 2, 2, 1]);
});

test('programs without left and right have no sides', () => {
  assert.equal(binaryTree(memory({ up: [null, 0] })), null);
  assert.equal(binaryTree(memory({ up: [null], left: [null], right: [null] }))!.represented, null);
});
