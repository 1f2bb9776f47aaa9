"""Structures as ordinary code: what is inferred, learned from traces and proved, with five seeds.

    python bench/machines/ordinary.py results/machines/ordinary.json     # the Python package installed

Each is inferred with program points told (call stacks) and, where it says so, without them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pgn

sys.path.insert(0, str(Path(__file__).parents[2] / "bindings/python/examples"))
from learn import sets  # noqa: E402

SEEDS = 5


unseen = pgn.machines.code(sets.source, pointers=["up"], name="sets_unseen", sites=False)

FREE = {f"x.{field} = nil": "x is in a tree" for field in ("left", "right", "above")}
ROOT = {"h != x": "h and x are the same node", "h.above = nil": "h is in a tree", "h.right = nil": "h is in a tree"}


@pgn.machines.code(pointers=["left", "right", "above"], requires={"insert": FREE | ROOT}, name="tree")
class Tree:
    """An unbalanced search tree in h.left."""

    def insert(self, memory, h, x) -> bool:
        here = memory.left(h)
        if here is None:
            memory.left(h, x)
            memory.above(x, h)
            return True
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
        return True


@pgn.machines.code(pointers=["next", "back"], name="list")
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


def rotate(memory, x) -> None:
    p = memory.above(x)
    g = memory.above(p)
    memory.left(g, x) if memory.left(g) == p else memory.right(g, x)
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


@pgn.machines.code(pointers=["left", "right", "above"], requires={"insert": FREE | ROOT}, name="splayed")
class Splay:
    """A splay tree in h.left: insert, then splay."""

    def insert(self, memory, h, x) -> bool:
        Tree.source().insert(memory, h, x)
        while (p := memory.above(x)) != h:
            g = memory.above(p)
            if g == h:
                rotate(memory, x)
                break
            alike = (memory.left(g) == p) == (memory.left(p) == x)
            rotate(memory, p if alike else x)
            rotate(memory, x)
        return True


def main() -> None:
    rows = []
    for code in (sets, unseen, Tree, List, Splay):
        row = {"code": code.name, "sites": code.sites}
        rows.append(row)
        try:
            found = pgn.machines.infer(code)
        except ValueError as error:
            row["refused"] = str(error)
            print(row, flush=True)
            continue
        row |= {"traces": found.traces, "states": found.states, "leaves": found.leaves, "views": found.views}
        row["provable"] = found.refutation is None
        row["runs"] = []
        for seed in range(SEEDS if found.views < 2000 else 0):
            try:
                certificate = pgn.machines.train(code, seed=seed, progress=False).certify()
            except ValueError as error:  # clauses that held in the runs they were found in only
                row["refused"] = str(error).splitlines()[0]
                break
            row["runs"].append({"seed": seed, "certified": bool(certificate), "proved": certificate.proved})
        print(row, flush=True)
    Path(sys.argv[1]).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
