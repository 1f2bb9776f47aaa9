"""The two data structures of the paper, in plain Python: a second opinion on the Rust ones.

Written from the paper's pseudocode (figure 2 and appendix C), sharing no code with the crates.
Run it to check it against naive set and forest simulations and to print the statistics of
sampled sequences, or give it data-set files to compare their ground truth with its own:

    python bench/peers/structures.py
    python bench/peers/structures.py train.safetensors test.safetensors
"""

from __future__ import annotations

import sys

import numpy as np


class DisjointSetUnion:
    """`query-union(u, v)` with path compression and linking by priority."""

    def __init__(self, priorities):
        self.priorities = priorities
        self.parent = list(range(len(priorities)))

    def _find(self, u: int, visited: set[int]) -> int:
        path = [u]
        while self.parent[path[-1]] != path[-1]:
            path.append(self.parent[path[-1]])
        for node in path:
            self.parent[node] = path[-1]
        visited.update(path)
        return path[-1]

    def apply(self, u: int, v: int) -> tuple[int, set[int]]:
        """Carries out one operation: the answer, and the nodes on both find paths."""
        visited: set[int] = set()
        x, y = self._find(u, visited), self._find(v, visited)
        if x == y:
            return 0, visited
        if self.priorities[x] < self.priorities[y]:
            self.parent[x] = y
        else:
            self.parent[y] = x
        return 1, visited

    def pointers(self) -> list[int]:
        return list(self.parent)


class LinkCutTree:
    """`query-toggle(u, v)` on splay trees; None is the paper's nil.

    A root of the whole tree has neither parent nor path-parent here, and is reported as pointing
    to itself.
    """

    def __init__(self, priorities):
        n = len(priorities)
        self.priorities = priorities
        self.p = [None] * n  # parent within the splay tree
        self.pp = [None] * n  # path-parent, on splay roots only
        self.left = [None] * n
        self.right = [None] * n
        self.flip = [False] * n
        self.visited: set[int] = set()

    # Every assignment of a parent or path-parent goes through these two, which note the visit.
    def _set_p(self, node, value):
        self.visited.add(node)
        self.p[node] = value

    def _set_pp(self, node, value):
        self.visited.add(node)
        self.pp[node] = value

    def _release(self, u):
        if u is None:
            return
        self.visited.add(u)
        if self.flip[u]:
            self.left[u], self.right[u] = self.right[u], self.left[u]
            for child in (self.left[u], self.right[u]):
                if child is not None:
                    self.flip[child] = not self.flip[child]
            self.flip[u] = False

    def _rotate(self, u):
        v = self.p[u]
        w = self.p[v]
        if self.left[v] == u:
            self.left[v] = self.right[u]
            if self.right[u] is not None:
                self._set_p(self.right[u], v)
            self.right[u] = v
        else:
            self.right[v] = self.left[u]
            if self.left[u] is not None:
                self._set_p(self.left[u], v)
            self.left[u] = v
        self._set_pp(u, self.pp[v])
        self._set_p(v, u)
        self._set_pp(v, None)
        if w is not None:
            if self.left[w] == v:
                self.left[w] = u
            else:
                self.right[w] = u
        self._set_p(u, w)

    def _splay(self, u):
        while self.p[u] is not None:
            v = self.p[u]
            w = self.p[v]
            self._release(w)
            self._release(v)
            self._release(u)
            if w is None:
                self._rotate(u)
            elif (self.left[w] == v) == (self.left[v] == u):
                self._rotate(v)
                self._rotate(u)
            else:
                self._rotate(u)
                self._rotate(u)
        self._release(u)

    def _detach_right(self, u):
        r = self.right[u]
        if r is not None:
            self._set_p(r, None)
            self._set_pp(r, u)
            self.right[u] = None

    def _expose(self, u):
        while True:
            self._splay(u)
            self._detach_right(u)
            w = self.pp[u]
            if w is None:
                return
            self._splay(w)
            self._detach_right(w)
            self.right[w] = u
            self._set_p(u, w)
            self._set_pp(u, None)

    def _evert(self, u):
        self._expose(u)
        self.flip[u] = not self.flip[u]
        self._release(u)

    def _find_root(self, u):
        self._expose(u)
        root = u
        self._release(root)
        while self.left[root] is not None:
            root = self.left[root]
            self._release(root)  # or a pending flip would send us the wrong way
        self._expose(root)
        return root

    def _link(self, u, v):
        self._expose(u)
        self._expose(v)
        self.left[u] = v
        self._set_p(v, u)

    def _cut(self, u):
        self._expose(u)
        child = self.left[u]
        if child is not None:
            self._set_p(child, None)
            self.left[u] = None

    def apply(self, u: int, v: int) -> tuple[int, set[int]]:
        """Carries out one operation: the answer, and every visited node."""
        if self.priorities[u] < self.priorities[v]:
            u, v = v, u
        self.visited = {u, v}
        self._evert(u)
        if self._find_root(v) != u:
            self._link(u, v)
            answer = 0
        else:
            self._cut(v)
            answer = 1
        return answer, self.visited

    def pointers(self) -> list[int]:
        def pointer(i):
            if self.p[i] is not None:
                return self.p[i]
            return self.pp[i] if self.pp[i] is not None else i

        return [pointer(i) for i in range(len(self.p))]

    def field(self, name: str) -> list[int]:
        """`left` or `right` of every node; none is written as the node itself."""
        children = {"left": self.left, "right": self.right}[name]
        return [i if child is None else child for i, child in enumerate(children)]


TASKS = {"dsu": DisjointSetUnion, "lct": LinkCutTree}


