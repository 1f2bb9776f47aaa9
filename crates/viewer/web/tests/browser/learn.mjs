// The introduction: five live scenes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suite, titled } from '../support.mjs';

const s = suite();

test('five scenes, each of them live', async (t) => {
  const page = await s.open(t, '');
  await titled(page, 'Introduction');
  const scene = (number) => page.locator(`#scene-${number}`);
  assert.equal(await page.locator('.scene').count(), 5);

  // 1: an operation by two clicks.
  await scene(1).getByText('query-union(1, 3)').waitFor();
  await scene(1).locator('.forest').first().locator('.node').nth(4).click();
  await scene(1).locator('.forest').first().locator('.node').nth(5).click();
  await scene(1).getByText('query-union(4, 5) = 1').waitFor();
  const expected = await s.ask('/api/replay', { model: 'built-in:dsu', nodes: 8, seed: 1, operations: [[0, 1], [2, 3], [1, 3], [4, 5]] });
  assert.equal(expected.steps[3].truth.answer, 1);
  await scene(1).getByRole('combobox').selectOption('lct');
  await scene(1).getByText('query-toggle(4, 5) = 0').waitFor();

  // 2: what the network sees.
  await scene(2).getByText(/query-union\(1, 2\) network: [01] \(p = /).waitFor();
  assert.equal(await scene(2).locator('.operand-row').count(), 2);
  await scene(2).getByRole('button', { name: 'Step forward' }).click();
  await scene(2).getByText(/query-union\(6, 7\)/).waitFor();

  // 3: masks, with the network's probabilities.
  await scene(3).getByText(/of 12 masks are right/).waitFor();
  await scene(3).locator('g.node.heat').first().waitFor();

  // 4: attention of any node.
  await scene(4).locator('.candidates tbody tr').nth(4).waitFor();
  await scene(4).locator('.node').nth(2).click();
  await scene(4).getByText('Node 2 is drawn to').waitFor();

  // 5: every built-in model at every size.
  const filled = () => page.waitForFunction(() => {
    const rows = [...document.querySelectorAll('#scene-5 tbody tr')];
    return rows.length > 0 && rows.every((row) => row.cells.length === 5);
  });
  await filled();
  const tables = await scene(5).locator('table').evaluateAll((all) => all.map((table) => [table.caption.textContent, [...table.tBodies[0].rows].map((row) => row.cells[0].textContent)]));
  assert.deepEqual(tables.map(([title]) => title), ['Disjoint-set union', 'Link/cut tree', 'Disjoint-set union, ordered', 'Rooted forest', 'Splay tree', 'Pairing heap'].map((title) => `${title}, test sequence 0`));
  assert.deepEqual(tables[0][1], ['pgn the paper’s', 'pgn-free trained freely', 'pgn-machine certified', 'always answer 1']);
  // The numbers are those of the replays.
  const cell = scene(5).locator('table').nth(1).locator('tbody tr').nth(1).locator('td').nth(3);
  const { steps } = await s.ask('/api/replay', { model: 'built-in:lct-free', nodes: 200, seed: 0, sequence: 0 });
  const right = steps.filter(({ truth, model }) => truth.answer === model.answer).length / steps.length;
  assert.equal(await cell.textContent(), `${Math.round(100 * right)}%`);
  await scene(5).getByRole('combobox', { name: 'What is compared' }).selectOption('masks');
  assert.notEqual(await cell.textContent(), `${Math.round(100 * right)}%`);
  assert.equal(await scene(5).locator('table').nth(1).locator('tbody tr').nth(3).locator('td').first().textContent(), '–', 'a baseline has no masks');
  await scene(5).getByRole('button', { name: 'Another sequence' }).click();
  await scene(5).getByText('test sequence 1').first().waitFor();
});

test('inside an operation: pseudo-code, registers and a sentence for each micro-step', async (t) => {
  const page = await s.open(t, '');
  const inside = page.locator('#scene-1 .micro');
  await inside.getByText('micro-step 0 of').waitFor();
  for (const [task, lines] of [['dsu', /find/i], ['lct', /expose|splay/i]]) {
    await page.locator('#scene-1').getByRole('combobox').selectOption(task);
    await page.waitForFunction((task) => document.querySelector('#scene-1 .micro')?.dataset.program === task, task);
    assert.match(await inside.locator('.code').textContent(), lines);
    const steps = Number((await inside.locator('.counter').textContent()).match(/of (\d+)/)[1]);
    assert.ok(steps > 3, `${steps} micro-steps`);
    const said = new Set();
    for (let at = 0; at < Math.min(steps, 12); at++) {
      await inside.getByRole('button', { name: 'Micro-step forward' }).click();
      await inside.getByText(`micro-step ${at + 1} of`).waitFor();
      assert.equal(await inside.locator('.code .here').count(), 1);
      const sentence = await inside.locator('.verdict').textContent();
      assert.match(sentence, /^[A-Zu].*[.?]$/);
      said.add(sentence);
    }
    assert.ok(said.size > 3, 'the sentences differ');
    // At the end the pointers are those of the structure.
    await inside.locator('.scrubber').evaluate((slider) => {
      slider.value = slider.max;
      slider.dispatchEvent(new Event('input'));
    });
    const told = (forest) => forest.locator('g.node').evaluateAll((nodes) => nodes.map((node) => node.getAttribute('aria-label').match(/points to (\d+|itself)/)[1]));
    assert.deepEqual(await told(inside.locator('.forest')), await told(page.locator('#scene-1 .forest').first()));
  }
});
