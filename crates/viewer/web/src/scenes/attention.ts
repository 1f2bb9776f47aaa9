/** Scene 4: attention aims pointers. */

import * as api from '../api';
import { h, notice } from '../dom';
import { MiniForest } from '../mini-forest';
import { type Scene, Steps, frame, rollOut } from './scene';

export function attentionScene(): Scene {
  let gone = false;
  let asked = 0;
  let chosen: number | null = null;
  let at = 0;
  const trouble = h('div');
  const candidates = h('div', { class: 'scene-candidates' });
  const forest = new MiniForest('Network', (node) => {
    chosen = node;
    show(at);
  });
  let show: (step: number) => void = () => {};
  const steps = new Steps((step) => {
    chosen = null;
    show(step);
  });
  const element = frame(4, 'Attention aims pointers', [
    ['Where should a visited node point? Every node scores every other node by attention (equation 6 of the paper): a query of its own latent state against a key of the other’s.'],
    ['α is the softmax of these scores. The new pointer goes to the node with the largest α.'],
    ['Click a node: the darker another node, the larger its α.'],
  ], trouble, steps.element, h('div', { class: 'two' }, forest.element, candidates));
  rollOut({ model: 'built-in:dsu-free', nodes: 12, seed: 0, sequence: 1 }).then(({ request, frames }) => {
    if (gone) return;
    forest.prepare(frames.map((frame) => frame.model));
    show = async (step) => {
      at = step;
      const mine = ++asked;
      const one = frames[step];
      const node = chosen ?? [...one.modelMoved][0] ?? one.operation?.u ?? null;
      const picture = { u: one.operation?.u ?? null, v: one.operation?.v ?? null, pointers: one.model, truth: one.truth, visited: one.modelVisited, moved: one.modelMoved, wrong: one.wrong, chosen: node };
      if (step === 0 || node === null) {
        forest.show(picture);
        candidates.replaceChildren(h('p', { class: 'quiet' }, 'No operation yet.'));
        return;
      }
      try {
        const details = await api.node(request, step, node);
        if (mine !== asked || gone) return;
        const heat = one.model.map((_, node) => details.candidates?.find((candidate) => candidate.node === node)?.alpha ?? 0);
        forest.show({ ...picture, heat });
        candidates.replaceChildren(h('h3', {}, `Node ${node} is drawn to`), h('table', { class: 'candidates' },
          h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'node'), h('th', { scope: 'col' }, 'α'), h('td'))),
          h('tbody', {}, ...(details.candidates ?? []).map(({ node: other, alpha }) => h('tr', {},
            h('th', { scope: 'row' }, other === node ? `${other} (itself)` : other, other === details.true_pointer ? h('small', {}, ' truth') : null),
            h('td', {}, alpha < 0.001 ? alpha.toExponential(1) : alpha.toFixed(3)), h('td', {}, h('meter', { min: 0, max: 1, value: alpha, 'aria-label': `α of node ${other}` })))))),
          h('p', { class: 'quiet' }, one.modelVisited?.has(node) ? 'It is visited, so its pointer moves to the first of these.' : 'It is not visited, so its pointer stays where it is.'));
      } catch (error) {
        if (mine === asked) trouble.replaceChildren(notice('error', (error as Error).message));
      }
    };
    steps.load(frames.length - 1, 9);
  }, (error: Error) => trouble.replaceChildren(notice('error', error.message)));
  return {
    element,
    destroy: () => {
      gone = true;
      forest.destroy();
    },
  };
}
