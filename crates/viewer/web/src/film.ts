/** One operation as a picture that can be scrubbed: what the equations compute, on the pointers that the model has. */

import type * as api from './api';
import type { Side } from './binary-tree';
import { h, svg } from './dom';
import { type Places, place } from './forest';
import { line } from './pointer-line';
import { certainty, probability, sigmoid } from './probability';

/** Everything about one operation of a rollout. */
export interface Film {
  operation: string;
  answers: [string, string];
  step: api.ReplayStep;
  priorities: number[];
  /** The model's pointers before and after, and the true ones after. */
  before: number[];
  after: number[];
  truth: number[];
  visited: Set<number>;
  alpha: number[][];
  masks: number[];
  equations: api.Equations;
  /** For binary trees: how they are drawn before and after, where the model is right. */
  shapes?: [Shape, Shape];
}

/** Which child each node is, and whose pointer is a path-parent. */
export interface Shape {
  sides: Side[];
  pathParents: Set<number>;
}

export interface Stage {
  name: string;
  equation: string;
  number: string;
  tell: (film: Film) => string;
}

const list = (nodes: Iterable<number>) => [...nodes].join(', ') || 'none';
const OPERANDS = 0, STATE = 1, MESSAGES = 2, UPDATE = 3, MASKS = 4, ATTENTION = 5, POINTERS = 6, ANSWER = 7;

export const STAGES: Stage[] = [
  { name: 'Operands', equation: 'eᵢ = [ priorityᵢ, i ∈ {u, v} ]', number: '', tell: ({ step }) => `Every node is told two numbers: its priority, and whether it is an operand. Nodes ${step.u} and ${step.v} are.` },
  { name: 'Latent state', equation: 'zᵢ = encoder [ eᵢ ‖ hᵢ ]', number: '1', tell: ({ equations }) => `Each node joins them with the ${equations.h[0].length} numbers that it remembers, drawn below it.` },
  { name: 'Messages', equation: 'mᵢ = maxⱼ ReLU ( message [ zᵢ ‖ zⱼ ] )', number: '2, 7', tell: () => 'Messages travel along pointers only, in both directions. Of all that arrive, each element keeps the largest; large dots win many elements.' },
  { name: 'New state', equation: 'hᵢ = ReLU ( update [ zᵢ ‖ mᵢ ] )', number: '8', tell: () => 'From its own state and the messages, each node computes what it will remember.' },
  { name: 'Masks', equation: 'μᵢ = 1 if mask [ zᵢ ‖ hᵢ ] > 0', number: '4, 5', tell: ({ visited }) => `The operation visits the nodes with mask 0: ${list(visited)}. Only these may move their pointer.` },
  { name: 'Attention', equation: 'αᵢⱼ = softmaxⱼ ⟨ query hᵢ, key hⱼ ⟩', number: '6', tell: () => 'Every visited node scores all nodes as targets. The wider a beam, the larger its α.' },
  { name: 'Pointers', equation: 'πᵢ = argmaxⱼ αᵢⱼ where μᵢ = 0', number: '6, 7', tell: ({ step, after, truth }) => {
    const wrong = after.filter((to, node) => to !== truth[node]).length;
    return `The pointer of each visited node swings to its largest α; ${step.model.moved.length} move${step.model.moved.length === 1 ? 's' : ''}. ${wrong ? `${wrong} of ${after.length} pointers differ from the truth, the pale lines.` : 'All pointers are those of the truth, the pale lines.'}`;
  } },
  { name: 'Answer', equation: 'y = decoder [ maxᵢ zᵢ ‖ maxᵢ hᵢ ]', number: '3', tell: ({ answers, step: { truth, model } }) => `The answer is read from the maximum over all nodes: ${answers[model.answer]} (${model.answer}${model.logit === null ? '' : `, p = ${certainty(model.logit)}`}). ${truth.answer === model.answer ? 'So says the truth.' : `The truth: ${answers[truth.answer]}.`}` },
];

/** Beams weaker than this cannot be seen. */
const FAINT = 0.02;
const ROOM = { side: 26, top: 34, bottom: 84 };

interface Parts {
  group: SVGElement;
  body: SVGElement;
  rim: SVGElement;
  bars: SVGElement[];
}

