// Draws docs/images from the page: film.png, four moments of one operation, and viewer.png, a rollout. PAGE and CHROMIUM as in tests/support.mjs.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { serveFiles } from './tests/support.mjs';

const MOMENTS = [[53, '1. Messages travel along pointers; the largest win.'], [119, '2. Visited nodes (blue) attend to targets.'], [130, '3. Their pointers swing to the largest α.'], [159, '4. The answer is read from all nodes.']];
const images = join(dirname(fileURLToPath(import.meta.url)), '../../../docs/images');
const files = await serveFiles(process.env.PAGE);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'] });
const page = await browser.newPage({ viewport: { width: 570, height: 800 }, reducedMotion: 'reduce', colorScheme: 'light', deviceScaleFactor: 1.5 });
await page.goto(`${files.base}/`);
await page.locator('.film-node').first().waitFor();
const shots = [];
for (const [tick] of MOMENTS) {
  await page.locator('#scene-2 .steps .scrubber').evaluate((slider, tick) => {
    slider.value = tick;
    slider.dispatchEvent(new Event('input'));
  }, tick);
  shots.push((await page.locator('.film').screenshot()).toString('base64'));
}
await page.setViewportSize({ width: 1100, height: 900 });
await page.setContent(`<body style="margin:0;background:#fff;font:600 17px system-ui,'DejaVu Sans',sans-serif;color:#1b1f24"><div id="all" style="display:inline-grid;grid-template-columns:auto auto;gap:14px;padding:6px">${
  shots.map((shot, index) => `<div><div style="padding:2px 4px 6px">${MOMENTS[index][1]}</div><img style="width:530px;display:block" src="data:image/png;base64,${shot}"></div>`).join('')}</div>`);
await page.locator('#all').screenshot({ path: join(images, 'film.png') });
const rollout = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', colorScheme: 'light' });
await rollout.goto(`${files.base}/#/rollout?model=built-in:lct-free&nodes=20&step=20`);
await rollout.locator('.counter').getByText('step 20 of 30').waitFor();
await rollout.screenshot({ path: join(images, 'viewer.png') });
await browser.close();
files.stop();
