/** One forest on the page: nodes, pointers, what is marked, and which node is chosen. */

import { select, type Selection } from 'd3-selection';
import 'd3-transition';
import { h, stillness } from './dom';
import { ASPECT, MARGIN, forest, place } from './forest';

/** What to draw. */
export interface Picture {
  pointers: number[];
  u: number | null;
  v: number | null;
  /** Nodes with mask 0; null where there are no masks. */
  visited: Set<number> | null;
  /** Nodes whose pointer just moved. */
  moved: Set<number>;
  /** Nodes whose pointer is not the truth's. */
  wrong: Set<number>;
  /** What the wrong pointers should be, for those who listen. */
  truth: number[];
  /** The node whose details are shown. */
  chosen: number | null;
  /** The node picked as an operation's first operand. */
  picked: number | null;
  /** The width of a cell in pixels. */
  cell: number;
}

type Nodes = Selection<SVGGElement, number, SVGGElement, unknown>;

const DURATION = 450;

export class ForestView {
  readonly element: HTMLElement;
  private readonly box: HTMLElement;
  private readonly svg: SVGSVGElement;
  private readonly edges: Selection<SVGGElement, unknown, null, undefined>;
  private readonly nodes: Selection<SVGGElement, unknown, null, undefined>;
  private readonly note: HTMLElement;
  private readonly facts: HTMLElement;
  private focused = 0;
  private count = 0;

  constructor(title: string, private readonly choose: (node: number) => void) {
    const namespace = 'http://www.w3.org/2000/svg';
    this.svg = document.createElementNS(namespace, 'svg');
    this.svg.setAttribute('role', 'listbox');
    this.svg.setAttribute('aria-label', `${title}: nodes. Up and down move between nodes, Enter chooses one.`);
    this.edges = select(this.svg).append('g').attr('aria-hidden', 'true');
    this.nodes = select(this.svg).append('g');
    this.facts = h('span', { class: 'facts' });
    this.note = h('p', { class: 'unseen' });
    this.box = h('div', { class: 'canvas' }, this.svg);
    this.element = h('section', { class: 'forest' }, h('h2', {}, title, ' ', this.facts), this.note, this.box);
    this.svg.addEventListener('keydown', (event) => this.key(event));
    this.svg.addEventListener('focusin', (event) => {
      this.focused = Number((event.target as Element).getAttribute('data-node') ?? this.focused);
    });
  }

  /** The room there is, in pixels. */
  room(): [number, number] {
    return [this.box.clientWidth, this.box.clientHeight];
  }

  /** A sentence instead of facts about pointers, for models without any. */
  explain(text: string): void {
    this.note.textContent = text;
    this.note.className = text ? 'notice note' : 'unseen';
  }

  show(picture: Picture, animate: boolean): void {
    const { pointers, cell } = picture;
    const [width, height] = this.room();
    const { bows, depth } = forest(pointers);
    const places = place(pointers, Math.floor((width - 2 * MARGIN) / cell));
    const across = Math.max(width, places.width * cell + 2 * MARGIN);
    const down = Math.max(height, places.height * cell * ASPECT + 2 * MARGIN);
    // In the middle, unless it is too large for that.
    const dx = (across - places.width * cell) / 2;
    const dy = (down - places.height * cell * ASPECT) / 2;
    const at = (node: number): [number, number] =>
      [dx + places.x[node] * cell, dy + places.y[node] * cell * ASPECT];
    this.svg.setAttribute('width', String(across));
    this.svg.setAttribute('height', String(down));
    const trees = pointers.filter((pointer, node) => pointer === node || bows.has(node)).length;
    const circles = bows.size ? `, ${bows.size} circle${bows.size > 1 ? 's' : ''}` : '';
    this.facts.textContent = `${trees} tree${trees > 1 ? 's' : ''}, depth ${Math.max(...depth)}${circles}`;

    const radius = cell * 0.36;
    this.svg.classList.toggle('small', cell < 28);
    const all = pointers.map((_, node) => node);
    // A page in the background gets no frames; transitions would pile up there.
    const animated = animate && this.count === pointers.length && !stillness() && !document.hidden;
    const duration = animated ? DURATION : 0;
    this.count = pointers.length;
    this.focused = Math.min(this.focused, pointers.length - 1);

    const edge = this.edges.selectAll<SVGGElement, number>('g').data(all).join((enter) => {
      const group = enter.append('g');
      group.append('path');
      group.append('text').text('×');
      return group;
    });
    edge.attr('class', (node) => 'edge'
      + (picture.moved.has(node) ? ' moved' : '')
      + (picture.wrong.has(node) ? ' wrong' : '')
      + (pointers[node] === node ? ' self' : ''));
    const lines = all.map((node) => line(at(node), at(pointers[node]), radius, bows.has(node)));
    const path = edge.select<SVGPathElement>('path');
    const cross = edge.select<SVGTextElement>('text').attr('font-size', Math.min(16, Math.max(10, radius * 1.2)));
    const node = this.nodes.selectAll<SVGGElement, number>('g').data(all).join((enter) => this.enter(enter.append('g')));
    node
      .attr('class', (node) => 'node'
        + (node === picture.u || node === picture.v ? ' operated' : '')
        + (picture.visited?.has(node) ? ' visited' : '')
        + (pointers[node] === node ? ' root' : '')
        + (node === picture.chosen ? ' chosen' : '')
        + (node === picture.picked ? ' picked' : ''))
      .attr('aria-label', (node) => describe(node, picture))
      .attr('aria-selected', (node) => String(node === picture.chosen || node === picture.picked))
      .attr('tabindex', (node) => (node === this.focused ? 0 : -1));
    node.select('.halo').attr('r', radius + 4);
    node.select('.body').attr('r', radius);
    node.select('.ring').attr('r', radius - 2.5);
    node.select('.label').attr('font-size', Math.min(13, radius * (pointers.length > 100 ? 0.95 : 1.1)));
    node.select('.badge')
      .attr('x', radius * 0.85).attr('y', -radius * 0.75)
      .text((node) => (node === picture.picked || node === picture.u ? 'u' : node === picture.v ? 'v' : ''));

    const place_ = ([x, y]: [number, number]) => `translate(${x.toFixed(1)},${y.toFixed(1)})`;
    if (duration === 0) {
      path.interrupt().attr('d', (node) => lines[node].path);
      cross.interrupt().attr('transform', (node) => place_(lines[node].mark));
      node.interrupt().attr('transform', (node) => place_(at(node)));
    } else {
      path.transition().duration(duration).attr('d', (node) => lines[node].path);
      cross.transition().duration(duration).attr('transform', (node) => place_(lines[node].mark));
      node.transition().duration(duration).attr('transform', (node) => place_(at(node)));
    }
  }

