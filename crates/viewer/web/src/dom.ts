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

/** An element of a picture. */
export function svg(name: string, attributes: Record<string, string | number>, ...children: SVGElement[]): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** Says something to people who cannot see the page. */
export function announce(text: string): void {
  const live = document.getElementById('live');
  if (live) live.textContent = text;
}

/** A message in place of, or above, a view's content. */
export function notice(kind: 'error' | 'note', text: string): HTMLElement {
  return h('p', { class: `notice ${kind}`, role: kind === 'error' ? 'alert' : null }, ...marked(text));
}

/** A labelled field. */
export function field(label: string, control: HTMLElement, hint?: Node | string): HTMLElement {
  return h('label', { class: 'field' }, h('span', {}, label, hint ? ' ' : '', typeof hint === 'string' ? h('small', {}, hint) : hint), control);
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

/**
 * A text with `code` in backticks, as nodes. A backtick without its partner is shown as it is.
 */
export function marked(text: string): (Node | string)[] {
  const parts = text.split('`');
  if (parts.length % 2 === 0) return [text];
  return parts.map((part, index) => (index % 2 ? h('code', {}, part) : part));
}

/** Whether the person asked for less motion. */
export function stillness(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** A whole number from a field. Throws a sentence if it is none, or not in the field's range. */
export function wholeNumber(input: HTMLInputElement, name: string): number {
  const [low, high] = [Number(input.min), Number(input.max)];
  const value = /^\d+$/.test(input.value.trim()) ? Number(input.value) : NaN;
  const fits = value >= low && value <= high;
  input.setAttribute('aria-invalid', String(!fits));
  if (!fits) throw new Error(`${name} is ${input.value.trim() || 'empty'}; expected a whole number from ${low} to ${high}.`);
  return value;
}

/** A select with these options. */
export function choice(options: [value: string, text: string][], value?: string | null, attributes: Attributes = {}): HTMLSelectElement {
  const select = h('select', attributes, ...options.map(([value, text]) => h('option', { value }, text)));
  if (value !== null && value !== undefined && options.some(([known]) => known === value)) select.value = value;
  return select;
}

/** A check box with its label. */
export function checkbox(label: string, checked: boolean, changed: (on: boolean) => void): HTMLLabelElement {
  const box = h('input', { type: 'checkbox', checked, onchange: () => changed(box.checked) });
  return h('label', { class: 'check' }, box, label);
}

/** Makes these the children of `parent`, and touches none that are there already in this order. */
export function reconcile(parent: HTMLElement, elements: HTMLElement[]): void {
  const wanted = new Set<Element>(elements);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  elements.forEach((element, index) => {
    if (parent.children[index] !== element) parent.insertBefore(element, parent.children[index] ?? null);
  });
}

/** A file of this text, saved by the browser. */
export function download(name: string, content: BlobPart, type = 'text/plain'): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
