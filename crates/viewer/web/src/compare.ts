/** Runs together: one line for each model, mean ± sd over seeds, or one for each run. */

import { isMachine, structureName } from './about';
import * as api from './api';
import { Chart } from './chart';
import { type Point, type Series, meanOf } from './curves';
import { choice, field, h, notice } from './dom';
import { MetricsReader, viewsRight } from './metrics';
import { plusMinus, spread, testF1, testSizes } from './run-state';
import type { View } from './view';

const MEASURES: Record<string, { title: string; value: (line: api.Metrics) => number | undefined; range?: [number, number] }> = {
  f1: { title: 'validation F₁', value: (line) => line.validation?.f1, range: [0, 1] },
  accuracy: { title: 'validation accuracy', value: (line) => line.validation?.accuracy, range: [0, 1] },
  pointers: { title: 'validation pointers right', value: (line) => line.validation?.pointer_accuracy, range: [0, 1] },
  masks: { title: 'validation masks right', value: (line) => line.validation?.mask_accuracy, range: [0, 1] },
  total: { title: 'training loss', value: (line) => line.losses.total },
  query: { title: 'training loss of answers', value: (line) => line.losses.query },
  views: { title: 'training views right (machines)', value: viewsRight, range: [0, 1] },
  rate: { title: 'learning rate', value: (line) => line.learning_rate },
};
/** Files that are read at the same time. */
const AT_ONCE = 6;

