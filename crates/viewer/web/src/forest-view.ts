/** One forest on the page: nodes, pointers, what is marked, and which node is chosen. */

import type { Side } from './binary-tree';
import { select, type Selection } from 'd3-selection';
import 'd3-transition';
import { h, stillness } from './dom';
import { ASPECT, type Folds, MARGIN, type Places, forest, place } from './forest';
import { line } from './pointer-line';

/** What to draw. */
export interface Picture {
  pointers: number[];
  /** False for models without pointers: nodes are then drawn where the truth has them. */
  hasPointers: boolean;
  u: number | null;
  v: number | null;
  /** What the operands are called, if not u and v. */
  names?: string[];
  /** Nodes with mask 0; null where there are no masks. */
  visited: Set<number> | null;
  /** P(visited) of each node, to colour nodes by. */
  heat: number[] | null;
  /** Nodes whose pointer just moved. */
  moved: Set<number>;
  /** Nodes whose pointer is not the truth's. */
  wrong: Set<number>;
  truth: number[];
  /** The node whose details are shown. */
  chosen: number | null;
  /** The node picked as an operation's first operand. */
  picked: number | null;
  /** Nodes that somebody expects to be visited. */
  guessed?: Set<number>;
  /** For binary trees: which child each node is, whose pointer is a path-parent, and whose flip is pending. */
  sides?: Side[];
  pathParents?: Set<number>;
  flipped?: Set<number>;
  /** What stands under each node. */
  under?: string[];
  /** What nodes are placed by, if not by their own pointers and sides. */
  placedBy?: { pointers: number[]; sides?: Side[] };
  /** Leaves that are not drawn, and who stands for them. */
  folds?: Folds;
  /** The width of a cell in pixels, and how many there are in a row. */
  cell: number;
  columns: number;
}

type Nodes = Selection<SVGGElement, number, SVGGElement, unknown>;

/** How long a change takes, and its stages: what is visited lights up, pointers swing, nodes move to their new places. */
const DURATION = 750;
const [LIGHT, SWING, RELAX] = [0.15, 0.4, 0.45];
/** Labels in smaller cells cannot be read. */
const READABLE = 23;

export class ForestView {
  readonly element: HTMLElement;
  readonly box: HTMLElement;
  private readonly svg: SVGSVGElement;
  private readonly edges: Selection<SVGGElement, unknown, null, undefined>;
  private readonly nodes: Selection<SVGGElement, unknown, null, undefined>;
  private readonly badges: Selection<SVGGElement, unknown, null, undefined>;
  private readonly unders: Selection<SVGGElement, unknown, null, undefined>;
  private readonly flips: Selection<SVGGElement, unknown, null, undefined>;
  private readonly note = h('p', { class: 'notice note', hidden: true });
  private readonly facts = h('span', { class: 'facts' });
  private readonly heading = h('span', {});
  private focused = 0;
  private count = 0;
  private places: Places | null = null;
  /** Where nodes were drawn last. */
  private drawn: [number, number][] = [];
  private at: (node: number) => [number, number] = () => [0, 0];

  constructor(title: string, private readonly choose: (node: number) => void) {
    this.svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    this.svg.setAttribute('role', 'listbox');
    this.edges = select(this.svg).append('g').attr('aria-hidden', 'true');
    this.nodes = select(this.svg).append('g').attr('role', 'presentation');
    // Outside the nodes, whose name is not what stands beside them.
    [this.badges, this.unders, this.flips] = [0, 1, 2].map(() => select(this.svg).append('g').attr('aria-hidden', 'true'));
    this.box = h('div', { class: 'canvas' }, this.svg);
    this.element = h('section', { class: 'forest' }, h('h2', {}, this.heading, ' ', this.facts), this.box, this.note);
    this.rename(title);
    this.svg.addEventListener('keydown', (event) => this.key(event));
    this.svg.addEventListener('focusin', (event) => {
      this.focused = Number((event.target as Element).getAttribute('data-node') ?? this.focused);
    });
  }