export class FilmView {
  readonly element: HTMLElement;
  private readonly svg = svg('svg', { role: 'group', 'aria-label': 'One operation of the network' });
  private readonly behind = svg('g', { 'aria-hidden': 'true' });
  private readonly nodes = svg('g', {});
  private readonly before = svg('g', { 'aria-hidden': 'true' });
  private readonly observer: ResizeObserver;
  private film: Film | null = null;
  private parts: Parts[] = [];
  private at = 0;
  private cell = 60;
  /** Wider than high, where there is room. */
  private across = 60;
  private down = 60;
  private size: [number, number] = [0, 0];
  private places: [Places, Places] | null = null;

  /** `touch` is told a node that is pointed at or focused, `press` one that is clicked. */
  constructor(private readonly touch: (node: number) => void, private readonly press: (node: number) => void) {
    this.svg.append(this.behind, this.nodes, this.before);
    this.element = h('div', { class: 'film' }, this.svg);
    this.observer = new ResizeObserver(() => this.layOut());
    this.observer.observe(this.element);
  }

  destroy(): void {
    this.observer.disconnect();
  }

  load(film: Film): void {
    this.film = film;
    this.parts = film.before.map((_, node): Parts => {
      const bars = film.equations.h[node].map(() => svg('rect', { class: 'bar' }));
      const [body, rim] = [svg('circle', { class: 'body' }), svg('circle', { class: 'rim' })];
      const label = svg('text', { class: 'label' });
      label.textContent = String(node);
      const group = svg('g', { class: 'film-node', tabindex: 0, role: 'button', 'data-node': node, 'aria-pressed': 'false' }, body, rim, label, ...bars);
      group.addEventListener('pointerenter', () => this.touch(node));
      group.addEventListener('focus', () => this.touch(node));
      group.addEventListener('click', () => this.press(node));
      group.addEventListener('keydown', (event) => {
        if (!['Enter', ' '].includes((event as KeyboardEvent).key)) return;
        event.preventDefault();
        this.press(node);
      });
      return { group, body, rim, bars };
    });
    this.nodes.replaceChildren(...this.parts.map(({ group }) => group));
    this.layOut();
  }

  /** Marks the nodes that somebody expects to be visited. */
  mark(guessed: Set<number>): void {
    this.parts.forEach(({ group }, node) => {
      group.classList.toggle('guessed', guessed.has(node));
      group.setAttribute('aria-pressed', String(guessed.has(node)));
    });
  }

  /** Stage and how far into it: 2.5 is the middle of the third. */
  show(at: number): void {
    this.at = at;
    this.draw();
  }

  /** The largest cells with which both layouts fit. */
  private layOut(): void {
    const { film } = this;
    const width = this.element.clientWidth;
    if (!film || width === 0) return;
    const height = Math.max(390, Math.min(innerHeight * 0.6, width * 0.62));
    this.size = [width, height];
    this.svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.svg.setAttribute('width', String(width));
    this.svg.setAttribute('height', String(height));
    const room = [width - 2 * ROOM.side, height - ROOM.top - ROOM.bottom];
    for (this.cell = 110; ; this.cell -= 2) {
      const columns = Math.max(2, Math.floor(room[0] / this.cell));
      this.places = [place(film.before, columns, film.shapes?.[0].sides), place(film.after, columns, film.shapes?.[1].sides)];
      if (this.cell <= 30 || this.places.every((one) => one.width * this.cell <= room[0] && one.height * this.cell <= room[1] + this.cell * 0.3)) break;
    }
    this.down = Math.max(this.cell, Math.min(1.8 * this.cell, ...this.places.map((one) => room[1] / one.height)));
    this.across = Math.min(1.7 * this.cell, ...this.places.map((one) => room[0] / one.width));
    this.draw();
  }

  /** How far a stage has come, from 0 to 1. */
  private done(stage: number): number {
    const part = Math.min(1, Math.max(0, this.at - stage));
    return part * part * (3 - 2 * part);
  }

  private position(node: number): [number, number] {
    const [before, after] = (this.places as [Places, Places]).map((places): [number, number] => [
      (this.size[0] - places.width * this.across) / 2 + places.x[node] * this.across - this.across * 0.12, ROOM.top + places.y[node] * this.down - this.cell * 0.2]);
    const t = this.done(ANSWER);
    return [before[0] + t * (after[0] - before[0]), before[1] + t * (after[1] - before[1])];
  }

  private draw(): void {
    const { film } = this;
    if (!film || !this.places) return;
    const radius = Math.max(11, Math.min(19, this.cell * 0.22));
    const where = film.before.map((_, node) => this.position(node));
    this.drawNodes(film, where, radius);
    this.behind.replaceChildren(...this.ghosts(film, where, radius), ...this.pointers(film, where, radius), ...this.beams(film, where));
    this.before.replaceChildren(...this.badges(film, where, radius), ...this.messages(film, where, radius), ...this.answer(film, where, radius));
  }

