/** The table of runs. */

import { isMachine } from './about';
import * as api from './api';
import { checkbox, h, marked, notice, reconcile, score } from './dom';
import { Facets } from './facets';
import { compareValues, plusMinus, progress, spread, stateOf, testF1, testSizes } from './run-state';
import type { View } from './view';

interface Column {
  name: string;
  title: string;
  value: (run: api.Run) => string | number | null;
  cell: (run: api.Run) => Node | string | number;
  /** What stands in the row of a group. */
  group: (runs: api.Run[]) => Node | string | number;
}

/** A row of the table: one run, or the seeds of one model. */
interface Row {
  key: string;
  runs: api.Run[];
  kind: 'run' | 'group' | 'member';
}

const REFRESH = 3000;
/** From so many runs on, seeds are grouped unless somebody says otherwise. */
const MANY = 20;

export const runs: View = async (root, parameters, context) => {
  let order = parameters.get('sort') ?? 'name';
  let down = parameters.get('down') === '1';
  let grouped = parameters.get('group') ? parameters.get('group') === '1' : null;
  const unfolded = new Set<string>();
  const [{ folder }, first] = await Promise.all([api.about(), api.runs()]);
  let all = first;
  const facets = new Facets(parameters, () => draw());
  const count = h('span', { class: 'facts' });
  const head = h('tr', { role: 'row' });
  const body = h('tbody', { role: 'rowgroup' });
  const foot = h('tbody', { role: 'rowgroup', class: 'baselines' });
  const table = h('table', { class: 'runs', role: 'table', 'aria-label': 'Runs' }, h('thead', { role: 'rowgroup' }, head), body, foot);
  const trouble = h('div');
  const compare = h('a', { class: 'button', href: '#/compare' }, 'Compare learning curves');
  const grouping = checkbox('group seeds', grouped ?? all.length > MANY, (on) => {
    grouped = on;
    draw();
  });
  root.replaceChildren(h('h1', {}, 'Runs'),
    h('p', { class: 'quiet' }, ...marked(folder ? `Runs in \`${folder}\`, and the models that come with the program.` : 'The models that come with the program. `pgn serve DIR` also shows the runs in a folder.')),
    trouble, h('div', { class: 'controls' }, facets.element, grouping, compare, count), h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of runs' }, table));

  const columns = (): Column[] => {
    const plain = (name: 'task' | 'model'): Column => ({ name, title: name, value: (run) => run[name], cell: (run) => run[name], group: (runs) => runs[0][name] });
    return [
      { name: 'name', title: 'run', value: (run) => `${run.built_in ? 2 : stateOf(run) === 'training' ? 0 : 1}/${run.name}`, cell: (run) => h('a', { href: `#/run?id=${encodeURIComponent(run.id)}` }, ...breakable(run.name)), group: unfold },
      plain('task'), plain('model'),
      { name: 'seed', title: 'seed', value: (run) => run.seed, cell: (run) => (run.trouble ? '' : run.seed), group: (runs) => `${runs.length} runs` },
      { name: 'epoch', title: 'state', value: (run) => (run.finished ? Infinity : run.epoch / Math.max(1, run.epochs)), cell: progress, group: states },
      { name: 'validation', title: 'best validation F₁', value: (run) => run.validation_f1, cell: (run) => score(run.validation_f1), group: (runs) => plusMinus(spread(runs.map((run) => run.validation_f1))) },
      ...testSizes(all).map((nodes): Column => ({
        name: `test-${nodes}`, title: `test F₁ n=${nodes}`, value: (run) => testF1(run, nodes), cell: (run) => score(testF1(run, nodes)), group: (runs) => plusMinus(spread(runs.map((run) => testF1(run, nodes)))),
      })),
      { name: 'look', title: '', value: () => null, cell: links, group: (runs) => h('a', { href: `#/compare?task=${encodeURIComponent(runs[0].task)}&models=${encodeURIComponent(runs[0].model)}`, 'aria-label': `curves of ${runs[0].task} ${runs[0].model}` }, 'curves') },
    ];
  };
  const unfold = (runs: api.Run[]): Node => {
    const key = groupKey(runs[0]);
    const open = unfolded.has(key);
    return h('button', { type: 'button', class: 'link', 'aria-expanded': String(open), 'data-group': key, onclick: () => {
      if (!unfolded.delete(key)) unfolded.add(key);
      draw();
    } }, h('span', { 'aria-hidden': 'true' }, open ? '▾ ' : '▸ '), `${runs[0].task} ${runs[0].model}`);
  };

  /** The rows in order. Groups are sorted by their mean. */
  const rows = (column: Column): Row[] => {
    const by = (x: string | number | null, y: string | number | null, a: string, b: string) => {
      // What has no value comes last, whichever way.
      if (x === null || y === null) return Number(x === null) - Number(y === null) || compareValues(a, b);
      return (down ? -1 : 1) * compareValues(x, y) || compareValues(a, b);
    };
    const matches = facets.matching(all).sort((a, b) => by(column.value(a), column.value(b), a.name, b.name));
    if (!isGrouped()) return matches.map((run) => ({ key: run.id, runs: [run], kind: 'run' }));
    const groups = new Map<string, api.Run[]>();
    for (const run of matches) groups.set(groupKey(run), [...(groups.get(groupKey(run)) ?? []), run]);
    const mean = (runs: api.Run[]) => {
      const values = runs.map(column.value);
      return values.every((value) => typeof value === 'number') ? spread(values as number[])?.mean ?? null : values[0];
    };
    const sorted = [...groups].sort(([a, x], [b, y]) => by(mean(x), mean(y), a, b));
    return sorted.flatMap(([key, runs]): Row[] => {
      const row = (run: api.Run, kind: Row['kind']): Row => ({ key: run.id, runs: [run], kind });
      if (runs.length === 1) return [row(runs[0], 'run')];
      return [{ key, runs, kind: 'group' }, ...(unfolded.has(key) ? runs.map((run) => row(run, 'member')) : [])];
    });
  };
  const isGrouped = () => grouped ?? all.length > MANY;

  // Rows that have not changed are kept as they are, with the selection and the focus in them.
  const drawn = new Map<string, { text: string; element: HTMLElement }>();
  const draw = () => {
    facets.offer(all);
    const shown = columns();
    const column = shown.find((column) => column.name === order) ?? shown[0];
    drawHead(shown, column);
    const titles = shown.map(({ title }) => title).join();
    const elements = rows(column).map(({ key, runs, kind }) => {
      const text = JSON.stringify([titles, runs, kind, unfolded.has(key)]);
      const old = drawn.get(key);
      if (old?.text === text) return old.element;
      const element = h('tr', { role: 'row', class: kind }, ...shown.map(({ title, cell, group: ofGroup }) =>
        h('td', { role: 'cell', 'data-title': title }, kind === 'group' ? ofGroup(runs) : cell(runs[0]))));
      drawn.set(key, { text, element });
      return element;
    });
    const focused = (document.activeElement as HTMLElement | null)?.dataset.group;
    reconcile(body, elements);
    if (focused) [...body.querySelectorAll<HTMLElement>('[data-group]')].find((button) => button.dataset.group === focused)?.focus();
    const matching = facets.matching(all).length;
    count.textContent = matching === all.length ? `${all.length} runs` : `${matching} of ${all.length} runs`;
    const values = facets.values();
    compare.setAttribute('href', `#/compare?${new URLSearchParams({ ...(values.task ? { task: values.task } : {}), ...(values.model ? { models: values.model } : {}) })}`);
    drawBaselines(shown);
    context.remember({ ...values, sort: order, down: down ? '1' : '0', ...(grouped === null ? {} : { group: grouped ? '1' : '0' }) });
  };
  let titles = '';
  const drawHead = (shown: Column[], column: Column) => {
    const text = JSON.stringify([shown.map(({ title }) => title), column.name, down]);
    if (text === titles) return;
    titles = text;
    const focused = document.activeElement?.getAttribute('data-sort');
    head.replaceChildren(...shown.map(({ name, title }) => {
      const sorted = name === column.name;
      const sort = sorted ? (down ? 'descending' : 'ascending') : 'none';
      return h('th', { role: 'columnheader', scope: 'col', 'aria-sort': title ? sort : null },
        title ? h('button', { type: 'button', 'data-sort': name, onclick: () => sortBy(name) }, title, h('span', { 'aria-hidden': 'true' }, sorted ? (down ? ' ▼' : ' ▲') : '')) : h('span', { class: 'unseen' }, 'links'));
    }));
    if (focused) head.querySelector<HTMLElement>(`[data-sort="${focused}"]`)?.focus();
  };

  /** What F₁ is without any data structure: a row for each task and baseline. */
  let footed = '';
  const drawBaselines = (shown: Column[]) => {
    const tasks = [...new Set(facets.matching(all).filter((run) => run.test.length).map((run) => run.task))].sort();
    const kinds = [['always 1', 'f1_always_1'], ['counting', 'counting_f1']] as const;
    const lines = tasks.flatMap((task) => kinds.map(([title, kind]) => {
      // Of the first run that has it.
      const example = all.find((run) => run.task === task && run.test.some((test) => test[kind] !== undefined));
      return { task, title, values: new Map(example?.test.map((one) => [`test-${one.nodes}`, one[kind]])) };
    })).filter(({ values }) => values.size > 0);
    const text = JSON.stringify([titles, lines.map(({ task, title, values }) => [task, title, [...values]])]);
    if (text === footed) return;
    footed = text;
    foot.replaceChildren(...lines.map(({ task, title, values }) => h('tr', { role: 'row', class: 'baseline' }, ...shown.map(({ name, title: column }) => {
      const cell = { name: 'baseline', task, model: title }[name] ?? (values.has(name) ? score(values.get(name)) : '');
      return h('td', { role: 'cell', 'data-title': column }, cell);
    }))));
  };

  const sortBy = (name: string) => {
    const scores = name.startsWith('test') || name === 'validation';
    down = name === order ? !down : scores;
    order = name;
    draw();
  };
  let before = JSON.stringify(all);
  const load = async () => {
    try {
      const next = await api.runs();
      trouble.replaceChildren();
      const text = JSON.stringify(next);
      if (text === before) return;
      [all, before] = [next, text];
      draw();
    } catch (error) {
      trouble.replaceChildren(notice('error', (error as Error).message));
    }
  };
  draw();
  // The models that come along do not change.
  const timer = folder === null ? undefined : setInterval(load, REFRESH);
  return () => clearInterval(timer);
};

/** Runs of one model and task whose names differ in a number at the end are one group. */
function groupKey(run: api.Run): string {
  if (run.built_in || run.trouble) return run.id;
  return `${run.task} ${run.model} ${run.name.replace(/[-/_]?(seed[-_]?)?\d+$/, '')}`;
}

function states(runs: api.Run[]): string {
  const all = runs.map(stateOf);
  return [...new Set(all)].map((state) => (all.every((one) => one === state) ? state : `${all.filter((one) => one === state).length} ${state}`)).join(', ');
}

/** A name that may be broken after every slash. */
function breakable(name: string): (Node | string)[] {
  return name.split(/(?<=\/)/).flatMap((part, index) => (index ? [h('wbr'), part] : [part]));
}

function links(run: api.Run): Node | string {
  const id = encodeURIComponent(run.id);
  if (!run.playable && run.finished && isMachine(run)) return h('a', { href: `#/machine?model=${id}`, 'aria-label': `steps of ${run.name}` }, 'steps');
  if (!run.playable) return '';
  return h('span', { class: 'nobr' },
    h('a', { href: `#/rollout?model=${id}`, 'aria-label': `rollout of ${run.name}` }, 'rollout'), ' · ',
    h('a', { href: `#/playground?model=${id}`, 'aria-label': `play with ${run.name}` }, 'play'));
}
