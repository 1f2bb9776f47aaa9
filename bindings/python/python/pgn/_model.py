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
from pgn._arrays import array, rounded, whole, wholes
from pgn._dataset import Dataset
from pgn._rollout import Rollout
from pgn._scores import Scores
from pgn._state import State
from pgn._structure import Task, tasks

if TYPE_CHECKING:
    from pgn._analysis import Analysis, Verification
    from pgn._inspect import Inspection


#: Machines that come with the package, trained and certified.
BUILT_IN: tuple[str, ...] = tuple(_native.built_in_machines())


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
            note = self._files.get(_files.STRUCTURE, b"").decode(errors="replace")
            needed = note.partition("\n")[0]
            raise ValueError(
                f"the structure `{self.task}` is not built in; give its class"
                + (f", {needed}," if needed else "")
                + " to pgn.load as task"
            )
        scores: list[dict[str, Any]] = json.loads(
            self._native.test(
                wholes("nodes", nodes),
                wholes("ops", ops),
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

    def verify(
        self,
        *,
        nodes: SupportsIndex = 6,
        depth: SupportsIndex = 512,
        pairs: SupportsIndex = 100,
        seed: SupportsIndex = 0,
    ) -> Verification:
        """Tries the model on every forest of up to ``nodes`` nodes with every pair of operands,
        then on deep shapes of up to ``depth`` nodes, as ``pgn verify`` does.

        For models with an iterated processor (``pgn-exact``), which carry nothing but pointers
        from one operation to the next.

        >>> model = pgn.train("forest", "pgn-exact", epochs=1, sequences=2, nodes=6, test_nodes=[],
        ...                   validation_sequences=1)
        >>> bool(model.verify(nodes=3, depth=0))
        False
        """
        from pgn._analysis import verify

        numbers = {"nodes": nodes, "depth": depth, "pairs": pairs, "seed": seed}
        return verify(self._native, *(whole(name, value) for name, value in numbers.items()))

    def inspect(self, data: Dataset, *, attention: bool = True) -> Inspection:
        """Latents, attention, masks and losses at every operation of ``data``, in free rollouts.

        >>> data = pgn.sample("dsu", nodes=8, count=2, split="test")
        >>> inside = pgn.pretrained("dsu").inspect(data)
        >>> inside.latents.shape, inside.attention.shape, inside.pointer_loss.shape
        ((2, 12, 8, 32), (2, 12, 8, 8), (2, 12, 8))
        """
        from pgn._inspect import inspect

        self._check(data)
        return inspect(self, data, attention)

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
        parts = self._native.rollout(data)
        return Rollout(*parts, self.task, self.name, self.seed, data.nodes, data.checksums)

    def start(
        self,
        nodes: SupportsIndex | None = None,
        *,
        priorities: npt.ArrayLike | None = None,
        edges: npt.ArrayLike | None = None,
        seed: SupportsIndex = 0,
    ) -> State:
        """A fresh structure of ``nodes`` nodes with priorities drawn from ``seed``, or of the
        priorities given. ``edges`` [edges, 2] is its input graph, for models that read one. A
        model with a teacher is given the teacher's pointers.

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
        drawn = rounded("priorities", priorities, (size,))
        if edges is None and self.config["network"].get("input_graph", "none") != "none":
            raise ValueError("the model reads an input graph; give its edges, [edges, 2]")
        graph = array("edges", np.zeros((0, 2)) if edges is None else edges, np.uint32, ("edges", 2))
        teacher = None
        if self.has_teacher:
            teacher = _from_files({
                name.removeprefix("teacher/"): contents
                for name, contents in self._files.items()
                if name.startswith("teacher/")
            }).start(priorities=drawn)
        return State(self._native.start(drawn, graph), (self, drawn, edges), teacher)

    @property
    def has_teacher(self) -> bool:
        """Whether it reads the pointers of a trained model, which it keeps."""
        return self.config["data"].get("teacher") is not None

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
        there = _files.read(target)
        if "results.json" not in files and (target / "checkpoint.safetensors").is_file():
            there["checkpoint.safetensors"] = b""
        for name, contents in there.items():
            if contents != files.get(name):
                raise ValueError(
                    f"{target} holds another run (its {name} is another): choose another directory"
                )
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
        own = self._own if _files.is_importable(self._own) else None
        return _from_files, (self._files, own, self.unfinished)


def load(
    directory: str | os.PathLike[str], *, task: Task | None = None, unfinished: bool = False
) -> Model:
    """Loads a run directory that :func:`train`, ``pgn train`` or :meth:`Model.save` wrote.

    ``task`` is the class of a structure that is not built in; without it the model still answers
    and is evaluated on given data, but makes no test sets of its own.

    With ``unfinished``, a run that was stopped or is still running can be loaded too: the model has
    the best weights of its last checkpoint, the metrics so far, and no results;
    :attr:`Model.unfinished` says where it stands.

    >>> def fails(progress):
    ...     assert progress.epoch < 3
    >>> try:
    ...     pgn.train("dsu", epochs=100, callback=fails, out="run")
    ... except AssertionError:
    ...     print(pgn.load("run", unfinished=True).unfinished.epoch)
    3
    """
    path = Path(directory)
    if not path.exists():
        known = [f"pgn.pretrained({path.name!r}) is a model"] if path.name in pretrained() else []
        known += [f"pgn.machines.load({path.name!r}) is a machine"] * (path.name in BUILT_IN)
        more = f"; {' and '.join(known)} that comes with the package" if known else ""
        raise FileNotFoundError(f"there is no run directory {path}{more}")
    files = _files.read(path)
    if b'model = "pgn-machine"' in files.get("config.toml", b""):
        raise ValueError(f"{path} is the run of a machine: load it with pgn.machines.load")
    if task is not None and not isinstance(task, str):
        _files.check_structure(path, task, strictly=False)
    if unfinished and "results.json" not in files:
        return best_so_far(path, task)
    return Model(files, _native.Model(path, task), task)


def best_so_far(directory: Path, task: Any) -> Model:
    """The best model of an unfinished run."""
    contents, epoch, best_epoch, validation, seconds = _native.unfinished(directory)
    files = {**_files.read(directory), "model.safetensors": contents}
    files.pop("results.json", None)
    scores = None if validation is None else json.loads(validation)
    return _from_files(files, task, BestSoFar(epoch, best_epoch, scores, seconds))


@overload
def pretrained(name: None = None) -> list[str]: ...
@overload
def pretrained(name: str) -> Model: ...
def pretrained(name: str | None = None) -> Model | list[str]:
    """A trained model that comes with the package; without a name, the names there are.

    >>> pgn.pretrained()
    ['dsu', 'dsu-free', 'dsu-free-2', 'dsu-ordered', 'forest', 'lct', 'lct-free', 'lct-free-2']
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


def _from_files(
    files: dict[str, bytes], own: Task | None = None, unfinished: BestSoFar | None = None
) -> Model:
    with tempfile.TemporaryDirectory(prefix="pgn-") as directory:
        _files.write_all(Path(directory), files)
        model = Model(files, _native.Model(directory, own), own)
    model.unfinished = unfinished
    return model


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
