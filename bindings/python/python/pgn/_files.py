"""The files of a run directory, held in memory."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pgn import _native

#: All that a finished run is worth keeping; the checkpoint and the lock are for unfinished ones.
#: ``results.json`` comes last: a directory that has it is whole.
NAMES = (
    "config.toml",
    "model.safetensors",
    "metrics.jsonl",
    "events.out.tfevents.pgn",
    "train.safetensors",
    "validation.safetensors",
    "initial.safetensors",
    "structure.txt",
    "teacher/config.toml",
    "teacher/model.safetensors",
    "results.json",
)

#: Says which Python class a run is of: ``module:name``, then what tells it from others.
STRUCTURE = "structure.txt"

#: What tells of the weights that a run ended with, and of no others.
OF_THE_WEIGHTS = ("metrics.jsonl", "events.out.tfevents.pgn", "results.json")


def class_name(structure: object) -> str:
    """Where a class is found."""
    module, name = getattr(structure, "__module__", "?"), getattr(structure, "__qualname__", "?")
    return f"{module}:{name}"


def is_importable(structure: object) -> bool:
    """Whether a class is found where it says that it is, as pickling needs."""
    found: Any = sys.modules.get(getattr(structure, "__module__", None) or "")
    for name in getattr(structure, "__qualname__", "").split("."):
        found = getattr(found, name, None)
    return structure is not None and found is structure


def note(structure: Any) -> str:
    """What a run says of its class: its name, and fingerprints of its source and of what it does.

    The source is that of the class and of those it inherits from. What it does is two sequences of
    eight nodes; nothing is said of programs of machines, and of classes that fail on these.
    """
    classes = [one for one in getattr(structure, "__mro__", [structure]) if one is not object]
    try:
        source = _hash("".join(inspect.getsource(one) for one in classes).encode())
    except (OSError, TypeError):
        source = "unknown"
    behaviour = "unknown"
    if hasattr(structure, "apply"):
        try:
            *_, arrays = _native.sample(structure, 8, 12, 2, 0, "train", False)
            behaviour = _hash(b"".join(arrays[name].tobytes() for name in sorted(arrays)))
        except Exception:  # training will raise it
            pass
    return f"{class_name(structure)}\nsource {source}\ntransitions {behaviour}\n"


def check_structure(directory: Path, structure: Any, *, strictly: bool = True) -> str:
    """The note of a class; refused if the directory has a run of another version of it."""
    mine = note(structure)
    _native.check_class(directory, mine, strictly)
    return mine


def _hash(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()[:16]


def read(directory: Path) -> dict[str, bytes]:
    """The files of a run directory that are there."""
    return {
        name: (directory / name).read_bytes() for name in NAMES if (directory / name).is_file()
    }


def write(path: Path, contents: bytes) -> None:
    """Writes a file under another name and renames it: whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(contents)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_all(directory: Path, files: dict[str, bytes]) -> None:
    """Writes the files of a run directory."""
    for name in NAMES:
        if name in files:
            write(directory / name, files[name])


def tensors(arrays: Mapping[str, npt.NDArray[np.float32]]) -> bytes:
    """The bytes of a ``.safetensors`` file of float32 arrays."""
    header, offset, parts = {}, 0, []
    for name in sorted(arrays):
        values = np.ascontiguousarray(arrays[name], "<f4").tobytes()
        shape, end = list(arrays[name].shape), offset + len(values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, end]}
        parts.append(values)
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])
