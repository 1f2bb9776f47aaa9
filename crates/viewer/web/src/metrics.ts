/** `metrics.jsonl` of a run, read on where it was left. */

import * as api from './api';

export class MetricsReader {
  lines: api.Metrics[] = [];
  private offset = 0;

  constructor(private readonly id: string) {}

  async read(): Promise<void> {
    for (let more = true; more;) {
      const part = await api.metrics(this.id, this.offset);
      if (part.afresh) this.lines = [];
      const first = part.lines[0]?.epoch ?? Infinity;
      // A run resumed from a checkpoint writes some epochs again.
      while (this.lines.length && this.lines[this.lines.length - 1].epoch >= first) this.lines.pop();
      this.lines = this.lines.concat(part.lines);
      this.offset = part.offset;
      more = part.more;
    }
  }
}

/** The share of its training views on which a machine is right. */
export const viewsRight = ({ views }: api.Metrics) => views && views.right / views.of;

/** The names of the losses, the total first. */
export function lossNames(lines: api.Metrics[]) {
  const names = Object.keys(lines[0]?.losses ?? {});
  return [...names.slice(-1), ...names.slice(0, -1)];
}
