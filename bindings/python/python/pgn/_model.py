"""Trained models."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from pgn import _files, _html, _native
from pgn._arrays import array, whole
from pgn._dataset import Dataset
from pgn._rollout import Rollout
from pgn._scores import Scores
from pgn._state import State
from pgn._structure import Task, tasks

if TYPE_CHECKING:
    from pgn._analysis import Analysis


class BestSoFar(NamedTuple):
    """Where the run of an unfinished model stands."""

    epoch: int
    """Epochs done."""
    best_epoch: int
    """The epoch of the best weights, which the model has."""
    validation: dict[str, Any] | None
    """Their scores on validation; ``None`` before the first evaluation."""
    seconds: float
    """Spent training so far."""


class Model:
    """A trained model, with all that its run wrote down.

    :func:`train`, :func:`load` and :func:`pretrained` make one. It holds the files of its run
    directory in memory, and can be pickled.

    >>> model = pgn.pretrained("lct")
    >>> model.task, model.name, model.seed, model.config["network"]["k"]
    ('lct', 'pgn', 0, 32)
    """

    def __init__(
        self, files: dict[str, bytes], native: _native.Model, own: Task | None = None
    ) -> None:
        self._files = files
        self._native = native
        self._own = own
        #: Where the run stands, for a model of an unfinished run, else ``None``.
        self.unfinished: BestSoFar | None = None
        #: Every setting of the run, resolved: ``config.toml``.
        self.config: dict[str, Any] = json.loads(native.config())
        self._metrics: list[dict[str, Any]] | None = None

    @property
    def task(self) -> str:
        """The data structure it imitates."""
        task: str = self.config["task"]
        return task

    @property
    def name(self) -> str:
        """Which model it is: ``"pgn"``, ``"gnn"`` and so on."""
        name: str = self.config["model"]
        return name

    @property
    def seed(self) -> int:
        """The seed of its run."""
        seed: int = self.config["seed"]
        return seed

    @property
    def results(self) -> dict[str, Any] | None:
        """``results.json``: the scores on every test size; ``None`` if there is none."""
        contents = self._files.get("results.json")
        return None if contents is None else json.loads(contents)

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """``metrics.jsonl``: losses and validation scores of every evaluated epoch."""
        if self._metrics is None:
            lines = self._files.get("metrics.jsonl", b"").splitlines()
            self._metrics = [json.loads(line) for line in lines]
        return self._metrics

    def history(self) -> dict[str, npt.NDArray[np.float64]]:
        """The metrics as arrays by name, ready to be plotted; ``nan`` where there is no value.

        >>> model = pgn.train("dsu", epochs=3, sequences=4, validation_sequences=2, test_nodes=[])
        >>> history = model.history()
        >>> history["epoch"], history["losses.total"].shape, "validation.f1" in history
        (array([1., 2., 3.]), (3,), True)
        """
        rows = [_flat(line) for line in self.metrics]
        names = dict.fromkeys(name for row in rows for name in row)
        return {
            name: np.array([row.get(name, np.nan) for row in rows], np.float64) for name in names
        }

    def files(self) -> dict[str, bytes]:
        """The files of its run directory, by name.

        >>> sorted(pgn.pretrained("dsu").files())[:2]
        ['config.toml', 'model.safetensors']
        """
        return dict(self._files)

    @property
    def weights(self) -> dict[str, npt.NDArray[np.float32]]:
        """The weights by name, as in ``model.safetensors``; each weight [out, in]."""
        return self._native.weights()

    def evaluate(self, data: Dataset) -> Scores:
        """Scores of free rollouts on ``data``: ``f1``, ``accuracy``, ``pointer_accuracy``, …

        ``data`` must be of the model's task. :meth:`Rollout.score` has more.

        >>> data = pgn.sample("forest", nodes=20, count=10, split="test")
        >>> pgn.pretrained("forest").evaluate(data).f1
        1.0
        """
        self._check(data)
        return Scores(json.loads(self._native.evaluate(data)))

    def test(
        self,
        nodes: SupportsIndex | Sequence[int] | None = None,
        *,
        ops: SupportsIndex | Sequence[int] | None = None,
        count: SupportsIndex | None = None,
        seed: SupportsIndex | None = None,
    ) -> list[Scores]:
        """Scores on test sets of these sizes, as ``pgn eval`` gives them; the run's own unless given.

        >>> [scores.f1 > 0.8 for scores in pgn.pretrained("dsu").test([20, 50])]
        [True, True]
        """
        if self._own is None and self.task not in tasks():
            needed = self._files.get(_files.STRUCTURE, b"").decode(errors="replace")
            raise ValueError(
                f"the structure `{self.task}` is not built in; give its class"
                + (f", {needed}," if needed else "")
                + " to pgn.load as task"
            )
        scores: list[dict[str, Any]] = json.loads(
            self._native.test(
                _numbers("nodes", nodes),
                _numbers("ops", ops),
                None if count is None else whole("count", count),
                None if seed is None else whole("seed", seed, 2**64 - 1),
            )
        )
        return [Scores(one) for one in scores]

    def analyse(self, data: Dataset | None = None) -> Analysis:
        """What the model does beyond its scores, as ``pgn analyse`` finds out: credit, validity and
        depth of its pointers, what it knows beyond counting. On ``data``, or on the run's own test
        sets.

        >>> model = pgn.pretrained("dsu")
        >>> analysis = model.analyse(pgn.sample("dsu", nodes=20, count=5, split="test"))
        >>> analysis, len(analysis.valid)
        (Analysis(task='dsu', model='pgn', nodes=[20]), 1)
        """
        from pgn._analysis import analyse

        if data is not None:
            self._check(data)
        return analyse(self._native, data)

    def with_weights(self, weights: Mapping[str, Any]) -> Model:
        """The same model with other weights: arrays of NumPy, PyTorch or JAX, by name.

        Names and shapes are those of :attr:`weights`. Metrics and results are dropped, as they are
        the old weights'.

        >>> model = pgn.pretrained("dsu")
        >>> halved = model.with_weights({name: w / 2 for name, w in model.weights.items()})
        >>> halved.results is None, np.allclose(2 * halved.weights["query.weight"],
        ...                                     model.weights["query.weight"])
        (True, True)
        """
        arrays = {name: as_weights(name, value) for name, value in weights.items()}
        mine = self.weights
        for name in [*mine, *arrays]:
            if name not in arrays:
                raise ValueError(f"{name} is missing; this model has it")
            if name not in mine:
                raise ValueError(f"{name} is not one of this model's weights")
            if arrays[name].shape != mine[name].shape:
                raise ValueError(
                    f"{name} has shape {list(arrays[name].shape)}; expected "
                    f"{list(mine[name].shape)}"
                )
        kept = {n: c for n, c in self._files.items() if n not in _files.OF_THE_WEIGHTS}
        return _from_files({**kept, "model.safetensors": _files.tensors(arrays)}, self._own)

    def rollout(self, data: Dataset) -> Rollout:
        """Rolls the model out freely on every sequence of ``data``, which must be of its task.

        >>> data = pgn.sample("dsu", nodes=20, count=5, split="test")
        >>> rollout = pgn.pretrained("dsu").rollout(data)
        >>> rollout.answers.shape, rollout.pointers.shape
        ((5, 30), (5, 30, 20))
        """
        self._check(data)
        return Rollout(*self._native.rollout(data), self.task, self.name, self.seed, data.nodes)

    def start(
        self,
        nodes: SupportsIndex | None = None,
        *,
        priorities: npt.ArrayLike | None = None,
        seed: SupportsIndex = 0,
    ) -> State:
        """A fresh structure of ``nodes`` nodes with priorities drawn from ``seed``, or of the
        priorities given.

        >>> pgn.pretrained("dsu").start(8)
        State(8 nodes)
        """
        if priorities is None:
            if nodes is None:
                raise ValueError("start needs either nodes or priorities")
            priorities = _native.given_priorities(
                whole("nodes", nodes), whole("seed", seed, 2**64 - 1)
            )
        size = "nodes" if nodes is None else whole("nodes", nodes)
        row = array("priorities", priorities, np.float32, (size,))
        return State(self._native.start(row))

    def _check(self, data: Dataset) -> None:
        if isinstance(data, Dataset) and data.task != self.task:
            raise ValueError(f"the task of the data is {data.task}; expected {self.task}")

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Writes a run directory, which ``pgn eval``, ``pgn rollout`` and ``pgn serve`` read.

        >>> pgn.pretrained("dsu").save("runs/dsu")
        >>> pgn.load("runs/dsu")
        Model(task='dsu', model='pgn', seed=0)
        """
        target = Path(directory)
        files = dict(self._files)
        if "train.safetensors" in files or "validation.safetensors" in files:
            files["config.toml"] = _with_paths(files, target)
            if "results.json" in files:
                results = json.loads(files["results.json"])
                # Checksums of the config with the other paths, and of the results as they were.
                results.get("files", {}).pop("config.toml", None)
                results.pop("crc32c", None)
                files["results.json"] = (json.dumps(results, indent=2) + "\n").encode()
        there = target / "config.toml"
        if there.is_file() and there.read_bytes() != files["config.toml"]:
            raise ValueError(f"{target} holds another run: choose another directory")
        _files.write_all(target, files)

    def __repr__(self) -> str:
        return f"Model(task={self.task!r}, model={self.name!r}, seed={self.seed})"

    def _repr_html_(self) -> str:
        results = self.results
        facts: dict[str, object] = {"seed": self.seed, "epochs": self.config["epochs"]}
        facts["weights"] = f"{sum(weight.size for weight in self.weights.values()):,}"
        if results is None:
            return _html.card(f"Model: {self.task} {self.name}", facts)
        facts["best epoch"] = results["best_epoch"]
        facts["validation F1"] = f"{results['validation']['f1']:.3f}"
        names = ["nodes", "f1", "accuracy", "pointer_accuracy", "mask_accuracy"]
        rows = [[test.get(name, "") for name in names] for test in results["test"]]
        return _html.card(f"Model: {self.task} {self.name}", facts) + _html.table(names, rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_files, (self._files,)


def load(
    directory: str | os.PathLike[str], *, task: Task | None = None, unfinished: bool = False
) -> Model:
    """Loads a run directory that :func:`train`, ``pgn train`` or :meth:`Model.save` wrote.

    ``task`` is the class of a structure that is not built in; without it the model still answers
    and is evaluated on given data, but makes no test sets of its own.

    With ``unfinished``, a run that was stopped or is still running can be loaded too: the model has
    the best weights of its last checkpoint, the metrics so far, and no results;
    :attr:`Model.unfinished` says where it stands.

    >>> stop = lambda progress: pgn.STOP if progress.epoch == 3 else None
    >>> _ = pgn.train("dsu", epochs=100, callback=stop, out="run", progress=False)
    >>> pgn.load("run", unfinished=True).unfinished.epoch
    3
    """
    path = Path(directory)
    if unfinished and not (path / "results.json").is_file():
        return best_so_far(path, task)
    native = _native.Model(path, task)
    return Model(_files.read(path), native, task)


def best_so_far(directory: Path, task: Any) -> Model:
    """The best model of an unfinished run."""
    contents, epoch, best_epoch, validation, seconds = _native.unfinished(directory)
    files = {**_files.read(directory), "model.safetensors": contents}
    files.pop("results.json", None)
    model = _from_files(files, task)
    scores = None if validation is None else json.loads(validation)
    model.unfinished = BestSoFar(epoch, best_epoch, scores, seconds)
    return model


@overload
def pretrained(name: None = None) -> list[str]: ...
@overload
def pretrained(name: str) -> Model: ...
def pretrained(name: str | None = None) -> Model | list[str]:
    """A trained model that comes with the package; without a name, the names there are.

    >>> pgn.pretrained()
    ['dsu', 'dsu-free', 'dsu-ordered', 'forest', 'lct', 'lct-free']
    >>> pgn.pretrained("lct")
    Model(task='lct', model='pgn', seed=0)
    """
    models = _native.pretrained()
    if name is None:
        return sorted(models)
    if name not in models:
        there = ", ".join(sorted(models))
        raise ValueError(f"there is no pretrained model {name!r}; expected one of {there}")
    return _from_files(models[name])


def _from_files(files: dict[str, bytes], own: Task | None = None) -> Model:
    with tempfile.TemporaryDirectory(prefix="pgn-") as directory:
        _files.write_all(Path(directory), files)
        return Model(files, _native.Model(directory, own), own)


def _with_paths(files: dict[str, bytes], target: Path) -> bytes:
    """``config.toml`` with the data sets where they will be."""
    with tempfile.TemporaryDirectory(prefix="pgn-") as directory:
        config = Path(directory) / "config.toml"
        config.write_bytes(files["config.toml"])
        paths = [
            str(target / name) if name in files else None
            for name in ("train.safetensors", "validation.safetensors")
        ]
        return _native.with_paths(config, *paths).encode()


def as_weights(name: str, value: Any) -> npt.NDArray[np.float32]:
    """A tensor of any framework as an array."""
    for method in ("detach", "cpu"):  # PyTorch's, with a gradient or on a device
        if callable(getattr(value, method, None)):
            value = getattr(value, method)()
    given = np.asarray(value)
    if given.dtype.kind not in "fiu":
        raise ValueError(f"{name} has type {given.dtype}; expected numbers")
    converted = np.ascontiguousarray(given, np.float32)
    if not np.isfinite(converted).all():
        raise ValueError(f"{name} has values that are not finite")
    return converted


def _flat(line: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """Nested numbers by dotted names."""
    flat: dict[str, float] = {}
    for name, value in line.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            flat[prefix + name] = value
    return flat


def _numbers(name: str, value: SupportsIndex | Sequence[int] | None) -> list[int] | None:
    if value is None:
        return None
    values = list(value) if isinstance(value, (Sequence, np.ndarray)) else [value]
    return [whole(name, number) for number in values]
