/** Presentation mode: the forests large, everything else out of the way. */

import { announce } from './dom';

export function presenting(): boolean {
  return document.documentElement.classList.contains('presenting');
}

export function present(on: boolean): void {
  if (on === presenting()) return;
  document.documentElement.classList.toggle('presenting', on);
  announce(on ? 'Presentation mode. Escape leaves it.' : 'Presentation mode is off.');
  // Full screen is a bonus that a browser may refuse.
  if (on) document.documentElement.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
}

// The browser itself leaves full screen on Escape, without a key event.
document.addEventListener('fullscreenchange', () => {
  if (!document.fullscreenElement) present(false);
});
