"""How far a run is: a bar in a terminal, a line that changes in a notebook, nothing elsewhere."""

from __future__ import annotations

import importlib
import shutil
import sys
import time
from typing import Any, Protocol

#: Seconds from one update to the next.
_EVERY = 0.1


class Display(Protocol):
    """Something that shows progress."""

    def show(self, text: str, done: float) -> None:
        """Shows ``text``, with ``done`` from 0 to 1."""

    def close(self) -> None:
        """Shows no more."""


class Terminal:
    """A bar on the last line of a terminal."""

    def show(self, text: str, done: float) -> None:
        columns = shutil.get_terminal_size().columns
        width = max(0, min(30, columns - len(text) - 4))
        filled = round(done * width)
        bar = f"[{'#' * filled}{' ' * (width - filled)}] {text}"
        sys.stderr.write("\r\x1b[K" + bar[: max(1, columns - 1)])
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class Notebook:
    """A bar in a cell's output."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str, done: float) -> None:
        # Found where it is used: the package does not depend on it, nor does its type checking.
        shown: Any = importlib.import_module("IPython.display")
        page = shown.HTML(f"<progress value='{done:.4f}' max='1'></progress> <code>{text}</code>")
        if self._handle is None:
            self._handle = shown.display(page, display_id=True)
        else:
            self._handle.update(page)

    def close(self) -> None:
        pass


def in_notebook() -> bool:
    """Whether this is a Jupyter kernel; IPython is not imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def choose(progress: bool | None) -> Display | None:
    """What shows progress here: as told, or where somebody is looking if not told."""
    if progress is False:
        return None
    if in_notebook():
        return Notebook()
    if progress or sys.stderr.isatty():
        return Terminal()
    return None


class Shown:
    """Shows the epochs of one run, not more often than an eye can follow."""

    def __init__(self, title: str, display: Display | None) -> None:
        self.title = title
        self._display = display
        self._first: int | None = None
        self._started = self._last = time.monotonic()

    def __call__(
        self, epoch: int, epochs: int, loss: float | None, f1: float | None, best: float | None
    ) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first, self._started = epoch, now
        if self._display is None or (now - self._last < _EVERY and epoch < epochs):
            return
        self._last = now
        rate = (epoch - self._first) / max(now - self._started, 1e-9)
        parts = [f"{self.title} {epoch}/{epochs}"]
        for name, value in (("loss", loss), ("F1", f1), ("best", best)):
            if value is not None:
                parts.append(f"{name} {value:.3f}")
        if rate > 0:
            parts.append(f"{(epochs - epoch) / rate:.0f} s left")
        self._display.show("  ".join(parts), epoch / max(epochs, 1))

    def close(self) -> None:
        if self._display is not None:
            self._display.close()
