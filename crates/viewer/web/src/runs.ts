/** The table of runs. */

import * as api from './api';
import { h, notice, score } from './dom';
import type { View } from './view';

interface Column {
  name: string;
  title: string;
  value: (run: api.Run) => string | number | null;
  cell: (run: api.Run) => Node | string | number;
}

const REFRESH = 3000;

export const runs: View = async (root, parameters, context) => {
  let order = parameters.get('sort') ?? 'name';
  let down = parameters.get('down') === '1';
  const { folder } = await api.about();
  const filter = h('input', { type: 'search', placeholder: 'filter, e.g. lct pgn', 'aria-label': 'Filter', value: parameters.get('filter') ?? '' });
  const count = h('output', { class: 'facts' });
  const head = h('tr', { role: 'row' });
  const body = h('tbody', { role: 'rowgroup' });
  const table = h('table', { class: 'runs', role: 'table', 'aria-label': 'Runs' }, h('thead', { role: 'rowgroup' }, head), body);
  const trouble = h('div');
  root.replaceChildren(h('h1', {}, 'Runs'),
    h('p', { class: 'quiet' }, folder ? `In ${folder}, and the models that come with the program.` : 'The models that come with the program. `pgn serve DIR` shows the runs in a folder too.'),
    trouble, h('div', { class: 'controls' }, filter, count), h('div', { class: 'scroll' }, table));

  let all: api.Run[] = [];
  const columns = (): Column[] => {
    const sizes = [...new Set(all.flatMap((run) => run.test.map((test) => test.nodes)))].sort((a, b) => a - b);
    const at = (run: api.Run, nodes: number) => run.test.find((test) => test.nodes === nodes)?.f1 ?? null;
    const plain = (name: 'task' | 'model'): Column => ({ name, title: name, value: (run) => run[name], cell: (run) => run[name] });
    return [
      { name: 'name', title: 'run', value: (run) => `${run.built_in ? 0 : 1}/${run.name}`, cell: (run) => h('a', { href: `#/run?id=${encodeURIComponent(run.id)}` }, run.name) },
      plain('task'), plain('model'),
      { name: 'seed', title: 'seed', value: (run) => run.seed, cell: (run) => (run.trouble ? '' : run.seed) },
      { name: 'epoch', title: 'progress', value: (run) => (run.finished ? Infinity : run.epoch / Math.max(1, run.epochs)), cell: progress },
      { name: 'validation', title: 'validation F₁', value: (run) => run.validation_f1, cell: (run) => score(run.validation_f1) },
      ...sizes.map((nodes): Column => ({ name: `test-${nodes}`, title: `test F₁ n=${nodes}`, value: (run) => at(run, nodes), cell: (run) => score(at(run, nodes)) })),
      { name: 'look', title: '', value: () => null, cell: links },
    ];
  };

  const draw = () => {
    const shown = columns();
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = all.filter((run) => words.every((word) => `${run.name} ${run.task} ${run.model} seed-${run.seed}`.toLowerCase().includes(word)));
    const column = shown.find((column) => column.name === order) ?? shown[0];
    matches.sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      // What has no value comes last, whichever way.
      if (x === null || y === null) return Number(x === null) - Number(y === null) || compare(a.name, b.name);
      return (down ? -1 : 1) * compare(x, y) || compare(a.name, b.name);
    });
    const focused = document.activeElement?.getAttribute('data-sort');
    head.replaceChildren(...shown.map(({ name, title }) => {
      const sorted = name === column.name;
      const sort = sorted ? (down ? 'descending' : 'ascending') : 'none';
      return h('th', { role: 'columnheader', scope: 'col', 'aria-sort': title ? sort : null },
        title ? h('button', { type: 'button', 'data-sort': name, onclick: () => sortBy(name) }, title, h('span', { 'aria-hidden': 'true' }, sorted ? (down ? ' ▼' : ' ▲') : '')) : h('span', { class: 'unseen' }, 'links'));
    }));
    if (focused) head.querySelector<HTMLElement>(`[data-sort="${focused}"]`)?.focus();
    const linked = document.activeElement?.getAttribute('href');
    body.replaceChildren(...matches.map((run) => h('tr', { role: 'row' }, ...shown.map(({ title, cell }) =>
      h('td', { role: 'cell', 'data-title': title }, cell(run))))));
    if (linked) body.querySelector<HTMLElement>(`[href="${CSS.escape(linked)}"]`)?.focus();
    count.textContent = matches.length === all.length ? `${all.length} runs` : `${matches.length} of ${all.length} runs`;
    context.remember({ sort: order, down: down ? '1' : '0', filter: filter.value });
  };
  const sortBy = (name: string) => {
    const scores = name.startsWith('test') || name === 'validation';
    down = name === order ? !down : scores;
    order = name;
    draw();
  };
  const load = async () => {
    try {
      all = await api.runs();
      trouble.replaceChildren();
      draw();
    } catch (error) {
      trouble.replaceChildren(notice('error', (error as Error).message));
    }
  };
  filter.addEventListener('input', draw);
  await load();
  const timer = setInterval(load, REFRESH);
  return () => clearInterval(timer);
};

function compare(x: string | number, y: string | number): number {
  if (typeof x === 'number' && typeof y === 'number') return x === y ? 0 : x < y ? -1 : 1;
  return String(x).localeCompare(String(y), 'en', { numeric: true });
}

function progress(run: api.Run): Node | string {
  if (run.trouble) return h('span', { class: 'mark bad' }, `✗ ${run.trouble}`);
  return run.finished ? '✓ finished' : `epoch ${run.epoch} of ${run.epochs}`;
}

function links(run: api.Run): Node | string {
  if (!run.playable) return '';
  const id = encodeURIComponent(run.id);
  return h('span', { class: 'nobr' },
    h('a', { href: `#/rollout?model=${id}`, 'aria-label': `Rollout of ${run.name}` }, 'rollout'), ' · ',
    h('a', { href: `#/playground?model=${id}`, 'aria-label': `Playground with ${run.name}` }, 'play'));
}
