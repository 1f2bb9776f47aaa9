"""A learned data structure, one operation at a time."""

from __future__ import annotations

import array as arrays
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from pgn import _html, _native
from pgn._arrays import array
from pgn._draw import draw

if TYPE_CHECKING:
    from pgn._model import Model


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
    """A learned data structure in use; :meth:`Model.start` makes one.

    It can be copied and pickled; a pickled one carries out its operations again when it is loaded.
    """

    def __init__(
        self, native: _native.State, origin: tuple[Model, Any, Any], teacher: State | None
    ) -> None:
        self._native = native
        #: Model, priorities and edges.
        self._origin = origin
        #: Whose pointers it is given, if a teacher's.
        self._teacher = teacher
        #: Operands so far, two for each operation, and pointers that were set after how many.
        self._operands = arrays.array("I")
        self._given: list[tuple[int, npt.NDArray[np.uint32]]] = []
        self._lock = threading.RLock()

    def apply(self, u: SupportsIndex, v: SupportsIndex) -> Answer:
        """Applies one operation: the model answers, and moves the pointers that it wants to move.

        >>> state = pgn.pretrained("forest").start(6)
        >>> answer = state.apply(4, 2)  # links 4 to 2
        >>> answer.answer, state.pointers
        (False, array([0, 1, 2, 3, 2, 5], dtype=uint32))
        """
        with self._lock:
            answer, logit, probability, changed = self._native.apply(u, v)
            self._operands.extend((int(u), int(v)))
            if self._teacher is not None:
                self._teacher.apply(u, v)
                before, after = self.pointers, self._teacher.pointers
                self._native.set_pointers(after)
                changed = np.flatnonzero(before != after).astype(np.uint32)
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
        given = array("pointers", pointers, np.uint32, (self.nodes,))
        with self._lock:
            self._native.set_pointers(given)
            self._given.append((len(self._operands) // 2, given.copy()))

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
        with self._lock:
            teacher = None if self._teacher is None else self._teacher.copy()
            other = State(self._native.copy(), self._origin, teacher)
            other._operands, other._given = self._operands[:], self._given[:]
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> State:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            return _replayed, (*self._origin, self._operands[:], self._given[:])

    def __repr__(self) -> str:
        return f"State({self.nodes} nodes)"

    def _repr_html_(self) -> str:
        # A picture of a thousand nodes would say nothing.
        picture = draw(self.pointers).svg if self.nodes <= 200 else ""
        roots = int((self.pointers == np.arange(self.nodes)).sum())
        return _html.card("State", {"nodes": self.nodes, "roots": roots}) + picture


def _replayed(
    model: Model, priorities: Any, edges: Any, operands: Any, given: list[tuple[int, Any]]
) -> State:
    state = model.start(priorities=priorities, edges=edges)
    for step in range(len(operands) // 2 + 1):
        for at, pointers in given:
            if at == step:
                state.pointers = pointers
        if 2 * step < len(operands):
            state.apply(operands[2 * step], operands[2 * step + 1])
    return state
