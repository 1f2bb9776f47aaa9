// The list of runs, one run, and runs compared.
import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { HOSTILE, box, copyRun, copyUnion, eventually, line, suite, titled, viewer, editableResults } from '../support.mjs';

const s = suite((folder) => {
  for (const [name, task] of [['dsu/pgn-0', 'dsu'], ['lct/pgn-0', 'lct'], [HOSTILE, 'dsu'], ['training', 'dsu']]) copyRun(folder, name, task);
  for (const file of ['results.json', 'model.safetensors']) rmSync(join(folder, 'training', file));
  rmSync(join(copyRun(folder, 'bare', 'dsu'), 'metrics.jsonl'));
  const damaged = join(folder, 'damaged');
  mkdirSync(damaged);
  writeFileSync(join(damaged, 'config.toml'), 'task = "dsu"\nepochs = "many"\n');
});
const names = (page) => page.locator('.runs tbody:not(.baselines) tr td:first-child').allTextContents();

test('runs are listed with scores and can be sorted and filtered', async (t) => {
  const page = await s.open(t, '#/runs');
  await page.locator('.runs tbody tr').nth(7).waitFor();
  const listed = await names(page);
  assert.ok(listed.includes('built-in dsu') && listed.includes('built-in lct'));
  assert.ok(listed.indexOf('built-in dsu') > listed.indexOf('lct/pgn-0'), 'one’s own runs come first');
  assert.ok(listed.includes(HOSTILE), 'names are text, whatever is in them');
  await titled(page, 'Runs');
  assert.match(await page.locator('tr', { hasText: 'damaged' }).textContent(), /config\.toml/);
  assert.match(await page.locator('tr', { hasText: 'training' }).textContent(), /epoch 40 of/);

  await page.getByRole('button', { name: 'test F₁ n=50' }).click();
  const header = page.getByRole('columnheader', { name: 'test F₁ n=50' });
  assert.equal(await header.getAttribute('aria-sort'), 'descending');
  const column = await page.locator('.runs thead th').evaluateAll((all) => all.findIndex((th) => th.textContent.includes('n=50')));
  const scores = async () => (await page.locator(`.runs tbody:not(.baselines) td:nth-child(${column + 1})`).allTextContents()).filter((text) => text !== '–').map(Number);
  const sorted = await scores();
  assert.ok(sorted.length >= 6);
  assert.deepEqual(sorted, sorted.toSorted((a, b) => b - a));
  assert.ok(sorted[0] > sorted.at(-1), 'there is something to sort');
  await page.getByRole('button', { name: 'test F₁ n=50' }).press('Enter');
  assert.equal(await header.getAttribute('aria-sort'), 'ascending');
  assert.deepEqual(await scores(), sorted.toReversed());

  await page.getByRole('searchbox').fill('lct pgn');
  await eventually(async () => (await names(page)).sort(), ['built-in lct', 'built-in lct machine', 'built-in lct-free', 'built-in lct-free-2', 'lct/pgn-0']);
  await page.getByRole('searchbox').fill('');
  await page.getByRole('combobox', { name: 'State' }).selectOption('damaged');
  await eventually(() => names(page), ['damaged']);
  await page.reload();
  await page.locator('.runs tbody tr').first().waitFor();
  assert.deepEqual(await names(page), ['damaged'], 'the filters are in the address');
});

test('a baseline stands below the scores of every task', async (t) => {
  const page = await s.open(t, '#/runs?task=dsu');
  const row = page.locator('.baselines tr', { hasText: 'always 1' });
  await row.waitFor();
  assert.match(await row.textContent(), /dsu.*0\.749/);
  const counting = page.locator('.baselines tr', { hasText: 'counting' });
  await counting.waitFor();
  const { test: [{ f1 }] } = JSON.parse(readFileSync(join(viewer, 'models/dsu/results.json'), 'utf8'));
  const first = Number((await counting.locator('td').allTextContents()).find((text) => /^0\./.test(text)));
  assert.ok(first > 0.8 && first < f1, `${first} is counting's at n = 20`);
});

