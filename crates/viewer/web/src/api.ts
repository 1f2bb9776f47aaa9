/** What the server answers: see `api.rs`, which this file mirrors. */

import type { Limits } from './limits';

export interface Scores {
  f1: number;
  accuracy: number;
  pointer_accuracy?: number;
  mask_accuracy?: number;
  [name: string]: number | undefined;
}

export interface TestScores extends Scores {
  nodes: number;
  ops: number;
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
}

export interface RunDetails extends Run {
  config: string;
  results: { best_epoch: number; parameters: number; validation: Scores } | null;
  /** The text of `certificate.json`, for machines that have one. */
  certificate?: string | null;
}

/** What an F₁ on a test set must be compared with; null where unknown. */
export interface Baseline {
  nodes: number;
  counting: number | null;
  always_1: number | null;
  paper: number | null;
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
  truth: { answer: 0 | 1; visited: number[]; moved: Move[] };
  /** A machine's answer has no probability. */
  model: { answer: 0 | 1; logit: number | null; probability: number | null; visited: number[] | null; moved: Move[] };
}

export interface Replay {
  task: string;
  /** The name of the task's operation, and what the answers 0 and 1 mean. */
  operation: string;
  answers: [string, string];
  nodes: number;
  priorities: number[];
  pointers: 'none' | 'given' | 'masked' | 'every';
  has_masks: boolean;
  has_attention: boolean;
  /** The input graph, the lightest edge first, for tasks that have one. */
  graph?: { u: number; v: number; weight: number }[];
  /** The kinds of operations, in tasks with several. */
  kinds?: { name: string; operands: number }[];
  steps: ReplayStep[];
}

export interface NodeDetails {
  node: number;
  step: number;
  priority: number;
  pointer: number;
  true_pointer: number;
  true_mask: 0 | 1;
  mask_probability: number | null;
  /** The logit behind it, which does not saturate. */
  mask_logit?: number | null;
  candidates: { node: number; alpha: number }[] | null;
}

/** Everything the model computed in one step. */
export interface StepDetails {
  /** Logits of mask = 1 (not visited), by node. */
  mask_logits: number[] | null;
  /** α of equation 6, a row for each node. */
  alpha: number[][] | null;
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
export type Ended = 'done' | { answer: 0 | 1 } | { node: number | null } | { refused: string };

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
  /** The nodes' pointers before the operation, by field; null: nil. */
  fields: Record<string, (number | null)[]>;
  steps: MicroStep[];
}

export interface About {
  version: string;
  folder: string | null;
  /** What data structures are called, and what models are, by name. */
  tasks: Record<string, string>;
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

async function answer<T>(request: Promise<Response>): Promise<T> {
  let response: Response;
  try {
    response = await request;
  } catch {
    throw new Unreachable('The server does not answer. Is `pgn serve` still running?');
  }
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new Refused(body?.error ?? `The server answered with status ${response.status}.`, response.status);
  return body as T;
}

function get<T>(path: string, parameters: Record<string, string | number> = {}): Promise<T> {
  const query = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
  return answer<T>(fetch(`${path}?${query}`));
}

function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return answer<T>(fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}

export const about = () => get<About>('/api/about');
export const runs = () => get<Run[]>('/api/runs');
export const run = (id: string) => get<RunDetails>('/api/run', { id });
export const baselines = (id: string) => get<Baseline[]>('/api/baselines', { id });
export const metrics = (id: string, offset: number) => get<MetricsLines>('/api/metrics', { id, offset });
export const replay = (request: ReplayRequest) => post<Replay>('/api/replay', request);
export const node = (request: ReplayRequest, step: number, node: number) =>
  post<NodeDetails>('/api/node', { replay: request, step, node });
export const stepDetails = (request: ReplayRequest, step: number) =>
  post<StepDetails>('/api/step', { replay: request, step });
export const sequences = (model: string, nodes: number, seed: number, count: number) =>
  post<SequenceScore[]>('/api/sequences', { model, nodes, seed, count });
export const microSteps = (request: MicroRequest) => post<MicroSteps>('/api/micro-steps', request);
export const calls = (request: { program: string; nodes: number; seed: number; calls: Call[]; more?: number }) => post<Called>('/api/calls', request);
export const operations = (name: string, task: string | undefined, nodes: number, text: string) =>
  post<{ operations: [u: number, v: number, kind?: number][] }>('/api/operations', { name, task, nodes, text });
