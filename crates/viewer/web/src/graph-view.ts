/** The input graph of a task that has one: which edges were taken, rejected, and are still to come. */

import { h, svg } from './dom';
import { saveButtons } from './save-picture';
import type { Replay } from './api';

const SIZE = 360;

export class GraphView {
  readonly element: HTMLElement;
  private readonly svg = svg('svg', {});
  private readonly facts = h('span', { class: 'facts' });
  private replay: Replay | null = null;

  constructor() {
    this.svg.setAttribute('viewBox', `0 0 ${SIZE} ${SIZE}`);
    this.svg.setAttribute('role', 'img');
    const entry = (name: string, text: string) => h('li', {}, h('span', { class: `edge-key ${name}`, 'aria-hidden': 'true' }), text);
    this.element = h('section', { class: 'graph-box', hidden: true }, h('h2', {}, 'Input graph ', this.facts), this.svg, h('div', { class: 'buttons' }, ...saveButtons(() => [this.svg], () => 'input-graph', 'this graph')),
      h('ul', { class: 'legend' }, entry('now', 'this operation'), entry('taken', 'answer 1: joins two trees'), entry('rejected', 'answer 0: would close a cycle'), entry('mistaken', 'the model answers otherwise'), entry('', 'heavier, still to come')));
  }

  load(replay: Replay): void {
    this.replay = replay.graph?.length ? replay : null;
    this.element.hidden = this.replay === null;
  }

  show(step: number): void {
    const { replay } = this;
    if (!replay?.graph) return;
    const n = replay.nodes;
    const at = (node: number) => [0, 1].map((axis) => SIZE / 2 + (SIZE / 2 - 16) * (axis ? -Math.cos((2 * Math.PI * node) / n) : Math.sin((2 * Math.PI * node) / n)));
    const states = new Map<string, string>();
    const mistaken = new Set<string>();
    for (const [index, { u, v, truth, model }] of replay.steps.slice(0, step).entries()) {
      if (truth.answer !== model.answer) mistaken.add(key(u, v));
      // Operations may come again; an edge that was taken stays taken.
      if (states.get(key(u, v)) !== 'taken') states.set(key(u, v), truth.answer ? 'taken' : 'rejected');
      if (index === step - 1) states.set('now', key(u, v));
    }
    const now = states.get('now');
    const state = (edge: string) => `${states.get(edge) ?? ''}${mistaken.has(edge) ? ' mistaken' : ''}${edge === now ? ' now' : ''}`.trim();
    const radius = Math.max(3, Math.min(11, (2.2 * SIZE) / n));
    // What is marked is drawn last, on top.
    const edges = replay.graph.map((edge) => ({ ...edge, state: state(key(edge.u, edge.v)) })).sort((a, b) => a.state.length - b.state.length);
    this.svg.replaceChildren(
      ...edges.map(({ u, v, weight, state }) => {
        const [[x1, y1], [x2, y2]] = [at(u), at(v)];
        const line = svg('line', { x1, y1, x2, y2, class: `graph-edge ${state}` });
        line.append(titled(`edge ${u}–${v}, weight ${weight.toFixed(3)}${state ? `, ${state}` : ''}`));
        return line;
      }),
      ...Array.from({ length: n }, (_, node) => {
        const [x, y] = at(node);
        const operand = replay.steps[step - 1] && [replay.steps[step - 1].u, replay.steps[step - 1].v].includes(node);
        const group = svg('g', { class: `graph-node${operand ? ' operated' : ''}`, transform: `translate(${x.toFixed(1)},${y.toFixed(1)})` });
        group.append(svg('circle', { r: radius }));
        if (radius >= 8) {
          const label = svg('text', { 'font-size': radius });
          label.textContent = String(node);
          group.append(label);
        }
        return group;
      }),
      ...edges.filter(({ state }) => state.endsWith('now')).map(({ u, v, weight }) => {
        const [[x1, y1], [x2, y2]] = [at(u), at(v)];
        const label = svg('text', { class: 'graph-weight', x: (x1 + x2) / 2, y: (y1 + y2) / 2 });
        label.textContent = weight.toFixed(2);
        return label;
      }));
    const count = (name: string) => [...states].filter(([edge, value]) => edge !== 'now' && value === name).length;
    this.facts.textContent = `${replay.graph.length} edges, ${count('taken')} taken, ${count('rejected')} rejected`;
    this.svg.setAttribute('aria-label', `Input graph: ${this.facts.textContent}`);
  }
}

function key(u: number, v: number): string {
  return `${Math.min(u, v)}-${Math.max(u, v)}`;
}

function titled(text: string): SVGElement {
  const title = svg('title', {});
  title.textContent = text;
  return title;
}
