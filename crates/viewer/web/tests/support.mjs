// What the browser tests share: a folder of runs, a real `pgn serve` on it, a real browser.
//   PGN       the program to test
//   PAGE      the folder of the page without a server
//   CHROMIUM  the browser
//   SHOTS     a folder for screenshots, if any are wanted
//   ASSETS    a folder whose page is used instead of the one built into the program, to try a
//             change to the page without building the program again
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { chromium } from 'playwright-core';

export const viewer = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const { PGN, PAGE, CHROMIUM, SHOTS, ASSETS } = process.env;
export const HOSTILE = '<img src=x onerror=document.title=666>';
export const SIZES = [[1920, 1080], [1280, 800], [390, 844]];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

assert.ok(PGN && existsSync(PGN), 'PGN names the program');

/** A line of metrics.jsonl. */
export const line = (epoch, change = {}) => `${JSON.stringify({
  epoch,
  learning_rate: 0.005,
  losses: { query: 0.7 / epoch, pointers: 1 / epoch, masks: 0.5 / epoch, dgm: 0, total: 2.2 / epoch },
  validation: { f1: 1 - 0.5 / epoch, precision: 0.5, recall: 0.5, accuracy: 1 - 0.4 / epoch, sequences_right: 0, pointer_accuracy: 0.7, mask_accuracy: 0.9, answers_1: 0.5, f1_always_1: 0.5, f1_always_0: 0, ...change },
})}\n`;

/** The results of a built-in model without checksums, so that tests can change its other files. */
export const editableResults = (task) => readFileSync(join(viewer, 'models', task, 'results.json'), 'utf8')
  .replace(/,\n  "files": \{[^}]*\}/, '').replace(/,\n  "crc32c": "[0-9a-f]+"/, '');

/** A finished run in `folder`, a copy of a built-in model. */
export function copyRun(folder, name, task, epochs = 40) {
  const run = join(folder, name);
  mkdirSync(run, { recursive: true });
  for (const file of ['config.toml', 'model.safetensors']) cpSync(join(viewer, 'models', task, file), join(run, file));
  writeFileSync(join(run, 'results.json'), editableResults(task));
  writeFileSync(join(run, 'metrics.jsonl'), Array.from({ length: epochs }, (_, i) => line(i + 1)).join(''));
  return run;
}

/** A finished run of another disjoint-set union, with the weights of the built-in one. */
export function copyUnion(folder, name, task) {
  const run = copyRun(folder, name, 'dsu');
  for (const [file, from, to] of [['config.toml', 'task = "dsu"', `task = "${task}"`], ['results.json', '"task": "dsu"', `"task": "${task}"`]]) {
    const path = join(run, file);
    const text = readFileSync(path, 'utf8');
    assert.ok(text.includes(from), file);
    writeFileSync(path, text.replace(from, to));
  }
  return run;
}

/** Servers that were not stopped, because a test failed before: they would keep this process alive. */
const running = new Set();

/** `pgn serve` on a folder; resolves to its address and how to stop it. */
export async function serve(folder, port = 0) {
  const server = spawn(PGN, ['serve', folder, '--port', String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(server);
  const exited = new Promise((resolve) => server.on('exit', (code) => {
    running.delete(server);
    resolve(code);
  }));
  const base = await new Promise((resolve, reject) => {
    let text = '';
    server.stdout.on('data', (data) => {
      text += data;
      const found = text.match(/http:\S+/);
      if (found) resolve(found[0].replace(/\/$/, ''));
    });
    server.on('exit', () => reject(new Error('pgn serve ended at once')));
  });
  const stop = (signal = 'SIGINT') => {
    server.kill(signal);
    return exited;
  };
  return { base, stop };
}

/** A plain file server. */
export async function serveFiles(folder) {
  const kinds = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', wasm: 'application/wasm', json: 'application/json', txt: 'text/plain' };
  const server = createServer((request, response) => {
    const name = new URL(request.url, 'http://host').pathname.replace(/\/$/, '/index.html');
    const path = join(folder, name);
    if (request.method !== 'GET' || !existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': kinds[name.split('.').pop()] }).end(readFileSync(path));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { base: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

/** A browser, and a server on a folder that `fill` has filled, for all tests of a file. */
export function suite(fill) {
  const all = { folder: mkdtempSync(join(tmpdir(), 'pgn-browser-')), base: '', browser: null, stop: null };
  before(async () => {
    await fill?.(all.folder);
    Object.assign(all, await serve(all.folder));
    all.browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--font-render-hinting=none'],
    });
  });
  after(async () => {
    await all.browser?.close();
    const code = await all.stop?.();
    for (const server of running) server.kill('SIGKILL');
    assert.equal(code, 0, 'Ctrl-C ends the program cleanly');
    rmSync(all.folder, { recursive: true });
  });

  /** A page at `hash`; whatever goes wrong in it, or leaves the machine, fails the test. */
  all.open = async (t, hash, options = {}) => {
    const { base = all.base, slow = 0, ...rest } = options;
    const context = await all.browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', acceptDownloads: true, ...rest });
    const page = await context.newPage();
    const troubles = [];
    page.on('pageerror', (error) => troubles.push(String(error)));
    // A refused request, or a server that is gone, is what some tests are about; the browser logs those on its own account.
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 4\d\d|ERR_CONNECTION_(REFUSED|RESET|CLOSED)|ERR_EMPTY_RESPONSE/.test(message.text())) troubles.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(base) && !/^(blob|data):/.test(request.url())) troubles.push(`went to ${request.url()}`);
    });
    page.setDefaultTimeout(30_000);
    if (ASSETS && base === all.base) {
      for (const name of ['page.js', 'page.css', 'benchmark.json']) await page.route(`**/${name}`, (route) => route.fulfill({ path: join(ASSETS, name) }));
      await page.route(`${base}/`, (route) => route.fulfill({ path: join(ASSETS, 'index.html') }));
    }
    if (slow) await delay(page, '**/api/**', slow);
    await page.goto(`${base}/${hash}`);
    t.after(async () => {
      await context.close();
      assert.deepEqual(troubles, []);
    });
    return page;
  };
  all.ask = async (path, body) => {
    const response = await fetch(all.base + path, body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    return response.json();
  };
  all.seed = async (id) => (await all.ask('/api/runs')).find((run) => run.id === id).seed;
  return all;
}

/** Delays every answer to a request that matches. */
export async function delay(page, pattern, milliseconds) {
  await page.route(pattern, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    await route.continue();
  });
}

