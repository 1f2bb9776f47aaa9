"""What a model did on a data set."""

from __future__ import annotations

import os
from typing import Any, Literal, SupportsIndex

import numpy as np
import numpy.typing as npt

from pgn import _html, _native
from pgn._arrays import array, whole
from pgn._dataset import Dataset, chosen
from pgn._scores import Scores, score


class Rollout:
    """What a model or a machine did on a data set, reading its own masks and pointers, never the
    truth's. A part of a rollout, ``rollout[2:5]``, is that of the same part of the data.

    >>> data = pgn.sample("dsu", nodes=20, count=10, split="test")
    >>> rollout = pgn.pretrained("dsu").rollout(data)
    >>> rollout
    Rollout(task='dsu', model='pgn', count=10, ops=30, nodes=20, seed=0)
    >>> len(rollout[2:5]), rollout[0].pointers.shape
    (3, (1, 30, 20))
    """

    #: [count, ops]; above 0 for answer 1.
    query_logits: npt.NDArray[np.float32]
    #: [count, ops, nodes]; above 0 for mask 1, left alone. For models with masks.
    mask_logits: npt.NDArray[np.float32] | None
    #: [count, ops, nodes], after each operation. For models with pointers of their own.
    pointers: npt.NDArray[np.uint32] | None
    #: The data structure.
    task: str
    #: The model's name.
    model: str
    #: The seed of the model's run.
    seed: int
    #: Nodes per sequence.
    nodes: int
    #: [count]: those of :attr:`Dataset.checksums` that it was made on; ``None`` if not known.
    checksums: npt.NDArray[np.uint32] | None

    __slots__ = ("query_logits", "mask_logits", "pointers", "task", "model", "seed", "nodes",
                 "checksums")

    def __init__(
        self,
        query_logits: npt.ArrayLike,
        mask_logits: npt.ArrayLike | None,
        pointers: npt.ArrayLike | None,
        task: str,
        model: str,
        seed: SupportsIndex,
        nodes: SupportsIndex,
        checksums: npt.ArrayLike | None = None,
    ) -> None:
        self.query_logits = array("query_logits", query_logits, np.float32, ("count", "ops"))
        count, ops = self.query_logits.shape
        self.task, self.model, self.seed = task, model, whole("seed", seed, 2**64 - 1)
        self.nodes = whole("nodes", nodes)
        shape = (count, ops, self.nodes)
        self.mask_logits = (
            None if mask_logits is None else array("mask_logits", mask_logits, np.float32, shape)
        )
        self.pointers = (
            None if pointers is None else array("pointers", pointers, np.uint32, shape)
        )
        self.checksums = (
            None if checksums is None else array("checksums", checksums, np.uint32, (count,))
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, "checksums"):
            raise AttributeError(f"a rollout is not changed; make another one to have other {name}")
        object.__setattr__(self, name, value)

    @property
    def answers(self) -> npt.NDArray[np.uint8]:
        """[count, ops]; 0 or 1."""
        return (self.query_logits > 0).astype(np.uint8)

    @property
    def masks(self) -> npt.NDArray[np.uint8] | None:
        """[count, ops, nodes]; 0 re-aimed, 1 left alone."""
        return None if self.mask_logits is None else (self.mask_logits > 0).astype(np.uint8)

    def score(
        self, data: Dataset, *, counting: Dataset | Literal[False] | None = None
    ) -> Scores:
        """Scores against the truth of ``data``, on which it was made; see :func:`pgn.score`.

        >>> data = pgn.sample("dsu", nodes=20, count=10, split="test")
        >>> scores = pgn.pretrained("dsu").rollout(data).score(data)
        >>> scores.f1 > scores.counting_f1, scores.first_error
        (True, 2)
        """
        if self.task != data.task:
            raise ValueError(f"the rollout is of task {self.task}, the data of {data.task}")
        self.check(data)
        return score(
            data, answers=self.answers, pointers=self.pointers, masks=self.masks, counting=counting
        )

    def check(self, data: Dataset) -> None:
        """Refuses data that it was not made on."""
        mine, theirs = list(self.query_logits.shape), list(data.answers.shape)
        if mine != theirs or self.nodes != data.nodes:
            raise ValueError(
                f"the rollout has shape {[*mine, self.nodes]}, the data {[*theirs, data.nodes]}; "
                "expected a rollout of this data"
            )
        if self.checksums is not None:
            other = np.flatnonzero(self.checksums != data.checksums)
            if other.size:
                raise ValueError(
                    f"the rollout was made on other data: sequence {other[0]} has another checksum"
                )

    def __len__(self) -> int:
        return len(self.query_logits)

    def __getitem__(self, index: Any) -> Rollout:
        part = chosen(index, len(self))

        def of(values: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
            return None if values is None else values[part]

        return Rollout(
            self.query_logits[part], of(self.mask_logits), of(self.pointers), self.task,
            self.model, self.seed, self.nodes, of(self.checksums),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rollout):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in self.__slots__
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Rollout, tuple(getattr(self, name) for name in self.__slots__)

    def __repr__(self) -> str:
        count, ops = self.query_logits.shape
        return (
            f"Rollout(task={self.task!r}, model={self.model!r}, count={count}, ops={ops}, "
            f"nodes={self.nodes}, seed={self.seed})"
        )

    def _repr_html_(self) -> str:
        count, ops = self.query_logits.shape
        return _html.card(f"Rollout: {self.task} {self.model}, n = {self.nodes}", {
            "sequences": count,
            "operations each": ops,
            "seed of the run": self.seed,
            "answered 1": f"{self.answers.mean():.3f}" if count else "",
            "masks": "yes" if self.mask_logits is not None else "no",
            "pointers": "yes" if self.pointers is not None else "no",
        })

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a ``.safetensors`` file, as ``pgn rollout --out`` does, byte for byte.

        >>> data = pgn.sample("lct", nodes=20, count=2, split="test")
        >>> pgn.pretrained("lct").rollout(data).save("rollout.safetensors")
        """
        _native.save_rollout(
            path,
            self.task,
            self.model,
            self.seed,
            self.nodes,
            self.query_logits,
            self.mask_logits,
            self.pointers,
        )
