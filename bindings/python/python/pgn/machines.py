"""Machines: data structures learnt micro-step by micro-step, and proved exact for every n.

A program is a class with the names of its fields, registers, states and operations, and a method
``step`` that reads a few fields around the registers, writes a few, and names the next state. A
network learns what it does on every view that a step can have; the certificate says that it has.

>>> class Last:
...     \"\"\"Finds the end of a linked list, and puts a node in front of another.\"\"\"
...     name = "last"
...     pointers = ["next"]
...     registers = ["x", "y"]
...     states = ["walk", "put", "end", "done"]
...     halts = {"end": pgn.machines.Node("x"), "done": None}
...     operations = {"last": ("walk", ["x"]), "put": ("put", ["x", "y"])}
...     invariants = [pgn.machines.acyclic(down=["next"])]
...     def step(self, state, memory):
...         x = memory.register("x")
...         if state == "put":
...             if memory.pointer(x, "next") is not None or memory.pointer(
...                 memory.register("y"), "next"
...             ) is not None:
...                 return "done"
...             memory.set_pointer(x, "next", memory.register("y"))
...             return "done"
...         memory.visit(x)
...         following = memory.pointer(x, "next")
...         if following is None:
...             return "end"
...         memory.set_register("x", following)
...         return "walk"
>>> machine = pgn.machines.train(Last, epochs=300)
>>> machine.certify()
Certificate(program='last', certified=True, views=6)
>>> memory = machine.compile().start(4)
>>> memory.apply("put", 2, 0), memory.apply("last", 2)
(None, 0)
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, SupportsIndex, Union

import numpy as np
import numpy.typing as npt

from pgn import _files, _html, _native
from pgn._arrays import array, whole


class Node(NamedTuple):
    """A state that ends with the node in a register."""

    register: str


class Refused(NamedTuple):
    """A state that ends with a refusal."""

    reason: str


#: How a halting state ends: with an answer, a node, a refusal, or nothing to say.
Halt = Union[bool, Node, Refused, None]


class Invariant(NamedTuple):
    """Something that always holds before a step; views that violate it are left out."""

    sentence: str
    kind: str
    up: tuple[str, ...]
    down: tuple[str, ...]


def acyclic(*, up: Sequence[str] = (), down: Sequence[str] = ()) -> Invariant:
    """Following any of ``down``, or any of ``up`` backwards, never leads back to a node."""
    named = ", ".join([*up, *down])
    return Invariant(f"following {named} from a node never leads back to it", "acyclic",
                     tuple(up), tuple(down))


def inverse(up: str, children: Sequence[str]) -> Invariant:
    """A node is the child of one node at most, and ``up`` of a child is its parent."""
    named = ", ".join(children)
    return Invariant(f"{up} of a child in {named} is its parent", "inverse", (up,),
                     tuple(children))


def unshared(*fields: str) -> Invariant:
    """No two of these fields, of one node or of two, point to the same node."""
    return Invariant(f"no two of {', '.join(fields)} point to the same node", "unshared", (), fields)


class Memory(Protocol):
    """What a step is given. Nodes are handles: compare them and pass them back, nothing else."""

    def register(self, name: str) -> int | None:
        """The node in a register, or ``None`` for nil."""

    def pointer(self, node: int | None, field: str) -> int | None:
        """A pointer field of a node. The program is undefined where the node is nil."""

    def bit(self, node: int | None, name: str) -> bool:
        """A bit of a node."""

    def less(self, a: int | None, b: int | None) -> bool:
        """Whether the key of ``a`` is less than that of ``b``."""

    def control(self, name: str) -> str:
        """A field of the controller."""

    def set_register(self, name: str, to: int | None) -> None:
        """Writes a register."""

    def set_pointer(self, node: int | None, field: str, to: int | None) -> None:
        """Writes a pointer field of a node."""

    def toggle(self, node: int | None, name: str) -> None:
        """Toggles a bit of a node."""

    def set_control(self, name: str, value: str) -> None:
        """Writes a field of the controller."""

    def visit(self, node: int | None) -> None:
        """Notes that the operation visits a node."""

    def mark(self, node: int | None, name: str) -> None:
        """Marks a node."""


class Program(Protocol):
    """A data structure as a program of micro-steps; see the example of the module.

    Besides what is here, a class may have ``bits``, ``marks``, ``controls`` (a mapping from names
    to lists of values), ``invariants`` and ``version``. An operation is ``(first state, registers
    of its arguments)``, with a mapping of controls as a third entry where they do not start with
    their first value.
    """

    name: str
    pointers: Sequence[str]
    registers: Sequence[str]
    states: Sequence[str]
    halts: Mapping[str, Halt]
    operations: Mapping[str, Any]

    def step(self, state: str, memory: Memory, /) -> str | None:
        """One micro-step: the next state, or ``None`` where the program is not defined.

        It must be a function of what it reads: it may be run several times for one step.
        """


class _Unread(BaseException):
    """Ends a run of a step at a read whose answer is not known yet."""


class _Undefined(BaseException):
    """Ends a step that reads a field of nil."""


class _Recorder:
    """A memory that knows the answers to the first reads, and collects what comes after them."""

    def __init__(self, program: _Declared, answers: Sequence[Any], done: int) -> None:
        self._program, self._answers = program, answers
        self._done, self._read, self._at = done, 0, 0
        self.commands: list[tuple[str, int | None, int | None, int | None]] = []

    def _command(
        self, kind: str, node: int | None, field: int | None, value: int | None
    ) -> None:
        if self._at >= self._done:
            self.commands.append((kind, node, field, value))
        self._at += 1

    def _ask(self, kind: str, node: int | None, field: int | None, value: int | None = None) -> Any:
        self._command(kind, node, field, value)
        if self._read == len(self._answers):
            raise _Unread
        self._read += 1
        return self._answers[self._read - 1]

    @staticmethod
    def _there(node: int | None) -> int:
        if node is None:
            raise _Undefined
        return node

    def register(self, name: str) -> Any:
        return self._ask("register", None, self._program.number("registers", name))

    def pointer(self, node: int | None, field: str) -> Any:
        return self._ask("pointer", self._there(node), self._program.number("pointers", field))

    def bit(self, node: int | None, name: str) -> Any:
        return self._ask("bit", self._there(node), self._program.number("bits", name))

    def less(self, a: int | None, b: int | None) -> Any:
        return self._ask("less", self._there(a), None, self._there(b))

    def control(self, name: str) -> Any:
        index = self._program.number("control_names", name)
        return self._program.controls[index][1][self._ask("control", None, index)]

    def set_register(self, name: str, to: int | None) -> None:
        self._command("set_register", None, self._program.number("registers", name), to)

    def set_pointer(self, node: int | None, field: str, to: int | None) -> None:
        index = self._program.number("pointers", field)
        self._command("set_pointer", self._there(node), index, to)

    def toggle(self, node: int | None, name: str) -> None:
        self._command("toggle", self._there(node), self._program.number("bits", name), None)

    def set_control(self, name: str, value: str) -> None:
        index = self._program.number("control_names", name)
        values = self._program.controls[index][1]
        if value not in values:
            raise ValueError(f"{name} is set to {value!r}; expected one of {', '.join(values)}")
        self._command("set_control", None, index, values.index(value))

    def visit(self, node: int | None) -> None:
        self.mark(node, "visit")

    def mark(self, node: int | None, name: str) -> None:
        self._command("mark", self._there(node), self._program.number("all_marks", name), None)


class _Declared:
    """A program in the words of the native half."""

    def __init__(self, program: Any) -> None:
        made = program() if isinstance(program, type) else program
        if not callable(getattr(made, "step", None)):
            raise TypeError(
                f"the program is {program!r}; expected the name of one or a class with a method "
                "step(state, memory)"
            )
        self._step: Callable[[str, Any], str | None] = made.step
        self.name: str = getattr(made, "name", type(made).__name__)
        self.version = int(getattr(made, "version", 1))
        self.pointers = self._names(made, "pointers")
        self.bits = self._names(made, "bits")
        self.marks = self._names(made, "marks")
        self.all_marks = ["visit", *self.marks]
        self.registers = self._names(made, "registers")
        self.states = self._names(made, "states")
        controls = getattr(made, "controls", {})
        self.controls = [(name, list(values)) for name, values in controls.items()]
        self.control_names = list(controls)
        self.halts = [(state, *_ending(halt)) for state, halt in made.halts.items()]
        for state in made.halts:
            self.number("states", state)
        self.operations = [
            (name, entry, list(arguments), list((rest[0] if rest else {}).items()))
            for name, (entry, arguments, *rest) in made.operations.items()
        ]
        self.invariants = [
            _Numbered(
                one.sentence,
                one.kind,
                [self.number("pointers", field) for field in one.up],
                [self.number("pointers", field) for field in one.down],
            )
            for one in getattr(made, "invariants", ())
        ]

    def _names(self, made: Any, what: str) -> list[str]:
        names = getattr(made, what, ())
        if isinstance(names, str):
            raise ValueError(f"{what} is {names!r}; expected a list of names")
        return list(names)

    def number(self, what: str, name: str) -> int:
        names: list[str] = getattr(self, what)
        if name not in names:
            plain = what.replace("control_names", "controls").replace("all_marks", "marks")
            raise ValueError(
                f"the program `{self.name}` has no {name!r} among its {plain}; expected one of "
                f"{', '.join(names)}"
            )
        return names.index(name)

    def run(self, state: int, answers: Sequence[Any], done: int) -> Any:
        """Runs a step as far as the answers go: what it did since, and the next state at its end."""
        memory = _Recorder(self, answers, done)
        try:
            following = self._step(self.states[state], memory)
        except _Unread:
            return memory.commands, False, None
        except _Undefined:
            return memory.commands, True, None
        if following is None:
            return memory.commands, True, None
        return memory.commands, True, self.number("states", following)


class _Numbered(NamedTuple):
    sentence: str
    kind: str
    up: list[int]
    down: list[int]


def _ending(halt: Halt) -> tuple[str, str]:
    if halt is None:
        return "done", ""
    if isinstance(halt, bool):
        return ("yes" if halt else "no"), ""
    if isinstance(halt, Node):
        return "node", halt.register
    return "refused", halt.reason


class Certificate(dict[str, Any]):
    """The outcome of comparing a network with its program on every consistent view.

    True if it is right on all of them: by induction over micro-steps it then executes the program
    for every n. ``statement`` says what is proved, ``invariants`` on what assumptions,
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
        facts = {"certified": self["certified"], "what is proved": self["statement"]}
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


