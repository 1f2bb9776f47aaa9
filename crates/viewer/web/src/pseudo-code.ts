/** The algorithms in pseudo-code: which line a state of the program is, and what it does. */

import type { MicroStep } from './api';

/** A micro-step with what the registers held before it. */
export interface Told extends MicroStep {
  before: Record<string, number | null>;
  answer: 0 | 1;
}

interface Program {
  code: string[];
  line: (step: Told) => number;
  tell: (step: Told) => string;
}

const node = (value: number | null | undefined) => (value === null || value === undefined ? 'nil' : `node ${value}`);

const DSU: Program = {
  code: [
    'query-union(u, v):',
    '  x ← find(u)',
    '  y ← find(v)',
    '  if x = y: return 0',
    '  if priority(x) < priority(y):',
    '    pointer(x) ← y',
    '  else: pointer(y) ← x',
    '  return 1',
    'find(s):',
    '  root ← s',
    '  while root is no root: root ← pointer(root)',
    '  along the path from s: pointer ← root',
    '  return root',
  ],
  line: ({ state, writes, before }) => {
    if (state === 'link' && writes.length > 0) return writes[0].node === before.x ? 5 : 6;
    return { start: 9, climb: 10, compress: 11, found: 12, link: 3, no: 3, yes: 7 }[state] ?? 0;
  },
  tell: ({ state, before, registers, writes, answer }) => {
    switch (state) {
      case 'start': return `Find the root of u, ${node(before.u)}.`;
      case 'climb': return before.root === registers.root ? `${capital(node(before.root))} points to itself: it is the root.` : `Follow the pointer of ${node(before.root)} to ${node(registers.root)}.`;
      case 'compress': return writes.length ? `Path compression: ${node(writes[0].node)} now points to the root, ${node(writes[0].to)}.` : 'The rest of the path points to the root already.';
      case 'found': return before.root === registers.root ? `The root of v is ${node(before.root)}.` : `The root of u is ${node(before.root)}. Now find the root of v, ${node(registers.v)}.`;
      case 'link': return writes.length ? `Two roots: ${node(writes[0].node)} has the lower priority and now points to ${node(writes[0].to)}.` : `Both roots are ${node(before.x)}: u and v are already connected.`;
      default: return `The answer is ${answer}.`;
    }
  },
};

const LCT: Program = {
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
    order: 1, splay: 10, 'release grandparent': 11, 'release parent': 11, 'release node': 11, 'choose rotation': 12, 'first rotation': 12, rotation: 13,
    'release at the end': 9, 'cut off deeper': 6, climb: 7, join: 8, turn: 14, 'walk left': 15, 'root found': 15, 'go on with v': 0, 'compare root': 3,
    cut: 16, attach: 17, no: 4, yes: 3,
  }[state] ?? 0),
  tell: ({ state, before, registers, writes, answer }) => {
    const s = node(before.s);
    const t = node(before.t);
    switch (state) {
      case 'order': return `u is the operand of higher priority, ${node(registers.u)}. Evert it: expose it first.`;
      case 'splay': return `Splay ${s}: is there a parent above it in its splay tree?`;
      case 'release grandparent': return `Release the grandparent of ${s}: if a flip is pending there, carry it out.`;
      case 'release parent': return `Release the parent of ${s}: if a flip is pending there, carry it out.`;
      case 'release node': return `Release ${s}: if a flip is pending there, carry it out.`;
      case 'choose rotation': return before.x === registers.x ? `Decide how to rotate ${s}.` : `Decide how to rotate ${s}: ${node(registers.x)} goes first.`;
      case 'first rotation': return `Rotate ${node(before.x)} one level up.`;
      case 'rotation': return `Rotate ${s} one level up.`;
      case 'release at the end': return `${capital(s)} is the root of its splay tree.`;
      case 'cut off deeper': return writes.length ? `What is deeper than ${t} is cut off its path.` : `Nothing is deeper than ${t} on its path.`;
      case 'climb': return before.s === registers.s ? `${capital(t)} has no path-parent: it is exposed.` : `The path-parent of ${t} is ${node(registers.s)}.`;
      case 'join': return `Hang ${t} below ${s}: their paths are joined.`;
      case 'turn': return `Flip ${t}: its path is now reversed, so it is the root of its tree.`;
      case 'walk left': return before.x === registers.x ? `${capital(node(before.x))} has no left child: it is the root of the tree.` : `Walk left, from ${node(before.x)} to ${node(registers.x)}.`;
      case 'root found': return `The root of v’s tree is ${node(before.x)}. Expose it, so that it is found faster next time.`;
      case 'go on with v': return `Go on with v, ${node(registers.v)}: expose it.`;
      case 'compare root': return before.t === before.u ? `The root of v’s tree is u: they are connected. Cut v.` : `The root of v’s tree is ${t}, not u: they are not connected. Link them.`;
      case 'cut': return `Cut ${t} off its left child, the rest of the path.`;
      case 'attach': return `${capital(node(before.v))} becomes the left child of ${node(before.u)}: they are linked.`;
      default: return `The answer is ${answer}.`;
    }
  },
};

const PROGRAMS: Record<string, Program> = { dsu: DSU, lct: LCT };

/** A program that the page has no text for is told by the names of its states. */
export function textOf(program: string): Program {
  return PROGRAMS[program] ?? { code: [], line: () => 0, tell: ({ state }) => `${capital(state)}.` };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
