/** The last operation in words, with the truth's answer and the models'. */

import type { Replay, ReplayStep } from './api';
import { h } from './dom';
import { certainty } from './probability';
import type { Lane } from './stage';

/** `query-union(3, 5)` */
export function operationOf({ operation, kinds }: Replay, { u, v, kind }: ReplayStep): string {
  const known = kinds?.find((one) => one.name === kind);
  return `${known?.name ?? operation}(${known?.operands === 1 ? u : `${u}, ${v}`})`;
}

export function verdict(lanes: Lane[], step: number): (Node | string)[] {
  const [first] = lanes;
  const { operation } = first.frames[step];
  if (!operation) return ['Before the first operation: every node points to itself.'];
  const { answers } = first.replay;
  const { truth } = operation;
  return [
    h('code', {}, operationOf(first.replay, operation)), ' ',
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
