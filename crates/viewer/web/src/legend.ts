/** What the marks in the forests mean. */

import { h } from './dom';

export function legend(): HTMLElement {
  const entry = (name: string, sign: string, ...text: (Node | string)[]) =>
    h('li', {}, h('span', { class: `key ${name}`, 'aria-hidden': 'true' }, sign), h('span', {}, ...text));
  return h('section', { class: 'legend-box' },
    h('ul', { class: 'legend', 'aria-label': 'Legend' },
      entry('operated', 'u', 'operand (u, v)'),
      entry('visited', '', 'visited (mask 0)'),
      entry('alone', '', 'not visited (mask 1)'),
      entry('root', '', 'points to itself'),
      entry('moved', '', 'pointer just changed'),
      entry('wrong', '×', 'pointer differs from the truth')),
    h('details', {}, h('summary', {}, 'What these words mean'),
      h('dl', {},
        h('dt', {}, 'Pointer'), h('dd', {}, 'The one node that each node points to; a root points to itself. In the model, messages travel along pointers.'),
        h('dt', {}, 'Mask'), h('dd', {}, '0 on the nodes that the operation visits: only these may change their pointer. The model predicts P(visited) for every node.'),
        h('dt', {}, 'α'), h('dd', {}, 'Attention (equation 6): how strongly a visited node is drawn to each other node. Its new pointer is the node with the largest α.'),
        h('dt', {}, 'Exact'), h('dd', {}, 'A sequence is exact if every answer, mask and pointer in it is right.'))));
}
