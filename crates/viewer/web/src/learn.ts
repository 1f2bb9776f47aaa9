/** The first page: what a pointer graph network is, in scenes to play with; in a lecture, one at a time. */

import { announce, h } from './dom';
import { filmScene } from './scenes/film';
import { growthScene } from './scenes/growth';
import { structureScene } from './scenes/structure';
import type { View } from './view';

export const learn: View = async (root, parameters, context) => {
  const scenes = [structureScene(), filmScene(), growthScene()];
  let lecture = parameters.get('lecture') === '1';
  let at = Math.min(Math.max(Number(parameters.get('scene')) || 1, 1), scenes.length);
  const toggle = h('button', { type: 'button', onclick: () => show(!lecture) }, 'Lecture');
  const turn = (by: number) => h('button', { type: 'button', 'aria-label': by < 0 ? 'Previous scene' : 'Next scene', onclick: () => go(at + by) }, by < 0 ? '◀' : '▶');
  const where = h('span', { class: 'counter' });
  const turning = [turn(-1), where, turn(1)];
  const element = h('div', { class: 'learn' },
    h('header', {}, h('h1', {}, 'Networks that learn data structures'),
      h('p', { class: 'lead' }, 'A pointer graph network is a small neural network that imitates a classical data structure. It keeps one pointer for each node, moves the pointers after each operation, and sends messages only along them.'),
      h('p', {}, 'Why learn what is in every textbook? Because the right answer, and every step to it, is known, it shows what a network can learn of an algorithm, and whether it still holds for inputs ten times as large; a network that keeps such a structure can use it where nobody can write the rules down. The idea: ', h('a', { href: 'https://arxiv.org/abs/2006.06380' }, 'Pointer Graph Networks'), ' (Veličković et al., 2020).')),
    h('div', { class: 'buttons lecture-tools' }, toggle, ...turning),
    ...scenes.map((scene) => scene.element));
  root.replaceChildren(element);

  const show = (on: boolean) => {
    lecture = on;
    document.documentElement.classList.toggle('lecture', on);
    toggle.setAttribute('aria-pressed', String(on));
    toggle.title = on ? 'Back to the whole page (Escape)' : 'One scene at a time, in large type; the arrow keys turn them';
    for (const one of turning) one.hidden = !on;
    go(at, false);
  };
  const go = (scene: number, told = true) => {
    at = Math.min(Math.max(scene, 1), scenes.length);
    scenes.forEach((one, index) => {
      one.element.hidden = lecture && index + 1 !== at;
    });
    where.textContent = `scene ${at} of ${scenes.length}`;
    if (lecture || parameters.has('scene')) context.remember({ scene: String(at), ...(lecture ? { lecture: '1' } : {}) });
    if (lecture && told) announce(`Scene ${at}: ${scenes[at - 1].element.querySelector('h2')?.textContent}`);
  };
  const key = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (!lecture || event.ctrlKey || event.metaKey || event.altKey || target.closest('input, select, svg, dialog')) return;
    const act = { ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Escape: () => show(false) }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  document.addEventListener('keydown', key);
  show(lecture);
  // What stands above grows while replies arrive; whoever scrolls is let go.
  const hold = new ResizeObserver(() => scenes[at - 1].element.scrollIntoView());
  const free = () => hold.disconnect();
  if (!lecture && parameters.has('scene')) hold.observe(element);
  for (const kind of ['wheel', 'pointerdown', 'keydown']) addEventListener(kind, free, { once: true });
  return () => {
    document.removeEventListener('keydown', key);
    free();
    document.documentElement.classList.remove('lecture');
    for (const scene of scenes) scene.destroy();
  };
};
