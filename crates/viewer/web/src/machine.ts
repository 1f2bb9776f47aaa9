/** Step by step through a machine: any operations of its program, micro-step by micro-step. */

import { answerWords, isMachine, structureName } from './about';
import * as api from './api';
import { choice, field, h, notice, wholeNumber } from './dom';
import { ending } from './micro-memory';
import { MicroPlayer } from './micro-player';
import { nameOf } from './models';
import { textOf } from './pseudo-code';
import type { View } from './view';

const FEWEST = 4;
const MOST = 60;
/** Operations that are drawn to begin with. */
const FIRST = 8;

export const machine: View = async (root, parameters, context) => {
  const machines = (await api.runs()).filter((run) => isMachine(run) && !run.trouble && run.finished);
  const asked = parameters.get('model');
  const options = machines.map((run): [string, string] => [run.id, `${structureName(run.task)}: ${nameOf(run)}`]);
  if (asked !== null && !machines.some((run) => run.id === asked)) options.unshift([asked, `${asked} (not found)`]);
  const model = choice(options, asked);
  const nodes = h('input', { type: 'number', min: FEWEST, max: MOST, value: parameters.get('nodes') ?? '10', inputmode: 'numeric' });
  const seed = h('input', { type: 'number', min: 0, max: 999999, value: parameters.get('seed') ?? '0', inputmode: 'numeric' });
  const settings = h('form', { class: 'controls', 'aria-label': 'The machine' }, field('Machine', model), field('Nodes', nodes, `${FEWEST}–${MOST}`), field('Seed of the keys', seed));
  const operation = h('select', { 'aria-label': 'Operation' });
  const inputs = h('span', { class: 'operation' });
  const form = h('form', { class: 'operation', 'aria-label': 'An operation', novalidate: true }, operation, inputs, h('button', { type: 'submit', class: 'primary' }, 'Apply'));
  const undo = h('button', { type: 'button', onclick: () => update(calls.slice(0, -1)) }, 'Undo');
  const random = h('button', { type: 'button', onclick: () => update(calls, 1) }, 'Random operation');
  const tools = h('div', { class: 'tools' }, form, h('div', { class: 'buttons' }, random, undo, h('button', { type: 'button', onclick: () => update([]) }, 'Start over')));
  const trouble = h('div');
  const order = h('p', { class: 'quiet' });
  const micro = new MicroPlayer('');
  const rows = h('tbody');
  const history = h('section', { class: 'history calls' }, h('h2', {}, 'Operations'),
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Operations so far' },
      h('table', {}, h('thead', {}, h('tr', {}, ...['step', 'operation', 'result'].map((title) => h('th', { scope: 'col' }, title)))), rows)));
  root.replaceChildren(h('h1', {}, 'Step by step'),
    h('p', { class: 'quiet' }, 'A machine is a network that executes a program micro-step by micro-step. In each micro-step it sees a few nodes and chooses what to write. The sentence, the marked line and the picture show what it did.'),
    settings, tools, trouble, order, micro.element, history);

  let calls: api.Call[] = [];
  let shown = 0;
  let generation = 0;
  let known: api.Called | null = null;
  const subject = () => machines.find((run) => run.id === model.value);
  const offerArguments = () => {
    const chosen = known?.operations.find(({ name }) => name === operation.value);
    inputs.replaceChildren(h('span', {}, '('), ...(chosen?.arguments ?? []).flatMap((name, index) => [index ? ', ' : '', h('input', { type: 'number', min: 0, class: 'operand', 'aria-label': name, placeholder: name, inputmode: 'numeric' })]), h('span', {}, ')'));
  };
  const update = async (next: api.Call[], more = 0, step?: number) => {
    const mine = ++generation;
    try {
      const run = subject();
      if (!run) throw new Error(machines.length ? `There is no machine \`${model.value}\` in the folder being served. Choose another one.` : 'There is no trained machine to step through.');
      const answer = await api.calls({ program: run.task, nodes: wholeNumber(nodes, 'Nodes'), seed: wholeNumber(seed, 'Seed'), calls: next, more });
      if (mine !== generation) return;
      trouble.replaceChildren();
      known = answer;
      calls = answer.calls.map(({ operation, arguments: given }) => ({ operation, arguments: given }));
      const names = answer.operations.map(({ name }) => name);
      if ([...operation.options].map(({ value }) => value).join() !== names.join()) {
        operation.replaceChildren(...choice(names.map((name): [string, string] => [name, name])).childNodes);
        [operation.value] = names;
        offerArguments();
      }
      undo.disabled = calls.length === 0;
      const byKey = answer.keys.map((_, node) => node).sort((a, b) => answer.keys[a] - answer.keys[b]);
      order.replaceChildren('Nodes by key: ', h('code', {}, byKey.join(' < ')));
      rows.replaceChildren(...answer.calls.map((call, index) => h('tr', { onclick: () => show(index + 1) },
        h('td', {}, h('button', { type: 'button', class: 'link', 'aria-label': `Go to step ${index + 1}` }, index + 1)),
        h('td', {}, h('code', {}, `${call.operation}(${call.arguments.join(', ')})`)), h('td', {}, ending(call.outcome, answerWords(run.task))))).reverse());
      await show(Math.min(step ?? calls.length, calls.length));
    } catch (error) {
      if (mine === generation) trouble.replaceChildren(notice('error', (error as Error).message));
    }
  };
  const show = async (step: number) => {
    const run = subject();
    shown = step;
    const mine = ++generation;
    rows.querySelector('.here')?.classList.remove('here');
    rows.children[calls.length - step]?.classList.add('here');
    context.remember({ model: model.value, nodes: nodes.value, seed: seed.value, calls: writeCalls(calls), step: String(step) });
    if (!run || step === 0) return micro.load(null);
    micro.await();
    try {
      const steps = await api.microSteps({ task: run.task, nodes: Number(nodes.value), seed: Number(seed.value), calls: calls.slice(0, step), model: run.id });
      if (mine !== generation) return;
      micro.load(steps);
      context.entitle(`${structureName(run.task)} – Step by step`);
    } catch (error) {
      if (mine === generation) trouble.replaceChildren(notice('error', (error as Error).message));
    }
  };
  operation.addEventListener('change', offerArguments);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const values = [...inputs.querySelectorAll('input')];
    const given = values.map(({ value }) => (/^\d+$/.test(value) ? Number(value) : -1));
    const n = Number(nodes.value);
    if (given.some((node) => node < 0 || node >= n)) return void trouble.replaceChildren(notice('error', `\`${operation.value}\` needs ${given.length} node${given.length > 1 ? 's' : ''}, whole numbers from 0 to ${n - 1}.`));
    update([...calls, { operation: operation.value, arguments: given }]);
    values[0]?.focus();
    return undefined;
  });
  settings.addEventListener('submit', (event) => event.preventDefault());
  /** Operations to begin with: an example that fits, or some that are drawn. */
  const begin = () => {
    const example = readCalls(textOf(subject()?.task ?? '').example ?? '');
    const fits = example.length > 0 && example.every(({ arguments: given }) => given.every((node) => node < Number(nodes.value)));
    return fits ? update(example) : update([], FIRST);
  };
  settings.addEventListener('change', (event) => (event.target === model || event.target === nodes ? begin() : update(calls, 0, shown)));
  try {
    const given = parameters.get('calls');
    await (given === null ? begin() : update(readCalls(given), 0, Number(parameters.get('step') ?? NaN) || undefined));
  } catch (error) {
    trouble.replaceChildren(notice('error', (error as Error).message));
  }
  const key = (event: KeyboardEvent) => micro.key(event);
  document.addEventListener('keydown', key);
  return () => {
    document.removeEventListener('keydown', key);
    generation++;
    micro.destroy();
  };
};

/** Operations in an address: `insert-0-3.pop_min-0`. */
export function writeCalls(calls: api.Call[]): string {
  return calls.map(({ operation, arguments: given }) => [operation, ...given].join('-')).join('.');
}

export function readCalls(text: string): api.Call[] {
  if (text === '') return [];
  return text.split('.').map((part) => {
    const [operation, ...given] = part.split('-');
    if (!/^\w+$/.test(operation) || given.length === 0 || !given.every((one) => /^\d{1,4}$/.test(one))) throw new Error(`The address has the operation \`${part}\`; expected a name and nodes, like \`insert-0-3\`.`);
    return { operation, arguments: given.map(Number) };
  });
}
