/** The rollout view: which sequence the player plays, and with which models. */

import * as api from './api';
import { choice, field, h, notice, wholeNumber } from './dom';
import { unroll } from './history';
import { Inside, microRequest } from './inside';
import { type Source, mostNodes } from './limits';
import { chooseModel, chosenModel, modelPicker, nameOf } from './models';
import { Player } from './player';
import { SequenceList } from './sequences';
import type { Lane } from './stage';
import type { View } from './view';

export const rollout: View = async (root, parameters, context) => {
  const [all, { limits }] = await Promise.all([api.runs(), api.about()]);
  const models = all.filter((run) => run.playable);
  const at = (name: string, otherwise: string) => parameters.get(name) ?? otherwise;

  const model = modelPicker(models, parameters.get('model'), all);
  const other = h('select', {});
  const source = choice([['test', 'test sequence'], ['chain', 'chain (i, i+1)']], at('source', 'test'));
  const nodes = h('input', { type: 'number', min: 2, value: at('nodes', '20'), inputmode: 'numeric' });
  const range = h('small', {});
  const sequence = h('input', { type: 'number', min: 0, max: limits.sequences - 1, value: at('sequence', '0'), inputmode: 'numeric' });
  const controls = h('form', { class: 'controls', 'aria-label': 'What to replay' },
    field('Model', model), field('Compare with', other), field('Operations', source), field('Nodes', nodes, range), field('Sequence', sequence));
  const player = new Player(document, (step) => {
    const values: Record<string, string> = { model: model.value, source: source.value, nodes: nodes.value, sequence: sequence.value, step: String(step) };
    if (other.value) values.with = other.value;
    context.remember(values);
    if (shown) inside.offer(microRequest(shown, step, chosenModel(models, model, all)));
  });
  const inside = new Inside();
  let shown: api.Replay | null = null;
  const trouble = h('div');
  const list = new SequenceList((chosen) => {
    sequence.value = String(chosen);
    load();
  });
  root.replaceChildren(h('h1', {}, 'Rollout'), controls, trouble, player.element, inside.element, list.element);

  /** Models of the same task can be compared on the same sequence. */
  const offerOthers = (wanted: string) => {
    const task = models.find((run) => run.id === model.value)?.task;
    const options = models.filter((run) => run.task === task && run.id !== model.value).map((run): [string, string] => [run.id, nameOf(run)]);
    other.replaceChildren(...choice([['', 'no other model'], ...options]).childNodes);
    other.value = options.some(([id]) => id === wanted) ? wanted : '';
  };
  const offerNodes = () => {
    nodes.max = String(mostNodes(limits, source.value as Source));
    range.textContent = `2–${nodes.max}`;
    sequence.disabled = source.value === 'chain';
  };

  const request = (run: api.Run): api.ReplayRequest => {
    const n = wholeNumber(nodes, 'Nodes');
    if (source.value === 'chain') {
      return {
        model: run.id,
        nodes: n,
        priorities: Array.from({ length: n }, (_, i) => i / n),
        operations: Array.from({ length: n - 1 }, (_, i) => [i, i + 1]),
      };
    }
    // Both models get the sequence of the first one's test set.
    return { model: run.id, nodes: n, sequence: wholeNumber(sequence, 'Sequence'), seed: chosenModel(models, model, all).seed };
  };
  let asked = 0;
  const load = async (start?: number) => {
    const mine = ++asked;
    player.pause();
    offerNodes();
    try {
      const runs = [chosenModel(models, model, all), ...(other.value ? [chosenModel(models, other)] : [])];
      const requests = runs.map(request);
      const replays = await Promise.all(requests.map(api.replay));
      if (mine !== asked) return;
      trouble.replaceChildren();
      chooseModel(model.value);
      const lanes = replays.map((replay, index): Lane => ({
        title: runs.length === 1 ? 'Model' : nameOf(runs[index]),
        replay,
        frames: unroll(replay),
        step: (step, node) => api.stepDetails(requests[index], step, { node }),
      }));
      [shown] = replays;
      inside.element.hidden = false;
      player.load(lanes, start);
      list.offer(source.value === 'test' ? { model: runs[0].id, nodes: requests[0].nodes, seed: runs[0].seed, count: testCount(runs[0], requests[0].nodes, limits.sequences), shown: Number(sequence.value) } : null);
    } catch (error) {
      if (mine !== asked) return;
      player.hide();
      inside.element.hidden = true;
      list.offer(null);
      trouble.replaceChildren(notice('error', (error as Error).message));
    }
  };
  controls.addEventListener('submit', (event) => event.preventDefault());
  controls.addEventListener('change', (event) => {
    if (event.target === model) offerOthers(other.value);
    // Another model, the same sequence: the step stays.
    load(event.target === model || event.target === other ? player.at() : undefined);
  });
  offerOthers(at('with', ''));
  const missing = parameters.get('with');
  await load(parameters.has('step') ? Number(parameters.get('step')) || 0 : undefined);
  if (missing && missing !== other.value) trouble.append(notice('error', `There is no trained model \`${missing}\` of this task to compare with.`));
  return () => {
    asked++;
    player.destroy();
    inside.destroy();
  };
};

/** How many test sequences of this size a run was scored on; the paper has 35. */
function testCount(run: api.Run, nodes: number, most: number): number {
  return Math.min(run.test.find((test) => test.nodes === nodes)?.sequences ?? 35, most);
}
