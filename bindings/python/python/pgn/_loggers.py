"""Experiment trackers: every epoch's losses and scores, where one is installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pgn._train import Progress

#: Trackers that training knows by name.
LoggerName = Literal["trackio", "wandb", "tensorboard"]


class Tracker:
    """A run of trackio or Weights & Biases, which have the same interface; or none."""

    def __init__(self, name: str | None, title: str, config: Mapping[str, Any], kept: bool) -> None:
        self._module: Any = None
        if name is None:
            return
        if name == "tensorboard":
            if not kept:
                raise ValueError(
                    'logger="tensorboard" needs out: a run directory has an event file for it'
                )
            return
        if name not in ("trackio", "wandb"):
            raise ValueError(
                f"logger is {name!r}; expected 'trackio', 'wandb' or 'tensorboard'"
            )
        try:
            self._module = importlib.import_module(name)
        except ImportError:
            raise ImportError(f"logger={name!r} needs {name}: pip install {name}") from None
        self._module.init(project="pgn", name=title, config=_flat(config))

    def __call__(self, progress: Progress) -> None:
        if self._module is None:
            return
        values = {f"loss/{name}": value for name, value in progress.losses.items()}
        for name, value in (progress.scores or {}).items():
            values[f"validation/{name}"] = value
        if progress.views is not None:
            values["views/right"] = progress.views[0] / max(progress.views[1], 1)
        self._module.log(values, step=progress.epoch)

    def finish(self) -> None:
        """Ends the tracker's run."""
        if self._module is not None:
            self._module.finish()


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat
