/** Splay trees: an ordered set. */

import { type Program, capital, node } from './program';

export const SPLAY: Program = {
  code: [
    'insert, contains or remove (tree, x):',
    '  s ← root of the tree',
    '  while s is not x’s key: s ← its left or right child',
    '    insert: x becomes the missing child; s ← x',
    '  splay(s)',
    '  insert, contains: return whether the key was (not) there',
    '  remove: take s out; join its left and right subtree:',
    '    s ← greatest node of the left subtree',
    '    splay(s); the right subtree becomes its right child',
    'splay(s):',
    '  while s is not the root, with parent p:',
    '    if p has a parent: rotate p or s first',
    '    rotate s',
  ],
  example: 'insert-0-1.insert-0-2.insert-0-3.insert-0-4.insert-0-5.insert-0-6.insert-0-7.contains-0-2',
  line: ({ state, writes }) => {
    if (['start', 'descend'].includes(state) && writes.length) return 3;
    return { start: 1, descend: 2, splay: 10, 'first rotation': 11, rotation: 12, arrived: 4, 'take out': 6, rightmost: 7, joined: 8, no: 5, yes: 5, removed: 6 }[state] ?? 0;
  },
  tell: ({ state, before, registers, writes }) => {
    const s = node(before.s);
    switch (state) {
      case 'start': return writes.length ? `The tree is empty: ${node(before.x)} becomes its root.` : before.s === registers.s ? 'The tree is empty.' : `Begin at the root, ${node(registers.s)}.`;
      case 'descend':
        if (writes.length) return `${capital(node(before.x))} becomes a child of ${s}.`;
        if (registers.found !== before.found) return `${capital(s)} has the key that is looked for.`;
        return before.s === registers.s ? `There is no child on that side of ${s}: the key is not in the tree.` : `Compare keys: go on from ${s} to ${node(registers.s)}.`;
      case 'splay': return registers.first !== before.first ? `Splay ${s}: rotate ${node(registers.first)} first.` : `Splay ${s}: is it the root already?`;
      case 'first rotation': return `Rotate ${node(before.first)} one level up.`;
      case 'rotation': return `Rotate ${s} one level up.`;
      case 'arrived': return `${capital(s)} is the root.`;
      case 'take out': return `Take ${s} out of the tree.`;
      case 'rightmost': return before.s === registers.s ? `${capital(s)} is the greatest node of the left subtree.` : `Go right, from ${s} to ${node(registers.s)}.`;
      case 'joined': return writes.length ? `The right subtree, ${node(before.x)}, becomes the right child of ${s}.` : 'There is no right subtree.';
      default: return '';
    }
  },
};
