// The player on test sequences and chains.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { atStep, box, copyRun, copyUnion, delay, eventually, pointers, scrub, step, suite, told, viewer } from '../support.mjs';

const s = suite((folder) => {
  copyRun(folder, 'dsu/pgn-0', 'dsu');
  for (const task of ['dsu-by-size', 'dsu-by-rank', 'kruskal']) copyUnion(folder, task, task);
});

test('the player plays, pauses, scrubs and steps', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=0');
  await atStep(page, 'step 0 of 30');
  await page.getByRole('button', { name: 'Play' }).click();
  await atStep(page, 'step 2 of 30');
  await page.getByRole('button', { name: 'Pause' }).click();
  assert.equal(await page.getByRole('button', { name: 'Play' }).getAttribute('aria-pressed'), null, 'the label changes, so nothing is pressed');
  const paused = await step(page);
  assert.ok(paused >= 2);

  const replay = await s.ask('/api/replay', { model: 'built-in:dsu', nodes: 20, seed: await s.seed('built-in:dsu'), sequence: 0 });
  const check = async (at) => {
    await atStep(page, `step ${at} of 30`);
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

test('speed: four times as fast takes a quarter of the time', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=0');
  await atStep(page, 'step 0 of 30');
  await page.getByRole('combobox', { name: 'Speed' }).selectOption('4');
  // The page's clock is ours: nothing depends on how busy the machine is.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.getByRole('button', { name: 'Play' }).click();
  await atStep(page, 'step 1 of 30');
  await page.clock.runFor(8 * 225 + 10);
  await atStep(page, 'step 9 of 30');
});

test('operands, masks, changed and wrong pointers are marked', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:lct&nodes=20&step=12');
  await page.getByRole('heading', { name: 'Ground truth: the auxiliary forest' }).waitFor();
  await atStep(page, 'step 12 of 30');
  const replay = await s.ask('/api/replay', { model: 'built-in:lct', nodes: 20, seed: await s.seed('built-in:lct'), sequence: 0 });
  const { u, v, truth, model } = replay.steps[11];
  const marked = (title, part, mark) => page.locator('.forest', { has: page.getByRole('heading', { name: title }) }).locator(part)
    .evaluateAll((all, mark) => all.flatMap((one, index) => (one.classList.contains(mark) ? [index] : [])), mark);
  const sorted = (numbers) => numbers.toSorted((a, b) => a - b);
  for (const [title, side] of [['Ground truth', truth], ['Model', model]]) {
    assert.deepEqual(await marked(title, 'g.node', 'operated'), sorted([u, v]));
    assert.deepEqual(await marked(title, 'g.node', 'visited'), sorted(side.visited));
    assert.deepEqual(await marked(title, 'g.edge', 'moved'), sorted(side.moved.map(([node]) => node)));
  }
  const right = pointers(replay, 12, 'truth');
  const wrong = pointers(replay, 12, 'model').flatMap((to, node) => (to === right[node] ? [] : [node]));
  assert.ok(wrong.length > 0, 'there is something wrong to be shown');
  assert.deepEqual(await marked('Model', 'g.edge', 'wrong'), wrong);
  assert.deepEqual(await marked('Ground truth', 'g.edge', 'wrong'), []);
  assert.match(await page.locator('.validity').textContent(), new RegExp(`^${20 - wrong.length} of 20 pointers are right; `));
  // Accuracy by step is below the slider.
  assert.deepEqual(await page.locator('.accuracy-row').evaluateAll((all) => all.map((one) => one.title.split(':')[0])), ['pointers right', 'masks right']);
});

test('a node tells its mask and its candidates, by mouse and by keyboard', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=10');
  await atStep(page, 'step 10 of 30');
  const model = page.locator('.forest').nth(1);
  await model.locator('.node').nth(7).click();
  const inspector = page.locator('.inspector');
  await inspector.getByText('Pointer candidates').waitFor();
  const replay = { model: 'built-in:dsu', nodes: 20, seed: await s.seed('built-in:dsu'), sequence: 0 };
  const { alpha: [alpha] } = await s.ask('/api/step', { replay, step: 10, node: 7 });
  const best = alpha.map((value, node) => [value, node]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, 5);
  const shown = (await inspector.locator('tbody th').allTextContents()).map((text) => Number.parseInt(text));
  assert.deepEqual(shown, best.map(([, node]) => node));
  assert.equal(shown.length, 5);
  assert.match(await inspector.textContent(), /P\(visited\)/);

  // The details follow the steps.
  const first = await inspector.textContent();
  const changed = page.waitForResponse('**/api/step');
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

test('probabilities do not saturate', async (t) => {
  // A model that was trained for all 5,000 epochs is surer than the built-in ones.
  cpSync(join(viewer, '../../results/paper/dsu/pgn-unweighted/seed-0'), join(s.folder, 'sure'), { recursive: true });
  t.after(() => rmSync(join(s.folder, 'sure'), { recursive: true }));
  const replay = await s.ask('/api/replay', { model: 'run:sure', nodes: 20, seed: 0, sequence: 0 });
  const at = 1 + replay.steps.findIndex(({ model }) => Math.abs(model.logit) > 18);
  assert.ok(at > 0, 'there is an answer with a probability that is 1 in 32 bits');
  const page = await s.open(t, `#/rollout?model=run:sure&nodes=20&step=${at}`);
  await atStep(page, `step ${at} of 30`);
  const text = await page.locator('.replay .verdict').textContent();
  assert.match(text, /p = 1 − \d·10⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+\)/);
  assert.doesNotMatch(text, /100%|sure/);
});

