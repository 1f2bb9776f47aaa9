"""Trained machines, their certificates, and machines in use."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from pgn import _files, _html, _native
from pgn._analysis import Verdict, Verification
from pgn._arrays import array, rounded, whole, wholes
from pgn._dataset import Dataset
from pgn._rollout import Rollout
from pgn._scores import Scores
from pgn.machines._declared import registered


class Certificate(dict[str, Any]):
    """The outcome of comparing a network with its program on every consistent view.

    True if it is right on all of them. :attr:`proved` says whether the checker has proved that it
    executes the program for every n; without that, the program's clauses were only tested.
    ``statement`` says what that means, ``failures`` where it went wrong.
    """

    @property
    def proved(self) -> bool:
        """Whether the checker has verified coverage, induction and arithmetic."""
        return bool((self.get("proof") or {}).get("proved"))

    def __bool__(self) -> bool:
        return bool(self["certified"])

    def __repr__(self) -> str:
        return (
            f"Certificate(program={self['program']!r}, certified={self['certified']}, "
            f"proved={self.proved}, views={self['views']})"
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
    """A machine in use; :meth:`Machine.start` makes one.

    It can be copied and pickled; a pickled one carries out its operations again when it is loaded.

    >>> memory = pgn.machines.load("dsu").start(4)
    >>> memory.apply("query_union", 0, 2), memory
    (True, State('dsu', 4 nodes))
    >>> memory.pointers
    array([2, 1, 2, 3], dtype=uint32)
    """

    def __init__(self, native: _native.MachineMemory, origin: tuple[Machine, Any, Any, str]) -> None:
        self._native = native
        #: Machine, keys, values and aggregate.
        self._origin = origin
        self._log: list[tuple[str, tuple[int, ...], float]] = []
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return self._native.len()

    @property
    def nodes(self) -> int:
        """Number of nodes, n."""
        return self._native.len()

    def outcome(self, operation: str, *nodes: SupportsIndex) -> Outcome:
        """Carries out an operation: how it ended, and which nodes it visited."""
        return self._outcome(operation, nodes, 0.0)

    def _outcome(
        self, operation: str, nodes: Sequence[SupportsIndex], operand: float
    ) -> Outcome:
        with self._lock:
            ended = self._native.apply(operation, list(nodes), operand)
            self._log.append((operation, tuple(int(node) for node in nodes), operand))
        kind, answer, node, reason, visited = ended
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

    @property
    def pointers(self) -> npt.NDArray[np.uint32]:
        """Where every node points, as data sets have it: itself for nil."""
        return self._native.pointers()

    @property
    def fields(self) -> dict[str, npt.NDArray[np.uint32]]:
        """Every pointer field by name, as an array; a node's own number for nil."""
        return self._native.fields()[0]

    @property
    def bits(self) -> dict[str, npt.NDArray[np.uint8]]:
        """Every bit by name, as an array."""
        return self._native.fields()[1]

    def copy(self) -> State:
        """An independent copy, to go back to."""
        with self._lock:
            other = State(self._native.copy(), self._origin)
            other._log = self._log[:]
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> State:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            return _replayed, (*self._origin, self._log[:])

    def __repr__(self) -> str:
        return f"State({self._origin[0].task!r}, {self.nodes} nodes)"


def _replayed(machine: Machine, keys: Any, values: Any, aggregate: Any, log: Any) -> State:
    state = machine.start(keys=keys, values=values, aggregate=aggregate)
    for operation, nodes, operand in log:
        state._outcome(operation, nodes, operand)
    return state