  private drawNodes({ step, masks, equations, visited, priorities, before, after }: Film, where: [number, number][], radius: number): void {
    const [u, v] = [step.u, step.v];
    const { before: old, z, h: fresh } = equations;
    const largest = (rows: number[][]) => Math.max(1e-9, ...rows.flat().map(Math.abs));
    const scales = [largest(old), largest(z), largest(fresh)];
    const [toState, toUpdate] = [this.done(STATE), this.done(UPDATE)];
    // Beside the node: pointers come from below.
    const width = Math.max(16, Math.min(54, this.across - 2 * radius - 12));
    this.parts.forEach(({ group, body, rim, bars }, node) => {
      group.setAttribute('transform', `translate(${where[node].map((one) => one.toFixed(1))})`);
      const operand = node === u || node === v;
      group.classList.toggle('operand', operand && this.at > OPERANDS);
      const masked = this.done(MASKS);
      group.classList.toggle('visited', masked > 0.5 && visited.has(node));
      group.classList.toggle('root', (this.done(POINTERS) > 0.5 ? after : before)[node] === node);
      body.setAttribute('r', String(radius));
      rim.setAttribute('r', String(radius - 4));
      const chance = sigmoid(-masks[node]);
      group.setAttribute('aria-label', `node ${node}, priority ${priorities[node].toFixed(2)}${operand ? ', operand' : ''}${this.at > MASKS ? `, P(visited) ${probability(-masks[node])}` : ''}, points to ${(this.at > POINTERS ? after : before)[node]}`);
      group.style.setProperty('--heat', (masked * chance).toFixed(3));
      bars.forEach((bar, index) => {
        const from = (old[node][index] ?? 0) / scales[0];
        const middle = z[node][index] / scales[1];
        const value = from + toState * (middle - from) + toUpdate * (fresh[node][index] / scales[2] - middle);
        const height = Math.abs(value) * 13;
        bar.setAttribute('x', (radius + 5 + (index * width) / bars.length).toFixed(2));
        bar.setAttribute('width', (width / bars.length - 0.3).toFixed(2));
        bar.setAttribute('y', (value > 0 ? -height : 0).toFixed(2));
        bar.setAttribute('height', height.toFixed(2));
      });
    });
  }

  /** Outside the nodes, whose name is not what stands beside them. */
  private badges({ step }: Film, where: [number, number][], radius: number): SVGElement[] {
    return [['u', step.u], ['v', step.v]].map(([name, node]) => {
      const [x, y] = where[node as number];
      const badge = svg('text', { class: 'badge', x: x - radius * 0.95, y: y - radius * 0.7, opacity: this.done(OPERANDS) });
      badge.textContent = name as string;
      return badge;
    });
  }

  /** The true pointers, below the model's. */
  private ghosts({ truth }: Film, where: [number, number][], radius: number): SVGElement[] {
    const opacity = this.done(POINTERS);
    return opacity === 0 ? [] : truth.flatMap((to, node) => (to === node ? [] : [svg('path', { class: 'ghost', opacity, d: line(where[node], where[to], radius, false).path })]));
  }

  private pointers({ before, after, shapes }: Film, where: [number, number][], radius: number): SVGElement[] {
    const t = this.done(POINTERS);
    return before.flatMap((old, node) => {
      const fresh = after[node];
      const tip = where[old].map((from, axis) => from + t * (where[fresh][axis] - from)) as [number, number];
      if (Math.hypot(tip[0] - where[node][0], tip[1] - where[node][1]) < radius * 1.2) return [];
      const dashed = shapes?.[t > 0.5 ? 1 : 0].pathParents.has(node);
      return [svg('path', { class: `film-pointer${old !== fresh && t > 0 ? ' moved' : ''}${dashed ? ' path-parent' : ''}`, d: line(where[node], tip, radius, false).path })];
    });
  }

  /** What visited nodes are drawn to. */
  private beams({ alpha, visited }: Film, where: [number, number][]): SVGElement[] {
    const [t, fade] = [this.done(ATTENTION), 1 - 0.6 * this.done(POINTERS) - 0.3 * this.done(ANSWER)];
    if (t === 0) return [];
    return [...visited].flatMap((node) => alpha[node].flatMap((value, other) => {
      if (value < FAINT || other === node) return [];
      const [[x1, y1], [x2, y2]] = [where[node], where[other]];
      return [svg('line', { class: 'beam', x1, y1, x2: x1 + t * (x2 - x1), y2: y1 + t * (y2 - y1), 'stroke-width': 3 + 15 * value, opacity: fade * (0.2 + 0.35 * value) })];
    }));
  }

