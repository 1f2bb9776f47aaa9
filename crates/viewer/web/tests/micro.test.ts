import assert from 'node:assert/strict';
import test from 'node:test';
import { unrollMicro } from '../src/micro-memory';
import { textOf } from '../src/pseudo-code';

test('micro-steps are unrolled with lines and sentences', () => {
  const registers = (values: Record<string, number | null>) => ({ u: 0, v: 1, s: null, root: null, x: null, ...values });
  const moments = unrollMicro({
    program: 'dsu',
    u: 0,
    v: 1,
    answer: 1,
    fields: { up: [null, null, 0] },
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

test('every state of the link/cut tree has a line of its own code and a sentence', () => {
  const { code, line, tell } = textOf('lct');
  const registers = { u: 1, v: 2, t: 3, s: 4, x: 5 };
  for (const state of ['order', 'splay', 'release grandparent', 'release parent', 'release node', 'choose rotation', 'first rotation', 'rotation', 'release at the end', 'cut off deeper', 'climb', 'join', 'turn', 'walk left', 'root found', 'go on with v', 'compare root', 'cut', 'attach', 'no', 'yes']) {
    const step = { state, registers, before: registers, writes: [], answer: 0 as const };
    assert.ok(code[line(step)], state);
    assert.match(tell(step), /^[A-Zu].*[.?]$/, state);
  }
  assert.equal(textOf('mine').tell({ state: 'turn left', registers, before: registers, writes: [], answer: 0 }), 'Turn left.');
});
