/** The rollout player: a test sequence, step by step. */

import * as api from './api';
import { announce, field, h, notice, percent, wholeNumber } from './dom';
import { type Frame, type Mistake, hasMistake, nextMistake, unroll } from './history';
import { chooseModel, modelPicker } from './models';
import { Pair } from './pair';
import { words } from './tasks';
import type { View } from './view';

const PAUSE = 900;

export const rollout: View = async (root, parameters, context) => {
  const models = (await api.runs()).filter((run) => run.playable);
  const { limits } = await api.about();
  const at = (name: string, otherwise: string) => parameters.get(name) ?? otherwise;

  const model = modelPicker(models, parameters.get('model'));
  const source = h('select', {}, h('option', { value: 'test' }, 'test sequence'), h('option', { value: 'chain' }, 'chain (i, i+1)'));
  source.value = at('source', 'test');
  const nodes = h('input', { type: 'number', min: 2, max: limits.nodes, value: at('nodes', '20'), inputmode: 'numeric' });
  const sequence = h('input', { type: 'number', min: 0, max: limits.sequences - 1, value: at('sequence', '0'), inputmode: 'numeric' });
  const controls = h('form', { class: 'controls', 'aria-label': 'What to replay' },
    field('Model', model), field('Operations', source), field('Nodes', nodes), field('Sequence', sequence));

  const button = (label: string, text: string, keys: string, act: () => void) =>
    h('button', { type: 'button', 'aria-label': label, title: `${label} (${keys})`, onclick: act }, text);
  const back = button('Step back', '◀', '←', () => seek(step - 1));
  const play = h('button', { type: 'button', class: 'play', onclick: () => toggle() });
  const forward = button('Step forward', '▶', '→', () => seek(step + 1));
  const scrubber = h('input', { type: 'range', min: 0, max: 0, value: 0, class: 'scrubber', 'aria-label': 'Step' });
  const counter = h('output', { class: 'counter' });
  const kind = h('select', { 'aria-label': 'Kind of mistake' },
    h('option', { value: 'answer' }, 'wrong answer'), h('option', { value: 'pointer' }, 'new wrong pointer'), h('option', { value: 'mask' }, 'wrong mask'));
  const mistake = h('button', { type: 'button', title: 'Jump to the next mistake (m)', onclick: () => jump() }, 'Next mistake');
  const strip = h('div', { class: 'strip', role: 'img' });
  const verdict = h('p', { class: 'verdict' });
  const player = h('div', { class: 'player', role: 'group', 'aria-label': 'Player' },
    h('div', { class: 'buttons' }, back, play, forward), h('div', { class: 'track' }, scrubber, strip), counter,
    h('div', { class: 'buttons' }, mistake, kind));
  const pair = new Pair();
  const trouble = h('div');
  root.replaceChildren(h('h1', {}, 'Rollout'), controls, trouble, player, verdict, pair.element, keys());
  if (models.length === 0) trouble.append(notice('error', 'There is no trained model to roll out.'));

  let frames: Frame[] = [];
  let replay: api.Replay | null = null;
  let step = 0;
  let timer: number | undefined;
  let asked = 0;

  const seek = (to: number, animate = true) => {
    const next = Math.min(Math.max(to, 0), frames.length - 1);
    if (next < 0 || !replay) return;
    step = next;
    scrubber.value = String(step);
    counter.textContent = `step ${step} of ${frames.length - 1}`;
    back.disabled = step === 0;
    forward.disabled = step === frames.length - 1;
    verdict.replaceChildren(...judge(replay.task, frames[step]));
    verdict.classList.toggle('wrong', hasMistake(frames, step, 'answer'));
    scrubber.setAttribute('aria-valuetext', `step ${step}: ${verdict.textContent}`);
    strip.querySelector('.here')?.classList.remove('here');
    strip.children[step - 1]?.classList.add('here');
    pair.show(frames[step], animate);
    context.remember({ model: model.value, source: source.value, nodes: nodes.value, sequence: sequence.value, step: String(step) });
    if (timer === undefined) announce(`Step ${step}. ${verdict.textContent}`);
  };
  const showPlaying = () => {
    play.textContent = timer === undefined ? 'Play' : 'Pause';
    play.setAttribute('aria-pressed', String(timer !== undefined));
  };
  const pause = () => {
    clearInterval(timer);
    timer = undefined;
    showPlaying();
  };
  const toggle = () => {
    if (timer !== undefined) return pause();
    if (frames.length < 2) return;
    if (step === frames.length - 1) seek(0, false);
    timer = setInterval(() => {
      if (step >= frames.length - 1) pause();
      else seek(step + 1);
    }, PAUSE);
    showPlaying();
    seek(step + 1);
  };
  const jump = () => {
    pause();
    const next = nextMistake(frames, step, kind.value as Mistake);
    if (next !== null) return seek(next);
    const text = `There is no ${kind.selectedOptions[0].text} after step ${step}.`;
    trouble.replaceChildren(notice('note', text));
    announce(text);
  };
  const load = async (start = 0) => {
    pause();
    chooseModel(model.value);
    const mine = ++asked;
    const n = wholeNumber(nodes);
    sequence.disabled = source.value === 'chain';
    const request: api.ReplayRequest = source.value === 'chain'
      ? {
          model: model.value,
          nodes: n,
          priorities: Array.from({ length: n }, (_, i) => i / n),
          operations: Array.from({ length: n - 1 }, (_, i) => [i, i + 1]),
        }
      : { model: model.value, nodes: n, sequence: wholeNumber(sequence), seed: models.find((run) => run.id === model.value)?.seed ?? 0 };
    try {
      const answer = await api.replay(request);
      if (mine !== asked) return;
      replay = answer;
      frames = unroll(replay);
      trouble.replaceChildren();
      for (const name of ['pointer', 'mask']) {
        const option = kind.querySelector<HTMLOptionElement>(`[value=${name}]`);
        if (option) option.disabled = name === 'mask' ? !replay.has_masks : replay.pointers === 'none';
      }
      if (kind.selectedOptions[0]?.disabled) kind.value = 'answer';
      scrubber.max = String(frames.length - 1);
      strip.replaceChildren(...frames.slice(1).map((frame) =>
        h('i', { class: hasMistake(frames, frame.step, 'answer') ? 'bad' : '' })));
      const bad = strip.querySelectorAll('.bad').length;
      strip.setAttribute('aria-label', `${bad} wrong answer${bad === 1 ? '' : 's'} in ${frames.length - 1} steps`);
      strip.title = strip.getAttribute('aria-label') ?? '';
      pair.load(request, replay, frames);
      seek(start, false);
    } catch (error) {
      if (mine === asked) trouble.replaceChildren(notice('error', (error as Error).message));
    }
  };

  controls.addEventListener('submit', (event) => event.preventDefault());
  controls.addEventListener('change', () => load());
  scrubber.addEventListener('input', () => {
    pause();
    seek(Number(scrubber.value));
  });
  const onKey = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest('input:not([type=range]), select, textarea')) return;
    const act = {
      ArrowLeft: () => { pause(); seek(step - 1); },
      ArrowRight: () => { pause(); seek(step + 1); },
      Home: () => { pause(); seek(0); },
      End: () => { pause(); seek(frames.length - 1); },
      ' ': target.closest('button, a') ? undefined : toggle,
      m: jump,
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  document.addEventListener('keydown', onKey);
  showPlaying();
  if (models.length > 0) await load(Number(at('step', '0')) || 0);
  return () => {
    pause();
    asked++;
    pair.destroy();
    document.removeEventListener('keydown', onKey);
  };
};

