"""Sequences of operations with their ground truth."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from pgn import _native
from pgn._arrays import array, whole
from pgn._structure import Task

_ARRAYS = ("priorities", "operands", "answers", "masks", "pointers")


class Dataset:
    """``count`` sequences of ``ops`` operations on ``nodes`` nodes, with their ground truth.

    ============== ======= ====================== ============================================
    ``priorities`` float32 [count, nodes]         distinct, in [0, 1)
    ``operands``   uint32  [count, ops, 2]        u and v, different
    ``answers``    uint8   [count, ops]           0 or 1
    ``masks``      uint8   [count, ops, nodes]    0 visited by the operation, 1 left alone
    ``pointers``   uint32  [count, ops, nodes]    after the operation
    ============== ======= ====================== ============================================

    Before the first operation every node points to itself. The arrays are plain numpy arrays.
    Those given to the constructor are used as they are where type and layout fit, else converted
    if no value changes by it; values are checked when they are used. A slice of a set is a set:

    >>> data = pgn.sample("lct", nodes=5, count=10)
    >>> data[:2]
    Dataset(task='lct', count=2, ops=7, nodes=5, seed=0, split='train')
    >>> data == pgn.Dataset(**data.arrays(), task="lct", split="train")
    True
    """

    task: str
    seed: int
    split: str
    priorities: npt.NDArray[np.float32]
    operands: npt.NDArray[np.uint32]
    answers: npt.NDArray[np.uint8]
    masks: npt.NDArray[np.uint8]
    pointers: npt.NDArray[np.uint32]

    __slots__ = ("task", "seed", "split", *_ARRAYS)

    def __init__(
        self,
        priorities: npt.ArrayLike,
        operands: npt.ArrayLike,
        answers: npt.ArrayLike,
        masks: npt.ArrayLike,
        pointers: npt.ArrayLike,
        *,
        task: str,
        seed: int = 0,
        split: str = "given",
    ) -> None:
        self.task = task
        self.seed = whole("seed", seed, 2**64 - 1)
        self.split = split
        self.priorities = array("priorities", priorities, np.float32, ("count", "nodes"))
        count, nodes = self.priorities.shape
        self.operands = array("operands", operands, np.uint32, (count, "ops", 2))
        ops = self.operands.shape[1]
        self.answers = array("answers", answers, np.uint8, (count, ops))
        self.masks = array("masks", masks, np.uint8, (count, ops, nodes))
        self.pointers = array("pointers", pointers, np.uint32, (count, ops, nodes))

    @property
    def count(self) -> int:
        """How many sequences there are."""
        return len(self.priorities)

    @property
    def ops(self) -> int:
        """Operations per sequence."""
        return int(self.operands.shape[1])

    @property
    def nodes(self) -> int:
        """Nodes per sequence, n."""
        return int(self.priorities.shape[1])

    def arrays(self) -> dict[str, Any]:
        """The five arrays by name."""
        return {name: getattr(self, name) for name in _ARRAYS}

    def statistics(self) -> dict[str, float]:
        """What is in the set, as ``pgn generate --describe`` shows it.

        >>> round(pgn.sample("dsu", nodes=20).statistics()["answers_one"], 3)
        0.596
        """
        statistics: dict[str, float] = json.loads(_native.statistics(self))
        return statistics

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the set to a ``.safetensors`` file, as ``pgn generate`` does, byte for byte."""
        _native.save_dataset(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Dataset:
        """Reads a data-set file and checks all of it."""
        return _from_parts(_native.load_dataset(path))

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: slice | SupportsIndex) -> Dataset:
        if not isinstance(index, slice):
            position = range(self.count)[index]
            index = slice(position, position + 1)
        arrays = {name: values[index] for name, values in self.arrays().items()}
        return Dataset(**arrays, task=self.task, seed=self.seed, split=self.split)

    def __iter__(self) -> Iterator[Dataset]:
        return (self[index] for index in range(self.count))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dataset):
            return NotImplemented
        return (self.task, self.seed, self.split) == (other.task, other.seed, other.split) and all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(self.arrays().values(), other.arrays().values())
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"Dataset(task={self.task!r}, count={self.count}, ops={self.ops}, "
            f"nodes={self.nodes}, seed={self.seed}, split={self.split!r})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.task, self.seed, self.split, *self.arrays().values())
        return _from_parts, (parts,)


def _from_parts(parts: tuple[Any, ...]) -> Dataset:
    task, seed, split, *arrays = parts
    return Dataset(*arrays, task=task, seed=seed, split=split)


def sample(
    task: Task,
    *,
    nodes: int,
    ops: int | None = None,
    count: int = 70,
    seed: int = 0,
    split: str = "train",
) -> Dataset:
    """Samples sequences of operations with their ground truth.

    ``task`` is ``"dsu"``, ``"lct"``, ``"dsu-ordered"``, ``"forest"`` or a class like
    :class:`Structure`; ``ops`` is 1.5 × ``nodes`` unless given. The same arguments give the same
    arrays on every machine, and ``split`` (``"train"``, ``"validation"`` or ``"test"``) has random
    numbers of its own.

    >>> data = pgn.sample("dsu", nodes=4, ops=3, count=1)
    >>> data.operands[0].tolist(), data.answers[0].tolist()
    ([[3, 2], [1, 2], [0, 2]], [1, 1, 1])
    """
    return _from_parts(
        _native.sample(
            task,
            whole("nodes", nodes),
            None if ops is None else whole("ops", ops),
            whole("count", count),
            whole("seed", seed, 2**64 - 1),
            split,
        )
    )


def replay(
    task: Task,
    operands: npt.ArrayLike,
    *,
    nodes: int | None = None,
    priorities: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Dataset:
    """The ground truth of given operations: ``operands`` [count, ops, 2], or [ops, 2] for one.

    Without ``priorities`` [count, nodes] (or [nodes]), those of ``pgn generate --operations`` are
    drawn from ``seed``, the same for every sequence.

    >>> one = pgn.replay("dsu", [[0, 1], [1, 2], [0, 2]], nodes=3)
    >>> one.answers
    array([[1, 1, 0]], dtype=uint8)
    """
    given = np.asarray(operands)
    if given.ndim == 2:
        given = given[np.newaxis]
    given = array("operands", given, np.uint32, ("count", "ops", 2))
    if priorities is None:
        if nodes is None:
            raise ValueError("replay needs either nodes or priorities")
        row = _native.given_priorities(whole("nodes", nodes), whole("seed", seed, 2**64 - 1))
        priorities = np.broadcast_to(row, (given.shape[0], row.size))
    drawn = np.asarray(priorities)
    if drawn.ndim == 1:
        drawn = drawn[np.newaxis]
    drawn = array("priorities", drawn, np.float32, (given.shape[0], "nodes" if nodes is None else nodes))
    return _from_parts(_native.replay(task, drawn, given, whole("seed", seed, 2**64 - 1)))