test('rows that have not changed are left alone', async (t) => {
  const page = await s.open(t, '#/runs');
  await page.locator('.runs tbody tr').first().waitFor();
  await page.evaluate(() => {
    window.rows = [...document.querySelectorAll('.runs tbody:not(.baselines) tr')];
    window.selected = window.rows[1].firstChild.textContent;
    getSelection().selectAllChildren(window.rows[1].firstChild);
  });
  appendFileSync(join(s.folder, 'training/metrics.jsonl'), line(41));
  await page.locator('tr', { hasText: 'training' }).getByText('epoch 41 of').waitFor({ timeout: 10_000 });
  assert.equal(await page.evaluate(() => getSelection().toString().trim()), await page.evaluate(() => window.selected));
  assert.ok(await page.evaluate(() => window.rows.filter((row) => row.isConnected).length >= window.rows.length - 1));
  writeFileSync(join(s.folder, 'training/metrics.jsonl'), Array.from({ length: 40 }, (_, i) => line(i + 1)).join(''));
});

test('validation F₁ is that of the best epoch, while a run trains too', async (t) => {
  appendFileSync(join(s.folder, 'training/metrics.jsonl'), line(41, { f1: 0.111 }));
  const page = await s.open(t, '#/runs');
  const row = page.locator('tr', { hasText: 'training' });
  await row.getByText('epoch 41 of').waitFor();
  assert.match(await row.textContent(), /0\.988/);
  assert.doesNotMatch(await row.textContent(), /0\.111/);
  await page.getByRole('columnheader', { name: 'best validation F₁' }).waitFor();
  writeFileSync(join(s.folder, 'training/metrics.jsonl'), Array.from({ length: 40 }, (_, i) => line(i + 1)).join(''));
});

test('a run that nobody trains is told from one that is training', async (t) => {
  const page = await s.open(t, '#/runs?state=stopped');
  await page.locator('.runs tbody tr').first().waitFor();
  assert.deepEqual(await names(page), ['training']);
  assert.match(await page.locator('.runs tbody tr').first().textContent(), /stopped at epoch 40 of/);
  await page.getByRole('link', { name: 'training', exact: true }).click();
  await page.locator('.status').getByText('no process is training it').waitFor();
});

test('a run that trains is followed, and gets its buttons when it has a model', async (t) => {
  const page = await s.open(t, '#/runs');
  await page.getByRole('link', { name: 'training', exact: true }).press('Enter');
  await page.getByRole('heading', { name: 'training', level: 1 }).waitFor();
  await titled(page, 'training – Run');
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1', null, { timeout: 5000 });
  const readout = page.locator('.readout').first();
  await page.getByText('epoch 40: total').waitFor();
  assert.ok(await page.getByRole('link', { name: 'Rollout' }).last().isHidden() || await page.locator('.buttons').first().isHidden());
  const curve = () => page.locator('.chart > svg .line-0').first().getAttribute('d');
  const before = await curve();
  // A line that is still being written, then its rest and one more.
  const next = line(41);
  appendFileSync(join(s.folder, 'training/metrics.jsonl'), next.slice(0, 30));
  appendFileSync(join(s.folder, 'training/metrics.jsonl'), next.slice(30) + line(42));
  await page.getByText('epoch 42: total').waitFor();
  assert.notEqual(await curve(), before);
  // Resumed from an earlier checkpoint: later lines are gone.
  writeFileSync(join(s.folder, 'training/metrics.jsonl'), Array.from({ length: 30 }, (_, i) => line(i + 1)).join(''));
  await page.getByText('epoch 30: total').waitFor();
  // Finished.
  cpSync(join(viewer, 'models/dsu/model.safetensors'), join(s.folder, 'training/model.safetensors'));
  writeFileSync(join(s.folder, 'training/results.json'), editableResults('dsu'));
  await page.getByText('finished after').waitFor();
  await page.getByText('Test scores').waitFor();
  await page.locator('main').getByRole('link', { name: 'Rollout' }).waitFor();
  // The curves can be read with the keyboard.
  await page.locator('.chart > svg').first().focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  assert.match(await readout.textContent(), /^epoch 29: total 0\.0759/);
  for (const file of ['model.safetensors', 'results.json']) rmSync(join(s.folder, 'training', file));
});

