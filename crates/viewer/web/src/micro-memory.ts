/** The memory of a program inside an operation, micro-step by micro-step. */

import type { MicroSteps } from './api';
import { textOf } from './pseudo-code';

export interface Moment {
  state: string;
  /** The line of the pseudo-code. */
  line: number;
  narration: string;
  registers: Record<string, number | null>;
  /** One pointer for each node, for the picture: itself where the program has nil. */
  pointers: number[];
  /** Nodes whose fields were just written. */
  moved: Set<number>;
}

export function unrollMicro({ program, u, v, answer, fields, steps }: MicroSteps): Moment[] {
  const text = textOf(program);
  const memory = new Map(Object.entries(fields).map(([name, values]) => [name, values.slice()]));
  const pointers = () => (memory.get('up') ?? []).map((to, node) => to ?? node);
  const start: Moment = { state: 'start', line: 0, narration: `The operation gets u = ${u} and v = ${v}.`, registers: { u, v }, pointers: pointers(), moved: new Set() };
  let before: Record<string, number | null> = { u, v };
  return [start, ...steps.map((step): Moment => {
    for (const { field, node, to } of step.writes) {
      const values = memory.get(field);
      if (values) values[node] = to;
    }
    const told = { ...step, before, answer };
    before = step.registers;
    return {
      state: step.state,
      line: text.line(told),
      narration: text.tell(told),
      registers: step.registers,
      pointers: pointers(),
      moved: new Set(step.writes.filter(({ field }) => field === 'up').map(({ node }) => node)),
    };
  })];
}
