// The introduction: live scenes, the film of one operation, and a lecture.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findBarriers, held, pointers, suite, titled } from '../support.mjs';

const s = suite();
const FILM = { model: 'built-in:dsu-free', nodes: 11, seed: 0, sequence: 17 };

test('a data structure moves pointers, by two clicks', async (t) => {
  const page = await s.open(t, '');
  await titled(page, 'Introduction');
  const scene = page.locator('#scene-1');
  await scene.getByText('query-union(1, 3)').waitFor();
  await scene.locator('.forest').first().locator('.node').nth(4).click();
  await scene.locator('.forest').first().locator('.node').nth(5).click();
  await scene.getByText('query-union(4, 5): were apart, now joined (1).').waitFor();
  const expected = await s.ask('/api/replay', { model: 'built-in:dsu', nodes: 8, seed: 1, operations: [[0, 1], [2, 3], [1, 3], [4, 5]] });
  assert.equal(expected.steps[3].truth.answer, 1);
  await scene.getByRole('combobox').selectOption('lct');
  await scene.getByText('query-toggle(4, 5): were apart, now linked (0).').waitFor();
});

test('while a reply is awaited nothing false is shown, and nothing collapses', async (t) => {
  const page = await s.open(t, 'third-party.txt');
  const release = await held(page, '**/api/replay');
  await page.goto(`${s.base}/`);
  await page.locator('#scene-1 .canvas').first().waitFor();
  assert.equal(await page.locator('.node').count(), 0, 'no forest that is none of theirs');
  release();
  await page.locator('#scene-1 .micro .code').waitFor();
  const height = () => page.locator('#scene-1').evaluate((scene) => scene.getBoundingClientRect().height);
  const before = await height();
  const again = await held(page, '**/api/replay');
  await page.locator('#scene-1 .forest').first().locator('.node').nth(4).click();
  await page.locator('#scene-1 .forest').first().locator('.node').nth(5).click();
  await page.waitForFunction(() => document.querySelector('#scene-1 .micro').inert);
  assert.equal(await height(), before);
  again();
  await page.getByText('query-union(4, 5)').first().waitFor();
});

test('a view says that it is loading', async (t) => {
  const page = await s.open(t, 'third-party.txt');
  const release = await held(page, '**/api/about?');
  await page.goto(`${s.base}/#/runs`);
  await page.getByText('Loading …').waitFor();
  release();
  await page.locator('.runs tbody tr').first().waitFor();
});

