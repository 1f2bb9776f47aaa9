// Every view at three sizes, light and dark: nothing cut off, no overlaps, no barriers.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { SHOTS, SIZES, copyRun, copyUnion, findBarriers, findFaults, suite } from '../support.mjs';

const s = suite((folder) => {
  copyRun(folder, 'dsu/pgn-0', 'dsu');
  copyRun(folder, 'dsu/pgn-1', 'dsu');
  copyUnion(folder, 'kruskal', 'kruskal');
});

const VIEWS = [
  ['learn', '', '.film-node'],
  ['lecture', '#/learn?scene=2&lecture=1', '.film-node'],
  ['runs', '#/runs', '.runs tbody tr'],
  ['run', '#/run?id=run:dsu/pgn-0', '.scores'],
  ['compare', '#/compare?task=dsu', '.scores tbody tr'],
  ['rollout-dsu', '#/rollout?model=built-in:dsu&nodes=20&step=17', '.counter'],
  ['rollout-lct', '#/rollout?model=built-in:lct&nodes=20&step=20', '.counter'],
  ['rollout-two', '#/rollout?model=built-in:dsu&with=run:dsu/pgn-0&nodes=20&step=20', '.forest:nth-child(3)'],
  ['rollout-100', '#/rollout?model=built-in:dsu&nodes=100&step=120', '.counter'],
  ['rollout-chain', '#/rollout?model=built-in:dsu&nodes=20&step=19&source=chain', '.counter'],
  ['rollout-kruskal', '#/rollout?model=run:kruskal&nodes=20&step=20', '.graph-box'],
  ['rollout-200', '#/rollout?model=built-in:dsu&nodes=200&step=250', '.bundle'],
  ['benchmark', '#/benchmark', '.leaderboard'],
  ['run-machine', '#/run?id=built-in:machine-lct', '.scores'],
  ['machine', '#/machine?model=built-in:machine-heap&nodes=10&calls=insert-0-3.insert-0-4.insert-0-5.insert-0-6.pop_min-0', '.micro .code'],
  ['playground', '#/playground?model=built-in:dsu&nodes=12&seed=1&ops=0-1.2-3.1-3.5-7.0-2.9-5', '.history tbody tr'],
];
for (const [width, height] of SIZES) {
  test(`with slow replies nothing is cut off, overlaps or is a barrier at ${width}×${height}`, async (t) => {
    for (const colorScheme of ['light', 'dark']) {
      for (const [name, hash, ready] of VIEWS) {
        const page = await s.open(t, hash, { viewport: { width, height }, colorScheme, slow: 60 });
        await page.locator(ready).first().waitFor();
        if (name.startsWith('rollout')) {
          await page.locator('.forest').nth(1).locator('.node:not(.folded):not(.bundle)').nth(3).click();
          await page.getByText('Pointer candidates').waitFor();
        }
        if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}-${width}-${colorScheme}.png`), fullPage: true });
        assert.deepEqual(await page.evaluate(findFaults), [], `${name} ${colorScheme}`);
        assert.deepEqual(await findBarriers(page), [], `${name} ${colorScheme}`);
        await page.context().close();
      }
    }
  });
}

test('targets are large enough for fingers, and the focus can be seen', async (t) => {
  const page = await s.open(t, '#/rollout?model=built-in:dsu&nodes=20&step=17', { viewport: { width: 390, height: 844 } });
  await page.locator('.player').waitFor();
  const small = await page.evaluate(() => [...document.querySelectorAll('main button, main select, main input, main label.check, main summary, header a')]
    .filter((element) => element.checkVisibility() && !(element.matches('input[type=checkbox]') && element.closest('label')))
    .map((element) => [element, element.getBoundingClientRect()])
    .filter(([, box]) => box.height < 24 || box.width < 24)
    .map(([element, box]) => `${element.tagName} ${element.textContent.slice(0, 20)} ${Math.round(box.width)}×${Math.round(box.height)}`));
  assert.deepEqual(small, []);
  const contrast = await page.evaluate(() => {
    const style = getComputedStyle(document.documentElement);
    const light = (name) => {
      const probe = document.createElement('i');
      document.body.append(probe);
      probe.style.color = style.getPropertyValue(name);
      const channels = getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map((value) => value / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
      probe.remove();
      return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2];
    };
    const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    return [ratio('--border', '--back'), ratio('--blue', '--back'), ratio('--blue', '--panel')];
  });
  for (const ratio of contrast) assert.ok(ratio >= 3, `${contrast}`);
});
