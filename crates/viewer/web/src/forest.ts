/**
 * Where to draw nodes so that pointers look like a forest: targets above those that point to
 * them. A model's pointers may run in circles; a circle is opened at its lowest node, whose
 * pointer is then drawn as a bow.
 */

export interface Forest {
  /** The node at the top of each tree, by the lowest node in the tree. */
  roots: number[];
  /** Who hangs below each node, in ascending order. */
  children: number[][];
  /** Of each node, how many pointers lead to its root. */
  depth: number[];
  /** Roots that do not point to themselves. */
  bows: Set<number>;
}

export function forest(pointers: number[]): Forest {
  const n = pointers.length;
  const children: number[][] = pointers.map(() => []);
  const isRoot = new Array<boolean>(n).fill(false);
  const bows = new Set<number>();
  // 0 not seen, otherwise the number of the walk that came by.
  const seen = new Array<number>(n).fill(0);
  for (let start = 0; start < n; start++) {
    let node = start;
    while (seen[node] === 0) {
      seen[node] = start + 1;
      node = pointers[node];
    }
    if (seen[node] !== start + 1) continue;
    // This walk came back to itself: a circle, of one node if that points to itself.
    let lowest = node;
    for (let next = pointers[node]; next !== node; next = pointers[next]) lowest = Math.min(lowest, next);
    isRoot[lowest] = true;
    if (pointers[lowest] !== lowest) bows.add(lowest);
  }
  for (let node = 0; node < n; node++) if (!isRoot[node]) children[pointers[node]].push(node);
  const depth = new Array<number>(n).fill(0);
  const top = new Array<number>(n).fill(-1);
  for (let root = 0; root < n; root++) {
    if (!isRoot[root]) continue;
    const left = [root];
    for (let node = left.pop(); node !== undefined; node = left.pop()) {
      top[node] = root;
      for (const child of children[node]) {
        depth[child] = depth[node] + 1;
        left.push(child);
      }
    }
  }
  return { roots: [...new Set(top)], children, depth, bows };
}

/** Places in cells: x from 0 to `width`, y from 0 to `height`. */
export interface Places {
  x: number[];
  y: number[];
  width: number;
  height: number;
}

interface Block {
  width: number;
  height: number;
}

/** Rows of leaves are shifted against each other, so that lines to the upper ones pass. */
const SHIFT = 0.5;

/** Lays the forest out `columns` cells wide, or wider if a tree is. */
export function place(pointers: number[], columns: number): Places {
  const { roots, children } = forest(pointers);
  const x = new Array<number>(pointers.length).fill(0);
  const y = new Array<number>(pointers.length).fill(0);

  /** Places what is below `node`, with the block's left upper corner at 0, 0. */
  const tree = (node: number): Block & { move: (dx: number, dy: number) => void } => {
    const leaves = children[node].filter((child) => children[child].length === 0);
    const inner = children[node].filter((child) => children[child].length > 0).map(tree);
    const tallest = Math.max(0, ...inner.map((block) => block.height));
    let rows = Math.max(1, Math.round(Math.sqrt(leaves.length / 2.5)), Math.min(leaves.length, Math.floor(tallest / 2)));
    const perRow = Math.ceil(leaves.length / rows);
    rows = leaves.length ? Math.ceil(leaves.length / perRow) : 0;
    let width = leaves.length ? perRow + (rows > 1 ? SHIFT : 0) : 0;
    const offsets = inner.map((block) => {
      const offset = width;
      width += block.width;
      return offset;
    });
    width = Math.max(1, width);
    const height = 1 + Math.max(rows, tallest);
    const move = (dx: number, dy: number) => {
      x[node] = dx + width / 2;
      y[node] = dy + 0.5;
      leaves.forEach((leaf, index) => {
        const row = Math.floor(index / perRow);
        const inLast = row === rows - 1 && rows === 1 ? 0 : (row % 2) * SHIFT;
        // A lone row of leaves and nothing else stays centred below its node.
        const centre = inner.length === 0 && rows === 1 ? (width - perRow) / 2 : 0;
        x[leaf] = dx + centre + (index % perRow) + 0.5 + inLast;
        y[leaf] = dy + 1.5 + row;
      });
      inner.forEach((block, index) => block.move(dx + offsets[index], dy + 1));
    };
    return { width, height, move };
  };

  // Trees from left to right in rows, lone nodes after them: a tree keeps its place among the
  // others while it grows.
  const trees = roots.filter((root) => children[root].length > 0).map(tree);
  const alone = roots.filter((root) => children[root].length === 0);
  let [left, top, rowHeight, width] = [0, 0, 0, 1];
  const lay = (block: Block) => {
    if (left > 0 && left + block.width > columns) [left, top, rowHeight] = [0, top + rowHeight, 0];
    const at = [left, top] as const;
    left += block.width;
    rowHeight = Math.max(rowHeight, block.height);
    width = Math.max(width, left);
    return at;
  };
  for (const block of trees) block.move(...lay(block));
  if (left > 0) [left, top, rowHeight] = [0, top + rowHeight, 0];
  for (const node of alone) {
    const [dx, dy] = lay({ width: 1, height: 1 });
    [x[node], y[node]] = [dx + 0.5, dy + 0.5];
  }
  return { x, y, width, height: top + rowHeight };
}

/** Cells are higher than they are wide, so that arrows have room. */
export const ASPECT = 1.3;
const LARGEST = 46;
const SMALLEST = 21;

/** The widest cell with which every one of these pointer sets fits into width × height. */
export function cellSize(sets: number[][], width: number, height: number): number {
  let cell = LARGEST;
  for (const pointers of sets) {
    while (cell > SMALLEST) {
      const places = place(pointers, Math.floor(width / cell));
      if (places.width * cell <= width && places.height * cell * ASPECT <= height) break;
      cell -= 1;
    }
  }
  return cell;
}
