/** α of all nodes at once, n × n, drawn only while it is unfolded. */

import type { StepDetails } from './api';
import { h } from './dom';
import { saveButtons } from './save-picture';

export class Heatmap {
  readonly element: HTMLDetailsElement;
  private readonly canvas = h('canvas', { class: 'heat-map', role: 'img' });
  private readonly rows = h('div', { class: 'heat-rows' });
  private readonly columns = h('div', { class: 'heat-columns' });
  private readonly readout = h('p', { class: 'readout' });
  private load: (() => Promise<StepDetails> | null) | null = null;
  private alpha: number[][] = [];
  private asked = 0;

  constructor(private readonly choose: (node: number) => void) {
    this.element = h('details', { class: 'heat-box', hidden: true },
      h('summary', {}, 'Attention α of all nodes'),
      h('p', { class: 'quiet' }, 'Row i: how strongly node i is drawn to each node j. The background is 0, full colour is 1.'), h('div', { class: 'heat-frame', 'aria-hidden': 'true' }, this.columns, this.rows, this.canvas), this.readout, h('div', { class: 'buttons' }, ...saveButtons(() => [this.canvas], () => 'attention', 'this map')));
    this.element.addEventListener('toggle', () => this.draw());
    this.canvas.addEventListener('pointermove', (event) => this.read(event));
    this.canvas.addEventListener('click', (event) => {
      const [row] = this.cell(event);
      if (this.alpha[row]) this.choose(row);
    });
  }

  /** How to get the values of the step that is shown; null if there are none. */
  offer(load: (() => Promise<StepDetails> | null) | null): void {
    this.load = load;
    this.element.hidden = load === null;
    this.draw();
  }

  private async draw(): Promise<void> {
    const asked = ++this.asked;
    if (!this.element.open || !this.load) return;
    try {
      const details = await this.load();
      if (asked !== this.asked || !details?.alpha) return;
      this.paint(details.alpha);
    } catch (error) {
      if (asked === this.asked) this.readout.textContent = (error as Error).message;
    }
  }

  private paint(alpha: number[][]): void {
    this.alpha = alpha;
    const n = alpha.length;
    const [canvas, context] = [this.canvas, this.canvas.getContext('2d')];
    canvas.width = canvas.height = n;
    const style = getComputedStyle(canvas);
    const [ink, paper] = [style.color, style.backgroundColor].map((colour) => (colour.match(/[\d.]+/g) ?? ['0', '0', '0']).slice(0, 3).map(Number));
    const image = context?.createImageData(n, n);
    if (!context || !image) return;
    alpha.forEach((row, i) => row.forEach((value, j) => {
      const at = 4 * (i * n + j);
      for (let channel = 0; channel < 3; channel++) image.data[at + channel] = paper[channel] + (ink[channel] - paper[channel]) * value;
      image.data[at + 3] = 255;
    }));
    context.putImageData(image, 0, 0);
    // Every so many nodes, so that numbers do not touch.
    const every = [1, 2, 5, 10, 20, 50].find((step) => n / step <= 11) ?? 100;
    for (const [ticks, side] of [[this.rows, 'top'], [this.columns, 'left']] as const) {
      ticks.replaceChildren(...Array.from({ length: Math.ceil(n / every) }, (_, tick) => {
        const label = h('span', {}, tick * every);
        label.style[side] = `${(100 * (tick * every + 0.5)) / n}%`;
        return label;
      }));
    }
    const sure = alpha.filter((row) => Math.max(...row) > 0.9).length;
    canvas.setAttribute('aria-label', `${n} × ${n} values of α; ${sure} of ${n} rows have one above 0.9`);
    this.readout.textContent = `${sure} of ${n} rows have an α above 0.9.`;
  }

  private cell(event: MouseEvent): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    const scale = this.alpha.length / box.width;
    return [Math.floor((event.clientY - box.top) * scale), Math.floor((event.clientX - box.left) * scale)];
  }

  private read(event: MouseEvent): void {
    const [row, column] = this.cell(event);
    const value = this.alpha[row]?.[column];
    if (value !== undefined) this.readout.textContent = `α(${row}, ${column}) = ${value < 0.001 ? value.toExponential(1) : value.toFixed(3)}`;
  }
}
