/** The rollout view: which sequence of which model the player plays. */

import * as api from './api';
import { field, h, notice, wholeNumber } from './dom';
import { chooseModel, modelPicker } from './models';
import { Player } from './player';
import type { View } from './view';

export const rollout: View = async (root, parameters, context) => {
  const models = (await api.runs()).filter((run) => run.playable);
  const { limits } = await api.about();
  const at = (name: string, otherwise: string) => parameters.get(name) ?? otherwise;

  const model = modelPicker(models, parameters.get('model'));
  const source = h('select', {}, h('option', { value: 'test' }, 'test sequence'), h('option', { value: 'chain' }, 'chain (i, i+1)'));
  source.value = at('source', 'test');
  const nodes = h('input', { type: 'number', min: 2, max: limits.nodes, value: at('nodes', '20'), inputmode: 'numeric' });
  const sequence = h('input', { type: 'number', min: 0, max: limits.sequences - 1, value: at('sequence', '0'), inputmode: 'numeric' });
  const controls = h('form', { class: 'controls', 'aria-label': 'What to replay' },
    field('Model', model), field('Operations', source), field('Nodes', nodes), field('Sequence', sequence));
  const player = new Player(document, (step) =>
    context.remember({ model: model.value, source: source.value, nodes: nodes.value, sequence: sequence.value, step: String(step) }));
  const trouble = h('div');
  root.replaceChildren(h('h1', {}, 'Rollout'), controls, trouble, player.element);
  if (models.length === 0) trouble.append(notice('error', 'There is no trained model to roll out.'));

  let asked = 0;
  const load = async (start = 0) => {
    player.pause();
    chooseModel(model.value);
    const mine = ++asked;
    const n = wholeNumber(nodes);
    sequence.disabled = source.value === 'chain';
    const request: api.ReplayRequest = source.value === 'chain'
      ? {
          model: model.value,
          nodes: n,
          priorities: Array.from({ length: n }, (_, i) => i / n),
          operations: Array.from({ length: n - 1 }, (_, i) => [i, i + 1]),
        }
      : { model: model.value, nodes: n, sequence: wholeNumber(sequence), seed: models.find((run) => run.id === model.value)?.seed ?? 0 };
    try {
      const replay = await api.replay(request);
      if (mine === asked) player.load(replay, (step, node) => api.node(request, step, node), start);
    } catch (error) {
      if (mine === asked) player.complain((error as Error).message);
    }
  };
  controls.addEventListener('submit', (event) => event.preventDefault());
  controls.addEventListener('change', () => load());
  if (models.length > 0) await load(Number(at('step', '0')) || 0);
  return () => {
    asked++;
    player.destroy();
  };
};
