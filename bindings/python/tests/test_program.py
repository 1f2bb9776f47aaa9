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


OWN = '''
"""Structures and programs of one's own."""
import pgn


class Latest:
    name = "latest"

    def __init__(self, priorities):
        self.pointers = list(range(len(priorities)))

    def apply(self, u, v):
        assert not (FAILS and u == 19), "node 19"
        answer = self.pointers[u] == v
        self.pointers[u] = v
        return answer, [u, v]


FAILS = False


class Chain:
    """Puts a node behind another one, if both are alone."""

    name = "chain"
    pointers = ["next"]
    registers = ["x", "y"]
    states = ["put", "done"]
    halts = {"done": None}
    operations = {"put": ("put", ["x", "y"])}

    def step(self, state, memory):
        x, y = memory.register("x"), memory.register("y")
        if memory.pointer(x, "next") is None and memory.pointer(y, "next") is None:
            memory.set_pointer(x, "next", y)
        return "done"


class Broken(Chain):
    name = "broken"

    def step(self, state, memory):
        return "nowhere"
'''


def in_folder(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    (folder / "mine.py").write_text(OWN)
    # The script, which has its own folder on the path and not this one.
    done = subprocess.run(
        [Path(sys.executable).with_name("pgn"), *arguments],
        cwd=folder, capture_output=True, text=True, timeout=300,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_a_structure_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed()
    own = "--structure=mine:Latest"
    short = ["--epochs=3", "--sequences=5", "--validation-sequences=2", "--test-nodes=20"]
    in_folder(tmp_path, "train", own, "--out=run", *short)
    note = (tmp_path / "run" / "structure.txt").read_text().splitlines()
    assert note[0] == "mine:Latest" and [line.split()[0] for line in note[1:]] == ["source", "transitions"]
    assert "unknown" not in "".join(note)
    shown = in_folder(tmp_path, "eval", "run", own, "--nodes=8", "--json").stdout
    in_folder(tmp_path, "generate", own, "--nodes=20", "--count=5", "--out=train.safetensors")

    # The same run and the same numbers as from Python.
    monkeypatch.syspath_prepend(str(tmp_path))
    import mine  # type: ignore[import-not-found,unused-ignore]

    sampled = pgn.sample(mine.Latest, nodes=20, count=5)
    assert pgn.Dataset.load(tmp_path / "train.safetensors") == sampled
    model = pgn.train(
        mine.Latest, epochs=3, sequences=5, validation_sequences=2, test_nodes=[20],
        out=tmp_path / "python",
    )
    names = ("config.toml", "model.safetensors", "structure.txt")
    for name in names:
        ours, theirs = ((tmp_path / run / name).read_bytes() for run in ("python", "run"))
        assert ours == theirs, name
    assert f'{model.test(8)[0].f1:.4f}' in shown or str(model.test(8)[0].f1) in shown

    # Without its class, a run says which it needs.
    told = in_folder(tmp_path, "eval", "run", code=1).stderr
    assert "--structure mine:Latest" in told


def test_a_program_of_ones_own(tmp_path: Path) -> None:
    installed()
    own = "--structure=mine:Chain"
    in_folder(tmp_path, "train", own, "--epochs=200", "--out=run")
    assert "chain" in (tmp_path / "run" / "config.toml").read_text()
    in_folder(tmp_path, "certify", "run", own)
    assert '"certified": true' in (tmp_path / "run" / "certificate.json").read_text()
    broken = in_folder(tmp_path, "train", "--structure=mine:Broken", "--out=broken", code=1)
    assert "has no 'nowhere' among its states" in broken.stderr


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("mine", "--structure is mine; expected module:Class"),
        ("nowhere:Class", "there is no module nowhere"),
        ("mine:Missing", "the module mine has no Missing"),
        ("mine:FAILS", "expected the name of a task or a class with a method apply(u, v)"),
    ],
)
def test_structures_that_are_not_there(value: str, sentence: str, tmp_path: Path) -> None:
    installed()
    told = in_folder(tmp_path, "train", f"--structure={value}", "--out=run", code=1).stderr
    assert sentence in told and "Traceback" not in told


def test_what_a_structure_raises_is_told(tmp_path: Path) -> None:
    installed()
    (tmp_path / "fails.py").write_text("import mine\nmine.FAILS = True\nLatest = mine.Latest\n")
    told = in_folder(tmp_path, "train", "--structure=fails:Latest", "--out=run", code=1).stderr
    assert "the structure `latest`" in told and "node 19" in told
    (tmp_path / "bad.py").write_text("import json.nothing\n")
    told = in_folder(tmp_path, "train", "--structure=bad:Latest", "--out=run", code=1).stderr
    assert "Traceback" in told and "json.nothing" in told


def test_the_compiled_program_says_where_python_classes_work(
    program: Callable[..., str], tmp_path: Path
) -> None:
    told = program("train", "--structure=mine:Latest", "--out", tmp_path / "run", fails=True)
    assert "the `pgn` of the Python package" in told


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