test('a finished run without metrics, and a damaged one, say what they lack', async (t) => {
  const page = await s.open(t, '#/run?id=run:bare');
  await page.locator('.chart').first().getByText('this run has no metrics.jsonl').waitFor();
  const damaged = await s.open(t, '#/run?id=run:damaged');
  await damaged.getByRole('alert').getByText('config.toml').waitFor();
  assert.equal(await damaged.locator('.status').textContent(), 'This run cannot be read.');
});

test('a model card tells what the model is, how it was trained, and the baselines', async (t) => {
  const page = await s.open(t, '#/run?id=run:dsu/pgn-0');
  const card = page.getByRole('region', { name: 'Model card' });
  await card.waitFor();
  const text = await card.textContent();
  for (const part of ['pointer graph network', 'Disjoint-set union', '70 sequences of 30 operations on 20 nodes', 'pgn train --config config.toml']) assert.ok(text.includes(part), part);
  await page.locator('.scores').getByText('F₁ of counting').waitFor();
  await page.locator('.scores').getByText('F₁ in the paper').waitFor();
  for (const rule of ['accuracy of always 0', 'every node points to itself', 'no node is visited']) {
    assert.match(await page.locator('.scores tr', { hasText: rule }).textContent(), /0\.\d{3}/);
  }
  assert.match(await page.locator('.scores tr', { hasText: 'in the paper' }).textContent(), /0\.8950\.8870\.866/);
});

test('learning curves are compared by model, smoothed, zoomed and drawn on a log axis', async (t) => {
  for (const [index, name] of ['dsu/pgn-1', 'dsu/pgn-2'].entries()) {
    const run = copyRun(s.folder, name, 'dsu');
    writeFileSync(join(run, 'metrics.jsonl'), Array.from({ length: 40 }, (_, i) => line(i + 1, { f1: 0.9 - 0.3 * index - 0.2 / (i + 1) })).join(''));
    const results = readFileSync(join(run, 'results.json'), 'utf8');
    writeFileSync(join(run, 'results.json'), results.replace(/"best_epoch": \d+/, '"best_epoch": 30'));
  }
  t.after(() => ['dsu/pgn-1', 'dsu/pgn-2'].forEach((name) => rmSync(join(s.folder, name), { recursive: true })));
  const page = await s.open(t, '#/compare?task=dsu&models=pgn');
  const chart = page.locator('.chart');
  await chart.locator('.band').waitFor();
  await chart.getByText(/^epoch \d+: pgn 0\.\d+$/).waitFor();
  const d = () => chart.locator('path.line:not(.band)').last().getAttribute('d');
  const plain = await d();
  await chart.getByLabel('smoothing').selectOption('21');
  assert.notEqual(await d(), plain);
  assert.equal(await chart.locator('path.raw').getAttribute('d'), plain, 'what was measured is under it');
  await chart.getByLabel('smoothing').selectOption('1');
  await chart.getByLabel('logarithmic').check();
  assert.notEqual(await d(), plain);
  await chart.getByLabel('logarithmic').uncheck();
  assert.equal(await d(), plain);
  const { x, y, width } = await box(chart.locator('> svg'));
  await page.mouse.move(x + width * 0.5, y + 80);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.8, y + 80, { steps: 3 });
  await page.mouse.up();
  await chart.getByRole('button', { name: 'Reset zoom' }).waitFor();
  assert.notEqual(await d(), plain);
  await chart.getByRole('button', { name: 'Reset zoom' }).click();
  await eventually(d, plain);
  // A line that is clicked is alone, then with the others again.
  await page.getByRole('combobox', { name: 'Lines' }).selectOption('runs');
  const lines = () => chart.locator('> svg path.line').count();
  await eventually(async () => await lines() > 1, true);
  for (const shown of [1, await lines()]) {
    const best = await box(chart.locator('circle.best').first());
    await page.mouse.click(best.x + best.width / 2, best.y + best.height / 2);
    await eventually(lines, shown);
  }
  await page.getByRole('combobox', { name: 'Lines' }).selectOption({ index: 0 });
  // Hiding a line.
  await chart.getByRole('button', { name: 'pgn' }).click();
  await eventually(lines, 0);
  await page.getByRole('combobox', { name: 'Lines' }).selectOption('runs');
  await chart.locator('circle.best').first().waitFor();
  const colours = () => chart.locator('> svg path.line').evaluateAll((lines) => [...new Set(lines.map((line) => line.getAttribute('class')))]);
  await eventually(colours, ['line model-pgn'], 'runs of a model have its colour');
  const told = (await chart.locator('.readout').textContent()).match(/0\.\d+/g).map(Number);
  assert.deepEqual(told, told.toSorted((a, b) => b - a), 'the best is named first');
  // Baselines are of as many test sets as there are seeds.
  await page.locator('[data-baseline=counting]').getByText(/^\d seeds?$/).waitFor();
  assert.match(await page.locator('[data-baseline="always 1"]').textContent(), /^always 1\d seeds?0\.\d+/);
  assert.match(await page.locator('.scores tbody tr').first().textContent(), /^pgn/);
});

