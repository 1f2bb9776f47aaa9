// The page without a server: the same answers, and every view from a plain file server.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { PAGE, atStep, findBarriers, findFaults, serveFiles, suite } from '../support.mjs';

const s = suite();
let files;
before(async () => {
  files = await serveFiles(join(PAGE, '..'));
});
after(() => files.stop());
const open = (t, hash, options) => s.open(t, hash, { base: `${files.base}/${PAGE.split('/').pop()}`, ...options });

/** What the compiled module answers. */
async function load() {
  const { instance } = await WebAssembly.instantiate(readFileSync(join(PAGE, 'pgn.wasm')));
  const { memory, room, answer, reply, reply_bytes } = instance.exports;
  return (method, address, body) => {
    const bytes = new TextEncoder().encode(`${method} ${address}\n${body ?? ''}`);
    const at = room(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const status = answer();
    return { status, text: new TextDecoder().decode(new Uint8Array(memory.buffer, reply(), reply_bytes())) };
  };
}

/** More than a hundred requests: every address, every built-in model, and what is refused. */
function requests(models) {
  const get = (address) => ({ method: 'GET', address });
  const post = (address, body) => ({ method: 'POST', address, body: typeof body === 'string' ? body : JSON.stringify(body) });
  const programs = ['dsu', 'lct', 'forest', 'splay', 'heap'];
  return [
    get('/api/runs'),
    ...models.flatMap((model, index) => {
      const replay = { model, nodes: 12, seed: 0, sequence: 2 };
      const own = { model, nodes: 6, seed: 1, operations: [[0, 1], [2, 3], [1, 3], [4, 1]] };
      return [
        get(`/api/run?id=${encodeURIComponent(model)}`),
        get(`/api/metrics?id=${model}&offset=0`),
        post('/api/replay', own),
        ...[20, 50].map((nodes) => post('/api/replay', { ...replay, nodes })),
        post('/api/step', { replay, step: 7, node: 3 }),
        post('/api/step', { replay, step: 9, equations: model.endsWith('free') }),
        post('/api/sequences', { model, nodes: 10, count: 3 }),
      ];
    }),
    ...programs.map((program) => post('/api/calls', { program, nodes: 9, seed: 4, more: 8 })),
    ...['dsu', 'lct', 'forest', 'kruskal', 'dsu-by-size', 'dsu-by-rank'].map((task) => post('/api/micro-steps', { task, nodes: 7, seed: 2, operations: [[0, 1], [2, 1], [0, 5], [5, 2]] })),
    post('/api/micro-steps', { task: 'lct', model: 'built-in:machine-lct', nodes: 7, operations: [[0, 1], [2, 1]] }),
    post('/api/operations', { name: 'a.csv', nodes: 5, text: 'u,v\n0,1\n3,2\n' }),
    post('/api/operations', { name: 'a.csv', nodes: 5, text: '0;1' }),
    post('/api/replay', { model: models[0], nodes: 1 }),
    post('/api/replay', { model: 'run:x', nodes: 5 }),
    post('/api/replay', { model: models[0], nodes: -1 }),
    post('/api/replay', '{'),
    post('/api/runs', {}),
    get('/api/run?id=a&id=b'),
    get('/api/run?id=%ff'),
    get('/api/nothing'),
  ];
}

test('without a server every request has the server’s answer, byte by byte', async () => {
  const ask = await load();
  const models = (await s.ask('/api/runs')).map(({ id }) => id);
  const all = requests(models);
  assert.ok(all.length >= 100, String(all.length));
  for (const { method, address, body } of all) {
    const response = await fetch(s.base + address, { method, body, headers: body && { 'content-type': 'application/json' } });
    const answer = { status: response.status, text: await response.text() };
    const own = ask(method, address, body);
    // The first difference is enough to be shown.
    const at = [...answer.text].findIndex((letter, index) => letter !== own.text[index]);
    assert.equal(own.text.slice(at, at + 80), answer.text.slice(at, at + 80), `${method} ${address} ${body ?? ''}`);
    assert.deepEqual([own.status, own.text.length], [answer.status, answer.text.length], address);
  }
  const about = JSON.parse(ask('GET', '/api/about').text);
  assert.deepEqual({ ...await s.ask('/api/about'), folder: null }, about);
});

test('the page with its models is less than three megabytes, compressed', () => {
  const bytes = ['index.html', 'page.js', 'page.css', 'worker.js', 'benchmark.json', 'pgn.wasm'].map((name) => gzipSync(readFileSync(join(PAGE, name))).length);
  assert.ok(bytes.reduce((sum, one) => sum + one, 0) < 3e6, String(bytes));
});

for (const [name, hash, ready] of [
  ['learn', '', '.film-node'],
  ['lecture', '#/learn?scene=2&lecture=1', '.film-node'],
  ['compare', '#/compare', '[role=status]'],
  ['benchmark', '#/benchmark', '.leaderboard'],
  ['runs', '#/runs', '.runs tbody tr'],
  ['run', '#/run?id=built-in:machine-lct', '.scores'],
  ['rollout', '#/rollout?model=built-in:lct&nodes=20&step=20', '.counter'],
  ['steps', '#/machine?model=built-in:machine-heap&nodes=10&calls=insert-0-3.insert-0-4.pop_min-0', '.micro .code'],
]) {
  test(`${name} needs no server`, async (t) => {
    const page = await open(t, hash, { viewport: { width: 1280, height: 800 } });
    await page.locator(ready).first().waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    assert.deepEqual(await page.evaluate(findFaults), []);
    assert.deepEqual(await findBarriers(page), []);
  });
}

test('operations of one’s own are answered in the page, and what is refused is said', async (t) => {
  const page = await open(t, '#/playground?model=built-in:dsu&nodes=8');
  await page.locator('.node').nth(0).click();
  await page.locator('.node').nth(1).click();
  await atStep(page, 'step 1 of 1');
  await page.goto(`${files.base}/${PAGE.split('/').pop()}/#/run?id=run:nothing`);
  await page.getByRole('alert').getByText('there is no run').waitFor();
});
