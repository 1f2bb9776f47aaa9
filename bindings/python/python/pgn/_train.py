"""Training."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pgn import _files, _native, _progress
from pgn._dataset import Dataset
from pgn._model import Model
from pgn._structure import Task

_Path = str | os.PathLike[str]


class Progress(NamedTuple):
    """Where a run stands after an epoch."""

    epoch: int
    """Epochs done."""
    epochs: int
    """Epochs to do in all."""
    loss: float | None
    """The total loss of the last epoch; ``None`` before the first of this session."""
    f1: float | None
    """Validation F1 at the last evaluation."""
    best_f1: float | None
    """The best so far."""
    best_epoch: int | None
    """Its epoch."""


def train(
    task: Task = "dsu",
    model: str | None = None,
    seed: int | None = None,
    epochs: int | None = None,
    *,
    callback: Callable[[Progress], object] | None = None,
    progress: bool | None = None,
    out: _Path | None = None,
    threads: int | None = None,
    checkpoint_every: float = 30.0,
    **settings: Any,
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
        text, file, own = _settings(task, model, seed, epochs, settings, directory)
        title = f"{task if isinstance(task, str) else getattr(task, 'name', 'own')} {model or ''}"
        shown = _progress.Shown(title.strip(), _progress.choose(progress))

        def observe(*values: Any) -> None:
            now = Progress(*values)
            shown(now.epoch, now.epochs, now.loss, now.f1, now.best_f1)
            if callback is not None:
                callback(now)

        try:
            _native.train(
                text, file, own, directory, _threads(threads), float(checkpoint_every), observe
            )
        finally:
            shown.close()
        return Model(_files.read(directory), _native.Model(directory, own))


def config(
    task: Task = "dsu",
    model: str | None = None,
    seed: int | None = None,
    epochs: int | None = None,
    *,
    config: _Path | Mapping[str, Any] | None = None,
    k: int | None = None,
    learning_rate: float | None = None,
    decay: str | None = None,
    final_fraction: float | None = None,
    clip: float | None = None,
    batch: int | None = None,
    evaluate_every: int | None = None,
    nodes: int | Sequence[int] | None = None,
    ops: int | Sequence[int] | None = None,
    sequences: int | None = None,
    validation_sequences: int | None = None,
    stream: bool | None = None,
    transitions: Mapping[str, float] | None = None,
    train: Dataset | _Path | None = None,
    validation: Dataset | _Path | None = None,
    teacher: _Path | None = None,
    test_nodes: int | Sequence[int] | None = None,
    test_ops: int | Sequence[int] | None = None,
    test_sequences: int | None = None,
    query_weight: float | None = None,
    pointer_weight: float | None = None,
    mask_weight: float | None = None,
    dgm_weight: float | None = None,
    attention_input: str | None = None,
    candidates: str | None = None,
    initialisation: str | None = None,
    network: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Every setting that a run with these keywords has, as its ``config.toml`` will have it.

    The keywords are the flags of ``pgn train``, whose ``--help`` describes them; ``k`` is
    ``--features``. ``config`` is a TOML file in the form of ``config.toml``, or the same as
    nested dictionaries; keywords win over it. ``train`` and ``validation`` may be data sets, which
    are then saved in the run directory. ``network`` has what else the network can be told.

    >>> settings = pgn.config("lct", "gnn", nodes=[10, 30], network={"k": 16})
    >>> settings["data"]["ops"], settings["network"]["k"], settings["learning_rate"]
    ([15, 45], 16, 0.005)
    >>> pgn.config("dsu", learning_rate=-1)
    Traceback (most recent call last):
    ValueError: invalid run config: learning_rate is -1; expected a finite number above 0
    """
    given = {
        name: value
        for name, value in locals().items()
        if value is not None and name not in ("task", "model", "seed", "epochs")
    }
    with tempfile.TemporaryDirectory(prefix="pgn-") as temporary:
        text, file, own = _settings(task, model, seed, epochs, given, Path(temporary))
        resolved: dict[str, Any] = json.loads(_native.resolve(text, file, own))
        return resolved


#: Where a keyword goes in ``config.toml``.
_PLACES = {
    **{
        name: (name,)
        for name in ("learning_rate", "decay", "final_fraction", "clip", "batch", "evaluate_every")
    },
    **{
        name: ("data", name)
        for name in ("nodes", "ops", "sequences", "validation_sequences", "stream", "transitions")
    },
    **{name: ("data", name) for name in ("train", "validation", "teacher")},
    "test_nodes": ("test", "nodes"),
    "test_ops": ("test", "ops"),
    "test_sequences": ("test", "sequences"),
    "k": ("network", "k"),
    "attention_input": ("network", "attention_input"),
    "candidates": ("network", "candidates"),
    "initialisation": ("network", "initialisation"),
    "query_weight": ("network", "losses", "query"),
    "pointer_weight": ("network", "losses", "pointers"),
    "mask_weight": ("network", "losses", "masks"),
    "dgm_weight": ("network", "losses", "dgm"),
}
_LISTS = ("nodes", "ops", "test_nodes", "test_ops")
_DATA = ("train", "validation")


def _settings(
    task: Task,
    model: str | None,
    seed: int | None,
    epochs: int | None,
    keywords: dict[str, Any],
    directory: Path,
) -> tuple[str, Path | None, Task | None]:
    """The keywords as JSON, the config file beneath them, and the class of the structure."""
    keywords = dict(keywords)
    base = keywords.pop("config", None)
    settings: dict[str, Any] = {}
    file = None
    if isinstance(base, Mapping):
        _overlay(settings, base)
    elif base is not None:
        file = Path(base)
    _overlay(settings, {"network": keywords.pop("network", None) or {}})
    own = None if isinstance(task, str) else task
    named = {"task": task if own is None else None, "model": model, "seed": seed, "epochs": epochs}
    _overlay(settings, {name: value for name, value in named.items() if value is not None})
    for name, value in keywords.items():
        if name not in _PLACES:
            raise TypeError(f"train() got an unexpected keyword argument {name!r}")
        if value is None:
            continue
        if name in _LISTS and not isinstance(value, (Sequence, np.ndarray)):
            value = [value]
        if name in _DATA and isinstance(value, Dataset):
            value = _settle(value, directory / f"{name}.safetensors")
        *tables, key = _PLACES[name]
        place = settings
        for table in tables:
            place = place.setdefault(table, {})
        place[key] = value
    try:
        return json.dumps(settings, default=_plain, allow_nan=False), file, own
    except ValueError:
        raise ValueError("invalid run config: a setting is not a finite number") from None


def _settle(data: Dataset, path: Path) -> Path:
    """Saves a data set in the run directory, where an earlier session may have saved it."""
    if path.is_file() and Dataset.load(path) != data:
        raise ValueError(f"{path} holds another data set: choose another directory")
    path.parent.mkdir(parents=True, exist_ok=True)
    data.save(path)
    return path


def _overlay(under: dict[str, Any], over: Mapping[str, Any]) -> None:
    for key, value in over.items():
        if isinstance(value, Mapping):
            _overlay(under.setdefault(key, {}), value)
        else:
            under[key] = value


def _plain(value: Any) -> Any:
    """What JSON does not know: numpy's numbers and arrays, and paths."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"a setting is {value!r}; expected a number, a string, a list or a mapping")


def _threads(threads: int | None) -> int | None:
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}; expected at least 1")
    return threads
