"""Programs of machines: what a class declares, and what its steps are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Union


class Node(NamedTuple):
    """A state that ends with the node in a register."""

    register: str


class Refused(NamedTuple):
    """A state that ends with a refusal."""

    reason: str


#: How a halting state ends: with an answer, a node, a refusal, or nothing to say.
Halt = Union[bool, Node, Refused, None]


class Memory(Protocol):
    """What a step is given. Nodes are handles: compare them and pass them back, nothing else."""

    def register(self, name: str) -> int | None:
        """The node in a register, or ``None`` for nil."""
        ...

    def pointer(self, node: int | None, field: str) -> int | None:
        """A pointer field of a node. The program is undefined where the node is nil."""
        ...

    def bit(self, node: int | None, name: str) -> bool:
        """A bit of a node."""
        ...

    def less(self, a: int | None, b: int | None) -> bool:
        """Whether the key of ``a`` is less than that of ``b``."""
        ...

    def control(self, name: str) -> str:
        """A field of the controller."""
        ...

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
    to lists of values), ``clauses``, ``requires`` and ``version``. ``clauses`` are what holds before
    every step, each a line such as ``"acyclic next"``, ``"walk: x != nil"`` or ``"p.left = c ->
    c.up = p"``: ``docs/machines.md`` has the language. ``requires`` maps operations
    to what their arguments must be like, ``"x != y"``, ``"x.next = nil"`` or ``"x.held = 0"``, and
    why a call that violates it is refused. An operation is ``(first state, registers
    of its arguments)``, with a mapping of controls as a third entry where they do not start with
    their first value.

    Traces draw any operation on different nodes, unless the class has a method
    ``sample(memory, rng)``. It returns the next operation and its nodes, ``("put", 3, 5)``; it may
    look at ``memory.nodes``, ``memory.pointer(node, field)`` and ``memory.bit(node, name)``, and
    draws from the :class:`pgn.Rng` and nothing else.
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
