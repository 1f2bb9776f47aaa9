/** What the model computed for one node. */

import type { Replay, StepDetails } from './api';
import { h } from './dom';
import type { Frame } from './history';
import { probability } from './probability';

/** How many pointer candidates are told. */
const CANDIDATES = 5;

/** `details` are of this node only; null where there is nobody to ask. */
export function inspect(node: number, details: StepDetails | null, replay: Replay, frame: Frame): HTMLElement[] {
  const target = (pointer: number) => (pointer === node ? 'itself' : String(pointer));
  const row = (name: string, value: string) => [h('dt', {}, name), h('dd', {}, value)];
  const logit = details?.mask_logits?.[node];
  const yes = (visited: Set<number>) => (visited.has(node) ? 'visited' : 'not visited');
  // The model's own output is P(mask = 1): that the node is not visited.
  const masks = logit !== undefined ? row('P(visited)', probability(-logit)) : row('visited', frame.modelVisited ? (frame.modelVisited.has(node) ? 'yes' : 'no') : 'no masks');
  const facts = h('dl', {},
    ...row('priority', replay.priorities[node].toFixed(4)),
    ...row('points to', replay.pointers === 'none' ? 'no pointers' : target(frame.model[node])), ...row('truth', target(frame.truth[node])),
    ...masks, ...row('truth', yes(frame.truthVisited)));
  if (details?.alpha) return [facts, ...candidates(node, details.alpha[0], frame)];
  if (!replay.has_attention) return [facts, h('p', { class: 'quiet' }, 'This model has no attention over all nodes, so there are no pointer candidates.')];
  return [facts];
}

function candidates(node: number, alpha: number[], frame: Frame): HTMLElement[] {
  // Among equals the lowest node comes first, as in the model's own argmax.
  const best = alpha.map((value, other): [number, number] => [value, other]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, CANDIDATES);
  const rows = best.map(([value, other]) => {
    const marks = [other === frame.model[node] ? 'now' : '', other === frame.truth[node] ? 'truth' : ''].filter(Boolean).join(', ');
    return h('tr', {},
      h('th', { scope: 'row' }, other === node ? `${other} (itself)` : other, marks ? h('small', {}, ` ${marks}`) : null),
      h('td', {}, value < 0.001 ? value.toExponential(1) : value.toFixed(3)),
      h('td', { 'aria-hidden': 'true' }, h('meter', { min: 0, max: 1, value })));
  });
  return [h('h3', {}, 'Pointer candidates with the largest α'), h('table', { class: 'candidates' },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'node'), h('th', { scope: 'col' }, 'α'), h('td'))),
    h('tbody', {}, ...rows))];
}
