/** What moves in a report: curves and players. All else is plain HTML that was written with it. */

import './report.css';
import type { Replay } from './api';
import { Chart, type Series } from './chart';
import { unroll } from './history';
import { Player } from './player';

interface Curves {
  title: string;
  up: string;
  series: Series[];
  /** The ends of the upright axis; from 0 to the highest value unless given. */
  range: [number, number] | null;
}

interface Data {
  curves: Curves[];
  replays: Replay[];
}

const data = JSON.parse(document.getElementById('data')?.textContent ?? '{}') as Data;

for (const place of document.querySelectorAll<HTMLElement>('[data-curves]')) {
  const draw = () => {
    if (place.firstChild) return;
    const { title, up, series, range } = data.curves[Number(place.dataset.curves)];
    const chart = new Chart(title, { across: 'epoch', up, range: range ?? undefined, tight: true });
    place.append(chart.element);
    chart.show(series);
  };
  // What is folded away has no width yet.
  const folded = place.closest('details');
  if (folded && !folded.open) folded.addEventListener('toggle', draw, { once: true });
  else draw();
}

for (const place of document.querySelectorAll<HTMLElement>('[data-replay]')) {
  const replay = data.replays[Number(place.dataset.replay)];
  const player = new Player(null);
  place.append(player.element);
  player.load([{ title: 'Model', replay, frames: unroll(replay) }]);
}
