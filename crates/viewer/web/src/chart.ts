/** Curves over epochs. Lines differ in dashes as well as in colour. */

import { scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import { h } from './dom';

export interface Series {
  name: string;
  points: [number, number][];
}

const MARGIN = { top: 8, right: 20, bottom: 34, left: 46 };
const HEIGHT = 240;
/** More points than this cannot be told apart. */
const POINTS = 800;

export class Chart {
  readonly element: HTMLElement;
  private readonly svg: SVGSVGElement;
  private readonly legend = h('ul', { class: 'series' });
  private readonly readout = h('p', { class: 'readout', role: 'status' });
  private readonly observer: ResizeObserver;
  private series: Series[] = [];
  private cursor: number | null = null;

  constructor(private readonly title: string, private readonly across: string, private readonly up: string, private readonly range?: [number, number]) {
    this.svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    this.svg.setAttribute('role', 'img');
    this.svg.setAttribute('tabindex', '0');
    this.element = h('figure', { class: 'chart' }, h('figcaption', {}, title), this.legend, this.svg, this.readout);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.element);
    this.svg.addEventListener('pointermove', (event) => this.point(event.clientX));
    this.svg.addEventListener('pointerleave', () => this.move(null));
    this.svg.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const last = (this.series[0]?.points.length ?? 0) - 1;
      if (!step || last < 0) return;
      event.preventDefault();
      this.move(Math.min(Math.max((this.cursor ?? (step > 0 ? -1 : last + 1)) + step, 0), last));
    });
  }

  destroy(): void {
    this.observer.disconnect();
  }

  show(series: Series[]): void {
    this.series = series;
    this.draw();
  }

  private scales() {
    const width = Math.max(200, this.svg.clientWidth || this.element.clientWidth);
    const xs = this.series.flatMap(({ points }) => [points[0][0], points[points.length - 1][0]]);
    let top = 0;
    for (const { points } of this.series) for (const [, y] of points) if (y > top) top = y;
    const x = scaleLinear([Math.min(...xs, 1), Math.max(...xs, 2)], [MARGIN.left, width - MARGIN.right]);
    const y = scaleLinear(this.range ?? [0, top || 1], [HEIGHT - MARGIN.bottom, MARGIN.top]);
    if (!this.range) y.nice(5);
    return { width, x, y };
  }

  private draw(): void {
    const { width, x, y } = this.scales();
    const svg = select(this.svg).attr('viewBox', `0 0 ${width} ${HEIGHT}`).attr('height', HEIGHT);
    svg.selectAll('*').remove();
    const empty = this.series.length === 0;
    this.svg.setAttribute('aria-label', empty ? `${this.title}: nothing yet` : `${this.title}: ${this.series.map(({ name, points }) => `${name} ${format(points[points.length - 1][1])}`).join(', ')} at ${this.across} ${this.series[0].points[this.series[0].points.length - 1][0]}. Left and right read other epochs.`);
    for (const tick of y.ticks(5)) {
      svg.append('line').attr('class', 'grid').attr('x1', MARGIN.left).attr('x2', width - MARGIN.right).attr('y1', y(tick)).attr('y2', y(tick));
      svg.append('text').attr('class', 'tick').attr('x', MARGIN.left - 6).attr('y', y(tick)).attr('dy', '0.32em').attr('text-anchor', 'end').text(String(tick));
    }
    for (const tick of x.ticks(Math.max(2, Math.floor(width / 110))).filter(Number.isInteger)) {
      svg.append('text').attr('class', 'tick').attr('x', x(tick)).attr('y', HEIGHT - MARGIN.bottom + 15).attr('text-anchor', 'middle').text(tick);
    }
    svg.append('text').attr('class', 'axis').attr('x', (MARGIN.left + width - MARGIN.right) / 2).attr('y', HEIGHT - 4).attr('text-anchor', 'middle').text(this.across);
    svg.append('text').attr('class', 'axis').attr('transform', `translate(10,${(HEIGHT - MARGIN.bottom) / 2}) rotate(-90)`).attr('text-anchor', 'middle').text(this.up);
    this.series.forEach(({ points }, index) => {
      const d = thin(points).map(([a, b], i) => `${i ? 'L' : 'M'}${x(a).toFixed(1)},${y(b).toFixed(1)}`).join('');
      // A single point would be no line at all.
      svg.append('path').attr('class', `line line-${index}`).attr('d', points.length === 1 ? `${d}h2` : d);
    });
    this.legend.replaceChildren(...this.series.map(({ name }, index) => {
      const sample = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
      select(sample).attr('width', 26).attr('height', 8).attr('aria-hidden', 'true').append('path').attr('class', `line line-${index}`).attr('d', 'M0,4H26');
      return h('li', {}, sample, name);
    }));
    if (empty) svg.append('text').attr('class', 'axis').attr('x', width / 2).attr('y', HEIGHT / 2).attr('text-anchor', 'middle').text('nothing yet');
    svg.append('line').attr('class', 'cursor');
    this.move(this.cursor);
  }

  private point(clientX: number): void {
    const points = this.series[0]?.points;
    if (!points) return;
    const { x } = this.scales();
    const epoch = x.invert(clientX - this.svg.getBoundingClientRect().left);
    let nearest = 0;
    points.forEach(([at], index) => {
      if (Math.abs(at - epoch) < Math.abs(points[nearest][0] - epoch)) nearest = index;
    });
    this.move(nearest);
  }

  private move(cursor: number | null): void {
    this.cursor = cursor;
    const points = this.series[0]?.points;
    const shown = cursor === null ? (points?.length ?? 0) - 1 : cursor;
    if (!points?.[shown]) {
      this.readout.textContent = '';
      return;
    }
    const epoch = points[shown][0];
    const { x } = this.scales();
    select(this.svg).select('.cursor').attr('visibility', cursor === null ? 'hidden' : 'visible')
      .attr('x1', x(epoch)).attr('x2', x(epoch)).attr('y1', MARGIN.top).attr('y2', HEIGHT - MARGIN.bottom);
    const values = this.series.map(({ name, points }) => `${name} ${format(points[Math.min(shown, points.length - 1)][1])}`);
    this.readout.textContent = `${this.across} ${epoch}: ${values.join(', ')}`;
  }
}

/** Every so many points, with the last. */
function thin(points: [number, number][]): [number, number][] {
  const stride = Math.ceil(points.length / POINTS);
  return points.filter((_, index) => index % stride === 0 || index === points.length - 1);
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