  private enter(group: Nodes): Nodes {
    group.attr('role', 'option').attr('data-node', (node) => node);
    group.append('circle').attr('class', 'halo');
    group.append('circle').attr('class', 'body');
    group.append('circle').attr('class', 'ring');
    group.append('text').attr('class', 'label').text((node) => node);
    group.append('text').attr('class', 'badge');
    group.on('click', (_, node) => {
      this.focus(node);
      this.choose(node);
    });
    return group;
  }

  private focus(node: number): void {
    const nodes = this.nodes.selectAll<SVGGElement, number>('g');
    this.focused = node;
    nodes.attr('tabindex', (other) => (other === node ? 0 : -1));
    nodes.filter((other) => other === node).node()?.focus();
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.focus((this.focused + step + this.count) % this.count);
    else if (event.key === 'Enter' || event.key === ' ') this.choose(this.focused);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** A pointer's line with its arrowhead. All have the same form, so that one can turn into any other. */
function line([x1, y1]: [number, number], [x2, y2]: [number, number], radius: number, bow: boolean): { path: string; mark: [number, number] } {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 1) {
    const here = `${x1.toFixed(1)},${y1.toFixed(1)}`;
    return { path: `M${here}Q${here} ${here}M${here}L${here}L${here}`, mark: [x1 - 0.95 * radius, y1 - 0.95 * radius] };
  }
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const bend = bow ? Math.max(2 * radius, length * 0.35) : 0;
  const control = [(x1 + x2) / 2 - uy * bend, (y1 + y2) / 2 + ux * bend];
  // The line ends at the circles' rims, in the direction of the bend.
  const trim = (x: number, y: number, gap: number) => {
    const far = Math.hypot(control[0] - x, control[1] - y) || 1;
    return [x + ((control[0] - x) / far) * gap, y + ((control[1] - y) / far) * gap];
  };
  const [sx, sy] = trim(x1, y1, radius);
  const [tx, ty] = trim(x2, y2, radius + 2);
  const far = Math.hypot(tx - control[0], ty - control[1]) || 1;
  const [hx, hy] = [(tx - control[0]) / far, (ty - control[1]) / far];
  const size = Math.min(6, radius * 0.6);
  const wing = (side: number) =>
    [tx - size * (hx + side * 0.6 * hy), ty - size * (hy - side * 0.6 * hx)];
  const text = (...numbers: number[]) => numbers.map((value) => value.toFixed(1)).join(',');
  const path = `M${text(sx, sy)}Q${text(control[0], control[1])} ${text(tx, ty)}`
    + `M${text(...wing(1))}L${text(tx, ty)}L${text(...wing(-1))}`;
  // Nearer to its own node than to the target, where many lines meet.
  const along = (from: number, over: number, to: number) => 0.5 * from + 0.4 * over + 0.1 * to;
  return { path, mark: [along(sx, control[0], tx), along(sy, control[1], ty)] };
}

/** A node in words. */
function describe(node: number, picture: Picture): string {
  const to = picture.pointers[node];
  const words = [`node ${node}`, to === node ? 'points to itself' : `points to ${to}`];
  if (node === picture.u || node === picture.v) words.push('operated on');
  if (picture.visited) words.push(picture.visited.has(node) ? 'visited' : 'left alone');
  if (picture.moved.has(node)) words.push('pointer changed');
  if (picture.wrong.has(node)) words.push(`pointer wrong, should be ${picture.truth[node] === node ? 'itself' : picture.truth[node]}`);
  if (node === picture.picked) words.push('picked as u');
  return words.join(', ');
}
