/** Scene 3: masks. */

import * as api from '../api';
import { h, notice } from '../dom';
import { MiniForest } from '../mini-forest';
import { sigmoid } from '../probability';
import { type Scene, Steps, frame, rollOut } from './scene';

export function masksScene(): Scene {
  let gone = false;
  let asked = 0;
  const truth = new MiniForest('Truth');
  const model = new MiniForest('Network');
  const trouble = h('div');
  const sentence = h('p', { class: 'verdict' });
  let show: (step: number) => void = () => {};
  const steps = new Steps((step) => show(step));
  const element = frame(3, 'Masks: which nodes may change', [
    ['An operation touches few nodes: the paths from u and v to their roots. The network predicts for each node whether the operation visits it.'],
    ['Only visited nodes may change their pointer. This is what makes the network scale: everything else keeps its pointer, whatever n is.'],
    ['Left: the nodes that the algorithm visits. Right: the darker a node, the larger the network’s P(visited); a thick rim means above ½.'],
  ], trouble, steps.element, h('div', { class: 'two' }, truth.element, model.element), sentence);
  rollOut({ model: 'built-in:dsu-free', nodes: 12, seed: 0, sequence: 1 }).then(({ request, replay, frames }) => {
    if (gone) return;
    for (const forest of [truth, model]) forest.prepare(frames.flatMap((frame) => [frame.truth, frame.model]));
    show = async (step) => {
      const mine = ++asked;
      const one = frames[step];
      const common = { u: one.operation?.u ?? null, v: one.operation?.v ?? null };
      truth.show({ ...common, pointers: one.truth, visited: one.truthVisited, moved: one.truthMoved });
      const picture = { ...common, pointers: one.model, truth: one.truth, visited: one.modelVisited, moved: one.modelMoved, wrong: one.wrong };
      model.show(picture);
      const both = [...one.truthVisited].filter((node) => one.modelVisited?.has(node)).length;
      const wrong = one.truthVisited.size + (one.modelVisited?.size ?? 0) - 2 * both;
      sentence.textContent = step === 0 ? 'No operation yet.' : `${replay.nodes - wrong} of ${replay.nodes} masks are right.`;
      if (step === 0) return;
      const details = await api.stepDetails(request, step).catch(() => null);
      if (mine === asked && !gone && details?.mask_logits) model.show({ ...picture, heat: details.mask_logits.map((logit) => sigmoid(-logit)) }, false);
    };
    steps.load(frames.length - 1, 9);
  }, (error: Error) => trouble.replaceChildren(notice('error', error.message)));
  return {
    element,
    destroy: () => {
      gone = true;
      truth.destroy();
      model.destroy();
    },
  };
}
