/** The player: a replay, step by step, to be played, scrubbed and searched for mistakes. */

import { announce, checkbox, choice, h, notice } from './dom';
import { type Frame, type Mistake, hasMistake, nextMistake, previousMistake } from './history';
import { showKeys } from './keys';
import { present, presenting } from './presentation';
import { type Lane, Stage } from './stage';
import { Track } from './track';
import { operationOf, verdict } from './verdict';

/** Where something is wrong for the first time, in what matters most: the step to look at first. The last one if all is right. */
function firstMistake(frames: Frame[]): number {
  return nextMistake(frames, 0, 'answer') ?? nextMistake(frames, 0, 'pointer') ?? frames.length - 1;
}

/** Milliseconds a step at normal speed. */
const PAUSE = 900;

export class Player {
  readonly element: HTMLElement;
  readonly stage: Stage;
  private readonly back = this.button('Step back', '◀', '←', () => this.go(this.step - 1));
  private readonly playing = h('button', { type: 'button', class: 'play', onclick: () => this.toggle() });
  private readonly forward = this.button('Step forward', '▶', '→', () => this.go(this.step + 1));
  private readonly scrubber = h('input', { type: 'range', min: 0, max: 0, value: 0, class: 'scrubber', 'aria-label': 'Step' });
  private readonly counter = h('span', { class: 'counter' });
  private readonly speed = choice([['0.5', '½×'], ['1', '1×'], ['2', '2×'], ['4', '4×']], '1', { 'aria-label': 'Speed', onchange: () => this.restart() });
  private readonly kind = choice([['answer', 'wrong answer'], ['pointer', 'new wrong pointer'], ['mask', 'wrong mask']], 'answer', { 'aria-label': 'Kind of mistake' });
  private readonly track = new Track();
  private readonly sentence = h('p', { class: 'verdict' });
  private readonly message = h('div');
  private readonly content: HTMLElement;
  private readonly onKey = (event: Event) => this.key(event as KeyboardEvent);
  private lanes: Lane[] = [];
  private step = 0;
  private timer: number | undefined;
  private predicting = false;
  private readonly predict = checkbox('Predict first', false, (on) => {
    this.predicting = on;
    this.go(this.step);
  });
  /** The nodes that somebody expects the next operation to visit. */
  private guess: Set<number> | null = null;

  /**
   * `keys` is where key presses are listened to: the player itself if null. `seen` is told every
   * step that is shown, `click` every node that is clicked (see `Stage`).
   */
  constructor(private readonly keys: EventTarget | null, private readonly seen: (step: number) => void = () => {}, click?: (node: number) => boolean) {
    this.stage = new Stage((node) => this.guessed(node) || (click?.(node) ?? false));
    const previous = this.button('Previous mistake', '◀✗', 'Shift+m', () => this.jump(-1));
    const next = this.button('Next mistake', '✗▶', 'm', () => this.jump(1));
    const player = h('div', { class: 'player', role: 'group', 'aria-label': 'Player' },
      h('div', { class: 'buttons' }, this.back, this.playing, this.forward, this.speed),
      h('div', { class: 'track' }, this.scrubber, this.track.element), this.counter,
      h('div', { class: 'buttons' }, previous, next, this.kind, this.predict,
        h('button', { type: 'button', title: 'Presentation mode (f)', onclick: () => present(!presenting()) }, 'Present'),
        h('button', { type: 'button', title: 'Keys (?)', onclick: showKeys }, 'Keys')));
    this.stage.bar.append(player, this.message);
    this.content = h('div', { hidden: true }, this.sentence, this.stage.element);
    this.element = h('div', { class: 'replay' }, this.content);
    this.scrubber.addEventListener('input', () => this.go(Number(this.scrubber.value)));
    (this.keys ?? this.element).addEventListener('keydown', this.onKey);
    this.showPlaying();
  }

  destroy(): void {
    this.pause();
    present(false);
    this.stage.destroy();
    (this.keys ?? this.element).removeEventListener('keydown', this.onKey);
  }

  /** Shows the first mistake of the first model unless told where to start. */
  load(lanes: Lane[], start = firstMistake(lanes[0].frames), animate = false): void {
    this.pause();
    this.lanes = lanes;
    this.content.hidden = false;
    const all = lanes.map(({ replay }) => replay);
    this.offer('mask', all.some((replay) => replay.has_masks));
    this.offer('pointer', all.some((replay) => replay.pointers !== 'none'));
    if (this.kind.selectedOptions[0]?.disabled) this.kind.value = 'answer';
    this.scrubber.max = String(this.last());
    this.track.load(lanes);
    this.stage.load(lanes);
    this.seek(start, animate);
  }

  /** Stops, and shows nothing: what was here does not belong to what is asked for now. */
  hide(): void {
    this.pause();
    this.lanes = [];
    this.content.hidden = true;
  }

  /** Where it is. */
  at(): number {
    return this.step;
  }

  pause(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.showPlaying();
  }

  /** Stops, and shows this step. */
  go(step: number): void {
    this.pause();
    if (this.predicting && step === this.step + 1 && step <= this.last()) return this.guess ? this.reveal() : this.ask();
    this.seek(step);
  }

