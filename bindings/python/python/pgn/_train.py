"""Training."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, SupportsIndex

from pgn import _files, _native, _progress
from pgn._dataset import Dataset
from pgn._model import Model, best_so_far, as_weights
from pgn._settings import ModelName, Path_, Settings, prepare
from pgn._structure import Task, tasks

if TYPE_CHECKING:
    from typing_extensions import Unpack


class _Stop:
    """What a callback returns to end a run: :func:`pgn.train` then returns the best model so far."""

    def __repr__(self) -> str:
        return "pgn.STOP"


#: What a callback returns to end a run.
STOP: Final = _Stop()


class Progress(NamedTuple):
    """Where a run stands after an epoch."""

    epoch: int
    """Epochs done."""
    epochs: int
    """Epochs to do in all."""
    loss: float | None
    """The total loss of the epoch."""
    f1: float | None
    """Validation F1 at the last evaluation."""
    best_f1: float | None
    """The best so far; of a machine, the share of views that are right."""
    best_epoch: int | None
    """Its epoch."""
    losses: dict[str, float]
    """Every loss of the epoch by name, ``"total"`` among them."""
    views: tuple[int, int] | None
    """Of a machine: how many training views of how many are right at the last evaluation."""


def train(
    task: Task | None = None,
    model: ModelName | str | None = None,
    seed: SupportsIndex | None = None,
    epochs: SupportsIndex | None = None,
    *,
    callback: Callable[[Progress], object] | None = None,
    on_interrupt: Literal["raise", "return"] = "raise",
    initial: Model | Mapping[str, Any] | None = None,
    test: Dataset | Sequence[Dataset] | None = None,
    progress: bool | None = None,
    out: Path_ | None = None,
    threads: int | None = None,
    checkpoint_every: float = 30.0,
    **settings: Unpack[Settings],
) -> Model:
    """Trains a model and returns the best on validation.

    What is not given is the paper's protocol: task ``"dsu"``, model ``"pgn"``, seed 0, 5,000 epochs
    of one Adam step each on 70 sequences of 20 nodes and 30 operations. All keywords of
    :func:`config` can be given; the same ones give the same model to the bit, whatever the number
    of threads.

    >>> model = pgn.train("dsu", epochs=2, sequences=4, validation_sequences=2, test_nodes=[8])
    >>> model
    Model(task='dsu', model='pgn', seed=0)
    >>> len(model.metrics), sorted(model.weights)[:2]
    (2, ['decoder.bias', 'decoder.weight'])

    ``task``
        A built-in task, or a class like :class:`Structure`. Not needed with a data set as
        ``train``, whose task it then is: sequences that you recorded of a task of your own will
        do, together with a ``validation`` set.
    ``callback``
        Told the :class:`Progress` after every epoch. If it returns :data:`STOP`, the best model so
        far is tested and returned; an exception that it raises ends the run.
    ``on_interrupt``
        What Ctrl-C does after the epoch: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` the
        best model so far.
    ``initial``
        Weights to begin with: a model's, or arrays by name. Kept as ``initial.safetensors``.
    ``test``
        Data sets to test the model on at the end, instead of sampled ones.
    ``progress``
        Whether to show a progress bar; where a person is looking unless given.
    ``out``
        The run directory: all that ``pgn train`` writes. A run that was cut short, by Ctrl-C,
        :data:`STOP` or worse, goes on when it is started again with the same settings;
        ``pgn.load(out, unfinished=True)`` has its best model so far.
    ``threads``
        One per core unless given; changes nothing but the time.
    ``checkpoint_every``
        Seconds.

    While it trains, other Python threads run.
    """
    if on_interrupt not in ("raise", "return"):
        raise ValueError(f"on_interrupt is {on_interrupt!r}; expected 'raise' or 'return'")
    given = settings.get("train")
    recorded = given.task if isinstance(given, Dataset) else None
    own = _task(task, recorded)
    tests = _tests(test)
    if tests is not None or isinstance(own, _native.Recorded):
        settings.setdefault("test_nodes", [])
    with tempfile.TemporaryDirectory(prefix="pgn-") as temporary:
        directory = Path(temporary if out is None else out)
        if initial is not None:
            _begin_with(initial, directory)
        text, file, structure = prepare(
            own, model, seed, epochs, dict(settings), directory, Path(temporary)
        )
        name = own if isinstance(own, str) else getattr(own, "name", "own")
        shown = _progress.Shown(f"{name} {model or ''}".strip(), _progress.choose(progress))

        def observe(*values: Any) -> bool:
            now = Progress(*values)
            shown(now.epoch, now.epochs, now.loss, now.f1, now.best_f1)
            # The run also tells where it starts from; that is for the bar alone.
            if now.loss is None:
                return False
            return callback is not None and callback(now) is STOP

        stopped: int | None = None
        try:
            stopped = _native.train(
                text, file, structure, None, directory, _threads(threads), float(checkpoint_every),
                observe,
            )
        except KeyboardInterrupt:
            if on_interrupt == "raise" or not (directory / "checkpoint.safetensors").is_file():
                raise
            stopped = -1
        finally:
            shown.close()
        if structure is not None and not isinstance(structure, _native.Recorded):
            _files.write(directory / _files.STRUCTURE, _files.class_name(structure).encode())
        if stopped is not None:
            return _finished(best_so_far(directory, structure), directory, tests)
        model_ = Model(
            _files.read(directory), _native.Model(directory, structure), structure
        )
        if tests is not None and model_.results is not None:
            results = {**model_.results, "test": [_scored(model_, data) for data in tests]}
            results.pop("crc32c", None)  # of what the program wrote
            contents = (json.dumps(results, indent=2) + "\n").encode()
            _files.write(directory / "results.json", contents)
            model_ = Model({**model_.files(), "results.json": contents}, model_._native, structure)
        return model_


def _task(task: Task | None, recorded: str | None) -> Any:
    """The task: as given, else that of the recorded sequences, which may be nobody's."""
    if task is None:
        task = recorded or "dsu"
    if isinstance(task, str) and recorded == task and task not in tasks():
        return _native.Recorded(task)
    return task


def _tests(test: Dataset | Sequence[Dataset] | None) -> list[Dataset] | None:
    if test is None:
        return None
    sets = [test] if isinstance(test, Dataset) else list(test)
    for data in sets:
        if not isinstance(data, Dataset):
            raise TypeError(f"test has {data!r}; expected data sets")
    return sets


def _scored(model: Model, data: Dataset) -> dict[str, Any]:
    """What ``results.json`` says of a test set."""
    sizes = {"nodes": data.nodes, "ops": data.ops, "sequences": data.count}
    return {**sizes, **model.evaluate(data)}


def _finished(model: Model, directory: Path, tests: list[Dataset] | None) -> Model:
    """A model whose run was stopped, tested; its directory stays resumable."""
    best = model.unfinished
    if best is None or best.validation is None:
        return model
    started = time.monotonic()
    test = [*model.test()] if tests is None else [_scored(model, data) for data in tests]
    results = _native.results(
        directory / "config.toml",
        best.epoch,
        best.best_epoch,
        sum(int(weight.size) for weight in model.weights.values()),
        json.dumps(best.validation),
        json.dumps(test),
        (best.seconds, time.monotonic() - started),
    )
    files = {**model.files(), "results.json": results.encode()}
    return Model(files, model._native, model._own)


def _begin_with(initial: Model | Mapping[str, Any], directory: Path) -> None:
    """Puts the first weights where the run looks for them."""
    weights = initial.weights if isinstance(initial, Model) else initial
    contents = _files.tensors({name: as_weights(name, value) for name, value in weights.items()})
    path = directory / "initial.safetensors"
    if path.is_file() and path.read_bytes() != contents:
        raise ValueError(f"{path} holds other weights: choose another directory")
    if not path.is_file() and (directory / "config.toml").is_file():
        raise ValueError(f"{directory} holds a run that began with other weights")
    _files.write(path, contents)


def _threads(threads: int | None) -> int | None:
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}; expected at least 1")
    return threads
