/** What is below the slider: where the answers are wrong, and the accuracy of every step. */

import { h } from './dom';
import { hasMistake, maskAccuracy, pointerAccuracy } from './history';
import type { Lane } from './stage';

const HEIGHT = 22;

export class Track {
  readonly element = h('div', { class: 'under' });
  private strips: HTMLElement[] = [];

  load(lanes: Lane[]): void {
    this.strips = [];
    this.element.replaceChildren(...lanes.flatMap((lane) => this.lane(lane, lanes.length > 1)));
  }

  /** Marks the step that is shown. */
  here(step: number): void {
    for (const strip of this.strips) {
      strip.querySelector('.here')?.classList.remove('here');
      strip.children[step - 1]?.classList.add('here');
    }
  }

  private lane({ frames, replay, title }: Lane, named: boolean): HTMLElement[] {
    const strip = h('div', { class: 'strip', role: 'img' }, ...frames.slice(1).map((frame) => h('i', { class: hasMistake(frames, frame.step, 'answer') ? 'bad' : '' })));
    const bad = strip.querySelectorAll('.bad').length;
    const text = `${named ? `${title}: ` : ''}${bad} wrong answer${bad === 1 ? '' : 's'} in ${frames.length - 1} steps`;
    strip.setAttribute('aria-label', text);
    strip.title = text;
    this.strips.push(strip);
    const curves = [
      { name: 'pointers', values: pointerAccuracy(replay, frames) },
      { name: 'masks', values: maskAccuracy(replay, frames) },
    ];
    const shown = curves.flatMap(({ name, values }) => (values?.length ? [curve(name, values, named ? `${title}, ` : '')] : []));
    return [strip, ...shown.map(({ row }) => row), ...(shown.length ? [h('small', {}, shown.map(({ words }) => words).join(' · '))] : [])];
  }
}

/** Accuracy by step, from 0 at the bottom to 1 at the top. */
function curve(name: string, values: number[], prefix: string): { row: HTMLElement; words: string } {
  const namespace = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(namespace, 'svg');
  svg.setAttribute('viewBox', `0 0 ${values.length} ${HEIGHT}`);
  svg.setAttribute('preserveAspectRatio', 'none');
  const path = document.createElementNS(namespace, 'path');
  path.setAttribute('class', `accuracy ${name}`);
  const height = (value: number) => (HEIGHT * (1 - value)).toFixed(2);
  path.setAttribute('d', `M0,${HEIGHT}${values.map((value, i) => `L${i},${height(value)}H${i + 1}`).join('')}V${HEIGHT}Z`);
  svg.append(path);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const text = `${prefix}${name} right: ${(100 * mean).toFixed(1)}% on average`;
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', text);
  return { row: h('div', { class: 'accuracy-row', title: text }, svg), words: `${name} right ${(100 * mean).toFixed(0)}%` };
}
