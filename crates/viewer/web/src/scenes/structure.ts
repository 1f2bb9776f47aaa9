/** Scene 1: a data structure moves pointers. */

import * as api from '../api';
import { choice, h, notice } from '../dom';
import type { Pair } from '../edits';
import type { Picture } from '../forest-view';
import { MicroPlayer } from '../micro-player';
import { MiniForest } from '../mini-forest';
import { saveButtons } from '../save-picture';
import { ranks } from '../stage';
import { type Scene, frame, rollOut } from './scene';

const NODES = 8;
const START: Pair[] = [[0, 1], [2, 3], [1, 3]];

export function structureScene(): Scene {
  let operations = START.slice();
  let picked: number | null = null;
  let asked = 0;
  let drawn: Partial<Picture> = {};
  let pointers = Array.from({ length: NODES }, (_, node) => node);
  const task = choice([['dsu', 'disjoint-set union'], ['lct', 'link/cut tree']], 'dsu', { 'aria-label': 'Data structure', onchange: () => update() });
  const sentence = h('p', { class: 'verdict' }, 'Click two nodes.');
  const trouble = h('div');
  const forest = new MiniForest('Data structure', (node) => click(node));
  const undo = h('button', { type: 'button', onclick: () => {
    operations = operations.slice(0, -1);
    update();
  } }, 'Undo');
  const inside = new MicroPlayer();
  const element = frame(1, 'A data structure moves pointers', [
    ['Each node has one pointer. A node that points to itself is the root of its tree, and two nodes are connected if they are in the same tree.'],
    ['An operation gets two nodes, ', h('i', {}, 'u'), ' and ', h('i', {}, 'v'), '. It asks whether they are connected, and changes the pointers: disjoint-set union joins their trees, a link/cut tree links or cuts.'],
    ['Click two nodes to apply an operation. Below the picture, follow the algorithm line by line.'],
  ], h('div', { class: 'controls' }, task, undo, ...saveButtons(() => forest.element.querySelectorAll('svg'), () => 'data-structure', 'this picture')), trouble, forest.element, sentence, h('p', { class: 'quiet note' }, 'Under each node: the rank of its priority, 1 is the least.'), inside.element);

  const click = (node: number) => {
    if (picked === null || picked === node) {
      picked = picked === node ? null : node;
      forest.show({ ...drawn, pointers, picked }, false);
      return;
    }
    operations = [...operations, [picked, node]];
    picked = null;
    update();
  };
  const update = async () => {
    const mine = ++asked;
    undo.disabled = operations.length === 0;
    // What belongs to the operation before must not be stepped through while the reply is awaited.
    inside.await();
    try {
      const { frames, replay } = await rollOut({ model: `built-in:${task.value}`, nodes: NODES, seed: 1, operations });
      if (mine !== asked) return;
      trouble.replaceChildren();
      const last = frames[frames.length - 1];
      pointers = last.truth;
      const { sides, pathParents, flipped } = last.tree ?? {};
      drawn = { sides, pathParents, flipped, under: ranks(replay.priorities) };
      forest.show({ ...drawn, pointers, u: last.operation?.u ?? null, v: last.operation?.v ?? null, visited: last.truthVisited, moved: last.truthMoved, picked });
      const { operation, answers } = replay;
      sentence.replaceChildren(...(last.operation
        ? [h('code', {}, `${operation}(${last.operation.u}, ${last.operation.v})`), `: ${answers[last.operation.truth.answer]} (${last.operation.truth.answer}).`]
        : ['Click two nodes.']));
      const micro = operations.length ? await api.microSteps({ task: task.value, nodes: NODES, seed: 1, operations }).catch(() => null) : null;
      if (mine === asked) inside.load(micro);
    } catch (error) {
      if (mine === asked) trouble.replaceChildren(notice('error', (error as Error).message));
    }
  };
  update();
  return {
    element,
    destroy: () => {
      asked++;
      forest.destroy();
      inside.destroy();
    },
  };
}
