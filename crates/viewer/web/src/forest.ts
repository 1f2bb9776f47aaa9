/**
 * Where to draw nodes so that pointers look like a forest: children below their parents. A
 * model's pointers may form cycles; a cycle is drawn as a tree that hangs from its lowest node,
 * whose own pointer is then a curved back edge.
 */

import type { Side } from './binary-tree';

export interface Forest {
  /** The node at the top of each tree, by the lowest node in the tree. */
  roots: number[];
  /** Who hangs below each node, in ascending order. */
  children: number[][];
  /** Of each node, how many pointers lead to its root. */
  depth: number[];
  /** Roots that do not point to themselves. */
  backEdges: Set<number>;
}

export function forest(pointers: number[]): Forest {
  const n = pointers.length;
  const children: number[][] = pointers.map(() => []);
  const isRoot = new Array<boolean>(n).fill(false);
  const backEdges = new Set<number>();
  // 0 not seen, otherwise the number of the walk that came by.
  const seen = new Array<number>(n).fill(0);
  for (let start = 0; start < n; start++) {
    let node = start;
    while (seen[node] === 0) {
      seen[node] = start + 1;
      node = pointers[node];
    }
    if (seen[node] !== start + 1) continue;
    // This walk came back to itself: a cycle, of one node if that points to itself.
    let lowest = node;
    for (let next = pointers[node]; next !== node; next = pointers[next]) lowest = Math.min(lowest, next);
    isRoot[lowest] = true;
    if (pointers[lowest] !== lowest) backEdges.add(lowest);
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
  return { roots: [...new Set(top)], children, depth, backEdges };
}

/** Places in cells: x from 0 to `width`, y from 0 to `height`. */
export interface Places {
  x: number[];
  y: number[];
  width: number;
  height: number;
}

/** Rows of leaves are shifted against each other, so that lines to the upper ones pass. */
const SHIFT = 0.5;

/** How high blocks of leaves may be against their width: flat ones look best, but need room. */
const STEEPNESS = [0.4, 1, 2.5];

/** Leaves that one of them stands for: who stands for each. */
export type Folds = Map<number, number>;

/** So many leaves of one node, or nodes that are alone, are folded into one. */
const MANY = 4;

/** Folds leaves that nobody needs to see; what hangs below each of `open` (or stands alone, for -1) stays. */
export function fold(pointers: number[], needed: (node: number) => boolean, open: Set<number>): Folds {
  const below = new Map<number, number[]>();
  const inner = new Set(pointers.filter((to, node) => to !== node));
  pointers.forEach((to, node) => {
    const parent = to === node ? -1 : to;
    if (inner.has(node) || open.has(parent) || needed(node)) return;
    below.set(parent, [...(below.get(parent) ?? []), node]);
  });
  return new Map([...below.values()].filter((leaves) => leaves.length >= MANY).flatMap((leaves) => leaves.map((leaf) => [leaf, leaves[0]])));
}

/** Lays the forest out, not wider than `columns` cells (of which there are at least 2). Binary trees are drawn in order, left children on the left. What is folded is where its representative is. */
export function place(pointers: number[], columns: number, sides?: Side[], folds?: Folds): Places {
  const trees = forest(pointers);
  if (folds?.size) {
    const seen = (node: number) => (folds.get(node) ?? node) === node;
    trees.children = trees.children.map((all) => all.filter(seen));
    trees.roots = trees.roots.filter(seen);
    const places = placeForest(trees, columns, sides);
    for (const [node, other] of folds) [places.x[node], places.y[node]] = [places.x[other], places.y[other]];
    return places;
  }
  return placeForest(trees, columns, sides);
}

function placeForest(trees: Forest, columns: number, sides?: Side[]): Places {
  if (sides) return placeInOrder(trees, columns, sides);
  for (const steepness of STEEPNESS) {
    const places = placeTrees(trees, columns, steepness, Infinity);
    if (places.width <= columns) return places;
  }
  return placeTrees(trees, columns, 1, columns);
}

/** A block of nodes that can be moved as a whole. */
interface Block {
  width: number;
  height: number;
  move: (dx: number, dy: number) => void;
}

/** Puts blocks side by side, in several rows if they are wider than `limit` together. */
function inRows(blocks: Block[], limit: number): Block {
  let [left, top, rowHeight, width] = [0, 0, 0, 0];
  const corners = blocks.map((block): [number, number] => {
    if (left > 0 && left + block.width > limit) [left, top, rowHeight] = [0, top + rowHeight, 0];
    const corner: [number, number] = [left, top];
    left += block.width;
    rowHeight = Math.max(rowHeight, block.height);
    width = Math.max(width, left);
    return corner;
  });
  const move = (dx: number, dy: number) =>
    blocks.forEach((block, index) => block.move(dx + corners[index][0], dy + corners[index][1]));
  return { width, height: top + rowHeight, move };
}

/** `limit` is how wide what hangs below a node may be; beyond that it goes into several rows. */
function placeTrees({ roots, children }: Forest, columns: number, steepness: number, limit: number): Places {
  const x = new Array<number>(children.length).fill(0);
  const y = new Array<number>(children.length).fill(0);

  const one = (node: number): Block => ({
    width: 1,
    height: 1,
    move: (dx, dy) => {
      x[node] = dx + 0.5;
      y[node] = dy + 0.5;
    },
  });

  /** Leaves below one node, as high as steepness has it, or as what stands beside them allows. */
  const leafBlock = (leaves: number[], beside: number): Block[] => {
    if (leaves.length === 0) return [];
    const wanted = Math.max(1, Math.round(Math.sqrt(leaves.length * steepness)), Math.min(leaves.length, Math.floor(beside / 2)));
    const perRow = Math.min(Math.ceil(leaves.length / wanted), Math.max(1, Math.floor(limit - SHIFT)));
    const rows = Math.ceil(leaves.length / perRow);
    const shift = rows > 1 ? SHIFT : 0;
    const move = (dx: number, dy: number) => leaves.forEach((leaf, index) => {
      const row = Math.floor(index / perRow);
      one(leaf).move(dx + (index % perRow) + (row % 2) * shift, dy + row);
    });
    return [{ width: perRow + shift, height: rows, move }];
  };

  const tree = (node: number): Block => {
    const inner = children[node].filter((child) => children[child].length > 0).map(tree);
    const leaves = children[node].filter((child) => children[child].length === 0);
    const tallest = Math.max(0, ...inner.map((block) => block.height));
    const below = inRows([...leafBlock(leaves, tallest), ...inner], limit);
    const width = Math.max(1, below.width);
    const move = (dx: number, dy: number) => {
      one(node).move(dx + width / 2 - 0.5, dy);
      below.move(dx + (width - below.width) / 2, dy + 1);
    };
    return { width, height: 1 + below.height, move };
  };

  // Lone nodes after the trees: a tree keeps its place among the others while it grows.
  const trees = inRows(roots.filter((root) => children[root].length > 0).map(tree), columns);
  const alone = inRows(roots.filter((root) => children[root].length === 0).map(one), columns);
  trees.move(0, 0);
  alone.move(0, trees.height);
  return { x, y, width: Math.max(trees.width, alone.width), height: trees.height + alone.height };
}

/** Everything in a left subtree is left of its node. What hangs by a path-parent comes last. */
function placeInOrder({ roots, children }: Forest, columns: number, sides: Side[]): Places {
  const x = new Array<number>(children.length).fill(0);
  const y = new Array<number>(children.length).fill(0);
  const nothing: Block = { width: 0, height: 0, move: () => {} };
  const tree = (node: number): Block => {
    const on = (side: Side) => children[node].filter((child) => sides[child] === side).map(tree);
    const [left, right] = [on('left')[0] ?? nothing, on('right')[0] ?? nothing];
    const hanging = inRows(on(null), Infinity);
    const move = (dx: number, dy: number) => {
      left.move(dx, dy + 1);
      x[node] = dx + left.width + 0.5;
      y[node] = dy + 0.5;
      right.move(dx + left.width + 1, dy + 1);
      hanging.move(dx + left.width + 1 + right.width, dy + 1);
    };
    return { width: left.width + 1 + right.width + hanging.width, height: 1 + Math.max(left.height, right.height, hanging.height), move };
  };
  // From the node it hangs from, in cells.
  const offset = new Array<number>(children.length).fill(0);
  /** Subtrees as close as they fit: left and right of their own node only. What is the first and the last at each depth, from the node. */
  const pack = (node: number): [number[], number[]] => {
    const on = (side: Side) => children[node].filter((child) => sides[child] === side);
    const [first, last]: [number[], number[]] = [[], []];
    const put = (child: number, least: number) => {
      const [left, right] = pack(child);
      offset[child] = left.reduce((at, value, depth) => Math.max(at, (last[depth] ?? -Infinity) + 1 - value), least);
      left.forEach((value, depth) => {
        first[depth] = Math.min(first[depth] ?? Infinity, value + offset[child]);
        last[depth] = right[depth] + offset[child];
      });
    };
    const [[left], [right]] = [on('left'), on('right')];
    if (left !== undefined) put(left, -0.5);
    if (right !== undefined) put(right, 0.5);
    if (left !== undefined && right !== undefined) {
      const middle = (offset[left] + offset[right]) / 2;
      for (const child of [left, right]) offset[child] -= middle;
      for (const outline of [first, last]) outline.forEach((_, depth) => { outline[depth] -= middle; });
    }
    for (const child of on(null)) put(child, 0.5);
    return [[0, ...first], [0, ...last]];
  };
  const packed = (root: number): Block => {
    const [first, last] = pack(root);
    const left = Math.min(...first);
    const put = (node: number, dx: number, dy: number): void => {
      [x[node], y[node]] = [dx + 0.5, dy + 0.5];
      for (const child of children[node]) put(child, dx + offset[child], dy + 1);
    };
    return { width: Math.max(...last) - left + 1, height: first.length, move: (dx, dy) => put(root, dx - left, dy) };
  };
  const layOut = (one: (root: number) => Block): [Block, Block] => [true, false].map((inner) => inRows(roots.filter((root) => (children[root].length > 0) === inner).map(one), columns)) as [Block, Block];
  let [trees, alone] = layOut(tree);
  // What is too wide in strict order is packed: only children are on their side of their parent then.
  if (trees.width > columns) [trees, alone] = layOut(packed);
  trees.move(0, 0);
  alone.move(0, trees.height);
  return { x, y, width: Math.max(trees.width, alone.width), height: trees.height + alone.height };
}

/** Cells are higher than they are wide, so that arrows have room. */
export const ASPECT = 1.3;
/** Cells larger than this look clumsy, smaller ones have labels too small to read. */
export const LARGEST = 92;
export const SMALLEST = 25;

/** Kept free around everything, for what is drawn beside nodes. */
export const MARGIN = 8;

/** The widest cell, not below `smallest`, with which all these pointer sets fit into the room. */
export function cellSize(sets: number[][], width: number, height: number, smallest = SMALLEST, sides: Side[][] = [], folds: Folds[] = []): number {
  [width, height] = [width - 2 * MARGIN, height - 2 * MARGIN];
  let cell = LARGEST;
  for (const [index, pointers] of sets.entries()) {
    while (cell > smallest) {
      const places = place(pointers, Math.floor(width / cell), sides[index], folds[index]);
      if (places.width * cell <= width && places.height * cell * ASPECT <= height) break;
      cell -= 1;
    }
  }
  return cell;
}