test('mistakes are found, forwards and backwards', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:lct&nodes=20&step=0');
  await atStep(page, 'step 0 of 30');
  const replay = await s.ask('/api/replay', { model: 'built-in:lct', nodes: 20, seed: await s.seed('built-in:lct'), sequence: 0 });
  const wrong = replay.steps.flatMap(({ truth, model }, index) => (truth.answer === model.answer ? [] : [index + 1]));
  assert.ok(wrong.length > 1);
  for (const at of wrong) {
    await page.getByRole('button', { name: 'Next mistake' }).click();
    await atStep(page, `step ${at} of 30`);
    assert.match(await page.locator('.replay .verdict').textContent(), /✗ wrong/);
  }
  await page.keyboard.press('m');
  const none = page.locator('main').getByText(`No wrong answer after step ${wrong.at(-1)}`);
  await none.waitFor();
  assert.equal(await page.locator('.strip .bad').count(), wrong.length);
  await page.keyboard.press('Shift+M');
  await atStep(page, `step ${wrong.at(-2)} of 30`);
  assert.equal(await none.count(), 0, 'what was said of another step is gone');
});

test('a rollout opens at the first mistake', async (t) => {
  for (const [model, sequence] of [['lct', 3], ['machine-lct', 0]]) {
    const { steps } = await s.ask('/api/replay', { model: `built-in:${model}`, nodes: 20, seed: 0, sequence });
    const first = steps.findIndex(({ truth, model }) => truth.answer !== model.answer) + 1;
    const page = await s.open(t, `#/rollout?model=built-in:${model}&nodes=20&sequence=${sequence}`);
    await atStep(page, `step ${first || 30} of 30`);
  }
});

test('the pathological chain of the paper', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=10&source=chain&step=9');
  await atStep(page, 'step 9 of 9');
  assert.deepEqual(await told(page, 'Ground truth'), [1, 2, 3, 4, 5, 6, 7, 8, 9, 9]);
  assert.match(await page.getByRole('heading', { name: 'Ground truth' }).textContent(), /1 tree, depth 9/);
});

test('the limits of the fields are the real ones, and an error leaves nothing running', async (t) => {
  for (const [source, most] of [['test', 365], ['chain', 447]]) {
    const page = await s.open(t, `#/rollout?model=built-in:dsu&nodes=20&step=0&source=${source}`);
    await page.locator('.counter').first().waitFor();
    const nodes = page.getByRole('spinbutton', { name: 'Nodes' });
    assert.equal(await nodes.getAttribute('max'), String(most));
    // The page's clock is ours: what still played would be seen at once.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.getByRole('button', { name: 'Play' }).click();
    const address = () => page.evaluate(() => location.hash);
    const before = await address();
    await nodes.fill(String(most + 1));
    await nodes.press('Tab');
    await page.getByRole('alert').getByText(`Nodes is ${most + 1}; expected a whole number from 2 to ${most}`).waitFor();
    assert.ok(await page.locator('.player').isHidden());
    await page.clock.runFor(5000);
    assert.equal(await address(), before);
    await page.clock.resume();
    // The very limit works.
    await nodes.fill(String(most));
    await nodes.press('Tab');
    await page.locator('.player').waitFor();
    await page.waitForFunction((n) => document.querySelectorAll('.forest:first-child .node').length === n, most);
    assert.equal(await page.getByRole('alert').count(), 0);
    await page.reload();
    await page.waitForFunction((n) => document.querySelectorAll('.forest:first-child .node').length === n, most);
  }
});

test('a model that is not there is said, and no other is shown in its place', async (t) => {
  const page = await s.open(t, '#/rollout?model=run:gone&nodes=20');
  await page.getByRole('alert').getByText('There is no trained model run:gone').waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'Model' }).inputValue(), 'run:gone');
  assert.ok(await page.locator('.player').isHidden());
  await page.getByRole('combobox', { name: 'Model' }).selectOption('built-in:lct');
  await page.locator('.player .counter').first().getByText(/of 30$/).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  const playground = await s.open(t, '#/playground?model=run:gone');
  await playground.getByRole('alert').getByText('There is no trained model run:gone').waitFor();
});

test('a late answer does not replace a newer one', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=0');
  await atStep(page, 'step 0 of 30');
  const of = (nodes) => (request) => request.url().endsWith('/api/replay') && request.postDataJSON().nodes === nodes;
  let release;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  await page.route('**/api/replay', async (route) => {
    if (of(40)(route.request())) await released;
    await route.continue();
  });
  const late = page.waitForResponse((response) => of(40)(response.request()));
  const nodes = page.getByRole('spinbutton', { name: 'Nodes' });
  await nodes.fill('40');
  await nodes.press('Tab');
  await nodes.fill('30');
  await nodes.press('Tab');
  await page.waitForFunction(() => document.querySelectorAll('.forest:first-child .node').length === 30);
  release();
  await (await late).finished();
  // The page has it two frames later.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  assert.equal(await page.locator('.forest').first().locator('.node').count(), 30);
});

