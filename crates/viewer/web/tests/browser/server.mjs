// Servers that go away and come back, and addresses that lead nowhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atStep, serve, suite } from '../support.mjs';

const s = suite();

test('a server that went away is said, and what was clicked happens when it is back', async (t) => {
  const first = await serve(s.folder);
  const page = await s.open(t, '#/playground?model=built-in:dsu&nodes=8', { base: first.base });
  await page.locator('.player').waitFor();
  assert.equal(await first.stop('SIGTERM'), 0);
  await page.locator('.node').nth(0).click();
  await page.locator('.node').nth(1).click();
  await page.getByRole('alert').getByText('The server does not answer. Is pgn serve still running?').waitFor();
  const second = await serve(s.folder, new URL(first.base).port);
  t.after(() => second.stop());
  await page.waitForFunction(() => document.querySelectorAll('.history tbody tr').length === 1);
  assert.equal(await page.getByRole('alert').count(), 0);
});

test('a view opened while the server was down appears when it is up', async (t) => {
  const first = await serve(s.folder);
  const page = await s.open(t, '#/runs', { base: first.base });
  await page.locator('.runs tbody tr').first().waitFor();
  assert.equal(await first.stop('SIGTERM'), 0);
  await page.evaluate(() => {
    location.hash = '#/rollout?model=built-in:dsu&step=0';
  });
  await page.getByRole('alert').getByText('The server does not answer').waitFor();
  const second = await serve(s.folder, new URL(first.base).port);
  t.after(() => second.stop());
  await atStep(page, 'step 0 of 30');
});

test('the script is sent compressed to whoever takes that, and is the same', async () => {
  const of = (encoding) => fetch(`${s.base}/page.js`, { headers: { 'accept-encoding': encoding } });
  const [zipped, plain] = await Promise.all([of('br, gzip'), of('identity')]);
  assert.deepEqual([zipped.headers.get('content-encoding'), plain.headers.get('content-encoding')], ['gzip', null]);
  assert.ok(Number(zipped.headers.get('content-length')) < 80_000);
  assert.equal(await zipped.text(), await plain.text());
});

test('an unknown run and an unknown view are said, not shown blank', async (t) => {
  const page = await s.open(t, '#/run?id=run:../etc');
  await page.getByRole('alert').getByText('there is no run').waitFor();
  await page.goto(`${s.base}/#/nonsense`);
  await page.getByRole('alert').getByText('There is no page nonsense').waitFor();
});
