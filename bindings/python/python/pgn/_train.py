"""Training."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, SupportsIndex

from pgn import _files, _native, _progress
from pgn._dataset import Dataset
from pgn._loggers import LoggerName, Tracker
from pgn._model import Model, as_weights
from pgn._settings import ModelName, Path_, Settings, prepare
from pgn._structure import Task, tasks

if sys.version_info >= (3, 11):
    from typing import Unpack
elif TYPE_CHECKING:
    from typing_extensions import Unpack
else:

    class Unpack:
        """Stands for ``typing.Unpack``, which Python 3.10 does not have."""

        def __class_getitem__(cls, item: object) -> object:
            return item


class _Stop:
    """What a callback returns to end a run: :func:`pgn.train` then returns the best model so far."""

    def __repr__(self) -> str:
        return "pgn.STOP"

    def __reduce__(self) -> str:
        return "STOP"  # there is one


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
    scores: dict[str, float] | None = None
    """All validation scores at the last evaluation: F1, precision, accuracy of pointers…"""


def told(*values: Any) -> Progress:
    """A :class:`Progress` of what the run tells."""
    scores = json.loads(values[-1] or "{}")
    known = {name: score for name, score in scores.items() if score is not None}
    return Progress(*values[:-1])._replace(scores=known or None)


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
    logger: LoggerName | None = None,
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
        Told the :class:`Progress` after every epoch. If it returns :data:`STOP`, that epoch is the
        last: the best model so far is tested and returned, and the run is finished. An exception
        that it raises stops the run, which can be resumed.
    ``on_interrupt``
        What Ctrl-C does after the epoch: ``"raise"`` ``KeyboardInterrupt``, and the run can be
        resumed; or ``"return"`` the best model so far, as :data:`STOP` does.
    ``initial``
        Weights to begin with: a model's, or arrays by name. Kept as ``initial.safetensors``.
    ``test``
        Data sets to test the model on at the end, instead of sampled ones.
    ``progress``
        Whether to show a progress bar; where a person is looking unless given.
    ``logger``
        ``"trackio"`` or ``"wandb"``, if installed: losses and validation scores of every epoch go to
        its project ``pgn``. For ``"tensorboard"``, run directories have an event file.
    ``out``
        The run directory: all that ``pgn train`` writes. A run that was cut short, by Ctrl-C or
        worse, goes on when it is started again with the same settings and the same class;
        ``pgn.load(out, unfinished=True)`` has its best model so far. A finished one is loaded.
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
        begins = None if initial is None else _weights(initial, Path(temporary))
        text, file, structure = prepare(
            own, model, seed, epochs, dict(settings), directory, Path(temporary)
        )
        name = own if isinstance(own, str) else getattr(own, "name", "own")
        shown = _progress.Shown(f"{name} {model or ''}".strip(), _progress.choose(progress))

        settled = json.loads(_native.resolve(text, file, structure)) if logger else {}
        tracker = Tracker(logger, shown.title, settled, out is not None)

        def observe(*values: Any) -> bool:
            now = told(*values)
            shown(now.epoch, now.epochs, now.loss, now.f1, now.best_f1)
            # The run also tells where it starts from; that is for the bar alone.
            if now.loss is None:
                return False
            tracker(now)
            return callback is not None and callback(now) is STOP

        own_class = structure is not None and not isinstance(structure, _native.Recorded)
        note = _files.check_structure(directory, structure) if own_class else None
        try:
            _native.train(
                text, file, structure, None, begins, directory, _threads(threads),
                float(checkpoint_every), on_interrupt == "return", observe,
            )
        except ValueError as error:
            if out is not None:
                raise
            raise ValueError(_without_path(str(error))) from None
        finally:
            shown.close()
            tracker.finish()
            if note is not None and (directory / "config.toml").is_file():
                _files.write(directory / _files.STRUCTURE, note.encode())
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


def _without_path(sentence: str) -> str:
    """What a run says that diverged, without the directory, which nobody asked to keep."""
    return re.sub(r"(the best model so far \(.*?\)) is now .*", r"give out to keep \1", sentence)


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


def _weights(initial: Model | Mapping[str, Any], folder: Path) -> Path:
    """A file of the weights to begin with, in a temporary folder."""
    weights = initial.weights if isinstance(initial, Model) else initial
    path = folder / "given" / "initial.safetensors"
    _files.write(path, _files.tensors({k: as_weights(k, value) for k, value in weights.items()}))
    return path


def _threads(threads: int | None) -> int | None:
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}; expected at least 1")
    return threads