/** A machine's run with its metrics, as `pgn train --model pgn-machine` leaves it. */
const machineRun = (name) => cpSync(join(viewer, '../../results/machines', name), join(s.folder, 'machines', name), { recursive: true });

test('a machine’s learning curves, what it was trained on, and its certificate', async (t) => {
  for (const name of ['dsu', 'heap']) machineRun(name);
  t.after(() => rmSync(join(s.folder, 'machines'), { recursive: true }));
  const page = await s.open(t, '#/run?id=run:machines/heap');
  const charts = page.locator('.chart:visible');
  await charts.first().getByText(/^epoch 1600: total (0\.00027|2\.7)/).waitFor();
  assert.deepEqual(await charts.locator('figcaption').allTextContents(), ['Training losses', 'Training views right', 'Learning rate']);
  await charts.nth(1).getByText('epoch 1600: views right 1.00').waitFor();
  assert.ok(await charts.first().getByLabel('logarithmic').isChecked(), 'three decades fit a logarithmic axis only');
  const card = page.getByRole('region', { name: 'Model card' });
  assert.match(await card.textContent(), /Pairing heap \(heap\).*the views met in 100 sequences of 900 operations on 20 nodes/);
  assert.match(await card.textContent(), /Proved: whatever operations are called on however many nodes/);
  // Its program is a task, so it can be rolled out as well as stepped through.
  assert.ok(await page.locator('main').getByRole('link', { name: 'Rollout' }).count() > 0);
  await page.getByRole('link', { name: 'Step by step' }).last().click();
  await page.getByRole('heading', { name: 'Step by step', level: 1 }).waitFor();
  await page.goto(`${s.base}/#/rollout?model=run:machines/heap&nodes=20&step=14`);
  await page.locator('.player .counter').first().getByText('step 14 of 30', { exact: true }).waitFor();
  // In comparisons it has the share of its views that are right.
  await page.goto(`${s.base}/#/compare?task=dsu&measure=views`);
  await page.locator('.chart').getByText(/^epoch 1600: pgn-machine 1\.00$/).waitFor();
  assert.equal(await page.locator('.chart > svg .model-pgn-machine').count(), 1);
});