def trace(
    task: str, priorities: np.ndarray, operands: np.ndarray, fields: tuple[str, ...] = ()
) -> dict[str, np.ndarray]:
    """The data-set tensors of given priorities [count, nodes] and operands [count, ops, 2]."""
    count, ops, _ = operands.shape
    nodes = priorities.shape[1]
    answers = np.zeros((count, ops), np.uint8)
    masks = np.ones((count, ops, nodes), np.uint8)
    pointers = np.zeros((count, ops, nodes), np.uint32)
    further = {f"pointers.{name}": np.zeros_like(pointers) for name in fields}
    for c in range(count):
        structure = TASKS[task](priorities[c])
        for t in range(ops):
            answer, visited = structure.apply(int(operands[c, t, 0]), int(operands[c, t, 1]))
            answers[c, t] = answer
            masks[c, t, sorted(visited)] = 0
            pointers[c, t] = structure.pointers()
            for name in fields:
                further[f"pointers.{name}"][c, t] = structure.field(name)
    return {
        "priorities": priorities,
        "operands": operands,
        "answers": answers,
        "masks": masks,
        "pointers": pointers,
        **further,
    }


def sample(
    task: str,
    rng: np.random.Generator,
    count: int,
    nodes: int,
    ops: int,
    fields: tuple[str, ...] = (),
):
    """A random data set in the contract's names and types."""
    priorities = rng.random((count, nodes), dtype=np.float32)
    u = rng.integers(0, nodes, (count, ops))
    v = (u + rng.integers(1, nodes, (count, ops))) % nodes
    return trace(task, priorities, np.stack([u, v], axis=-1).astype(np.uint32), fields)


def sample_graphs(rng: np.random.Generator, count: int, nodes: int, edges: int) -> np.ndarray:
    """Random graphs with that many different edges: [count, edges, 2]."""
    u, v = np.triu_indices(nodes, 1)
    chosen = np.stack([rng.permutation(len(u))[:edges] for _ in range(count)])
    return np.stack([u[chosen], v[chosen]], axis=-1).astype(np.uint32)


def check(rounds: int = 60) -> None:
    """Both structures against simulations that know nothing of trees of pointers."""
    rng = np.random.Generator(np.random.PCG64(1))
    for _ in range(rounds):
        n = int(rng.integers(2, 24))
        priorities = rng.random(n, dtype=np.float32)
        dsu, lct = DisjointSetUnion(priorities), LinkCutTree(priorities)
        label = list(range(n))
        forest = {i: set() for i in range(n)}
        for _ in range(120):
            u = int(rng.integers(0, n))
            v = (u + int(rng.integers(1, n))) % n

            joined = label[u] != label[v]
            answer, _ = dsu.apply(u, v)
            assert answer == int(joined)
            if joined:
                old, new = label[u], label[v]
                label = [new if x == old else x for x in label]
            _check_pointers(dsu.pointers(), label)

            top, low = (u, v) if priorities[u] >= priorities[v] else (v, u)
            parent = _search(forest, top)
            answer, _ = lct.apply(u, v)
            assert answer == int(low in parent)
            if low in parent:
                forest[low].discard(parent[low])
                forest[parent[low]].discard(low)
            else:
                forest[top].add(low)
                forest[low].add(top)
            _check_pointers(lct.pointers(), [min(_search(forest, i)) for i in range(n)])


def _search(forest, root):
    parent = {root: None}
    stack = [root]
    while stack:
        i = stack.pop()
        for j in forest[i]:
            if j not in parent:
                parent[j] = i
                stack.append(j)
    return parent


def _check_pointers(pointers, component):
    """Following pointers ends in one root per component, the same for all of its nodes."""
    roots = {}
    for i in range(len(pointers)):
        j, steps = i, 0
        while pointers[j] != j:
            j, steps = pointers[j], steps + 1
            assert steps <= len(pointers), "a cycle of pointers"
        assert roots.setdefault(component[i], j) == j
    assert len(set(roots.values())) == len(roots)


def _depth(pointers):
    total = 0
    for i in range(len(pointers)):
        while pointers[i] != i:
            i, total = pointers[i], total + 1
    return total / len(pointers)


def check_file(path: str) -> None:
    """Whether a data-set file holds what this implementation makes of its operations."""
    from safetensors import safe_open

    with safe_open(path, "numpy") as file:
        task = file.metadata()["task"]
        data = {name: file.get_tensor(name) for name in file.keys()}
    ours = trace(task, data["priorities"], data["operands"])
    for name, value in ours.items():
        if data[name].dtype != value.dtype or not np.array_equal(data[name], value):
            sys.exit(f"{path}: {name} differ from the Python implementation of {task}")
    print(f"{path}: {data['answers'].size} operations of {task} agree")


def main() -> None:
    if sys.argv[1:]:
        for path in sys.argv[1:]:
            check_file(path)
        return
    check()
    print("both structures agree with the naive simulations")
    print("task  nodes  answer 1  mask 0  self-pointing  mean depth")
    for task in TASKS:
        for nodes in (20, 50, 100, 200):
            rng = np.random.Generator(np.random.PCG64(nodes))
            data = sample(task, rng, 35, nodes, nodes * 3 // 2)
            own = np.arange(nodes)
            depth = np.mean([_depth(p.tolist()) for p in data["pointers"].reshape(-1, nodes)])
            print(
                f"{task:4}  {nodes:5}  {data['answers'].mean():8.2f}  "
                f"{1 - data['masks'].mean():6.3f}  {(data['pointers'] == own).mean():13.2f}  "
                f"{depth:10.1f}"
            )


if __name__ == "__main__":
    main()