class State:
    """A machine in use; :meth:`Machine.start` makes one."""

    def __init__(self, native: _native.MachineMemory) -> None:
        self._native = native

    def __len__(self) -> int:
        return self._native.len()

    def outcome(self, operation: str, *nodes: SupportsIndex) -> Outcome:
        """Carries out an operation: how it ended, and which nodes it visited."""
        kind, answer, node, reason, visited = self._native.apply(operation, list(nodes))
        value = {"answer": answer, "node": node, "refused": reason}.get(kind)
        return Outcome(kind, value, tuple(visited))  # type: ignore[arg-type]

    def apply(self, operation: str, *nodes: SupportsIndex) -> bool | int | None:
        """Carries out an operation: its answer or its node. A refusal is a ``ValueError``."""
        ended = self.outcome(operation, *nodes)
        if ended.kind == "refused":
            raise ValueError(f"{operation} was refused: {ended.value}")
        return ended.value  # type: ignore[return-value]

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
            certificate = Certificate(json.loads(self._native.certify(directory)))
            self._files["certificate.json"] = (Path(directory) / "certificate.json").read_bytes()
            self._native = _loaded(self._files, self._program)
        return certificate

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
        self, nodes: SupportsIndex | None = None, *, keys: npt.ArrayLike | None = None
    ) -> State:
        """A fresh memory of ``nodes`` nodes, whose keys are their numbers, or of these keys."""
        if keys is None:
            if nodes is None:
                raise ValueError("start needs either nodes or keys")
            keys = np.arange(whole("nodes", nodes, 2**24), dtype=np.float32)
        return State(self._native.start(array("keys", keys, np.float32, ("nodes",))))

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


