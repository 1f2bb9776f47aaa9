"""The report's player in a notebook."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from pgn import _native
from pgn._dataset import Dataset
from pgn._rollout import Rollout


class Player:
    """A rollout to be played step by step; a notebook shows it, :meth:`save` writes a page."""

    def __init__(self, html: str) -> None:
        #: The page: one HTML document that needs nothing else.
        self.html = html

    def _repr_html_(self) -> str:
        # In a frame of its own, so that its styles and keys are its own.
        return (
            '<iframe sandbox="allow-scripts" style="width:100%;height:640px;border:0" '
            f'title="A rollout, step by step" srcdoc="{escape(self.html)}"></iframe>'
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an ``.html`` file.

        >>> data = pgn.sample("dsu", nodes=8, count=1, split="test")
        >>> pgn.play(data, pgn.pretrained("dsu").rollout(data)).save("player.html")
        """
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"Player({len(self.html)} characters of HTML)"


def play(data: Dataset, rollout: Rollout, sequence: SupportsIndex = 0) -> Player:
    """The player of ``pgn report``: the truth of one sequence, and beside it what a model did.

    >>> model = pgn.pretrained("dsu")
    >>> data = pgn.sample("dsu", nodes=12, count=2, split="test")
    >>> pgn.play(data, model.rollout(data), sequence=1).html.startswith("<!doctype html>")
    True
    """
    index = range(data.count)[sequence]
    rollout.check(data)

    def part(values: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
        return None if values is None else np.ascontiguousarray(values[index])

    logits = np.ascontiguousarray(rollout.query_logits[index])
    return Player(
        _native.player(
            data[index], data.task, logits, part(rollout.mask_logits), part(rollout.pointers)
        )
    )
