"""Machines: data structures learned micro-step by micro-step, and certified.

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
...     requires = {"put": {"x != y": "x and y are the same node"}}
...     clauses = ["acyclic next", "x != nil", "put: y != nil", "put: x != y"]
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
Certificate(program='last', certified=True, proved=True, views=11)
>>> memory = machine.compile().start(4)
>>> memory.apply("put", 2, 0), memory.apply("last", 2)
(None, 0)
>>> memory.apply("put", 2, 2)
Traceback (most recent call last):
    ...
ValueError: put was refused: x and y are the same node
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, SupportsIndex

from pgn import _files, _native, _progress
from pgn._arrays import whole
from pgn._loggers import LoggerName, Tracker
from pgn._model import BUILT_IN
from pgn._train import STOP, Progress, told
from pgn.machines._code import Code, Inferred, Watched, code
from pgn.machines._declared import Declared, registered
from pgn.machines._machine import (
    Certificate,
    Machine,
    Outcome,
    PathAggregate,
    State,
    loaded,
    read,
)
from pgn.machines._program import (
    Halt,
    Memory,
    Node,
    Program,
    Refused,
)

__all__ = [
    "BUILT_IN",
    "Certificate",
    "Code",
    "Halt",
    "Inferred",
    "Machine",
    "Memory",
    "Node",
    "Outcome",
    "PathAggregate",
    "Program",
    "Refused",
    "State",
    "Watched",
    "code",
    "infer",
    "load",
    "train",
]


def train(
    program: str | type[Any] | Any,
    *,
    seed: SupportsIndex = 0,
    epochs: SupportsIndex | None = None,
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    callback: Callable[[Progress], object] | None = None,
    on_interrupt: Literal["raise", "return"] = "raise",
    patience: SupportsIndex | None = None,
    progress: bool | None = None,
    logger: LoggerName | None = None,
    **settings: Any,
) -> Machine:
    """Trains a machine: a built-in program by name (``"dsu"``, ``"lct"``, ``"forest"``,
    ``"splay"``, ``"heap"``), or a class like :class:`Program`.

    >>> machine = pgn.machines.train("dsu", epochs=400)
    >>> machine.certify()
    Certificate(program='dsu', certified=True, proved=True, views=21)

    ``callback`` (told after every step), :data:`pgn.STOP`, ``on_interrupt``, ``patience``,
    ``progress``, ``logger`` and ``out`` are as in :func:`pgn.train`. Other keywords are those of the
    run's ``config.toml`` (``learning_rate``, ``batch``, ``data``, ``network``…).
    """
    named = isinstance(program, str)
    native = None if named else registered(program)
    given: dict[str, Any] = {"model": "pgn-machine", "seed": whole("seed", seed)}
    if isinstance(program, (str, Code)):
        given["task"] = program if isinstance(program, str) else program.name
    else:
        given["task"] = Declared(program).name
    if epochs is not None:
        given["epochs"] = whole("epochs", epochs)
    if patience is not None:
        given["patience"] = whole("patience", patience)
    with tempfile.TemporaryDirectory(prefix="pgn-") as temporary:
        directory = Path(temporary if out is None else out)

        shown = _progress.Shown(f"{given['task']} pgn-machine", _progress.choose(progress))

        tracker = Tracker(logger, shown.title, {**given, **settings}, out is not None)

        def observe(*values: Any) -> bool:
            now = told(*values)
            shown(now.epoch, now.epochs, now.loss, None, now.best_f1)
            if now.loss is None:
                return False
            tracker(now)
            return callback is not None and callback(now) is STOP

        note = None if named else _files.check_structure(directory, program)
        try:
            _native.train(
                json.dumps({**given, **settings}), None, None, native, None, directory, threads,
                30.0, on_interrupt == "return", observe,
            )
        finally:
            shown.close()
            tracker.finish()
            if note is not None and (directory / "config.toml").is_file():
                _files.write(directory / _files.STRUCTURE, note.encode())
        own = None if named else program
        return Machine(read(directory), _native.Machine(directory, native), own)


def infer(code: Code) -> Inferred:
    """Infers a program of micro-steps from ordinary code, and clauses that prove it.

    >>> @pgn.machines.code(pointers=["next"])
    ... class Chain:
    ...     def put(self, memory, x, y) -> None:
    ...         if x != y and memory.next(x) is None and memory.next(y) is None:
    ...             memory.next(x, y)
    ...     def last(self, memory, x) -> int:
    ...         while (following := memory.next(x)) is not None:
    ...             x = following
    ...         return x
    >>> inferred = pgn.machines.infer(Chain)
    >>> inferred.states, inferred.refutation
    (4, None)
    """
    return Inferred(code, registered(code))


def load(directory: str | os.PathLike[str], *, program: Any = None) -> Machine:
    """Loads the run directory of a machine; ``program`` is the class of one that is not built in.

    ``"dsu"``, ``"lct"``, ``"forest"``, ``"splay"`` and ``"heap"`` are trained machines that come
    with the package, if there is no such directory.

    >>> pgn.machines.load("lct")
    Machine('lct', network, certified=True)
    >>> _ = pgn.machines.train("dsu", epochs=400, out="runs/dsu-machine")
    >>> pgn.machines.load("runs/dsu-machine")
    Machine('dsu', network, certified=False)
    """
    path = Path(directory)
    if not path.exists() and str(directory) in BUILT_IN:
        files = dict(_native.built_in_machine(str(directory)))
        return Machine(files, loaded(files, None))
    files = read(path)
    noted = files.get(_files.STRUCTURE)
    if program is not None and noted not in (None, _files.note(program).encode()):
        # They are about the program as it was.
        for name in ("certificate.json", "proof.safetensors"):
            files.pop(name, None)
    return Machine(files, _native.Machine(path, registered(program)), program)