test('at n = 200 both operands are in the picture at every step, and labels can be read', async (t) => {
  for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
    const page = await s.open(t, '#/rollout?model=built-in:lct&nodes=200&step=0', { viewport });
    await atStep(page, 'step 0 of 300');
    const faults = [];
    for (let at = 1; at <= 300; at += 7) {
      await page.locator('.scrubber').first().evaluate((slider, at) => {
        slider.value = at;
        slider.dispatchEvent(new Event('input'));
      }, at);
      faults.push(...await page.evaluate((at) => [...document.querySelectorAll('.forests .canvas')].flatMap((canvas, index) => {
        const room = canvas.getBoundingClientRect();
        const outside = [...canvas.querySelectorAll('.operated .body')].filter((body) => {
          const box = body.getBoundingClientRect();
          return box.left < room.left - 1 || box.right > room.right + 1 || box.top < room.top - 1 || box.bottom > room.bottom + 1;
        });
        const small = [...canvas.querySelectorAll('text')].filter((text) => text.textContent && text.textContent !== '×' && Number(text.getAttribute('font-size')) < 9);
        return [...outside.map(() => `step ${at}, picture ${index}: an operand is outside`), ...small.slice(0, 1).map(() => `step ${at}: small label`)];
      }), at));
    }
    assert.deepEqual(faults, []);
  }
});

test('pictures are zoomed, fitted, dragged and scrolled together; roots are at equal heights', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=100&step=100');
  await atStep(page, 'step 100 of 150');
  const tops = () => page.locator('.forests .canvas').evaluateAll((all) => all.map((canvas) => Math.round(Math.min(...[...canvas.querySelectorAll('.body')].map((body) => body.getBoundingClientRect().top)) - canvas.getBoundingClientRect().top + canvas.scrollTop)));
  const [truth, model] = await tops();
  assert.equal(truth, model);
  await page.getByLabel('Follow u and v').uncheck();
  const radius = async () => Number(await page.locator('.forests .canvas .body').first().getAttribute('r'));
  const before = await radius();
  for (let i = 0; i < 3; i++) await page.getByRole('button', { name: 'Zoom in' }).click();
  assert.ok(await radius() > 1.5 * before);
  const scrolled = () => page.locator('.forests .canvas').evaluateAll((all) => all.map(({ scrollLeft, scrollTop }) => [scrollLeft, scrollTop]));
  await page.locator('.forests .canvas').first().evaluate((canvas) => canvas.scrollTo(0, 0));
  await eventually(scrolled, [[0, 0], [0, 0]]);
  const { x, y } = await box(page.locator('.forests .canvas').first());
  await page.locator('.forests .canvas').first().evaluate((canvas) => canvas.scrollBy(30, 50));
  await eventually(scrolled, [[30, 50], [30, 50]]);
  // Where there is no node under the mouse.
  const free = await page.evaluate(([x, y]) => Array.from({ length: 50 }, (_, i) => y + 60 + 5 * i).find((y) => !document.elementFromPoint(x, y).closest('.node')), [x + 3, y]);
  await page.mouse.move(x + 3, free);
  await page.mouse.down();
  await page.mouse.move(x + 3, free - 20, { steps: 2 });
  await page.mouse.up();
  await eventually(async () => (await scrolled()).map(([, top]) => top), [70, 70]);
  await page.getByRole('button', { name: 'Fit' }).click();
  const inside = await page.locator('.forests .canvas').evaluateAll((all) => all.every((canvas) => canvas.scrollHeight <= canvas.clientHeight + 1 && canvas.scrollWidth <= canvas.clientWidth + 1));
  assert.ok(inside, 'everything is in the picture');
});

test('pictures are saved as SVG that needs no style sheet, and as PNG', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=17');
  await atStep(page, 'step 17 of 30');
  const saved = page.waitForEvent('download');
  await page.locator('.stage-tools').getByRole('button', { name: 'SVG' }).click();
  const text = readFileSync(await (await saved).path(), 'utf8');
  // Parsed in the page, its styles would violate the content security policy.
  const bodies = text.match(/<circle[^>]*>/g).filter((circle) => /class="[^"]*\bbody\b/.test(circle));
  assert.match(text, /^<svg /);
  assert.deepEqual([bodies.length, bodies.every((circle) => /style="[^"]*fill: ?rgb/.test(circle))], [40, true]);
  const png = page.waitForEvent('download');
  await page.locator('.stage-tools').getByRole('button', { name: 'PNG' }).click();
  const download = await png;
  assert.equal(download.suggestedFilename(), 'step-17.png');
  const bytes = readFileSync(await download.path());
  const canvas = await box(page.locator('.forests .canvas svg').first());
  assert.equal(bytes.toString('latin1', 1, 4), 'PNG');
  assert.ok(bytes.readUInt32BE(16) > 3.9 * canvas.width && bytes.length > 20_000, 'two pictures, twice as large, with something in them');
});

