/** The playground: operations of one's own, and what the model makes of them. */

import * as api from './api';
import { announce, field, h, notice, percent, wholeNumber } from './dom';
import { type Frame, unroll } from './history';
import { chooseModel, modelPicker } from './models';
import { Pair } from './pair';
import { judge } from './player';
import type { View } from './view';

/** Kept while other views are looked at. */
let kept: { operations: [number, number][]; nodes: number; seed: number } = { operations: [], nodes: 12, seed: 0 };

export const playground: View = async (root, parameters, context) => {
  const models = (await api.runs()).filter((run) => run.playable);
  const { limits } = await api.about();

  const model = modelPicker(models, parameters.get('model'));
  const nodes = h('input', { type: 'number', min: 2, max: limits.nodes, value: parameters.get('nodes') ?? kept.nodes, inputmode: 'numeric' });
  const seed = h('input', { type: 'number', min: 0, max: 999999, value: parameters.get('seed') ?? kept.seed, inputmode: 'numeric' });
  const settings = h('form', { class: 'controls', 'aria-label': 'The structure' },
    field('Model', model), field('Nodes', nodes), field('Seed', seed));

  const u = h('input', { type: 'number', min: 0, class: 'operand', 'aria-label': 'u', required: true, inputmode: 'numeric' });
  const v = h('input', { type: 'number', min: 0, class: 'operand', 'aria-label': 'v', required: true, inputmode: 'numeric' });
  const name = h('code');
  const apply = h('button', { type: 'submit', class: 'primary' }, 'Apply');
  const undo = h('button', { type: 'button', title: 'Undo (Ctrl+Z)', onclick: () => takeBack() }, 'Undo');
  const clear = h('button', { type: 'button', onclick: () => change([]) }, 'Start over');
  const form = h('form', { class: 'operation', 'aria-label': 'An operation', novalidate: true },
    name, h('span', {}, '('), u, h('span', {}, ','), v, h('span', {}, ')'), apply);
  const file = h('input', { type: 'file', accept: '.csv,text/csv,text/plain', class: 'unseen', id: 'csv', tabindex: -1, 'aria-hidden': 'true' });
  const load = h('button', { type: 'button', onclick: () => file.click() }, 'Load CSV');
  const save = h('button', { type: 'button', onclick: () => download() }, 'Save CSV');
  const inspecting = h('input', { type: 'checkbox' });
  const tools = h('div', { class: 'tools' }, form,
    h('div', { class: 'buttons' }, undo, clear, load, save, file),
    h('label', { class: 'check' }, inspecting, ' clicks show details instead'));
  const verdict = h('p', { class: 'verdict' });
  const trouble = h('div');
  const history = h('tbody');
  const tally = h('span', { class: 'facts' });
  const pair = new Pair((node) => !inspecting.checked && pick(node));
  const log = h('section', { class: 'history' }, h('h2', {}, 'Operations ', tally), h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Operations so far' },
    h('table', {}, h('thead', {}, h('tr', {}, ...['step', 'u', 'v', 'model', 'sure', 'truth', ''].map((title) => h('th', { scope: 'col' }, title || h('span', { class: 'unseen' }, 'verdict'))))), history)));
  root.replaceChildren(h('h1', {}, 'Playground'), settings, tools, trouble, verdict, pair.element, log);
  if (models.length === 0) trouble.append(notice('error', 'There is no trained model to play with.'));

  let operations = kept.operations;
  let picked: number | null = null;
  let asked = 0;

  const complain = (text: string) => trouble.replaceChildren(notice('error', text));
  const setPicked = (node: number | null) => {
    picked = node;
    u.value = node === null ? '' : String(node);
    pair.pick(node);
  };
  const pick = (node: number): boolean => {
    trouble.replaceChildren();
    if (picked === null) {
      setPicked(node);
      announce(`u is node ${node}. Choose v.`);
    } else if (picked === node) {
      setPicked(null);
      announce('Nothing is chosen.');
    } else {
      change([...operations, [picked, node]]);
    }
    return true;
  };

  /** Replays `next` and keeps it if the server does not refuse. */
  const change = async (next: [number, number][], restart = false) => {
    const mine = ++asked;
    chooseModel(model.value);
    const request: api.ReplayRequest = { model: model.value, nodes: wholeNumber(nodes), seed: wholeNumber(seed), operations: next };
    try {
      const replay = await api.replay(request);
      if (mine !== asked) return;
      const grew = next.length === operations.length + 1;
      operations = next;
      kept = { operations, nodes: request.nodes, seed: request.seed ?? 0 };
      trouble.replaceChildren();
      const frames = unroll(replay);
      pair.load(replay, frames, (step, node) => api.node(request, step, node));
      [u.value, v.value] = ['', ''];
      [u.max, v.max] = [String(request.nodes - 1), String(request.nodes - 1)];
      picked = null;
      pair.pick(null);
      const frame = frames[frames.length - 1];
      pair.show(frame, !restart);
      show(replay, frames, frame, grew);
      context.remember({ model: model.value, nodes: nodes.value, seed: seed.value });
    } catch (error) {
      if (mine === asked) complain((error as Error).message);
    }
  };

  const show = (replay: api.Replay, frames: Frame[], frame: Frame, grew: boolean) => {
    name.textContent = replay.operation;
    verdict.replaceChildren(...(frame.operation ? judge(replay, frame) : ['Click two nodes, or type them, to apply an operation.']));
    verdict.classList.toggle('wrong', frame.operation !== null && frame.operation.truth.answer !== frame.operation.model.answer);
    announce(grew || frame.operation === null ? verdict.textContent ?? '' : `${operations.length} operations. ${verdict.textContent}`);
    undo.disabled = clear.disabled = save.disabled = operations.length === 0;
    const rows = frames.slice(1).map(({ operation, step }) => {
      if (!operation) return null;
      const { u, v, truth, model } = operation;
      const right = truth.answer === model.answer;
      const sure = percent(model.answer === 1 ? model.probability : 1 - model.probability);
      return h('tr', { class: right ? '' : 'bad' }, ...[step, u, v, model.answer, sure, truth.answer].map((cell) => h('td', {}, cell)),
        h('td', {}, right ? '✓ right' : '✗ wrong'));
    });
    history.replaceChildren(...rows.filter((row) => row !== null).reverse());
    const right = replay.steps.filter((step) => step.truth.answer === step.model.answer).length;
    tally.textContent = replay.steps.length === 0 ? 'none yet' : `${right} of ${replay.steps.length} answered right`;
  };

  const takeBack = () => {
    if (picked !== null) setPicked(null);
    else if (operations.length > 0) change(operations.slice(0, -1));
  };

  const download = () => {
    const header = `# ${name.textContent}, nodes=${nodes.value}, seed=${seed.value}\nu,v\n`;
    const text = header + operations.map(([u, v]) => `${u},${v}\n`).join('');
    const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    h('a', { href: url, download: 'operations.csv' }).click();
    setTimeout(() => URL.revokeObjectURL(url), 0);
  };

  const upload = async (chosen: File) => {
    if (chosen.size > 500_000) return complain(`${chosen.name} is too large: expected at most 500,000 bytes.`);
    const text = await chosen.text();
    // What was saved here knows how many nodes there were.
    const saved = text.match(/^# .*\bnodes=(\d+), seed=(\d+)/);
    const n = saved ? Number(saved[1]) : wholeNumber(nodes);
    try {
      const answer = await api.operations(chosen.name, n, text);
      if (saved) [nodes.value, seed.value] = [saved[1], saved[2]];
      await change(answer.operations, true);
    } catch (error) {
      complain((error as Error).message);
    }
    return undefined;
  };

  settings.addEventListener('submit', (event) => event.preventDefault());
  settings.addEventListener('change', (event) => {
    // Operations stay valid for another model, but not for another structure.
    change(event.target === model ? operations : [], true);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const pair_ = [u, v].map((input) => (/^\d+$/.test(input.value) ? Number(input.value) : -1));
    const n = Number(nodes.value);
    if (pair_.some((node) => node < 0 || node >= n)) return complain(`An operation needs two nodes, whole numbers from 0 to ${n - 1}.`);
    if (pair_[0] === pair_[1]) return complain('u and v are the same node: an operation needs two different ones.');
    change([...operations, [pair_[0], pair_[1]]]);
    u.focus();
    return undefined;
  });
  file.addEventListener('change', () => {
    const chosen = file.files?.[0];
    if (chosen) upload(chosen);
    // So that the same file can be chosen again after it was mended.
    file.value = '';
  });
  const onKey = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if ((event.ctrlKey || event.metaKey) && event.key === 'z' && !target.closest('input:not([type=checkbox])')) {
      event.preventDefault();
      takeBack();
    } else if (event.key === 'Escape' && picked !== null) {
      setPicked(null);
    }
  };
  document.addEventListener('keydown', onKey);
  if (models.length > 0) {
    const fits = operations.every(([u, v]) => u < Number(nodes.value) && v < Number(nodes.value));
    await change(fits && Number(nodes.value) === kept.nodes ? operations : [], true);
  }
  return () => {
    asked++;
    pair.destroy();
    document.removeEventListener('keydown', onKey);
  };
};
