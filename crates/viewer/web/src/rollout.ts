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
  // A run may have kept its model along the way: one can watch it learn.
  let kept: number[] = [];
  const epoch = h('input', { type: 'range', min: 0, max: 0, value: 0, class: 'scrubber', 'aria-label': 'Epoch', oninput: () => load(player.at()) });
  const epochText = h('b', {});
  // Its keys are not the player's.
  epoch.addEventListener('keydown', (event) => event.stopPropagation());
  const learning = h('div', { class: 'epochs', hidden: true }, h('span', {}, 'Model of '), epochText, epoch);
  const controls = h('form', { class: 'controls', 'aria-label': 'What to replay' },
    field('Model', model), field('Compare with', other), field('Operations', source), field('Nodes', nodes, range), field('Sequence', sequence), learning);
  const player = new Player(document, (step) => {
    const values: Record<string, string> = { model: model.value, source: source.value, nodes: nodes.value, sequence: sequence.value, step: String(step) };
    if (other.value) values.with = other.value;
    if (chosenEpoch() !== undefined) values.epoch = String(chosenEpoch());
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

  /** The last place of the slider is the best model. */
  const chosenEpoch = (): number | undefined => kept[Number(epoch.value)];
  let keptOf = '';
  const offerEpochs = async (run: api.Run, asked?: string | null) => {
    if (keptOf === run.id) return;
    const details = run.built_in ? null : await api.run(run.id);
    [kept, keptOf] = [details?.kept ?? [], run.id];
    learning.hidden = kept.length === 0;
    // Without a best model yet, the last of them is what there is.
    epoch.max = String(details?.finished ? kept.length : Math.max(0, kept.length - 1));
    const place = kept.indexOf(Number(asked ?? NaN));
    epoch.value = place < 0 ? epoch.max : String(place);
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
      await offerEpochs(runs[0], parameters.get('epoch'));
      if (mine !== asked) return;
      const at = chosenEpoch();
      epochText.textContent = at === undefined ? `epoch ${runs[0].best_epoch ?? runs[0].epoch} (best)` : `epoch ${at}`;
      epoch.setAttribute('aria-valuetext', epochText.textContent);
      const requests = runs.map((run, index) => ({ ...request(run), ...(index === 0 && at !== undefined ? { epoch: at } : {}) }));
      const replays = await Promise.all(requests.map(api.replay));
      if (mine !== asked) return;
      trouble.replaceChildren();
      chooseModel(model.value);
      const lanes = replays.map((replay, index): Lane => ({
        title: runs.length > 1 ? nameOf(runs[index]) : at === undefined ? 'Model' : `Model of epoch ${at}`,
        replay,
        frames: unroll(replay),
        step: (step, node) => api.stepDetails(requests[index], step, { node }),
      }));
      [shown] = replays;
      inside.element.hidden = false;
      player.load(lanes, start, keptOf === runs[0].id && kept.length > 0 && start !== undefined);
      list.offer(source.value === 'test' && at === undefined ? { model: runs[0].id, nodes: requests[0].nodes, seed: runs[0].seed, count: testCount(runs[0], requests[0].nodes, limits.sequences), shown: Number(sequence.value) } : null);
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
    if (event.target === epoch) return;
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