test('one operation as a film: every stage tells what the model computed', async (t) => {
  const page = await s.open(t, '#/learn?scene=2');
  const scene = page.locator('#scene-2');
  await scene.getByText('query-union(4, 7)').waitFor();
  const replay = await s.ask('/api/replay', FILM);
  const step = replay.steps[8];
  assert.deepEqual([step.u, step.v], [4, 7]);
  const stage = (name) => scene.getByRole('button', { name, exact: true });
  const arrows = () => scene.locator('.film-node').evaluateAll((nodes) => nodes.map((node) => Number(node.getAttribute('aria-label').match(/points to (\d+)/)[1])));
  await stage('Operands').click();
  assert.equal(await scene.locator('.film-node.operand').count(), 2);
  assert.deepEqual(await arrows(), pointers(replay, 8, 'model'));
  // Messages: a dot for each, along pointers in both directions.
  await stage('Messages').click();
  const moving = pointers(replay, 8, 'model').filter((to, node) => to !== node).length;
  assert.equal(await scene.locator('.message').count(), 2 * moving);
  // A guess, then the masks.
  await scene.locator('.film-node').nth(4).locator('.body').click();
  await scene.locator('.film-node').nth(5).focus();
  await page.keyboard.press('Enter');
  assert.equal(await scene.locator('.film-node[aria-pressed=true]').count(), 2);
  await stage('Masks').click();
  const visited = await scene.locator('.film-node.visited').evaluateAll((nodes) => nodes.map((node) => Number(node.dataset.node)));
  assert.deepEqual(visited, step.model.visited);
  await scene.getByText(`The data structure visits ${step.truth.visited.length} nodes. The network found ${visited.length} of them; you found 1 and 1 more.`).waitFor();
  // Another guess, where a pointer goes.
  const [subject, target] = step.truth.moved[0];
  await scene.getByText(`click the node that node ${subject} will point to`).waitFor();
  await scene.locator('.film-node').nth(target).locator('.body').click();
  await stage('Pointers').click();
  await scene.getByText(`Node ${subject} now points to ${target} in the data structure. The network aims it at ${target}; you said ${target}.`).waitFor();
  await stage('Attention').click();
  assert.ok(await scene.locator('.beam').count() >= step.model.moved.length);
  // Numbers on hover: the strongest candidate is where the pointer goes.
  const [node, to] = step.model.moved[0];
  await scene.locator('.film-node').nth(node).locator('.body').hover();
  await scene.getByRole('heading', { name: `Node ${node}` }).waitFor();
  assert.match(await scene.locator('.film-numbers').textContent(), new RegExp(`largest α${to}: `));
  assert.equal(await scene.locator('.film-numbers .latent').count(), 3);
  await stage('Answer').click();
  assert.deepEqual(await arrows(), pointers(replay, 9, 'model'));
  await scene.locator('.verdict').getByText(/were apart, now joined \(1, p = 0\.\d+\)\. So says the truth\./).waitFor();
  assert.equal(await scene.locator('.ghost').count(), pointers(replay, 9, 'truth').filter((to, node) => to !== node).length);
  assert.deepEqual(await findBarriers(page), []);
  // The slider, the next operation, and the other structure.
  await scene.getByRole('slider', { name: 'Stage of the operation' }).press('Home');
  assert.equal(await stage('Operands').getAttribute('aria-current'), 'step');
  await scene.getByRole('button', { name: 'Next operation' }).click();
  await scene.getByText('operation 10 of 16').waitFor();
  await scene.getByRole('combobox').selectOption('lct-free');
  await scene.getByText('query-toggle').first().waitFor();
  // A link/cut tree is drawn in order, with path-parents dashed, beside the tree it represents.
  await scene.getByRole('heading', { name: 'The network’s pointers: the auxiliary forest' }).waitFor();
  await scene.getByRole('heading', { name: /^The tree that the data structure represents after operation 9/ }).waitFor();
  await stage('Answer').click();
  const lct = await s.ask('/api/replay', { ...FILM, model: 'built-in:lct-free' });
  const [truth, model] = ['truth', 'model'].map((side) => pointers(lct, 9, side));
  const child = (side) => {
    const all = Array.from({ length: lct.nodes }, (_, node) => node);
    for (const one of lct.steps.slice(0, 9)) for (const [node, to] of one.truth.fields?.[side] ?? []) all[node] = to;
    return all;
  };
  const sides = { left: child('left'), right: child('right') };
  const right = (node) => truth[node] === model[node] && truth[node] !== node;
  const x = await scene.locator('.film-node').evaluateAll((nodes) => nodes.map((node) => node.querySelector('.body').getBoundingClientRect().x));
  let [ordered, dashed] = [0, 0];
  truth.forEach((parent, node) => {
    if (!right(node)) return;
    const side = Object.keys(sides).find((side) => sides[side][parent] === node);
    if (!side) dashed++;
    else {
      ordered++;
      assert.equal(x[node] < x[parent], side === 'left', `${node} below ${parent}`);
    }
  });
  assert.ok(ordered > 0, 'there are children');
  assert.equal(await scene.locator('.film-pointer.path-parent').count(), dashed);
});

