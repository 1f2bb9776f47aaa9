/** The playground's operations with all answers; a click on a row goes there. */

import type { Replay } from './api';
import { h } from './dom';
import { certainty } from './probability';

export class OperationTable {
  readonly element: HTMLElement;
  private readonly rows = h('tbody');
  private readonly kind = h('th', { scope: 'col', hidden: true }, 'operation');
  private readonly tally = h('span', { class: 'facts' });
  private count = 0;

  constructor(private readonly go: (step: number) => void) {
    const titles = ['u', 'v', 'model', 'p', 'truth', ''];
    this.element = h('section', { class: 'history' }, h('h2', {}, 'Operations ', this.tally),
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Operations so far' },
        h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'step'), this.kind, ...titles.map((title) => h('th', { scope: 'col' }, title || h('span', { class: 'unseen' }, 'verdict'))))), this.rows)));
  }

  load(replay: Replay): void {
    this.count = replay.steps.length;
    this.kind.hidden = !replay.kinds;
    const rows = replay.steps.map(({ u, v, kind, truth, model }, index) => {
      const right = truth.answer === model.answer;
      return h('tr', { class: right ? '' : 'bad', onclick: () => this.go(index + 1) },
        h('td', {}, h('button', { type: 'button', class: 'link', 'aria-label': `Go to step ${index + 1}` }, index + 1)),
        ...(replay.kinds ? [h('td', {}, kind ?? '')] : []),
        ...[u, v, `${replay.answers[model.answer]} (${model.answer})`, model.logit === null ? '–' : certainty(model.logit), `${replay.answers[truth.answer]} (${truth.answer})`].map((cell) => h('td', {}, cell)),
        h('td', {}, right ? '✓ right' : '✗ wrong'));
    });
    this.rows.replaceChildren(...rows.reverse());
    const right = replay.steps.filter((step) => step.truth.answer === step.model.answer).length;
    this.tally.textContent = this.count === 0 ? 'none yet' : `${right} of ${this.count} answered right`;
  }

  /** Marks the step that is shown. */
  here(step: number): void {
    this.rows.querySelector('.here')?.classList.remove('here');
    this.rows.children[this.count - step]?.classList.add('here');
  }
}
