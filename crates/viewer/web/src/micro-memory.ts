/** The memory of a program, micro-step by micro-step. */

import type { MicroSteps } from './api';

export interface Moment {
  state: string;
  line: number;
  registers: Record<string, number | null>;
  narration: string;
  /** One pointer for each node, for the picture: itself where the program has nil. */
  pointers: number[];
  /** Nodes whose fields were just written. */
  moved: Set<number>;
}

/** The last of the operations, unrolled; the earlier ones only set the memory up. */
export class Memory {
  readonly moments: Moment[] = [];
  readonly u: number;
  readonly v: number;

  constructor({ operations, start }: MicroSteps) {
    const fields = new Map(Object.entries(start).map(([name, values]) => [name, values.slice()]));
    const last = operations[operations.length - 1];
    [this.u, this.v] = [last.u, last.v];
    for (const operation of operations) {
      if (operation === last) {
        this.moments.push({ state: 'start', line: 0, registers: {}, narration: `The operation gets u = ${last.u} and v = ${last.v}.`, pointers: picture(fields), moved: new Set() });
      }
      for (const step of operation.steps) {
        for (const { field, node, to } of step.writes) {
          const values = fields.get(field);
          if (values) values[node] = to;
        }
        if (operation !== last) continue;
        const { state, line, registers, narration, writes } = step;
        this.moments.push({ state, line, registers, narration, pointers: picture(fields), moved: new Set(writes.map(({ node }) => node)) });
      }
    }
  }
}

/** A node's pointer is the first of its upward fields that is not nil: parent, then path-parent. */
function picture(fields: Map<string, (number | null)[]>): number[] {
  const upward = ['parent', 'up', 'path_parent'].flatMap((name) => fields.get(name) ?? []).length
    ? ['parent', 'up', 'path_parent'].flatMap((name) => (fields.has(name) ? [fields.get(name) as (number | null)[]] : []))
    : [[...fields.values()][0]];
  return upward[0].map((_, node) => upward.map((values) => values[node]).find((to) => to !== null) ?? node);
}
