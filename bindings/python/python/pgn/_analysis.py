"""What a model does beyond its scores."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from pgn import _html, _native


class Analysis(dict[str, Any]):
    """What ``pgn analyse`` finds out about a model; :meth:`Model.analyse` makes one.

    Its entries are lists with one element for each test set: ``beyond`` (answers that counting
    cannot tell apart), ``credit`` (which nodes the answers come from), ``pointers`` (validity,
    depth and diameter; empty for models without pointers of their own) and ``chains`` (the paper's
    figure 4, for the run's own test sets).
    """

    @property
    def beyond_counting(self) -> list[float]:
        """How much better the answers are than counting allows, 0 to 1."""
        return [round(one["where_1"] - one["where_0"], 5) for one in self["beyond"]]

    @property
    def valid(self) -> list[float]:
        """Share of steps whose pointers are acyclic and connect what is connected."""
        return [one["valid"] for one in self["pointers"]]

    @property
    def depth(self) -> list[tuple[float, float]]:
        """Mean depth of the deepest node, of the truth's pointers and of the model's."""
        return [(one["truth"]["depth"], one["model"]["depth"]) for one in self["pointers"]]

    def __repr__(self) -> str:
        sizes = [one["nodes"] for one in self["beyond"]]
        return f"Analysis(task={self['task']!r}, model={self['model']!r}, nodes={sizes})"

    def _repr_html_(self) -> str:
        pointers = self["pointers"] or [None] * len(self["beyond"])
        rows = [
            [
                beyond["nodes"],
                gain,
                *(credit["both"]["mean"][kind] for kind in ("operated", "path", "others")),
                "" if shape is None else shape["valid"],
                "" if shape is None else shape["model"]["depth"],
                "" if shape is None else shape["truth"]["depth"],
            ]
            for beyond, gain, credit, shape in zip(
                self["beyond"], self.beyond_counting, self["credit"], pointers
            )
        ]
        header = ["nodes", "beyond counting", "credit: u, v", "path", "others", "valid", "depth",
                  "true depth"]
        return _html.card(f"Analysis: {self['task']} {self['model']}", {"seed": self["seed"]}) + (
            _html.table(header, rows)
        )


class Verdict(NamedTuple):
    """What came of trying one kind of forest."""

    cases: str
    """The kind: all forests, or a shape."""
    nodes: int
    """How many nodes they have."""
    transitions: int
    """How many operations were tried."""
    wrong: int
    """How many went wrong."""


class Verification(tuple[Verdict, ...]):
    """The verdicts of :meth:`Model.verify`; true if nothing went wrong."""

    def __bool__(self) -> bool:
        return self.wrong == 0

    @property
    def transitions(self) -> int:
        """How many operations were tried."""
        return sum(verdict.transitions for verdict in self)

    @property
    def wrong(self) -> int:
        """How many went wrong."""
        return sum(verdict.wrong for verdict in self)

    def __repr__(self) -> str:
        return f"Verification({self.wrong} of {self.transitions} transitions wrong)"

    def _repr_html_(self) -> str:
        return _html.table(Verdict._fields, self)


def verify(model: _native.Model, nodes: int, depth: int, pairs: int, seed: int) -> Verification:
    """The verification of a model's native half."""
    verdicts = json.loads(model.verify(nodes, depth, pairs, seed))
    return Verification(
        Verdict(one["cases"], one["nodes"], one["transitions"], one["wrong"]) for one in verdicts
    )


def analyse(model: _native.Model, data: Any) -> Analysis:
    """The analysis of a model's native half."""
    return Analysis(json.loads(model.analyse(data)))
