// The page in a real browser, against a real `pgn serve`.
//   PGN       the program to test
//   CHROMIUM  the browser
//   SHOTS     a folder for screenshots, if any are wanted
//   ASSETS    a folder whose page.js and page.css are used instead of those built into the
//             program, to try a change to the page without building the program again
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const viewer = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const { PGN, CHROMIUM, SHOTS } = process.env;
const folder = mkdtempSync(join(tmpdir(), 'pgn-browser-'));
const HOSTILE = '<img src=x onerror=document.title=666>';
let server, base, browser;

const line = (epoch) => `${JSON.stringify({
  epoch,
  learning_rate: 0.005,
  losses: { query: 0.7 / epoch, pointers: 1 / epoch, masks: 0.5 / epoch, dgm: 0, total: 2.2 / epoch },
  validation: { f1: 1 - 0.5 / epoch, precision: 0.5, recall: 0.5, accuracy: 1 - 0.4 / epoch, sequences_right: 0, pointer_accuracy: 0.7, mask_accuracy: 0.9, answers_1: 0.5, f1_always_1: 0.5, f1_always_0: 0 },
})}\n`;

before(async () => {
  for (const [name, task] of [['dsu/pgn-0', 'dsu'], ['lct/pgn-0', 'lct'], ['training', 'dsu'], [HOSTILE, 'dsu']]) {
    const run = join(folder, name);
    mkdirSync(run, { recursive: true });
    for (const file of ['config.toml', 'results.json', 'model.safetensors']) cpSync(join(viewer, 'models', task, file), join(run, file));
    writeFileSync(join(run, 'metrics.jsonl'), Array.from({ length: 40 }, (_, i) => line(i + 1)).join(''));
  }
  for (const file of ['results.json', 'model.safetensors']) rmSync(join(folder, 'training', file));
  const damaged = join(folder, 'damaged');
  mkdirSync(damaged);
  writeFileSync(join(damaged, 'config.toml'), 'task = "dsu"\nepochs = "many"\n');

  // Smaller test sets, so that the report's analyses take a moment only.
  for (const [name, task] of [['dsu/pgn-0', 'dsu'], ['lct/pgn-0', 'lct'], [HOSTILE, 'dsu']]) {
    const run = join(folder, 'reported', name);
    cpSync(join(folder, name), run, { recursive: true });
    const config = readFileSync(join(viewer, 'models', task, 'config.toml'), 'utf8')
      .replace('nodes = [20, 50, 100, 200]', 'nodes = [20, 30]').replace('ops = [30, 75, 150, 300]', 'ops = [30, 45]').replace('sequences = 35\n\n[network]', 'sequences = 5\n\n[network]');
    writeFileSync(join(run, 'config.toml'), config);
  }
  execFileSync(PGN, ['report', join(folder, 'reported'), '--out', join(folder, 'report.html')]);
  // What is served does not change.
  rmSync(join(folder, 'reported'), { recursive: true });

  server = spawn(PGN, ['serve', folder, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  base = await new Promise((resolve, reject) => {
    let text = '';
    server.stdout.on('data', (data) => {
      text += data;
      const found = text.match(/http:\S+/);
      if (found) resolve(found[0].replace(/\/$/, ''));
    });
    server.on('exit', () => reject(new Error('pgn serve ended at once')));
  });
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--font-render-hinting=none'],
  });
});

after(async () => {
  await browser?.close();
  const ended = new Promise((resolve) => server.on('exit', (code) => resolve(code)));
  server.kill('SIGINT');
  assert.equal(await ended, 0, 'Ctrl-C ends the program cleanly');
  rmSync(folder, { recursive: true });
});

