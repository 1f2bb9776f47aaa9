"""Settings of training: keywords, and where they go in ``config.toml``."""

from __future__ import annotations

import json
import operator
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, SupportsIndex, TypedDict

import numpy as np

from pgn import _native
from pgn._dataset import Dataset
from pgn._model import Model
from pgn._structure import Task

Path_ = str | os.PathLike[str]

#: The presets; ``pgn train --help`` says what each is.
ModelName = Literal[
    "pgn", "gnn", "deepsets", "pgn-nm", "pgn-asym", "pgn-mo", "supgnn", "dgm", "oracle-ptrs",
    "pgn-ptrs", "pgn-free", "pgn-free-2", "pgn-nm-free", "pgn-asym-free", "pgn-ptrs-free",
    "pgn-exact",
]
Decay = Literal["constant", "cosine", "exponential"]
Forcing = Literal["teacher", "own", "free", "sampled"]
AttentionInput = Literal["h", "zh"]
Candidates = Literal["all", "visited"]
Initialisation = Literal["lecun", "glorot", "torch"]
Aggregation = Literal["max", "sum", "mean"]
InputGraph = Literal["none", "edges", "head"]


class Settings(TypedDict, total=False):
    """The keywords of :func:`config`, all optional, for :func:`train` and for typed code."""

    config: Path_ | Mapping[str, Any] | None
    k: SupportsIndex | None
    learning_rate: float | None
    decay: Decay | None
    final_fraction: float | None
    clip: float | None
    batch: SupportsIndex | None
    evaluate_every: SupportsIndex | None
    keep_every: SupportsIndex | None
    patience: SupportsIndex | None
    nodes: SupportsIndex | Sequence[int] | None
    ops: SupportsIndex | Sequence[int] | None
    sequences: SupportsIndex | None
    validation_sequences: SupportsIndex | None
    stream: bool | None
    transitions: Mapping[str, float] | None
    train: Dataset | Path_ | None
    validation: Dataset | Path_ | None
    teacher: Model | Path_ | None
    test_nodes: SupportsIndex | Sequence[int] | None
    test_ops: SupportsIndex | Sequence[int] | None
    test_sequences: SupportsIndex | None
    query_weight: float | None
    pointer_weight: float | None
    mask_weight: float | None
    dgm_weight: float | None
    visited_weight: float | None
    forcing: Forcing | None
    teacher_probability: float | None
    final_teacher_probability: float | None
    attention_input: AttentionInput | None
    candidates: Candidates | None
    message_aggregation: Aggregation | None
    readout_aggregation: Aggregation | None
    layers: SupportsIndex | None
    test_layers: Mapping[str, int] | None
    pointer_processor: bool | None
    pointer_types: Sequence[str] | None
    input_graph: InputGraph | None
    initialisation: Initialisation | None
    network: Mapping[str, Any] | None


