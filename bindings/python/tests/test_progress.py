"""The progress bar: where somebody is looking, and nowhere else."""

from __future__ import annotations

from typing import Any

import pgn
import pytest
from conftest import SMALL
from pgn import _progress


def test_nothing_where_nobody_is_looking(capfd: pytest.CaptureFixture[str]) -> None:
    pgn.train("dsu", **SMALL)
    pgn.train("dsu", progress=False, **SMALL)
    assert capfd.readouterr() == ("", "")


def test_a_bar_in_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    pgn.train("dsu", "gnn", progress=True, **SMALL)
    shown = capfd.readouterr()
    assert shown.out == ""
    last = shown.err.split("\r\x1b[K")[-2]
    assert last.startswith("[####") and "dsu gnn 6/6  loss " in last and "  F1 " in last
    assert shown.err.endswith("\r\x1b[K"), "it is taken away at the end"


def test_not_more_often_than_an_eye_can_follow() -> None:
    shown: list[Any] = []

    class Display:
        def show(self, text: str, done: float) -> None:
            shown.append((text, done))

        def close(self) -> None:
            shown.append("closed")

    bar = _progress.Shown("run", Display())
    for epoch in range(100_001):
        bar(epoch, 100_000, 0.5, None, None)
    bar.close()
    text, done = shown[-2]
    assert text.startswith("run 100000/100000  loss 0.500") and done == 1
    assert len(shown) < 10_000
    assert shown[-1] == "closed"