  rename(title: string): void {
    this.heading.textContent = title;
    this.svg.setAttribute('aria-label', `${title}: nodes. Up and down move between nodes, Enter chooses one.`);
  }

  /** The room there is, in pixels. */
  room(): [number, number] {
    return [this.box.clientWidth, this.box.clientHeight];
  }

  /** A sentence about what the model lacks; nothing if it lacks nothing. */
  explain(text: string): void {
    this.note.textContent = text;
    this.note.hidden = text === '';
  }

  /** Where nodes will be, in cells. Must come before `show`. */
  layOut({ pointers, hasPointers, truth, columns, sides, placedBy, folds }: Pick<Picture, 'pointers' | 'hasPointers' | 'truth' | 'columns' | 'sides' | 'placedBy' | 'folds'>): Places {
    this.places = place(placedBy?.pointers ?? (hasPointers ? pointers : truth), columns, placedBy ? placedBy.sides : sides, folds);
    return this.places;
  }

  /** An animated change takes so many milliseconds. */
  show(picture: Picture, animate: boolean, duration = DURATION): void {
    const { pointers, cell, folds, placedBy } = picture;
    const places = this.places ?? this.layOut(picture);
    const [width, height] = this.room();
    const { backEdges, depth } = forest(pointers);
    const across = Math.max(width, places.width * cell + 2 * MARGIN);
    const down = Math.max(height, places.height * cell * ASPECT + 2 * MARGIN);
    // Roots at the top, so that equal depths are at equal heights in all forests.
    const dx = (across - places.width * cell) / 2;
    this.at = (node) => [dx + places.x[node] * cell, MARGIN + places.y[node] * cell * ASPECT];
    const { at } = this;
    this.svg.setAttribute('width', String(across));
    this.svg.setAttribute('height', String(down));
    this.facts.textContent = picture.hasPointers ? shape(pointers, backEdges, depth) : `${pointers.length} nodes, no pointers`;

    const radius = cell * 0.36;
    this.svg.classList.toggle('small', cell < 28);
    const all = pointers.map((_, node) => node);
    // A page in the background gets no frames; transitions would pile up there.
    const animated = animate && this.count === pointers.length && !stillness() && !document.hidden;
    this.count = pointers.length;
    this.focused = Math.min(this.focused, pointers.length - 1);

    const folded = (node: number) => (folds?.get(node) ?? node) !== node;
    const bundles = new Map<number, { count: number; wrong: number }>();
    for (const [node, other] of folds ?? []) {
      const { count, wrong } = bundles.get(other) ?? { count: 0, wrong: 0 };
      bundles.set(other, { count: count + 1, wrong: wrong + Number(picture.wrong.has(node)) });
    }
    const name = (node: number) => {
      const bundle = bundles.get(node);
      if (!bundle) return describe(node, picture);
      return `+${bundle.count}: ${describe(node, picture)}, with ${bundle.count - 1} others like it folded away${bundle.wrong ? `, ${bundle.wrong} of all with wrong pointers` : ''}; choose it to see them`;
    };
    const edge = this.edges.selectAll<SVGGElement, number>('g').data(all).join((enter) => {
      const group = enter.append('g');
      group.append('path');
      group.append('text').text('×');
      return group;
    });
    edge.attr('class', (node) => 'edge'
      + (picture.moved.has(node) ? ' moved' : '')
      + (picture.wrong.has(node) ? ' wrong' : '')
      + (picture.pathParents?.has(node) ? ' path-parent' : '')
      + (pointers[node] === node ? ' self' : '')
      + (folded(node) ? ' folded' : ''));
    // Pointers that lead elsewhere than the places were made for would run through other nodes.
    const curved = (node: number) => (placedBy ? placedBy.pointers[node] !== pointers[node] : backEdges.has(node));
    const lines = all.map((node) => line(at(node), at(pointers[node]), radius, curved(node)));
    const path = edge.select<SVGPathElement>('path');
    const cross = edge.select<SVGTextElement>('text').attr('font-size', Math.min(16, Math.max(10, radius * 1.2)));
    const node = this.nodes.selectAll<SVGGElement, number>('g').data(all).join((enter) => this.enter(enter.append('g')));
    const isOperand = (node: number) => node === picture.u || node === picture.v;
    node
      .attr('class', (node) => 'node'
        + (isOperand(node) ? ' operated' : '')
        + (picture.visited?.has(node) ? ' visited' : '')
        + (picture.hasPointers && pointers[node] === node ? ' root' : '')
        + (node === picture.chosen ? ' chosen' : '')
        + (node === picture.picked ? ' picked' : '')
        + (picture.guessed?.has(node) ? ' guessed' : '')
        + (picture.heat ? ' heat' : '')
        + (folded(node) ? ' folded' : bundles.has(node) ? ' bundle' : ''))
      .attr('aria-label', name)
      .attr('aria-selected', (node) => String(node === picture.chosen || node === picture.picked))
      .attr('tabindex', (node) => (node === this.focused ? 0 : -1));
    node.select('.halo').attr('r', radius + 4);
    node.select('.body').attr('r', radius);
    // Inside the rim, which is a mark of its own.
    node.select('.heat').attr('r', Math.max(0, radius - 3)).attr('opacity', (node) => (picture.heat ? picture.heat[node].toFixed(3) : 0));
    node.select('.ring').attr('r', Math.max(0, radius - 2.5));
    // Where labels would be too small to read, operands and the chosen node have theirs beside them.
    const beside = (node: number) => cell < READABLE && (isOperand(node) || node === picture.chosen || node === picture.picked);
    const size = Math.max(9, Math.min(26, radius * (pointers.length > 100 ? 0.95 : 1.05)));
    node.select('.label').attr('font-size', size).text((node) => (bundles.has(node) ? `+${bundles.get(node)?.count}` : cell >= READABLE ? node : ''));
    const under = this.unders.selectAll<SVGTextElement, number>('text').data(all).join('text').attr('class', 'beneath')
      .attr('font-size', Math.max(8, size * 0.62)).attr('y', radius * 1.55).text((node) => (bundles.get(node)?.wrong ? `${bundles.get(node)?.wrong} ×` : cell >= READABLE && !folded(node) && !bundles.has(node) ? picture.under?.[node] ?? '' : ''));
    const flip = this.flips.selectAll<SVGTextElement, number>('text').data(all).join('text').attr('class', 'flip')
      .attr('font-size', Math.max(9, size * 0.9)).attr('x', -radius * 1.15).attr('y', -radius * 0.75).text((node) => (picture.flipped?.has(node) ? '⇄' : ''));
    const [first, second] = picture.names ?? ['u', 'v'];
    const role = (node: number) => (node === picture.picked || node === picture.u ? first : node === picture.v ? second : '');
    // A letter stands at the upper right, a word above.
    const long = (node: number) => role(node).length > 1;
    const badge = this.badges.selectAll<SVGTextElement, number>('text').data(all).join('text').attr('class', 'badge')
      .attr('x', (node) => (long(node) ? -radius : radius * 0.85)).attr('y', (node) => -radius * (long(node) ? 1.15 : 0.75)).attr('font-size', Math.max(12, Math.min(22, radius * 0.8)))
      .text((node) => (beside(node) ? `${role(node)} ${node}`.trim() : role(node)));

    const put = ([x, y]: [number, number]) => `translate(${x.toFixed(1)},${y.toFixed(1)})`;
    const was = this.drawn;
    this.drawn = all.map(at);
    for (const one of [path, cross]) one.interrupt();
    const moving = [node, badge, under, flip] as unknown as Selection<SVGElement, number, SVGGElement, unknown>[];
    for (const one of moving) one.interrupt();
    if (animated && was.length === all.length) {
      const swings = all.map((node) => line(was[node], was[pointers[node]], radius, curved(node)));
      const swing = path.transition().delay(LIGHT * duration).duration(SWING * duration);
      swing.attr('d', (node) => swings[node].path).transition().duration(RELAX * duration).attr('d', (node) => lines[node].path);
      cross.attr('transform', (node) => put(swings[node].mark)).transition().delay((LIGHT + SWING) * duration).duration(RELAX * duration).attr('transform', (node) => put(lines[node].mark));
      for (const one of moving) one.transition().delay((LIGHT + SWING) * duration).duration(RELAX * duration).attr('transform', (node) => put(at(node)));
    } else {
      path.attr('d', (node) => lines[node].path);
      cross.attr('transform', (node) => put(lines[node].mark));
      for (const one of moving) one.attr('transform', (node) => put(at(node)));
    }
  }

