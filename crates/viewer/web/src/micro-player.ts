/**
 * Step by step inside an operation: pseudo-code with the current line marked, the program's
 * registers, its pointers, and a sentence for each micro-step.
 */

import type { MicroSteps } from './api';
import { announce, h } from './dom';
import { type Moment, unrollMicro } from './micro-memory';
import { MiniForest } from './mini-forest';
import { textOf } from './pseudo-code';
import { saveButtons } from './save-picture';

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
  /** What a link/cut tree stands for. */
  private readonly represented = new MiniForest('The tree it represents');
  private readonly legend = h('p', { class: 'quiet note' });
  private readonly parts = h('div', { class: 'micro-parts' }, this.code, this.forest.element, this.represented.element, this.registers);
  private moments: Moment[] = [];
  private operands: [string, number][] = [];
  private ranks: string[] = [];
  private at = 0;
  private timer: number | undefined;

  constructor(title = 'Inside the last operation') {
    const button = (label: string, text: string, by: number) => h('button', { type: 'button', 'aria-label': label, onclick: () => this.go(this.at + by) }, text);
    this.slider.addEventListener('input', () => this.go(Number(this.slider.value)));
    this.element = h('div', { class: 'micro', hidden: true }, title ? h('h3', {}, title) : null,
      h('div', { class: 'steps' }, button('Micro-step back', '◀', -1), this.playing, button('Micro-step forward', '▶', 1), this.slider, this.counter,
        ...saveButtons(() => this.parts.querySelectorAll<SVGSVGElement>('.forest:not([hidden]) svg'), () => `micro-step-${this.at}`, 'these pictures')),
      this.narration, this.parts,
      this.legend);
    for (const { element } of [this.forest, this.represented]) {
      element.addEventListener('pointerover', (event) => this.link((event.target as Element).closest('[data-node]')));
      element.addEventListener('pointerleave', () => this.link(null));
    }
    // The keys belong to the player around it.
    this.slider.addEventListener('keydown', (event) => event.stopPropagation());
  }

  destroy(): void {
    this.pause();
    this.forest.destroy();
    this.represented.destroy();
  }

  /** Steps and plays by keys pressed anywhere but in fields. */
  key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (this.element.hidden || event.ctrlKey || event.metaKey || event.altKey || target.closest('input, select, textarea, [role=listbox]')) return;
    const act = {
      ArrowLeft: () => this.go(this.at - 1),
      ArrowRight: () => this.go(this.at + 1),
      Home: () => this.go(0),
      End: () => this.go(this.moments.length - 1),
      ' ': target.closest('button, a, summary') ? undefined : () => this.toggle(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Until the next operation is there, the last one can be seen but not used. */
  await(): void {
    this.pause();
    this.element.inert = true;
  }

  /** Shows an operation; nothing for null. */
  load(steps: MicroSteps | null): void {
    this.pause();
    this.element.inert = false;
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
    // Only what is compared is worth a number: without keys, all nodes have the same.
    this.ranks = new Set(steps.ranks).size > 1 ? steps.ranks.map(String) : [];
    const trees = this.moments.flatMap(({ tree }) => (tree ? [tree] : []));
    this.forest.rename(trees[0]?.represented ? 'The auxiliary forest' : 'Inside the operation');
    this.forest.prepare(this.moments.map(({ pointers }) => pointers), trees.map(({ sides }) => sides));
    this.represented.element.hidden = !trees[0]?.represented;
    this.parts.classList.toggle('three', Boolean(trees[0]?.represented));
    this.represented.prepare(trees.flatMap(({ represented }) => (represented ? [represented] : [])));
    const legend = ['Blue rims mark the nodes that registers hold.'];
    if (this.ranks.length) legend.push('Under each node: the rank of its key, 1 is the least.');
    if (trees[0]?.represented) legend.push('Solid lines lead to parents in a splay tree, which is a path of the represented tree; dashed ones to path-parents. ⇄ marks a pending flip.');
    this.legend.textContent = legend.join(' ');
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
    // The slider says it itself while it has the focus, and playing would never be silent.
    if (this.timer === undefined && step > 0 && document.activeElement !== this.slider) announce(moment.narration);
    this.mark(moment.line);
    this.registers.replaceChildren(h('dt', {}, 'state'), h('dd', {}, moment.state),
      ...Object.entries(moment.registers).flatMap(([name, node]) => [h('dt', {}, name), h('dd', {}, node ?? 'nil')]));
    const held = new Set(Object.values(moment.registers).filter((node): node is number => node !== null));
    // A program may move its operands to other registers: the badge goes with the register.
    const operand = (index: number) => (operands[index] ? moment.registers[operands[index][0]] ?? null : null);
    const common = { u: operand(0), v: operand(1), names: operands.map(([name]) => name), visited: held };
    const { sides, pathParents, flipped, represented } = moment.tree ?? {};
    this.forest.show({ ...common, pointers: moment.pointers, moved: moment.moved, sides, pathParents, flipped, under: this.ranks }, animate);
    if (represented) this.represented.show({ ...common, pointers: represented }, animate);
  }

  /** Marks a node in both pictures. */
  private link(node: Element | null): void {
    this.element.querySelectorAll('.linked').forEach((other) => other.classList.remove('linked'));
    const name = node?.getAttribute('data-node');
    if (name !== null && name !== undefined) this.element.querySelectorAll(`[data-node="${name}"]`).forEach((other) => other.classList.add('linked'));
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
