"""What the tests share: the program, and a small trained model."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pgn
import pytest

#: A run of a few seconds.
SMALL: dict[str, Any] = {
    "epochs": 6,
    "sequences": 8,
    "validation_sequences": 4,
    "test_nodes": [8, 12],
    "test_sequences": 3,
}
#: The same as flags.
FLAGS = ["--epochs=6", "--sequences=8", "--validation-sequences=4"]
FLAGS += ["--test-nodes=8,12", "--test-sequences=3"]


@pytest.fixture(autouse=True)
def _names(doctest_namespace: dict[str, Any]) -> None:
    doctest_namespace["pgn"] = pgn


@pytest.fixture(scope="session")
def program() -> Callable[..., str]:
    """Runs the `pgn` program that was built beside the package; what it printed."""
    path = os.environ.get("PGN")
    assert path, "PGN is not set: run the tests by bindings/python/test"

    def run(*arguments: str | Path, fails: bool = False) -> str:
        done = subprocess.run(
            [path, *map(str, arguments)], capture_output=True, text=True, timeout=600
        )
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout

    return run


@pytest.fixture(scope="session")
def runs(program: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run directories that the program trained, `TASK-MODEL`."""
    folder = tmp_path_factory.mktemp("runs")
    for task, model, *flags in [("dsu", "pgn"), ("lct", "supgnn"), ("dsu", "gnn")]:
        out = folder / f"{task}-{model}"
        program("train", "--task", task, "--model", model, *FLAGS, "--out", out, *flags)
    return folder


@pytest.fixture(scope="session")
def model(runs: Path) -> pgn.Model:
    return pgn.load(runs / "dsu-pgn")


@pytest.fixture(scope="session")
def data() -> pgn.Dataset:
    return pgn.sample("dsu", nodes=10, count=5, seed=3, split="test")


def scores(text: str) -> list[dict[str, Any]]:
    """The scores that `pgn eval --json` printed."""
    test: list[dict[str, Any]] = json.loads(text)["test"]
    return test
