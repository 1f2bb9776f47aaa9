"""What a process sees: threads, forks, memory."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pgn
import pytest
from test_structures import PlainDisjointSet


def test_threads(model: pgn.Model, data: pgn.Dataset) -> None:
    expected, logits = model.evaluate(data), model.rollout(data).query_logits
    sampled = pgn.sample("lct", nodes=20, count=20)
    failures: list[str] = []

    def work() -> None:
        for _ in range(5):
            if model.evaluate(data) != expected:
                failures.append("evaluate")
            if not np.array_equal(model.rollout(data).query_logits, logits):
                failures.append("rollout")
            if pgn.sample("lct", nodes=20, count=20) != sampled:
                failures.append("sample")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


FORK = """
    import os, sys, pgn
    model, data = pgn.load(sys.argv[1]), pgn.sample("dsu", nodes=10, count=5)
    expected = model.evaluate(data)  # the parent's threads are running now
    child = os.fork()
    if child == 0:
        good = model.evaluate(data) == expected and len(pgn.sample("dsu", nodes=5)) == 70
        good = good and model.rollout(data).score(data).f1 == expected.f1
        os._exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_can_use_it(runs: Path) -> None:
    # In a process of its own: JAX, which other tests may have loaded, objects to forks.
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORK), str(runs / "dsu-pgn")]
    subprocess.run(command, check=True, timeout=300)


def resident() -> int:
    """Bytes of memory in use."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow(model: pgn.Model, tmp_path: Path) -> None:
    data = pgn.sample("dsu", nodes=20, count=8)
    data.save(tmp_path / "data")
    state, sets = model.start(20), pgn.DisjointSet(20)

    def refused() -> None:
        with pytest.raises(ValueError):
            state.apply(0, 99)

    calls = [
        lambda: pgn.sample("dsu", nodes=20, count=8),
        lambda: pgn.Dataset.load(tmp_path / "data"),
        lambda: model.rollout(data),
        lambda: model.evaluate(data),
        lambda: model.start(20).apply(0, 1),
        lambda: (state.apply(3, 4), state.latents, state.attention(3)),
        lambda: (sets.apply(3, 4), sets.pointers),
        refused,
    ]
    for index in range(1_000):
        calls[index % len(calls)]()
    before = resident()
    for index in range(10_000):
        calls[index % len(calls)]()
    # To leak the arrays of a set or a rollout, some 25 kB, would be six times that.
    assert resident() - before < 5_000_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_of_classes_and_models(model: pgn.Model, tmp_path: Path) -> None:
    model.save(tmp_path / "run")

    def every_call() -> None:
        pgn.sample(PlainDisjointSet, nodes=4, count=1)
        pgn.load(tmp_path / "run").start(4)

    for _ in range(100):
        every_call()
    before = resident()
    for _ in range(400):
        every_call()
    # A model and its files are more than 100 kB.
    assert resident() - before < 5_000_000
