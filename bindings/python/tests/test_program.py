"""The program that comes with the package, and the package as it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pgn
import pytest


def module(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "pgn", *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == code, done.stderr
    return done


def test_the_whole_command_line(program: Callable[..., str], tmp_path: Path) -> None:
    assert module("--version").stdout == program("--version") == f"pgn {pgn.__version__}\n"
    assert module("train", "--help").stdout == program("train", "--help")
    arguments = ["generate", "--task=dsu", "--nodes=6", "--count=3", "--out"]
    module(*arguments, str(tmp_path / "ours"))
    program(*arguments, tmp_path / "theirs")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert module("eval", "nowhere", code=1).stderr.startswith("error: ")
    assert "unexpected argument" in module("train", "--bogus", code=2).stderr


def installed() -> metadata.Distribution:
    try:
        return metadata.distribution("pointer-graph-networks")
    except metadata.PackageNotFoundError:
        pytest.skip("the package runs from its source folder: run bindings/python/test")


def test_what_is_installed() -> None:
    about = installed().metadata
    assert about["Name"] == "pointer-graph-networks" and about["Version"] == pgn.__version__
    assert about["License-Expression"] == "MIT OR Apache-2.0"
    assert set(about.get_all("License-File") or []) == {"LICENSE-MIT", "LICENSE-APACHE"}
    assert {"torch", "jax", "clrs", "ray", "plot"} <= set(about.get_all("Provides-Extra") or [])
    links = [line.split(", ")[0] for line in about.get_all("Project-URL") or []]
    assert {"Homepage", "Documentation", "Source"} <= set(links)
    text = about.get_payload()
    assert isinstance(text, str) and "](docs" not in text and "](.." not in text
    [script] = [e for e in installed().entry_points if e.group == "console_scripts"]
    assert script.name == "pgn" and callable(script.load())
    path = Path(sys.executable).with_name("pgn")
    if path.exists():
        done = subprocess.run([path, "--version"], capture_output=True, text=True)
        assert done.stdout == f"pgn {pgn.__version__}\n", done.stderr


MISTAKE = """
import pgn
pgn.train({})
"""


@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        ("bogus=1", "Unexpected keyword argument"),
        ('learning_rate="high"', "incompatible type"),
        ('decay="slow"', "incompatible type"),
        ('on_interrupt="stop"', "incompatible type"),
        ("epochs=1.5", "incompatible type"),
    ],
)
def test_a_type_checker_finds_mistakes(keywords: str, sentence: str, tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "mistake.py").write_text(MISTAKE.format(keywords))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(tmp_path / "mistake.py")],
        capture_output=True, text=True, env={**os.environ, "MYPYPATH": ""}, cwd=tmp_path,
    )
    assert done.returncode == 1 and sentence in done.stdout, done.stdout + done.stderr