/** Holds every answer to a request that matches until what it returns is called. */
export async function held(page, pattern) {
  let release;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  await page.route(pattern, async (route) => {
    await released;
    await route.continue().catch(() => {});
  });
  return release;
}

/** Waits until `find` finds what is expected: much of the page is drawn again once a reply is there, or its room is known. */
export async function eventually(find, expected, message) {
  for (const end = Date.now() + 20_000; ;) {
    const found = await find();
    if (isDeepStrictEqual(found, expected)) return;
    if (Date.now() > end) assert.deepEqual(found, expected, message);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Where an element is, once it is there and stays where it is. */
export async function box(locator) {
  let found = null;
  await eventually(async () => {
    const before = found;
    found = await locator.boundingBox();
    return found !== null && isDeepStrictEqual(before, found);
  }, true);
  return found;
}

/** Pointers after `step` operations, from the API, on one side. */
export function pointers(replay, step, side) {
  const all = Array.from({ length: replay.nodes }, (_, node) => node);
  for (const one of replay.steps.slice(0, step)) for (const [node, to] of one[side].moved) all[node] = to;
  return all;
}

/** Pointers as the page tells them to a screen reader. */
export const told = (page, title) => page.locator('.forest', { has: page.getByRole('heading', { name: title }) }).locator('.node').evaluateAll((nodes) => nodes.map((node, index) => {
  const found = node.getAttribute('aria-label').match(/points to (\d+|itself)/)[1];
  return found === 'itself' ? index : Number(found);
}));

export const step = (page) => page.locator('.player .counter').first().textContent().then((text) => Number(text.match(/step (\d+)/)[1]));
export const atStep = (page, text) => page.locator('.player .counter').first().getByText(text, { exact: true }).waitFor();

/** Clicks the middle of a player's slider and drags it to the end; `check` looks at the step shown. */
export async function scrub(page, player, check) {
  const slider = player.getByRole('slider');
  await slider.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await box(slider);
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
}

/** What axe, a checker of accessibility, finds on the page. */
export async function findBarriers(page) {
  // The page's own rules forbid scripts in it; the browser's debugger may run them.
  await page.evaluate(readFileSync(AXE, 'utf8'));
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.target.join(' ')).join(' | ')}`);
}

/** Looks for what sticks out of the page, text that is cut, and controls or nodes on top of each other. */
export function findFaults() {
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
  apart(boxes('main button, main input, main select, main h1, main h2, main h3, main p, main a:not(p a:not(.button)), .canvas, .legend li, .strip'));
  for (const svg of document.querySelectorAll('.canvas svg')) {
    const circles = [...svg.querySelectorAll('.body')].filter((circle) => circle.checkVisibility({ visibilityProperty: true })).map((circle) => circle.getBoundingClientRect());
    const frame = svg.getBoundingClientRect();
    if (!svg.checkVisibility()) continue;
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

/** Waits for the page's title to begin with `text`; it may depend on a reply. */
export const titled = (page, text) => page.waitForFunction((text) => document.title.startsWith(text), text);
