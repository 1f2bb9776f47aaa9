/** Truth and model side by side, with the legend and the details of a chosen node. */

import type * as api from './api';
import { h, percent } from './dom';
import { cellSize } from './forest';
import { ForestView, type Picture } from './forest-view';
import { type Frame, sameComponents } from './history';

/** Tells what the model makes of a node after a step. */
export type Ask = (step: number, node: number) => Promise<api.NodeDetails>;

export class Pair {
  readonly element: HTMLElement;
  private readonly truth: ForestView;
  private readonly model: ForestView;
  private readonly validity = h('p', { class: 'validity' });
  private readonly inspector = h('section', { class: 'inspector', 'aria-label': 'Details of a node' });
  private readonly observer: ResizeObserver;
  private ask: Ask | null = null;
  private replay: api.Replay | null = null;
  private frames: Frame[] = [];
  private frame: Frame | null = null;
  private cell = 0;
  private chosen: number | null = null;
  private picked: number | null = null;
  private asked = 0;

  /** `click` is told which node was chosen; it says whether that was for its own purposes. */
  constructor(private readonly click: (node: number) => boolean = () => false) {
    this.truth = new ForestView('Ground truth', (node) => this.choose(node));
    this.model = new ForestView('Model', (node) => this.choose(node));
    this.element = h('div', { class: 'pair' },
      h('div', { class: 'forests' }, this.truth.element, this.model.element),
      h('div', { class: 'aside' }, this.validity, this.inspector, legend()));
    this.observer = new ResizeObserver(() => {
      this.measure();
      this.draw(false);
    });
    this.observer.observe(this.truth.element);
    this.inspect();
  }

  destroy(): void {
    this.observer.disconnect();
    this.asked++;
  }

  load(replay: api.Replay, frames: Frame[], ask: Ask): void {
    const other = this.replay?.nodes !== replay.nodes;
    this.ask = ask;
    this.replay = replay;
    this.frames = frames;
    if (other) this.chosen = null;
    this.model.explain({
      none: 'This model keeps no pointers: it answers from its latent state alone.',
      given: 'This model is given its pointers.',
      masked: '',
      every: '',
    }[replay.pointers]);
    this.measure();
  }

  show(frame: Frame, animate: boolean): void {
    this.frame = frame;
    this.draw(animate);
    this.inspect();
  }

  /** Marks a node as the first operand. */
  pick(node: number | null): void {
    this.picked = node;
    this.draw(false);
  }

  private measure(): void {
    const [width, height] = this.truth.room();
    if (width === 0) return;
    this.cell = cellSize(this.frames.flatMap(({ truth, model }) => [truth, model]), width, height);
  }

  private draw(animate: boolean): void {
    const frame = this.frame;
    if (!frame || !this.replay || this.cell === 0) return;
    const common = {
      u: frame.operation?.u ?? null,
      v: frame.operation?.v ?? null,
      truth: frame.truth,
      chosen: this.chosen,
      picked: this.picked,
      cell: this.cell,
    };
    const truth: Picture = { ...common, pointers: frame.truth, visited: frame.truthVisited, moved: frame.truthMoved, wrong: new Set() };
    const model: Picture = { ...common, pointers: frame.model, visited: frame.modelVisited, moved: frame.modelMoved, wrong: frame.wrong };
    this.truth.show(truth, animate);
    this.model.show(model, animate);
    if (this.replay.pointers === 'none') {
      this.validity.textContent = '';
    } else {
      const same = sameComponents(frame.truth, frame.model);
      const wrong = frame.wrong.size;
      this.validity.textContent = `${wrong === 0 ? 'All' : `${this.replay.nodes - wrong} of ${this.replay.nodes}`} pointers as in the truth; `
        + (same ? '✓ the same nodes are connected.' : '✗ other nodes are connected.');
    }
  }

  private choose(node: number): void {
    if (this.click(node)) return;
    this.chosen = this.chosen === node ? null : node;
    this.draw(false);
    this.inspect();
  }

  private async inspect(): Promise<void> {
    const asked = ++this.asked;
    const { chosen, frame, ask } = this;
    if (chosen === null || !frame || !ask) {
      this.inspector.replaceChildren(h('h2', {}, 'Node'), h('p', { class: 'quiet' }, 'Choose a node to see more about it.'));
      return;
    }
    const title = h('h2', {}, `Node ${chosen}`);
    if (frame.step === 0) {
      this.inspector.replaceChildren(title, h('p', { class: 'quiet' }, 'Before the first operation every node points to itself.'));
      return;
    }
    try {
      const details = await ask(frame.step, chosen);
      if (asked === this.asked) this.inspector.replaceChildren(title, ...this.details(details));
    } catch (error) {
      if (asked === this.asked) this.inspector.replaceChildren(title, h('p', { class: 'notice error' }, (error as Error).message));
    }
  }

  private details(details: api.NodeDetails): HTMLElement[] {
    const target = (pointer: number) => (pointer === details.node ? 'itself' : String(pointer));
    const row = (name: string, value: string) => [h('dt', {}, name), h('dd', {}, value)];
    const facts = h('dl', {},
      ...row('priority', details.priority.toFixed(4)),
      ...row('points to', this.replay?.pointers === 'none' ? '–' : target(details.pointer)),
      ...row('truth', target(details.true_pointer)));
    const parts: HTMLElement[] = [facts];
    const truth = details.true_mask === 1 ? 'left alone' : 'visited';
    if (details.mask_probability !== null) {
      const visited = 1 - details.mask_probability;
      parts.push(h('p', {},
        `Mask: left alone with ${percent(details.mask_probability)}, visited with ${percent(visited)} `
        + `(truth: ${truth}).`));
    } else if (this.frame?.modelVisited) {
      parts.push(h('p', {}, `Mask: ${this.frame.modelVisited.has(details.node) ? 'visited' : 'left alone'} (truth: ${truth}).`));
    }
    if (details.candidates) {
      parts.push(h('h3', {}, 'Strongest pointer candidates'), h('table', { class: 'candidates' },
        h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'node'), h('th', { scope: 'col' }, 'α'), h('th', { 'aria-hidden': 'true' }))),
        h('tbody', {}, ...details.candidates.map(({ node, alpha }) => {
          const marks = [node === details.pointer ? 'now' : '', node === details.true_pointer ? 'truth' : ''].filter(Boolean).join(', ');
          return h('tr', {},
            h('th', { scope: 'row' }, node === details.node ? `${node} (itself)` : node, marks ? h('small', {}, ` ${marks}`) : null),
            h('td', {}, alpha < 0.001 ? alpha.toExponential(1) : alpha.toFixed(3)),
            h('td', { 'aria-hidden': 'true' }, h('meter', { min: 0, max: 1, value: alpha })));
        }))));
    } else if (!this.replay?.has_attention) {
      parts.push(h('p', { class: 'quiet' }, 'This model has no attention, so there are no candidates.'));
    }
    return parts;
  }
}

function legend(): HTMLElement {
  const entry = (name: string, text: string) =>
    h('li', {}, h('span', { class: `key ${name}`, 'aria-hidden': 'true' }, name === 'operated' ? 'u' : name === 'wrong' ? '×' : ''), text);
  return h('ul', { class: 'legend', 'aria-label': 'Legend' },
    entry('operated', 'operated on (u, v)'),
    entry('visited', 'visited: mask 0, thick rim'),
    entry('alone', 'left alone: mask 1'),
    entry('root', 'points to itself'),
    entry('moved', 'pointer just changed'),
    entry('wrong', 'pointer not as in the truth'));
}
