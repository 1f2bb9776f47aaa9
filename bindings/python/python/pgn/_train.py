"""Training."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from pgn import _files, _native, _progress
from pgn._model import Model
from pgn._settings import ModelName, Path_, Settings, prepare
from pgn._structure import Task

if TYPE_CHECKING:
    from typing_extensions import Unpack


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
    """The best so far."""
    best_epoch: int | None
    """Its epoch."""


def train(
    task: Task = "dsu",
    model: ModelName | str | None = None,
    seed: SupportsIndex | None = None,
    epochs: SupportsIndex | None = None,
    *,
    callback: Callable[[Progress], object] | None = None,
    progress: bool | None = None,
    out: Path_ | None = None,
    threads: int | None = None,
    checkpoint_every: float = 30.0,
    **settings: Unpack[Settings],
) -> Model:
    """Trains a model and returns the best on validation.

    What is not given is the paper's protocol: model ``"pgn"``, seed 0, 5,000 epochs of one Adam
    step each on 70 sequences of 20 nodes and 30 operations. All keywords of :func:`config` can be
    given; the same ones give the same model to the bit, whatever the number of threads.

    >>> model = pgn.train("dsu", epochs=2, sequences=4, validation_sequences=2, test_nodes=[8])
    >>> model
    Model(task='dsu', model='pgn', seed=0)
    >>> len(model.metrics), sorted(model.weights)[:2]
    (2, ['decoder.bias', 'decoder.weight'])

    ``task``
        A built-in task, or a class like :class:`Structure`.
    ``callback``
        Told the :class:`Progress` after every epoch; an exception that it raises ends the run.
    ``progress``
        Whether to show a progress bar; where a person is looking unless given.
    ``out``
        The run directory: all that ``pgn train`` writes. With it, a run that was cut short, by
        Ctrl-C or worse, goes on when it is started again with the same settings.
    ``threads``
        One per core unless given; changes nothing but the time.
    ``checkpoint_every``
        Seconds.

    While it trains, other Python threads run. Ctrl-C raises ``KeyboardInterrupt`` after the epoch.
    """
    with tempfile.TemporaryDirectory(prefix="pgn-") as temporary:
        directory = Path(temporary if out is None else out)
        text, file, own = prepare(task, model, seed, epochs, dict(settings), directory, Path(temporary))
        title = f"{task if isinstance(task, str) else getattr(task, 'name', 'own')} {model or ''}"
        shown = _progress.Shown(title.strip(), _progress.choose(progress))

        def observe(*values: Any) -> None:
            now = Progress(*values)
            shown(now.epoch, now.epochs, now.loss, now.f1, now.best_f1)
            # The run also tells where it starts from; that is for the bar alone.
            if callback is not None and now.loss is not None:
                callback(now)

        try:
            _native.train(
                text, file, own, directory, _threads(threads), float(checkpoint_every), observe
            )
        finally:
            shown.close()
        return Model(_files.read(directory), _native.Model(directory, own), own)


def _threads(threads: int | None) -> int | None:
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}; expected at least 1")
    return threads
