"""Data structures as ordinary code: what they do to a memory, and nothing about states or registers."""

from __future__ import annotations

from typing import Any

import pgn

# Union-find, as in the paper: both paths are compressed, and the key decides which root stays.


def find(memory: Any, x: int) -> int:
    root = x
    while (above := memory.up(root)) is not None:
        root = above
    while x != root:
        above = memory.up(x)
        if above == root:
            break
        memory.up(x, root)
        x = above
    return root


class Sets:
    """Disjoint sets."""

    def query_union(self, memory, u, v) -> bool:
        a, b = find(memory, u), find(memory, v)
        if a == b:
            return False
        if memory.less(a, b):
            memory.up(a, b)
        else:
            memory.up(b, a)
        return True

    def same(self, memory, u, v) -> bool:
        return find(memory, u) == find(memory, v)

    def find(self, memory, u) -> int:
        return find(memory, u)


dsu = pgn.machines.code(Sets, pointers=["up"], reads=4, name="plain_dsu")
unseen = pgn.machines.code(Sets, pointers=["up"], reads=4, name="plain_dsu_unseen", sites=False)


@pgn.machines.code(pointers=["up"], reads=4, name="plain_forest")
class Forest:
    """Rooted trees: `toggle` joins two of them, or cuts v off where it is below u."""

    def toggle(self, memory, u, v) -> bool:
        u, v = (v, u) if memory.less(u, v) else (u, v)
        return self._toggle(memory, u, v)

    def _toggle(self, memory, u, v):
        # v hangs below whoever has the higher key, after u became a root.
        before, here = None, u
        while here is not None:
            above = memory.up(here)
            memory.up(here, before)
            before, here = here, above
        root = v
        while (above := memory.up(root)) is not None:
            root = above
        if root != u:
            memory.up(u, v)
            return False
        memory.up(v, None)
        return True

    def connected(self, memory, u, v) -> bool:
        while (above := memory.up(u)) is not None:
            u = above
        while (above := memory.up(v)) is not None:
            v = above
        return u == v


FREE = {f"x.{field} = nil": "x is in a tree" for field in ("left", "right", "above")}
ROOT = {"h != x": "h and x are the same node", "h.above = nil": "h is in a tree", "h.right = nil": "h is in a tree"}


def descend(memory, h, x) -> None:
    here = memory.left(h)
    if here is None:
        memory.left(h, x)
        memory.above(x, h)
        return
    while True:
        if memory.less(x, here):
            below = memory.left(here)
            if below is None:
                memory.left(here, x)
                break
        else:
            below = memory.right(here)
            if below is None:
                memory.right(here, x)
                break
        here = below
    memory.above(x, here)


@pgn.machines.code(pointers=["left", "right", "above"], requires={"insert": FREE | ROOT}, reads=4, name="plain_tree")
class Tree:
    """An unbalanced search tree in h.left."""

    def insert(self, memory, h, x) -> bool:
        descend(memory, h, x)
        return True


#: Clauses that hold of trees whose children know their parents.
TREES = [
    "acyclic above",
    "p.left = c -> c.above = p",
    "p.right = c -> c.above = p",
    "c.above = p -> p.left = c or p.right = c",
    "p.left = c -> p.right != c",
]


def rotate(memory, x) -> None:
    p = memory.above(x)
    g = memory.above(p)
    if memory.left(g) == p:
        memory.left(g, x)
    else:
        memory.right(g, x)
    if memory.left(p) == x:
        inner = memory.right(x)
        memory.left(p, inner)
        memory.right(x, p)
    else:
        inner = memory.left(x)
        memory.right(p, inner)
        memory.left(x, p)
    if inner is not None:
        memory.above(inner, p)
    memory.above(p, x)
    memory.above(x, g)


