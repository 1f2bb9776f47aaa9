// Step by step through machines: any operation of their programs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suite, titled } from '../support.mjs';

const s = suite();
const rows = (page) => page.locator('.history tbody tr');

test('operations are drawn, applied, undone, stepped through, and kept in the address', async (t) => {
  const page = await s.open(t, '#/machine?model=built-in:machine-heap&nodes=10');
  await rows(page).nth(6).waitFor();
  await titled(page, 'Pairing heap – Step by step');
  await page.getByRole('button', { name: 'Start over' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.history tbody tr').length === 0);
  assert.equal(await page.locator('.micro').isVisible(), false);
  const apply = async (name, ...given) => {
    const count = await rows(page).count();
    await page.getByRole('combobox', { name: 'Operation' }).selectOption(name);
    for (const [index, node] of given.entries()) await page.locator('.operand').nth(index).fill(String(node));
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForFunction((count) => document.querySelectorAll('.history tbody tr').length === count, count + 1);
  };
  for (const x of [3, 4, 5, 6]) await apply('insert', 0, x);
  await apply('pop_min', 0);
  const { keys } = await s.ask('/api/calls', { program: 'heap', nodes: 10, seed: 0, calls: [] });
  const least = [3, 4, 5, 6].reduce((a, b) => (keys[a] < keys[b] ? a : b));
  await rows(page).first().getByText(`The result is node ${least}.`).waitFor();

  // Every micro-step has a line of the pseudo-code and a sentence; the least node is taken out.
  const micro = page.locator('.micro');
  await micro.getByText('The operation gets heap = 0.').waitFor();
  const steps = Number((await micro.locator('.counter').textContent()).match(/of (\d+)/)[1]);
  assert.ok(steps > 5, `${steps}`);
  for (let at = 1; at <= steps; at++) {
    await micro.getByRole('button', { name: 'Micro-step forward' }).click();
    await micro.getByText(`micro-step ${at} of`).waitFor();
    assert.equal(await micro.locator('.code .here').count(), 1);
    assert.match(await micro.locator('.verdict').textContent(), /^[A-Z].*\.$/);
  }
  assert.equal(await micro.locator('.verdict').textContent(), `The result is node ${least}.`);
  const label = await micro.locator(`g.node[data-node="${least}"]`).getAttribute('aria-label');
  assert.match(label, /points to itself/);

  // A row goes to its operation; the address has all of it.
  await page.getByRole('button', { name: 'Go to step 2' }).click();
  await page.getByText('The operation gets heap = 0 and x = 4.').waitFor();
  await page.reload();
  await page.getByText('The operation gets heap = 0 and x = 4.').waitFor();
  assert.equal(await rows(page).count(), 5);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.history tbody tr').length === 4);
  await page.getByRole('button', { name: 'Random operation' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.history tbody tr').length === 5);
});

test('keys step through micro-steps, which are announced', async (t) => {
  const page = await s.open(t, '#/machine?model=built-in:machine-heap&nodes=10&calls=insert-0-3.insert-0-4');
  await page.getByText('micro-step 0 of').waitFor();
  await page.keyboard.press('ArrowRight');
  await page.getByText('micro-step 1 of').waitFor();
  const told = await page.locator('.micro .verdict').textContent();
  assert.equal(await page.locator('#live').textContent(), told);
  await page.keyboard.press('End');
  await page.getByText(/micro-step (\d+) of \1/).waitFor();
  // In a field, arrows belong to the field.
  await page.locator('.operand').first().press('ArrowLeft');
  await page.getByText(/micro-step (\d+) of \1/).waitFor();
});

test('what cannot be done is said, and nothing is lost', async (t) => {
  const page = await s.open(t, '#/machine?model=built-in:machine-heap&nodes=10&calls=insert-0-3');
  await rows(page).first().waitFor();
  await page.getByRole('combobox', { name: 'Operation' }).selectOption('meld');
  for (const index of [0, 1]) await page.locator('.operand').nth(index).fill('0');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('heap and x are the same node').first().waitFor();
  assert.equal(await rows(page).count(), 2);
  await page.locator('.operand').nth(1).fill('99');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('alert').getByText('meld needs 2 nodes, whole numbers from 0 to 9').waitFor();
  const missing = await s.open(t, '#/machine?model=run:nothing');
  await missing.getByRole('alert').getByText('There is no machine run:nothing').waitFor();
  const broken = await s.open(t, '#/machine?model=built-in:machine-heap&calls=insert');
  await broken.getByRole('alert').getByText('expected a name and nodes').waitFor();
});

test('every built-in machine can be stepped through', async (t) => {
  const page = await s.open(t, '#/machine');
  await rows(page).first().waitFor();
  const machines = await page.getByRole('combobox', { name: 'Machine' }).locator('option').evaluateAll((all) => all.map((option) => option.value));
  assert.deepEqual(machines, ['dsu', 'lct', 'forest', 'splay', 'heap'].map((name) => `built-in:machine-${name}`));
  for (const machine of machines) {
    await page.getByRole('combobox', { name: 'Machine' }).selectOption(machine);
    await page.waitForFunction((program) => document.querySelector('.micro')?.dataset.program === program, machine.replace('built-in:machine-', ''));
    assert.ok(await page.locator('.code li').count() > 5, machine);
  }
});