test('few nodes are drawn large', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=8&step=5', { viewport: { width: 1920, height: 1080 } });
  await atStep(page, 'step 5 of 12');
  assert.ok(Number(await page.locator('.forests .canvas .body').first().getAttribute('r')) > 25);
});

test('two models on one sequence, and the step stays when one is exchanged', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=12');
  await atStep(page, 'step 12 of 30');
  await page.getByRole('combobox', { name: 'Compare with' }).selectOption('run:dsu/pgn-0');
  await page.waitForFunction(() => document.querySelectorAll('.forests .forest').length === 3);
  await atStep(page, 'step 12 of 30');
  assert.equal((await page.locator('.replay .verdict').textContent()).match(/✓ right|✗ wrong/g).length, 2);
  const heights = await page.locator('.forests .canvas').evaluateAll((all) => all.map((canvas) => canvas.getBoundingClientRect().top));
  assert.equal(new Set(heights).size, 1, 'pictures are in line');
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('.forests .forest').length === 3);
  await atStep(page, 'step 12 of 30');
  await page.getByRole('combobox', { name: 'Model' }).selectOption('built-in:lct');
  await page.waitForFunction(() => document.querySelectorAll('.forests .forest').length === 2);
  await atStep(page, 'step 12 of 30');
  assert.match(await page.locator('.replay .verdict').textContent(), /query-toggle/);
});

test('test sequences are listed by errors, first error and depth', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:lct&nodes=20&sequence=3&step=0');
  await atStep(page, 'step 0 of 30');
  await page.getByText('All test sequences of this model').click();
  const rows = page.locator('.sequences tbody tr');
  await rows.nth(34).waitFor();
  const column = (index) => page.locator(`.sequences td:nth-child(${index})`).allTextContents();
  const errors = (await column(2)).map(Number);
  assert.deepEqual(errors, errors.toSorted((a, b) => b - a));
  // The numbers are those of the replay.
  const worst = Number((await column(1))[0].match(/\d+/)[0]);
  const replay = await s.ask('/api/replay', { model: 'built-in:lct', nodes: 20, seed: 0, sequence: worst });
  const wrong = replay.steps.flatMap(({ truth, model }, index) => (truth.answer === model.answer ? [] : [index + 1]));
  assert.deepEqual([errors[0], Number((await column(3))[0])], [wrong.length, wrong[0]]);
  await page.locator('.sequences').getByRole('button', { name: 'greatest depth' }).click();
  const depths = (await column(4)).map(Number);
  assert.deepEqual(depths, depths.toSorted((a, b) => b - a));
  const deepest = (await column(1))[0].match(/\d+/)[0];
  await rows.first().getByRole('button').click();
  await eventually(() => page.getByRole('spinbutton', { name: 'Sequence' }).inputValue(), deepest);
  await eventually(() => page.locator('.sequences .here td').first().textContent().then((text) => text.match(/\d+/)[0]), deepest);
});

test('α of all nodes, and nodes coloured by P(visited)', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=10');
  await atStep(page, 'step 10 of 30');
  await page.getByText('Attention α of all nodes').click();
  await page.locator('.heat-box').getByText(/rows have an α above/).waitFor();
  assert.equal(await page.locator('.heat-map').evaluate((canvas) => canvas.width), 20);
  const replay = { model: 'built-in:dsu', nodes: 20, seed: 0, sequence: 0 };
  const details = await s.ask('/api/step', { replay, step: 10 });
  assert.equal(details.alpha.length, 20);
  for (const row of details.alpha) assert.ok(Math.abs(row.reduce((sum, value) => sum + value, 0) - 1) < 1e-3);
  await page.getByLabel('Colour by P(visited)').check();
  const model = page.locator('.forest').nth(1);
  await model.locator('g.node.heat').first().waitFor();
  const shown = (await model.locator('circle.heat').evaluateAll((all) => all.map((one) => Number(one.getAttribute('opacity')))));
  details.mask_logits.forEach((logit, node) => assert.ok(Math.abs(shown[node] - 1 / (1 + Math.exp(logit))) < 2e-3, `node ${node}`));
});

test('a model without pointers is drawn as nodes, not as trees', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=5');
  await atStep(page, 'step 5 of 30');
  // The server has no such model: its answer is made to look like one.
  await page.route('**/api/replay', async (route) => {
    const response = await route.fetch();
    const replay = await response.json();
    Object.assign(replay, { pointers: 'none', has_masks: false, has_attention: false });
    for (const one of replay.steps) Object.assign(one.model, { moved: [], visited: null });
    await route.fulfill({ response, json: replay });
  });
  await page.reload();
  await atStep(page, 'step 5 of 30');
  const model = page.locator('.forest').nth(1);
  assert.match(await model.getByRole('heading').textContent(), /20 nodes, no pointers/);
  assert.match(await model.textContent(), /neither pointers nor masks/);
  assert.equal(await model.locator('g.node.root').count(), 0);
  assert.match(await page.locator('.validity').textContent(), /no pointers to compare/);
  const places = (index) => page.locator('.forest').nth(index).locator('g.node').evaluateAll((all) => all.map((node) => node.getAttribute('transform')));
  assert.deepEqual(await places(1), await places(0), 'nodes are where the truth has them');
});

