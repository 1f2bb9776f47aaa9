/** The first page: what a pointer graph network is, in five scenes to play with. */

import { h } from './dom';
import { attentionScene } from './scenes/attention';
import { growthScene } from './scenes/growth';
import { masksScene } from './scenes/masks';
import { operationScene } from './scenes/operation';
import { structureScene } from './scenes/structure';
import type { View } from './view';

export const learn: View = async (root) => {
  const scenes = [structureScene(), operationScene(), masksScene(), attentionScene(), growthScene()];
  root.replaceChildren(h('div', { class: 'learn' },
    h('h1', {}, 'Networks that learn data structures'),
    h('p', { class: 'lead' }, 'A pointer graph network is a small neural network that imitates a classical data structure. It keeps one pointer for each node, moves the pointers after each operation, and sends messages only along them.'),
    ...scenes.map((scene) => scene.element)));
  return () => {
    for (const scene of scenes) scene.destroy();
  };
};
