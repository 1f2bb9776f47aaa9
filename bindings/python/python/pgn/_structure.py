"""What a data structure of one's own looks like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Protocol, Union

import numpy as np
import numpy.typing as npt

from pgn import _native


class Structure(Protocol):
    """A data structure that a network can learn to imitate: n nodes, each with a pointer.

    A task is a class whose instances are like this, made from an array of n priorities. (It need
    not inherit from ``Structure``.)

    >>> class Latest:
    ...     name = "latest"
    ...     def __init__(self, priorities):
    ...         self.pointers = list(range(len(priorities)))
    ...     def apply(self, u, v):  # does u point to v? from now on it does
    ...         answer = self.pointers[u] == v
    ...         self.pointers[u] = v
    ...         return answer, [u, v]
    >>> pgn.sample(Latest, nodes=8, count=3)
    Dataset(task='latest', count=3, ops=12, nodes=8, seed=0, split='train')

    Besides ``apply`` and ``pointers``, a class may have:

    - ``name``: what files and scores call it (the name of the class unless given);
    - ``features``: what a node is told about an operation, of ``"priority"``, ``"operated"``,
      ``"first"``, ``"second"`` and ``"self-pointing"`` (the first two unless given);
    - ``fields`` and ``bits``: names of further state, such as ``fields = ["left", "right"]`` and
      ``bits = ["flip"]``. Each is an attribute like ``pointers``, with a node (itself for none) or
      a truth value for every node, and data sets carry it;
    - ``sample(self, rng)``: draws the next operation, ``(u, v)``, from an :class:`Rng` and nothing
      else (uniform pairs unless given);
    - ``start_from(self, pointers)``: goes on from these pointers, for structures that have no
      other state; needed to train ``pgn-exact``.

    What it does must follow from the priorities and the operations so far, or training is not
    reproducible. Python code runs on one thread at a time.
    """

    @property
    def pointers(self) -> Sequence[int] | npt.NDArray[np.integer[Any]]:
        """Where every node points; before the first operation to itself."""
        ...

    def apply(self, u: int, v: int, /) -> tuple[bool, Iterable[int]]:
        """Carries out one operation: the answer, and the nodes it visited (mask 0).

        Visited are the nodes whose pointer the operation changes, and those it looks at to find
        out: the network may only change pointers of visited nodes.
        """
        ...


def tasks() -> dict[str, str]:
    """The built-in tasks: what each is, by name.

    >>> pgn.tasks()["forest"]
    'dynamic trees without splay trees: a node points to its parent'
    """
    return dict(_native.tasks())


#: The names of the built-in tasks, for type checkers: those of :func:`tasks`.
TaskName = Literal[
    "dsu", "lct", "dsu-by-size", "dsu-by-rank", "dsu-ordered", "kruskal", "forest",
    "msf", "bst", "mtf", "ring", "splay", "heap",
]

#: The name of a built-in task, or a class of structures.
Task = Union[TaskName, str, Callable[[npt.NDArray[np.float32]], Structure]]

#: Sets of sequences with random numbers of their own.
Split = Literal["train", "validation", "test"]
