import assert from 'node:assert/strict';
import test from 'node:test';
import { Edits, readOperations, writeOperations } from '../src/edits';

test('every edit can be undone and redone', () => {
  const edits = new Edits({ nodes: 8, seed: 0, operations: [[0, 1]] });
  edits.change({ operations: [[0, 1], [2, 3]] });
  edits.change({ nodes: 4, operations: [] });
  edits.undo();
  assert.deepEqual(edits.now, { nodes: 8, seed: 0, operations: [[0, 1], [2, 3]] });
  edits.redo();
  assert.deepEqual(edits.now, { nodes: 4, seed: 0, operations: [] });
  edits.undo();
  edits.undo();
  // What was there from the start goes one by one.
  edits.undo();
  assert.deepEqual(edits.now.operations, []);
  assert.equal(edits.canUndo(), false);
  edits.change({ seed: 3 });
  assert.equal(edits.canRedo(), false, 'an edit forgets what was undone');
});

test('a refused edit leaves no trace', () => {
  const edits = new Edits({ nodes: 8, seed: 0, operations: [] });
  edits.change({ operations: [[0, 1]] });
  const accepted = edits.now;
  edits.change({ operations: [[0, 1], [2, 3]] });
  edits.change({ operations: [[0, 1], [2, 3], [4, 5]] });
  edits.retract(accepted);
  assert.equal(edits.now, accepted);
  edits.undo();
  assert.deepEqual(edits.now.operations, []);
});

test('operations in an address', () => {
  assert.deepEqual(readOperations(writeOperations([[0, 1], [12, 3]]), 13), [[0, 1], [12, 3]]);
  assert.deepEqual(readOperations('', 2), []);
  for (const bad of ['0-1.', '0-0', '0-13', '1', '-1-2', 'a-b', '0-1 2-3', '1e1-2']) assert.throws(() => readOperations(bad, 13), /expected two different nodes below 13/, bad);
});
