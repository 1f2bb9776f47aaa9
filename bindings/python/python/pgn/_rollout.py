"""What a model did on a data set."""

from __future__ import annotations

import os
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from pgn import _html, _native
from pgn._dataset import Dataset
from pgn._scores import Scores, score_rollout


class Rollout(NamedTuple):
    """What a model did on a data set, reading its own masks and pointers, never the truth's."""

    query_logits: npt.NDArray[np.float32]
    """[count, ops]; above 0 for answer 1."""
    mask_logits: npt.NDArray[np.float32] | None
    """[count, ops, nodes]; above 0 for mask 1, left alone. For models with masks."""
    pointers: npt.NDArray[np.uint32] | None
    """[count, ops, nodes], after each operation. For models with pointers of their own."""
    task: str
    """The data structure."""
    model: str
    """The model's name."""
    seed: int
    """The seed of the model's run."""
    nodes: int
    """Nodes per sequence."""

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
        return score_rollout(self, data, counting)

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