test('badges and rims go with the registers when a program swaps u and v', async (t) => {
  // The operand of lower priority is given first.
  const { priorities } = await s.ask('/api/replay', { model: 'built-in:lct', nodes: 8, seed: 1, operations: [] });
  const [low, high] = [0, 1].sort((a, b) => priorities[a] - priorities[b]);
  const { steps } = await s.ask('/api/micro-steps', { task: 'lct', nodes: 8, seed: 1, operations: [[low, high]] });
  const swapped = steps.findIndex(({ registers }) => registers.u === high && registers.v === low);
  assert.ok(swapped >= 0, 'u and v are swapped');
  const page = await s.open(t, `#/playground?model=built-in:lct&nodes=8&seed=1&ops=${low}-${high}`);
  await page.getByText('Inside this operation').click();
  const micro = page.locator('.inside .micro');
  await micro.getByText('micro-step 0 of').waitFor();
  await micro.locator('.scrubber').evaluate((slider, at) => {
    slider.value = at;
    slider.dispatchEvent(new Event('input'));
  }, swapped + 1);
  const forest = micro.locator('.forest').first();
  const marked = await forest.locator('.badge').evaluateAll((all) => Object.fromEntries(all.flatMap((one, node) => (one.textContent ? [[one.textContent, node]] : []))));
  const { registers } = steps[swapped];
  assert.deepEqual(marked, { u: registers.u, v: registers.v });
  const rims = await forest.locator('.node').evaluateAll((all) => all.flatMap((one, node) => (one.classList.contains('visited') ? [node] : [])));
  assert.deepEqual(rims, [...new Set(Object.values(registers).filter((node) => node !== null))].sort((a, b) => a - b));
  // Keys stand under the nodes, of the introduction too.
  const introduction = await s.open(t, '');
  await introduction.locator('#scene-1 .node').first().waitFor();
  for (const picture of [introduction.locator('#scene-1 .forest').first(), forest]) {
    assert.deepEqual((await picture.locator('.beneath').allTextContents()).map(Number).sort((a, b) => a - b), [1, 2, 3, 4, 5, 6, 7, 8]);
  }
  // Pictures are saved.
  const saved = page.waitForEvent('download');
  await micro.getByRole('button', { name: 'SVG' }).click();
  assert.match((await saved).suggestedFilename(), /^micro-step-\d+\.svg$/);
});

test('what happens as n grows, next to what one gets without a network', async (t) => {
  const page = await s.open(t, '');
  const scene = page.locator('#scene-3');
  await scene.locator('table').first().waitFor();
  const all = await s.ask('/api/runs');
  const rows = (index) => scene.locator('table').nth(index).locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const names = async (index) => (await rows(index)).map(([name]) => name);
  assert.deepEqual(await names(1), ['pgn the paper’s', 'pgn-free trained freely', 'pgn-free-2 two layers', 'pgn-machine proved', 'always answer 0', 'always answer 1']);
  const lct = all.find(({ id }) => id === 'built-in:lct').test.find(({ nodes }) => nodes === 200);
  const table = await rows(1);
  assert.equal(table[0][4], `${Math.round(100 * lct.accuracy)}%`);
  assert.equal(table[4][4], `${Math.round(100 * (1 - lct.answers_1))}%`);
  const measure = scene.getByRole('combobox', { name: 'What is compared' });
  for (const [name, baselines] of [['f1', ['always answer 1', 'counting']], ['pointers', ['every node points to itself']], ['masks', ['no node is visited']]]) {
    await measure.selectOption(name);
    assert.deepEqual((await names(1)).slice(4), baselines);
  }
  assert.equal((await rows(1))[4][4], `${Math.round(100 * lct.trivial.never_visit)}%`);
});

test('every scene has an address; a lecture shows one at a time', async (t) => {
  const page = await s.open(t, '#scene-3');
  await page.locator('#scene-3 table').first().waitFor();
  await page.waitForFunction(() => document.querySelector('#scene-1 .micro .code') && document.querySelector('.film-node') && Math.abs(document.querySelector('#scene-3').getBoundingClientRect().top) < 2);
  await page.getByRole('button', { name: 'Lecture' }).click();
  await page.locator('#scene-1').waitFor({ state: 'hidden' });
  await page.waitForURL(/scene=3&lecture=1/);
  await page.keyboard.press('ArrowLeft');
  await page.locator('#scene-2').waitFor();
  await page.reload();
  await page.locator('#scene-2 .film-node').first().waitFor();
  assert.ok(await page.locator('#scene-3').isHidden());
  assert.ok(await page.locator('header nav').isHidden());
  await page.keyboard.press('Escape');
  await page.locator('#scene-3').waitFor();
});

test('inside an operation: pseudo-code, registers and a sentence for each micro-step', async (t) => {
  const page = await s.open(t, '');
  const inside = page.locator('#scene-1 .micro');
  await inside.getByText('micro-step 0 of').waitFor();
  for (const [task, lines] of [['dsu', /find/i], ['lct', /expose|splay/i]]) {
    // What is chosen already would be asked for again, and the player would begin anew under the clicks.
    if (task !== 'dsu') await page.locator('#scene-1').getByRole('combobox').selectOption(task);
    await page.waitForFunction((task) => {
      const micro = document.querySelector('#scene-1 .micro');
      return micro?.dataset.program === task && !micro.inert;
    }, task);
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
    assert.deepEqual(await told(inside.locator('.forest').first()), await told(page.locator('#scene-1 .forest').first()));
  }
});
