/** What requests are answered with: see `api.rs`, which this file mirrors. */

import type { Limits } from './limits';
import { ask } from './transport';

export interface Scores {
  f1: number;
  accuracy: number;
  pointer_accuracy?: number;
  mask_accuracy?: number;
}

export interface TestScores extends Scores {
  nodes: number;
  ops: number;
  sequences?: number;
  precision?: number;
  recall?: number;
  sequences_right?: number;
  sequences_exact?: number;
  /** The share of answers that are 1. */
  answers_1?: number;
  f1_always_1?: number;
  counting_f1?: number;
  /** What one gets without a network. */
  trivial?: { never_visit?: number; point_to_self?: number };
}

export interface Run {
  id: string;
  name: string;
  built_in: boolean;
  trouble: string | null;
  task: string;
  model: string;
  seed: number;
  epochs: number;
  epoch: number;
  /** `results.json`, written last, is there. */
  finished: boolean;
  /** A process is training it now. */
  running?: boolean;
  playable: boolean;
  /** F₁ on the validation set at the best epoch so far. */
  validation_f1: number | null;
  /** That epoch. */
  best_epoch?: number | null;
  test: TestScores[];
  /** What training took, once it has ended. */
  seconds?: number | null;
}

export interface RunDetails extends Run {
  config: string;
  results: { best_epoch: number; parameters: number; validation: Scores } | null;
  /** The text of `certificate.json`, for machines that have one. */
  certificate?: string | null;
  /** The epochs whose models were kept. */
  kept: number[];
  /** The paper's F₁ of this model on each of its test sizes. */
  paper: (number | null)[];
}

export interface Metrics {
  epoch: number;
  learning_rate?: number;
  /** By name, the total last. */
  losses: Record<string, number>;
  validation?: Scores;
  /** Of a machine: its training views. */
  views?: { right: number; of: number; margin: number };
}

export interface MetricsLines {
  afresh: boolean;
  offset: number;
  more: boolean;
  lines: Metrics[];
}

export type Move = [node: number, to: number];

export interface ReplayRequest {
  model: string;
  /** Of which epoch the kept model is meant; the best one unless told. */
  epoch?: number;
  nodes: number;
  seed?: number;
  priorities?: number[];
  /** u, v, and the kind of operation in tasks with several. */
  operations?: [u: number, v: number, kind?: number][];
  ops?: number;
  sequence?: number;
}

export interface ReplayStep {
  u: number;
  v: number;
  /** The kind of operation, in tasks with several. */
  kind?: string;
  /** `fields`: the same of a binary tree's left, right and bits; a field that is nil is the node itself. */
  truth: { answer: 0 | 1; visited: number[]; moved: Move[]; fields?: Record<string, Move[]> };
  /** A machine's answer has no probability. */
  model: { answer: 0 | 1; logit: number | null; visited: number[] | null; moved: Move[] };
}

export interface Replay {
  task: string;
  /** The name of the task's operation, and what the answers 0 and 1 mean. */
  operation: string;
  answers: [string, string];
  nodes: number;
  priorities: number[];
  /** Whether the structure compares nodes by their priorities. */
  compares: boolean;
  pointers: 'none' | 'given' | 'masked' | 'every';
  has_masks: boolean;
  has_attention: boolean;
  /** The input graph, the lightest edge first, for tasks that have one. */
  graph?: { u: number; v: number; weight: number }[];
  /** The kinds of operations, in tasks with several. */
  kinds?: { name: string; operands: number }[];
  steps: ReplayStep[];
}

/** Everything the model computed in one step. */
export interface StepDetails {
  /** Logits of mask = 1 (not visited), by node. */
  mask_logits: number[] | null;
  /** α of equation 6, a row for each node that was asked for. */
  alpha: number[][] | null;
  /** Where they were asked for. */
  equations?: Equations;
}

/** What the equations give on the way: k numbers for each node. */
export interface Equations {
  /** h before the operation. */
  before: number[][];
  z: number[][];
  m: number[][];
  h: number[][];
  /** Who reads whom, and how many elements of the reader's m are that message's. */
  messages: [reader: number, sender: number, share: number][];
  /** How many of the maxima that the answer is read from are each node's. */
  readout: number[];
}

