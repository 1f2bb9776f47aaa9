/** Truth and one or two models side by side, with the legend and the details of a chosen node. */

import type * as api from './api';
import type { Side } from './binary-tree';
import { checkbox, h } from './dom';
import { ASPECT, type Folds, MARGIN, SMALLEST, cellSize, fold, place } from './forest';
import { ForestView, type Picture } from './forest-view';
import { GraphView } from './graph-view';
import { Heatmap } from './heatmap';
import { type Frame, rightSets } from './history';
import { inspect } from './inspector';
import { legend } from './legend';
import { MiniForest } from './mini-forest';
import { sigmoid } from './probability';
import { saveButtons } from './save-picture';
import { Scrolling } from './scrolling';

/** A model's rollout, and how to ask for more about it. */
export interface Lane {
  title: string;
  replay: api.Replay;
  frames: Frame[];
  /** Absent where there is no server to ask. */
  step?: (step: number, node?: number) => Promise<api.StepDetails>;
}

const ZOOM = 1.25;
/** Keys, flips and the represented tree are drawn up to this many nodes; leaves are folded above. */
const MOST_IN_DETAIL = 64;

export class Stage {
  readonly element: HTMLElement;
  private readonly forests = h('div', { class: 'forests' });
  private readonly truth = new ForestView('Ground truth', (node) => this.choose(node, 0));
  private models: ForestView[] = [];
  private readonly validity = h('div', { class: 'validity' });
  private readonly inspector = h('section', { class: 'inspector' });
  private readonly heatmap = new Heatmap((node) => this.choose(node, 0));
  private readonly heatBox: HTMLElement;
  private readonly foldBox: HTMLElement;
  private readonly graph = new GraphView();
  /** What a link/cut tree stands for. */
  private readonly represented = new MiniForest('The tree it represents', (node) => this.choose(node, 0), SMALLEST);
  private readonly words = h('p', { class: 'quiet note' });
  private readonly observer: ResizeObserver;
  private readonly scrolling = new Scrolling((factor) => this.zoomBy(factor));
  private lanes: Lane[] = [];
  private at = 0;
  private zoom = 1;
  private fits = false;
  private follow = true;
  private coloured = false;
  private cell = 0;
  private columns = 2;
  private chosen: number | null = null;
  private lane = 0;
  private picked: number | null = null;
  /** The operation to come, and which nodes somebody expects it to visit. */
  private guess: { u: number; v: number; nodes: Set<number> } | null = null;
  private asked = 0;
  private heat: (number[] | null)[] = [];
  private ranks: string[] = [];
  /** Whether models' nodes are where the truth has them. */
  private shared = true;
  private folding = true;
  /** Whose leaves somebody wants to see: nodes, or -1 for nodes that are alone. */
  private readonly open = new Set<number>();

  /** Under the pictures: where the player has its controls. */
  readonly bar = h('div', {});

