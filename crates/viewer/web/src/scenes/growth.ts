/** Scene 5: what happens as n grows. */

import { structureName } from '../about';
import * as api from '../api';
import { h, notice, percent } from '../dom';
import { maskAccuracy, pointerAccuracy } from '../history';
import { type Scene, frame, rollOut } from './scene';

const SIZES = [20, 50, 100, 200];

export function growthScene(): Scene {
  let gone = false;
  let number = 0;
  const trouble = h('div');
  const tables = h('div', { class: 'growth' });
  const another = h('button', { type: 'button', onclick: () => {
    number = (number + 1) % 10;
    run();
  } }, 'Another sequence');
  const element = frame(5, 'What happens as n grows', [
    ['The networks were trained on 20 nodes only. Here each of them runs on a test sequence with up to ten times as many.'],
    ['With pointers and masks, the answers of the paper’s ', h('code', {}, 'pgn'), ' stay good far beyond the sizes seen in training. Its pointers drift from the true ones: errors accumulate, because nothing corrects the network while it runs.'],
    [h('code', {}, 'pgn-exact'), ' repeats its messages within each operation until nothing changes. On structures without hidden state it makes no mistake at any of these sizes. ', h('code', {}, 'pgn-machine'), ' executes the algorithm itself, micro-step by micro-step, and is certified for every n.'],
    ['Every model is on the ', h('a', { href: '#/runs' }, 'Runs'), ' page; ', h('a', { href: '#/rollout?model=built-in:dsu&nodes=100' }, 'watch one at n = 100'), ', or ', h('a', { href: '#/playground' }, 'try operations of your own'), '.'],
  ], h('div', { class: 'controls' }, another), trouble, tables);

  const mean = (values: number[] | null) => (values ? percent(values.reduce((sum, value) => sum + value, 0) / values.length) : '–');
  const bar = (share: number, label: string) => [h('td', {}, percent(share)), h('td', {}, h('meter', { min: 0, max: 1, value: share, 'aria-label': label }))];
  let asked = 0;
  const run = async () => {
    const mine = ++asked;
    another.disabled = true;
    try {
      const models = (await api.runs()).filter((run) => run.built_in && run.playable);
      const bodies = models.map(() => h('tbody'));
      tables.replaceChildren(...models.map((model, index) => h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${model.name} by size` }, h('table', { class: 'scores' },
        h('caption', {}, `${structureName(model.task)}, ${model.model}, test sequence ${number}`),
        h('thead', {}, h('tr', {}, ...['n', 'answers right', '', 'always 1', 'pointers right', 'masks right'].map((title) => h('th', { scope: 'col' }, title || h('span', { class: 'unseen' }, 'bar'))))), bodies[index]))));
      for (const nodes of SIZES) {
        for (const [index, model] of models.entries()) {
          const { replay, frames } = await rollOut({ model: model.id, nodes, seed: model.seed, sequence: number });
          if (gone || mine !== asked) return;
          const right = replay.steps.filter(({ truth, model }) => truth.answer === model.answer).length / replay.steps.length;
          const ones = replay.steps.filter(({ truth }) => truth.answer === 1).length / replay.steps.length;
          bodies[index].append(h('tr', {}, h('th', { scope: 'row' }, nodes), ...bar(right, `answers right at n = ${nodes}`), h('td', {}, percent(ones)),
            h('td', {}, mean(pointerAccuracy(replay, frames))), h('td', {}, mean(maskAccuracy(replay, frames)))));
        }
      }
    } catch (error) {
      if (mine === asked) trouble.replaceChildren(notice('error', (error as Error).message));
    }
    another.disabled = false;
  };
  run();
  return { element, destroy: () => { gone = true; } };
}