test('two models are presented on one screen, and labels do not cover the strips', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&with=built-in:dsu-free&nodes=20&step=20', { viewport: { width: 1280, height: 800 } });
  await atStep(page, 'step 20 of 30');
  const covered = await page.evaluate(() => [...document.querySelectorAll('.under small')].some((label) => [...document.querySelectorAll('.accuracy-row, .strip')].some((row) => {
    const [a, b] = [label.getBoundingClientRect(), row.getBoundingClientRect()];
    return a.top < b.bottom - 1 && b.top < a.bottom - 1;
  })));
  assert.ok(!covered);
  await page.keyboard.press('f');
  await page.locator('header').waitFor({ state: 'hidden' });
  await page.waitForFunction(() => document.documentElement.scrollHeight <= innerHeight);
  assert.ok((await box(page.locator('.forests .canvas').nth(2))).height > 300);
});

test('presentation mode shows the forests and little else; keys are shown on demand', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=5');
  await atStep(page, 'step 5 of 30');
  const height = async () => (await box(page.locator('.forests .canvas').first())).height;
  const before = await height();
  await page.keyboard.press('f');
  await page.locator('header').waitFor({ state: 'hidden' });
  assert.ok(await height() > before);
  assert.ok(await page.getByRole('combobox', { name: 'Model' }).isHidden());
  await page.waitForFunction(() => document.documentElement.scrollHeight <= innerHeight);
  await page.keyboard.press('ArrowRight');
  await atStep(page, 'step 6 of 30');
  await page.keyboard.press('Escape');
  await page.locator('header').waitFor();
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keys' });
  await dialog.waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'hidden' });
});

test('transitions end where they should, and the dark has its colours', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=0', { reducedMotion: 'no-preference', colorScheme: 'dark' });
  await atStep(page, 'step 0 of 30');
  const places = (page) => page.locator('.forest').nth(1).locator('.node').evaluateAll((all) => all.map((node) => node.getAttribute('transform').match(/[\d.]+/g).map(Number).map(Math.round).join()));
  await page.keyboard.press('End');
  const still = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=30');
  await atStep(still, 'step 30 of 30');
  await eventually(() => places(page), await places(still));
  const lines = (page) => page.locator('.forest').nth(1).locator('.edge path').evaluateAll((all) => all.map((path) => path.getAttribute('d').match(/-?[\d.]+/g).map(Number).join()));
  await eventually(() => lines(page), await lines(still));
  const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.notEqual(await background(page), await background(still));
});

test('a run that is training can be rolled out with its best model so far', async (t) => {
  const run = copyRun(s.folder, 'under-way', 'dsu');
  t.after(() => rmSync(run, { recursive: true }));
  rmSync(join(run, 'results.json'));
  const page = await s.open(t, '#/run?id=run:under-way');
  await delay(page, '**/api/replay', 50);
  await page.locator('main').getByRole('link', { name: 'Rollout' }).click();
  await page.locator('.player .counter').first().getByText(/of 30$/).waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'Model' }).inputValue(), 'run:under-way');
});

test('a machine is rolled out without a mistake, and its own micro-steps are shown', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:machine-lct&nodes=50&step=40');
  await atStep(page, 'step 40 of 75');
  assert.equal(await page.locator('.strip .bad').count(), 0);
  assert.match(await page.locator('.validity').textContent(), /all pointers are right; ✓ connected components are right/);
  await page.locator('.stage .forest').nth(1).locator('.node').nth(7).click();
  await page.locator('.inspector').getByText('no attention over all nodes').waitFor();
  await page.getByText('Inside this operation').click();
  await page.getByText('These micro-steps are the network’s own').waitFor();
  await page.getByText('micro-step 0 of').waitFor();
  // The marked line can be seen.
  const seen = () => page.locator('.inside .code').evaluate((list) => {
    const [here, box] = [list.querySelector('.here').getBoundingClientRect(), list.getBoundingClientRect()];
    return here.top >= box.top - 1 && here.bottom <= box.bottom + 1;
  });
  assert.ok(await seen());
  for (let at = 1; at <= 8; at++) {
    await page.getByRole('button', { name: 'Micro-step forward' }).click();
    await page.getByText(`micro-step ${at} of`).waitFor();
    assert.ok(await seen(), `micro-step ${at}`);
  }
  // A machine does not hedge: no probability is made up.
  assert.match(await page.locator('.replay > div > .verdict').textContent(), /model: [^()]* \([01]\) ✓ right/);
  assert.equal(await page.getByText('Colour by P(visited)').isVisible(), false);
  assert.match(await page.locator('.inspector').textContent(), /visited(yes|no)/);
  const card = await s.open(t, '#/run?id=built-in:machine-lct');
  await card.getByRole('region', { name: 'Model card' }).getByText('✓ certified').waitFor();
});

