/** The player: a replay, step by step, to be played, scrubbed and searched for mistakes. */

import type { Replay } from './api';
import { announce, h, notice, percent } from './dom';
import { type Frame, type Mistake, hasMistake, nextMistake, unroll } from './history';
import { type Ask, Pair } from './pair';

const PAUSE = 900;

export class Player {
  readonly element: HTMLElement;
  private readonly back = this.button('Step back', '◀', '←', () => this.seek(this.step - 1));
  private readonly playing = h('button', { type: 'button', class: 'play', onclick: () => this.toggle() });
  private readonly forward = this.button('Step forward', '▶', '→', () => this.seek(this.step + 1));
  private readonly scrubber = h('input', { type: 'range', min: 0, max: 0, value: 0, class: 'scrubber', 'aria-label': 'Step' });
  private readonly counter = h('output', { class: 'counter' });
  private readonly kind = h('select', { 'aria-label': 'Kind of mistake' },
    h('option', { value: 'answer' }, 'wrong answer'), h('option', { value: 'pointer' }, 'new wrong pointer'), h('option', { value: 'mask' }, 'wrong mask'));
  private readonly strip = h('div', { class: 'strip', role: 'img' });
  private readonly verdict = h('p', { class: 'verdict' });
  private readonly trouble = h('div');
  private readonly pair = new Pair();
  private readonly onKey = (event: Event) => this.key(event as KeyboardEvent);
  private frames: Frame[] = [];
  private replay: Replay | null = null;
  private step = 0;
  private timer: number | undefined;

  /** `keys` is where key presses are listened to; `seen` is told every step that is shown. */
  constructor(private readonly keys: EventTarget | null, private readonly seen: (step: number) => void = () => {}) {
    const mistake = h('button', { type: 'button', title: 'Jump to the next mistake (m)', onclick: () => this.jump() }, 'Next mistake');
    const player = h('div', { class: 'player', role: 'group', 'aria-label': 'Player' },
      h('div', { class: 'buttons' }, this.back, this.playing, this.forward), h('div', { class: 'track' }, this.scrubber, this.strip), this.counter,
      h('div', { class: 'buttons' }, mistake, this.kind));
    this.element = h('div', { class: 'replay' }, this.trouble, player, this.verdict, this.pair.element, keyList());
    this.scrubber.addEventListener('input', () => {
      this.pause();
      this.seek(Number(this.scrubber.value));
    });
    (this.keys ?? this.element).addEventListener('keydown', this.onKey);
    this.showPlaying();
  }

  destroy(): void {
    this.pause();
    this.pair.destroy();
    (this.keys ?? this.element).removeEventListener('keydown', this.onKey);
  }

  load(replay: Replay, ask: Ask, start = 0): void {
    this.pause();
    this.replay = replay;
    this.frames = unroll(replay);
    this.trouble.replaceChildren();
    for (const name of ['pointer', 'mask']) {
      const option = this.kind.querySelector<HTMLOptionElement>(`[value=${name}]`);
      if (option) option.disabled = name === 'mask' ? !replay.has_masks : replay.pointers === 'none';
    }
    if (this.kind.selectedOptions[0]?.disabled) this.kind.value = 'answer';
    this.scrubber.max = String(this.frames.length - 1);
    this.strip.replaceChildren(...this.frames.slice(1).map((frame) =>
      h('i', { class: hasMistake(this.frames, frame.step, 'answer') ? 'bad' : '' })));
    const bad = this.strip.querySelectorAll('.bad').length;
    this.strip.setAttribute('aria-label', `${bad} wrong answer${bad === 1 ? '' : 's'} in ${this.frames.length - 1} steps`);
    this.strip.title = this.strip.getAttribute('aria-label') ?? '';
    this.pair.load(replay, this.frames, ask);
    this.seek(start, false);
  }

  pause(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.showPlaying();
  }

  /** What is wrong, in place of a replay. */
  complain(text: string): void {
    this.trouble.replaceChildren(notice('error', text));
  }

  private seek(to: number, animate = true): void {
    const { frames } = this;
    const next = Math.min(Math.max(to, 0), frames.length - 1);
    if (next < 0 || !this.replay) return;
    this.step = next;
    this.scrubber.value = String(next);
    this.counter.textContent = `step ${next} of ${frames.length - 1}`;
    this.back.disabled = next === 0;
    this.forward.disabled = next === frames.length - 1;
    this.verdict.replaceChildren(...judge(this.replay, frames[next]));
    this.verdict.classList.toggle('wrong', hasMistake(frames, next, 'answer'));
    this.scrubber.setAttribute('aria-valuetext', `step ${next}: ${this.verdict.textContent}`);
    this.strip.querySelector('.here')?.classList.remove('here');
    this.strip.children[next - 1]?.classList.add('here');
    this.pair.show(frames[next], animate);
    this.seen(next);
    if (this.timer === undefined) announce(`Step ${next}. ${this.verdict.textContent}`);
  }

  private showPlaying(): void {
    this.playing.textContent = this.timer === undefined ? 'Play' : 'Pause';
    this.playing.setAttribute('aria-pressed', String(this.timer !== undefined));
  }

  private toggle(): void {
    if (this.timer !== undefined) return this.pause();
    if (this.frames.length < 2) return;
    if (this.step === this.frames.length - 1) this.seek(0, false);
    this.timer = setInterval(() => {
      if (this.step >= this.frames.length - 1) this.pause();
      else this.seek(this.step + 1);
    }, PAUSE);
    this.showPlaying();
    this.seek(this.step + 1);
  }

  private jump(): void {
    this.pause();
    const next = nextMistake(this.frames, this.step, this.kind.value as Mistake);
    if (next !== null) return this.seek(next);
    const text = `There is no ${this.kind.selectedOptions[0].text} after step ${this.step}.`;
    this.trouble.replaceChildren(notice('note', text));
    announce(text);
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest('input:not([type=range]), select, textarea')) return;
    const go = (step: number) => () => {
      this.pause();
      this.seek(step);
    };
    const act = {
      ArrowLeft: go(this.step - 1),
      ArrowRight: go(this.step + 1),
      Home: go(0),
      End: go(this.frames.length - 1),
      ' ': target.closest('button, a') ? undefined : () => this.toggle(),
      m: () => this.jump(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  private button(label: string, text: string, keys: string, act: () => void): HTMLButtonElement {
    return h('button', { type: 'button', 'aria-label': label, title: `${label} (${keys})`, onclick: act }, text);
  }
}

/** The last operation in words, with both answers. */
export function judge({ operation, answers }: Replay, frame: Frame): (Node | string)[] {
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

function keyList(): HTMLElement {
  const key = (name: string, text: string) => [h('kbd', {}, name), ` ${text}  `];
  return h('p', { class: 'keys' }, ...key('←', ''), ...key('→', 'step'), ...key('Space', 'play or pause'), ...key('Home', ''), ...key('End', 'first, last'), ...key('m', 'next mistake'), ...key('↑', ''), ...key('↓', 'move between nodes, once one has the focus'));
}