def _registered(program: Any) -> _native.Registered | None:
    return None if program is None else _native.Registered(_Declared(program))


def _loaded(files: Mapping[str, bytes], program: Any) -> _native.Machine:
    with tempfile.TemporaryDirectory(prefix="pgn-") as directory:
        for name, contents in files.items():
            _files.write(Path(directory) / name, contents)
        return _native.Machine(directory, _registered(program))


def _unpickled(files: dict[str, bytes], program: Any, compiled: bool) -> Machine:
    machine = Machine(files, _loaded(files, program), program)
    return machine.compile() if compiled else machine


def _read(directory: Path) -> dict[str, bytes]:
    return {n: (directory / n).read_bytes() for n in _NAMES if (directory / n).is_file()}


def train(
    program: str | type[Any] | Any,
    *,
    seed: SupportsIndex = 0,
    epochs: SupportsIndex | None = None,
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    callback: Callable[[int, int, float, int, int], object] | None = None,
    **settings: Any,
) -> Machine:
    """Trains a machine: a built-in program by name (``"dsu"``, ``"lct"``, ``"forest"``,
    ``"splay"``, ``"heap"``), or a class like :class:`Program`.

    ``callback`` is told steps done, steps in all, the loss, and how many views are right of how
    many; if it returns something true, training stops, to be resumed in ``out``. Other keywords
    are those of the run's ``config.toml`` (``learning_rate``, ``batch``, ``data``, ``network``…).
    """
    named = isinstance(program, str)
    registered = None if named else _registered(program)
    given: dict[str, Any] = {"model": "pgn-machine", "seed": whole("seed", seed)}
    given["task"] = program if named else _Declared(program).name
    if epochs is not None:
        given["epochs"] = whole("epochs", epochs)
    with tempfile.TemporaryDirectory(prefix="pgn-") as temporary:
        directory = Path(temporary if out is None else out)

        def observe(*told: Any) -> bool:
            return bool(callback is not None and callback(*told))

        stopped = _native.train_machine_in(
            json.dumps({**given, **settings}), directory, threads, registered, observe
        )
        if stopped is not None:
            raise RuntimeError(
                f"stopped after step {stopped}; train again with the same settings and out"
            )
        own = None if named else program
        return Machine(_read(directory), _native.Machine(directory, registered), own)


def load(directory: str | os.PathLike[str], *, program: Any = None) -> Machine:
    """Loads the run directory of a machine; ``program`` is the class of one that is not built in."""
    path = Path(directory)
    return Machine(_read(path), _native.Machine(path, _registered(program)), program)


def certify(machine: Machine) -> Certificate:
    """Compares a machine's network with its program on every consistent view.

    The certificate is true if they agree on all of them: the network then executes the program for
    every n.
    """
    return machine.certify()


def compile(machine: Machine) -> Machine:  # noqa: A001
    """A certified machine as decision trees."""
    return machine.compile()