export const compare: View = async (root, parameters, context) => {
  const all = (await api.runs()).filter((run) => !run.trouble && !run.built_in);
  const tasks = [...new Set(all.map((run) => run.task))].sort();
  const task = choice(tasks.map((name): [string, string] => [name, `${name}: ${structureName(name)}`]), parameters.get('task'));
  const measure = choice(Object.entries(MEASURES).map(([name, { title }]): [string, string] => [name, title]), parameters.get('measure') ?? 'f1');
  const across = choice([['epoch', 'epochs'], ['time', 'training time']], parameters.get('across') ?? 'epoch');
  const lines = choice([['mean', 'mean ± sd over seeds'], ['runs', 'every run']], parameters.get('lines') ?? 'mean');
  const asked = parameters.get('models')?.split(',').filter(Boolean);
  let wanted: Set<string> | null = asked?.length ? new Set(asked) : null;
  const models = h('fieldset', { class: 'models' });
  const status = h('p', { class: 'quiet', role: 'status' });
  const trouble = h('div');
  const place = h('div');
  const scores = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Scores' });
  const controls = h('form', { class: 'controls' }, field('Task', task), field('Measure', measure), field('Lines', lines), field('Against', across));
  root.replaceChildren(h('h1', {}, 'Compare runs'), controls, models, status, trouble, place, scores);
  if (all.length === 0) {
    status.textContent = 'There are no runs to compare in the folder being served.';
    return () => {};
  }

  const read = new Map<string, MetricsReader>();
  let gone = false;
  let generation = 0;
  let chart: Chart | null = null;
  const ofTask = () => all.filter((run) => run.task === task.value);
  const names = () => [...new Set(ofTask().map((run) => run.model))].sort();
  const chosen = () => ofTask().filter((run) => !wanted || wanted.has(run.model));

  /** Machines are not validated: alone, they are compared by their views. */
  const suit = () => {
    if (ofTask().every(isMachine) && MEASURES[measure.value].title.startsWith('validation')) measure.value = 'views';
  };
  const offerModels = () => {
    models.replaceChildren(h('legend', {}, 'Models'), ...names().map((name) => {
      const box = h('input', { type: 'checkbox', checked: !wanted || wanted.has(name), onchange: () => {
        wanted ??= new Set(names());
        if (box.checked) wanted.add(name);
        else wanted.delete(name);
        show();
      } });
      return h('label', { class: 'check' }, box, name);
    }));
  };
  const show = async () => {
    const mine = ++generation;
    const runs = chosen();
    context.remember({ task: task.value, measure: measure.value, lines: lines.value, across: across.value, ...(wanted ? { models: [...wanted].join(',') } : {}) });
    drawScores(runs);
    const left = runs.filter((run) => !read.has(run.id));
    let done = 0;
    const worker = async () => {
      for (let run = left.pop(); run && !gone && mine === generation; run = left.pop()) {
        const reader = new MetricsReader(run.id);
        try {
          await reader.read();
          read.set(run.id, reader);
        } catch (error) {
          trouble.replaceChildren(notice('error', `${run.name}: ${(error as Error).message}`));
        }
        status.textContent = `Reading metrics: ${++done} of ${done + left.length} …`;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    if (gone || mine !== generation) return;
    draw(runs);
  };
  const draw = (runs: api.Run[]) => {
    const { title, value, range } = MEASURES[measure.value];
    const points = (run: api.Run): Point[] => (read.get(run.id)?.lines ?? []).flatMap((line): Point[] => {
      const y = value(line);
      return y === undefined ? [] : [[line.epoch, y]];
    });
    const timed = across.value === 'time';
    const known = runs.map((run) => ({ run, points: points(run) })).filter(({ run, points }) => points.length > 0 && (!timed || run.seconds));
    // Metrics have no times, so that equal runs have equal files: each epoch counts as long as the mean one.
    const pace = (runs: api.Run[]) => (timed ? runs.reduce((sum, run) => sum + (run.seconds ?? 0) / Math.max(1, run.epoch), 0) / runs.length : 1);
    const scaled = (line: Series, by: number): Series => ({ ...line, best: line.best && line.best * by, points: line.points.map(([x, y]): Point => [x * by, y]), band: line.band?.map(([x, low, high]) => [x * by, low, high]) });
    const without = runs.length - known.length;
    status.textContent = `${known.length} run${known.length === 1 ? '' : 's'}${without ? `; ${without} without this measure${timed ? ' or its time' : ''}` : ''}.${timed ? ' Every epoch of a run counts as long as its mean one.' : ''} Drag to zoom, double-click to reset; a legend entry hides its line, a click on a line hides the others.`;
    const series: Series[] = lines.value === 'runs'
      ? known.map(({ run, points }) => scaled({ name: run.name, model: run.model, points, best: measure.value === 'f1' ? run.best_epoch ?? undefined : undefined }, pace([run])))
      : names().flatMap((name) => {
          const of = known.filter(({ run }) => run.model === name);
          if (of.length === 0) return [];
          const mean = meanOf(name, of.map(({ points }) => points));
          return mean.points.length ? [scaled(mean, pace(of.map(({ run }) => run)))] : [];
        });
    chart?.destroy();
    chart = new Chart(`${structureName(task.value)}: ${title}`, { across: timed ? 'seconds of training' : 'epoch', up: title, range, tight: true, tall: true, empty: 'none of these runs has this measure' });
    chart.element.classList.add('large');
    place.replaceChildren(chart.element);
    chart.show(series);
  };
  const drawScores = (runs: api.Run[]) => {
    const sizes = testSizes(runs);
    const row = (name: string, of: api.Run[]) => h('tr', {}, h('th', { scope: 'row' }, name), h('td', {}, of.length),
      ...[spread(of.map((run) => run.validation_f1)), ...sizes.map((nodes) => spread(of.map((run) => testF1(run, nodes))))].map((value) => h('td', {}, plusMinus(value))));
    // Test sets depend on the task and the seed only: one run for each seed has them all.
    const baseline = (name: string, measure: 'f1_always_1' | 'counting_f1') => {
      const found = [...new Map(runs.filter((run) => run.test.some((test) => test[measure] !== undefined)).map((run) => [run.seed, run.test])).values()];
      const at = (nodes: number) => spread(found.map((test) => test.find((one) => one.nodes === nodes)?.[measure]));
      return h('tr', { class: 'baseline', 'data-baseline': name, hidden: found.length === 0 }, h('th', { scope: 'row' }, name), h('td', {}, `${found.length} seed${found.length === 1 ? '' : 's'}`), h('td'), ...sizes.map((nodes) => h('td', {}, plusMinus(at(nodes)))));
    };
    scores.replaceChildren(h('table', { class: 'scores' }, h('caption', {}, 'F₁, mean ± sd over runs'),
      h('thead', {}, h('tr', {}, ...['model', 'runs', 'best validation', ...sizes.map((nodes) => `n = ${nodes}`)].map((title) => h('th', { scope: 'col' }, title)))),
      h('tbody', {}, ...names().filter((name) => runs.some((run) => run.model === name)).map((name) => row(name, runs.filter((run) => run.model === name))), baseline('always 1', 'f1_always_1'), baseline('counting', 'counting_f1'))));
  };
  controls.addEventListener('submit', (event) => event.preventDefault());
  controls.addEventListener('change', (event) => {
    if (event.target === task) {
      wanted = null;
      suit();
      offerModels();
    }
    show();
  });
  suit();
  offerModels();
  show();
  return () => {
    gone = true;
    chart?.destroy();
  };
};
