/** The playground: operations of one's own, and what the model makes of them. */

import * as api from './api';
import { announce, choice, download, field, h, notice, wholeNumber } from './dom';
import { Edits, type Pair, type Structure, readOperations, writeOperations } from './edits';
import { unroll } from './history';
import { Inside, microRequest } from './inside';
import { mostOperations } from './limits';
import { chooseModel, chosenModel, modelPicker, nameOf } from './models';
import { OperationTable } from './operation-table';
import { Player } from './player';
import type { Lane } from './stage';
import type { View } from './view';

/** Kept while other views are looked at. */
let kept: Structure = { nodes: 12, seed: 0, operations: [] };

const RETRY = 2000;

export const playground: View = async (root, parameters, context) => {
  const [all, { limits }] = await Promise.all([api.runs(), api.about()]);
  const models = all.filter((run) => run.playable);
  const trouble = h('div');
  const note = h('div');
  const complain = (text: string) => trouble.replaceChildren(notice('error', text));
  const remark = (text: string) => note.replaceChildren(notice('note', text));

  const model = modelPicker(models, parameters.get('model'), all);
  const nodes = h('input', { type: 'number', min: 2, max: limits.nodes, value: parameters.get('nodes') ?? kept.nodes, inputmode: 'numeric' });
  const seed = h('input', { type: 'number', min: 0, max: 999999, value: parameters.get('seed') ?? kept.seed, inputmode: 'numeric' });
  const other = h('select', {});
  /** Models of the same task can be compared. */
  const offerOthers = (wanted: string | null) => {
    const task = models.find((run) => run.id === model.value)?.task;
    const options = models.filter((run) => run.task === task && run.id !== model.value).map((run): [string, string] => [run.id, nameOf(run)]);
    other.replaceChildren(...choice([['', 'no other model'], ...options]).childNodes);
    other.value = options.some(([id]) => id === wanted) ? wanted as string : '';
  };
  offerOthers(parameters.get('with'));
  const settings = h('form', { class: 'controls', 'aria-label': 'The structure' },
    field('Model', model), field('Compare with', other), field('Nodes', nodes, `2–${limits.nodes}`), field('Seed of the priorities', seed));

  let replayed: api.Replay | null = null;
  const operand = (name: string) => h('input', { type: 'number', min: 0, class: 'operand', 'aria-label': name, required: true, inputmode: 'numeric' });
  const [u, v] = [operand('u'), operand('v')];
  const name = h('code');
  const kind = h('select', { 'aria-label': 'Operation', hidden: true });
  const comma = h('span', {}, ',');
  /** How many operands the chosen operation has. */
  const operands = () => replayed?.kinds?.[Number(kind.value)]?.operands ?? 2;
  const undo = h('button', { type: 'button', title: 'Undo (Ctrl+Z)', onclick: () => takeBack() }, 'Undo');
  const redo = h('button', { type: 'button', title: 'Redo (Ctrl+Y)', onclick: () => again() }, 'Redo');
  const clear = h('button', { type: 'button', onclick: () => change({ operations: [] }) }, 'Start over');
  const form = h('form', { class: 'operation', 'aria-label': 'An operation', novalidate: true },
    name, kind, h('span', {}, '('), u, comma, v, h('span', {}, ')'), h('button', { type: 'submit', class: 'primary' }, 'Apply'));
  const file = h('input', { type: 'file', accept: '.csv,text/csv,text/plain', class: 'unseen', id: 'csv', tabindex: -1, 'aria-hidden': 'true' });
  const load = h('button', { type: 'button', onclick: () => file.click() }, 'Load CSV');
  const save = h('button', { type: 'button', onclick: () => saveCsv() }, 'Save CSV');
  const share = h('button', { type: 'button', title: 'Copy the address of exactly this', onclick: () => copyAddress() }, 'Copy link');
  const inspecting = h('input', { type: 'checkbox' });
  const tools = h('div', { class: 'tools' }, form,
    h('div', { class: 'buttons' }, undo, redo, clear, load, save, share, file),
    h('label', { class: 'check' }, inspecting, 'clicks inspect nodes'));
  const hint = h('p', { class: 'quiet' }, 'Click two nodes, or type them, to apply an operation. New operations are added at the end.');
  const player = new Player(document, (step) => seen(step), (node) => !inspecting.checked && pick(node));
  const inside = new Inside();
  const table = new OperationTable((step) => player.go(step));
  root.replaceChildren(h('h1', {}, 'Playground'), settings, tools, hint, trouble, note, player.element, inside.element, table.element);

  let edits = new Edits(kept);
  /** The structure and the model that the picture shows. */
  let shown: { structure: Structure; model: string; other: string } | null = null;
  let picked: number | null = null;
  let gone = false;
  let busy = false;
  let timer: number | undefined;

  const setPicked = (node: number | null) => {
    picked = node;
    u.value = node === null ? '' : String(node);
    player.stage.pick(node);
  };
  const pick = (node: number): boolean => {
    if (operands() === 1) {
      apply(node, node);
    } else if (picked === null) {
      setPicked(node);
      announce(`u is node ${node}. Choose v.`);
    } else if (picked === node) {
      setPicked(null);
      announce('Nothing is chosen.');
    } else {
      apply(picked, node);
    }
    return true;
  };
  const apply = (from: number, to: number) => {
    const { operations, nodes: n } = edits.now;
    const most = mostOperations(limits, n);
    if (operations.length >= most) return complain(`There are ${operations.length} operations already; at most ${most} are possible on ${n} nodes.`);
    setPicked(null);
    v.value = '';
    change({ operations: [...operations, replayed?.kinds ? [from, to, Number(kind.value)] : [from, to]] });
  };

  /** An edit counts at once; the picture follows when the server has answered. */
  const change = (next: Partial<Structure>) => {
    edits.change(next);
    trouble.replaceChildren();
    note.replaceChildren();
    settled();
  };
  const takeBack = () => {
    if (picked !== null) return setPicked(null);
    edits.undo();
    note.replaceChildren();
    settled();
  };
  const again = () => {
    edits.redo();
    settled();
  };
  const settled = () => {
    kept = edits.now;
    [nodes.value, seed.value] = [String(kept.nodes), String(kept.seed)];
    undo.disabled = !edits.canUndo();
    redo.disabled = !edits.canRedo();
    clear.disabled = save.disabled = kept.operations.length === 0;
    [u.max, v.max] = [String(kept.nodes - 1), String(kept.nodes - 1)];
    if (picked !== null && picked >= kept.nodes) setPicked(null);
    follow();
  };

  /** Asks for what is wanted until that is what is shown; one request at a time. */
  const follow = async () => {
    if (busy || gone) return;
    busy = true;
    clearTimeout(timer);
    let start: number | null = Number(parameters.get('step') ?? NaN);
    while (!gone && (shown?.structure !== edits.now || shown.model !== model.value || shown.other !== other.value)) {
      const wanted = { structure: edits.now, model: model.value, other: other.value };
      try {
        const runs = [chosenModel(models, model, all), ...(wanted.other ? [chosenModel(models, other)] : [])];
        const requests = runs.map((run): api.ReplayRequest => ({ model: run.id, ...wanted.structure }));
        const replays = await Promise.all(requests.map(api.replay));
        if (gone) return;
        const end = replays[0].steps.length;
        const first = shown === null;
        const step: number = first && start !== null && Number.isFinite(start) ? start : shown?.structure === wanted.structure ? player.at() : end;
        start = null;
        shown = wanted;
        chooseModel(model.value);
        trouble.replaceChildren();
        show(replays.map((replay, index): Lane => ({
          title: runs.length === 1 ? 'Model' : nameOf(runs[index]),
          replay,
          frames: unroll(replay),
          step: (step, node) => api.stepDetails(requests[index], step, { node }),
        })), step, !first);
      } catch (error) {
        complain((error as Error).message);
        if (error instanceof api.Unreachable) timer = setTimeout(follow, RETRY);
        else if (shown && wanted.model === shown.model) {
          edits.retract(shown.structure);
          settled();
        } else player.hide();
        break;
      }
    }
    busy = false;
  };
  const show = (lanes: Lane[], step: number, animate: boolean) => {
    const [{ replay }] = lanes;
    replayed = replay;
    name.textContent = replay.operation;
    offerKinds(replay.kinds ?? []);
    table.load(replay);
    player.load(lanes, step, animate);
  };
  /** A choice of operations, for tasks with several kinds. */
  const offerKinds = (kinds: { name: string }[]) => {
    [name.hidden, kind.hidden] = [kinds.length > 0, kinds.length === 0];
    if (kinds.map((one) => one.name).join() !== [...kind.options].map((one) => one.textContent).join()) {
      kind.replaceChildren(...kinds.map((one, index) => h('option', { value: index }, one.name)));
    }
    offerOperands();
  };
  const offerOperands = () => {
    v.hidden = comma.hidden = operands() === 1;
  };
  const seen = (step: number) => {
    if (!shown) return;
    const { nodes, seed, operations } = shown.structure;
    table.here(step);
    if (replayed) inside.offer(microRequest(replayed, step, chosenModel(models, model, all)));
    const values: Record<string, string> = { model: shown.model, nodes: String(nodes), seed: String(seed) };
    if (shown.other) values.with = shown.other;
    if (operations.length) values.ops = writeOperations(operations);
    if (step < operations.length) values.step = String(step);
    context.remember(values);
  };

  const saveCsv = () => {
    const { nodes, seed, operations } = edits.now;
    const kinds = replayed?.kinds;
    const header = `# ${name.textContent}, nodes=${nodes}, seed=${seed}\n${kinds ? '' : 'u,v\n'}`;
    const line = ([u, v, index]: Pair) => {
      const chosen = kinds?.[index ?? 0];
      return chosen ? [chosen.name, u, v].slice(0, 1 + chosen.operands).join() : `${u},${v}`;
    };
    download('operations.csv', header + operations.map((one) => `${line(one)}\n`).join(''), 'text/csv');
  };
  const copyAddress = async () => {
    const copied = await (navigator.clipboard?.writeText(location.href).then(() => true, () => false) ?? false);
    remark(`The address of this page has the model, the operations and the step in it${copied ? '; it was copied' : '. The browser does not let the page copy it; copy it from the address bar'}.`);
  };
  const upload = async (chosen: File) => {
    if (chosen.size > 500_000) return complain(`${chosen.name} is too large: expected at most 500,000 bytes.`);
    const text = await chosen.text();
    // What was saved here knows how many nodes there were.
    const saved = text.match(/^# .*\bnodes=(\d+), seed=(\d+)/);
    const structure = saved ? { nodes: Number(saved[1]), seed: Number(saved[2]) } : {};
    try {
      const answer = await api.operations(chosen.name, replayed?.task, structure.nodes ?? edits.now.nodes, text);
      change({ ...structure, operations: answer.operations });
    } catch (error) {
      complain((error as Error).message);
    }
    return undefined;
  };

  settings.addEventListener('submit', (event) => event.preventDefault());
  settings.addEventListener('change', (event) => {
    trouble.replaceChildren();
    if (event.target === model) offerOthers(other.value);
    if (event.target === model || event.target === other) return void follow();
    try {
      const [n, s] = [wholeNumber(nodes, 'Nodes'), wholeNumber(seed, 'Seed')];
      const { operations } = edits.now;
      const fits = ([u, v]: Pair) => u < n && v < n;
      const left = operations.filter(fits).slice(0, mostOperations(limits, n));
      change({ nodes: n, seed: s, operations: left.length === operations.length ? operations : left });
      const lost = operations.length - left.length;
      if (lost) remark(`${lost} operation${lost > 1 ? 's do' : ' does'} not fit on ${n} nodes and ${lost > 1 ? 'were' : 'was'} removed. Undo brings ${lost > 1 ? 'them' : 'it'} back.`);
    } catch (error) {
      complain((error as Error).message);
    }
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const [from, second] = [u, v].map((input) => (/^\d+$/.test(input.value) ? Number(input.value) : -1));
    const to = operands() === 1 ? from : second;
    const n = edits.now.nodes;
    if ([from, to].some((node) => node < 0 || node >= n)) return complain(`An operation needs two nodes, whole numbers from 0 to ${n - 1}.`);
    if (from === to && !replayed?.kinds) return complain(`u and v are both ${from}; an operation needs two different nodes.`);
    apply(from, to);
    u.focus();
  });
  kind.addEventListener('change', offerOperands);
  file.addEventListener('change', () => {
    const chosen = file.files?.[0];
    if (chosen) upload(chosen);
    // So that the same file can be chosen again after it was changed.
    file.value = '';
  });
  const onKey = (event: KeyboardEvent) => {
    const typing = (event.target as HTMLElement).closest('input:not([type=checkbox], [type=range])');
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && !typing && (key === 'z' || key === 'y')) {
      event.preventDefault();
      if (key === 'y' || event.shiftKey) again();
      else takeBack();
    } else if (event.key === 'Escape' && picked !== null) {
      setPicked(null);
    }
  };
  document.addEventListener('keydown', onKey);

  try {
    const [n, s] = [wholeNumber(nodes, 'Nodes'), wholeNumber(seed, 'Seed')];
    const asked = parameters.get('ops');
    const same = n === kept.nodes && s === kept.seed;
    edits = new Edits({ nodes: n, seed: s, operations: asked !== null ? readOperations(asked, n) : same ? kept.operations : [] });
    chosenModel(models, model, all);
    settled();
  } catch (error) {
    complain((error as Error).message);
  }
  return () => {
    gone = true;
    clearTimeout(timer);
    player.destroy();
    inside.destroy();
    document.removeEventListener('keydown', onKey);
  };
};
