/** What is done in the playground, step by step, so that every step can be undone. */

/** An operation; with its kind where the task has several, and then perhaps one node twice. */
export type Pair = [u: number, v: number, kind?: number];

/** A structure of the playground: how large it is, its priorities' seed, its operations. */
export interface Structure {
  nodes: number;
  seed: number;
  operations: Pair[];
}

export class Edits {
  private readonly past: Structure[] = [];
  private readonly future: Structure[] = [];

  constructor(public now: Structure) {}

  change(next: Partial<Structure>): void {
    this.past.push(this.now);
    this.future.length = 0;
    this.now = { ...this.now, ...next };
  }

  /** Whether there is anything to take back: an edit, or an operation that came with the address. */
  canUndo(): boolean {
    return this.past.length > 0 || this.now.operations.length > 0;
  }

  canRedo(): boolean {
    return this.future.length > 0;
  }

  undo(): void {
    if (!this.canUndo()) return;
    this.future.push(this.now);
    this.now = this.past.pop() ?? { ...this.now, operations: this.now.operations.slice(0, -1) };
  }

  redo(): void {
    const next = this.future.pop();
    if (!next) return;
    this.past.push(this.now);
    this.now = next;
  }

  /** Drops the last edit without a trace: it was refused. */
  retract(to: Structure): void {
    while (this.past.length && this.past[this.past.length - 1] !== to) this.past.pop();
    if (this.past[this.past.length - 1] === to) this.past.pop();
    this.future.length = 0;
    this.now = to;
  }
}

/** Operations as they stand in an address: `0-1.4-2`, or `0-1-2` with a kind. */
export function writeOperations(operations: Pair[]): string {
  return operations.map((operation) => operation.filter((part) => part !== undefined).join('-')).join('.');
}

/** Reads them back; throws a sentence for what is no operation on `nodes` nodes. */
export function readOperations(text: string, nodes: number): Pair[] {
  if (text === '') return [];
  return text.split('.').map((part, index): Pair => {
    const found = part.match(/^(\d{1,6})-(\d{1,6})(?:-(\d{1,3}))?$/);
    const [u, v] = found ? [Number(found[1]), Number(found[2])] : [NaN, NaN];
    const kind = found?.[3];
    if (!(u < nodes && v < nodes && (u !== v || kind))) {
      throw new Error(`The address has \`${part.slice(0, 20)}\` as operation ${index + 1}; expected two different nodes below ${nodes}, such as \`0-1\`.`);
    }
    return kind ? [u, v, Number(kind)] : [u, v];
  });
}