test('pseudo-code for every structure that comes along', async (t) => {
  for (const [model, expected] of [['built-in:forest', 'evert(u)'], ['built-in:machine-forest', 'evert(u)'], ['built-in:dsu-ordered', 'pointer(x) ← y'], ['run:dsu-by-size', 'size(x) < size(y)'], ['run:dsu-by-rank', 'rank(x) < rank(y)'], ['run:kruskal', 'the lightest first']]) {
    const page = await s.open(t, `#/rollout?model=${model}&nodes=20&step=14`);
    await atStep(page, 'step 14 of 30');
    await page.getByText('Inside this operation').click();
    const inside = page.locator('.inside .micro');
    await inside.locator('.code').getByText(expected).first().waitFor();
    const steps = Number((await inside.locator('.counter').textContent()).match(/of (\d+)/)[1]);
    await inside.locator('.scrubber').evaluate((slider) => {
      slider.value = slider.max;
      slider.dispatchEvent(new Event('input'));
    });
    await inside.getByText(`micro-step ${steps} of ${steps}`).waitFor();
    assert.match(await inside.locator('.verdict').textContent(), /^[A-Z][a-z ,]+ \([01]\)\.$/);
    // At its end the pointers are the structure's.
    assert.deepEqual(await told(page.locator('.inside'), 'Inside the operation'), await told(page.locator('.stage'), 'Ground truth'), model);
    await page.context().close();
  }
});

test('trees with left and right are drawn in order, with keys, and beside a link/cut tree what it represents', async (t) => {
  const places = (page, view) => page.locator('.forest', { has: page.getByRole('heading', { name: view }) }).first().locator('.node').evaluateAll((nodes) => nodes.map((node) => ({ x: node.getBoundingClientRect().x, words: node.getAttribute('aria-label') })));
  for (const view of ['rollout', 'playground']) {
    const page = await s.open(t, view === 'rollout' ? '#/rollout?model=built-in:machine-splay&nodes=12&step=18' : '#/playground?model=built-in:machine-splay&nodes=12&ops=0-5-0.0-3-0.0-7-0.0-4-0.0-9-0');
    await page.locator('.node').first().waitFor();
    const ranks = (await page.locator('.forest').first().locator('.beneath').allTextContents()).map(Number);
    assert.deepEqual(ranks.toSorted((a, b) => a - b), Array.from({ length: 12 }, (_, i) => i + 1));
    for (const title of ['Ground truth', /splay|Model/]) {
      const nodes = await places(page, title);
      const children = nodes.flatMap(({ words }, node) => {
        const found = words.match(/points to (\d+), whose (left|right) child/);
        return found ? [[node, Number(found[1]), found[2]]] : [];
      });
      assert.ok(children.length > 1, `${view}: some are children`);
      for (const [node, parent, side] of children) assert.equal(nodes[node].x < nodes[parent].x, side === 'left', `${node} below ${parent}`);
    }
    assert.equal(await page.locator('.represented').isVisible(), false);
  }
  const page = await s.open(t, '#/rollout?model=built-in:lct&nodes=20&step=20');
  await atStep(page, 'step 20 of 30');
  await page.locator('.represented .node').first().waitFor();
  const dashed = await page.locator('.forest').first().locator('.edge.path-parent').count();
  const words = (await places(page, 'Ground truth')).map(({ words }) => words);
  assert.equal(dashed, words.filter((text) => text.includes('its path-parent')).length);
  assert.ok(dashed > 0 && words.some((text) => text.includes('flip pending')));
  await page.getByText('dashed ones to path-parents').waitFor();
  await page.locator('.represented .node').nth(3).hover();
  assert.equal(await page.locator('.node.linked').count(), 3, 'in the truth, in the model and in what is represented');
  // Larger ones are drawn closer together, and children still on their side.
  const larger = await s.open(t, '#/rollout?model=built-in:machine-lct&nodes=100&step=120');
  await atStep(larger, 'step 120 of 150');
  const nodes = await places(larger, 'Ground truth');
  const children = nodes.flatMap(({ words }, node) => {
    const found = words.match(/points to (\d+), whose (left|right) child/);
    return found ? [[node, Number(found[1]), found[2]]] : [];
  });
  assert.ok(children.length > 20);
  for (const [node, parent, side] of children) assert.equal(nodes[node].x < nodes[parent].x, side === 'left', `${node} below ${parent}`);
});

test('controls are in one bar under the picture', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=3');
  await atStep(page, 'step 3 of 30');
  const [picture, bar] = await Promise.all(['.forests', '.player'].map((name) => box(page.locator(name))));
  assert.ok(bar.y >= picture.y + picture.height && bar.y + bar.height <= 800, JSON.stringify([picture, bar]));
});

