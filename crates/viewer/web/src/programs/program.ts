/** What the page knows about a program: its pseudo-code, and a sentence for every micro-step. */

import type { MicroStep } from '../api';

/** A micro-step with what the registers held before it. */
export interface Told extends MicroStep {
  before: Record<string, number | null>;
}

export interface Program {
  code: string[];
  /** The line that a micro-step executes. */
  line: (step: Told) => number;
  /** What it does; nothing where its state's name must do. */
  tell: (step: Told) => string;
  /** The line that an operation begins with, by name; the first unless given. */
  entry?: Record<string, number>;
  /** Operations worth looking at first, as in an address; by default some are drawn. */
  example?: string;
  /** One pointer for each node, for the picture; the node itself for none. By default `up`. */
  picture?: (fields: Map<string, (number | null)[]>, nodes: number) => number[];
}

export const node = (value: number | null | undefined) => (value === null || value === undefined ? 'nil' : `node ${value}`);

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
