/** How requests get their answers: from the server, or, in a page that has none, from the same code in WebAssembly, which runs on a thread of its own. */

import type { Question, Reply } from './worker';

export interface Answer {
  status: number;
  /** JSON, as it should be. */
  text: string;
}

/** A page for static hosts names its module. */
const module = globalThis.document?.documentElement.dataset.wasm;

/** Whether there is no server behind the page. */
export const serverless = module !== undefined;

const waiting = new Map<number, (answer: Answer) => void>();
let worker: Worker | null = null;

function start(): Worker {
  const started = new Worker(`worker.js#${new URL(module as string, document.baseURI)}`);
  started.addEventListener('message', ({ data }: MessageEvent<Reply>) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  });
  return started;
}

let asked = 0;

/** Rejects where nothing answers at all. */
export async function ask(method: 'GET' | 'POST', address: string, body?: string): Promise<Answer> {
  if (serverless) {
    worker ??= start();
    const question: Question = { id: ++asked, text: `${method} /${address}\n${body ?? ''}` };
    worker.postMessage(question);
    return new Promise((resolve) => waiting.set(question.id, resolve));
  }
  const response = await fetch(address, body === undefined ? {} : { method, body, headers: { 'content-type': 'application/json' } });
  return { status: response.status, text: await response.text() };
}
