"""From ordinary code to a data structure that is proved for every n.

    python learn.py

The union-find below is written as anyone would write it. While it runs on small memories, its loads,
stores and comparisons are recorded. From these, states, registers and what each state reads are
inferred; clauses that prove the program are found; a network learns its steps from traces; and the
checker proves that the network executes the program for every n. It takes a few seconds.
"""

from __future__ import annotations

from typing import Any

import pgn


def find(memory: Any, x: int) -> int:
    root = x
    while memory.up(root) is not None:
        root = memory.up(root)
    while x != root:
        above = memory.up(x)
        if above == root:
            break
        memory.up(x, root)
        x = above
    return root


@pgn.machines.code(pointers=["up"])
def sets(memory: Any, u: int, v: int) -> bool:
    """Joins two sets; whether they were apart."""
    a, b = find(memory, u), find(memory, v)
    if a == b:
        return False
    low, high = (a, b) if memory.less(a, b) else (b, a)
    memory.up(low, high)
    return True


def main() -> None:
    inferred = pgn.machines.infer(sets)
    print(inferred, inferred.picture, sep="\n")
    machine = pgn.machines.train(sets, progress=False)
    print(machine.certify()["statement"])
    memory = machine.compile().start(1000)
    print([memory.apply("sets", u, v) for u, v in [(0, 1), (1, 2), (2, 0)]])


if __name__ == "__main__":
    main()
