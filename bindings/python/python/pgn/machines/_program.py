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
    to lists of values), ``invariants``, ``requires`` and ``version``. ``requires`` maps operations
    to what their arguments must be like, ``"x != y"``, ``"x.next = nil"`` or ``"x.held = 0"``, and
    why a call that violates it is refused. An operation is ``(first state, registers
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
