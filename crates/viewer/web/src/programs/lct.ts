/** Link/cut trees. */

import { type Program, capital, node } from './program';

export const LCT: Program = {
  code: [
    'query-toggle(u, v):',
    '  if priority(u) < priority(v): swap u and v',
    '  evert(u)',
    '  if find-root(v) = u: cut(v); return 1',
    '  else: link(u, v); return 0',
    'expose(t):',
    '  splay(t); cut off what is deeper than t',
    '  while t has a path-parent s:',
    '    splay(s); hang t below s; splay(t)',
    'splay(s):',
    '  while s has a parent p:',
    '    release the grandparent, p and s',
    '    if p has a parent: rotate p or s first',
    '    rotate s',
    'evert(u): expose(u); flip u',
    'find-root(v): expose(v); walk left; expose the end',
    'cut(v): expose(v); cut off its left child',
    'link(u, v): expose u and v; v becomes left child of u',
  ],
  line: ({ state }) => ({
    order: 1, start: 0, 'start link': 0, splay: 10, 'release grandparent': 11, 'release parent': 11, 'release node': 11, 'choose rotation': 12, 'first rotation': 12, rotation: 13,
    'release at the end': 9, splayed: 9, 'cut off deeper': 6, climb: 7, join: 8, turn: 14, 'walk left': 15, 'root found': 15, 'go on with v': 0, 'compare root': 3,
    cut: 16, 'after cut': 16, link: 17, 'after link': 17, 'turn and end': 14, 'check root': 17, connected: 3, path: 5, 'change value': 5, no: 4, yes: 3,
  }[state] ?? 0),
  tell: ({ state, before, registers, writes }) => {
    const s = node(before.s);
    const t = node(before.t);
    switch (state) {
      case 'start':
      case 'start link': return `Begin with u, ${node(before.u)}: expose it.`;
      case 'order': return `u is the operand of higher priority, ${node(registers.u)}. Evert it: expose it first.`;
      case 'splay': return `Splay ${s}: is there a parent above it in its splay tree?`;
      case 'release grandparent': return `Release the grandparent of ${s}: if a flip is pending there, carry it out.`;
      case 'release parent': return `Release the parent of ${s}: if a flip is pending there, carry it out.`;
      case 'release node': return `Release ${s}: if a flip is pending there, carry it out.`;
      case 'choose rotation': return before.x === registers.x ? `Decide how to rotate ${s}.` : `Decide how to rotate ${s}: ${node(registers.x)} goes first.`;
      case 'first rotation': return `Rotate ${node(before.x)} one level up.`;
      case 'rotation': return `Rotate ${s} one level up.`;
      case 'release at the end': return `Release ${s}: if a flip is pending there, carry it out.`;
      case 'splayed': return `${capital(s)} is released: go on with the expose, or with walking left.`;
      case 'cut off deeper': return writes.length ? `What is deeper than ${t} is cut off its path.` : `Nothing is deeper than ${t} on its path.`;
      case 'climb': return before.s === registers.s ? `${capital(t)} has no path-parent: it is exposed.` : `The path-parent of ${t} is ${node(registers.s)}.`;
      case 'join': return `Hang ${t} below ${s}: their paths are joined.`;
      case 'turn':
      case 'turn and end': return `Flip ${t}: its path is now reversed, so it is the root of its tree.`;
      case 'walk left': return before.s === registers.s ? `${capital(s)} has no left child: it is the root of the tree.` : `Walk left, from ${s} to ${node(registers.s)}.`;
      case 'root found': return `The root of v’s tree is ${s}. Expose it, so that it is found faster next time.`;
      case 'go on with v': return `Go on with v, ${node(registers.v)}: expose it.`;
      case 'compare root': return before.t === before.u ? `The root of v’s tree is u: they are connected. Cut v.` : `The root of v’s tree is ${t}, not u: they are not connected. Link them.`;
      case 'check root': return `u, ${node(before.u)}, must be the root of its tree.`;
      case 'link': return `${capital(node(before.v))} becomes the left child of ${node(before.u)}, unless they are connected already.`;
      case 'connected': return `They are connected if exposing v, ${node(before.v)}, gave u, ${node(before.u)}, a parent.`;
      case 'path': return `The splay tree of ${t} is now the path from u to v.`;
      case 'change value': return `${capital(t)} is the root of its splay tree: change its value.`;
      case 'cut': return `Cut ${t} off its left child, the rest of the path.`;
      case 'after cut': return 'They were connected; now they are not.';
      case 'after link': return 'They were not connected; now they are.';
      default: return '';
    }
  },
};
