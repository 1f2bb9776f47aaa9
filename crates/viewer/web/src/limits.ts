/** How large a replay may be: the server's limits, turned into limits of the fields. */

export interface Limits {
  nodes: number;
  operations: number;
  cells: number;
  sequences: number;
}

/** Where operations come from. */
export type Source = 'test' | 'chain' | 'own';

/** How many operations a sequence of this kind has on n nodes: 1.5 n is the paper's. */
export function operationsOf(source: Source, nodes: number): number {
  return { test: Math.floor((3 * nodes) / 2), chain: nodes - 1, own: 0 }[source];
}

/** The most nodes for which every sequence of this kind is allowed. */
export function mostNodes(limits: Limits, source: Source): number {
  for (let nodes = limits.nodes; nodes > 2; nodes--) {
    const operations = operationsOf(source, nodes);
    if (operations <= limits.operations && nodes * operations <= limits.cells) return nodes;
  }
  return 2;
}

/** The most operations on n nodes. */
export function mostOperations(limits: Limits, nodes: number): number {
  return Math.min(limits.operations, Math.floor(limits.cells / nodes));
}
