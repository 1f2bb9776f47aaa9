/** What the model computed for one node. */

import type { NodeDetails, Replay } from './api';
import { h } from './dom';
import type { Frame } from './history';
import { probability } from './probability';

export function inspect(details: NodeDetails, replay: Replay, frame: Frame): HTMLElement[] {
  const target = (pointer: number) => (pointer === details.node ? 'itself' : String(pointer));
  const row = (name: string, value: string) => [h('dt', {}, name), h('dd', {}, value)];
  const visited = maskText(details, frame);
  const facts = h('dl', {},
    ...row('priority', details.priority.toFixed(4)),
    ...row('points to', replay.pointers === 'none' ? 'no pointers' : target(details.pointer)),
    ...row('truth', target(details.true_pointer)),
    ...row(details.mask_probability === null ? 'visited' : 'P(visited)', visited ?? 'no masks'),
    ...row('truth', details.true_mask === 0 ? 'visited' : 'not visited'));
  if (details.candidates) return [facts, ...candidates(details)];
  if (!replay.has_attention) return [facts, h('p', { class: 'quiet' }, 'This model has no attention over all nodes, so there are no pointer candidates.')];
  return [facts];
}

function maskText(details: NodeDetails, frame: Frame): string | null {
  const { mask_logit, mask_probability } = details;
  // The model's own output is P(mask = 1): that the node is not visited.
  if (mask_logit !== null && mask_logit !== undefined) return probability(-mask_logit);
  if (mask_probability !== null) return probability(Math.log((1 - mask_probability) / mask_probability));
  if (frame.modelVisited) return frame.modelVisited.has(details.node) ? 'yes' : 'no';
  return null;
}

function candidates(details: NodeDetails): HTMLElement[] {
  const rows = details.candidates?.map(({ node, alpha }) => {
    const marks = [node === details.pointer ? 'now' : '', node === details.true_pointer ? 'truth' : ''].filter(Boolean).join(', ');
    return h('tr', {},
      h('th', { scope: 'row' }, node === details.node ? `${node} (itself)` : node, marks ? h('small', {}, ` ${marks}`) : null),
      h('td', {}, alpha < 0.001 ? alpha.toExponential(1) : alpha.toFixed(3)),
      h('td', { 'aria-hidden': 'true' }, h('meter', { min: 0, max: 1, value: alpha })));
  });
  return [h('h3', {}, 'Pointer candidates with the largest α'), h('table', { class: 'candidates' },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'node'), h('th', { scope: 'col' }, 'α'), h('td'))),
    h('tbody', {}, ...(rows ?? [])))];
}
