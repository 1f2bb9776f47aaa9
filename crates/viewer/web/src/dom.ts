/** Small helpers around the DOM. Text is always set as text, never as HTML. */

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | EventListener>;

/** An element: `h('button', { type: 'button', onclick: f }, 'Undo')`. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false).map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/** Says something to people who cannot see the page. */
export function announce(text: string): void {
  const live = document.getElementById('live');
  if (live) live.textContent = text;
}

/** A message in place of, or above, a view's content. */
export function notice(kind: 'error' | 'note', text: string): HTMLElement {
  return h('p', { class: `notice ${kind}`, role: kind === 'error' ? 'alert' : null }, text);
}

/** A labelled field. */
export function field(label: string, control: HTMLElement, hint?: string): HTMLElement {
  return h('label', { class: 'field' }, h('span', {}, label), control, hint ? h('small', {}, hint) : null);
}

/** 0.8312 → "0.831"; absent → "–". */
export function score(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : value.toFixed(3);
}

/** 0.973 → "97%", but never "100%" or "0%" for what is not quite that. */
export function percent(value: number): string {
  if (value > 0.995 && value < 1) return '>99%';
  if (value < 0.005 && value > 0) return '<1%';
  return `${Math.round(100 * value)}%`;
}

/** Whether the person asked for less motion. */
export function stillness(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** A whole number from a field, brought into its range; the field shows what it became. */
export function wholeNumber(input: HTMLInputElement): number {
  const [low, high] = [Number(input.min), Number(input.max)];
  const typed = Math.round(Number(input.value));
  const value = Math.min(Math.max(Number.isFinite(typed) ? typed : low, low), high);
  input.value = String(value);
  return value;
}
