"""Programs of your own, proved: a list and a search tree.

    python prove.py

A network learns each program and is proved to execute it for every number of nodes. That needs
clauses that hold before every step, strong enough to follow from each other. You write those that
you want proved; `suggest` looks for the others in random runs of the program.
"""

from __future__ import annotations

from typing import Any

from pgn import machines


class List:
    """Lists: `append` walks from s, where a list begins, to its end, and puts x there."""

    name = "list"
    pointers, bits, registers = ("next",), ("held",), ("s", "x")
    states, halts = ("walk", "done"), {"done": None}
    operations = {"append": ("walk", ["s", "x"])}
    # Calls that violate one of these are refused with its sentence.
    requires = {
        "append": {
            "s != x": "s and x are the same node",
            "s.held = 0": "s is inside a list",
            "x.held = 0": "x is inside a list",
            "x.next = nil": "x begins a list",
        }
    }
    # These make every step defined: it reads fields of s and x.
    clauses = ("s != nil", "x != nil")

    def step(self, state: str, memory: machines.Memory) -> str:
        s, x = memory.register("s"), memory.register("x")
        after = memory.pointer(s, "next")
        if after is not None:
            memory.set_register("s", after)
            return "walk"
        memory.set_pointer(s, "next", x)
        memory.toggle(x, "held")
        return "done"


class SearchTree:
    """Search trees: `insert` hangs x below the root s, `contains` looks for its key."""

    name = "search-tree"
    pointers, bits, registers = ("left", "right"), ("held",), ("s", "x")
    states = ("insert", "look", "done", "there", "no", "yes")
    halts = {"done": True, "there": False, "no": False, "yes": True}
    operations = {"insert": ("insert", ["s", "x"]), "contains": ("look", ["s", "x"])}
    requires = {
        "insert": {
            "s != x": "s and x are the same node",
            "s.held = 0": "s is inside a tree",
            "x.held = 0": "x is inside a tree",
            "x.left = nil": "x is a root",
            "x.right = nil": "x is a root",
        },
        "contains": {"s.held = 0": "s is inside a tree"},
    }
    # What we want: trees, in search order, and that `yes` names a node with the key of x.
    clauses: tuple[str, ...] = (
        "s != nil",
        "x != nil",
        "tree left, right",
        "p.left = c and c reaches q -> q < p",
        "p.right = c and c reaches q -> p < q",
        "yes: not x < s",
        "yes: not s < x",
    )

    def step(self, state: str, memory: machines.Memory) -> str:
        s, x = memory.register("s"), memory.register("x")
        side = "left" if memory.less(x, s) else "right" if memory.less(s, x) else None
        if side is None:
            return "there" if state == "insert" else "yes"
        below = memory.pointer(s, side)
        if below is not None:
            memory.set_register("s", below)
            return state
        if state == "look":
            return "no"
        memory.set_pointer(s, side, x)
        memory.toggle(x, "held")
        return "done"


class Directed(SearchTree):
    """The same with what the first attempt lacks: x belongs below s."""

    clauses = (
        *SearchTree.clauses,
        "insert: p.left = c and c reaches s -> x < p",
        "insert: p.right = c and c reaches s -> p < x",
    )


def suggested(program: type[Any]) -> list[str]:
    """Clauses that prove the program. They are about the program: no trained network is needed."""
    return machines.train(program, epochs=1).suggest()


def proved(program: type[Any], clauses: list[str]) -> machines.Certificate:
    """Trains a network with these clauses and has everything proved."""
    complete = type(program.__name__, (program,), {"clauses": clauses})
    return machines.train(complete, epochs=600).certify()


def main() -> None:
    clauses = suggested(List)
    print("A list is proved with:", *clauses, sep="\n  ")
    print(proved(List, clauses))

    # What is wanted is not enough: the error draws a tree in which x is hung below s, but on the
    # wrong side of a node above s. No step does that; no clause says so.
    try:
        suggested(SearchTree)
    except ValueError as why:
        print("\nA search tree is not:", why)

    clauses = suggested(Directed)
    print("\nIt is, if x belongs below s:", *clauses, sep="\n  ")
    certificate = proved(Directed, clauses)
    print(certificate, certificate["statement"], sep="\n")


if __name__ == "__main__":
    main()
