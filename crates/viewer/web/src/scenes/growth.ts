/** Scene 3: what happens as n grows. */

import { structureName } from '../about';
import * as api from '../api';
import { choice, h, notice, percent, score } from '../dom';
import { type Scene, frame } from './scene';

/** Remarks on models in the tables. */
const REMARKS: Record<string, string> = { pgn: 'the paper’s', 'pgn-free': 'trained freely', 'pgn-free-2': 'two layers', 'pgn-machine': 'proved', 'pgn-exact': 'iterated' };

type Value = (test: api.TestScores) => number | undefined;

/** What is compared, and what it must be compared with. */
const MEASURES: Record<string, { title: string; value: Value; baselines: [string, Value][] }> = {
  answers: { title: 'answers right', value: (test) => test.accuracy, baselines: [['always answer 0', ({ answers_1: ones }) => ones !== undefined ? 1 - ones : ones], ['always answer 1', (test) => test.answers_1]] },
  f1: { title: 'F₁ of answer 1', value: (test) => test.f1, baselines: [['always answer 1', (test) => test.f1_always_1], ['counting', (test) => test.counting_f1]] },
  pointers: { title: 'pointers right', value: (test) => test.pointer_accuracy, baselines: [['every node points to itself', (test) => test.trivial?.point_to_self]] },
  masks: { title: 'masks right', value: (test) => test.mask_accuracy, baselines: [['no node is visited', (test) => test.trivial?.never_visit]] },
};

export function growthScene(): Scene {
  let gone = false;
  let models: api.Run[] = [];
  const tables = h('div', { class: 'growth' });
  const measure = choice(Object.entries(MEASURES).map(([name, { title }]): [string, string] => [name, title]), 'answers', { 'aria-label': 'What is compared', onchange: () => draw() });
  const element = frame(3, 'What happens as n grows', [
    ['The networks were trained on 20 nodes only. The tables show how much each gets right on test sequences with up to ten times as many nodes, and what one gets without any network.'],
    ['The answers of the paper’s ', h('code', {}, 'pgn'), ' lose little as n grows, but compare them with the baselines: on the link/cut tree with 200 nodes, always answering 0 is right nearly as often. Its pointers drift from the true ones, because nothing corrects the network while it runs.'],
    [h('code', {}, 'pgn-free'), ' is the same network, but in training it reads its own masks and pointers instead of the true ones, so it learns to live with its errors.'],
    [h('code', {}, 'pgn-exact'), ' repeats its messages within each operation until nothing changes. On structures without hidden state it makes no mistake at any of these sizes. ', h('code', {}, 'pgn-machine'), ' executes the algorithm itself, micro-step by micro-step, and is proved for every n.'],
    ['Every model is on the ', h('a', { href: '#/runs' }, 'Runs'), ' page; ', h('a', { href: '#/rollout?model=built-in:dsu-free&nodes=100' }, 'watch one at n = 100'), ', or ', h('a', { href: '#/playground' }, 'try operations of your own'), '.'],
  ], h('div', { class: 'controls' }, measure), tables);

  const draw = () => {
    const { value, baselines, title } = MEASURES[measure.value];
    const text = (number: number) => (measure.value === 'f1' ? score(number) : percent(number));
    const row = (name: (Node | string)[], label: string, quiet: boolean, sizes: number[], of: (nodes: number) => number | undefined) => {
      const values = sizes.map(of);
      if (values.every((one) => one === undefined)) return [];
      return [h('tr', { class: quiet ? 'baseline' : null }, h('th', { scope: 'row' }, ...name), ...values.map((one, index) => h('td', {},
        one === undefined ? '–' : text(one), one === undefined ? null : h('meter', { min: 0, max: 1, value: one, 'aria-label': `${label} at n = ${sizes[index]}` }))))];
    };
    // Operations without answers have nothing to compare.
    const tasks = [...new Set(models.map((run) => run.task))].filter((task) => models.some((run) => run.task === task && run.test.some((test) => test.answers_1)));
    tables.replaceChildren(...tasks.map((task) => {
      const of = models.filter((run) => run.task === task);
      const sizes = [...new Set(of.flatMap((run) => run.test.map(({ nodes }) => nodes)))].filter((nodes) => nodes <= 200).sort((a, b) => a - b);
      const at = (run: api.Run, nodes: number) => run.test.find((test) => test.nodes === nodes);
      const known = (value: Value) => (nodes: number) => of.map((run) => at(run, nodes)).flatMap((test) => (test && value(test) !== undefined ? [value(test)] : []))[0];
      return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${structureName(task)} by size` }, h('table', { class: 'scores' },
        h('caption', {}, `${structureName(task)}: ${title}`),
        h('thead', {}, h('tr', {}, h('td', {}), ...sizes.map((nodes) => h('th', { scope: 'col' }, h('span', { class: 'nobr' }, `n = ${nodes}`))))),
        h('tbody', {},
          ...of.flatMap((run) => row([h('code', {}, run.model), REMARKS[run.model] ? h('small', {}, ` ${REMARKS[run.model]}`) : ''], run.model, false, sizes, (nodes) => {
            const test = at(run, nodes);
            return test && value(test);
          })),
          ...baselines.flatMap(([name, value]) => row([name], name, true, sizes, known(value))))));
    }));
  };
  api.runs().then((all) => {
    if (gone) return;
    models = all.filter((run) => run.built_in);
    draw();
  }, (error: Error) => tables.replaceChildren(notice('error', error.message)));
  return { element, destroy: () => { gone = true; } };
}
