"""A minimum spanning forest of a graph whose edges arrive one by one, with a link/cut tree that was
learned: the heaviest edge of every cycle leaves.

    python online_msf.py
"""

from __future__ import annotations

from collections.abc import Sequence

from pgn import machines

Edge = tuple[int, int, float]


def online_forest(nodes: int, edges: Sequence[Edge]) -> set[int]:
    """The numbers of the edges in the minimum spanning forest, after all have arrived.

    Node ``nodes + i`` is edge i, and its value is the edge's weight: the heaviest edge between two
    nodes is the maximum along a path.
    """
    values = [float("-inf")] * nodes + [float(weight) for _, _, weight in edges]
    forest = machines.load("lct").compile().start(values=values, aggregate="max")
    inside: set[int] = set()
    for number, (u, v, weight) in enumerate(edges):
        if u == v:
            continue
        heaviest = forest.path_aggregate(u, v)  # u is the root now
        if heaviest is not None and heaviest.node is not None:  # a maximum is at a node
            if heaviest.value <= weight:
                continue
            forest.apply("cut", heaviest.node)  # from the side of u
            forest.apply("evert", v)
            forest.apply("cut", heaviest.node)  # from the side of v
            inside.remove(heaviest.node - nodes)
        forest.apply("evert", u)
        forest.apply("link", u, nodes + number)  # u hangs from the edge,
        forest.apply("link", nodes + number, v)  # and the edge from v
        inside.add(number)
    return inside


def main() -> None:
    edges = [(0, 1, 71), (0, 3, 56), (1, 3, 40), (2, 3, 83), (0, 2, 90), (2, 1, 12)]
    inside = online_forest(4, edges)
    for number in sorted(inside):
        u, v, weight = edges[number]
        print(f"{u} – {v}: {weight}")
    print("weight of the forest:", sum(edges[number][2] for number in inside))


if __name__ == "__main__":
    main()
