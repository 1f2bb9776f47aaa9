/** One run: its curves, live while it trains, its scores and its config. */

import * as api from './api';
import { Chart, type Series } from './chart';
import { announce, h, notice, score } from './dom';
import type { View } from './view';

const REFRESH = 1000;

export const run: View = async (root, parameters) => {
  const id = parameters.get('id') ?? '';
  let details = await api.run(id);
  const status = h('p', { class: 'status' });
  const scores = h('div', { class: 'scroll' });
  const losses = new Chart('Training losses', 'epoch', 'loss');
  const validation = new Chart('Validation scores', 'epoch', 'score', [0, 1]);
  const charts = h('div', { class: 'charts' }, losses.element, validation.element);
  const trouble = h('div');
  const quoted = encodeURIComponent(id);
  root.replaceChildren(
    h('h1', {}, details.name), status,
    h('p', { class: 'buttons', hidden: !details.playable },
      h('a', { class: 'button', href: `#/rollout?model=${quoted}` }, 'Rollout'),
      h('a', { class: 'button', href: `#/playground?model=${quoted}` }, 'Playground')),
    trouble, charts, scores,
    h('details', {}, h('summary', {}, 'config.toml'), h('pre', { tabindex: 0 }, details.config)));

  let lines: api.Metrics[] = [];
  let offset = 0;
  const showStatus = () => {
    const { task, model, seed, finished, epoch, epochs, results } = details;
    status.textContent = `${task} ${model}, seed ${seed}: `
      + (finished ? `finished after ${epoch} epochs; best at epoch ${results?.best_epoch}; ${results?.parameters.toLocaleString('en')} weights` : `epoch ${epoch} of ${epochs}`);
    if (details.trouble) trouble.replaceChildren(notice('error', details.trouble));
    scores.replaceChildren(...(details.test.length ? [table(details)] : []));
    charts.hidden = details.built_in;
  };
  const draw = () => {
    losses.show(['total', 'query', 'pointers', 'masks', 'dgm'].flatMap((name) => series(lines, name, (line) => line.losses[name], name === 'dgm' || name === 'masks' || name === 'pointers')));
    validation.show([
      ...series(lines, 'F₁', (line) => line.validation.f1),
      ...series(lines, 'accuracy', (line) => line.validation.accuracy),
      ...series(lines, 'pointers', (line) => line.validation.pointer_accuracy),
      ...series(lines, 'masks', (line) => line.validation.mask_accuracy),
    ]);
  };
  const read = async () => {
    for (let more = true; more;) {
      const part = await api.metrics(id, offset);
      if (part.afresh) lines = [];
      const first = part.lines[0]?.epoch ?? Infinity;
      // A run that went on from a checkpoint writes some epochs again.
      while (lines.length && lines[lines.length - 1].epoch >= first) lines.pop();
      lines = lines.concat(part.lines);
      ({ offset, more } = part);
    }
    draw();
  };
  let gone = false;
  let timer: number | undefined;
  const follow = async () => {
    try {
      const was = details.finished;
      details = await api.run(id);
      await read();
      const latest = lines[lines.length - 1];
      if (!details.finished && latest) details.epoch = latest.epoch;
      trouble.replaceChildren();
      showStatus();
      if (!was && details.finished) announce('The run is finished.');
    } catch (error) {
      trouble.replaceChildren(notice('error', (error as Error).message));
    }
    if (!gone && !details.finished) timer = setTimeout(follow, REFRESH);
  };
  showStatus();
  await read();
  if (!details.finished) timer = setTimeout(follow, REFRESH);
  return () => {
    gone = true;
    clearTimeout(timer);
    losses.destroy();
    validation.destroy();
  };
};

/** A curve, unless there is nothing to it. */
function series(lines: api.Metrics[], name: string, value: (line: api.Metrics) => number | undefined, optional = false): Series[] {
  const points = lines.flatMap((line): [number, number][] => {
    const y = value(line);
    return y === undefined ? [] : [[line.epoch, y]];
  });
  return points.length === 0 || (optional && points.every(([, y]) => y === 0)) ? [] : [{ name, points }];
}

function table(details: api.RunDetails): HTMLElement {
  const columns: [string, string][] = [['f1', 'F₁'], ['precision', 'precision'], ['recall', 'recall'], ['accuracy', 'accuracy'], ['sequences_exact', 'exact sequences'], ['pointer_accuracy', 'pointers'], ['mask_accuracy', 'masks'], ['f1_always_1', 'F₁ of always 1']];
  const shown = columns.filter(([name]) => details.test.some((test) => test[name] !== undefined));
  return h('table', { class: 'scores' }, h('caption', {}, 'Test scores'),
    h('thead', {}, h('tr', {}, h('td', {}), ...details.test.map(({ nodes, ops }) => h('th', { scope: 'col' }, h('span', { class: 'nobr' }, `n = ${nodes}`), h('br'), h('small', {}, `${ops} ops`))))),
    h('tbody', {}, ...shown.map(([name, title]) => h('tr', {}, h('th', { scope: 'row' }, title), ...details.test.map((test) => h('td', {}, score(test[name])))))));
}
