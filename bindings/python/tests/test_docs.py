"""What the documentation shows is what happens."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pgn
import pytest
from pgn import _dataset, _model, _settings, _structure

ROOT = Path(__file__).parent.parent


def docstrings() -> list[tuple[str, str]]:
    """Every docstring that users see, native ones included."""
    found: dict[str, str] = {}

    def look(name: str, thing: Any) -> None:
        if inspect.getdoc(thing):
            found[name] = inspect.getdoc(thing) or ""
        if inspect.isclass(thing) or isinstance(thing, ModuleType):
            for inner, value in vars(thing).items():
                public = not inner.startswith("_")
                if public and (callable(value) or isinstance(value, property)):
                    if inspect.isclass(thing) or getattr(value, "__module__", "").startswith("pgn"):
                        look(f"{name}.{inner}", value)

    look("pgn", pgn)
    look("pgn.clrs", pgn.clrs)
    return sorted(found.items())


EXAMPLES = [(name, text) for name, text in docstrings() if ">>>" in text]


def test_there_are_examples() -> None:
    names = {name for name, _ in EXAMPLES}
    wanted = {"pgn", "pgn.sample", "pgn.replay", "pgn.train", "pgn.config", "pgn.Dataset"}
    wanted |= {"pgn.Structure", "pgn.DisjointSet", "pgn.LinkCutTree", "pgn.RootedForest", "pgn.Rng"}
    assert wanted | {"pgn.clrs"} <= names


def test_all_that_is_public_is_documented() -> None:
    documented = {name for name, _ in docstrings()}
    for name in pgn.__all__:
        if not name.startswith("__"):
            thing = getattr(pgn, name)
            assert f"pgn.{name}" in documented or inspect.getdoc(type(thing)), name
    for name in ("Dataset", "Model", "State", "Rollout", "DisjointSet", "LinkCutTree"):
        for member in vars(getattr(pgn, name)):
            if not member.startswith("_") and member not in ("name", "count", "index"):
                thing = inspect.getattr_static(getattr(pgn, name), member)
                if callable(thing) or isinstance(thing, property):
                    assert inspect.getdoc(thing), f"{name}.{member}"


@pytest.mark.parametrize(("name", "text"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_docstrings(name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(text, {"pgn": pgn, "np": np}, name, name, 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(example, out=said.append)
    assert not runner.summarize(verbose=False).failed, "".join(said)


def test_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Every Python block of the README, in order, in one session; what it prints is written there."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 4
    names: dict[str, Any] = {"__name__": "readme"}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
        expected = re.findall(r"^print\(.*?\)  # (.*)$", block, re.MULTILINE)
        assert capsys.readouterr().out.splitlines() == expected


def run(*command: str) -> None:
    environment = {**os.environ, "MYPYPATH": str(ROOT / "tests")}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_types() -> None:
    installed = Path(pgn.__file__).parent
    assert (installed / "py.typed").is_file() and (installed / "_native.pyi").is_file()
    run("mypy", "--strict", "--package", "pgn")
    run("mypy", "--strict", "tests/test_data.py", "tests/test_structures.py")


def test_stubs_say_what_is_there() -> None:
    run("mypy.stubtest", "pgn._native", "--ignore-disjoint-bases")


def test_keywords_of_train_are_documented() -> None:
    keywords = set(inspect.signature(pgn.config).parameters)
    assert set(_settings._PLACES) <= keywords
    assert keywords - set(_settings._PLACES) == {
        "task", "model", "seed", "epochs", "config", "network"
    }
    typed = set(pgn.Settings.__annotations__)
    assert typed == keywords - {"task", "model", "seed", "epochs"}
    assert _dataset.Dataset is pgn.Dataset and _model.Model is pgn.Model
    assert _structure.Structure is pgn.Structure
