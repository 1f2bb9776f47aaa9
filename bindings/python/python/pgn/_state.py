"""A learned data structure, one operation at a time."""

from __future__ import annotations

from typing import NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from pgn import _html, _native
from pgn._arrays import array
from pgn._draw import draw


class Answer(NamedTuple):
    """What a model answers to one operation."""

    answer: bool
    """The answer: whether ``logit`` is above 0."""
    probability: float
    """How likely the answer is 1."""
    logit: float
    """The decoder's output."""
    changed: npt.NDArray[np.uint32]
    """The nodes whose pointers moved, in ascending order."""


class State:
    """A learned data structure in use; :meth:`Model.start` makes one."""

    def __init__(self, native: _native.State) -> None:
        self._native = native

    def apply(self, u: SupportsIndex, v: SupportsIndex) -> Answer:
        """Applies one operation: the model answers, and moves the pointers that it wants to move.

        >>> state = pgn.pretrained("forest").start(6)
        >>> answer = state.apply(4, 2)  # links 4 to 2
        >>> answer.answer, state.pointers
        (False, array([0, 1, 2, 3, 2, 5], dtype=uint32))
        """
        answer, logit, probability, changed = self._native.apply(u, v)
        return Answer(answer, probability, logit, changed)

    @property
    def nodes(self) -> int:
        """Number of nodes, n."""
        return self._native.nodes()

    @property
    def pointers(self) -> npt.NDArray[np.uint32]:
        """Where every node points. Setting them is for models to which pointers are given."""
        return self._native.pointers()

    @pointers.setter
    def pointers(self, pointers: npt.ArrayLike) -> None:
        self._native.set_pointers(array("pointers", pointers, np.uint32, (self.nodes,)))

    @property
    def mask_logits(self) -> npt.NDArray[np.float32]:
        """Of the last operation; above 0 means left alone. Zeros in models without masks."""
        return self._native.mask_logits()

    @property
    def latents(self) -> npt.NDArray[np.float32]:
        """h after the last operation, [n, k]."""
        return self._native.latents()

    @property
    def encoded(self) -> npt.NDArray[np.float32]:
        """z of the last operation, [n, k]."""
        return self._native.encoded()

    @property
    def steps(self) -> int:
        """Processor steps that the last operation took."""
        return self._native.steps()

    def attention(self, node: SupportsIndex) -> npt.NDArray[np.float32] | None:
        """α of one node after the last operation: how likely it is to point to each node.

        ``None`` in models without attention.

        >>> state = pgn.pretrained("dsu").start(5)
        >>> _ = state.apply(0, 3)
        >>> state.attention(0).shape, bool(abs(state.attention(0).sum() - 1) < 1e-5)
        ((5,), True)
        """
        return self._native.attention(node)

    def copy(self) -> State:
        """An independent copy, to go back to.

        >>> state = pgn.pretrained("forest").start(6)
        >>> earlier = state.copy()
        >>> _ = state.apply(4, 2)
        >>> state.pointers[4], earlier.pointers[4]
        (np.uint32(2), np.uint32(4))
        """
        return State(self._native.copy())

    def __repr__(self) -> str:
        return f"State({self.nodes} nodes)"

    def _repr_html_(self) -> str:
        # A picture of a thousand nodes would say nothing.
        picture = draw(self.pointers).svg if self.nodes <= 200 else ""
        roots = int((self.pointers == np.arange(self.nodes)).sum())
        return _html.card("State", {"nodes": self.nodes, "roots": roots}) + picture
