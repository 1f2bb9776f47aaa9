"""Programs in the words of the native half, and their steps, run as far as answers are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pgn import _native
from pgn.machines._code import Code
from pgn.machines._program import Halt, Node


class _Unread(BaseException):
    """Ends a run of a step at a read whose answer is not known yet."""


class _Undefined(BaseException):
    """Ends a step that reads a field of nil."""


class _Recorder:
    """A memory that knows the answers to the first reads, and collects what comes after them."""

    def __init__(self, program: Declared, answers: Sequence[Any], done: int) -> None:
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


class _Snapshot:
    """A memory between two operations, to draw the next one from."""

    def __init__(self, program: Declared, nodes: int, pointers: Any, bits: Any) -> None:
        self._program, self._pointers, self._bits = program, pointers, bits
        self.nodes = nodes

    def pointer(self, node: int, field: str) -> int | None:
        found: int | None = self._pointers[self._program.number("pointers", field)][node]
        return found

    def bit(self, node: int, name: str) -> bool:
        found: bool = self._bits[self._program.number("bits", name)][node]
        return found


class Declared:
    """A program in the words of the native half."""

    def __init__(self, program: Any) -> None:
        made = program() if isinstance(program, type) else program
        if not callable(getattr(made, "step", None)):
            raise TypeError(
                f"the program is {program!r}; expected the name of one or a class with a method "
                "step(state, memory)"
            )
        self._step: Callable[[str, Any], str | None] = made.step
        self._sample: Callable[[Any, Any], Any] = getattr(made, "sample", None)  # type: ignore[assignment]
        #: What the native half draws operations by, if the class does.
        self.draw = None if self._sample is None else self._draw
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
        if not self.operations:
            raise ValueError(f"the program `{self.name}` has no operations; expected at least one")
        self.requires = [
            (operation, condition, reason)
            for operation, conditions in getattr(made, "requires", {}).items()
            for condition, reason in conditions.items()
        ]
        for operation, _, _ in self.requires:
            if operation not in made.operations:
                raise ValueError(
                    f"requires names the operation {operation!r}; expected one of "
                    f"{', '.join(made.operations)}"
                )
        self.clauses = self._names(made, "clauses")

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

    def _draw(self, nodes: int, pointers: Any, bits: Any, rng: Any) -> tuple[int, list[int]]:
        """The next operation: its number, and its nodes."""
        drawn = self._sample(_Snapshot(self, nodes, pointers, bits), rng)
        name, *arguments = drawn
        names = [operation for operation, *_ in self.operations]
        if name not in names:
            raise ValueError(
                f"sample of the program `{self.name}` draws the operation {name!r}; expected one "
                f"of {', '.join(names)}"
            )
        index = names.index(name)
        expected = len(self.operations[index][2])
        if len(arguments) != expected or any(not 0 <= int(node) < nodes for node in arguments):
            raise ValueError(
                f"sample of the program `{self.name}` draws {drawn!r}; expected the operation and "
                f"{expected} nodes below {nodes}"
            )
        return index, [int(node) for node in arguments]

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


def _ending(halt: Halt) -> tuple[str, str]:
    if halt is None:
        return "done", ""
    if isinstance(halt, bool):
        return ("yes" if halt else "no"), ""
    if isinstance(halt, Node):
        return "node", halt.register
    return "refused", halt.reason


def registered(program: Any) -> _native.Registered | None:
    """Makes a program known by its name; ``None`` for one that is built in."""
    if isinstance(program, Code):
        if program._native is None:
            program._native = _native.Registered.infer(program)
        return program._native
    return None if program is None else _native.Registered(Declared(program))
