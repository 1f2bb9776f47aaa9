/** The line of one pointer, with its arrowhead. */

type Point = [number, number];

/** All lines have the same form, so that one can be animated into any other. */
export function line([x1, y1]: Point, [x2, y2]: Point, radius: number, curved: boolean): { path: string; mark: Point } {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 1) {
    const here = `${x1.toFixed(1)},${y1.toFixed(1)}`;
    return { path: `M${here}Q${here} ${here}M${here}L${here}L${here}`, mark: [x1 - 0.95 * radius, y1 - 0.95 * radius] };
  }
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const bend = curved ? Math.max(2 * radius, length * 0.35) : 0;
  const control = [(x1 + x2) / 2 - uy * bend, (y1 + y2) / 2 + ux * bend];
  // The line ends at the circles' rims, in the direction of the bend.
  const trim = (x: number, y: number, gap: number) => {
    const far = Math.hypot(control[0] - x, control[1] - y) || 1;
    return [x + ((control[0] - x) / far) * gap, y + ((control[1] - y) / far) * gap];
  };
  const [sx, sy] = trim(x1, y1, radius);
  const [tx, ty] = trim(x2, y2, radius + 2);
  const far = Math.hypot(tx - control[0], ty - control[1]) || 1;
  const [hx, hy] = [(tx - control[0]) / far, (ty - control[1]) / far];
  const size = Math.min(10, Math.max(radius * 0.4, Math.min(6, radius * 0.6)));
  const wing = (side: number) =>
    [tx - size * (hx + side * 0.6 * hy), ty - size * (hy - side * 0.6 * hx)];
  const text = (...numbers: number[]) => numbers.map((value) => value.toFixed(1)).join(',');
  const path = `M${text(sx, sy)}Q${text(control[0], control[1])} ${text(tx, ty)}`
    + `M${text(...wing(1))}L${text(tx, ty)}L${text(...wing(-1))}`;
  // Nearer to its own node than to the target, where many lines meet.
  const along = (from: number, over: number, to: number) => 0.5 * from + 0.4 * over + 0.1 * to;
  return { path, mark: [along(sx, control[0], tx), along(sy, control[1], ty)] };
}
