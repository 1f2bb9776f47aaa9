"""A minimum spanning tree by Kruskal's algorithm, with a disjoint-set union that was learned.

    python kruskal.py
"""

from __future__ import annotations

from collections.abc import Sequence

from pgn import machines

Edge = tuple[int, int, float]


def kruskal(nodes: int, edges: Sequence[Edge]) -> list[Edge]:
    """The edges of a minimum spanning forest, from light to heavy.

    Python sorts; the learned structure decides which edges join two parts.
    """
    parts = machines.load("dsu").compile().start(nodes)
    return [
        (u, v, weight)
        for u, v, weight in sorted(edges, key=lambda edge: edge[2])
        if u != v and parts.apply("union", u, v)
    ]


def main() -> None:
    towns = ["Aarhus", "Bergen", "Cork", "Delft", "Espoo"]
    cables = [(0, 1, 71), (0, 3, 56), (1, 2, 98), (1, 4, 102), (2, 3, 83), (3, 4, 149)]
    tree = kruskal(len(towns), cables)
    for u, v, cost in tree:
        print(f"{towns[u]} – {towns[v]}: {cost}")
    print("total:", sum(cost for _, _, cost in tree))


if __name__ == "__main__":
    main()
