"""Ordinary code as a program: watched while it runs, and inferred from what it does."""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pgn import _native

#: What is told of an access: program point, functions that run, kind, field, node and second node.
_Access = tuple[int, int, str, int, int, "int | None"]


#: Where in the source: the function, the line, and the column if Python knows it.
_Place = tuple[str, int, "int | None"]


@functools.cache
def _place(code: types.CodeType, instruction: int, line: int) -> _Place:
    # One condition of a loop may be compiled twice: instructions do not tell places.
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return code.co_name, line, None
    start, _, column, _ = next(itertools.islice(positions(), instruction // 2, None))
    return code.co_name, start or line, column


class Watched:
    """The memory that ordinary code is given: a method for every pointer field and bit.

    ``memory.up(x)`` reads a pointer, ``memory.up(x, y)`` writes it, with ``None`` for nil.
    ``memory.flip(x)`` reads a bit, ``memory.toggle(x, "flip")`` changes it, and
    ``memory.less(x, y)`` compares keys. Nodes are handles: compare them and pass them on, nothing
    else.
    """

    def __init__(self, code: Code, pointers: Any, bits: Any, keys: Sequence[int], most: int) -> None:
        self._code, self._pointers, self._bits, self._keys = code, pointers, bits, keys
        self._left = most
        self._accesses: list[_Access] = []

    def _note(self, kind: str, field: int, node: int | None, other: int | None = None) -> None:
        if node is None or (kind == "less" and other is None):
            raise ValueError(f"`{self._code.name}` reads or writes a field of nil")
        point: list[_Place] = []
        frame = sys._getframe(2)
        while frame is not None and frame.f_code is not Code._record.__code__:
            point.append(_place(frame.f_code, frame.f_lasti, frame.f_lineno))
            frame = frame.f_back  # type: ignore[assignment]
        site = self._code._points.setdefault(point[0], len(self._code._points))
        calls = self._code._calls_at(tuple(point))
        self._accesses.append((site, calls, kind, field, node, other))
        self._left -= 1
        if self._left < 0:
            raise ValueError(f"`{self._code.name}` does not end")

    def less(self, a: int | None, b: int | None) -> bool:
        """Whether the key of ``a`` is less than that of ``b``."""
        self._note("less", 0, a, b)
        assert a is not None and b is not None
        return self._keys[a] < self._keys[b]

    def toggle(self, node: int | None, bit: str) -> None:
        """Changes a bit of a node."""
        if bit not in self._code.bits:
            raise AttributeError(f"`{self._code.name}` has no bit {bit!r}")
        field = self._code.bits.index(bit)
        self._note("toggle", field, node)
        self._bits[field][node] = not self._bits[field][node]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        code = self._code
        if name in code.pointers:
            row = self._pointers[field := code.pointers.index(name)]

            def pointer(node: int | None, *to: int | None) -> int | None:
                self._note("store" if to else "load", field, node, *to)
                if to:
                    (row[node],) = to
                    return None
                found: int | None = row[node]
                return found

            return pointer
        if name in code.bits:
            bits = self._bits[at := code.bits.index(name)]

            def bit(node: int | None) -> bool:
                self._note("bit", at, node)
                return bool(bits[node])

            return bit
        known = ", ".join([*code.pointers, *code.bits, "less", "toggle"])
        raise AttributeError(f"the memory of `{code.name}` has no {name!r}; expected one of {known}")


class Code:
    """A data structure as ordinary code; :func:`code` makes one."""

    def __init__(
        self,
        source: Any,
        name: str | None,
        pointers: Sequence[str],
        bits: Sequence[str],
        requires: Mapping[str, Mapping[str, str]],
        sites: bool,
        clauses: Sequence[str] | None,
        reads: int,
        search: bool,
    ) -> None:
        #: The function or class.
        self.source = source
        self.name: str = name or source.__name__.lower()
        self.pointers, self.bits = list(pointers), list(bits)
        self.reads, self.search = reads, search
        #: Told in words how far inference is.
        self.progress: Callable[[str], object] = lambda _: None
        self._native: _native.Registered | None = None
        self.sites, self.clauses = sites, None if clauses is None else list(clauses)
        self._points: dict[_Place, int] = {}
        self._stacks: dict[tuple[tuple[str, str], ...], int] = {}
        #: The functions that run, outermost first, and where each was called.
        self._calls: list[list[tuple[str, str]]] = []
        self._called: dict[_Place, str] = {}
        if isinstance(source, type):
            made = source()
            found = inspect.getmembers(made, inspect.ismethod)
            self._operations = {key: value for key, value in found if not key.startswith("_")}
        else:
            self._operations = {source.__name__: source}
        if not self._operations:
            raise ValueError(f"`{self.name}` has no operations; expected at least one public method")
        #: Name and arguments of each operation, and all arguments by name.
        self.operations = [
            (key, list(inspect.signature(value).parameters)[1:])
            for key, value in self._operations.items()
        ]
        self.requires = [
            (operation, condition, reason)
            for operation, conditions in requires.items()
            for condition, reason in conditions.items()
        ]
        self.record = self._record
        self.__doc__ = source.__doc__
        self.__module__ = source.__module__

    def _calls_at(self, stack: tuple[_Place, ...]) -> int:
        for place in stack[1:]:
            if place not in self._called:
                number = 1 + sum(place[0] == other[0] for other in self._called)
                self._called[place] = f"{place[0]} {number}"
        inner, outer = stack[:-1], stack[1:]
        key = tuple((to[0], self._called[place]) for to, place in zip(inner, outer))[::-1]
        if key not in self._stacks:
            self._stacks[key] = len(self._calls)
            self._calls.append(list(key))
        return self._stacks[key]

    def _record(
        self, operation: int, arguments: Any, pointers: Any, bits: Any, keys: Any, most: int
    ) -> tuple[list[_Access], list[list[tuple[str, str]]], tuple[str, int | None]]:
        """Runs an operation: its accesses, the functions they were in, and how it ended."""
        memory = Watched(self, pointers, bits, keys, most)
        name = self.operations[operation][0]
        ended = self._operations[name](memory, *arguments)
        if isinstance(ended, bool):
            return memory._accesses, self._calls, ("answer", int(ended))
        answers = getattr(self._operations[name], "__annotations__", {}).get("return", "None")
        nothing = ended is None and str(answers) in ("None", "bool", "<class 'bool'>")
        return memory._accesses, self._calls, ("done" if nothing else "node", ended)

    def __repr__(self) -> str:
        return f"Code({self.name!r}, operations={[name for name, _ in self.operations]})"


class Inferred:
    """What :func:`infer` found: a program of micro-steps, with clauses."""

    def __init__(self, code: Code, native: _native.Registered | None) -> None:
        self._native = native
        told = None if native is None else native.inferred()
        assert told is not None
        #: The automaton in text, and as a drawing for Graphviz.
        self.picture, self.dot = told[0]
        self.code = code
        self.states, self.leaves, self.traces, self.views = told[1]
        #: Clauses that prove it, or those that were tried.
        self.clauses: list[str] = told[2]
        #: What the checker has against them, if they do not.
        self.refutation: str | None = told[3]

    def compare(
        self, *, nodes: int = 20, sequences: int = 1000, operations: int = 60, seed: int = 1
    ) -> tuple[int, int]:
        """Tests that the program equals the code, on random and adversarial operations.

        After each operation, all pointers, all bits and the answer are compared. Gives how many
        operations there were, and how many of them differ.
        """
        assert self._native is not None
        return self._native.compare(sequences, nodes, operations, seed)

    def __repr__(self) -> str:
        return (
            f"Inferred({self.code.name!r}, states={self.states}, leaves={self.leaves}, "
            f"traces={self.traces}, views={self.views}, provable={self.refutation is None})"
        )


def code(
    source: Any = None,
    *,
    pointers: Sequence[str],
    bits: Sequence[str] = (),
    name: str | None = None,
    requires: Mapping[str, Mapping[str, str]] | None = None,
    sites: bool = True,
    clauses: Sequence[str] | None = None,
    reads: int = 2,
    search: bool = True,
) -> Any:
    """Makes ordinary code a program: a function, or a class whose public methods are operations.

    >>> @pgn.machines.code(pointers=["next"])
    ... def last(memory, x) -> int:
    ...     while memory.next(x) is not None:
    ...         x = memory.next(x)
    ...     return x

    Their first argument is the memory (:class:`Watched`), the others are nodes. States, registers
    and what each state reads are inferred from accesses. With ``sites=False`` only accesses are
    seen, not where in the code they are made. ``requires`` is as in :class:`Program`, with
    operations by name. Clauses are looked for, next to those that are given, unless ``search`` is
    false. A micro-step reads at most ``reads`` fields.
    """

    def wrap(source: Any) -> Code:
        return Code(source, name, pointers, bits, requires or {}, sites, clauses, reads, search)

    return wrap if source is None else wrap(source)