@pgn.machines.code(pointers=["left", "right", "above"], requires={"insert": FREE | ROOT}, clauses=TREES, search=False, reads=1, name="plain_splay")
class Splay:
    """A splay tree in h.left: insert, then splay."""

    def insert(self, memory, h, x) -> bool:
        descend(memory, h, x)
        while (p := memory.above(x)) != h:
            g = memory.above(p)
            if g == h:
                rotate(memory, x)
                break
            if (memory.left(g) == p) == (memory.left(p) == x):
                rotate(memory, p)
            else:
                rotate(memory, x)
            rotate(memory, x)
        return True


@pgn.machines.code(pointers=["next", "back"], reads=4, name="plain_list")
class List:
    """A doubly linked list with splicing."""

    def put(self, memory, x, y) -> bool:
        if x == y or memory.next(y) is not None or memory.back(y) is not None:
            return False
        after = memory.next(x)
        memory.next(y, after)
        if after is not None:
            memory.back(after, y)
        memory.next(x, y)
        memory.back(y, x)
        return True

    def splice(self, memory, x, y) -> bool:
        """Puts the list that y begins after x, unless x is in it."""
        if memory.back(y) is not None:
            return False
        last = y
        while True:
            if last == x:
                return False
            after = memory.next(last)
            if after is None:
                break
            last = after
        after = memory.next(x)
        memory.next(last, after)
        if after is not None:
            memory.back(after, last)
        memory.next(x, y)
        memory.back(y, x)
        return True

    def remove(self, memory, x) -> None:
        before, after = memory.back(x), memory.next(x)
        if before is not None:
            memory.next(before, after)
        if after is not None:
            memory.back(after, before)
        memory.next(x, None)
        memory.back(x, None)

    def first(self, memory, x) -> int:
        while (before := memory.back(x)) is not None:
            x = before
        return x


def meld(memory, a, b) -> int:
    """Pairs two roots of a heap: the one with the larger key becomes the first child of the other."""
    if memory.less(b, a):
        a, b = b, a
    memory.next(b, memory.child(a))
    memory.child(a, b)
    return a


LONE = {"h != x": "h and x are the same node", "h.held = 0": "h is in a heap", "x.held = 0": "x is in a heap", "x.child = nil": "x is a heap", "h.next = nil": "h is in a heap"}


@pgn.machines.code(
    pointers=["child", "next"],
    bits=["held"],
    requires={"push": LONE, "pop_min": {"h.held = 0": "h is in a heap"}},
    clauses=["tree child, next", "p.held = 0 -> p.next = nil"],
    search=False,
    reads=2,
    name="plain_heap",
)
class Heap:
    """A pairing heap in h.child."""

    def push(self, memory, h, x) -> None:
        root = memory.child(h)
        memory.toggle(x, "held")
        memory.child(h, x if root is None else meld(memory, root, x))

    def pop_min(self, memory, h) -> int:
        root = memory.child(h)
        if root is None:
            return None
        memory.toggle(root, "held")
        rest = memory.child(root)
        memory.child(root, None)
        done = None
        while rest is not None:  # pairs, from left to right
            a, b = rest, memory.next(rest)
            if b is None:
                memory.next(a, done)
                done = a
                break
            rest = memory.next(b)
            memory.next(a, None)
            memory.next(b, None)
            pair = meld(memory, a, b)
            memory.next(pair, done)
            done = pair
        if done is None:
            memory.child(h, None)
            return root
        rest = memory.next(done)
        memory.next(done, None)
        while rest is not None:  # all pairs, from right to left
            after = memory.next(rest)
            memory.next(rest, None)
            done = meld(memory, done, rest)
            rest = after
        memory.child(h, done)
        return root


def join(memory, here, a, b) -> None:
    """Melds two skew heaps below `here`, along their right spines; children swap."""
    while a is not None and b is not None:
        if memory.less(b, a):
            a, b = b, a
        memory.left(here, a)
        inner, after = memory.left(a), memory.right(a)
        memory.left(a, None)
        memory.right(a, inner)
        here, a = a, after
    memory.left(here, b if a is None else a)


