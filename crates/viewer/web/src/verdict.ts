/** The last operation in words, with the truth's answer and the models'. */

import { h } from './dom';
import { certainty } from './probability';
import type { Lane } from './stage';

export function verdict(lanes: Lane[], step: number): (Node | string)[] {
  const [first] = lanes;
  const { operation } = first.frames[step];
  if (!operation) return ['Before the first operation: every node points to itself.'];
  const { operation: name, answers } = first.replay;
  const { u, v, truth } = operation;
  const kind = first.replay.kinds?.find((one) => one.name === operation.kind);
  return [
    h('code', {}, `${kind?.name ?? name}(${kind?.operands === 1 ? u : `${u}, ${v}`})`), ' ',
    h('span', {}, 'truth: ', h('b', {}, answers[truth.answer]), ` (${truth.answer});`), ' ',
    ...lanes.flatMap(({ frames, title }) => {
      const model = frames[step].operation?.model;
      if (!model) return [];
      const right = truth.answer === model.answer;
      return [h('span', {}, lanes.length > 1 ? `${title}: ` : 'model: ', h('b', {}, answers[model.answer]), ` (${model.answer}${model.logit === null ? '' : `, p = ${certainty(model.logit)}`}) `,
        h('span', { class: right ? 'mark right' : 'mark bad' }, right ? '✓ right' : '✗ wrong')), ' '];
    }),
  ];
}
