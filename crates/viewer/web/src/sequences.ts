/** The test sequences of a model in a table: which are worth looking at. */

import * as api from './api';
import { h } from './dom';

interface Subject {
  model: string;
  nodes: number;
  seed: number;
  /** How many test sequences of this size the model was scored on. */
  count: number;
  /** The sequence that is shown now. */
  shown: number;
}

type Order = 'sequence' | 'errors' | 'first_error' | 'depth';

const COLUMNS: [Order, string][] = [['sequence', 'sequence'], ['errors', 'wrong answers'], ['first_error', 'first error at step'], ['depth', 'greatest depth']];

export class SequenceList {
  readonly element: HTMLDetailsElement;
  private readonly head = h('tr', {});
  private readonly body = h('tbody');
  private readonly message = h('p', { class: 'quiet' });
  private subject: Subject | null = null;
  private loaded = '';
  private scores: api.SequenceScore[] = [];
  private order: Order = 'errors';
  private down = true;

  constructor(private readonly choose: (sequence: number) => void) {
    this.element = h('details', { class: 'sequences' }, h('summary', {}, 'All test sequences of this model'), this.message,
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Test sequences' }, h('table', {}, h('thead', {}, this.head), this.body)));
    this.element.addEventListener('toggle', () => this.load());
  }

  /** What the list is about; null for nothing. */
  offer(subject: Subject | null): void {
    this.subject = subject;
    this.element.hidden = subject === null;
    this.load();
  }

  private async load(): Promise<void> {
    const { subject } = this;
    if (!subject || !this.element.open) return;
    const key = `${subject.model} ${subject.nodes}`;
    if (this.loaded === key) return this.draw();
    this.message.textContent = 'Computing …';
    this.body.replaceChildren();
    try {
      const scores = await api.sequences(subject.model, subject.nodes, subject.seed, subject.count);
      if (subject !== this.subject) return;
      [this.scores, this.loaded] = [scores, key];
      this.message.textContent = `${scores.length} sequences; ${scores.filter(({ errors }) => errors === 0).length} without a wrong answer.`;
      this.draw();
    } catch (error) {
      if (subject === this.subject) this.message.textContent = (error as Error).message;
    }
  }

  private draw(): void {
    const { order, down, subject } = this;
    this.head.replaceChildren(...COLUMNS.map(([name, title]) => h('th', { scope: 'col', 'aria-sort': name === order ? (down ? 'descending' : 'ascending') : 'none' },
      h('button', { type: 'button', onclick: () => this.sort(name) }, title, h('span', { 'aria-hidden': 'true' }, name === order ? (down ? ' ▼' : ' ▲') : '')))));
    const value = (score: api.SequenceScore) => score[order] ?? Infinity;
    const sorted = this.scores.slice().sort((a, b) => (down ? value(b) - value(a) : value(a) - value(b)) || a.sequence - b.sequence);
    this.body.replaceChildren(...sorted.map((score) => h('tr', { class: score.sequence === subject?.shown ? 'here' : '' },
      h('td', {}, h('button', { type: 'button', class: 'link', 'aria-current': score.sequence === subject?.shown ? 'true' : null, onclick: () => this.choose(score.sequence) }, `sequence ${score.sequence}`)),
      h('td', {}, score.errors), h('td', {}, score.first_error ?? 'none'), h('td', {}, score.depth))));
  }

  private sort(order: Order): void {
    this.down = order === this.order ? !this.down : order === 'errors' || order === 'depth';
    this.order = order;
    this.draw();
  }
}
