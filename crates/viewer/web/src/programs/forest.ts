/** Rooted forests: a node points to its parent. */

import { type Program, capital, node } from './program';

export const FOREST: Program = {
  code: [
    'query-toggle(u, v):',
    '  evert(u)',
    '  if find-root(v) = u: pointer(v) ← v; return 1',
    '  else: pointer(u) ← v; return 0',
    'evert(u):',
    '  x ← u; below ← u',
    '  while x is no root:',
    '    turn the pointer of x to where we came from',
    '    go on to its old parent',
    'find-root(v):',
    '  x ← v; while x is no root: x ← pointer(x)',
  ],
  line: ({ state, writes }) => {
    if (state === 'turn') return writes.length ? 7 : 6;
    if (state === 'link or cut') return writes.some(({ to }) => to === null) ? 2 : 3;
    return { start: 5, 'start find': 10, climb: 10, no: 3, yes: 2, done: 4, root: 10 }[state] ?? 0;
  },
  tell: ({ state, before, registers, writes }) => {
    switch (state) {
      case 'start': return `Make u, ${node(before.u)}, the root of its tree: turn the pointers on the way up.`;
      case 'start find': return `Find the root of ${node(before.u)}.`;
      case 'turn': {
        if (writes.length === 0) return `${capital(node(before.x))} is the root already.`;
        const turned = `${capital(node(before.x))} now ${before.below === null ? 'is a root' : `points to ${node(before.below)}`}`;
        return registers.below === before.x ? `${turned}. Go on to its old parent, ${node(registers.x)}.` : `${turned}: u is the root of the whole tree.`;
      }
      case 'climb': return before.x === registers.x ? `${capital(node(before.x))} points to itself: it is the root.` : `Follow the pointer of ${node(before.x)} to ${node(registers.x)}.`;
      case 'link or cut': return before.x === before.u ? `The root of v’s tree is u: they are connected. Cut v, ${node(before.v)}, from its parent.` : `The root of v’s tree is ${node(before.x)}, not u: they are not connected. Point u to v.`;
      default: return '';
    }
  },
};
