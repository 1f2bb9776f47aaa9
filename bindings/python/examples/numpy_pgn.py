"""The paper's network in NumPy, equation by equation: what to read before the others.

Loads the weights of a trained `pgn` (or a model of its family without an iterated processor) and
rolls it out freely. Slow and plain; the package's own rollouts are the fast ones.

    python numpy_pgn.py RUN_DIRECTORY
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import pgn
from numpy.typing import NDArray
from paper_only import check

Floats = NDArray[np.float32]
Nodes = NDArray[np.int64]
Network = Mapping[str, Any]  # the table `network` of a run's config


def linear(weights: Mapping[str, Floats], name: str, x: Floats) -> Floats:
    """x · Wᵀ + b, as PyTorch's Linear has it."""
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def relu(x: Floats) -> Floats:
    return np.maximum(x, np.float32(0))


def neighbours(network: Network, pointers: Nodes) -> NDArray[np.bool_]:
    """Equation 7: [n, n], whether node i hears node j."""
    n = len(pointers)
    points = np.arange(n) == pointers[:, None]
    graphs: dict[str, NDArray[np.bool_]] = {
        "complete": np.ones((n, n), bool),
        "self-only": np.eye(n, dtype=bool),
        "directed": points,
        "symmetric": points | points.T,
    }
    return graphs[network["graph"]]


def features(network: Network, priorities: Floats, pointers: Nodes, u: int, v: int) -> Floats:
    """e: what a node is told about an operation, [n, m]."""
    node = np.arange(len(priorities))
    known: dict[str, NDArray[Any]] = {
        "priority": priorities,
        "operated": (node == u) | (node == v),
        "first": node == u,
        "second": node == v,
        "self-pointing": node == pointers,
    }
    return np.stack([known[name] for name in network["inputs"]], axis=1).astype(np.float32)


def step(
    weights: Mapping[str, Floats],
    network: Network,
    priorities: Floats,
    h: Floats,
    pointers: Nodes,
    u: int,
    v: int,
) -> tuple[Floats, Nodes, np.float32, Floats | None]:
    """One operation: new latents and pointers, the answer's logit and the masks' logits."""
    e = features(network, priorities, pointers, u, v)
    # Equation 1; with processor "fresh" nothing is carried from one operation to the next.
    known = [e, h] if network.get("processor", "once") == "once" else [e]
    z = linear(weights, "encoder", np.concatenate(known, axis=1))
    n = len(z)
    heard = neighbours(network, pointers)[:, :, None]
    h = z
    for _ in range(network.get("layers", 1)):
        pairs = np.concatenate([np.repeat(h[:, None], n, 1), np.repeat(h[None], n, 0)], axis=2)
        messages = relu(linear(weights, "message", pairs))
        m = np.where(heard, messages, 0).max(axis=1)  # equation 8; messages are at least 0
        h = relu(linear(weights, "update", np.concatenate([h, m], axis=1)))  # equation 2
    zh = np.concatenate([z, h], axis=1)
    logit = linear(weights, "decoder", zh.max(axis=0))[0]  # equation 3: max z, then max h
    masks = linear(weights, "mask", zh)[:, 0] if "mask.weight" in weights else None  # equation 4
    if network["pointers"] in ("masked", "every"):  # equations 5 and 6
        x = h if network["attention_input"] == "h" else zh
        scores = (x @ weights["query.weight"].T) @ (x @ weights["key.weight"].T).T
        moved = np.ones(n, bool)
        if masks is not None and network["pointers"] == "masked":
            moved = masks <= 0
        if network["candidates"] == "visited":
            scores = np.where(moved | np.eye(n, dtype=bool), scores, -np.inf)
        pointers = np.where(moved, scores.argmax(axis=1), pointers)
    return h, pointers, logit, masks


def rollout(model: pgn.Model, data: pgn.Dataset) -> tuple[Floats, Floats | None, NDArray[np.uint32]]:
    """The same as `model.rollout(data)`."""
    weights, network = model.weights, model.config["network"]
    check(network)
    answers: list[np.float32] = []
    masks: list[Floats | None] = []
    pointers: list[Nodes] = []
    for priorities, operands, truth in zip(data.priorities, data.operands, data.pointers):
        h = np.zeros((data.nodes, network["k"]), np.float32)
        now = np.arange(data.nodes)
        for t, (u, v) in enumerate(operands.tolist()):
            h, now, logit, mask = step(weights, network, priorities, h, now, u, v)
            if network["pointers"] == "given":
                now = truth[t].astype(np.int64)
            answers.append(logit)
            masks.append(mask)
            pointers.append(now)
    shape = (data.count, data.ops, data.nodes)
    return (
        np.array(answers, np.float32).reshape(shape[:2]),
        None if masks[0] is None else np.array(masks, np.float32).reshape(shape),
        np.array(pointers, np.uint32).reshape(shape),
    )


if __name__ == "__main__":
    model = pgn.load(sys.argv[1])
    data = pgn.sample(model.task, nodes=20, count=5, split="test", seed=model.seed)
    ours, theirs = rollout(model, data), model.rollout(data)
    print("largest difference of an answer's logit", np.abs(ours[0] - theirs.query_logits).max())