class Machine:
    """A trained machine; :func:`train` and :func:`load` make one.

    It is scored and rolled out as a :class:`pgn.Model` is:

    >>> data = pgn.sample("lct", nodes=50, count=5, split="test")
    >>> scores = pgn.machines.load("lct").evaluate(data)
    >>> scores.f1, scores.sequences_exact, round(scores.counting_f1, 2)
    (1.0, 1.0, 0.62)
    """

    def __init__(
        self, files: dict[str, bytes], native: _native.Machine, program: Any = None
    ) -> None:
        self._files, self._native, self._program = files, native, program
        #: Every setting of the run, resolved: ``config.toml``.
        self.config: dict[str, Any] = json.loads(native.config())

    @property
    def task(self) -> str:
        """The program it executes."""
        task: str = self.config["task"]
        return task

    @property
    def name(self) -> str:
        """``"pgn-machine"``."""
        name: str = self.config["model"]
        return name

    @property
    def seed(self) -> int:
        """The seed of its run."""
        seed: int = self.config["seed"]
        return seed

    @property
    def results(self) -> dict[str, Any] | None:
        """``results.json``: views, and scores where there are data sets of the structure."""
        contents = self._files.get("results.json")
        return None if contents is None else json.loads(contents)

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """``metrics.jsonl``: losses and views of every evaluated step."""
        return [json.loads(line) for line in self._files.get("metrics.jsonl", b"").splitlines()]

    def files(self) -> dict[str, bytes]:
        """The files of its run directory, by name."""
        return dict(self._files)

    @property
    def certificate(self) -> Certificate | None:
        """The certificate that :meth:`certify` made, if it has."""
        contents = self._files.get("certificate.json")
        return None if contents is None else Certificate(json.loads(contents))

    def certify(self) -> Certificate:
        """Compares the network with its program on every consistent view.

        Before that, the invariants of the program, which say what is consistent, are tested on
        random runs; one that does not hold is a ``ValueError`` with the memory that breaks it.

        >>> bool(pgn.machines.train("dsu", epochs=1).certify())  # hardly trained
        False
        """
        with tempfile.TemporaryDirectory(prefix="pgn-") as directory:
            self._native.certify(directory)
            # As the file has it: with the checksum that it is written with.
            contents = (Path(directory) / "certificate.json").read_bytes()
            self._files.pop("proof.safetensors", None)
            self._files |= read(Path(directory))
            self._native = loaded(self._files, self._program)
        return Certificate(json.loads(contents))

    def suggest(self) -> list[str]:
        """Clauses that prove the program, found in random runs of it, with those it declares.

        If there are none, the ``ValueError`` draws a memory that a further clause has to exclude.

        >>> "acyclic up" in pgn.machines.load("dsu").suggest()
        True
        """
        clauses, refutation = self._native.suggest()
        if refutation is not None:
            raise ValueError(f"no clauses that prove {self.task} were found: {refutation}")
        return clauses

    def compile(self) -> Machine:
        """The same machine as decision trees: no network any more. It must be certified.

        >>> sets = pgn.machines.load("dsu").compile().start(1000)
        >>> sets.apply("query_union", 3, 5), sets.apply("query_union", 5, 3)
        (True, False)
        """
        if self.certificate is None:
            self.certify()
        return Machine(dict(self._files), self._native.compile(), self._program)

    @property
    def compiled(self) -> bool:
        """Whether it is decision trees."""
        return self._native.size() is not None

    def rollout(self, data: Dataset) -> Rollout:
        """Carries out the operations of ``data``, which must be of its task. Logits are ±20."""
        if data.task != self.task:
            raise ValueError(f"the task of the data is {data.task}; expected {self.task}")
        parts = self._native.rollout(data)
        return Rollout(*parts, self.task, self.name, self.seed, data.nodes, data.checksums)

    def evaluate(self, data: Dataset) -> Scores:
        """Scores of its :meth:`rollout` on ``data``."""
        return self.rollout(data).score(data)

    def test(
        self,
        nodes: SupportsIndex | Sequence[int] | None = None,
        *,
        ops: SupportsIndex | Sequence[int] | None = None,
        count: SupportsIndex | None = None,
        seed: SupportsIndex | None = None,
    ) -> list[Scores]:
        """Scores on test sets of these sizes, as ``pgn eval`` gives them; the run's own unless
        given.

        >>> [scores.f1 for scores in pgn.machines.load("lct").compile().test([20, 1000], count=2)]
        [1.0, 1.0]
        """
        scores: list[dict[str, Any]] = json.loads(
            self._native.test(
                wholes("nodes", nodes),
                wholes("ops", ops),
                None if count is None else whole("count", count),
                None if seed is None else whole("seed", seed, 2**64 - 1),
            )
        )
        return [Scores(one) for one in scores]

    def verify(
        self, *, nodes: SupportsIndex = 20, count: SupportsIndex = 100, seed: SupportsIndex = 0
    ) -> Verification:
        """Runs ``count`` random sequences of all operations beside the program, as ``pgn verify``
        does: outcomes, visited nodes and all fields of all nodes are compared.

        >>> pgn.machines.load("heap").verify(count=10)
        Verification(0 of 600 transitions wrong)
        """
        found = json.loads(
            self._native.verify(whole("nodes", nodes), whole("count", count), whole("seed", seed))
        )
        cases = found["first"] or "random sequences"
        return Verification(
            [Verdict(cases, found["nodes"], found["operations"], found["wrong"])]
        )

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
        maximum along paths (:meth:`State.path_aggregate`); visited nodes are not recorded then.
        """
        if nodes is None and keys is None and values is not None:
            nodes = len(np.asarray(values))
        if keys is None:
            if nodes is None:
                raise ValueError("start needs either nodes or keys")
            keys = np.arange(whole("nodes", nodes, 2**24), dtype=np.float32)
        size = "nodes" if nodes is None else whole("nodes", nodes)
        row = rounded("keys", keys, (size,))
        held = None if values is None else array("values", values, np.float64, (row.size,))
        native = self._native.start(row, held, aggregate)
        return State(native, (self, row, held, aggregate))

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Writes a run directory, which ``pgn certify`` and ``pgn compile`` read for programs that
        are built in.
        """
        there = read(Path(directory))
        for name in ("config.toml", "model.safetensors"):
            if there.get(name, self._files[name]) != self._files[name]:
                raise ValueError(
                    f"{directory} holds another run (its {name} is another): choose another "
                    "directory"
                )
        for name, contents in self._files.items():
            _files.write(Path(directory) / name, contents)

    def __repr__(self) -> str:
        kind = "compiled" if self.compiled else "network"
        certified = self.certificate is not None and bool(self.certificate)
        return f"Machine({self.task!r}, {kind}, certified={certified})"

    def _repr_html_(self) -> str:
        facts: dict[str, object] = {"seed": self.seed, "compiled": self.compiled}
        views = (self.results or {}).get("views")
        if views is not None:
            facts["views that are right"] = f"{views['consistent_right']} of {views['consistent']}"
        facts["certified"] = self.certificate is not None and bool(self.certificate)
        return _html.card(f"Machine: {self.task}", facts)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._files, self._program, self.compiled)


_NAMES = ("config.toml", "model.safetensors", "metrics.jsonl", "structure.txt", "certificate.json",
          "proof.safetensors", "results.json")


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
