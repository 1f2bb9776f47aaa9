import assert from 'node:assert/strict';
import test from 'node:test';
import { readCalls, writeCalls } from '../src/machine';
import { ending, unrollMicro } from '../src/micro-memory';
import { textOf } from '../src/pseudo-code';

test('micro-steps are unrolled with lines and sentences', () => {
  const registers = (values: Record<string, number | null>) => ({ u: 0, v: 1, s: null, root: null, x: null, ...values });
  const moments = unrollMicro({
    program: 'dsu',
    operation: 'query_union',
    arguments: [['u', 0], ['v', 1]],
    outcome: { answer: 1 },
    fields: { up: [null, null, 0] },
    ranks: [1, 2, 3],
    steps: [
      { state: 'start', registers: registers({ s: 0, root: 0 }), writes: [] },
      { state: 'climb', registers: registers({ s: 0, root: 0 }), writes: [] },
      { state: 'compress', registers: registers({ s: 0, root: 0 }), writes: [] },
      { state: 'found', registers: registers({ s: 1, root: 1, x: 0 }), writes: [] },
      { state: 'link', registers: registers({ s: 1, root: 1, x: 0 }), writes: [{ field: 'up', node: 0, to: 1 }] },
      { state: 'yes', registers: registers({ s: 1, root: 1, x: 0 }), writes: [] },
    ],
  });
  assert.equal(moments.length, 7);
  assert.deepEqual(moments[0].pointers, [0, 1, 0]);
  assert.deepEqual(moments[6].pointers, [1, 1, 0]);
  assert.deepEqual([...moments[5].moved], [0]);
  const { code } = textOf('dsu');
  assert.match(code[moments[5].line], /pointer\(x\) ← y/);
  assert.match(moments[5].narration, /node 0 has the lower priority and now points to node 1/);
  assert.equal(moments[6].narration, 'The answer is 1.');
});

/** The states of every program in which something is still done: see `crates/machines/src/programs`. */
const STATES: Record<string, string[]> = {
  lct: ['start', 'order', 'start link', 'splay', 'release grandparent', 'release parent', 'release node', 'choose rotation', 'first rotation', 'rotation', 'release at the end', 'splayed', 'cut off deeper', 'climb', 'join', 'turn', 'turn and end', 'walk left', 'root found', 'go on with v', 'compare root', 'cut', 'after cut', 'check root', 'link', 'after link', 'connected', 'path', 'change value'],
  dsu: ['start', 'climb', 'compress', 'found', 'link'],
  forest: ['start', 'start find', 'turn', 'climb', 'link or cut'],
  splay: ['start', 'descend', 'splay', 'first rotation', 'rotation', 'arrived', 'take out', 'rightmost', 'joined'],
  heap: ['insert', 'meld', 'merge', 'merged', 'store', 'pop', 'pair', 'stack', 'unstack', 'next pair'],
};

test('every state of every program has a line and a sentence', () => {
  const names = { 'dsu-by-size': 'dsu', 'dsu-by-rank': 'dsu', 'dsu-ordered': 'dsu', kruskal: 'dsu' };
  const registers = { u: 1, v: 2, s: 3, x: 4, root: 5, below: null, first: 6, found: null, tree: 0, heap: 0, a: 1, b: 2, list: 3, pairs: 4, t: 7 };
  for (const [program, like] of [...Object.keys(STATES).map((name) => [name, name]), ...Object.entries(names)]) {
    const { code, line, tell } = textOf(program);
    for (const state of STATES[like]) {
      for (const writes of [[], [{ field: 'up', node: 4, to: 2 }]]) {
        const step = { state, registers, before: registers, writes };
        assert.ok(code[line(step)], `${program} ${state}`);
        assert.match(tell(step), /^[A-Zu].*[.?]$/, `${program} ${state}`);
      }
    }
  }
});

test('a union marks the line that links, whichever root is linked', () => {
  for (const program of ['dsu', 'dsu-by-size', 'dsu-by-rank', 'kruskal']) {
    const { code, line } = textOf(program);
    const at = (node: number) => code[line({ state: 'link', registers: {}, before: { x: 1, root: 2 }, writes: [{ field: 'up', node, to: 3 - node }] })];
    assert.match(at(1), /pointer\(x\) ← y/, program);
    assert.match(at(2), /pointer\(y\) ← x/, program);
  }
});

test('a heap is drawn as a tree: children are a list', () => {
  // 0 is the heap; its root 1 has the children 2, 3, 4; 5 waits with 6 behind it.
  const [moment] = unrollMicro({
    program: 'heap',
    operation: 'pop_min',
    arguments: [['heap', 0]],
    outcome: { node: 1 },
    fields: { child: [1, 2, null, null, null, null, null], next: [null, null, 3, 4, null, 6, null] },
    steps: [],
  });
  assert.deepEqual(moment.pointers, [0, 0, 1, 1, 1, 5, 5]);
  assert.equal(moment.narration, 'The operation gets heap = 0.');
});

test('a program without a text is told by the names of its states, and every outcome has a sentence', () => {
  const [, first, last] = unrollMicro({
    program: 'mine',
    operation: 'go',
    arguments: [['u', 0]],
    outcome: 'done',
    fields: { next: [null, 0] },
    steps: [{ state: 'turn left', registers: { u: 0 }, writes: [{ field: 'next', node: 0, to: 1 }] }, { state: 'end', registers: { u: 0 }, writes: [] }],
  });
  assert.equal(first.narration, 'Turn left.');
  assert.deepEqual(first.pointers, [1, 0]);
  assert.equal(last.narration, 'Done.');
  assert.equal(ending({ node: null }), 'The result is nil.');
  assert.equal(ending({ refused: 'x is there already' }), 'Refused: x is there already.');
});

test('operations of programs in an address', () => {
  const calls = [{ operation: 'insert', arguments: [0, 3] }, { operation: 'pop_min', arguments: [0] }];
  assert.deepEqual(readCalls(writeCalls(calls)), calls);
  assert.deepEqual(readCalls(''), []);
  for (const bad of ['insert', 'insert-', '-1', 'insert-0.', 'insert-0-x', '<img>-1']) assert.throws(() => readCalls(bad), /expected a name and nodes/, bad);
});
