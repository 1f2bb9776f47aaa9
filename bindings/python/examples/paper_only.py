"""The examples compute the paper's network, in several layers too; other settings beyond it are refused, not ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: What the examples read, or what does not change what a trained network computes. Other keys are
#: in a config only where they are not as in the paper.
KNOWN = {"k", "inputs", "graph", "pointers", "attention_input", "candidates", "processor", "losses",
         "forcing", "initialisation", "visited_weight", "layers"}


def check(network: Mapping[str, Any]) -> None:
    """Raises an error for a network that the examples do not compute."""
    for key in network:
        if key not in KNOWN:
            raise ValueError(f"network.{key} is {network[key]!r}, which the examples do not compute")
    if isinstance(network.get("processor"), dict):
        raise ValueError("network.processor is iterated, which the examples do not compute")
