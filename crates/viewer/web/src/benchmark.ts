/** The benchmark's leaderboard: how each entry does on each task, by size and family of operations. */

import { structureName } from './about';
import { Unreachable } from './api';
import { choice, field, h, score } from './dom';
import type { View } from './view';

type Row = [task: string, nodes: number, family: string, f1: number | null, accuracy: number | null, pointers: number | null, right: number | null, exact: number | null, always1: number | null, counting: number | null, ones: number | null, self: number | null, keep: number | null];

interface Entry {
  name: string;
  supervision: string;
  claim: string;
  budget: string;
  scores: Row[];
}

/** What entries were told, from the least to the most: the groups of the table. */
const LADDER: Record<string, string> = { answers: 'Answers', pointers: 'Masks and pointers', writes: 'Ordered writes', 'loads-and-stores': 'Loads and stores', 'micro-steps': 'Micro-steps with states' };
const FAMILIES: Record<string, string> = { all: 'all families', random: 'random', path: 'on a path', star: 'in a star', local: 'close together', adversarial: 'adversarial' };
const MEASURES: Record<string, { title: string; at: number; baselines: [string, (row: Row) => number | null][] }> = {
  f1: { title: 'F₁ of the answers', at: 3, baselines: [['always 0', () => 0], ['always 1', (row) => row[8]], ['counting', (row) => row[9]]] },
  accuracy: { title: 'answers right', at: 4, baselines: [['always 0', (row) => 1 - (row[10] ?? 1)], ['always 1', (row) => row[10]]] },
  pointers: { title: 'pointers right', at: 5, baselines: [['every node points to itself', (row) => row[11]], ['no pointer moves', (row) => row[12]]] },
};
/** As in the data card. */
const TASKS = ['dsu', 'dsu-by-size', 'kruskal', 'forest', 'lct', 'msf', 'bst', 'splay', 'heap', 'mtf', 'ring'];

export const benchmark: View = async (root, parameters, context) => {
  const response = await fetch('benchmark.json').catch(() => null);
  if (!response?.ok) throw new Unreachable('The server does not answer. Is `pgn serve` still running?');
  const entries = await response.json() as Entry[];
  const sizes = [...new Set(entries.flatMap(({ scores }) => scores.map(([, nodes]) => nodes)))].sort((a, b) => a - b);
  const measure = choice(Object.entries(MEASURES).map(([name, { title }]): [string, string] => [name, title]), parameters.get('measure') ?? 'f1');
  const nodes = choice(sizes.map((size): [string, string] => [String(size), size.toLocaleString('en')]), parameters.get('nodes') ?? '200');
  const family = choice(Object.entries(FAMILIES), parameters.get('family') ?? 'all');
  const place = h('div', {});
  const controls = h('form', { class: 'controls' }, field('Measure', measure), field('Nodes', nodes), field('Operations', family));
  root.replaceChildren(h('h1', {}, 'Benchmark'),
    h('p', { class: 'lead' }, 'Does a network that was trained on operations over 20 nodes execute the data structure on 10,000?'),
    h('p', { class: 'quiet' }, 'Entries are grouped by what they were told in training. A dash: not entered. Largest value of a column in bold; ties have none.'),
    controls, place);

  const table = (caption: string, cells: (entry: Entry, task: string) => number | null, baselines: [string, (task: string) => number | null][], text: (value: number | null) => string) => {
    const best = (task: string) => {
      const values = entries.map((entry) => cells(entry, task)).filter((value) => value !== null);
      const most = Math.max(...values);
      return values.filter((value) => value === most).length === 1 ? most : null;
    };
    const bests = new Map(TASKS.map((task) => [task, best(task)]));
    const row = (name: string, values: (number | null)[], quiet = false) => h('tr', { class: quiet ? 'baseline' : null }, h('th', { scope: 'row' }, quiet ? name : h('code', {}, name)),
      ...values.map((value, index) => h('td', {}, !quiet && value !== null && value === bests.get(TASKS[index]) ? h('b', {}, text(value)) : text(value))));
    const known = baselines.map(([name, of]) => ({ name, values: TASKS.map(of) })).filter(({ values }) => values.some((value) => value !== null));
    return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, h('table', { class: 'scores leaderboard' }, h('caption', {}, caption),
      h('thead', {}, h('tr', {}, h('td', {}), ...TASKS.map((task) => h('th', { scope: 'col', title: structureName(task) }, task)))),
      h('tbody', {}, ...known.map(({ name, values }) => row(name, values, true)),
        ...Object.entries(LADDER).flatMap(([told, title]) => {
          const group = entries.filter(({ supervision }) => supervision === told);
          return group.length === 0 ? [] : [h('tr', { class: 'told' }, h('th', { colspan: TASKS.length + 1, scope: 'rowgroup' }, title)), ...group.map((entry) => row(entry.name, TASKS.map((task) => cells(entry, task))))];
        }))));
  };
  const find = (entry: Entry, task: string) => entry.scores.find(([of, size, kind]) => of === task && size === Number(nodes.value) && kind === family.value);
  /** Up to this size, every sequence of every seed is right; in pointers too, where there are some. */
  const largest = (entry: Entry, task: string) => {
    let most: number | null = null;
    for (const size of sizes) {
      const row = entry.scores.find(([of, nodes, kind]) => of === task && nodes === size && kind === 'all');
      if (!row) continue;
      if ((row[7] ?? row[6]) !== 1) break;
      most = size;
    }
    return most;
  };
  const draw = () => {
    context.remember({ measure: measure.value, nodes: nodes.value, family: family.value });
    const { title, at, baselines } = MEASURES[measure.value];
    const any = (task: string) => entries.map((entry) => find(entry, task)).filter((row) => row !== undefined);
    const number = (row: Row | undefined) => (row?.[at] ?? null) as number | null;
    place.replaceChildren(
      table(`${title}, n = ${Number(nodes.value).toLocaleString('en')}, ${FAMILIES[family.value]}`, (entry, task) => number(find(entry, task)), baselines.map(([name, of]) => [name, (task) => {
        // Entries without pointers do not have all of them.
        return any(task).map(of).find((value) => value !== null) ?? null;
      }]), score),
      table('Largest n without an error, all families', largest, [], (value) => value?.toLocaleString('en') ?? '–'),
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Entries' }, h('table', { class: 'scores entries' }, h('caption', {}, 'Entries'), h('thead', {}, h('tr', {}, h('td', {}), ...['claim', 'trained on'].map((name) => h('th', { scope: 'col' }, name)))),
        h('tbody', {}, ...entries.map(({ name, claim, budget }) => h('tr', {}, h('th', { scope: 'row' }, h('code', {}, name)), h('td', {}, claim), h('td', {}, budget)))))),
      h('p', { class: 'quiet' }, 'An entry is a folder with two files, made with ', h('code', {}, 'pgn benchmark'), ': predictions of any framework can be scored.'));
  };
  controls.addEventListener('submit', (event) => event.preventDefault());
  controls.addEventListener('change', draw);
  draw();
  return () => {};
};