test('structures beyond the paper have names, and models beyond it a sentence', async (t) => {
  for (const task of ['dsu-by-size', 'dsu-by-rank', 'kruskal']) copyUnion(s.folder, `more/${task}`, task);
  t.after(() => rmSync(join(s.folder, 'more'), { recursive: true }));
  const titles = { 'dsu-by-size': 'Disjoint-set union, by size', 'dsu-by-rank': 'Disjoint-set union, by rank', kruskal: 'Kruskal\'s minimum spanning forest' };
  for (const [task, title] of Object.entries(titles)) {
    const page = await s.open(t, `#/run?id=run:more/${task}`);
    await page.getByRole('region', { name: 'Model card' }).getByText(`${title} (${task})`).waitFor();
  }
  const page = await s.open(t, '#/run?id=built-in:lct-free');
  await page.getByRole('region', { name: 'Model card' }).getByText('reads its own masks and pointers in training too').waitFor();
});

test('curves are drawn against training time', async (t) => {
  const page = await s.open(t, '#/compare?task=dsu&models=pgn');
  const chart = page.locator('.chart');
  await chart.getByText(/^epoch \d+: pgn/).waitFor();
  await page.getByRole('combobox', { name: 'Against' }).selectOption('time');
  await page.getByRole('combobox', { name: 'Lines' }).selectOption('runs');
  const run = (await s.ask('/api/runs')).find(({ id }) => id === 'run:dsu/pgn-0');
  assert.ok(run.seconds > 0);
  const last = ((40 * run.seconds) / run.epoch).toPrecision(3);
  await chart.getByText(new RegExp(`^seconds of training ${last}: .*dsu/pgn-0`)).waitFor();
  await page.getByText('Every epoch of a run counts as long as its mean one.').waitFor();
});

test('the benchmark’s leaderboard has its numbers, by measure, size and family', async (t) => {
  const page = await s.open(t, '#/benchmark');
  const cell = async (table, entry, task) => {
    const titles = await table.locator('thead th').allTextContents();
    return table.locator('tbody tr', { has: page.getByRole('rowheader', { name: entry, exact: true }) }).locator('td').nth(titles.indexOf(task)).textContent();
  };
  const tables = page.locator('.leaderboard');
  await tables.first().waitFor();
  const scores = (entry) => JSON.parse(readFileSync(join(viewer, `../../results/benchmark/${entry}/scores.json`), 'utf8'));
  // The mean over the seeds.
  const of = (entry, task, nodes, score) => {
    const values = scores(entry).filter((row) => row.task === task && row.nodes === nodes).map(score);
    return (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(3);
  };
  for (const [entry, task] of [['pgn', 'lct'], ['gru', 'forest'], ['pgn-machine', 'splay']]) assert.equal(await cell(tables.first(), entry, task), of(entry, task, 200, (row) => row.all.f1));
  assert.equal(await cell(tables.first(), 'counting', 'dsu'), of('pgn', 'dsu', 200, (row) => row.all.counting_f1));
  assert.equal(await cell(tables.first(), 'deepsets', 'forest'), '–');
  assert.equal(await cell(tables.last(), 'pgn-machine', 'lct'), '10,000');
  assert.deepEqual(await tables.first().locator('.told').allTextContents(), ['Answers', 'Masks and pointers', 'Micro-steps with states']);
  await page.getByRole('combobox', { name: 'Operations' }).selectOption('path');
  await page.getByRole('combobox', { name: 'Nodes' }).selectOption('50');
  assert.equal(await cell(tables.first(), 'pgn', 'lct'), of('pgn', 'lct', 50, (row) => row.families.path.f1));
  await page.getByRole('combobox', { name: 'Measure' }).selectOption('pointers');
  assert.equal(await cell(tables.first(), 'pgn', 'lct'), of('pgn', 'lct', 50, (row) => row.families.path.pointer_accuracy));
  assert.equal(await cell(tables.first(), 'every node points to itself', 'lct'), of('pgn', 'lct', 50, (row) => row.families.path.trivial.point_to_self));
  await page.reload();
  await tables.first().waitFor();
  assert.equal(await cell(tables.first(), 'pgn', 'lct'), of('pgn', 'lct', 50, (row) => row.families.path.pointer_accuracy));
});
