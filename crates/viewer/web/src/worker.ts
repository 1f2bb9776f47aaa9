/** What answers requests where there is no server: the same code, compiled to WebAssembly. See `wasm.rs`. */

interface Exports {
  memory: WebAssembly.Memory;
  room(bytes: number): number;
  answer(): number;
  reply(): number;
  reply_bytes(): number;
}

export interface Question {
  id: number;
  /** `METHOD ADDRESS`, a line feed, and the body. */
  text: string;
}

export interface Reply {
  id: number;
  status: number;
  text: string;
}

const compiled = fetch(location.hash.slice(1)).then((response) => response.arrayBuffer()).then((bytes) => WebAssembly.compile(bytes));
let instance: Promise<Exports> | null = null;

async function answer(text: string): Promise<{ status: number; text: string }> {
  try {
    instance ??= compiled.then((module) => WebAssembly.instantiate(module)).then(({ exports }) => exports as unknown as Exports);
    const { memory, room, answer, reply, reply_bytes } = await instance;
    const bytes = new TextEncoder().encode(text);
    const at = room(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const status = answer();
    return { status, text: new TextDecoder().decode(new Uint8Array(memory.buffer, reply(), reply_bytes())) };
  } catch (error) {
    // After a trap nothing in its memory can be relied on.
    instance = null;
    return { status: 500, text: JSON.stringify({ error: `This request failed in the browser: ${(error as Error).message}.` }) };
  }
}

addEventListener('message', async ({ data }: MessageEvent<Question>) => {
  postMessage({ id: data.id, ...await answer(data.text) } satisfies Reply);
});