test('an input graph is drawn: edges taken, rejected and still to come', async (t) => {
  const page = await s.open(t, '#/rollout?model=run:kruskal&nodes=20&step=22');
  await atStep(page, 'step 22 of 30');
  const replay = await s.ask('/api/replay', { model: 'run:kruskal', nodes: 20, seed: 0, sequence: 0 });
  const graph = page.locator('.graph-box');
  assert.equal(await graph.locator('.graph-edge').count(), replay.graph.length);
  const done = replay.steps.slice(0, 22);
  const taken = done.filter(({ truth }) => truth.answer).length;
  assert.equal(await graph.locator('.graph-edge.taken').count(), taken);
  assert.equal(await graph.locator('.graph-edge.rejected').count(), 22 - taken);
  assert.equal(await graph.locator('.graph-edge.now').count(), 1);
  const edge = ({ u, v }) => [u, v].sort((a, b) => a - b).join();
  const mistaken = new Set(done.filter(({ truth, model }) => truth.answer !== model.answer).map(edge));
  assert.equal(await graph.locator('.graph-edge.mistaken').count(), mistaken.size, 'the model’s answers are drawn too');
  const { weight } = replay.graph.find((one) => edge(one) === edge(done[21]));
  assert.equal(await graph.locator('.graph-weight').textContent(), weight.toFixed(2));
  assert.match(await graph.textContent(), new RegExp(`30 edges, ${taken} taken, ${22 - taken} rejected`));
  await page.keyboard.press('Home');
  await atStep(page, 'step 0 of 30');
  assert.equal(await graph.locator('.graph-edge.taken, .graph-edge.rejected, .graph-edge.now').count(), 0);
  const without = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=5');
  await atStep(without, 'step 5 of 30');
  assert.equal(await without.locator('.graph-box').isVisible(), false);
});

test('nodes are where the truth has them, in all pictures, unless somebody wants otherwise', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:lct&nodes=20&step=20');
  await atStep(page, 'step 20 of 30');
  const places = (index) => page.locator('.forest').nth(index).locator('.node').evaluateAll((all) => all.map((node) => node.getAttribute('transform')));
  assert.deepEqual(await places(1), await places(0));
  await page.getByLabel('Same places').uncheck();
  assert.notDeepEqual(await places(1), await places(0));
});

test('a change has stages: marks light up, pointers swing, nodes move', async (t) => {
  const { steps } = await s.ask('/api/replay', { model: 'built-in:dsu', nodes: 20, seed: await s.seed('built-in:dsu'), sequence: 0 });
  const at = steps.findIndex(({ truth }, index) => index > 10 && truth.moved.length > 0);
  const page = await s.open(t, `#/rollout?model=built-in:dsu&nodes=20&step=${at}`, { reducedMotion: 'no-preference' });
  await atStep(page, `step ${at} of 30`);
  // Each stage is noted when something first changes in it.
  await page.evaluate(() => {
    window.stages = [];
    const forest = document.querySelector('.forest');
    new MutationObserver((changes) => {
      for (const { target, attributeName, oldValue } of changes) {
        if (target.getAttribute(attributeName) === oldValue) continue;
        const stage = attributeName === 'd' ? 'swing' : attributeName === 'transform' && target.matches('.node') ? 'move' : attributeName === 'class' && target.matches('.node') ? 'light' : null;
        if (stage && !window.stages.includes(stage)) window.stages.push(stage);
      }
    }).observe(forest, { subtree: true, attributes: true, attributeOldValue: true });
  });
  await page.keyboard.press('ArrowRight');
  await eventually(() => page.evaluate(() => window.stages), ['light', 'swing', 'move']);
});

test('leaves that nothing happens to are folded, and unfolded by a click', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=200&step=250');
  await atStep(page, 'step 250 of 300');
  const truth = page.locator('.forest').first();
  const folded = () => truth.locator('.node.folded').count();
  const before = await folded();
  assert.ok(before > 50, `${before} of 200`);
  const bundle = truth.locator('.node.bundle').first();
  const label = await bundle.locator('.label').textContent();
  const count = Number(label.match(/^\+(\d+)$/)[1]);
  assert.match(await bundle.getAttribute('aria-label'), new RegExp(`with ${count - 1} others like it folded away`));
  const wrong = await page.locator('.forest').nth(1).locator('.beneath').allTextContents();
  assert.ok(wrong.some((text) => /^\d+ ×$/.test(text)), 'wrong ones among them are counted');
  // Whatever is marked is to be seen.
  assert.equal(await page.locator('.forests .folded.operated, .forests .folded.visited, .forests .folded.moved').count(), 0);
  await bundle.click();
  await eventually(folded, before - count + 1);
  await page.getByLabel('Fold leaves').uncheck();
  await eventually(folded, 0);
  const small = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=20');
  await atStep(small, 'step 20 of 30');
  assert.ok(await small.getByLabel('Fold leaves').isHidden());
});

