/** Scene 5: what happens as n grows. */

import { structureName } from '../about';
import * as api from '../api';
import { choice, h, notice, percent } from '../dom';
import { maskAccuracy, pointerAccuracy } from '../history';
import { type Scene, frame, rollOut } from './scene';

const SIZES = [20, 50, 100, 200];

/** What is measured, as shares of all answers, pointers or masks; null where a model has none. */
interface Shares {
  answers: number | null;
  pointers: number | null;
  masks: number | null;
}

type Measure = keyof Shares;

/** Remarks on models in the tables. */
const REMARKS: Record<string, string> = { pgn: 'the paper’s', 'pgn-free': 'trained freely', 'pgn-machine': 'certified', 'pgn-exact': 'iterated' };

export function growthScene(): Scene {
  let gone = false;
  let asked = 0;
  let number = 0;
  const tables = h('div', { class: 'growth' });
  const trouble = h('div');
  const cells: { element: HTMLElement; shares: Shares; name: string }[] = [];
  const measure = choice([['answers', 'answers right'], ['pointers', 'pointers right'], ['masks', 'masks right']], 'answers', { 'aria-label': 'What is compared', onchange: () => cells.forEach(fill) });
  const another = h('button', { type: 'button', onclick: () => {
    number = (number + 1) % 10;
    run();
  } }, 'Another sequence');
  const element = frame(5, 'What happens as n grows', [
    ['The networks were trained on 20 nodes only. Here each of them runs on a test sequence with up to ten times as many. All models of a data structure get the same sequence.'],
    ['With pointers and masks, the answers of the paper’s ', h('code', {}, 'pgn'), ' stay good far beyond the sizes seen in training. Its pointers drift from the true ones: errors accumulate, because nothing corrects the network while it runs.'],
    [h('code', {}, 'pgn-free'), ' is the same network, but in training it reads its own masks and pointers instead of the true ones, so it learns to live with its errors.'],
    [h('code', {}, 'pgn-exact'), ' repeats its messages within each operation until nothing changes. On structures without hidden state it makes no mistake at any of these sizes. ', h('code', {}, 'pgn-machine'), ' executes the algorithm itself, micro-step by micro-step, and is certified for every n.'],
    ['Every model is on the ', h('a', { href: '#/runs' }, 'Runs'), ' page; ', h('a', { href: '#/rollout?model=built-in:dsu-free&nodes=100' }, 'watch one at n = 100'), ', or ', h('a', { href: '#/playground' }, 'try operations of your own'), '.'],
  ], h('div', { class: 'controls' }, measure, another), trouble, tables);

  const fill = ({ element, shares, name }: (typeof cells)[number]) => {
    const share = shares[measure.value as Measure];
    element.replaceChildren(share === null ? '–' : percent(share), share === null ? '' : h('meter', { min: 0, max: 1, value: share, 'aria-label': name }));
  };
  const run = async () => {
    const mine = ++asked;
    another.disabled = true;
    cells.length = 0;
    try {
      const models = (await api.runs()).filter((run) => run.built_in && run.playable);
      const tasks = [...new Set(models.map((run) => run.task))];
      const rows = new Map(models.map((model): [string, HTMLElement] => [model.id, h('tr', {}, h('th', { scope: 'row' }, h('code', {}, model.model), REMARKS[model.model] ? h('small', {}, ` ${REMARKS[model.model]}`) : null))]));
      const always = new Map(tasks.map((task): [string, HTMLElement] => [task, h('tr', { class: 'baseline' }, h('th', { scope: 'row' }, 'always answer 1'))]));
      tables.replaceChildren(...tasks.map((task) => h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${structureName(task)} by size` }, h('table', { class: 'scores' },
        h('caption', {}, `${structureName(task)}, test sequence ${number}`),
        h('thead', {}, h('tr', {}, h('td', {}), ...SIZES.map((nodes) => h('th', { scope: 'col' }, h('span', { class: 'nobr' }, `n = ${nodes}`))))),
        h('tbody', {}, ...models.filter((model) => model.task === task).map((model) => rows.get(model.id) as HTMLElement), always.get(task) as HTMLElement)))));
      const put = (row: HTMLElement | undefined, shares: Shares, name: string) => {
        const cell = { element: h('td'), shares, name };
        row?.append(cell.element);
        cells.push(cell);
        fill(cell);
      };
      for (const nodes of SIZES) {
        for (const model of models) {
          const { seed } = models.find((run) => run.task === model.task) ?? model;
          const { replay, frames } = await rollOut({ model: model.id, nodes, seed, sequence: number });
          if (gone || mine !== asked) return;
          const share = (holds: (step: api.ReplayStep) => boolean) => replay.steps.filter(holds).length / replay.steps.length;
          const answers = share(({ truth, model }) => truth.answer === model.answer);
          put(rows.get(model.id), { answers, pointers: mean(pointerAccuracy(replay, frames)), masks: mean(maskAccuracy(replay, frames)) }, `${model.model} at n = ${nodes}`);
          const baseline = always.get(model.task);
          if (baseline && baseline.children.length <= SIZES.indexOf(nodes) + 1) put(baseline, { answers: share(({ truth }) => truth.answer === 1), pointers: null, masks: null }, `always answer 1 at n = ${nodes}`);
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

function mean(values: number[] | null): number | null {
  return values ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}
