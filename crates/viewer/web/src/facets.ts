/** Filters of the runs: words anywhere, and exact choices of task, model and state. */

import type { Run } from './api';
import { choice, field, h } from './dom';
import { stateOf } from './run-state';

const FACETS: [name: string, title: string, value: (run: Run) => string][] = [
  ['task', 'Task', (run) => run.task],
  ['model', 'Model', (run) => run.model],
  ['state', 'State', stateOf],
];

export class Facets {
  readonly element: HTMLElement;
  private readonly search: HTMLInputElement;
  private readonly choices = new Map<string, HTMLSelectElement>();
  private wanted: Map<string, string>;

  constructor(parameters: URLSearchParams, changed: () => void) {
    this.search = h('input', { type: 'search', placeholder: 'e.g. lct seed-3', value: parameters.get('filter') ?? '', oninput: changed });
    this.wanted = new Map(FACETS.map(([name]) => [name, parameters.get(name) ?? '']));
    for (const [name] of FACETS) this.choices.set(name, h('select', { onchange: changed }));
    this.element = h('div', { class: 'facets' }, field('Filter', this.search), ...FACETS.map(([name, title]) => field(title, this.choices.get(name) as HTMLElement)));
  }

  /** Offers what the runs have. */
  offer(runs: Run[]): void {
    for (const [name, , value] of FACETS) {
      const select = this.choices.get(name) as HTMLSelectElement;
      const values = [...new Set(runs.map(value).filter(Boolean))].sort();
      const now = this.wanted.get(name) || select.value;
      const options = ['', ...values];
      if (now && !options.includes(now)) options.push(now);
      if ([...select.options].map((option) => option.value).join('\n') === options.join('\n')) continue;
      select.replaceChildren(...choice(options.map((value): [string, string] => [value, value || 'all'])).childNodes);
      select.value = now;
      this.wanted.delete(name);
    }
  }

  matching(runs: Run[]): Run[] {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    return runs.filter((run) => {
      const text = `${run.name} ${run.task} ${run.model} seed-${run.seed}`.toLowerCase();
      return words.every((word) => text.includes(word))
        && FACETS.every(([name, , value]) => ['', value(run)].includes(this.choices.get(name)?.value ?? ''));
    });
  }

  /** For the address. */
  values(): Record<string, string> {
    const all = [['filter', this.search.value], ...[...this.choices].map(([name, select]) => [name, select.value])];
    return Object.fromEntries(all.filter(([, value]) => value));
  }
}
