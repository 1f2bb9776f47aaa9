/** The algorithm inside the operation that a player shows, for structures that have a program. */

import { isMachine, structureName } from './about';
import * as api from './api';
import { h } from './dom';
import { MicroPlayer } from './micro-player';

export class Inside {
  readonly element: HTMLDetailsElement;
  private readonly micro = new MicroPlayer('');
  private readonly message = h('p', { class: 'quiet' });
  private request: api.MicroRequest | null = null;
  private asked = 0;

  constructor() {
    this.element = h('details', { class: 'inside' }, h('summary', {}, 'Inside this operation: the algorithm, line by line'), this.message, this.micro.element);
    this.element.addEventListener('toggle', () => this.load());
  }

  destroy(): void {
    this.asked++;
    this.micro.destroy();
  }

  /** Which operation is shown: the last of these; null for none. */
  offer(request: api.MicroRequest | null): void {
    this.request = request;
    this.load();
  }

  private async load(): Promise<void> {
    const asked = ++this.asked;
    if (!this.element.open) return;
    if (!this.request?.operations?.length && !this.request?.calls?.length) {
      this.micro.load(null);
      this.message.textContent = 'No operation yet: go to step 1.';
      return;
    }
    try {
      const steps = await api.microSteps(this.request);
      if (asked !== this.asked) return;
      this.message.textContent = this.request.model ? 'These micro-steps are the network’s own: in each of them it sees a few nodes and chooses what to write.' : '';
      this.micro.load(steps);
    } catch (error) {
      if (asked !== this.asked) return;
      this.micro.load(null);
      const unknown = error instanceof api.Refused && error.status === 404;
      this.message.textContent = unknown ? `The page has no step-by-step program of ${structureName(this.request.task)}: only whole operations can be shown.` : (error as Error).message;
    }
  }
}

/**
 * The request for the operation that a replay shows at a step. A machine's micro-steps are its
 * own; for other models they are those of the classical algorithm.
 */
export function microRequest(replay: api.Replay, step: number, run: api.Run): api.MicroRequest {
  const steps = replay.steps.slice(0, step);
  const operations = steps.map(({ u, v }): [number, number] => [u, v]);
  const operands = (name?: string) => replay.kinds?.find((kind) => kind.name === name)?.operands ?? 2;
  const calls = replay.kinds && steps.map(({ u, v, kind }) => ({ operation: kind ?? '', arguments: [u, v].slice(0, operands(kind)) }));
  const request: api.MicroRequest = { task: replay.task, nodes: replay.nodes, priorities: replay.priorities, operations, ...(calls && { operations: [], calls }) };
  return isMachine(run) ? { ...request, model: run.id } : request;
}
