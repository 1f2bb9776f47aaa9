"""Any models side by side on the same test sets, with what their scores are worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, Union

import numpy as np
import numpy.typing as npt

from pgn import _html
from pgn._arrays import whole
from pgn._dataset import Dataset, sample
from pgn._model import Model
from pgn._scores import Scores, score
from pgn._structure import Task
from pgn.machines._machine import Machine

if TYPE_CHECKING:
    import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]


class Questions(NamedTuple):
    """What a predictor is told of a test set: everything but the truth."""

    task: str
    """The data structure."""
    seed: int
    """The seed of the test set; training sequences of the same seed are in another split."""
    priorities: npt.NDArray[np.float32]
    """[count, nodes]"""
    operands: npt.NDArray[np.uint32]
    """[count, ops, 2]"""
    kinds: npt.NDArray[np.uint8] | None = None
    """[count, ops], where the task has several kinds of operations"""
    edges: npt.NDArray[np.uint32] | None = None
    """[count, edges, 2], where sequences come with a graph"""
    weights: npt.NDArray[np.float32] | None = None
    """[count, edges]"""

    @property
    def shape(self) -> tuple[int, int, int]:
        """[count, ops, nodes]"""
        count, ops, _ = self.operands.shape
        return int(count), int(ops), int(self.priorities.shape[1])


#: Answers [count, ops] of 0 and 1, or keywords of :func:`score`: ``{"query_logits": …}``.
Prediction = Union[npt.ArrayLike, Mapping[str, npt.ArrayLike]]

#: A trained model, a machine, or a function from questions to predictions.
Predictor = Union[Model, Machine, Callable[[Questions], Prediction]]


class Row(NamedTuple):
    """One model on the test sets of one task and size."""

    task: str
    """The data structure."""
    nodes: int
    """Nodes per sequence."""
    name: str
    """Whose score it is."""
    mean: float
    """Over the seeds."""
    std: float
    """The standard deviation over the seeds (n − 1)."""
    worst: float
    """The lowest of any seed."""
    worst_seed: int
    """Its seed."""
    scores: tuple[Scores, ...]
    """All scores, one for each seed."""


class Benchmark(Sequence[Row]):
    """The rows of :func:`benchmark`, printed as a table."""

    def __init__(
        self, metric: str, seeds: Sequence[int], rows: Sequence[Row], skipped: Sequence[str] = ()
    ) -> None:
        #: The score that is compared.
        self.metric = metric
        #: The seeds, in order.
        self.seeds = tuple(seeds)
        #: What is not in the table, in words: models on tasks that they were not trained for.
        self.skipped = tuple(skipped)
        self._rows = tuple(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def at(self, name: str, task: str, nodes: int) -> Row:
        """The row of one model at one size of a task.

        >>> table = pgn.benchmark({}, tasks="dsu", nodes=20, seeds=range(2))
        >>> table.at("counting", "dsu", 20).mean > table.at("always 1", "dsu", 20).mean
        True
        """
        for row in self._rows:
            if (row.name, row.task, row.nodes) == (name, task, nodes):
                return row
        raise KeyError(f"there is no row for {name} on {task} with {nodes} nodes")

    def _cells(self) -> tuple[list[str], list[list[object]]]:
        header = ["task", "nodes", "model", self.metric, "worst seed"]
        rows: list[list[object]] = [
            [row.task, row.nodes, row.name, f"{row.mean:.3f} ± {row.std:.3f}",
             f"{row.worst:.3f} ({row.worst_seed})"]
            for row in self._rows
        ]
        return header, rows

    def __str__(self) -> str:
        header, rows = self._cells()
        lines = [header, *([str(cell) for cell in row] for row in rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
        return "\n".join([
            *("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
              for line in lines),
            *self.skipped,
        ])

    def __repr__(self) -> str:
        return f"Benchmark({len(self)} rows of {self.metric}, seeds {list(self.seeds)})"

    def _repr_html_(self) -> str:
        return _html.table(*self._cells())

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each model, baseline, task, size and seed, with all scores. Needs pandas."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        return pandas.DataFrame(
            [
                {"task": row.task, "nodes": row.nodes, "model": row.name, "seed": seed,
                 **{name: value for name, value in scores.items() if name != "first_errors"}}
                for row in self._rows
                for seed, scores in zip(self.seeds, row.scores)
            ]
        )


def benchmark(
    predictors: Mapping[str, Predictor | Sequence[Predictor]],
    tasks: Sequence[Task] | Task = ("dsu", "lct"),
    nodes: Sequence[int] | SupportsIndex = (20, 50, 100, 200),
    seeds: Iterable[int] = range(5),
    count: SupportsIndex = 35,
    *,
    metric: str = "f1",
) -> Benchmark:
    """Scores models on the paper's test sets, next to always answering 1 and to counting.

    ``predictors`` has a name for each: a :class:`Model`, a machine, or a function that is given
    :class:`Questions`, which hold no truth, and returns the answers or a mapping of keywords of
    :func:`score`. A list has one of them for each seed, as the paper's protocol has a model per
    seed. Models and machines are scored on the task that they were trained for, and it is said on
    which they were not.

    The test set of a seed is the one that a run of that seed is tested on, and counting learns
    from the training sequences of that seed: the numbers are those of ``pgn eval``.

    >>> def coin(questions):
    ...     return np.random.default_rng(0).integers(0, 2, questions.operands.shape[:2])
    >>> print(pgn.benchmark({"coin": coin}, tasks="dsu", nodes=20, seeds=range(2)))
    task  nodes  model     f1             worst seed
    dsu   20     coin      0.570 ± 0.011  0.562 (0)
    dsu   20     counting  0.891 ± 0.017  0.879 (1)
    dsu   20     always 1  0.750 ± 0.002  0.749 (0)
    """
    all_seeds = [whole("seed", seed, 2**64 - 1) for seed in seeds]
    if not all_seeds:
        raise ValueError("seeds is empty; expected at least one")
    every = {name: _for_each(name, given, len(all_seeds)) for name, given in predictors.items()}
    all_tasks = [tasks] if isinstance(tasks, str) or callable(tasks) else list(tasks)
    sizes = list(nodes) if isinstance(nodes, (Sequence, np.ndarray)) else [nodes]
    rows: list[Row] = []
    skipped: dict[str, None] = {}
    used: set[str] = set()
    for task in all_tasks:
        for size in sizes:
            sets = [
                sample(task, nodes=size, count=count, seed=seed, split="test", fields=False)
                for seed in all_seeds
            ]
            training = None if isinstance(task, str) else [
                sample(task, nodes=20, seed=seed, fields=False) for seed in all_seeds
            ]
            for name, given in every.items():
                trained = [one.task for one in given if isinstance(one, (Model, Machine))]
                if any(task != sets[0].task for task in trained):
                    skipped[f"{name} was not trained for {sets[0].task}"] = None
                    continue
                used.add(name)
                scores = [
                    _judge(name, one, data, None if training is None else training[index])
                    for index, (one, data) in enumerate(zip(given, sets))
                ]
                if any(found.get(metric) is None for found in scores):
                    raise ValueError(f"{name} has no score {metric!r} on {sets[0].task}")
                rows.append(_row(sets[0], name, metric, all_seeds, scores))
            if metric == "f1":
                ones = [
                    score(data, answers=np.ones_like(data.answers),
                          counting=None if training is None else training[index])
                    for index, data in enumerate(sets)
                ]
                counted = [Scores(f1=found["counting_f1"]) for found in ones]
                rows.append(_row(sets[0], "counting", metric, all_seeds, counted))
                rows.append(_row(sets[0], "always 1", metric, all_seeds, ones))
    for name in every.keys() - used if all_tasks and sizes else ():
        raise ValueError(f"{name} was trained for none of the tasks: choose others")
    return Benchmark(metric, all_seeds, rows, list(skipped))


def _for_each(name: str, given: Any, seeds: int) -> list[Predictor]:
    many = list(given) if isinstance(given, Sequence) else [given] * seeds
    if len(many) != seeds:
        raise ValueError(f"{name} has {len(many)} predictors; expected one for each of {seeds} seeds")
    for one in many:
        if not isinstance(one, (Model, Machine)) and not callable(one):
            raise TypeError(
                f"{name} is {one!r}; expected a Model, a Machine or a function of Questions"
            )
    return many


def _judge(name: str, predictor: Predictor, data: Dataset, training: Dataset | None) -> Scores:
    if isinstance(predictor, (Model, Machine)):
        return predictor.rollout(data).score(data, counting=training)
    # Copies, so that not even by writing to them can a predictor change what it is judged by.
    given = (data.priorities, data.operands, data.kinds, data.edges, data.weights)
    copies: Any = [None if values is None else values.copy() for values in given]
    questions = Questions(data.task, data.seed, *copies)
    predicted = predictor(questions)
    named = dict(predicted) if isinstance(predicted, Mapping) else {"answers": predicted}
    unknown = set(named) - {"answers", "query_logits", "probabilities", "pointers", "masks"}
    if unknown:
        raise ValueError(
            f"{name} predicted {sorted(unknown)[0]!r}; expected answers, query_logits, "
            "probabilities, pointers or masks"
        )
    try:
        return score(data, **named, counting=training)
    except ValueError as error:
        raise ValueError(f"{name} on {data.task} with {data.nodes} nodes: {error}") from None


def _row(
    data: Dataset, name: str, metric: str, seeds: list[int], scores: list[Scores]
) -> Row:
    values = [float(found[metric]) for found in scores]
    lowest = int(np.argmin(values))
    std = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    mean = float(np.mean(values))
    return Row(
        data.task, data.nodes, name, mean, std, values[lowest], seeds[lowest], tuple(scores)
    )
