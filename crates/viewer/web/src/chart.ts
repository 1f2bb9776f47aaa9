/** Curves over epochs. Lines differ in dashes as well as in colour. */

import { scaleLinear, scaleLog } from 'd3-scale';
import { select } from 'd3-selection';
import { type Series, bottom, smooth, top } from './curves';
import { announce, checkbox, choice, h } from './dom';
import { lineClass } from './palette';
import { saveButtons } from './save-picture';
import { raised } from './probability';

export type { Series } from './curves';

const MARGIN = { top: 8, right: 20, bottom: 34, left: 52 };
/** How high a chart is at least; where one has the window to itself, higher. */
const LEAST = 260;
/** More points than this cannot be told apart. */
const POINTS = 800;

export interface Axes {
  across: string;
  up: string;
  /** The ends of the upright axis; from 0 to the highest value unless given. */
  range?: [number, number];
  /** Whether the axis begins near the lowest value instead of at the range's end. */
  tight?: boolean;
  /** Whether the axis is logarithmic at first. */
  log?: boolean;
  /** Whether the chart is as tall as the window allows. */
  tall?: boolean;
  /** What is said when there is nothing to draw. */
  empty?: string;
}

export class Chart {
  readonly element: HTMLElement;
  private readonly svg: SVGSVGElement;
  private readonly legend = h('ul', { class: 'series' });
  private readonly readout = h('p', { class: 'readout' });
  private readonly note = h('p', { class: 'quiet note' });
  private readonly observer: ResizeObserver;
  private readonly reset = h('button', { type: 'button', hidden: true, onclick: () => this.zoomTo(null) }, 'Reset zoom');
  private series: Series[] = [];
  private readonly hidden = new Set<string>();
  private height = LEAST;
  private cursor: number | null = null;
  private log: boolean;
  private window = 1;
  private zoom: [number, number] | null = null;
  private drag: number | null = null;

