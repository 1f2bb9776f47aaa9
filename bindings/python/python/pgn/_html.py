"""Small pieces of HTML for notebooks: readable in light and dark themes, without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

_CELL = "padding:.15em .8em .15em 0;text-align:left;vertical-align:top"


def card(title: str, facts: Mapping[str, object]) -> str:
    """A title over two columns; facts that are empty are left out."""
    rows = "".join(
        f'<tr><th style="{_CELL};font-weight:normal;opacity:.7">{escape(name)}</th>'
        f'<td style="{_CELL}">{escape(str(value))}</td></tr>'
        for name, value in facts.items()
        if value not in (None, "")
    )
    return f'<div><strong>{escape(title)}</strong><table style="margin:.3em 0">{rows}</table></div>'


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; numbers are aligned on the right."""

    def cell(value: object) -> str:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        side = ";text-align:right" if number else ""
        text = f"{value:.3f}" if isinstance(value, float) else str(value)
        return f'<td style="{_CELL}{side}">{escape(text)}</td>'

    head = "".join(f'<th style="{_CELL}">{escape(name)}</th>' for name in header)
    body = "".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
