"""Sweeps from Python, and what is done with them on Ray; a real Ray is in tests/cluster."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pgn.cluster.ray
import pytest
from pgn import _native

SWEEP = """
epochs = 3
[data]
sequences = 4
validation_sequences = 2
[test]
nodes = [8]
sequences = 2
[sweep]
task = ["dsu"]
model = ["pgn-ptrs", "gnn"]
"""


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    return path


class Ray(types.ModuleType):
    """Does every task at once, in this process, and notes what was asked for."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.asked: dict[str, Any] = {}
        self.tasks: list[int] = []
        self.first: list[Any] = []

    def is_initialized(self) -> bool:
        return True

    def remote(self, **options: Any) -> Callable[[Callable[..., str]], Any]:
        self.asked = options

        def wrap(work: Callable[..., str]) -> Any:
            def start(*arguments: Any) -> Any:
                self.tasks.append(arguments[2])
                if self.first:
                    return [self.first.pop(0)]
                return [work(*arguments)]

            return types.SimpleNamespace(remote=lambda *a: Ref(start(*a)))

        return wrap

    def wait(self, refs: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        assert timeout > 0
        return refs[:1], refs[1:]

    def get(self, ref: Ref) -> Any:
        if isinstance(ref.value, Exception):
            raise ref.value
        return ref.value

    def cancel(self, ref: Ref) -> None:
        pass


class Ref:
    def __init__(self, value: list[Any]) -> None:
        self.value = value[0]


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    fake = Ray()
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setattr(pgn.cluster.ray, "_AGAIN", 0.0)
    return fake


def test_a_sweep_entry_by_entry(sweep: Path, tmp_path: Path, program: Callable[..., str]) -> None:
    text, out = sweep.read_text(), tmp_path / "out"
    listed = json.loads(_native.sweep_list(text, out))
    assert [entry["model"] for entry in listed] == ["gnn", "pgn", "pgn-ptrs"]
    assert [entry["state"] for entry in listed] == ["waiting"] * 3
    assert (listed[2]["depends_on"], listed[2]["waits_for"]) == (1, 1)
    waits = _native.sweep_run(text, out, 2, 1, 30.0)
    assert waits == "not ready: it waits for dsu pgn seed 0 (entry 1)"
    for index in range(3):
        assert _native.sweep_run(text, out, index, 1, 30.0) == "finished"
    assert {entry["state"] for entry in json.loads(_native.sweep_list(text, out))} == {"finished"}
    tables = _native.sweep_tables(text, out)
    assert tables == (out / "tables.md").read_text()
    # The program makes the same of it.
    program("sweep", sweep, "--out", tmp_path / "program")
    for entry in listed:
        run = Path(entry["directory"]).relative_to(out)
        a, b = (folder / run / "model.safetensors" for folder in (out, tmp_path / "program"))
        assert a.read_bytes() == b.read_bytes()
    with pytest.raises(ValueError, match="there is no entry 3"):
        _native.sweep_run(text, out, 3, 1, 30.0)
    with pytest.raises(ValueError, match="model is missing"):
        _native.sweep_list("task = 'dsu'", out)


def test_ray_is_asked_for_every_run_after_its_teacher(sweep: Path, tmp_path: Path, ray: Ray) -> None:
    out = tmp_path / "out"
    # The first answer is that of a run that somebody else is at.
    ray.first = ["not ready: another process is training it"]
    options = {"cpus": 2, "resources": {"spot": 1.0}}
    models = [run["model"] for run in pgn.cluster.ray.iterate(sweep, out, **options)]
    assert sorted(models) == ["gnn", "pgn", "pgn-ptrs"]
    assert models.index("pgn") < models.index("pgn-ptrs")
    assert sorted(ray.tasks) == [0, 0, 1, 2]
    assert ray.asked == {"num_cpus": 2, "max_retries": -1, "resources": {"spot": 1.0}}
    assert "Generated from 3 of 3 runs" in (out / "tables.md").read_text()
    # Again: nothing is left to do.
    runs = pgn.cluster.ray.run(sweep, out)
    assert [run["model"] for run in runs] == ["gnn", "pgn", "pgn-ptrs"]
    assert len(ray.tasks) == 4


def test_failures_are_told_at_the_end(
    sweep: Path, tmp_path: Path, ray: Ray, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert _native.sweep_run(sweep.read_text(), out, 0, 1, 30.0) == "finished"
    ray.first = [ValueError("dsu pgn seed 0: no luck")]
    assert pgn.cluster.ray.main([str(sweep), "--out", str(out)]) == 1
    printed = capsys.readouterr()
    assert printed.out.startswith("dsu gnn seed 0: F1 n=8 ")
    expected = "error: 2 of 3 runs failed; the first, dsu pgn seed 0: no luck\n"
    assert printed.err == expected


def test_without_ray_it_says_how_to_get_it(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'pointer-graph-networks\[ray\]'"):
        next(pgn.cluster.ray.iterate(sweep, tmp_path / "out"))
    with pytest.raises(ValueError, match="cpus is 0; expected at least 1"):
        next(pgn.cluster.ray.iterate(sweep, tmp_path / "out", cpus=0))
