"""Trained machines, their certificates, and machines in use."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from pgn import _files, _html, _native
from pgn._arrays import array, whole
from pgn.machines._declared import registered


class Certificate(dict[str, Any]):
    """The outcome of comparing a network with its program on every consistent view.

    True if it is right on all of them: by induction over micro-steps it then executes the program
    for every n. ``statement`` says what that means, ``invariants`` on what assumptions,
    ``failures`` where it went wrong.
    """

    def __bool__(self) -> bool:
        return bool(self["certified"])

    def __repr__(self) -> str:
        return (
            f"Certificate(program={self['program']!r}, certified={self['certified']}, "
            f"views={self['views']})"
        )

    def _repr_html_(self) -> str:
        rows = [[one["state"], one["views"], one["right"]] for one in self["states"]]
        facts = {"certified": self["certified"], "what it says": self["statement"]}
        return _html.card(f"Certificate: {self['program']}", facts) + _html.table(
            ["state", "views", "right"], rows
        )


class Outcome(NamedTuple):
    """How an operation ended."""

    kind: Literal["done", "answer", "node", "refused"]
    """With nothing to say, an answer, a node (or nil), or a refusal."""
    value: bool | int | str | None
    """The answer, the node or the reason."""
    visited: tuple[int, ...]
    """The nodes that it visited."""


class PathAggregate(NamedTuple):
    """What the values along a path come to."""

    value: float
    """Their sum, minimum or maximum."""
    node: int | None
    """Where the minimum or maximum is; ``None`` for a sum."""


class State:
    """A machine in use; :meth:`Machine.start` makes one."""

    def __init__(self, native: _native.MachineMemory) -> None:
        self._native = native

    def __len__(self) -> int:
        return self._native.len()

    def outcome(self, operation: str, *nodes: SupportsIndex) -> Outcome:
        """Carries out an operation: how it ended, and which nodes it visited."""
        return self._outcome(operation, nodes, 0.0)

    def _outcome(
        self, operation: str, nodes: Sequence[SupportsIndex], operand: float
    ) -> Outcome:
        kind, answer, node, reason, visited = self._native.apply(operation, list(nodes), operand)
        value = {"answer": answer, "node": node, "refused": reason}.get(kind)
        return Outcome(kind, value, tuple(visited))  # type: ignore[arg-type]

    def apply(self, operation: str, *nodes: SupportsIndex) -> bool | int | None:
        """Carries out an operation: its answer or its node. A refusal is a ``ValueError``."""
        return self._apply(operation, nodes, 0.0)

    def _apply(
        self, operation: str, nodes: Sequence[SupportsIndex], operand: float
    ) -> bool | int | None:
        ended = self._outcome(operation, nodes, operand)
        if ended.kind == "refused":
            raise ValueError(f"{operation} was refused: {ended.value}")
        return ended.value  # type: ignore[return-value]

    def _values(self, node: SupportsIndex) -> tuple[float, float, int | None]:
        found = self._native.value(node)
        if found is None:
            raise ValueError("nodes have no values: give some to start")
        return found

    def value(self, u: SupportsIndex) -> float:
        """The value of a node."""
        return self._values(u)[0]

    def add(self, u: SupportsIndex, x: float) -> None:
        """Adds to the value of a node."""
        self._values(u)
        self._apply("add", [u], float(x))

    def set_value(self, u: SupportsIndex, x: float) -> None:
        """Changes the value of a node."""
        self._values(u)
        self._apply("set_value", [u], float(x))

    def path_aggregate(self, u: SupportsIndex, v: SupportsIndex) -> PathAggregate | None:
        """The sum, minimum or maximum of the values from u to v, both included, and for the
        latter two a node where it is; ``None`` if they are apart. u is the root of its tree
        afterwards.
        """
        self._values(u)
        ended = self._outcome("path_aggregate", [u, v], 0.0)
        if ended.kind != "node":
            return None
        _, value, node = self._values(cast(int, ended.value))
        return PathAggregate(value, node)

    def pointers(self, field: str) -> list[int | None]:
        """A pointer field of every node, ``None`` for nil."""
        return self._native.pointers(field)


class Machine:
    """A trained machine; :func:`train` and :func:`load` make one."""

    def __init__(
        self, files: dict[str, bytes], native: _native.Machine, program: Any = None
    ) -> None:
        self._files, self._native, self._program = files, native, program

    @property
    def results(self) -> dict[str, Any] | None:
        """``results.json``: views, and scores where there are data sets of the structure."""
        contents = self._files.get("results.json")
        return None if contents is None else json.loads(contents)

    @property
    def certificate(self) -> Certificate | None:
        """The certificate that :meth:`certify` made, if it has."""
        contents = self._files.get("certificate.json")
        return None if contents is None else Certificate(json.loads(contents))

    def certify(self) -> Certificate:
        """Compares the network with its program on every consistent view."""
        with tempfile.TemporaryDirectory(prefix="pgn-") as directory:
            self._native.certify(directory)
            # As the file has it: with the checksum that it is written with.
            contents = (Path(directory) / "certificate.json").read_bytes()
            self._files["certificate.json"] = contents
            self._native = loaded(self._files, self._program)
        return Certificate(json.loads(contents))

    def compile(self) -> Machine:
        """The same machine as decision trees: no network any more. It must be certified."""
        if self.certificate is None:
            self.certify()
        return Machine(dict(self._files), self._native.compile(), self._program)

    @property
    def compiled(self) -> bool:
        """Whether it is decision trees."""
        return self._native.size() is not None

    def start(
        self,
        nodes: SupportsIndex | None = None,
        *,
        keys: npt.ArrayLike | None = None,
        values: npt.ArrayLike | None = None,
        aggregate: Literal["sum", "min", "max"] = "sum",
    ) -> State:
        """A fresh memory of ``nodes`` nodes, whose keys are their numbers, or of these keys.

        With ``values``, one per node, the link/cut tree ``"lct"`` keeps their sum, minimum or
        maximum along paths (:meth:`State.path_aggregate`); visited nodes are not noted then.
        """
        if nodes is None and keys is None and values is not None:
            nodes = len(np.asarray(values))
        if keys is None:
            if nodes is None:
                raise ValueError("start needs either nodes or keys")
            keys = np.arange(whole("nodes", nodes, 2**24), dtype=np.float32)
        held = None if values is None else array("values", values, np.float64, ("nodes",))
        native = self._native.start(array("keys", keys, np.float32, ("nodes",)), held, aggregate)
        return State(native)

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Writes a run directory, which ``pgn certify`` and ``pgn compile`` read for programs that
        are built in.
        """
        for name, contents in self._files.items():
            _files.write(Path(directory) / name, contents)

    def __repr__(self) -> str:
        kind = "compiled" if self.compiled else "network"
        certified = self.certificate is not None and bool(self.certificate)
        return f"Machine({self._name!r}, {kind}, certified={certified})"

    @property
    def _name(self) -> str:
        for line in self._files["config.toml"].decode().splitlines():
            if line.startswith("task = "):
                return line.split('"')[1]
        return "?"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._files, self._program, self.compiled)


_NAMES = ("config.toml", "model.safetensors", "metrics.jsonl", "certificate.json", "results.json")


def loaded(files: Mapping[str, bytes], program: Any) -> _native.Machine:
    with tempfile.TemporaryDirectory(prefix="pgn-") as directory:
        for name, contents in files.items():
            _files.write(Path(directory) / name, contents)
        return _native.Machine(directory, registered(program))


def _unpickled(files: dict[str, bytes], program: Any, compiled: bool) -> Machine:
    machine = Machine(files, loaded(files, program), program)
    return machine.compile() if compiled else machine


def read(directory: Path) -> dict[str, bytes]:
    return {n: (directory / n).read_bytes() for n in _NAMES if (directory / n).is_file()}
