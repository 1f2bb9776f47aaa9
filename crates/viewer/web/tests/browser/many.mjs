// Five hundred runs: grouped, and drawn quickly.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { suite, viewer, editableResults } from '../support.mjs';

const s = suite((folder) => {
  const models = ['pgn', 'gnn', 'deepsets', 'dgm', 'supgnn'];
  for (let index = 0; index < 500; index++) {
    const task = index % 2 ? 'lct' : 'dsu';
    const model = models[Math.floor(index / 2) % 5];
    const run = join(folder, task, model, `seed-${Math.floor(index / 10)}`);
    mkdirSync(run, { recursive: true });
    const text = (contents) => contents.replaceAll('"pgn"', `"${model}"`);
    const config = readFileSync(join(viewer, 'models', task, 'config.toml'), 'utf8');
    writeFileSync(join(run, 'config.toml'), text(config).replace('seed = 0', `seed = ${Math.floor(index / 10)}`));
    writeFileSync(join(run, 'results.json'), text(editableResults(task)).replace('"seed": 0', `"seed": ${Math.floor(index / 10)}`));
  }
  cpSync(join(viewer, 'models/dsu'), join(folder, 'one'), { recursive: true });
});

/** Seconds of script, layout and style until the rows are there. */
async function work(t, hash, rows) {
  const page = await s.open(t, 'third-party.txt');
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await page.goto(`${s.base}/${hash}`);
  await page.locator('.runs tbody tr').nth(rows - 1).waitFor();
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'ScriptDuration').value;
}

test('five hundred runs take less than half a second of script, grouped or not', async (t) => {
  for (const [hash, rows] of [['#/runs', 10], ['#/runs?group=0', 500]]) {
    const seconds = await work(t, hash, rows);
    assert.ok(seconds < 0.5, `${hash}: ${seconds} s`);
  }
});

test('seeds are grouped, with mean ± sd, and can be unfolded', async (t) => {
  const page = await s.open(t, '#/runs');
  const group = page.getByRole('button', { name: 'dsu pgn' });
  await group.waitFor();
  const rows = page.locator('.runs tbody:not(.baselines) tr');
  const folded = await rows.count();
  // Two tasks with five models each, one run that is alone, and the built-in models.
  const builtIn = (await s.ask('/api/runs')).filter((run) => run.built_in).length;
  assert.equal(folded, 2 * 5 + 1 + builtIn);
  assert.match(await page.locator('tr', { has: group }).textContent(), /50 runs.*0\.935 ± 0\.000/);
  await group.click();
  assert.equal(await group.getAttribute('aria-expanded'), 'true');
  assert.equal(await rows.count(), folded + 50);
  assert.ok(await group.evaluate((element) => element === document.activeElement), 'the focus stays');
  // Exactly one model, not all whose names contain it.
  await page.getByRole('combobox', { name: 'Model' }).selectOption('gnn');
  await page.locator('.facts').getByText('100 of').waitFor();
  await page.getByLabel('group seeds').uncheck();
  assert.equal(await rows.count(), 100);
});