EMPTY = {"h != x": "h and x are the same node", "h.held = 0": "h is in a heap", "h.right = nil": "h is in a heap"}
SINGLE = {"x.held = 0": "x is in a heap", "x.left = nil": "x is a heap", "x.right = nil": "x is in a heap"}


@pgn.machines.code(
    pointers=["left", "right"],
    bits=["held"],
    requires={"push": EMPTY | SINGLE, "pop_min": {"h.held = 0": "h is in a heap"}},
    clauses=["tree left, right"],
    search=False,
    reads=2,
    name="plain_skew",
)
class Skew:
    """A skew heap in h.left: a leftist heap without ranks."""

    def push(self, memory, h, x) -> None:
        memory.toggle(x, "held")
        join(memory, h, memory.left(h), x)

    def pop_min(self, memory, h) -> int:
        root = memory.left(h)
        if root is None:
            return None
        a, b = memory.left(root), memory.right(root)
        memory.left(root, None)
        memory.right(root, None)
        memory.toggle(root, "held")
        memory.left(h, None)
        join(memory, h, a, b)
        return root


def is_root(memory, x) -> bool:
    p = memory.up(x)
    return p is None or (memory.left(p) != x and memory.right(p) != x)


def push(memory, x) -> None:
    if memory.flip(x):
        left, right = memory.left(x), memory.right(x)
        memory.left(x, right)
        memory.right(x, left)
        if left is not None:
            memory.toggle(left, "flip")
        if right is not None:
            memory.toggle(right, "flip")
        memory.toggle(x, "flip")


def turn(memory, x) -> None:
    p = memory.up(x)
    g = memory.up(p)
    if g is not None:
        if memory.left(g) == p:
            memory.left(g, x)
        elif memory.right(g) == p:
            memory.right(g, x)
    if memory.left(p) == x:
        inner = memory.right(x)
        memory.left(p, inner)
        memory.right(x, p)
    else:
        inner = memory.left(x)
        memory.right(p, inner)
        memory.left(x, p)
    if inner is not None:
        memory.up(inner, p)
    memory.up(p, x)
    memory.up(x, g)


def splay(memory, x) -> None:
    while not is_root(memory, x):
        p = memory.up(x)
        if is_root(memory, p):
            push(memory, p)
            push(memory, x)
            turn(memory, x)
        else:
            g = memory.up(p)
            push(memory, g)
            push(memory, p)
            push(memory, x)
            if (memory.left(g) == p) == (memory.left(p) == x):
                turn(memory, p)
            else:
                turn(memory, x)
            turn(memory, x)
    push(memory, x)


def access(memory, x) -> None:
    splay(memory, x)
    memory.right(x, None)
    while (y := memory.up(x)) is not None:
        splay(memory, y)
        memory.right(y, x)
        splay(memory, x)


def evert(memory, x) -> None:
    access(memory, x)
    memory.toggle(x, "flip")
    push(memory, x)


def find_root(memory, x) -> int:
    access(memory, x)
    while (left := memory.left(x)) is not None:
        push(memory, left)
        x = left
    access(memory, x)
    return x


@pgn.machines.code(
    pointers=["up", "left", "right"],
    bits=["flip"],
    requires={"query_toggle": {"u != v": "u and v are the same node"}},
    clauses=["acyclic up", "p.left = c -> c.up = p", "p.right = c -> c.up = p", "p.left = c -> p.right != c"],
    search=False,
    reads=2,
    name="plain_lct",
)
class LinkCut:
    """A link/cut tree."""

    def query_toggle(self, memory, u, v) -> bool:
        evert(memory, u)
        if find_root(memory, v) == u:
            access(memory, v)
            left = memory.left(v)
            memory.up(left, None)
            memory.left(v, None)
            return True
        access(memory, u)
        access(memory, v)
        memory.left(u, v)
        memory.up(v, u)
        return False


NAMES = ["dsu", "unseen", "Forest", "Splay", "Heap", "LinkCut", "Tree", "List", "Skew"]