  /** `click` is told which node was clicked, and says whether that was for its own purposes. */
  constructor(private readonly click: (node: number) => boolean = () => false) {
    const button = (label: string, text: string, act: () => void) => h('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, text);
    this.heatBox = checkbox('Colour by P(visited)', false, (on) => this.colour(on));
    this.foldBox = checkbox('Fold leaves', true, (on) => {
      this.folding = on;
      this.open.clear();
      this.measure();
      this.draw(false);
    });
    const tools = h('div', { class: 'stage-tools', role: 'group', 'aria-label': 'Picture' },
      button('Zoom out', '−', () => this.zoomBy(1 / ZOOM)), button('Zoom in', '+', () => this.zoomBy(ZOOM)),
      h('button', { type: 'button', title: 'Fit everything into the picture', onclick: () => this.fit(true) }, 'Fit'),
      h('button', { type: 'button', title: 'Labels large enough to read', onclick: () => this.fit(false) }, 'Readable'),
      ...saveButtons(() => this.element.querySelectorAll<SVGSVGElement>('.forest:not([hidden]) svg'), () => `step-${this.at}`, 'these pictures'),
      checkbox('Follow u and v', true, (on) => {
        this.follow = on;
        this.draw(false);
      }), checkbox('Same places', true, (on) => {
        this.shared = on;
        this.measure();
        this.draw(false);
      }), this.foldBox, this.heatBox);
    this.element = h('div', { class: 'stage' },
      h('div', { class: 'stage-main' }, tools, this.forests, this.bar),
      h('div', { class: 'aside' }, this.validity, this.graph.element, this.represented.element, this.words, this.inspector, this.heatmap.element, legend()));
    this.represented.element.classList.add('represented');
    this.element.addEventListener('pointerover', (event) => this.link((event.target as Element).closest('[data-node]')));
    this.element.addEventListener('pointerleave', () => this.link(null));
    this.forests.append(this.truth.element);
    this.scrolling.add(this.truth.box);
    this.observer = new ResizeObserver(() => {
      this.measure();
      this.draw(false);
    });
    this.observer.observe(this.truth.element);
    this.inspect();
  }

  destroy(): void {
    this.observer.disconnect();
    this.represented.destroy();
    this.asked++;
  }

  load(lanes: Lane[]): void {
    const [first] = lanes;
    if (this.lanes[0]?.replay.nodes !== first.replay.nodes) {
      this.chosen = null;
      this.open.clear();
    }
    this.lanes = lanes;
    this.lane = Math.min(this.lane, lanes.length - 1);
    while (this.models.length < lanes.length) {
      const index = this.models.length;
      const view = new ForestView('Model', (node) => this.choose(node, index));
      this.models.push(view);
      this.forests.append(view.element);
      this.scrolling.add(view.box);
    }
    for (const view of this.models.splice(lanes.length)) {
      view.element.remove();
      this.scrolling.remove(view.box);
    }
    // Its pointers are not those of the tree that it represents.
    this.truth.rename(first.replay.task === 'lct' ? 'Ground truth: the auxiliary forest' : 'Ground truth');
    this.forests.classList.toggle('three', lanes.length > 1);
    lanes.forEach(({ replay, title }, index) => {
      this.models[index].rename(title);
      this.models[index].explain(lacks(replay));
    });
    this.heatBox.hidden = !lanes.some(({ replay, step }) => hasProbabilities(replay) && step);
    this.graph.load(first.replay);
    this.ranks = first.replay.compares && this.detailed() ? ranks(first.replay.priorities) : [];
    const trees = first.frames.flatMap(({ tree }) => (tree?.represented && this.detailed() ? [tree.represented] : []));
    this.represented.element.hidden = trees.length === 0;
    this.represented.prepare(trees);
    const words = [];
    if (this.ranks.length) words.push('Under each node: the rank of its priority, 1 is the least.');
    if (trees.length) words.push('Solid lines lead to parents in a splay tree, which is a path of the represented tree; dashed ones to path-parents. ⇄ marks a pending flip.');
    this.words.textContent = words.join(' ');
    this.foldBox.hidden = this.detailed();
    this.measure();
  }

  /** An animated change takes so many milliseconds. */
  show(step: number, animate: boolean, duration?: number): void {
    this.at = step;
    this.graph.show(step);
    this.draw(animate, duration);
    this.inspect();
    this.details();
  }

  /** Marks a node as the first operand. */
  pick(node: number | null): void {
    this.picked = node;
    this.draw(false);
  }

  /** Shows the operation to come, and the nodes that it is expected to visit; null: none. */
  predict(guess: { u: number; v: number; nodes: Set<number> } | null): void {
    this.guess = guess;
    this.draw(false);
  }

  private fit(everything: boolean): void {
    this.zoom = 1;
    this.fits = everything;
    this.measure();
    this.draw(false);
  }

  private zoomBy(factor: number): void {
    this.zoom = Math.min(Math.max(this.zoom * factor, 0.2), 5);
    this.draw(false);
  }

  private measure(): void {
    const [width, height] = this.truth.room();
    if (width === 0 || this.lanes.length === 0) return;
    const shapes = this.lanes.flatMap(({ replay }, lane) => this.lanes[lane].frames.flatMap((frame, step) => {
      const folds = this.folds(step);
      const of = (pointers: number[]) => ({ pointers, folds, sides: this.shape(frame, pointers).sides as Side[] });
      return replay.pointers === 'none' || this.shared ? [of(frame.truth)] : [of(frame.truth), of(frame.model)];
    }));
    const sets = shapes.map(({ pointers }) => pointers);
    this.cell = cellSize(sets, width, height, this.fits ? 5 : SMALLEST, shapes.map(({ sides }) => sides), shapes.map(({ folds }) => folds as Folds));
    this.columns = Math.floor((width - 2 * MARGIN) / this.cell);
  }

  private draw(animate: boolean, duration?: number): void {
    if (this.cell === 0 || this.lanes.length === 0) return;
    const first = this.lanes[0].frames[this.at];
    const { truth, operation, truthVisited, truthMoved, tree } = first;
    const coming = this.guess ?? operation;
    const common = { u: coming?.u ?? null, v: coming?.v ?? null, guessed: this.guess?.nodes, truth, chosen: this.chosen, picked: this.picked, columns: this.columns, under: this.ranks, folds: this.folds(this.at), placedBy: this.shared ? { pointers: truth, sides: this.shape(first, truth).sides } : undefined };
    const none = new Set<number>();
    const pictures: Omit<Picture, 'cell'>[] = [
      { ...common, ...this.shape(first, truth), flipped: this.detailed() ? tree?.flipped : undefined, hasPointers: true, pointers: truth, visited: truthVisited, heat: null, moved: truthMoved, wrong: none },
      ...this.lanes.map(({ frames, replay }, index) => {
        const frame = frames[this.at];
        const heat = this.coloured ? this.heat[index] ?? null : null;
        return { ...common, ...this.shape(frame, replay.pointers === 'none' ? truth : frame.model), hasPointers: replay.pointers !== 'none', pointers: frame.model, visited: frame.modelVisited, heat, moved: frame.modelMoved, wrong: frame.wrong };
      }),
    ];
    const views = [this.truth, ...this.models];
    const operands = coming ? [coming.u, coming.v] : [];
    let [cell, columns] = [this.cell * this.zoom, this.columns];
    if (this.follow && operands.length) [cell, columns] = this.holding(operands, pictures, cell);
    for (const picture of pictures) picture.columns = columns;
    views.forEach((view, index) => view.layOut(pictures[index]));
    views.forEach((view, index) => view.show({ ...pictures[index], cell }, animate, duration));
    if (tree?.represented && this.detailed()) this.represented.show({ u: common.u, v: common.v, pointers: tree.represented, chosen: this.chosen }, animate);
    if (this.follow && operands.length) this.scrolling.quietly(() => views.forEach((view) => view.reveal(operands, cell)));
    this.judge();
  }

  /** The largest cell, not above `cell`, with which both operands can be seen in every forest. */
  private holding([u, v]: number[], pictures: Omit<Picture, 'cell'>[], cell: number): [number, number] {
    const [width, height] = this.truth.room();
    let { columns } = this;
    const fits = () => pictures.every(({ pointers, hasPointers, truth, sides, placedBy, folds }) => {
      const { x, y } = place(placedBy?.pointers ?? (hasPointers ? pointers : truth), columns, placedBy ? placedBy.sides : sides, folds);
      return (Math.abs(x[u] - x[v]) + 1.2) * cell <= width && (Math.abs(y[u] - y[v]) + 1.1) * cell * ASPECT <= height;
    });
    while (cell > 4 && !fits()) {
      cell *= 0.92;
      columns = Math.max(columns, Math.floor((width - 2 * MARGIN) / cell));
    }
    return [cell, columns];
  }

  /** Leaves that this step leaves alone, in the truth and in all models. */
  private folds(step: number): Folds | undefined {
    if (!this.folding || this.detailed()) return undefined;
    const frames = this.lanes.map(({ frames }) => frames[step]);
    const [{ truth, operation }] = frames;
    const needed = new Set([operation?.u, operation?.v, this.chosen, this.picked]);
    for (const { model, truthVisited, modelVisited, truthMoved, modelMoved } of frames) {
      for (const some of [truthVisited, modelVisited, truthMoved, modelMoved]) for (const node of some ?? []) needed.add(node);
      model.forEach((to, node) => { if (to !== node) needed.add(to); });
    }
    return fold(truth, (node) => needed.has(node), this.open);
  }

  private detailed(): boolean {
    return this.lanes[0].replay.nodes <= MOST_IN_DETAIL;
  }

  /** Which child each node is, as far as its pointer is the truth's, and which pointers are path-parents. */
  private shape({ tree, truth }: Frame, pointers: number[]): Pick<Picture, 'sides' | 'pathParents'> {
    if (!tree) return {};
    const right = (node: number) => pointers[node] === truth[node];
    return { sides: tree.sides.map((side, node) => (right(node) ? side : null)), pathParents: new Set([...tree.pathParents].filter(right)) };
  }

  /** Marks a node in all pictures. */
  private link(node: Element | null): void {
    this.element.querySelectorAll('.linked').forEach((other) => other.classList.remove('linked'));
    const name = node?.getAttribute('data-node') ?? null;
    if (name !== null) this.element.querySelectorAll(`[data-node="${name}"]`).forEach((other) => other.classList.add('linked'));
  }

  /** How many pointers are right, and whether the components are. */
  private judge(): void {
    this.validity.replaceChildren(...this.lanes.map(({ replay, frames, title }) => {
      const frame = frames[this.at];
      const name = this.lanes.length > 1 ? `${title}: ` : '';
      if (replay.pointers === 'none') return h('p', {}, `${name}this model has no pointers to compare.`);
      const sets = rightSets(frame.truth, frame.model);
      const right = replay.nodes - frame.wrong.size;
      return h('p', {}, `${name}${frame.wrong.size === 0 ? 'all' : `${right} of ${replay.nodes}`} pointers are right; `,
        sets === replay.nodes ? h('span', { class: 'mark right' }, '✓ connected components are right')
          : h('span', { class: 'mark bad' }, `✗ ${sets} of ${replay.nodes} nodes are in the right component`));
    }));
  }

  private choose(node: number, lane: number): void {
    const folds = this.folds(this.at);
    if (folds?.has(node)) {
      const { truth } = this.lanes[0].frames[this.at];
      this.open.add(truth[node] === node ? -1 : truth[node]);
      return this.draw(false);
    }
    if (this.click(node)) return;
    this.chosen = this.chosen === node && this.lane === lane ? null : node;
    this.lane = Math.min(lane, this.lanes.length - 1);
    this.draw(false);
    this.inspect();
  }

  private async inspect(): Promise<void> {
    const asked = ++this.asked;
    const { chosen, at } = this;
    const lane = this.lanes[this.lane];
    if (chosen === null || !lane) {
      this.inspector.replaceChildren(h('h2', {}, 'Node'), h('p', { class: 'quiet' }, 'Choose a node to see its mask and pointer candidates.'));
      return;
    }
    const title = h('h2', {}, `Node ${chosen}`, this.lanes.length > 1 ? h('small', {}, ` ${lane.title}`) : null);
    if (at === 0) {
      this.inspector.replaceChildren(title, h('p', { class: 'quiet' }, 'Before the first operation every node points to itself.'));
      return;
    }
    try {
      const details = await lane.step?.(at, chosen) ?? null;
      if (asked === this.asked) this.inspector.replaceChildren(title, ...inspect(chosen, details, lane.replay, lane.frames[at]));
    } catch (error) {
      if (asked === this.asked) this.inspector.replaceChildren(title, h('p', { class: 'notice error' }, (error as Error).message));
    }
  }

  private colour(on: boolean): void {
    this.coloured = on;
    this.heat = [];
    this.draw(false);
    this.details();
  }

  /** Mask probabilities and α of the whole step, where somebody looks at them. */
  private async details(): Promise<void> {
    const { at, lanes } = this;
    const lane = lanes[this.lane];
    this.heatmap.offer(at > 0 && lane?.replay.has_attention && lane.step ? () => lane.step?.(at) ?? null : null);
    this.heat = [];
    if (!this.coloured || at === 0) return;
    const all = await Promise.all(lanes.map((lane) => (hasProbabilities(lane.replay) && lane.step ? lane.step(at).catch(() => null) : null)));
    if (at !== this.at || lanes !== this.lanes) return;
    this.heat = all.map((one) => one?.mask_logits?.map((logit) => sigmoid(-logit)) ?? null);
    this.draw(false);
  }
}

/** The place of each node in ascending order of priority, from 1. */
export function ranks(priorities: number[]): string[] {
  const order = priorities.map((_, node) => node).sort((a, b) => priorities[a] - priorities[b]);
  const rank = new Array<string>(order.length);
  order.forEach((node, place) => { rank[node] = String(place + 1); });
  return rank;
}

/** Whether masks have probabilities: those of a machine are just there. */
function hasProbabilities(replay: api.Replay): boolean {
  return replay.has_masks && replay.steps.every(({ model }) => model.logit !== null);
}

/** What a model does not have, in a sentence. */
function lacks(replay: api.Replay): string {
  if (replay.pointers === 'given') return 'This model is given its pointers; it does not set them.';
  if (replay.pointers !== 'none') return replay.has_masks ? '' : 'This model has no masks: every node sets its pointer after every operation.';
  if (replay.has_masks) return 'This model predicts masks, but keeps no pointers. Nodes are placed as in the truth.';
  return 'This model has neither pointers nor masks: it answers from the latent states of the nodes alone. Nodes are placed as in the truth.';
}
