/** What a scene of the introduction is. */

import type { Frame } from '../history';
import { unroll } from '../history';
import * as api from '../api';
import { h } from '../dom';

export interface Scene {
  element: HTMLElement;
  destroy(): void;
}

/** A scene's frame: number, title, text, and what one can play with. */
export function frame(number: number, title: string, text: (Node | string)[][], ...live: HTMLElement[]): HTMLElement {
  const id = `scene-${number}`;
  return h('section', { class: 'scene', id, 'aria-labelledby': `${id}-title` },
    h('div', { class: 'scene-text' }, h('h2', { id: `${id}-title` }, `${number}. ${title}`), ...text.map((parts) => h('p', {}, ...parts))),
    h('div', { class: 'scene-live' }, ...live));
}

/** Buttons that step through a sequence, with a text that says where. */
export class Steps {
  readonly element: HTMLElement;
  private readonly text = h('span', { class: 'counter' });
  private readonly slider = h('input', { type: 'range', min: 0, max: 0, value: 0, class: 'scrubber', 'aria-label': 'Step' });
  private at = 0;
  private last = 0;

  constructor(private readonly seen: (step: number) => void) {
    const button = (label: string, text: string, by: number) => h('button', { type: 'button', 'aria-label': label, onclick: () => this.go(this.at + by) }, text);
    this.slider.addEventListener('input', () => this.go(Number(this.slider.value)));
    this.element = h('div', { class: 'steps' }, button('Step back', '◀', -1), button('Step forward', '▶', 1), this.slider, this.text);
  }

  load(last: number, start: number): void {
    this.last = last;
    this.slider.max = String(last);
    this.go(start);
  }

  go(step: number): void {
    this.at = Math.min(Math.max(step, 0), this.last);
    this.slider.value = String(this.at);
    this.text.textContent = `step ${this.at} of ${this.last}`;
    this.slider.setAttribute('aria-valuetext', this.text.textContent);
    this.seen(this.at);
  }
}

/** A replay with its frames. */
export async function rollOut(request: api.ReplayRequest): Promise<{ request: api.ReplayRequest; replay: api.Replay; frames: Frame[] }> {
  const replay = await api.replay(request);
  return { request, replay, frames: unroll(replay) };
}