def config(
    task: Task = "dsu",
    model: ModelName | str | None = None,
    seed: SupportsIndex | None = None,
    epochs: SupportsIndex | None = None,
    *,
    config: Path_ | Mapping[str, Any] | None = None,
    k: SupportsIndex | None = None,
    learning_rate: float | None = None,
    decay: Decay | None = None,
    final_fraction: float | None = None,
    clip: float | None = None,
    batch: SupportsIndex | None = None,
    evaluate_every: SupportsIndex | None = None,
    keep_every: SupportsIndex | None = None,
    patience: SupportsIndex | None = None,
    nodes: SupportsIndex | Sequence[int] | None = None,
    ops: SupportsIndex | Sequence[int] | None = None,
    sequences: SupportsIndex | None = None,
    validation_sequences: SupportsIndex | None = None,
    stream: bool | None = None,
    transitions: Mapping[str, float] | None = None,
    train: Dataset | Path_ | None = None,
    validation: Dataset | Path_ | None = None,
    teacher: Model | Path_ | None = None,
    test_nodes: SupportsIndex | Sequence[int] | None = None,
    test_ops: SupportsIndex | Sequence[int] | None = None,
    test_sequences: SupportsIndex | None = None,
    query_weight: float | None = None,
    pointer_weight: float | None = None,
    mask_weight: float | None = None,
    dgm_weight: float | None = None,
    visited_weight: float | None = None,
    forcing: Forcing | None = None,
    teacher_probability: float | None = None,
    final_teacher_probability: float | None = None,
    attention_input: AttentionInput | None = None,
    candidates: Candidates | None = None,
    message_aggregation: Aggregation | None = None,
    readout_aggregation: Aggregation | None = None,
    layers: SupportsIndex | None = None,
    test_layers: Mapping[str, int] | None = None,
    pointer_processor: bool | None = None,
    pointer_types: Sequence[str] | None = None,
    input_graph: InputGraph | None = None,
    initialisation: Initialisation | None = None,
    network: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Every setting that a run with these keywords has, as its ``config.toml`` will have it.

    The keywords are the flags of ``pgn train``, whose ``--help`` describes them; ``k`` is
    ``--latents``. ``config`` is a TOML file in the form of ``config.toml``, or the same as
    nested dictionaries; keywords win over it. ``train`` and ``validation`` may be data sets, which
    are then saved in the run directory. ``teacher`` may be a trained model. ``test_layers`` is
    ``{"nodes": 20}`` or ``{"depth": 3}``. ``network`` holds any other key of the table ``network``
    in ``config.toml``.

    >>> settings = pgn.config("lct", "gnn", nodes=[10, 30], network={"k": 16})
    >>> settings["data"]["ops"], settings["network"]["k"], settings["learning_rate"]
    ([15, 45], 16, 0.005)
    >>> pgn.config("dsu", learning_rate=-1)
    Traceback (most recent call last):
    ValueError: invalid run config: learning_rate is -1; expected a finite number > 0 (32-bit)
    """
    given = {
        name: value
        for name, value in locals().items()
        if value is not None and name not in ("task", "model", "seed", "epochs")
    }
    with tempfile.TemporaryDirectory(prefix="pgn-") as temporary:
        text, file, own = prepare(task, model, seed, epochs, given, Path(temporary))
        resolved: dict[str, Any] = json.loads(_native.resolve(text, file, own))
        return resolved


#: Where a keyword goes in ``config.toml``.
_PLACES = {
    **{
        name: (name,)
        for name in (
            "learning_rate",
            "decay",
            "final_fraction",
            "clip",
            "batch",
            "evaluate_every",
            "keep_every",
            "patience",
            "teacher_probability",
            "final_teacher_probability",
        )
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
    "forcing": ("network", "forcing"),
    "attention_input": ("network", "attention_input"),
    "candidates": ("network", "candidates"),
    **{
        name: ("network", name)
        for name in (
            "message_aggregation",
            "readout_aggregation",
            "layers",
            "test_layers",
            "pointer_processor",
            "pointer_types",
            "input_graph",
            "visited_weight",
        )
    },
    "initialisation": ("network", "initialisation"),
    "query_weight": ("network", "losses", "query"),
    "pointer_weight": ("network", "losses", "pointers"),
    "mask_weight": ("network", "losses", "masks"),
    "dgm_weight": ("network", "losses", "dgm"),
}
_LISTS = ("nodes", "ops", "test_nodes", "test_ops")
_DATA = ("train", "validation")


def prepare(
    task: Any,
    model: str | None,
    seed: SupportsIndex | None,
    epochs: SupportsIndex | None,
    keywords: dict[str, Any],
    directory: Path,
    scratch: Path | None = None,
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
            value = settle(value, directory / f"{name}.safetensors")
        if name == "teacher" and isinstance(value, Model):
            # Lent: the run keeps a copy of its own.
            value.save(lent := (scratch or directory) / "given-teacher")
            value = lent
        *tables, key = _PLACES[name]
        place = settings
        for table in tables:
            place = place.setdefault(table, {})
        place[key] = value
    try:
        return json.dumps(settings, default=_plain, allow_nan=False), file, own
    except ValueError:
        raise ValueError("invalid run config: a setting is not a finite number") from None


def settle(data: Dataset, path: Path) -> Path:
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
    if hasattr(value, "__index__"):
        return operator.index(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"a setting is {value!r}; expected a number, a string, a list or a mapping")
