/** One run: its curves, live while it trains, its scores and its config. */

import { isMachine } from './about';
import * as api from './api';
import { Chart, type Series } from './chart';
import { announce, h, notice } from './dom';
import { MetricsReader, lossNames, viewsRight } from './metrics';
import { modelCard, scoreTable } from './model-card';
import { stateOf } from './run-state';
import type { View } from './view';

const REFRESH = 1000;

export const run: View = async (root, parameters, context) => {
  const id = parameters.get('id') ?? '';
  let details = await api.run(id);
  context.entitle(`${details.name} – Run`);
  const status = h('p', { class: 'status' });
  const card = h('div');
  const scores = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Test scores', hidden: true });
  const losses = new Chart('Training losses', { across: 'epoch', up: 'loss', tall: true, log: isMachine(details) });
  const validation = new Chart('Validation scores', { across: 'epoch', up: 'score', tall: true, range: [0, 1] });
  const views = new Chart('Training views right', { across: 'epoch', up: 'share', range: [0, 1] });
  const rate = new Chart('Learning rate', { across: 'epoch', up: 'learning rate' });
  const charts = h('div', { class: 'charts' }, losses.element, validation.element, views.element, rate.element);
  const trouble = h('div');
  const quoted = encodeURIComponent(id);
  const played = [h('a', { class: 'button', href: `#/rollout?model=${quoted}` }, 'Rollout'), h('a', { class: 'button', href: `#/playground?model=${quoted}` }, 'Playground')];
  const inside = h('a', { class: 'button', href: `#/machine?model=${quoted}` }, 'Step by step');
  const learning = h('a', { class: 'button' }, 'Watch it learn');
  const buttons = h('p', { class: 'buttons' }, ...played, learning, inside);
  root.replaceChildren(h('h1', {}, details.name), status, buttons, trouble, card, scores, charts,
    h('details', {}, h('summary', {}, 'config.toml'), h('pre', { tabindex: 0 }, details.config)));

  const showStatus = () => {
    status.textContent = describe(details);
    for (const link of played) link.hidden = !details.playable;
    inside.hidden = !isMachine(details);
    learning.hidden = details.kept.length === 0;
    learning.href = `#/rollout?model=${quoted}&epoch=${details.kept[0]}&step=12`;
    buttons.hidden = !details.playable && !isMachine(details);
    trouble.replaceChildren(...(details.trouble ? [notice('error', details.trouble)] : []));
    card.replaceChildren(...modelCard(details));
    scores.hidden = details.test.length === 0;
    scores.replaceChildren(...(details.test.length ? [scoreTable(details)] : []));
    charts.hidden = details.built_in || details.trouble !== null;
  };
  const reader = new MetricsReader(id);
  const draw = () => {
    const { lines } = reader;
    const empty = stateOf(details) === 'training' ? 'no epoch has been evaluated yet' : 'this run has no metrics.jsonl';
    losses.show(lossNames(lines).flatMap((name) => series(lines, name, (line) => line.losses[name], name !== 'total')), empty);
    const best = details.results?.best_epoch ?? details.best_epoch ?? undefined;
    validation.show([
      ...series(lines, 'F₁', (line) => line.validation?.f1).map((one) => ({ ...one, best })),
      ...series(lines, 'accuracy', (line) => line.validation?.accuracy),
      ...series(lines, 'pointers', (line) => line.validation?.pointer_accuracy),
      ...series(lines, 'masks', (line) => line.validation?.mask_accuracy),
    ], empty);
    views.show(series(lines, 'views right', viewsRight), empty);
    // A machine is not validated: it is certified.
    validation.element.hidden = isMachine(details);
    views.element.hidden = !isMachine(details);
    rate.show(series(lines, 'learning rate', (line) => line.learning_rate), empty);
    // A constant needs no picture.
    rate.element.hidden = new Set(lines.map((line) => line.learning_rate)).size < 2;
  };
  let gone = false;
  let timer: number | undefined;
  const follow = async () => {
    try {
      const was = details.finished;
      details = await api.run(id);
      await reader.read();
      const latest = reader.lines[reader.lines.length - 1];
      if (!details.finished && latest) details.epoch = latest.epoch;
      showStatus();
      draw();
      if (!was && details.finished) announce('The run has finished.');
    } catch (error) {
      trouble.replaceChildren(notice('error', (error as Error).message));
    }
    if (!gone && !details.finished) timer = setTimeout(follow, REFRESH);
  };
  showStatus();
  await reader.read();
  draw();
  if (!details.finished) timer = setTimeout(follow, REFRESH);
  return () => {
    gone = true;
    clearTimeout(timer);
    for (const chart of [losses, validation, views, rate]) chart.destroy();
  };
};

/** The run in a sentence. */
function describe(details: api.RunDetails): string {
  const { task, model, seed, epoch, epochs, results } = details;
  const who = `${task} ${model}, seed ${seed}: `;
  switch (stateOf(details)) {
    case 'damaged': return 'This run cannot be read.';
    case 'finished': return `${who}finished after ${epoch} epochs${results ? `; best at epoch ${results.best_epoch}; ${results.parameters.toLocaleString('en')} weights` : ''}${details.seconds ? `; trained in ${duration(details.seconds)}` : ''}`;
    case 'stopped': return `${who}stopped at epoch ${epoch} of ${epochs}; no process is training it`;
    case 'training': return `${who}training, epoch ${epoch} of ${epochs}`;
  }
}

/** 8040 → "2 h 14 min". */
function duration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${Math.round(seconds % 60)} s` : `${seconds.toPrecision(2)} s`;
}

/** A curve, unless there is nothing to it. */
function series(lines: api.Metrics[], name: string, value: (line: api.Metrics) => number | undefined, optional = false): Series[] {
  const points = lines.flatMap((line): [number, number][] => {
    const y = value(line);
    return y === undefined ? [] : [[line.epoch, y]];
  });
  return points.length === 0 || (optional && points.every(([, y]) => y === 0)) ? [] : [{ name, points }];
}
