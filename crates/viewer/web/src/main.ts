/** The page: which view is shown, by the part of the address after `#`. */

import './style.css';
import { notice } from './dom';
import { playground } from './playground';
import { rollout } from './rollout';
import { run } from './run';
import { runs } from './runs';
import type { View } from './view';

const VIEWS: Record<string, { title: string; view: View; tab: string }> = {
  runs: { title: 'Runs', view: runs, tab: 'runs' },
  run: { title: 'Run', view: run, tab: 'runs' },
  rollout: { title: 'Rollout', view: rollout, tab: 'rollout' },
  playground: { title: 'Playground', view: playground, tab: 'playground' },
};

const main = document.querySelector('main') as HTMLElement;
let leave: () => void = () => {};
let shown = 0;

async function show(): Promise<void> {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  if (path === 'main') return;
  const { title, view, tab } = VIEWS[path] ?? VIEWS.runs;
  const mine = ++shown;
  leave();
  leave = () => {};
  document.title = `${title} – learned data structures`;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.getAttribute('href') === `#/${tab}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const root = document.createElement('div');
  main.replaceChildren(root);
  const name = VIEWS[path] ? path : 'runs';
  const remember = (parameters: Record<string, string>) => {
    if (mine === shown) history.replaceState(null, '', `#/${name}?${new URLSearchParams(parameters)}`);
  };
  try {
    const done = await view(root, new URLSearchParams(query ?? ''), { remember });
    if (mine === shown) leave = done;
    else done();
  } catch (error) {
    if (mine === shown) root.replaceChildren(notice('error', (error as Error).message));
  }
}

addEventListener('hashchange', show);
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
show();