  /** Scrolls so that these nodes can be seen, if they cannot. */
  reveal(nodes: number[], cell: number): void {
    const [width, height] = this.room();
    const points = nodes.map(this.at);
    const into = (from: number, room: number, values: number[], margin: number) => {
      const [low, high] = [Math.min(...values) - margin, Math.max(...values) + margin];
      if (low >= from && high <= from + room) return from;
      return high - low > room ? low : Math.min(Math.max(from, high - room), low);
    };
    const left = into(this.box.scrollLeft, width, points.map(([x]) => x), cell * 0.55);
    const top = into(this.box.scrollTop, height, points.map(([, y]) => y), cell * 0.6);
    if (left !== this.box.scrollLeft || top !== this.box.scrollTop) this.box.scrollTo({ left, top, behavior: 'instant' });
  }

  private enter(group: Nodes): Nodes {
    group.attr('role', 'option').attr('data-node', (node) => node);
    group.append('circle').attr('class', 'halo');
    group.append('circle').attr('class', 'body');
    group.append('circle').attr('class', 'heat');
    group.append('circle').attr('class', 'ring');
    group.append('text').attr('class', 'label');
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
    nodes.filter((other) => other === node).node()?.focus({ preventScroll: true });
    this.reveal([node], 30);
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      let next = this.focused;
      do next = (next + step + this.count) % this.count; while (this.nodes.select(`[data-node="${next}"]`).classed('folded') && next !== this.focused);
      this.focus(next);
    } else if (event.key === 'Enter' || event.key === ' ') this.choose(this.focused);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** "3 trees, depth 2, 1 cycle". */
function shape(pointers: number[], backEdges: Set<number>, depth: number[]): string {
  const trees = pointers.filter((pointer, node) => pointer === node || backEdges.has(node)).length;
  const cycles = backEdges.size ? `, ${backEdges.size} cycle${backEdges.size > 1 ? 's' : ''}` : '';
  return `${trees} tree${trees > 1 ? 's' : ''}, depth ${Math.max(...depth)}${cycles}`;
}

/** A node in words. */
function describe(node: number, picture: Picture): string {
  const to = picture.pointers[node];
  const words = [`node ${node}`];
  const how = picture.pathParents?.has(node) ? ', its path-parent' : picture.sides?.[node] ? `, whose ${picture.sides[node]} child it is` : '';
  if (picture.hasPointers) words.push(to === node ? 'points to itself' : `points to ${to}${how}`);
  if (picture.flipped?.has(node)) words.push('flip pending');
  if (node === picture.u || node === picture.v) words.push('operand');
  if (picture.visited) words.push(picture.visited.has(node) ? 'visited' : 'not visited');
  if (picture.moved.has(node)) words.push('pointer changed');
  if (picture.wrong.has(node)) words.push(`pointer wrong, should be ${picture.truth[node] === node ? 'itself' : picture.truth[node]}`);
  if (node === picture.picked) words.push('picked as u');
  if (picture.guessed?.has(node)) words.push('predicted to be visited');
  return words.join(', ');
}
