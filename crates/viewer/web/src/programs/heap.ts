/** Pairing heaps: a priority queue. */

import { type Program, capital, node } from './program';

export const HEAP: Program = {
  code: [
    'insert(heap, x): merge x with the root',
    'meld(heap, x): merge the roots of both heaps',
    'pop-min(heap):',
    '  take out the root',
    '  first pass over its children, two at a time:',
    '    merge both; put the result on a stack',
    '  second pass, from the top of the stack:',
    '    merge the next tree into the result',
    '  the result is the new root',
    'merge(a, b):',
    '  the root with the greater key becomes the first child of the other',
  ],
  entry: { insert: 0, meld: 1, pop_min: 2 },
  example: 'insert-0-2.insert-0-3.insert-0-4.insert-0-5.insert-0-6.insert-0-7.pop_min-0',
  line: ({ state }) => ({ insert: 0, meld: 1, merge: 10, merged: 10, store: 8, pop: 3, pair: 4, stack: 5, unstack: 6, 'next pair': 7, done: 0, minimum: 8, refused: 0 }[state] ?? 0),
  tell: ({ state, before, registers }) => {
    switch (state) {
      case 'insert': return `Insert ${node(before.x)} into the heap of ${node(before.heap)}.`;
      case 'meld': return `Move everything from the heap of ${node(before.x)} to that of ${node(before.heap)}.`;
      case 'merged': return `The merged tree is that of ${node(before.a)}.`;
      case 'merge': return `Merge ${node(before.a)} and ${node(before.b)}: ${node(registers.a)} has the lesser key and is above.`;
      case 'store': return `The root of the heap is ${node(before.a)}.`;
      case 'pop': return registers.x === null ? 'The heap is empty.' : `The least node is the root, ${node(registers.x)}: take it out. Its children must be merged.`;
      case 'pair':
        if (before.list === null) return 'All children have been paired.';
        return registers.b === null ? `${capital(node(registers.a))} is the last child, without a partner.` : `Take two children off the list: ${node(registers.a)} and ${node(registers.b)}.`;
      case 'stack': return `Put ${node(before.a)} on the stack.`;
      case 'unstack': return registers.a === null ? 'There is nothing on the stack.' : `Second pass: begin with ${node(registers.a)} from the top of the stack.`;
      case 'next pair': return before.pairs === null ? 'The stack is empty.' : `Take the next tree off the stack: ${node(registers.b)}.`;
      default: return '';
    }
  },
  // Children are a list: the first is `child` of their parent, each next one `next` of the one before.
  picture: (fields, nodes) => {
    const [child, next] = ['child', 'next'].map((name) => fields.get(name) ?? []);
    const pointers = Array.from({ length: nodes }, (_, node) => node);
    for (let parent = 0; parent < nodes; parent++) {
      const seen = new Set<number>();
      for (let at = child[parent] ?? null; at !== null && !seen.has(at); at = next[at] ?? null) {
        seen.add(at);
        pointers[at] = parent;
      }
    }
    // What waits in a list, without a parent, points along the list.
    for (let one = 0; one < nodes; one++) {
      const to = next[one];
      if (to !== null && to !== undefined && pointers[to] === to) pointers[to] = one;
    }
    return pointers;
  },
};
