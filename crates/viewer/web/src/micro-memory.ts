/** The memory of a program inside an operation, micro-step by micro-step. */

import { answerWords } from './about';
import type { Ended, MicroSteps } from './api';
import { capital, node } from './programs/program';
import { type BinaryTree, binaryTree } from './binary-tree';
import { textOf } from './pseudo-code';

export interface Moment {
  state: string;
  /** The line of the pseudo-code. */
  line: number;
  narration: string;
  registers: Record<string, number | null>;
  /** One pointer for each node, for the picture: itself where the program has nil. */
  pointers: number[];
  /** Nodes whose pointer in the picture has just changed. */
  moved: Set<number>;
  /** Left and right, for programs that tell them apart. */
  tree: BinaryTree | null;
}

export function unrollMicro({ program, operation, arguments: given, outcome, fields, steps }: MicroSteps): Moment[] {
  const text = textOf(program);
  const memory = new Map(Object.entries(fields).map(([name, values]) => [name, values.slice()]));
  const nodes = Math.max(0, ...[...memory.values()].map((values) => values.length));
  const draw = text.picture ?? upwards;
  const operands = Object.fromEntries(given);
  const words = given.map(([name, node]) => `${name} = ${node}`).join(' and ');
  const start: Moment = { state: 'start', line: text.entry?.[operation] ?? 0, narration: `The operation gets ${words}.`, registers: operands, pointers: draw(memory, nodes), moved: new Set(), tree: binaryTree(memory) };
  let before: Record<string, number | null> = Object.fromEntries([...Object.keys(steps[0]?.registers ?? {}).map((name) => [name, null]), ...given]);
  let pointers = start.pointers;
  return [start, ...steps.map((step, index): Moment => {
    for (const { field, node, to } of step.writes) {
      const values = memory.get(field);
      if (values) values[node] = to;
    }
    const old = pointers;
    pointers = draw(memory, nodes);
    const told = { ...step, before };
    before = step.registers;
    const last = index === steps.length - 1;
    return {
      state: step.state,
      line: text.line(told),
      narration: last ? ending(outcome, answerWords(program)) : text.tell(told) || `${capital(step.state)}.`,
      registers: step.registers,
      pointers,
      moved: new Set(pointers.flatMap((to, node) => (to === old[node] ? [] : [node]))),
      tree: binaryTree(memory),
    };
  })];
}

/** How an operation ended, in a sentence. */
export function ending(outcome: Ended, answers?: [string, string]): string {
  if (outcome === 'done') return 'Done.';
  if ('answer' in outcome) return answers ? `${capital(answers[Number(outcome.answer)])} (${Number(outcome.answer)}).` : `The answer is ${Number(outcome.answer)}.`;
  if ('node' in outcome) return `The result is ${node(outcome.node)}.`;
  return `Refused: ${outcome.refused}.`;
}

function upwards(fields: Map<string, (number | null)[]>): number[] {
  const values = fields.get('up') ?? [...fields.values()][0] ?? [];
  return values.map((to, node) => to ?? node);
}
