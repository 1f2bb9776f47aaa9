/** What a model is, how it was trained, and how it scores next to the baselines and the paper. */

import type { RunDetails, TestScores } from './api';
import { h, marked, score } from './dom';
import { aboutModel, isMachine, structureName } from './about';

export function modelCard(details: RunDetails): HTMLElement[] {
  if (details.trouble) return [];
  const setting = (section: string, key: string) => readSetting(details.config, section, key);
  const row = (name: string, ...value: (Node | string)[]) => [h('dt', {}, name), h('dd', {}, ...value)];
  const data = ['nodes', 'ops', 'sequences'].map((key) => setting('data', key));
  const sequences = `${data[2]} sequences of ${data[1]} operations on ${data[0]} nodes, seed ${details.seed}`;
  const all = isMachine(details) && setting('data', 'consistent') === 'true';
  const trained = all ? 'every view that is consistent with the program’s clauses' : isMachine(details) ? `the views met in ${sequences}` : sequences;
  const certificate = certificateText(details.certificate);
  return [h('section', { class: 'card', 'aria-label': 'Model card' }, h('h2', {}, 'Model card'), h('dl', {},
    ...row('Model', h('code', {}, details.model), aboutModel(details.model) ? `: ${aboutModel(details.model)}` : ''),
    ...row('Imitates', `${structureName(details.task)} (${details.task})`),
    ...(data[2] ? row('Trained on', trained) : []),
    ...row('Train it again', h('code', {}, 'pgn train --config config.toml --out runs/again'), ' with the config.toml below'),
    ...(certificate ? row('Certificate', ...marked(certificate)) : [])))];
}

/** The value of a key in a section of a config, as it is written there, without brackets. */
export function readSetting(config: string, section: string, key: string): string | null {
  const part = config.split(/^\[/m).find((part) => part.startsWith(`${section}]`));
  const value = part?.match(new RegExp(`^${key} = (.+)$`, 'm'))?.[1];
  return value ? value.replace(/[[\]"]/g, '') : null;
}

/** What a certificate says: whether the machine is certified, and what that proves. */
function certificateText(text: string | null | undefined): string {
  if (!text) return '';
  try {
    const { certified, statement } = JSON.parse(text) as { certified?: unknown; statement?: unknown };
    return `${certified === true ? '✓ certified' : '✗ not certified'}${typeof statement === 'string' ? `. ${statement}` : ''}`;
  } catch {
    return 'certificate.json cannot be read';
  }
}

type Score = 'f1' | 'precision' | 'recall' | 'accuracy' | 'sequences_right' | 'sequences_exact' | 'pointer_accuracy' | 'mask_accuracy';

export function scoreTable(details: RunDetails): HTMLElement {
  const columns: [Score, string][] = [['f1', 'F₁'], ['precision', 'precision'], ['recall', 'recall'], ['accuracy', 'accuracy'], ['sequences_right', 'sequences with all answers right'], ['sequences_exact', 'exact sequences'], ['pointer_accuracy', 'pointers right'], ['mask_accuracy', 'masks right']];
  const shown = columns.filter(([name]) => details.test.some((test) => typeof test[name] === 'number'));
  type Row = [string, (number | null | undefined)[]];
  const of = (title: string, value: (test: TestScores) => number | undefined): Row => [title, details.test.map(value)];
  const share = (value: number | undefined) => (value === undefined ? undefined : 1 - value);
  // Below a score: what no model is needed for.
  const baselines: Partial<Record<Score, Row[]>> = {
    f1: [['F₁ in the paper', details.paper], of('F₁ of counting', (test) => test.counting_f1), of('F₁ of always 1', (test) => test.f1_always_1)],
    accuracy: [of('accuracy of always 0', (test) => share(test.answers_1)), of('accuracy of always 1', (test) => test.answers_1)],
    pointer_accuracy: [of('every node points to itself', (test) => test.trivial?.point_to_self)],
    mask_accuracy: [of('no node is visited', (test) => test.trivial?.never_visit)],
  };
  const row = (title: string, quiet: boolean, values: (number | null | undefined)[]) =>
    h('tr', { class: quiet ? 'baseline' : null }, h('th', { scope: 'row' }, title), ...values.map((value) => h('td', {}, score(value))));
  const lines = ([name, title]: [Score, string]) => [
    row(title, false, details.test.map((test) => test[name])),
    ...(baselines[name] ?? []).filter(([, values]) => values.some((value) => typeof value === 'number')).map(([title, values]) => row(title, true, values)),
  ];
  return h('table', { class: 'scores' }, h('caption', {}, 'Test scores'),
    h('thead', {}, h('tr', {}, h('td', {}), ...details.test.map(({ nodes, ops }) => h('th', { scope: 'col' }, h('span', { class: 'nobr' }, `n = ${nodes}`), h('br'), h('small', {}, `${ops} ops`))))),
    h('tbody', {}, ...shown.flatMap(lines)));
}