  /** Asks which nodes the next operation will visit, before it is shown. */
  private ask(): void {
    const [{ frames, replay }] = this.lanes;
    const { operation } = frames[this.step + 1];
    if (!operation) return;
    this.guess = new Set();
    this.stage.predict({ u: operation.u, v: operation.v, nodes: this.guess });
    const text = `Which nodes will ${operationOf(replay, operation)} visit? Click them, then step forward.`;
    this.message.replaceChildren(notice('note', text));
    announce(text);
  }

  private guessed(node: number): boolean {
    const { guess } = this;
    const operation = this.lanes[0]?.frames[this.step + 1]?.operation;
    if (!guess || !operation) return false;
    if (!guess.delete(node)) guess.add(node);
    this.stage.predict({ u: operation.u, v: operation.v, nodes: guess });
    return true;
  }

  /** Shows what was asked for, and who found how much of it. */
  private reveal(): void {
    const guess = this.guess ?? new Set();
    this.seek(this.step + 1);
    const { truthVisited } = this.lanes[0].frames[this.step];
    const found = (who: string, nodes: Set<number>) => {
      const hits = [...nodes].filter((node) => truthVisited.has(node)).length;
      return `${who} found ${hits}${nodes.size > hits ? ` and named ${nodes.size - hits} more` : ''}`;
    };
    const models = this.lanes.flatMap(({ frames, title }) => {
      const nodes = frames[this.step].modelVisited;
      return nodes ? [found(this.lanes.length > 1 ? title : 'the model', nodes)] : [];
    });
    const text = `The operation visits ${truthVisited.size} node${truthVisited.size === 1 ? '' : 's'}; ${[found('you', guess), ...models].join('; ')}.`;
    this.message.replaceChildren(notice('note', text));
    announce(text);
  }

  private last(): number {
    return (this.lanes[0]?.frames.length ?? 1) - 1;
  }

  private offer(kind: Mistake, possible: boolean): void {
    const option = this.kind.querySelector<HTMLOptionElement>(`[value=${kind}]`);
    if (option) option.disabled = !possible;
  }

  private seek(to: number, animate = true): void {
    const { lanes } = this;
    if (lanes.length === 0) return;
    const next = Math.min(Math.max(to, 0), this.last());
    this.step = next;
    if (this.guess) this.stage.predict(null);
    this.guess = null;
    this.message.replaceChildren();
    this.scrubber.value = String(next);
    this.counter.textContent = `step ${next} of ${this.last()}`;
    this.back.disabled = next === 0;
    this.forward.disabled = next === this.last();
    this.sentence.replaceChildren(...verdict(lanes, next));
    this.sentence.classList.toggle('wrong', lanes.some(({ frames }) => hasMistake(frames, next, 'answer')));
    this.scrubber.setAttribute('aria-valuetext', `step ${next}: ${this.sentence.textContent}`);
    this.track.here(next);
    // Done before the next step, however fast one plays.
    this.stage.show(next, animate, (0.85 * PAUSE) / Number(this.speed.value));
    this.seen(next);
    // The slider says it itself while it has the focus, and playing would never be silent.
    if (this.timer === undefined && document.activeElement !== this.scrubber) announce(`Step ${next}. ${this.sentence.textContent}`);
  }

  private showPlaying(): void {
    this.playing.textContent = this.timer === undefined ? 'Play' : 'Pause';
  }

  private toggle(): void {
    if (this.timer !== undefined) return this.pause();
    if (this.last() < 1) return;
    if (this.step === this.last()) this.seek(0, false);
    this.start();
    this.seek(this.step + 1);
  }

  private start(): void {
    this.timer = setInterval(() => {
      if (this.step >= this.last()) this.pause();
      else this.seek(this.step + 1);
    }, PAUSE / Number(this.speed.value));
    this.showPlaying();
  }

  /** Goes on at another speed. */
  private restart(): void {
    if (this.timer === undefined) return;
    clearInterval(this.timer);
    this.start();
  }

  private jump(direction: 1 | -1): void {
    this.pause();
    const kind = this.kind.value as Mistake;
    const found = this.lanes.flatMap(({ frames }) => (direction === 1 ? nextMistake : previousMistake)(frames, this.step, kind) ?? []);
    if (found.length) return this.seek(direction === 1 ? Math.min(...found) : Math.max(...found));
    const text = `No ${this.kind.selectedOptions[0].text} ${direction === 1 ? 'after' : 'before'} step ${this.step}.`;
    this.message.replaceChildren(notice('note', text));
    announce(text);
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest('dialog')) return;
    if (target.closest('input:not([type=range], [type=checkbox]), select, textarea')) return;
    const act = {
      ArrowLeft: () => this.go(this.step - 1),
      ArrowRight: () => this.go(this.step + 1),
      Home: () => this.go(0),
      End: () => this.go(this.last()),
      ' ': target.closest('button, a, summary, [type=checkbox]') ? undefined : () => this.toggle(),
      m: () => this.jump(1),
      M: () => this.jump(-1),
      f: () => present(!presenting()),
      Escape: presenting() ? () => present(false) : undefined,
      '?': showKeys,
    }[event.key];
    if (!act || this.lanes.length === 0) return;
    event.preventDefault();
    act();
  }

  private button(label: string, text: string, keys: string, act: () => void): HTMLButtonElement {
    return h('button', { type: 'button', 'aria-label': label, title: `${label} (${keys})`, onclick: act }, text);
  }
}
