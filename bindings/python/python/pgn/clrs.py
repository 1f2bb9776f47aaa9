"""Data sets in the form of CLRS, the field's benchmark: probes with a stage, a location and a type.

The structures here are those of ``dm-clrs`` (``clrs.DataPoint``, ``clrs.Features`` and
``clrs.Feedback``, field by field), which need not be installed to make them; :func:`to_clrs` turns
them into its own.

- :func:`operations`: every operation is a sample. Its inputs are the pointers before it, its hints
  follow the pointers up from u and v, its outputs are answer, visited nodes and pointers after it.
  This is what a CLRS processor can be trained on: all that the outputs depend on is there
  (``dsu``, ``dsu-ordered``, ``forest``; a link/cut tree knows more than its pointers show).
- :func:`sequences`: every sequence is a sample, with a hint per operation. The operands are hints
  too, as CLRS inputs cannot change with time. They are random, so a model must be given them at
  every step (teacher forcing); it has no way to predict them.

>>> data = pgn.sample("forest", nodes=5, ops=4, count=3)
>>> feedback = pgn.clrs.operations(data)
>>> for probe in feedback.outputs:
...     print(probe.name, probe.location, probe.type_, probe.data.shape)
answer graph mask (12,)
visited node mask (12, 5)
pi node pointer (12, 5)

:class:`Sampler` draws batches without end, as CLRS's own samplers do.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, Literal, NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from pgn._arrays import whole
from pgn._dataset import Dataset, sample
from pgn._structure import Split, Task

#: Name, then stage, location and type, as in ``clrs.SPECS``.
Spec = dict[str, tuple[str, str, str]]

OPERATIONS: Spec = {
    "pos": ("input", "node", "scalar"),
    "priority": ("input", "node", "scalar"),
    "u": ("input", "node", "mask_one"),
    "v": ("input", "node", "mask_one"),
    "pi_before": ("input", "node", "pointer"),
    "reached_u": ("hint", "node", "mask"),
    "reached_v": ("hint", "node", "mask"),
    "pi_h": ("hint", "node", "pointer"),
    "answer": ("output", "graph", "mask"),
    "visited": ("output", "node", "mask"),
    "pi": ("output", "node", "pointer"),
}
"""What :func:`operations` makes."""

SEQUENCES: Spec = {
    "pos": ("input", "node", "scalar"),
    "priority": ("input", "node", "scalar"),
    "u": ("hint", "node", "mask_one"),
    "v": ("hint", "node", "mask_one"),
    "answer_h": ("hint", "graph", "mask"),
    "visited_h": ("hint", "node", "mask"),
    "pi_h": ("hint", "node", "pointer"),
    "answer": ("output", "graph", "mask"),
    "pi": ("output", "node", "pointer"),
}
"""What :func:`sequences` makes."""


OF_KINDS: dict[str, Spec] = {
    "operations": {**OPERATIONS, "kind": ("input", "graph", "scalar")},
    "sequences": {**SEQUENCES, "kind": ("hint", "graph", "scalar")},
}
"""What they make of tasks with several kinds of operations: the number of the kind, too."""


class DataPoint(NamedTuple):
    """A probe: ``data`` is [batch, …] for inputs and outputs, [time, batch, …] for hints."""

    name: str
    location: str
    type_: str
    data: npt.NDArray[np.float64]


class Features(NamedTuple):
    """What a model reads."""

    inputs: tuple[DataPoint, ...]
    hints: tuple[DataPoint, ...]
    lengths: npt.NDArray[np.int64]
    """Hints per sample; those after the last are padding."""


class Feedback(NamedTuple):
    """What a model reads, and what it should have answered."""

    features: Features
    outputs: tuple[DataPoint, ...]


def operations(data: Dataset) -> Feedback:
    """Every operation of every sequence as a sample of its own, [count × ops].

    Hint 0 is where an operation starts; in each of the next ones u and v have reached one pointer
    further, and in the last the pointers are those after the operation.

    >>> feedback = pgn.clrs.operations(pgn.sample("dsu", nodes=6, ops=9, count=10))
    >>> [probe.name for probe in feedback.features.inputs]
    ['pos', 'priority', 'u', 'v', 'pi_before']
    """
    count, ops, n = data.pointers.shape
    before = np.empty_like(data.pointers)
    before[:, 0] = np.arange(n)
    before[:, 1:] = data.pointers[:, :-1]
    before, after = before.reshape(-1, n), data.pointers.reshape(-1, n)
    u, v = _one_hot(data.operands.reshape(-1, 2).T, n)
    reached = {"reached_u": [u], "reached_v": [v]}
    lengths = np.full(count * ops, 2)
    growing = np.ones(count * ops, bool)
    while growing.any():
        grown = np.zeros_like(growing)
        for trail in reached.values():
            last = trail[-1]
            trail.append(np.maximum(last, _image(last, before)))
            grown |= (trail[-1] != last).any(axis=1)
        growing = grown
        lengths += growing
    steps = len(reached["reached_u"])
    # In the last hint of each sample, and in the padding after it, the pointers have moved.
    moved = np.arange(steps)[:, None] >= lengths - 1
    values = {
        **_of_nodes(np.repeat(data.priorities, ops, axis=0)),
        "u": u,
        "v": v,
        "pi_before": before,
        **{name: np.stack(trail) for name, trail in reached.items()},
        "pi_h": np.where(moved[:, :, None], after, before),
        "answer": data.answers.reshape(-1),
        "visited": 1 - data.masks.reshape(-1, n),
        "pi": after,
    }
    if data.kinds is None:
        return _feedback(OPERATIONS, values, lengths)
    return _feedback(OF_KINDS["operations"], {**values, "kind": data.kinds.reshape(-1)}, lengths)


def sequences(data: Dataset) -> Feedback:
    """Every sequence as a sample, [count].

    Hint t holds the operands of operation t and the state before it, so that the state after it is
    hint t + 1; the last hint repeats the last operands.

    >>> feedback = pgn.clrs.sequences(pgn.sample("lct", nodes=6, ops=9, count=10))
    >>> feedback.features.hints[-1].name, feedback.features.hints[-1].data.shape
    ('pi_h', (10, 10, 6))
    """
    count, ops, n = data.pointers.shape
    u, v = _one_hot(np.moveaxis(data.operands, (0, 1, 2), (2, 1, 0)), n)
    start = np.broadcast_to(np.arange(n), (1, count, n))
    after = np.swapaxes(data.pointers, 0, 1)
    visited = 1 - np.swapaxes(data.masks, 0, 1)
    answers = np.swapaxes(data.answers, 0, 1)
    values = {
        **_of_nodes(data.priorities),
        "u": np.concatenate([u, u[-1:]]),
        "v": np.concatenate([v, v[-1:]]),
        "answer_h": np.concatenate([np.zeros_like(answers[:1]), answers]),
        "visited_h": np.concatenate([np.zeros_like(visited[:1]), visited]),
        "pi_h": np.concatenate([start, after]),
        "answer": data.answers[:, -1],
        "pi": data.pointers[:, -1],
    }
    lengths = np.full(count, ops + 1)
    if data.kinds is None:
        return _feedback(SEQUENCES, values, lengths)
    kinds = np.concatenate([data.kinds.T, data.kinds.T[-1:]])
    return _feedback(OF_KINDS["sequences"], {**values, "kind": kinds}, lengths)


class Sampler:
    """Batches without end, the same for the same arguments, in memory that is linear in the batch.

    ``next(batch_size)`` is a ``clrs.Feedback`` where ``dm-clrs`` is installed, else a
    :class:`Feedback` with the same fields. ``kind`` is ``"operations"``, whose batches are
    shuffled operations of a few sequences, or ``"sequences"``. Hints are padded to ``min_length``
    where they are shorter, so that compiled models see few shapes.

    >>> sampler = pgn.clrs.Sampler("forest", nodes=8, seed=1, min_length=9)
    >>> features, outputs = sampler.next(32)
    >>> features.hints[0].data.shape, outputs[0].data.shape, sorted(sampler.spec)[:2]
    ((9, 32, 8), (32,), ['answer', 'pi'])
    """

    def __init__(
        self,
        task: Task,
        nodes: SupportsIndex,
        seed: SupportsIndex = 0,
        *,
        kind: Literal["operations", "sequences"] = "operations",
        ops: SupportsIndex | None = None,
        split: Split = "train",
        min_length: SupportsIndex = 0,
    ) -> None:
        if kind not in ("operations", "sequences"):
            raise ValueError(f"kind is {kind!r}; expected 'operations' or 'sequences'")
        self._task = task
        self._nodes = whole("nodes", nodes)
        self._seed = whole("seed", seed, 2**64 - 1)
        self._ops = max(1, self._nodes * 3 // 2) if ops is None else whole("ops", ops)
        self._kind = kind
        self._split: Split = split
        self._least = whole("min_length", min_length)
        self._drawn = 0
        few = sample(task, nodes=self._nodes, ops=32, count=1, fields=False)
        self._has_kinds = few.kinds is not None

    @property
    def spec(self) -> Spec:
        """Stage, location and type of every probe, as in ``clrs.SPECS``."""
        if self._has_kinds:
            return OF_KINDS[self._kind]
        return OPERATIONS if self._kind == "operations" else SEQUENCES

    def next(self, batch_size: SupportsIndex) -> Any:
        """The next batch."""
        size = whole("batch_size", batch_size)
        if size == 0:
            raise ValueError("batch_size is 0; expected at least 1")
        # Batch after batch has a seed of its own: nothing is kept, and none is drawn twice.
        words = [self._seed % 2**32, self._seed >> 32, self._nodes, self._drawn]
        state = np.random.SeedSequence(words)
        self._drawn += 1
        [seed] = state.generate_state(1, np.uint64)
        single = self._kind == "operations"
        count = -(-size // self._ops) if single else size
        data = sample(
            self._task, nodes=self._nodes, ops=self._ops, count=count, seed=seed, split=self._split,
            fields=False,
        )
        if self._has_kinds and data.kinds is None:  # all of the first kind
            data.kinds = np.zeros(data.answers.shape, np.uint8)
        if single:
            chosen = np.random.default_rng(state).permutation(count * self._ops)[:size]
            feedback = _padded(_chosen(operations(data), chosen), self._least)
        else:
            feedback = _padded(sequences(data), self._least)
        return to_clrs(feedback) if importlib.util.find_spec("clrs") else feedback


def _chosen(feedback: Feedback, samples: npt.NDArray[Any]) -> Feedback:
    """Some of the samples, their hints no longer than they need."""
    (inputs, hints, lengths), outputs = feedback
    lengths = lengths[samples]
    steps = int(lengths.max())
    return Feedback(
        Features(
            tuple(probe._replace(data=probe.data[samples]) for probe in inputs),
            tuple(probe._replace(data=probe.data[:steps, samples]) for probe in hints),
            lengths,
        ),
        tuple(probe._replace(data=probe.data[samples]) for probe in outputs),
    )


def _padded(feedback: Feedback, least: int) -> Feedback:
    """Hints of at least that length; the last is repeated, as padding is never read."""
    (inputs, hints, lengths), outputs = feedback

    def longer(data: npt.NDArray[Any]) -> npt.NDArray[Any]:
        missing = least - len(data)
        return np.concatenate([data, np.repeat(data[-1:], missing, 0)]) if missing > 0 else data

    hints = tuple(probe._replace(data=longer(probe.data)) for probe in hints)
    return Feedback(Features(inputs, hints, lengths), outputs)


def to_clrs(feedback: Feedback) -> Any:
    """The same as ``clrs.Feedback`` of ``clrs.DataPoint``; needs ``dm-clrs``."""
    try:
        clrs: Any = importlib.import_module("clrs")
    except ImportError:
        raise ImportError(
            "to_clrs needs dm-clrs: pip install 'pointer-graph-networks[clrs]'"
        ) from None

    def points(probes: tuple[DataPoint, ...]) -> list[Any]:
        return [clrs.DataPoint(*probe) for probe in probes]

    features = clrs.Features(
        inputs=points(feedback.features.inputs),
        hints=points(feedback.features.hints),
        lengths=feedback.features.lengths,
    )
    return clrs.Feedback(features=features, outputs=points(feedback.outputs))


def _one_hot(nodes: npt.NDArray[Any], n: int) -> npt.NDArray[np.uint8]:
    hot: npt.NDArray[np.uint8] = (nodes[..., None] == np.arange(n)).astype(np.uint8)
    return hot


def _image(members: npt.NDArray[Any], pointers: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The nodes that members of a set point to, row by row."""
    image = np.zeros_like(members)
    rows, nodes = np.nonzero(members)
    image[rows, pointers[rows, nodes]] = 1
    return image


def _of_nodes(priorities: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    n = priorities.shape[1]
    return {"pos": np.broadcast_to(np.arange(n) / n, priorities.shape), "priority": priorities}


def _feedback(
    spec: Spec, values: dict[str, npt.NDArray[Any]], lengths: npt.NDArray[Any]
) -> Feedback:
    stages: dict[str, list[DataPoint]] = {"input": [], "hint": [], "output": []}
    for name, (stage, location, type_) in spec.items():
        data = np.ascontiguousarray(values[name], np.float64)
        stages[stage].append(DataPoint(name, location, type_, data))
    features = Features(tuple(stages["input"]), tuple(stages["hint"]), lengths)
    return Feedback(features, tuple(stages["output"]))
