/** What is computed of curves before they are drawn. */

export type Point = [x: number, y: number];

export interface Series {
  name: string;
  /** Whose line it is, if that is not its name. */
  model?: string;
  points: Point[];
  /** Mean ± sd: the lower and the upper end at each x. */
  band?: [x: number, low: number, high: number][];
  /** Best epoch, marked on the line. */
  best?: number;
}

/** A moving average over this many points; the ends are averaged over fewer. */
export function smooth(points: Point[], window: number): Point[] {
  if (window <= 1) return points;
  const half = Math.floor(window / 2);
  return points.map(([x], index) => {
    const near = points.slice(Math.max(0, index - half), index + half + 1);
    return [x, near.reduce((sum, [, y]) => sum + y, 0) / near.length];
  });
}

/** Mean ± sd over runs at the epochs that all of them have. */
export function meanOf(name: string, runs: Point[][]): Series {
  const values = new Map<number, number[]>();
  for (const points of runs) for (const [x, y] of points) values.set(x, [...(values.get(x) ?? []), y]);
  const common = [...values].filter(([, ys]) => ys.length === runs.length).sort(([a], [b]) => a - b);
  const rows = common.map(([x, ys]) => {
    const mean = ys.reduce((sum, y) => sum + y, 0) / ys.length;
    const sd = ys.length < 2 ? 0 : Math.sqrt(ys.reduce((sum, y) => sum + (y - mean) ** 2, 0) / (ys.length - 1));
    return { x, mean, sd };
  });
  const series: Series = { name, points: rows.map(({ x, mean }) => [x, mean]) };
  if (runs.length > 1) series.band = rows.map(({ x, mean, sd }) => [x, mean - sd, mean + sd]);
  return series;
}

/**
 * Where a linear axis ends: at the highest value, unless a few outliers would flatten the rest of
 * every line.
 */
export function top(lines: number[][]): number {
  const ends = lines.map((values) => {
    const sorted = values.slice().sort((a, b) => a - b);
    const highest = sorted[sorted.length - 1] ?? 0;
    const usual = sorted[Math.floor(0.92 * (sorted.length - 1))] ?? 0;
    return highest > 3 * usual && usual > 0 ? 1.6 * usual : highest;
  });
  const end = Math.max(0, ...ends);
  return end > 0 ? end : 1;
}

/**
 * Where a tight axis begins: at the lowest value, unless that is one of the few lowest by far and
 * the rest is not a mere plateau, which would have nothing to show alone.
 */
export function bottom(lines: number[][]): number {
  const sorted = lines.flat().sort((a, b) => a - b);
  if (sorted.length === 0) return 0;
  const [lowest, usual, highest] = [sorted[0], sorted[Math.floor(0.05 * sorted.length)], sorted[sorted.length - 1]];
  const plateau = highest - usual < 1e-3;
  return !plateau && usual - lowest > (highest - usual) / 2 ? usual - 0.1 * (highest - usual) : lowest;
}