/** How a model did on one test sequence. */
export interface SequenceScore {
  sequence: number;
  errors: number;
  /** The step of the first wrong answer. */
  first_error: number | null;
  /** The greatest depth of the true forest. */
  depth: number;
}

/** Which operation to look into: the last of these. */
export interface MicroRequest {
  task: string;
  nodes: number;
  seed?: number;
  priorities?: number[];
  operations?: [u: number, v: number, kind?: number][];
  /** Instead of `operations`: any operations of the program. */
  calls?: Call[];
  /** A machine whose own micro-steps are asked for, instead of the program's. */
  model?: string;
}

/** A micro-step of the classical structure inside an operation. */
export interface MicroStep {
  /** The state of the program that was executed. */
  state: string;
  /** What the registers held after it. */
  registers: Record<string, number | null>;
  /** Pointers written; null: nil. */
  writes: { field: string; node: number; to: number | null }[];
}

export interface Call {
  operation: string;
  arguments: number[];
}

/** How an operation of a program ended. */
export type Ended = 'done' | { answer: boolean } | { node: number | null } | { refused: string };

/** Operations of a program in a row, and all that it has. */
export interface Called {
  operations: { name: string; arguments: string[] }[];
  keys: number[];
  calls: (Call & { outcome: Ended })[];
}

export interface MicroSteps {
  program: string;
  operation: string;
  /** The arguments, with the names of their registers. */
  arguments: [string, number][];
  outcome: Ended;
  /** The nodes' pointers before the operation, by field, null: nil; and their bits, 0 or 1. */
  fields: Record<string, (number | null)[]>;
  /** What nodes are compared by; 1 is the least. */
  ranks: number[];
  steps: MicroStep[];
}

export interface About {
  version: string;
  folder: string | null;
  /** What data structures are called, and what models are, by name. */
  tasks: Record<string, string>;
  /** What the answers 0 and 1 mean, by task. */
  answers: Record<string, [string, string]>;
  models: Record<string, string>;
  limits: Limits;
}

/** A request that was refused; the message is the server's sentence. */
export class Refused extends Error {
  constructor(message: string, readonly status = 0) {
    super(message);
  }
}

/** No answer at all: trying again later may help. */
export class Unreachable extends Refused {}

async function answer<T>(method: 'GET' | 'POST', address: string, sent?: string): Promise<T> {
  const { status, text } = await ask(method, address, sent).catch(() => {
    throw new Unreachable('The server does not answer. Is `pgn serve` still running?');
  });
  let body = null;
  try {
    body = JSON.parse(text);
  } catch {
    // What is not JSON has no sentence either.
  }
  if (status !== 200) throw new Refused(body?.error ?? `The server answered with status ${status}.`, status);
  return body as T;
}

function get<T>(path: string, parameters: Record<string, string | number> = {}): Promise<T> {
  const query = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
  return answer<T>('GET', `${path}?${query}`);
}

function post<T>(path: string, body: unknown): Promise<T> {
  return answer<T>('POST', path, JSON.stringify(body));
}

export const about = () => get<About>('api/about');
export const runs = () => get<Run[]>('api/runs');
export const run = (id: string) => get<RunDetails>('api/run', { id });
export const metrics = (id: string, offset: number) => get<MetricsLines>('api/metrics', { id, offset });
export const replay = (request: ReplayRequest) => post<Replay>('api/replay', request);
/** With `node`, α of that node only. */
export const stepDetails = (request: ReplayRequest, step: number, more: { node?: number; equations?: boolean } = {}) =>
  post<StepDetails>('api/step', { replay: request, step, ...more });
export const sequences = (model: string, nodes: number, seed: number, count: number) =>
  post<SequenceScore[]>('api/sequences', { model, nodes, seed, count });
export const microSteps = (request: MicroRequest) => post<MicroSteps>('api/micro-steps', request);
export const calls = (request: { program: string; nodes: number; seed: number; calls: Call[]; more?: number }) => post<Called>('api/calls', request);
export const operations = (name: string, task: string | undefined, nodes: number, text: string) =>
  post<{ operations: [u: number, v: number, kind?: number][] }>('api/operations', { name, task, nodes, text });
