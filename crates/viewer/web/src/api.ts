/** What the server answers: see `api.rs`, which this file mirrors. */

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
  finished: boolean;
  playable: boolean;
  validation_f1: number | null;
  test: TestScores[];
}

export interface RunDetails extends Run {
  config: string;
  results: { best_epoch: number; parameters: number; validation: Scores } | null;
}

export interface Metrics {
  epoch: number;
  losses: Record<string, number>;
  validation: Scores;
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
  operations?: [number, number][];
  ops?: number;
  sequence?: number;
}

export interface ReplayStep {
  u: number;
  v: number;
  truth: { answer: 0 | 1; visited: number[]; moved: Move[] };
  model: { answer: 0 | 1; logit: number; probability: number; visited: number[] | null; moved: Move[] };
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
  candidates: { node: number; alpha: number }[] | null;
}

export interface About {
  version: string;
  folder: string | null;
  limits: { nodes: number; operations: number; cells: number; sequences: number };
}

/** A request that was refused; the message is the server's sentence. */
export class Refused extends Error {}

async function answer<T>(request: Promise<Response>): Promise<T> {
  let response: Response;
  try {
    response = await request;
  } catch {
    throw new Refused('The server does not answer. Is `pgn serve` still running?');
  }
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new Refused(body?.error ?? `The server answered with status ${response.status}.`);
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
export const metrics = (id: string, offset: number) => get<MetricsLines>('/api/metrics', { id, offset });
export const replay = (request: ReplayRequest) => post<Replay>('/api/replay', request);
export const node = (request: ReplayRequest, step: number, node: number) =>
  post<NodeDetails>('/api/node', { replay: request, step, node });
export const operations = (name: string, nodes: number, text: string) =>
  post<{ operations: [number, number][] }>('/api/operations', { name, nodes, text });