  private messages({ equations }: Film, where: [number, number][], radius: number): SVGElement[] {
    const t = this.done(MESSAGES);
    if (this.at <= MESSAGES || this.at >= UPDATE + 0.3) return [];
    const k = equations.h[0].length;
    return equations.messages.flatMap(([reader, sender, share]) => {
      if (reader === sender) return [];
      const [[x1, y1], [x2, y2]] = [where[sender], where[reader]];
      const length = Math.hypot(x2 - x1, y2 - y1) || 1;
      // Beside the pointer, each direction on its own side.
      const [dx, dy] = [(5 * (y1 - y2)) / length, (5 * (x2 - x1)) / length];
      const along = (part: number): [number, number] => [x1 + dx + (x2 - x1) * part, y1 + dy + (y2 - y1) * part];
      const [from, to] = [radius / length, 1 - (radius + 3) / length];
      const [start, now] = [along(from), along(from + (to - from) * t)];
      const size = 2.5 + 6 * Math.sqrt(share / k);
      return [
        svg('line', { class: 'trail', x1: start[0], y1: start[1], x2: now[0], y2: now[1], 'stroke-width': 1 + size / 2 }),
        svg('circle', { class: 'message', cx: now[0], cy: now[1], r: size }),
      ];
    });
  }

  private answer({ equations, answers, step }: Film, where: [number, number][], radius: number): SVGElement[] {
    const t = this.done(ANSWER);
    if (t === 0) return [];
    const [x, y] = [this.size[0] / 2, this.size[1] - 26];
    const most = Math.max(1, ...equations.readout);
    const right = step.truth.answer === step.model.answer;
    const text = svg('text', { class: `film-answer ${right ? 'right' : 'bad'}`, x, y: y + 5, opacity: t });
    text.textContent = `${right ? '✓' : '✗'} ${answers[step.model.answer]}`;
    return [
      ...equations.readout.flatMap((count, node) => (count === 0 ? [] : [svg('line', {
        class: 'reading', x1: where[node][0], y1: where[node][1] + radius, x2: where[node][0] + t * (x - where[node][0]), y2: where[node][1] + radius + t * (y - 14 - where[node][1] - radius),
        'stroke-width': 0.5 + (4 * count) / most,
      })])),
      text,
    ];
  }
}

/** A node's numbers. */
export function tellNode(film: Film, node: number, at: number): HTMLElement[] {
  const { equations, priorities, alpha, masks, step } = film;
  const strip = (title: string, values: number[]) => {
    const scale = Math.max(1e-9, ...values.map(Math.abs));
    const bars = values.map((value, index) => {
      const height = (Math.abs(value) / scale) * 14;
      const bar = svg('rect', { class: 'bar', x: index * 5, width: 4, y: 15 - (value > 0 ? height : 0), height });
      const name = svg('title', {});
      name.textContent = `${title}, element ${index + 1}: ${value}`;
      bar.append(name);
      return bar;
    });
    const picture = svg('svg', { class: 'latent', preserveAspectRatio: 'xMinYMid', viewBox: `0 0 ${values.length * 5} 30`, role: 'img', 'aria-label': `${title}: ${values.join(', ')}` }, ...bars);
    return [h('dt', {}, title), h('dd', {}, picture)];
  };
  const best = alpha[node].map((value, other) => [value, other]).sort((a, b) => b[0] - a[0]).slice(0, 3);
  const row = (name: string, value: string) => [h('dt', {}, name), h('dd', {}, value)];
  return [h('h3', {}, `Node ${node}`), h('dl', {},
    ...row('e', `${priorities[node].toFixed(3)}, ${node === step.u || node === step.v ? 1 : 0}`),
    ...strip(at < STATE ? 'h before' : 'z', at < STATE ? equations.before[node] : equations.z[node]),
    ...(at >= MESSAGES ? strip('m', equations.m[node]) : []),
    ...(at >= UPDATE ? strip('h', equations.h[node]) : []),
    ...(at >= MASKS ? row('P(visited)', probability(-masks[node])) : []),
    ...(at >= ATTENTION ? row('largest α', best.map(([value, other]) => `${other === node ? 'itself' : other}: ${value.toFixed(2)}`).join(', ')) : []))];
}