/** A page at `hash`; whatever goes wrong in it, or leaves the machine, fails the test. */
async function open(t, hash, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', acceptDownloads: true, ...options });
  const page = await context.newPage();
  const troubles = [];
  page.on('pageerror', (error) => troubles.push(String(error)));
  // A refused request is what some tests are about; the browser logs those on its own account.
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) troubles.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(base) && !request.url().startsWith('blob:')) troubles.push(`went to ${request.url()}`);
  });
  page.setDefaultTimeout(60_000);
  if (process.env.ASSETS) {
    for (const name of ['page.js', 'page.css']) await page.route(`**/${name}`, (route) => route.fulfill({ path: join(process.env.ASSETS, name) }));
  }
  await page.goto(`${base}/${hash}`);
  t.after(async () => {
    await context.close();
    assert.deepEqual(troubles, []);
  });
  return page;
}

const ask = async (path, body) => {
  const response = await fetch(base + path, body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  return response.json();
};

/** Pointers after `step` operations, from the API, on one side. */
function pointers(replay, step, side) {
  const all = Array.from({ length: replay.nodes }, (_, node) => node);
  for (const one of replay.steps.slice(0, step)) for (const [node, to] of one[side].moved) all[node] = to;
  return all;
}

/** Pointers as the page tells them to a screen reader. */
const told = (page, title) => page.locator('.forest', { has: page.getByRole('heading', { name: title }) }).locator('.node').evaluateAll((nodes) => nodes.map((node, index) => {
  const found = node.getAttribute('aria-label').match(/points to (\d+|itself)/)[1];
  return found === 'itself' ? index : Number(found);
}));

const step = (page) => page.locator('.counter').textContent().then((text) => Number(text.match(/step (\d+)/)[1]));
/** Clicks the middle of a player's slider and drags it to the end; `check` looks at the step shown. */
const scrub = async (page, player, check) => {
  const slider = player.getByRole('slider');
  await slider.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await slider.boundingBox();
  const middle = [x + width / 2, y + height / 2];
  await page.mouse.click(...middle);
  const at = await step(player);
  assert.ok(Math.abs(at - 15) <= 1, `${at}`);
  await check(at);
  await page.mouse.move(...middle);
  await page.mouse.down();
  await page.mouse.move(x + width - 2, y + height / 2, { steps: 5 });
  await page.mouse.up();
  await check(30);
};
const seed = async (id) => (await ask('/api/runs')).find((run) => run.id === id).seed;

test('runs are listed with scores and can be sorted and filtered', async (t) => {
  const page = await open(t, '');
  const rows = page.locator('.runs tbody tr');
  await rows.nth(6).waitFor();
  assert.equal(await rows.count(), 7);
  const names = () => page.locator('.runs tbody tr td:first-child').allTextContents();
  assert.deepEqual((await names()).slice(0, 2), ['built-in dsu', 'built-in lct']);
  assert.ok((await names()).includes(HOSTILE), 'names are text, whatever is in them');
  assert.match(await page.title(), /^Runs/);
  assert.match(await page.locator('tr', { hasText: 'damaged' }).textContent(), /config\.toml/);
  assert.match(await page.locator('tr', { hasText: 'training' }).textContent(), /epoch 40 of/);

  await page.getByRole('button', { name: 'test F₁ n=50' }).click();
  const header = page.getByRole('columnheader', { name: 'test F₁ n=50' });
  assert.equal(await header.getAttribute('aria-sort'), 'descending');
  const column = await page.locator('.runs thead th').evaluateAll((all) => all.findIndex((th) => th.textContent.includes('n=50')));
  const scores = async () => (await page.locator(`.runs tbody td:nth-child(${column + 1})`).allTextContents()).filter((text) => text !== '–').map(Number);
  const sorted = await scores();
  assert.equal(sorted.length, 5);
  assert.deepEqual(sorted, sorted.toSorted((a, b) => b - a));
  assert.ok(sorted[0] > sorted[4], 'there is something to sort');
  await page.getByRole('button', { name: 'test F₁ n=50' }).press('Enter');
  assert.equal(await header.getAttribute('aria-sort'), 'ascending');
  assert.deepEqual(await scores(), sorted.toReversed());

  await page.getByRole('searchbox').fill('lct pgn');
  assert.deepEqual((await names()).sort(), ['built-in lct', 'lct/pgn-0']);
});

test('a run that trains is followed', async (t) => {
  const page = await open(t, '#/runs');
  await page.getByRole('link', { name: 'training', exact: true }).click();
  const readout = page.locator('.readout').first();
  await page.getByText('epoch 40: total').waitFor();
  assert.match(await page.locator('.status').textContent(), /epoch 40 of/);
  const curve = () => page.locator('.chart > svg .line-0').first().getAttribute('d');
  const before = await curve();
  // A line that is still being written, then its rest and one more.
  const next = line(41);
  appendFileSync(join(folder, 'training/metrics.jsonl'), next.slice(0, 30));
  appendFileSync(join(folder, 'training/metrics.jsonl'), next.slice(30) + line(42));
  await page.getByText('epoch 42: total').waitFor();
  assert.notEqual(await curve(), before);
  // Resumed from an earlier checkpoint: later lines are gone.
  writeFileSync(join(folder, 'training/metrics.jsonl'), Array.from({ length: 30 }, (_, i) => line(i + 1)).join(''));
  await page.getByText('epoch 30: total').waitFor();
  // Finished.
  for (const file of ['model.safetensors', 'results.json']) cpSync(join(viewer, 'models/dsu', file), join(folder, 'training', file));
  await page.getByText('finished after').waitFor();
  await page.getByText('Test scores').waitFor();
  // The curves can be read with the keyboard.
  await page.locator('.chart > svg').first().focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  assert.match(await readout.textContent(), /^epoch 29: total 0\.0759/);
  for (const file of ['model.safetensors', 'results.json']) rmSync(join(folder, 'training', file));
});

test('the player plays, pauses, scrubs and steps', async (t) => {
  const page = await open(t, '#/rollout?model=built-in:dsu&nodes=20');
  await page.locator('.counter').getByText('step 0 of 30').waitFor();
  await page.getByRole('button', { name: 'Play' }).click();
  await page.locator('.counter').getByText('step 2 of 30').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  assert.equal(await page.getByRole('button', { name: 'Play' }).getAttribute('aria-pressed'), 'false');
  const paused = await step(page);
  assert.ok(paused >= 2);

  const replay = await ask('/api/replay', { model: 'built-in:dsu', nodes: 20, seed: await seed('built-in:dsu'), sequence: 0 });
  const check = async (at) => {
    await page.locator('.counter').getByText(`step ${at} of 30`).waitFor();
    assert.deepEqual(await told(page, 'Ground truth'), pointers(replay, at, 'truth'));
    assert.deepEqual(await told(page, 'Model'), pointers(replay, at, 'model'));
  };
  await page.keyboard.press('ArrowRight');
  await check(paused + 1);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await check(paused - 1);
  await scrub(page, page, check);
  await page.keyboard.press('Home');
  await check(0);

  // Where one is, is in the address.
  await page.keyboard.press('ArrowRight');
  await page.reload();
  await check(1);
});

test('operated nodes, masks, changed and wrong pointers are marked', async (t) => {
  const page = await open(t, '#/rollout?model=built-in:lct&nodes=20&step=12');
  await page.locator('.counter').getByText('step 12 of 30').waitFor();
  const replay = await ask('/api/replay', { model: 'built-in:lct', nodes: 20, seed: await seed('built-in:lct'), sequence: 0 });
  const { u, v, truth, model } = replay.steps[11];
  const marked = (title, part, mark) => page.locator('.forest', { has: page.getByRole('heading', { name: title }) }).locator(part)
    .evaluateAll((all, mark) => all.flatMap((one, index) => (one.classList.contains(mark) ? [index] : [])), mark);
  const sorted = (numbers) => numbers.toSorted((a, b) => a - b);
  for (const [title, side] of [['Ground truth', truth], ['Model', model]]) {
    assert.deepEqual(await marked(title, '.node', 'operated'), sorted([u, v]));
    assert.deepEqual(await marked(title, '.node', 'visited'), sorted(side.visited));
    assert.deepEqual(await marked(title, '.edge', 'moved'), sorted(side.moved.map(([node]) => node)));
  }
  const right = pointers(replay, 12, 'truth');
  const wrong = pointers(replay, 12, 'model').flatMap((to, node) => (to === right[node] ? [] : [node]));
  assert.ok(wrong.length > 0, 'there is something wrong to be shown');
  assert.deepEqual(await marked('Model', '.edge', 'wrong'), wrong);
  assert.deepEqual(await marked('Ground truth', '.edge', 'wrong'), []);
  assert.match(await page.locator('.validity').textContent(), new RegExp(`^${20 - wrong.length} of 20`));
});

test('a node tells its mask and its candidates, by mouse and by keyboard', async (t) => {
  const page = await open(t, '#/rollout?model=built-in:dsu&nodes=20&step=10');
  await page.locator('.counter').getByText('step 10 of 30').waitFor();
  const model = page.locator('.forest').nth(1);
  await model.locator('.node').nth(7).click();
  const inspector = page.locator('.inspector');
  await inspector.getByText('Strongest pointer candidates').waitFor();
  const replay = { model: 'built-in:dsu', nodes: 20, seed: await seed('built-in:dsu'), sequence: 0 };
  const expected = await ask('/api/node', { replay, step: 10, node: 7 });
  const shown = (await inspector.locator('tbody th').allTextContents()).map((text) => Number.parseInt(text));
  assert.deepEqual(shown, expected.candidates.map(({ node }) => node));
  assert.equal(shown.length, 5);
  assert.match(await inspector.textContent(), /Mask: left alone with/);

  // The details follow the steps.
  const first = await inspector.textContent();
  const changed = page.waitForResponse('**/api/node');
  await page.keyboard.press('End');
  await changed;
  await page.waitForFunction((first) => document.querySelector('.inspector').textContent !== first, first);

  // One tab stop for all nodes; down moves on, Enter chooses.
  assert.equal(await model.locator('.node[tabindex="0"]').count(), 1);
  await model.locator('.node').nth(7).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await inspector.getByText('Node 8', { exact: true }).waitFor();
  assert.equal(await model.locator('.node').nth(8).getAttribute('aria-selected'), 'true');
});

test('the next mistake is found', async (t) => {
  const page = await open(t, '#/rollout?model=built-in:lct&nodes=20');
  await page.locator('.counter').getByText('step 0 of 30').waitFor();
  const replay = await ask('/api/replay', { model: 'built-in:lct', nodes: 20, seed: await seed('built-in:lct'), sequence: 0 });
  const wrong = replay.steps.flatMap(({ truth, model }, index) => (truth.answer === model.answer ? [] : [index + 1]));
  assert.ok(wrong.length > 0);
  for (const at of wrong) {
    await page.getByRole('button', { name: 'Next mistake' }).click();
    await page.locator('.counter').getByText(`step ${at} of 30`).waitFor();
    assert.match(await page.locator('.verdict').textContent(), /✗ wrong/);
  }
  await page.keyboard.press('m');
  await page.locator('main').getByText(`There is no wrong answer after step ${wrong.at(-1)}`).waitFor();
  assert.equal(await page.locator('.strip .bad').count(), wrong.length);
});

test('the pathological chain of the paper', async (t) => {
  const page = await open(t, '#/rollout?model=built-in:dsu&nodes=10&source=chain&step=9');
  await page.locator('.counter').getByText('step 9 of 9').waitFor();
  assert.deepEqual(await told(page, 'Ground truth'), [1, 2, 3, 4, 5, 6, 7, 8, 9, 9]);
  assert.match(await page.getByRole('heading', { name: 'Ground truth' }).textContent(), /1 tree, depth 9/);
});

test('operations in the playground, by click and by keyboard, and undo', async (t) => {
  const page = await open(t, '#/playground?model=built-in:dsu&nodes=8&seed=3');
  await page.locator('main').getByText('Click two nodes').waitFor();
  const rows = page.locator('.history tbody tr');
  const count = (n) => page.waitForFunction((n) => document.querySelectorAll('.history tbody tr').length === n, n);
  const node = (side, n) => page.locator('.forest').nth(side).locator('.node').nth(n);
  await node(0, 2).click();
  assert.equal(await page.getByLabel('u', { exact: true }).inputValue(), '2');
  await node(1, 5).click();
  await count(1);
  const expected = await ask('/api/replay', { model: 'built-in:dsu', nodes: 8, seed: 3, operations: [[2, 5]] });
  const { truth, model } = expected.steps[0];
  const sure = model.answer === 1 ? model.probability : 1 - model.probability;
  const verdict = await page.locator('.verdict').textContent();
  assert.ok(verdict.includes(`truth ${truth.answer}`) && verdict.includes(`model ${model.answer}`), verdict);
  if (sure < 0.995) assert.ok(verdict.includes(`${Math.round(100 * sure)}% sure`), verdict);
  assert.ok((await page.locator('#live').textContent()).includes('query-union(2, 5)'), 'the answer is announced');
  assert.deepEqual(await told(page, 'Ground truth'), pointers(expected, 1, 'truth'));

  await page.getByLabel('u', { exact: true }).fill('0');
  await page.getByLabel('v', { exact: true }).fill('1');
  await page.keyboard.press('Enter');
  await count(2);
  assert.match(await rows.first().textContent(), /^201/);
  await page.getByLabel('u', { exact: true }).fill('3');
  await page.getByLabel('v', { exact: true }).fill('3');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('alert').getByText('the same node').waitFor();
  await page.getByLabel('v', { exact: true }).fill('8');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('alert').getByText('from 0 to 7').waitFor();
  assert.equal(await rows.count(), 2);

  // Without a mouse.
  await node(1, 6).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await count(3);
  assert.match(await rows.first().textContent(), /^367/);
  await page.keyboard.press('Control+z');
  await count(2);
  await page.getByRole('button', { name: 'Undo' }).click();
  await count(1);
  assert.deepEqual(await told(page, 'Model'), pointers(expected, 1, 'model'));
  await page.getByRole('button', { name: 'Undo' }).click();
  await count(0);
  assert.deepEqual(await told(page, 'Model'), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.ok(await page.getByRole('button', { name: 'Undo' }).isDisabled());

  // Details on request.
  await node(0, 0).click();
  await node(0, 1).click();
  await count(1);
  await page.getByRole('checkbox').check();
  await node(1, 0).click();
  await page.locator('.inspector').getByText('Strongest pointer candidates').waitFor();
  assert.equal(await rows.count(), 1);

  // Another model gets the same operations; another size starts over.
  await page.getByRole('combobox', { name: 'Model' }).selectOption('built-in:lct');
  await page.locator('main').getByText('query-toggle(0, 1)').waitFor();
  await page.getByRole('spinbutton', { name: 'Nodes' }).fill('30');
  await page.getByRole('spinbutton', { name: 'Nodes' }).press('Tab');
  await page.waitForFunction(() => document.querySelectorAll('.forest:first-child .node').length === 30);
  await count(0);
});

test('operations are loaded from CSV and saved; a broken file changes nothing', async (t) => {
  const page = await open(t, '#/playground?model=built-in:lct&nodes=10&seed=0');
  await page.locator('main').getByText('Click two nodes').waitFor();
  const count = (n) => page.waitForFunction((n) => document.querySelectorAll('.history tbody tr').length === n, n);
  const upload = async (name, text) => {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Load CSV' }).click();
    await (await chooser).setFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
  };
  await upload('good.csv', 'u,v\n0,1\n1,2\n# a remark\n2,0\n');
  await count(3);
  for (const [name, text, sentence] of [
    ['range.csv', '0,1\n3,99\n', 'range.csv: line 2: node 99 is out of range'],
    ['words.csv', 'u,v\n1,two\n', 'words.csv: line 2: expected a node'],
    ['binary.csv', '\0\x01\x02', 'binary.csv: no operations'],
    ['empty.csv', '', 'empty.csv: no operations'],
    ['same.csv', '4,4', 'same.csv: line 1: u and v are both 4'],
    ['long.csv', '0,1\n'.repeat(3000), 'at most 2000'],
    ['huge.csv', '0,1\n'.repeat(200_000), 'too large'],
  ]) {
    await upload(name, text);
    await page.getByRole('alert').getByText(sentence).waitFor();
    await count(3);
  }
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save CSV' }).click();
  const text = readFileSync(await (await saved).path(), 'utf8');
  assert.equal(text, '# query-toggle, nodes=10, seed=0\nu,v\n0,1\n1,2\n2,0\n');
  // What was saved brings its own number of nodes along.
  await upload('operations.csv', text.replace('nodes=10, seed=0', 'nodes=40, seed=7'));
  await page.waitForFunction(() => document.querySelectorAll('.forest:first-child .node').length === 40);
  await count(3);
  assert.equal(await page.getByLabel('Seed').inputValue(), '7');
});

test('transitions end where they should, and the dark has its colours', async (t) => {
  const page = await open(t, '#/rollout?model=built-in:dsu&nodes=20', { reducedMotion: 'no-preference', colorScheme: 'dark' });
  await page.locator('.counter').getByText('step 0 of 30').waitFor();
  const places = (page) => page.locator('.forest').nth(1).locator('.node').evaluateAll((all) => all.map((node) => node.getAttribute('transform').match(/[\d.]+/g).map(Number).map(Math.round).join()));
  await page.keyboard.press('End');
  // Until nothing moves from one frame to the next but one.
  await page.waitForFunction(() => {
    const now = [...document.querySelectorAll('.node')].map((node) => node.getAttribute('transform')).join();
    const still = window.before === now;
    window.before = now;
    return still;
  }, null, { polling: 300 });
  const animated = await places(page);
  const still = await open(t, '#/rollout?model=built-in:dsu&nodes=20&step=30');
  await still.getByText('step 30 of 30').waitFor();
  assert.deepEqual(animated, await places(still));
  const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.notEqual(await background(page), await background(still));
});

test('an unknown run and an unknown view are said, not shown blank', async (t) => {
  const page = await open(t, '#/run?id=run:../etc');
  await page.getByRole('alert').getByText('there is no run').waitFor();
  await page.goto(`${base}/#/nonsense`);
  await page.locator('.runs tbody tr').first().waitFor();
});

const VIEWS = [
  ['runs', '#/runs', '.runs tbody tr'],
  ['run', '#/run?id=run:dsu/pgn-0', '.scores'],
  ['rollout-dsu', '#/rollout?model=built-in:dsu&nodes=20&step=17', '.counter'],
  ['rollout-lct', '#/rollout?model=built-in:lct&nodes=20&step=20', '.counter'],
  ['rollout-100', '#/rollout?model=built-in:dsu&nodes=100&step=120', '.counter'],
  ['rollout-chain', '#/rollout?model=built-in:dsu&nodes=20&step=19&source=chain', '.counter'],
  ['playground', '#/playground?model=built-in:dsu&nodes=12&seed=1', '.history'],
];
for (const [width, height] of [[1280, 800], [390, 844]]) {
  test(`nothing is cut off or overlaps at ${width}×${height}`, async (t) => {
    for (const colorScheme of ['light', 'dark']) {
      for (const [name, hash, ready] of VIEWS) {
        const page = await open(t, hash, { viewport: { width, height }, colorScheme });
        await page.locator(ready).first().waitFor();
        if (name.startsWith('rollout')) {
          await page.locator('.forest').nth(1).locator('.node').nth(3).click();
          await page.getByText('Strongest pointer candidates').waitFor();
        }
        if (name === 'playground') {
          for (const [i, [u, v]] of [[0, 1], [2, 3], [1, 3], [5, 7], [0, 2], [9, 5]].entries()) {
            await page.locator('.forest').nth(0).locator('.node').nth(u).click();
            await page.locator('.forest').nth(1).locator('.node').nth(v).click();
            await page.waitForFunction((n) => document.querySelectorAll('.history tbody tr').length === n, i + 1);
          }
        }
        const faults = await page.evaluate(findFaults);
        assert.deepEqual(faults, [], `${name} ${colorScheme}`);
        if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      }
    }
  });
}

/** The report, opened from disk; whatever goes wrong in it, or is loaded besides, fails the test. */
async function openReport(t, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const address = pathToFileURL(join(folder, 'report.html')).href;
  const troubles = [];
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
  page.on('request', (request) => !request.url().startsWith(address) && !request.url().startsWith('data:') && troubles.push(`went to ${request.url()}`));
  await page.goto(address);
  await page.locator('.replay .counter').first().getByText('step 0 of 30').waitFor();
  t.after(async () => {
    await context.close();
    assert.deepEqual(troubles, []);
  });
  return page;
}

test('a report opened from disk: tables, curves, players', async (t) => {
  const page = await openReport(t);
  assert.equal(await page.title(), 'What was learnt', 'no run changed it by its name');
  const names = await page.locator('#runs ~ details > summary').allTextContents();
  assert.ok(names.includes(HOSTILE), 'names are text, whatever is in them');
  await page.getByRole('cell', { name: '0.895 ± 0.006' }).first().waitFor();
  assert.ok(await page.locator('.figure svg[role=img]').count() >= 6);
  assert.ok(await page.locator('[data-curves] .line-0').count() >= 2);

  // A run's own curves are drawn once they are unfolded, and can be read.
  const run = page.locator('#runs ~ details').first();
  assert.equal(await run.locator('.line-0').count(), 0);
  await run.locator('summary').click();
  await run.getByText('epoch 40: total').waitFor();
  assert.match(await run.locator('pre').textContent(), /learning_rate = 0\.005/);

  // The same replay as a server's.
  const replay = await ask('/api/replay', { model: 'built-in:dsu', nodes: 20, seed: await seed('built-in:dsu'), sequence: 0 });
  const player = page.locator('.replay').first();
  const shown = (title) => player.locator('.forest', { has: page.getByRole('heading', { name: title }) }).locator('.node').evaluateAll((nodes) => nodes.map((node, index) => {
    const found = node.getAttribute('aria-label').match(/points to (\d+|itself)/)[1];
    return found === 'itself' ? index : Number(found);
  }));
  const check = async (at) => {
    await player.locator('.counter').getByText(`step ${at} of 30`).waitFor();
    assert.deepEqual(await shown('Ground truth'), pointers(replay, at, 'truth'));
    assert.deepEqual(await shown('Model'), pointers(replay, at, 'model'));
  };
  await player.getByRole('button', { name: 'Play' }).click();
  await player.locator('.counter').getByText('step 2 of 30').waitFor();
  await player.getByRole('button', { name: 'Pause' }).click();
  await scrub(page, player, check);
  // Keys go to the player that has the focus, and to no other.
  await page.keyboard.press('ArrowLeft');
  await check(29);
  assert.match(await page.locator('.replay .counter').nth(1).textContent(), /^step 0 of 11/);
  await player.locator('.forest').nth(1).locator('.node').nth(7).click();
  await player.locator('.inspector').getByText('Node 7', { exact: true }).waitFor();
  assert.match(await player.locator('.inspector').textContent(), /priority.*points to.*Mask: /s);
});

for (const [width, height] of [[1280, 800], [390, 844]]) {
  test(`nothing in a report is cut off or overlaps at ${width}×${height}`, async (t) => {
    for (const colorScheme of ['light', 'dark']) {
      const page = await openReport(t, { viewport: { width, height }, colorScheme });
      const player = page.locator('.replay').first();
      await player.locator('.forest').nth(1).locator('.node').nth(3).click();
      await page.keyboard.press('End');
      await player.locator('.counter').getByText('step 30 of 30').waitFor();
      await page.locator('.replay').nth(1).getByRole('button', { name: 'Step forward' }).click();
      await page.locator('#runs ~ details summary').first().click();
      await page.getByText('epoch 40: total').first().waitFor();
      assert.deepEqual(await page.evaluate(findFaults), [], colorScheme);
      if (SHOTS) await page.screenshot({ path: join(SHOTS, `report-${width}-${colorScheme}.png`), fullPage: true });
    }
  });
}

/** Looks for what sticks out of the page, text that is cut, and controls or nodes on top of each other. */
function findFaults() {
  const faults = [];
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) faults.push(`the page is ${wide} pixels too wide`);
  const seen = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest('.unseen, .skip');
  const name = (element) => `${element.tagName}.${element.getAttribute('class') ?? ''} ${element.textContent.slice(0, 30)}`;
  for (const element of document.querySelectorAll('main *, header *')) {
    if (!seen(element) || element.closest('svg, option') || element.matches('select, input')) continue;
    const style = getComputedStyle(element);
    if (style.overflowX !== 'auto' && style.overflowX !== 'scroll' && style.display !== 'inline' && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0) faults.push(`cut off: ${name(element)}`);
  }
  const boxes = (selector) => [...document.querySelectorAll(selector)].filter(seen).map((element) => [element, element.getBoundingClientRect()]);
  const apart = (all) => all.forEach(([a, x], i) => all.slice(i + 1).forEach(([b, y]) => {
    if (a.contains(b) || b.contains(a)) return;
    const [across, down] = [Math.min(x.right, y.right) - Math.max(x.left, y.left), Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top)];
    if (across > 1 && down > 1) faults.push(`overlap: ${name(a)} and ${name(b)}`);
  }));
  apart(boxes('main button, main input, main select, main h1, main h2, main h3, main p, main a, .canvas, .legend li, .strip'));
  for (const svg of document.querySelectorAll('.canvas svg')) {
    const circles = [...svg.querySelectorAll('.body')].map((circle) => circle.getBoundingClientRect());
    const frame = svg.getBoundingClientRect();
    if (svg.parentElement.scrollWidth > svg.parentElement.clientWidth) faults.push('a forest must be scrolled sideways');
    circles.forEach((a, i) => {
      if (a.left < frame.left || a.top < frame.top || a.right > frame.right || a.bottom > frame.bottom) faults.push(`node ${i} sticks out`);
      circles.slice(i + 1).forEach((b, j) => {
        if (Math.hypot(a.x - b.x, a.y - b.y) < a.width) faults.push(`nodes ${i} and ${i + 1 + j} overlap`);
      });
    });
  }
  return faults;
}

test('a server that went away is said', async (t) => {
  const other = spawn(PGN, ['serve', folder, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => other.kill('SIGKILL'));
  const address = await new Promise((resolve) => other.stdout.once('data', (data) => resolve(String(data).match(/http:\S+/)[0])));
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(`${address}#/playground?model=built-in:dsu&nodes=8`);
  await page.locator('main').getByText('Click two nodes').waitFor();
  const gone = new Promise((resolve) => other.on('exit', resolve));
  other.kill('SIGTERM');
  assert.equal(await gone, 0);
  await page.locator('.node').nth(0).click();
  await page.locator('.node').nth(1).click();
  await page.getByRole('alert').getByText('The server does not answer').waitFor();
});

assert.ok(PGN && existsSync(PGN), 'PGN names the program');
