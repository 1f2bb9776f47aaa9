// The playground, with fast and with slow answers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { atStep, delay, pointers, suite, told } from '../support.mjs';

const s = suite();
const count = (page, n) => page.waitForFunction((n) => document.querySelectorAll('.history tbody tr').length === n, n);
const node = (page, side, n) => page.locator('.forest').nth(side).locator('.node').nth(n);
const operations = (page) => page.locator('.history tbody tr').evaluateAll((rows) => rows.map((row) => [Number(row.cells[1].textContent), Number(row.cells[2].textContent)]).reverse());
const ready = (page) => page.locator('.player').waitFor();

test('operations by click and by keyboard, and undo', async (t) => {
  const page = await s.open(t, '#/playground?model=built-in:dsu&nodes=8&seed=3');
  await page.locator('main').getByText('Click two nodes').waitFor();
  await ready(page);
  await node(page, 0, 2).click();
  assert.equal(await page.getByLabel('u', { exact: true }).inputValue(), '2');
  await node(page, 1, 5).click();
  await count(page, 1);
  const expected = await s.ask('/api/replay', { model: 'built-in:dsu', nodes: 8, seed: 3, operations: [[2, 5]] });
  const { truth, model } = expected.steps[0];
  const verdict = await page.locator('.replay .verdict').textContent();
  assert.ok(verdict.includes(`(${truth.answer});`) && verdict.includes(`(${model.answer}, p = `), verdict);
  assert.match(verdict, /p = (0\.\d{3}|1 − \d·10⁻)/);
  assert.ok((await page.locator('#live').textContent()).includes('query-union(2, 5)'), 'the answer is announced');
  assert.deepEqual(await told(page, 'Ground truth'), pointers(expected, 1, 'truth'));

  await page.getByLabel('u', { exact: true }).fill('0');
  await page.getByLabel('v', { exact: true }).fill('1');
  await page.keyboard.press('Enter');
  await count(page, 2);
  assert.deepEqual(await operations(page), [[2, 5], [0, 1]]);
  await page.getByLabel('u', { exact: true }).fill('3');
  await page.getByLabel('v', { exact: true }).fill('3');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('alert').getByText('two different nodes').waitFor();
  await page.getByLabel('v', { exact: true }).fill('8');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('alert').getByText('from 0 to 7').waitFor();
  assert.equal(await page.locator('.history tbody tr').count(), 2);

  // Without a mouse.
  await node(page, 1, 6).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await count(page, 3);
  assert.deepEqual((await operations(page)).at(-1), [6, 7]);
  await page.keyboard.press('Control+z');
  await count(page, 2);
  await page.keyboard.press('Control+y');
  await count(page, 3);
  await page.getByRole('button', { name: 'Undo' }).click();
  await count(page, 2);
  await page.getByRole('button', { name: 'Undo' }).click();
  await count(page, 1);
  assert.deepEqual(await told(page, 'Model'), pointers(expected, 1, 'model'));
  await page.getByRole('button', { name: 'Undo' }).click();
  await count(page, 0);
  assert.deepEqual(await told(page, 'Model'), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.ok(await page.getByRole('button', { name: 'Undo' }).isDisabled());

  // Details on request.
  await node(page, 0, 0).click();
  await node(page, 0, 1).click();
  await count(page, 1);
  await page.getByLabel('clicks inspect nodes').check();
  await node(page, 1, 0).click();
  await page.locator('.inspector').getByText('Pointer candidates').waitFor();
  assert.equal(await page.locator('.history tbody tr').count(), 1);

  // Another model, or another seed, gets the same operations.
  await page.getByRole('combobox', { name: 'Model' }).selectOption('built-in:lct');
  await page.locator('main').getByText('query-toggle(0, 1)').waitFor();
});

test('with slow answers, what was clicked is what happens', async (t) => {
  const page = await s.open(t, '#/playground?model=built-in:dsu&nodes=8&seed=3');
  await ready(page);
  await delay(page, '**/api/replay', 250);
  for (const clicked of [0, 1, 2, 3]) await node(page, 0, clicked).click();
  await page.getByLabel('u', { exact: true }).fill('7');
  await count(page, 2);
  assert.deepEqual(await operations(page), [[0, 1], [2, 3]]);
  assert.equal(await page.getByLabel('u', { exact: true }).inputValue(), '7', 'what was typed while waiting stays');
  await page.getByLabel('v', { exact: true }).fill('6');
  await page.keyboard.press('Enter');
  await count(page, 3);
  for (let i = 0; i < 3; i++) await page.getByRole('button', { name: 'Undo' }).click();
  await count(page, 0);
  for (let i = 0; i < 2; i++) await page.getByRole('button', { name: 'Redo' }).click();
  await count(page, 2);
  assert.deepEqual(await operations(page), [[0, 1], [2, 3]]);
});

test('operations are in the address; destructive steps can be undone', async (t) => {
  const page = await s.open(t, '#/playground?model=built-in:dsu&nodes=8&seed=3&ops=0-1.2-3.1-3');
  await count(page, 3);
  const seed = page.getByRole('spinbutton', { name: 'Seed' });
  await seed.fill('4');
  await seed.press('Tab');
  await page.waitForFunction(() => location.hash.includes('seed=4'));
  assert.deepEqual(await operations(page), [[0, 1], [2, 3], [1, 3]], 'another seed keeps the operations');
  const nodes = page.getByRole('spinbutton', { name: 'Nodes' });
  await nodes.fill('3');
  await nodes.press('Tab');
  await count(page, 1);
  await page.getByText('2 operations do not fit on 3 nodes and were removed').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await count(page, 3);
  assert.equal(await nodes.inputValue(), '8');
  await page.getByRole('button', { name: 'Start over' }).click();
  await count(page, 0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await count(page, 3);
  await page.reload();
  await count(page, 3);
  assert.deepEqual(await operations(page), [[0, 1], [2, 3], [1, 3]]);
  // Even what came with the address can be taken back.
  await page.getByRole('button', { name: 'Undo' }).click();
  await count(page, 2);
  const broken = await s.open(t, '#/playground?model=built-in:dsu&nodes=4&ops=0-1.2-9');
  await broken.getByRole('alert').getByText('2-9').waitFor();
});

test('own operations play like a test sequence', async (t) => {
  const page = await s.open(t, '#/playground?model=built-in:dsu&nodes=8&seed=3&ops=0-1.2-3.1-3.4-5');
  await atStep(page, 'step 4 of 4');
  await page.keyboard.press('Home');
  await atStep(page, 'step 0 of 4');
  await page.getByRole('button', { name: 'Go to step 2' }).click();
  await atStep(page, 'step 2 of 4');
  const replay = await s.ask('/api/replay', { model: 'built-in:dsu', nodes: 8, seed: 3, operations: [[0, 1], [2, 3]] });
  assert.deepEqual(await told(page, 'Model'), pointers(replay, 2, 'model'));
  await page.waitForURL(/step=2/);
  await page.reload();
  await atStep(page, 'step 2 of 4');
  await page.getByRole('button', { name: 'Play' }).click();
  await atStep(page, 'step 4 of 4');
});

test('limits: as many operations as there may be, and no more', async (t) => {
  const many = Array.from({ length: 400 }, (_, i) => `${i}-${i + 1}`).join('.');
  const page = await s.open(t, `#/playground?model=built-in:dsu&nodes=500&ops=${many}`);
  await count(page, 400);
  await page.getByLabel('u', { exact: true }).fill('0');
  await page.getByLabel('v', { exact: true }).fill('1');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('at most 400 are possible on 500 nodes').waitFor();
  assert.equal(await page.locator('.history tbody tr').count(), 400);
});

test('operations are loaded from CSV and saved; a broken file changes nothing', async (t) => {
  const page = await s.open(t, '#/playground?model=built-in:lct&nodes=10&seed=0');
  await ready(page);
  const upload = async (name, text) => {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Load CSV' }).click();
    await (await chooser).setFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
  };
  await upload('good.csv', 'u,v\n0,1\n1,2\n# a remark\n2,0\n');
  await count(page, 3);
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
    await count(page, 3);
  }
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save CSV' }).click();
  const text = readFileSync(await (await saved).path(), 'utf8');
  assert.equal(text, '# query-toggle, nodes=10, seed=0\nu,v\n0,1\n1,2\n2,0\n');
  // What was saved brings its own number of nodes along.
  await upload('operations.csv', text.replace('nodes=10, seed=0', 'nodes=40, seed=7'));
  await page.waitForFunction(() => document.querySelectorAll('.forest:first-child .node').length === 40);
  await count(page, 3);
  assert.equal(await page.getByRole('spinbutton', { name: 'Seed' }).inputValue(), '7');
  await page.keyboard.press('Home');
  await atStep(page, 'step 0 of 3');
});

test('a link is said to be copied only if it was', async (t) => {
  const page = await s.open(t, '#/playground?model=built-in:dsu&nodes=8&ops=0-1');
  for (const [allowed, expected] of [[true, 'it was copied'], [false, 'copy it from the address bar']]) {
    await page.evaluate((allowed) => {
      navigator.clipboard.writeText = () => (allowed ? Promise.resolve() : Promise.reject(new Error('no')));
    }, allowed);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText(expected).waitFor();
  }
});

test('two models on operations of one’s own', async (t) => {
  const page = await s.open(t, '#/playground?model=built-in:dsu&nodes=8&seed=3&ops=0-1.2-3');
  await count(page, 2);
  await page.getByRole('combobox', { name: 'Compare with' }).selectOption('built-in:dsu-free');
  await page.waitForFunction(() => document.querySelectorAll('.forests .forest').length === 3);
  await node(page, 0, 1).click();
  await node(page, 0, 3).click();
  await count(page, 3);
  const replay = await s.ask('/api/replay', { model: 'built-in:dsu-free', nodes: 8, seed: 3, operations: [[0, 1], [2, 3], [1, 3]] });
  assert.deepEqual(await told(page, /dsu-free/), pointers(replay, 3, 'model'));
  await page.waitForURL(/with=built-in%3Adsu-free/);
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('.forests .forest').length === 3);
  // The words come first, the numbers second.
  await page.locator('.history tbody tr').first().getByText('were apart, now joined (1)').first().waitFor();
});
