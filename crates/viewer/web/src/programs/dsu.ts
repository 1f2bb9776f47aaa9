/** Disjoint-set unions: they differ in which root is linked to which. */

import { type Program, capital, node } from './program';

interface Linking {
  /** The lines that choose between the two. */
  choice: string[];
  /** Why the first of two roots was linked to the other. */
  reason: string;
}

function union({ choice, reason }: Linking, name = 'query-union(u, v):', answers: [string, string] = ['return 0', 'return 1']): Program {
  const code = [
    name,
    '  x ← find(u)',
    '  y ← find(v)',
    `  if x = y: ${answers[0]}`,
    ...choice,
    `  ${answers[1]}`,
    'find(s):',
    '  root ← s',
    '  while root is no root: root ← pointer(root)',
    '  along the path from s: pointer ← root',
    '  return root',
  ];
  const find = code.indexOf('find(s):');
  return {
    code,
    line: ({ state, writes, before }) => {
      if (state === 'link' && writes.length > 0) return code.findIndex((line) => line.includes(writes[0].node === before.x ? 'pointer(x) ← y' : 'pointer(y) ← x'));
      return { start: find + 1, climb: find + 2, compress: find + 3, found: find + 4, link: 3, no: 3, yes: find - 1 }[state] ?? 0;
    },
    tell: ({ state, before, registers, writes }) => {
      switch (state) {
        case 'start': return `Find the root of u, ${node(before.u)}.`;
        case 'climb': return before.root === registers.root ? `${capital(node(before.root))} points to itself: it is the root.` : `Follow the pointer of ${node(before.root)} to ${node(registers.root)}.`;
        case 'compress': return writes.length ? `Path compression: ${node(writes[0].node)} now points to the root, ${node(writes[0].to)}.` : 'The rest of the path points to the root already.';
        case 'found': return before.root === registers.root ? `The root of v is ${node(before.root)}.` : `The root of u is ${node(before.root)}. Now find the root of v, ${node(registers.v)}.`;
        case 'link': return writes.length ? `Two roots: ${node(writes[0].node)} ${reason} and now points to ${node(writes[0].to)}.` : `Both roots are ${node(before.x)}: u and v are already connected.`;
        default: return '';
      }
    },
  };
}

function smaller(what: string, ties = ''): string[] {
  return [`  if ${what}(x) < ${what}(y):${ties}`, '    pointer(x) ← y', '  else: pointer(y) ← x'];
}

const TIES = '    (ties: by priority)';
const BY_PRIORITY: Linking = { choice: smaller('priority'), reason: 'has the lower priority' };

export const DSU = union(BY_PRIORITY);
export const BY_SIZE = union({ choice: smaller('size', TIES), reason: 'has the smaller set (or an equal one and the lower priority)' });
export const BY_RANK = union({ choice: smaller('rank', TIES), reason: 'has the lower rank (or an equal one and the lower priority)' });
export const ORDERED = union({ choice: ['  pointer(x) ← y'], reason: 'is the root of u' });
export const KRUSKAL = union(BY_PRIORITY, 'for each edge (u, v), the lightest first:', ['reject the edge; answer 0', 'take the edge; answer 1']);
