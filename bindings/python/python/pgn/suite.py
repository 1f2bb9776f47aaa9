"""The benchmark of pointer structures: data, predictions of any model, scores, leaderboard.

:func:`make` writes the data as ``pgn benchmark make`` does, and its README says what is in it. Train on
``TASK/train.safetensors``; predict the test sets; :func:`save` the predictions, or write them with
``safetensors``; :func:`score` them.

>>> data = pgn.suite.load("dsu", nodes=20)
>>> data
Dataset(task='dsu', count=175, ops=30, nodes=20, seed=0, split='test')
>>> import tempfile, pathlib
>>> file = pathlib.Path(tempfile.mkdtemp()) / "dsu-20.safetensors"
>>> pgn.suite.save(file, "dsu", 20, answers=np.ones_like(data.answers))
>>> record = pgn.suite.score(file)
>>> record.all.f1 == record.all.f1_always_1, sorted(record.families)
(True, ['adversarial', 'local', 'path', 'random', 'star'])
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from pgn import _native
from pgn._arrays import array, whole
from pgn._dataset import Dataset
from pgn._scores import Scores

#: The families of test sequences, in their order: as many sequences of each.
FAMILIES = ("random", "path", "star", "local", "adversarial")


class Set(NamedTuple):
    """A file of the benchmark."""

    task: str
    """The data structure."""
    nodes: int
    """Nodes per sequence."""
    split: str
    """``train``, ``validation`` or ``test``."""
    file: str
    """Its path in the benchmark's folder."""
    checksum: str
    """The SHA-256 of the file, which predictions carry as ``data``."""
    sequences: int
    """How many."""
    ops: int
    """Operations per sequence."""


class Record(NamedTuple):
    """What one predictions file scored."""

    task: str
    """The data structure."""
    nodes: int
    """Nodes per sequence."""
    seed: int
    """Which of several models."""
    seconds: float | None
    """Seconds per 1,000 operations, if the file says so."""
    all: Scores
    """On all sequences."""
    families: dict[str, Scores]
    """On the sequences of each family."""


def sets() -> list[Set]:
    """Every file of the benchmark.

    >>> [one.nodes for one in pgn.suite.sets() if (one.task, one.split) == ("lct", "test")]
    [20, 50, 100, 200, 1000, 10000]
    """
    return [Set(*one) for one in _native.suite_sets()]


def _find(task: str, nodes: int, split: str) -> Set:
    for one in sets():
        if (one.task, one.nodes, one.split) == (task, nodes, split):
            return one
    raise ValueError(f"the benchmark has no {split} set of {task} with {nodes} nodes")


def make(
    folder: str | os.PathLike[str],
    tasks: Sequence[str] = (),
    *,
    text: bool = False,
    parquet: bool = False,
) -> None:
    """Writes the data of all tasks, or of some: about 300 MB.

    With ``text``, also questions and answers in words for language models, as JSON lines; with
    ``parquet``, also a Parquet file beside every file of up to 100 nodes, which needs pyarrow.
    """
    chosen = [tasks] if isinstance(tasks, str) else list(tasks)
    _native.suite_make(os.fspath(folder), chosen, text)
    if parquet:
        from pgn import export

        for one in sets():
            path = Path(folder) / one.file
            if (not chosen or one.task in chosen) and one.nodes <= 100:
                export.to_parquet(Dataset.load(path), path.with_suffix(".parquet"))


def load(
    task: str,
    split: Literal["train", "validation", "test"] = "test",
    nodes: int = 20,
    *,
    folder: str | os.PathLike[str] | None = None,
) -> Dataset:
    """A set of up to 200 nodes as a :class:`Dataset`, from a folder that :func:`make` has written, or
    made now."""
    one = _find(task, whole("nodes", nodes), split)
    if one.nodes > 200:
        raise ValueError(
            f"{one.file} has no masks and pointers, as they would take gigabytes; read its "
            "priorities, operands and answers with safetensors"
        )
    if folder is not None:
        return Dataset.load(Path(folder) / one.file)
    with tempfile.TemporaryDirectory() as made:
        make(made, [task])
        return Dataset.load(Path(made) / one.file)


def save(
    path: str | os.PathLike[str],
    task: str,
    nodes: int,
    *,
    answers: npt.ArrayLike | None = None,
    query_logits: npt.ArrayLike | None = None,
    pointers: npt.ArrayLike | None = None,
    masks: npt.ArrayLike | None = None,
    seed: SupportsIndex = 0,
    seconds: float | None = None,
) -> None:
    """Writes predictions for all sequences of a test set, in their order.

    ``answers`` [count, ops] are 0 or 1; in their place, ``query_logits`` are above 0 for 1.
    ``pointers`` and ``masks`` [count, ops, nodes] are as in a data set, up to 1,000 nodes. ``seed`` tells
    several models apart that were trained alike, and ``seconds`` is how long all operations took.
    """
    one = _find(task, whole("nodes", nodes), "test")
    shape, cells = (one.sequences, one.ops), (one.sequences, one.ops, one.nodes)
    if (answers is None) == (query_logits is None):
        raise ValueError("expected one of answers and query_logits")
    if query_logits is not None:
        logits = np.asarray(query_logits)
        if logits.shape != shape or np.isnan(logits).any():
            raise ValueError(f"query_logits are of shape {logits.shape}, or have NaN; expected {shape}")
        answers = (logits > 0).astype(np.uint8)
    assert answers is not None
    _native.suite_save(
        os.fspath(path),
        one.task,
        one.nodes,
        array("answers", answers, np.uint8, shape),
        None if masks is None else array("masks", masks, np.uint8, cells),
        None if pointers is None else array("pointers", pointers, np.uint32, cells),
        whole("seed", seed, 2**64 - 1),
        seconds,
    )


def score(path: str | os.PathLike[str]) -> Record:
    """Scores a predictions file against the truth, which is made again: no data are needed."""
    found = json.loads(_native.suite_score(os.fspath(path)))
    families = {name: Scores(scores) for name, scores in found["families"].items()}
    seconds, everything = found.get("seconds"), Scores(found["all"])
    return Record(found["task"], found["nodes"], found["seed"], seconds, everything, families)


def table(folder: str | os.PathLike[str], nodes: int = 200) -> str:
    """The leaderboard of a folder of entries at one size, as Markdown."""
    return _native.suite_table(os.fspath(folder), whole("nodes", nodes))
