"""Whether a class is a data structure that a network can learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pgn._arrays import whole
from pgn._dataset import sample
from pgn._structure import Task


def check(
    structure: Task, *, nodes: Sequence[int] = (2, 3, 5, 20), count: int = 20, seed: int = 0
) -> None:
    """Tries a structure of your own, and raises an error that says what is wrong with it.

    Sequences of several sizes are sampled. At every operation it is checked that the answer is 0
    or 1, that some node was visited, that no pointer moved whose node was not visited, and that
    pointers lead to nodes; before the first, that every node points to itself. Sampling does that
    too. Besides, the class must do the same again, and go on from pointers if it has
    ``start_from``.

    >>> class Forgetful:
    ...     def __init__(self, priorities):
    ...         self.pointers = list(range(len(priorities)))
    ...     def apply(self, u, v):
    ...         self.pointers[u] = v
    ...         return True, [v]
    >>> pgn.check(Forgetful, nodes=[4])
    Traceback (most recent call last):
    ValueError: the structure `Forgetful` moved the pointer of node 3 from 3 to 2 without visiting
    it (operation 0, u = 3, v = 2)
    """
    for size in nodes:
        size = whole("nodes", size)
        first = sample(structure, nodes=size, count=count, seed=seed)
        again = sample(structure, nodes=size, count=count, seed=seed)
        for name, values in first.arrays().items():
            if not np.array_equal(values, again.arrays()[name]):
                raise ValueError(
                    f"the structure `{first.task}` has other {name} when it is sampled again; "
                    "what it does must follow from the priorities and the operations so far"
                )
        if not isinstance(structure, str) and hasattr(structure, "start_from"):
            _goes_on(structure, first)


def _goes_on(structure: Any, data: Any) -> None:
    """Whether the pointers are all that the structure knows, as ``start_from`` says."""
    for i in range(min(data.count, 5)):
        before = np.arange(data.nodes)
        for t, (u, v) in enumerate(data.operands[i].tolist()):
            one = structure(data.priorities[i])
            one.start_from(before.astype(np.uint32))
            answer, visited = one.apply(u, v)
            mask = np.ones(data.nodes, np.uint8)
            mask[list(visited)] = 0
            same = (
                bool(answer) == bool(data.answers[i, t])
                and np.array_equal(mask, data.masks[i, t])
                and np.array_equal(np.asarray(one.pointers), data.pointers[i, t])
            )
            if not same:
                raise ValueError(
                    f"the structure `{data.task}` does something else after start_from "
                    f"(operation {t}, u = {u}, v = {v}); its pointers are not all it depends on"
                )
            before = data.pointers[i, t]
