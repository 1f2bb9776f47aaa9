// Reports: one file, opened from disk.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { HOSTILE, PGN, SHOTS, SIZES, copyRun, findBarriers, findFaults, pointers, scrub, suite, viewer } from '../support.mjs';

const s = suite((folder) => {
  for (const [name, task] of [['dsu/pgn-0', 'dsu'], ['lct/pgn-0', 'lct'], [HOSTILE, 'dsu']]) copyRun(folder, name, task);
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
});

/** The report, opened from disk; whatever goes wrong in it, or is loaded besides, fails the test. */
async function openReport(t, options = {}) {
  const context = await s.browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const address = pathToFileURL(join(s.folder, 'report.html')).href;
  const troubles = [];
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
  page.on('request', (request) => !request.url().startsWith(address) && !request.url().startsWith('data:') && troubles.push(`went to ${request.url()}`));
  await page.goto(address);
  await page.locator('.replay .counter').first().getByText(/^step \d+ of 30/).waitFor();
  t.after(async () => {
    await context.close();
    assert.deepEqual(troubles, []);
  });
  return page;
}

test('a report opened from disk: tables, curves, players', async (t) => {
  const page = await openReport(t);
  assert.equal(await page.title(), 'What was learned', 'no run changed it by its name');
  const names = await page.locator('details.run > summary b').allTextContents();
  assert.ok(names.includes(HOSTILE), 'names are text, whatever is in them');
  await page.getByRole('cell', { name: '0.895 ± 0.006' }).first().waitFor();
  assert.ok(await page.locator('.figure svg[role=img]').count() >= 6);
  assert.ok(await page.locator('[data-curves] .line').count() >= 2);

  // A run's own curves are drawn once they are unfolded, and can be read.
  const run = page.locator('details.run').first();
  assert.equal(await run.locator('.line-0').count(), 0);
  await run.locator('summary').click();
  await run.getByText('epoch 40: total').waitFor();
  assert.match(await run.locator('pre').textContent(), /learning_rate = 0\.005/);

  // The summary comes first, and players begin where something is wrong.
  assert.equal(await page.locator('table caption').first().textContent(), 'All runs');
  assert.ok(await page.locator('.replay .verdict.wrong').count() > 0);

  // The same replay as a server's.
  const replay = await s.ask('/api/replay', { model: 'built-in:dsu', nodes: 20, seed: await s.seed('built-in:dsu'), sequence: 0 });
  const player = page.locator('.replay').first();
  const shown = (title) => player.locator('.forest', { has: page.getByRole('heading', { name: title }) }).locator('.node').evaluateAll((nodes) => nodes.map((node, index) => {
    const found = node.getAttribute('aria-label').match(/points to (\d+|itself)/)[1];
    return found === 'itself' ? index : Number(found);
  }));
  const other = await page.locator('.replay .counter').nth(1).textContent();
  const check = async (at) => {
    await player.locator('.counter').getByText(`step ${at} of 30`).waitFor();
    assert.deepEqual(await shown('Ground truth'), pointers(replay, at, 'truth'));
    assert.deepEqual(await shown('Model'), pointers(replay, at, 'model'));
  };
  await player.getByRole('slider', { name: 'Step' }).press('Home');
  await player.getByRole('button', { name: 'Play' }).click();
  await player.locator('.counter').getByText('step 2 of 30').waitFor();
  await player.getByRole('button', { name: 'Pause' }).click();
  await scrub(page, player, check);
  // Keys go to the player that has the focus, and to no other.
  await page.keyboard.press('ArrowLeft');
  await check(29);
  const second = page.locator('.replay').nth(1).locator('.counter');
  assert.equal(await second.textContent(), other);
  await player.locator('.forest').nth(1).locator('.node').nth(7).click();
  await player.locator('.inspector').getByText('Node 7', { exact: true }).waitFor();
  assert.match(await player.locator('.inspector').textContent(), /priority.*points to.*visited/s);
});

for (const [width, height] of SIZES) {
  test(`nothing in a report is cut off or overlaps at ${width}×${height}`, async (t) => {
    for (const colorScheme of ['light', 'dark']) {
      const page = await openReport(t, { viewport: { width, height }, colorScheme });
      const player = page.locator('.replay').first();
      await player.locator('.forest').nth(1).locator('.node').nth(3).click();
      await page.keyboard.press('End');
      await player.locator('.counter').getByText('step 30 of 30').waitFor();
      await page.locator('.replay').nth(1).getByRole('button', { name: 'Step forward' }).click();
      await page.locator('details.run summary').first().click();
      await page.getByText('epoch 40: total').first().waitFor();
      assert.deepEqual(await page.evaluate(findFaults), [], colorScheme);
      assert.deepEqual(await findBarriers(page), [], colorScheme);
      if (SHOTS) await page.screenshot({ path: join(SHOTS, `report-${width}-${colorScheme}.png`), fullPage: true });
    }
  });
}

