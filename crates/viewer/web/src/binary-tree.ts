/** What a program's memory means beyond who points to whom: sides, path-parents, flips, and the tree that a link/cut tree represents. */

export type Side = 'left' | 'right' | null;

export interface BinaryTree {
  /** Which child of the node it points to each node is; null for roots and path-parents. */
  sides: Side[];
  /** Nodes whose pointer is a path-parent: their parent does not know them. */
  pathParents: Set<number>;
  /** Nodes with a pending flip: their children are to be swapped. */
  flipped: Set<number>;
  /** Who is above each node in the represented tree, itself for roots; null where nothing else is represented. */
  represented: number[] | null;
}

type Fields = Map<string, (number | null)[]>;

/** Null for programs without left and right children. */
export function binaryTree(fields: Fields): BinaryTree | null {
  const [up, left, right, flip] = ['up', 'left', 'right', 'flip'].map((name) => fields.get(name));
  if (!up || !left || !right) return null;
  const sides = up.map((parent, node): Side => {
    if (parent === null) return null;
    return left[parent] === node ? 'left' : right[parent] === node ? 'right' : null;
  });
  const pathParents = new Set(up.flatMap((parent, node) => (parent !== null && sides[node] === null ? [node] : [])));
  const flipped = new Set((flip ?? []).flatMap((bit, node) => (bit ? [node] : [])));
  return { sides, pathParents, flipped, represented: flip ? represented(up, left, right, sides, flipped) : null };
}

/** Each splay tree is a path, shallow nodes on its left; a pending flip swaps everything below it. */
function represented(up: (number | null)[], left: (number | null)[], right: (number | null)[], sides: Side[], flipped: Set<number>): number[] {
  const parents = up.map((_, node) => node);
  const walk = (node: number | null, turned: boolean, path: number[]): void => {
    if (node === null || path.length > up.length) return;
    const now = turned !== flipped.has(node);
    walk(now ? right[node] : left[node], now, path);
    path.push(node);
    walk(now ? left[node] : right[node], now, path);
  };
  up.forEach((above, node) => {
    if (sides[node] !== null) return;
    const path: number[] = [];
    walk(node, false, path);
    path.forEach((one, index) => {
      parents[one] = index > 0 ? path[index - 1] : above ?? one;
    });
  });
  return parents;
}
