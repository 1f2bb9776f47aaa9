/** The page: which view is shown, by the part of the address after `#`. */

import './style.css';
import { learnNames } from './about';
import { Unreachable } from './api';
import { benchmark } from './benchmark';
import { compare } from './compare';
import { h, notice } from './dom';
import { learn } from './learn';
import { machine } from './machine';
import { playground } from './playground';
import { rollout } from './rollout';
import { run } from './run';
import { runs } from './runs';
import type { View } from './view';

const VIEWS: Record<string, { title: string; view: View; tab: string }> = {
  learn: { title: 'Introduction', view: learn, tab: 'learn' },
  runs: { title: 'Runs', view: runs, tab: 'runs' },
  run: { title: 'Run', view: run, tab: 'runs' },
  compare: { title: 'Compare runs', view: compare, tab: 'runs' },
  rollout: { title: 'Rollout', view: rollout, tab: 'rollout' },
  playground: { title: 'Playground', view: playground, tab: 'playground' },
  benchmark: { title: 'Benchmark', view: benchmark, tab: 'benchmark' },
  machine: { title: 'Step by step', view: machine, tab: 'machine' },
};
const RETRY = 2000;

const main = document.querySelector('main') as HTMLElement;
let leave: () => void = () => {};
let shown = 0;
let first = true;

async function show(again = false): Promise<void> {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  if (path === 'main') return;
  const scene = path.match(/^scene-(\d+)$/)?.[1];
  const name = path === '' || scene ? 'learn' : path;
  const mine = ++shown;
  leave();
  leave = () => {};
  const root = document.createElement('div');
  root.append(h('p', { class: 'quiet' }, 'Loading …'));
  main.replaceChildren(root);
  const known = VIEWS[name];
  const entitle = (title: string) => {
    document.title = `${title} – pgn`;
  };
  entitle(known?.title ?? 'Not found');
  for (const link of document.querySelectorAll('nav a')) {
    if (link.getAttribute('href') === `#/${known?.tab}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  // A view that was opened from another one is read from its top; the first keeps the focus.
  const focus = !first && !again;
  first = false;
  if (!known) {
    root.append(h('h1', {}, 'Not found'), notice('error', `There is no page \`${name}\`.`), h('p', {}, h('a', { href: '#/runs' }, 'All runs')));
    return;
  }
  if (focus) main.focus({ preventScroll: true });
  const remember = (parameters: Record<string, string>) => {
    if (mine === shown) history.replaceState(null, '', `#/${name}?${new URLSearchParams(parameters)}`);
  };
  try {
    await learnNames();
    if (mine !== shown) return;
    const done = await known.view(root, new URLSearchParams(query ?? (scene ? { scene } : '')), { remember, entitle });
    if (mine !== shown) return done();
    leave = done;
    const heading = root.querySelector('h1');
    heading?.setAttribute('tabindex', '-1');
    if (focus && document.activeElement === main) heading?.focus({ preventScroll: true });
  } catch (error) {
    if (mine !== shown) return;
    root.replaceChildren(h('h1', {}, known.title), notice('error', (error as Error).message));
    if (!(error instanceof Unreachable)) return;
    root.append(h('button', { type: 'button', onclick: () => show() }, 'Try again'));
    setTimeout(() => mine === shown && show(true), RETRY);
  }
}

addEventListener('hashchange', () => show());
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
show();
