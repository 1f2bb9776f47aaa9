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
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pgn._dataset import Dataset

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
    return _feedback(OPERATIONS, values, lengths)


def sequences(data: Dataset) -> Feedback:
    """Every sequence as a sample, [count].

    Hint t holds the operands of operation t and the state before it, so that the state after it is
    hint t + 1; the last hint repeats the last operands.
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
    return _feedback(SEQUENCES, values, np.full(count, ops + 1))


def to_clrs(feedback: Feedback) -> Any:
    """The same as ``clrs.Feedback`` of ``clrs.DataPoint``; needs ``dm-clrs``."""
    import clrs  # type: ignore[import-not-found,import-untyped,unused-ignore]

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
