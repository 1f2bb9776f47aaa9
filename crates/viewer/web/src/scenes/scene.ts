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

/** A replay with its frames. */
export async function rollOut(request: api.ReplayRequest): Promise<{ request: api.ReplayRequest; replay: api.Replay; frames: Frame[] }> {
  const replay = await api.replay(request);
  return { request, replay, frames: unroll(replay) };
}
