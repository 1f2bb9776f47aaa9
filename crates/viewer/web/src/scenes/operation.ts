/** Scene 2: the network sees an operation. */

import { h, notice } from '../dom';
import { certainty } from '../probability';
import { type Scene, Steps, frame, rollOut } from './scene';

export function operationScene(): Scene {
  let gone = false;
  const inputs = h('tbody');
  const sentence = h('p', { class: 'verdict' });
  const trouble = h('div');
  let show: (step: number) => void = () => {};
  const steps = new Steps((step) => show(step));
  const element = frame(2, 'The network sees an operation', [
    ['The network never sees the algorithm. For each operation every node gets two numbers: its priority, a random number that it keeps, and whether it is an operand.'],
    ['From these and from its latent state, 32 numbers that it remembers, each node computes a new latent state. It exchanges messages with its neighbours: those it points to, and those that point to it.'],
    ['The answer is read from the maximum over all nodes. ', h('i', {}, 'p'), ' is the probability the network gives to its answer.'],
    ['The network in scenes 2 to 4 is ', h('code', {}, 'pgn-free'), '. Scene 5 compares it with the paper’s.'],
  ], trouble, steps.element, sentence, h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Inputs of the network' },
    h('table', { class: 'inputs' }, h('thead', {}, h('tr', {}, ...['node', 'priority', '', 'operand'].map((title) => h('th', { scope: 'col' }, title || h('span', { class: 'unseen' }, 'bar'))))), inputs)));
  rollOut({ model: 'built-in:dsu-free', nodes: 8, seed: 4, operations: [[0, 1], [2, 3], [4, 5], [1, 2], [6, 7], [0, 3], [5, 6], [3, 4]] }).then(({ replay, frames }) => {
    if (gone) return;
    show = (step) => {
      const { operation } = frames[step];
      inputs.replaceChildren(...replay.priorities.map((priority, node) => {
        const operand = node === operation?.u || node === operation?.v;
        return h('tr', { class: operand ? 'operand-row' : '' }, h('td', {}, node), h('td', {}, priority.toFixed(2)),
          h('td', {}, h('meter', { min: 0, max: 1, value: priority, 'aria-label': `priority of node ${node}` })), h('td', {}, operation ? (operand ? '1' : '0') : '–'));
      }));
      if (!operation) return void sentence.replaceChildren('No operation yet.');
      const { u, v, truth, model } = operation;
      const right = truth.answer === model.answer;
      sentence.replaceChildren(h('code', {}, `${replay.operation}(${u}, ${v})`), ` network: ${model.answer}${model.logit === null ? '' : ` (p = ${certainty(model.logit)})`}, truth: ${truth.answer} `,
        h('span', { class: right ? 'mark right' : 'mark bad' }, right ? '✓ right' : '✗ wrong'));
    };
    steps.load(frames.length - 1, 4);
  }, (error: Error) => trouble.replaceChildren(notice('error', error.message)));
  return { element, destroy: () => { gone = true; } };
}
