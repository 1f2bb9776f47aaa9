"""The files of a run directory, held in memory."""

from __future__ import annotations

import os
from pathlib import Path

#: All that a finished run is worth keeping; the checkpoint and the lock are for unfinished ones.
#: ``results.json`` comes last: a directory that has it is whole.
NAMES = (
    "config.toml",
    "model.safetensors",
    "metrics.jsonl",
    "events.out.tfevents.pgn",
    "train.safetensors",
    "validation.safetensors",
    "teacher/config.toml",
    "teacher/model.safetensors",
    "results.json",
)


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
