/**
 * Step by step inside an operation: pseudo-code with the current line marked, the program's
 * registers, its pointers, and a sentence for each micro-step.
 */

import type { MicroSteps } from './api';
import { h } from './dom';
import { type Moment, unrollMicro } from './micro-memory';
import { MiniForest } from './mini-forest';
import { textOf } from './pseudo-code';

const PAUSE = 900;

export class MicroPlayer {
  readonly element: HTMLElement;
  private readonly code = h('ol', { class: 'code', tabindex: 0, 'aria-label': 'Pseudo-code' });
  private readonly registers = h('dl', { class: 'registers' });
  private readonly narration = h('p', { class: 'verdict' });
  private readonly counter = h('span', { class: 'counter' });
  private readonly slider = h('input', { type: 'range', min: 0, max: 0, value: 0, class: 'scrubber', 'aria-label': 'Micro-step' });
  private readonly playing = h('button', { type: 'button', class: 'play', onclick: () => this.toggle() }, 'Play');
  private readonly forest = new MiniForest('Inside the operation');
  private moments: Moment[] = [];
  private operands: [string, number][] = [];
  private at = 0;
  private timer: number | undefined;

  constructor(title = 'Inside the last operation') {
    const button = (label: string, text: string, by: number) => h('button', { type: 'button', 'aria-label': label, onclick: () => this.go(this.at + by) }, text);
    this.slider.addEventListener('input', () => this.go(Number(this.slider.value)));
    this.element = h('div', { class: 'micro', hidden: true }, title ? h('h3', {}, title) : null,
      h('div', { class: 'steps' }, button('Micro-step back', '◀', -1), this.playing, button('Micro-step forward', '▶', 1), this.slider, this.counter),
      this.narration, h('div', { class: 'micro-parts' }, this.code, this.forest.element, this.registers),
      h('p', { class: 'quiet note' }, 'Blue rims mark the nodes that registers hold.'));
    // The keys belong to the player around it.
    this.slider.addEventListener('keydown', (event) => event.stopPropagation());
  }

  destroy(): void {
    this.pause();
    this.forest.destroy();
  }

  /** Shows an operation; nothing for null. */
  load(steps: MicroSteps | null): void {
    this.pause();
    this.element.hidden = !steps;
    delete this.element.dataset.program;
    if (!steps) return;
    this.element.dataset.program = steps.program;
    this.moments = unrollMicro(steps);
    this.operands = steps.arguments;
    const { code } = textOf(steps.program);
    this.code.replaceChildren(...code.map((line) => h('li', {}, h('code', {}, line))));
    this.code.hidden = code.length === 0;
    this.slider.max = String(this.moments.length - 1);
    this.forest.prepare(this.moments.map(({ pointers }) => pointers));
    this.go(0, false);
  }

  private pause(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.playing.textContent = 'Play';
  }

  private toggle(): void {
    if (this.timer !== undefined) return this.pause();
    const last = this.moments.length - 1;
    if (this.at === last) this.show(0, false);
    this.timer = setInterval(() => {
      this.show(this.at + 1);
      if (this.at >= last) this.pause();
    }, PAUSE);
    this.playing.textContent = 'Pause';
  }

  private go(step: number, animate = true): void {
    this.pause();
    this.show(step, animate);
  }

  private show(step: number, animate = true): void {
    const { moments, operands } = this;
    this.at = Math.min(Math.max(step, 0), moments.length - 1);
    const moment = moments[this.at];
    this.slider.value = String(this.at);
    this.counter.textContent = `micro-step ${this.at} of ${moments.length - 1}`;
    this.slider.setAttribute('aria-valuetext', `${this.counter.textContent}: ${moment.narration}`);
    this.narration.textContent = moment.narration;
    this.mark(moment.line);
    this.registers.replaceChildren(h('dt', {}, 'state'), h('dd', {}, moment.state),
      ...Object.entries(moment.registers).flatMap(([name, node]) => [h('dt', {}, name), h('dd', {}, node ?? 'nil')]));
    const held = new Set(Object.values(moment.registers).filter((node): node is number => node !== null));
    const [u, v] = [0, 1].map((index) => operands[index]?.[1] ?? null);
    this.forest.show({ pointers: moment.pointers, u, v, names: operands.map(([name]) => name), visited: held, moved: moment.moved }, animate);
  }

  private mark(line: number): void {
    const old = this.code.querySelector('.here');
    old?.classList.remove('here');
    old?.removeAttribute('aria-current');
    const now = this.code.children[line] as HTMLElement | undefined;
    now?.classList.add('here');
    now?.setAttribute('aria-current', 'step');
    if (!now) return;
    // Scrolled within the list only: the page stays where it is.
    const [here, list] = [now.getBoundingClientRect(), this.code.getBoundingClientRect()];
    if (here.top < list.top || here.bottom > list.bottom) this.code.scrollTop += here.top - list.top - list.height / 2;
  }
}