/** The last operation in words, with both answers. */
export function judge(task: string, frame: Frame): (Node | string)[] {
  const { operation, answers } = words(task);
  if (!frame.operation) return ['Before the first operation: every node points to itself.'];
  const { u, v, truth, model } = frame.operation;
  const right = truth.answer === model.answer;
  const confidence = model.answer === 1 ? model.probability : 1 - model.probability;
  return [
    h('code', {}, `${operation}(${u}, ${v})`), ' ',
    h('span', { class: 'nobr' }, 'truth ', h('b', {}, truth.answer), `: ${answers[truth.answer]};`), ' ',
    h('span', { class: 'nobr' }, 'model ', h('b', {}, model.answer), `, ${percent(confidence)} sure`), ' ',
    h('span', { class: right ? 'mark right' : 'mark bad' }, right ? '✓ right' : '✗ wrong'),
  ];
}

function keys(): HTMLElement {
  const key = (name: string, text: string) => [h('kbd', {}, name), ` ${text}  `];
  return h('p', { class: 'keys' }, ...key('←', ''), ...key('→', 'step'), ...key('Space', 'play or pause'), ...key('Home', ''), ...key('End', 'first, last'), ...key('m', 'next mistake'), ...key('↑', ''), ...key('↓', 'move between nodes, once one has the focus'));
}