test('the visited nodes are predicted before they are shown', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=11');
  await atStep(page, 'step 11 of 30');
  const replay = await s.ask('/api/replay', { model: 'built-in:dsu', nodes: 20, seed: await s.seed('built-in:dsu'), sequence: 0 });
  const { u, v, truth, model } = replay.steps[11];
  await page.getByLabel('Predict first').check();
  await page.getByRole('button', { name: 'Step forward' }).click();
  await page.getByText(`Which nodes will query-union(${u}, ${v}) visit?`).last().waitFor();
  await atStep(page, 'step 11 of 30');
  const forest = page.locator('.forest').first();
  assert.equal(await forest.locator('.operated').count(), 2);
  const other = Array.from({ length: 20 }, (_, node) => node).find((node) => !truth.visited.includes(node));
  for (const node of [u, v, other]) await forest.locator('.node').nth(node).click();
  assert.equal(await forest.locator('.guessed').count(), 3);
  await page.getByRole('button', { name: 'Step forward' }).click();
  await atStep(page, 'step 12 of 30');
  const hits = model.visited.filter((node) => truth.visited.includes(node)).length;
  await page.getByText(`The operation visits ${truth.visited.length} nodes; you found 2 and named 1 more; the model found ${hits}`).last().waitFor();
  assert.equal(await page.locator('.guessed').count(), 0);
});

test('a run that kept its models is watched while it learns', async (t) => {
  const run = copyRun(s.folder, 'kept', 'dsu');
  t.after(() => rmSync(run, { recursive: true }));
  mkdirSync(join(run, 'kept'));
  // An untrained one is not at hand; another model of the task will do.
  cpSync(join(viewer, 'models/dsu-free/model.safetensors'), join(run, 'kept/20.safetensors'));
  cpSync(join(viewer, 'models/dsu/model.safetensors'), join(run, 'kept/40.safetensors'));
  const page = await s.open(t, '#/run?id=run:kept');
  await page.getByRole('link', { name: 'Watch it learn' }).click();
  await page.getByRole('heading', { name: 'Model of epoch 20' }).waitFor();
  const at = (epoch) => s.ask('/api/replay', { model: 'run:kept', nodes: 20, seed: 0, sequence: 0, epoch });
  assert.deepEqual(await told(page, 'Model of epoch 20'), pointers(await at(20), 12, 'model'));
  const slider = page.getByRole('slider', { name: 'Epoch' });
  await slider.press('ArrowRight');
  await page.getByRole('heading', { name: 'Model of epoch 40' }).waitFor();
  await atStep(page, 'step 12 of 30');
  assert.deepEqual(await told(page, 'Model of epoch 40'), pointers(await at(40), 12, 'model'));
  await page.waitForURL(/epoch=40/);
  // At its end is the best model.
  await slider.press('End');
  await page.getByRole('heading', { name: 'Model', exact: true }).or(page.getByRole('heading', { name: /^Model \d+ tree/ })).waitFor();
  await page.locator('.epochs b').getByText(/\(best\)$/).waitFor();
  // While it trains, the one kept last is what there is.
  for (const file of ['results.json', 'model.safetensors']) rmSync(join(run, file));
  const training = await s.open(t, '#/rollout?model=run:kept');
  await training.getByRole('heading', { name: 'Model of epoch 40' }).waitFor();
  await training.getByRole('combobox', { name: 'Model', exact: true }).selectOption('built-in:dsu');
  await training.locator('.epochs').waitFor({ state: 'hidden' });
});

test('α is drawn from the background to full colour, in the dark too', async (t) => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=10', { colorScheme });
    await atStep(page, 'step 10 of 30');
    await page.getByText('Attention α of all nodes').click();
    await page.locator('.heat-box').getByText(/rows have an α above/).waitFor();
    await page.getByText('The background is 0, full colour is 1.').waitFor();
    assert.doesNotMatch(await page.locator('.heat-box').textContent(), /dark|light|bright/i);
    const replay = { model: 'built-in:dsu', nodes: 20, seed: 0, sequence: 0 };
    const { alpha } = await s.ask('/api/step', { replay, step: 10 });
    const pixels = await page.locator('.heat-map').evaluate((canvas) => {
      const { color, backgroundColor } = getComputedStyle(canvas);
      const image = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      return { ink: color.match(/\d+/g).map(Number), paper: backgroundColor.match(/\d+/g).map(Number), image: [...image] };
    });
    alpha.flat().forEach((value, index) => {
      const expected = pixels.paper[0] + (pixels.ink[0] - pixels.paper[0]) * value;
      assert.ok(Math.abs(pixels.image[4 * index] - expected) < 2, `${colorScheme} ${index}`);
    });
  }
});

test('the input graph and α are saved, too', async (t) => {
  const page = await s.open(t, '#/rollout?model=run:kruskal&nodes=20&step=22');
  await atStep(page, 'step 22 of 30');
  await page.getByText('Attention α of all nodes').click();
  await page.locator('.heat-box').getByText(/rows have an α above/).waitFor();
  for (const [box, name, expected] of [['.graph-box', 'input-graph.svg', /<line[^>]*graph-edge/], ['.heat-box', 'attention.svg', /<image[^>]*href="data:image\/png/]]) {
    const saved = page.waitForEvent('download');
    await page.locator(box).getByRole('button', { name: 'SVG' }).click();
    assert.equal((await saved).suggestedFilename(), name);
    assert.match(readFileSync(await (await saved).path(), 'utf8'), expected);
  }
});