  constructor(private readonly title: string, private readonly axes: Axes) {
    this.svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    this.svg.setAttribute('role', 'img');
    this.svg.setAttribute('tabindex', '0');
    this.log = axes.log ?? false;
    const window = choice([['1', 'none'], ['5', '5 points'], ['21', '21 points'], ['51', '51 points']], '1', { onchange: () => {
      this.window = Number(window.value);
      this.draw();
    } });
    const tools = h('div', { class: 'chart-tools' },
      checkbox('logarithmic', this.log, (on) => {
        this.log = on;
        this.draw();
      }), h('label', { class: 'check' }, 'smoothing', window), this.reset,
      ...saveButtons(() => [this.svg], () => 'chart', 'this chart'));
    this.element = h('figure', { class: 'chart' }, h('figcaption', {}, title), this.legend, this.svg, this.readout, this.note, tools);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.element);
    this.listen();
  }

  destroy(): void {
    this.observer.disconnect();
  }

  show(series: Series[], empty?: string): void {
    this.series = series;
    if (empty) this.axes.empty = empty;
    this.draw();
  }

  private listen(): void {
    this.svg.addEventListener('pointerdown', (event) => {
      this.drag = this.epochAt(event.clientX);
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener('pointermove', (event) => this.point(event.clientX));
    this.svg.addEventListener('pointerup', (event) => {
      const [from, to] = [this.drag, this.epochAt(event.clientX)];
      this.drag = null;
      if (from === null) return;
      const { x } = this.scales();
      if (Math.abs(x(from) - x(to)) > 12) this.zoomTo([Math.min(from, to), Math.max(from, to)]);
      else {
        this.point(event.clientX);
        this.isolate(event.clientY);
      }
    });
    this.svg.addEventListener('dblclick', () => this.zoomTo(null));
    this.svg.addEventListener('pointerleave', () => this.drag === null && this.move(null));
    this.svg.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const epochs = this.epochs();
      if (!step || epochs.length === 0) return;
      event.preventDefault();
      event.stopPropagation();
      const at = this.cursor === null ? (step > 0 ? -1 : epochs.length) : epochs.indexOf(this.cursor);
      this.move(epochs[Math.min(Math.max(at + step, 0), epochs.length - 1)]);
      announce(this.readout.textContent ?? '');
    });
  }

  /** Shows the line that was clicked alone, or all again. */
  private isolate(clientY: number): void {
    const [{ y, floor }, top] = [this.scales(), this.svg.getBoundingClientRect().top];
    const near = this.shown().map(({ name, points }) => {
      const at = points.find(([x]) => x === this.cursor);
      return { name, away: at ? Math.abs(y(Math.max(at[1], floor)) - (clientY - top)) : Infinity };
    }).sort((a, b) => a.away - b.away)[0];
    if (!near || near.away > 12) return;
    const alone = this.shown().length === 1;
    this.hidden.clear();
    if (!alone) for (const { name } of this.series) if (name !== near.name) this.hidden.add(name);
    this.draw();
  }

  private shown(): Series[] {
    return this.series.filter(({ name }) => !this.hidden.has(name));
  }

  private epochs(): number[] {
    const all = new Set(this.shown().flatMap(({ points }) => points.map(([x]) => x)));
    return [...all].filter((x) => !this.zoom || (x >= this.zoom[0] && x <= this.zoom[1])).sort((a, b) => a - b);
  }

  private scales() {
    const width = Math.max(200, this.svg.clientWidth || this.element.clientWidth);
    const xs = this.series.flatMap(({ points }) => [points[0][0], points[points.length - 1][0]]);
    const x = scaleLinear(this.zoom ?? (this.axes.across === 'epoch' ? [Math.min(...xs, 1), Math.max(...xs, 2)] : [0, Math.max(...xs, 0.1)]), [MARGIN.left, width - MARGIN.right]);
    const [left, right] = x.domain();
    const lines = this.shown().map(({ points }) => points.flatMap(([at, y]) => (at >= left && at <= right ? [y] : [])));
    const values = lines.flat();
    const upright: [number, number] = [this.height - MARGIN.bottom, MARGIN.top];
    if (this.log) {
      const positive = values.filter((value) => value > 0);
      const y = scaleLog([Math.min(...positive, 1), Math.max(...positive, 1e-9)], upright).nice();
      return { width, x, y, outside: 0, floor: y.domain()[0] };
    }
    const { range, tight } = this.axes;
    if (range && !tight && !this.zoom) return { width, x, y: scaleLinear(range, upright), outside: 0, floor: -Infinity };
    const low = range ? bottom(lines) : 0;
    const y = scaleLinear([low, range ? Math.max(...values, low + 0.01) : top(lines)], upright).nice(5);
    const [from, to] = y.domain();
    return { width, x, y, outside: values.filter((value) => value < from || value > to).length, floor: -Infinity };
  }

  private draw(): void {
    const empty = this.series.length === 0;
    if (this.axes.tall) this.height = Math.max(LEAST, Math.min(620, innerHeight - 330));
    const HEIGHT = this.height;
    const { width, x, y, outside, floor } = this.scales();
    const svg = select(this.svg).attr('viewBox', `0 0 ${width} ${HEIGHT}`).attr('height', HEIGHT);
    svg.selectAll('*').remove();
    this.svg.setAttribute('aria-label', this.label());
    this.reset.hidden = this.zoom === null;
    this.note.textContent = outside ? `${outside} point${outside > 1 ? 's are' : ' is'} outside the axis; the logarithmic axis shows all.` : '';
    for (const tick of y.ticks(5)) {
      // A logarithmic axis has more ticks than fit; powers of ten are enough.
      if (this.log && !/^1(e|0*$)|^0?\.0*1$/.test(String(tick)) && y.ticks(5).length > 8) continue;
      svg.append('line').attr('class', 'grid').attr('x1', MARGIN.left).attr('x2', width - MARGIN.right).attr('y1', y(tick)).attr('y2', y(tick));
      svg.append('text').attr('class', 'tick').attr('x', MARGIN.left - 6).attr('y', y(tick)).attr('dy', '0.32em').attr('text-anchor', 'end').text(tickText(tick));
    }
    for (const tick of x.ticks(Math.max(2, Math.floor(width / 110))).filter((tick) => this.axes.across !== 'epoch' || Number.isInteger(tick))) {
      svg.append('text').attr('class', 'tick').attr('x', x(tick)).attr('y', HEIGHT - MARGIN.bottom + 15).attr('text-anchor', 'middle').text(tick);
    }
    svg.append('text').attr('class', 'axis').attr('x', (MARGIN.left + width - MARGIN.right) / 2).attr('y', HEIGHT - 4).attr('text-anchor', 'middle').text(this.axes.across);
    svg.append('text').attr('class', 'axis').attr('transform', `translate(10,${(HEIGHT - MARGIN.bottom) / 2}) rotate(-90)`).attr('text-anchor', 'middle').text(this.axes.up);
    // An svg of its own cuts off what is outside the axes.
    const plot = svg.append('svg').attr('x', MARGIN.left).attr('y', MARGIN.top - 2).attr('width', width - MARGIN.left - MARGIN.right).attr('height', HEIGHT - MARGIN.top - MARGIN.bottom + 4)
      .append('g').attr('transform', `translate(${-MARGIN.left},${2 - MARGIN.top})`);
    const down = (value: number) => y(Math.max(value, floor));
    const path = (points: [number, number][]) => points.map(([a, b], i) => `${i ? 'L' : 'M'}${x(a).toFixed(1)},${down(b).toFixed(1)}`).join('');
    for (const { name, model, points, band, best } of this.shown()) {
      const kind = lineClass(model ?? name, this.series.findIndex((one) => one.name === name));
      if (band && band.length > 1) {
        const [low, high] = [1, 2].map((side) => smooth(band.map((row): [number, number] => [row[0], row[side]]), this.window));
        plot.append('path').attr('class', `${kind} band`).attr('d', `${path(high)}${path(low.reverse()).replace('M', 'L')}Z`);
      }
      // What was measured stays visible under what is smoothed.
      if (this.window > 1) plot.append('path').attr('class', `${kind} raw`).attr('d', path(thin(points)));
      const d = path(thin(smooth(points, this.window)));
      // A single point would be no line at all.
      plot.append('path').attr('class', kind).attr('d', points.length === 1 ? `${d}h2` : d);
      const at = points.find(([epoch]) => epoch === best);
      if (at) plot.append('circle').attr('class', `${kind} best`).attr('r', 4.5).attr('cx', x(at[0])).attr('cy', down(at[1])).append('title').text(`best ${this.axes.across} ${Number.isInteger(at[0]) ? at[0] : at[0].toPrecision(3)}`);
    }
    this.drawLegend();
    if (empty) svg.append('text').attr('class', 'axis').attr('x', width / 2).attr('y', HEIGHT / 2).attr('text-anchor', 'middle').text(this.axes.empty ?? 'nothing to draw');
    svg.append('line').attr('class', 'cursor');
    this.move(this.cursor);
  }

  private label(): string {
    const shown = this.shown();
    if (shown.length === 0) return `${this.title}: ${this.axes.empty ?? 'nothing to draw'}`;
    const last = (points: [number, number][]) => points[points.length - 1];
    return `${this.title}: ${shown.map(({ name, points }) => `${name} ${format(last(points)[1])}`).join(', ')} at ${this.axes.across} ${last(shown[0].points)[0]}. Left and right read other epochs.`;
  }

  /** The legend's entries hide and show their lines. */
  private drawLegend(): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.series;
    this.legend.replaceChildren(...this.series.map(({ name, model }, index) => {
      const sample = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
      select(sample).attr('width', 26).attr('height', 8).attr('aria-hidden', 'true').append('path').attr('class', lineClass(model ?? name, index)).attr('d', 'M0,4H26');
      const toggle = () => {
        if (!this.hidden.delete(name)) this.hidden.add(name);
        this.draw();
      };
      const button = h('button', { type: 'button', class: 'entry', 'data-series': name, 'aria-pressed': String(!this.hidden.has(name)), title: `Show or hide ${name}; click its line to see it alone`, onclick: toggle }, sample, name);
      return h('li', {}, button);
    }));
    if (focused !== undefined) [...this.legend.querySelectorAll('button')].find((button) => button.dataset.series === focused)?.focus();
  }

  private zoomTo(range: [number, number] | null): void {
    this.zoom = range;
    this.cursor = null;
    this.draw();
  }

  private epochAt(clientX: number): number {
    return this.scales().x.invert(clientX - this.svg.getBoundingClientRect().left);
  }

  private point(clientX: number): void {
    const epochs = this.epochs();
    if (epochs.length === 0) return;
    const at = this.epochAt(clientX);
    this.move(epochs.reduce((nearest, epoch) => (Math.abs(epoch - at) < Math.abs(nearest - at) ? epoch : nearest)));
  }

  private move(cursor: number | null): void {
    this.cursor = cursor;
    const epochs = this.epochs();
    const epoch = cursor ?? epochs[epochs.length - 1];
    if (epoch === undefined) {
      this.readout.textContent = '';
      return;
    }
    const { x } = this.scales();
    select(this.svg).select('.cursor').attr('visibility', cursor === null ? 'hidden' : 'visible')
      .attr('x1', x(epoch)).attr('x2', x(epoch)).attr('y1', MARGIN.top).attr('y2', this.height - MARGIN.bottom);
    const values = this.shown().flatMap(({ name, points }) => {
      const at = points.find(([x]) => x === epoch);
      return at ? [{ name, value: at[1] }] : [];
    }).sort((a, b) => b.value - a.value);
    this.readout.textContent = `${this.axes.across} ${Number.isInteger(epoch) ? epoch : epoch.toPrecision(3)}: ${values.map(({ name, value }) => `${name} ${format(value)}`).join(', ')}`;
  }
}

/** Every so many points, with the last. */
function thin(points: [number, number][]): [number, number][] {
  const stride = Math.ceil(points.length / POINTS);
  return points.filter((_, index) => index % stride === 0 || index === points.length - 1);
}

/** 0.00001 → "10⁻⁵": there is no room for so many zeros. */
function tickText(value: number): string {
  const exponent = Math.log10(value);
  return value > 0 && value < 0.001 && Number.isInteger(Math.round(exponent * 1e6) / 1e6) ? `10${raised(Math.round(exponent))}` : String(value);
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
