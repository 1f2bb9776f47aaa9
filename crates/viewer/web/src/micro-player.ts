/**
 * Step by step inside an operation: pseudo-code with the current line marked, the program's
 * registers, its memory, and a sentence for each micro-step.
 */

import type { MicroSteps } from './api';
import { h } from './dom';
import { MiniForest } from './mini-forest';
import { Memory } from './micro-memory';

const PAUSE = 700;

export class MicroPlayer {
  readonly element: HTMLElement;
  private readonly code = h('ol', { class: 'code' });
  private readonly registers = h('dl', { class: 'registers' });
  private readonly narration = h('p', { class: 'verdict' });
  private readonly counter = h('span', { class: 'counter' });
  private readonly slider = h('input', { type: 'range', min: 0, max: 0, value: 0, class: 'scrubber', 'aria-label': 'Micro-step' });
  private readonly playing = h('button', { type: 'button', class: 'play', onclick: () => this.toggle() }, 'Play');
  private readonly forest = new MiniForest('Inside the operation');
  private memory: Memory | null = null;
  private at = 0;
  private timer: number | undefined;

  constructor() {
    const button = (label: string, text: string, by: number) => h('button', { type: 'button', 'aria-label': label, onclick: () => this.go(this.at + by) }, text);
    this.slider.addEventListener('input', () => this.go(Number(this.slider.value)));
    this.element = h('div', { class: 'micro', hidden: true }, h('h3', {}, 'Inside the last operation'),
      h('div', { class: 'steps' }, button('Micro-step back', '◀', -1), this.playing, button('Micro-step forward', '▶', 1), this.slider, this.counter),
      this.narration, h('div', { class: 'micro-parts' }, this.code, this.forest.element, this.registers));
  }

  destroy(): void {
    this.pause();
    this.forest.destroy();
  }

  /** Shows the last operation; nothing for null. */
  load(steps: MicroSteps | null): void {
    this.pause();
    this.element.hidden = !steps || steps.operations.length === 0;
    if (!steps || this.element.hidden) return;
    this.memory = new Memory(steps);
    this.code.replaceChildren(...steps.code.map((line) => h('li', {}, h('code', {}, line))));
    this.slider.max = String(this.memory.moments.length - 1);
    this.forest.prepare(this.memory.moments.map(({ pointers }) => pointers));
    this.go(0, false);
  }

  private pause(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.playing.textContent = 'Play';
  }

  private toggle(): void {
    const last = (this.memory?.moments.length ?? 1) - 1;
    if (this.timer !== undefined) return this.pause();
    let at = this.at === last ? 0 : this.at;
    this.timer = setInterval(() => {
      this.show(++at);
      if (at >= last) this.pause();
    }, PAUSE);
    this.playing.textContent = 'Pause';
  }

  private go(step: number, animate = true): void {
    this.pause();
    this.show(step, animate);
  }

  private show(step: number, animate = true): void {
    if (!this.memory) return;
    const { moments, u, v } = this.memory;
    this.at = Math.min(Math.max(step, 0), moments.length - 1);
    const moment = moments[this.at];
    this.slider.value = String(this.at);
    this.counter.textContent = `micro-step ${this.at} of ${moments.length - 1}`;
    this.slider.setAttribute('aria-valuetext', `${this.counter.textContent}: ${moment.narration}`);
    this.narration.textContent = moment.narration;
    this.code.querySelector('.here')?.classList.remove('here');
    this.code.querySelector('[aria-current]')?.removeAttribute('aria-current');
    const line = this.code.children[moment.line];
    line?.classList.add('here');
    line?.setAttribute('aria-current', 'step');
    this.registers.replaceChildren(h('dt', {}, 'state'), h('dd', {}, moment.state),
      ...Object.entries(moment.registers).flatMap(([name, node]) => [h('dt', {}, name), h('dd', {}, node ?? 'nil')]));
    const held = new Set(Object.values(moment.registers).filter((node): node is number => node !== null));
    this.forest.show({ pointers: moment.pointers, u, v, visited: held, moved: moment.moved }, animate);
  }
}
