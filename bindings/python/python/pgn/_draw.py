"""Pointers as a picture: SVG, with no dependency."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from pgn._arrays import array, whole

#: Pixels from one node to the next, and a node's radius.
_ACROSS, _DOWN, _RADIUS = 34.0, 46.0, 12.0
#: Trees are set side by side up to this width, then in rows.
_WIDTH = 900.0
_RIGHT, _WRONG, _MARK = "currentColor", "#d43f3a", "#f0b429"


class Drawing:
    """A picture of pointers; a notebook shows it, :meth:`save` writes it to a file."""

    def __init__(self, svg: str) -> None:
        #: The picture, as text.
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an ``.svg`` file.

        >>> pgn.draw([1, 1, 1, 2]).save("forest.svg")
        """
        Path(path).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"Drawing({len(self.svg)} characters of SVG)"


def draw(
    pointers: npt.ArrayLike,
    truth: npt.ArrayLike | None = None,
    highlight: Iterable[SupportsIndex] = (),
) -> Drawing:
    """Draws where ``pointers`` [nodes] lead: children below their parents, roots on top.

    A cycle, which learned pointers may have, is drawn as a tree with one curved back edge. With
    ``truth``, wrong pointers are red, and dashed lines lead to where they should point.
    ``highlight`` fills nodes, for example the operands.

    >>> data = pgn.sample("dsu", nodes=12, count=1)
    >>> picture = pgn.draw(data.pointers[0, -1], highlight=data.operands[0, -1])
    >>> picture.svg.startswith("<svg ") and picture.svg.count("<circle") == 12
    True
    """
    aims = _nodes("pointers", pointers, None)
    true = None if truth is None else _nodes("truth", truth, len(aims))
    marked = {whole("highlight", node, len(aims) - 1) for node in highlight}
    places, width, height = _places(aims)
    lines, circles = [], []
    for node, aim in enumerate(aims):
        right = true is None or true[node] == aim
        colour = _RIGHT if right else _WRONG
        lines.append(_edge(node, aim, places, colour))
        if true is not None and not right:
            lines.append(_dashed(node, true[node], places))
        fill, ink = (_MARK, "#222") if node in marked else ("none", "currentColor")
        x, y = places[node]
        circles.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{_RADIUS:g}" fill="{fill}" stroke="{colour}"/>'
            f'<text x="{x:g}" y="{y + 3.5:g}" fill="{ink}">{node}</text>'
        )
    roots = int((aims == np.arange(len(aims))).sum())
    wrong = "" if true is None else f", {int((aims != true).sum())} wrong"
    return Drawing(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" style="max-width:100%" role="img" '
        f'font-family="sans-serif" font-size="10" text-anchor="middle">'
        f"<title>Pointers of {len(aims)} nodes, {roots} roots{wrong}</title>"
        f'<g fill="none" stroke-width="1.3">{"".join(lines)}</g>{"".join(circles)}</svg>'
    )


def _nodes(name: str, value: npt.ArrayLike, length: int | None) -> npt.NDArray[np.int64]:
    given = array(name, value, np.int64, ("nodes" if length is None else length,))
    wrong = np.flatnonzero((given < 0) | (given >= len(given)))
    if wrong.size:
        node = int(wrong[0])
        raise ValueError(
            f"{name}: node {node} points to {given[node]}, but there are {len(given)} nodes"
        )
    return given


def _roots(aims: npt.NDArray[Any]) -> list[int]:
    """Nodes that point to themselves, and the lowest node of each cycle."""
    found, seen = [], np.full(len(aims), -1)
    for start in range(len(aims)):
        node = start
        while seen[node] < 0:
            seen[node] = start
            node = int(aims[node])
        if seen[node] == start:
            # Every cycle is met once, at whatever node the walk ran into itself.
            cycle = [node]
            while aims[cycle[-1]] != node:
                cycle.append(int(aims[cycle[-1]]))
            found.append(min(cycle))
    return sorted(found)


def _places(aims: npt.NDArray[Any]) -> tuple[list[tuple[float, float]], float, float]:
    """x and y of every node, and the size of the picture."""
    roots = _roots(aims)
    children: list[list[int]] = [[] for _ in aims]
    top_nodes = set(roots)
    for node, aim in enumerate(aims):
        if node not in top_nodes:
            children[aim].append(node)
    places: list[tuple[float, float]] = [(0.0, 0.0)] * len(aims)
    left, top, height, width = 0.0, 0.0, 0.0, 0.0
    # The largest trees first; single nodes end up together.
    trees = sorted(((_tree(children, root), root) for root in roots), key=lambda t: -len(t[0]))
    for tree, root in trees:
        across = (max(x for x, _ in tree.values()) + 1) * _ACROSS
        down = (max(y for _, y in tree.values()) + 1) * _DOWN
        if left and left + across > _WIDTH:
            left, top, height = 0.0, top + height, 0.0
        for node, (x, y) in tree.items():
            places[node] = (left + (x + 0.5) * _ACROSS, top + (y + 0.5) * _DOWN)
        left += across
        width, height = max(width, left), max(height, down)
    return places, max(width, _ACROSS), max(top + height, _DOWN)


def _tree(children: list[list[int]], root: int) -> dict[int, tuple[float, float]]:
    """Places in one tree: leaves from left to right, parents above the middle of their children."""
    order, stack = [], [(root, 0)]
    while stack:
        node, level = stack.pop()
        order.append((node, level))
        stack.extend((child, level + 1) for child in reversed(children[node]))
    across: dict[int, float] = {}
    leaves = 0
    for node, _ in order:
        if not children[node]:
            across[node] = leaves
            leaves += 1
    for node, _ in reversed(order):
        below = children[node]
        if below:
            across[node] = (across[below[0]] + across[below[-1]]) / 2
    return {node: (across[node], level) for node, level in order}


def _edge(node: int, aim: int, places: list[tuple[float, float]], colour: str) -> str:
    (x, y), (to_x, to_y) = places[node], places[aim]
    if node == aim:
        return ""
    if to_y < y:
        # From the top of the child to the bottom of its parent.
        return (
            f'<path d="M{x:g} {y - _RADIUS:g}L{to_x:g} {to_y + _RADIUS:g}" stroke="{colour}"/>'
        )
    # The back edge of a cycle: a curve on the right.
    bend = max(x, to_x) + _ACROSS * 0.7
    return (
        f'<path d="M{x + _RADIUS:g} {y:g}C{bend:g} {y:g} {bend:g} {to_y:g} '
        f'{to_x + _RADIUS:g} {to_y:g}" stroke="{colour}"/>'
    )


def _dashed(node: int, aim: int, places: list[tuple[float, float]]) -> str:
    (x, y), (to_x, to_y) = places[node], places[aim]
    if node == aim:
        # It should be a root: a dashed ring.
        return (
            f'<ellipse cx="{x:g}" cy="{y:g}" rx="{_RADIUS + 3:g}" ry="{_RADIUS + 3:g}" '
            'stroke="currentColor" stroke-dasharray="3 3" opacity=".5"/>'
        )
    # From rim to rim, so that no number is crossed out.
    share = _RADIUS / math.hypot(to_x - x, to_y - y)
    right, down = share * (to_x - x), share * (to_y - y)
    return (
        f'<path d="M{x + right:g} {y + down:g}L{to_x - right:g} {to_y - down:g}" '
        'stroke="currentColor" stroke-dasharray="3 3" opacity=".5"/>'
    )
