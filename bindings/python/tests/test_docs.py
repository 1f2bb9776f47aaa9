"""What the documentation shows is what happens."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, get_args

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
                value = getattr(thing, inner) if isinstance(value, classmethod) else value
                public = not inner.startswith("_")
                if public and (callable(value) or isinstance(value, property)):
                    if inspect.isclass(thing) or getattr(value, "__module__", "").startswith("pgn"):
                        look(f"{name}.{inner}", value)

    look("pgn", pgn)
    look("pgn.clrs", pgn.clrs)
    look("pgn.machines", pgn.machines)
    return sorted(found.items())


EXAMPLES = [(name, text) for name, text in docstrings() if ">>>" in text]


#: Their example is elsewhere, or would need what the tests do not have.
WITHOUT_EXAMPLE = {
    "pgn.clrs.to_clrs",  # dm-clrs
    "pgn.Dataset.to_pandas",  # pandas
    "pgn.Benchmark.to_pandas",
    "pgn.Rollout.check",  # pgn.Rollout.score
    # The docstring of `pgn.machines` has a whole program.
}
SHOWN = ("Dataset", "Model", "Rollout", "State", "Benchmark", "Drawing", "Player")


def test_every_function_has_an_example() -> None:
    shown = {name for name, _ in EXAMPLES}
    wanted = {"pgn", "pgn.Structure", "pgn.DisjointSet", "pgn.LinkCutTree", "pgn.RootedForest"}
    wanted |= {"pgn.Rng", "pgn.Dataset", "pgn.Model", "pgn.clrs", "pgn.machines"}
    for place in ("pgn", "pgn.clrs", "pgn.machines"):
        module = sys.modules[place]
        for name in getattr(module, "__all__", vars(module)):
            thing = getattr(module, name)
            if inspect.isfunction(thing) and not name.startswith("_"):
                if place == "pgn" or thing.__module__.startswith(place):
                    wanted.add(f"{place}.{name}")
    for name in SHOWN:
        for member, value in vars(getattr(pgn, name)).items():
            if not member.startswith("_") and isinstance(value, (classmethod, FunctionType)):
                wanted.add(f"pgn.{name}.{member}")
    assert wanted - WITHOUT_EXAMPLE <= shown, sorted(wanted - WITHOUT_EXAMPLE - shown)


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


@pytest.mark.parametrize("page", ["bindings/python/README.md", "docs/python.md"])
def test_pages(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Every Python block of a page, in order, in one session; what it prints is written there."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT.parent.parent / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    # As a module, so that a class in it is found where it says that it is.
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    for block in blocks:
        exec(compile(block, page, "exec"), vars(module))
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


def test_types_of_examples(tmp_path: Path) -> None:
    """As a user would check them: PyTorch's and JAX's types count where they are installed."""
    names = ["kruskal", "numpy_pgn", "online_msf", "paper_only", "prove", "reasoning_gym"]
    names += ["side_by_side"]
    names += ["jax_pgn", "train_jax"]
    names += ["torch_pgn", "train_torch", "benchmark_torch"] if importlib.util.find_spec("torch") else []
    paths = [str(ROOT / "examples" / f"{name}.py") for name in names]
    run("mypy", "--strict", *paths)


def test_types_by_pyright() -> None:
    """Examples in strict mode, the package in standard, with the settings of `pyproject.toml`."""
    names = [path.name for path in (ROOT / "examples").glob("*.py")]
    unknown = {"flax_pgn.py"}  # Flax's modules have no types that pyright could follow
    torch = {"torch_pgn.py", "train_torch.py", "benchmark_torch.py"}
    unknown |= set() if importlib.util.find_spec("torch") else torch
    unknown |= set() if importlib.util.find_spec("jax") else {"jax_pgn.py", "train_jax.py"}
    paths = [str(ROOT / "examples" / name) for name in sorted(set(names) - unknown)]
    run("pyright", "--pythonpath", sys.executable, str(ROOT / "python"), *paths)


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


#: Flags of `pgn train` that are no settings, and settings by another name.
ELSEWHERE = {"initial", "task", "model", "seed", "epochs", "out", "threads", "checkpoint_every", "json"}
ELSEWHERE |= {"config", "help", "version", "structure", "quiet", "operations"}
RENAMED = {"latents": "k", "features": "k"}


def test_keywords_are_the_flags_of_the_program(program: Callable[..., str]) -> None:
    shown = " ".join(program("train", "--help").split())
    flags = {flag.replace("-", "_") for flag in re.findall(r"--([a-z-]+)", shown)}
    keywords = {RENAMED.get(flag, flag) for flag in flags - ELSEWHERE}
    typed = set(pgn.Settings.__annotations__)
    assert keywords <= typed, sorted(keywords - typed)
    choices = {"decay": _settings.Decay, "forcing": _settings.Forcing}
    choices |= {"attention_input": _settings.AttentionInput, "candidates": _settings.Candidates}
    choices |= {"initialisation": _settings.Initialisation}
    for name, literal in choices.items():
        flag = name.replace("_", "-")
        values = re.findall(rf"--{flag} <.*?possible values: ([^]]*)\]", shown)[0]
        assert values.split(", ") == list(get_args(literal)), name


def test_models_are_those_of_the_program() -> None:
    known = set(get_args(_settings.ModelName))
    with pytest.raises(ValueError) as refused:
        pgn.config("dsu", "nothing")
    named = set(re.findall(r"[a-z]+(?:-[a-z0-9]+)*", str(refused.value)))
    assert known <= named, sorted(known - named)
    assert {name for name in named if name.startswith("pgn")} <= known | {"pgn-machine"}


def test_the_reference_has_everything() -> None:
    """`docs/python.md` names all that is public, and every setting."""
    text = (ROOT.parent.parent / "docs" / "python.md").read_text()
    words = set(re.findall(r"\w+", text))
    public = {name for name in pgn.__all__ if not name.startswith("__")}
    assert public | set(pgn.Settings.__annotations__) <= words, sorted(public - words)
    methods = {
        name
        for shown in SHOWN
        for name, value in vars(getattr(pgn, shown)).items()
        if not name.startswith("_") and isinstance(value, (classmethod, FunctionType))
    }
    assert methods - {"at"} <= words, sorted(methods - words)
