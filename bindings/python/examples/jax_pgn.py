"""A trained pointer graph network in JAX, as pure functions over a tree of parameters.

    python jax_pgn.py RUN_DIRECTORY

`parameters` has the form that Flax gives a model with submodules `encoder`, `message` and so on
({"encoder": {"kernel": ..., "bias": ...}, ...}, kernels [in, out]); `flax_pgn.py` is that model.
"""

# JAX's own types are partly unknown to pyright.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pgn
from jax import Array
from paper_only import check

Params = dict[str, dict[str, Array]]  # layer → "kernel" or "bias" → array
Arrays = dict[str, Array]
Network = Mapping[str, Any]  # the table `network` of a run's config


def parameters(model: pgn.Model) -> Params:
    """A trained model's weights, named and laid out as Flax has them."""
    check(model.config["network"])
    tree: Params = {}
    for name, value in model.weights.items():
        layer, kind = name.split(".")
        kernel = kind == "weight"
        tree.setdefault(layer, {})["kernel" if kernel else kind] = jnp.asarray(
            value.T if kernel else value
        )
    return tree


def dataset(data: pgn.Dataset) -> Arrays:
    """A data set as a tree of arrays, sequences first: for `jax.vmap` and for slicing batches."""
    types = {"priorities": jnp.float32, "answers": jnp.float32, "masks": jnp.float32}
    return {n: jnp.asarray(a, types.get(n, jnp.int32)) for n, a in data.arrays().items()}


def dense(layer: Arrays, x: Array) -> Array:
    return x @ layer["kernel"] + layer.get("bias", 0.0)


def features(inputs: list[str], priorities: Array, pointers: Array, operands: Array) -> Array:
    """e [n, m]"""
    node = jnp.arange(priorities.shape[0])
    first, second = node == operands[0], node == operands[1]
    known = {
        "priority": priorities,
        "operated": first | second,
        "first": first,
        "second": second,
        "self-pointing": node == pointers,
    }
    return jnp.stack([known[name].astype(jnp.float32) for name in inputs], axis=1)


@jax.custom_vjp
def symmetric_max(b: Array, pointers: Array) -> Array:
    """The maximum of b [n, k] over the node that i points to and those that point to i."""
    return b[pointers].at[pointers].max(b)


def _symmetric_max_forward(b: Array, pointers: Array) -> tuple[Array, tuple[Array, Array, Array]]:
    best = symmetric_max(b, pointers)
    return best, (b, best, pointers)


def _symmetric_max_backward(
    saved: tuple[Array, Array, Array], slope: Array
) -> tuple[Array, None]:
    b, best, pointers = saved
    up = jnp.where(b[pointers] == best, slope, 0)  # along i → π(i)
    # Along π(i) → i; a node that points to itself is its own neighbour once.
    others = (pointers != jnp.arange(len(pointers)))[:, None]
    down = jnp.where((best[pointers] == b) & others, slope[pointers], 0)
    return down.at[pointers].add(up), None


# JAX's own derivative of a scattered maximum is several times as slow.
symmetric_max.defvjp(_symmetric_max_forward, _symmetric_max_backward)


def heard(graph: str, b: Array, pointers: Array) -> Array:
    """Equation 8: the maximum of b [n, k] over every node's neighbours."""
    if graph == "complete":
        return b.max(axis=0)
    if graph == "self-only":
        return b
    return b[pointers] if graph == "directed" else symmetric_max(b, pointers)


def step(
    params: Params,
    network: Network,
    priorities: Array,
    carry: tuple[Array, Array],
    operation: tuple[Array, Array | None, Array | None],
) -> tuple[tuple[Array, Array], Arrays]:
    """One operation on one structure."""
    h, pointers = carry
    operands, given, masks = operation
    e = features(network["inputs"], priorities, pointers, operands)
    # Equation 1; with processor "fresh" nothing is carried from one operation to the next.
    known = [e, h] if network.get("processor", "once") == "once" else [e]
    z = dense(params["encoder"], jnp.concatenate(known, axis=1))
    k, h = z.shape[1], z
    for _ in range(network.get("layers", 1)):
        # max over j of ReLU(aᵢ + bⱼ), which is ReLU(aᵢ + max over j of bⱼ): equation 8.
        a = h @ params["message"]["kernel"][:k] + params["message"]["bias"]
        b = h @ params["message"]["kernel"][k:]
        m = jax.nn.relu(a + heard(network["graph"], b, pointers))
        h = jax.nn.relu(dense(params["update"], jnp.concatenate([h, m], axis=1)))  # equation 2
    zh = jnp.concatenate([z, h], axis=1)
    out = {"query_logits": dense(params["decoder"], zh.max(axis=0))[0]}  # equation 3
    moved = jnp.ones(pointers.shape, bool)
    if "mask" in params:
        out["mask_logits"] = dense(params["mask"], zh)[:, 0]  # equation 4
        moved = (out["mask_logits"] <= 0) if masks is None else masks == 0  # equation 5
    if "query" in params:
        x = h if network["attention_input"] == "h" else zh
        scores = dense(params["query"], x) @ dense(params["key"], x).T  # equation 6
        if network["candidates"] == "visited":
            scores = jnp.where(moved | jnp.eye(len(moved), dtype=bool), scores, -jnp.inf)
        out["pointer_scores"] = scores
        if network["pointers"] == "every":
            moved = jnp.ones_like(moved)
        if network["pointers"] in ("masked", "every"):
            pointers = jnp.where(moved, scores.argmax(axis=1), pointers)
            out["pointers"] = pointers
    return (h, pointers if given is None else given), out


def rollout(
    params: Params,
    network: Network,
    priorities: Array,
    operands: Array,
    given: Array | None = None,
    masks: Array | None = None,
) -> Arrays:
    """One sequence, freely; teacher-forced where the true pointers and masks are given."""
    n = priorities.shape[0]
    start = jnp.zeros((n, params["update"]["bias"].shape[0])), jnp.arange(n)
    one = partial(step, params, network, priorities)
    return jax.lax.scan(one, start, (operands, given, masks))[1]


def rollouts(
    params: Params,
    network: Network,
    priorities: Array,
    operands: Array,
    given: Array | None = None,
    masks: Array | None = None,
) -> Arrays:
    """Many sequences."""
    one = partial(rollout, params, network)
    return jax.vmap(one)(priorities, operands, given, masks)


def losses(params: Params, network: Network, batch: Arrays) -> Array:
    """The paper's loss, teacher-forced or free: differentiate it and train on."""
    truth = ("pointers", "masks") if network["forcing"] == "teacher" else ()
    names = ("priorities", "operands", *truth)
    out = rollouts(params, network, *(batch[name] for name in names))

    def bce(logits: Array, truth: Array) -> Array:
        return jnp.logaddexp(0, logits) - truth * logits

    total = jnp.mean(bce(out["query_logits"], batch["answers"]))
    if "mask_logits" in out:
        weight = jnp.where(batch["masks"] == 0, network["visited_weight"], 1)
        total += jnp.mean(weight * bce(out["mask_logits"], batch["masks"]))
    if "pointer_scores" in out:
        log_alpha = jax.nn.log_softmax(out["pointer_scores"])
        hits = jnp.take_along_axis(log_alpha, batch["pointers"][..., None], axis=-1)[..., 0]
        total -= network["losses"]["pointers"] * jnp.mean(jnp.where(batch["masks"] == 0, hits, 0))
    return total


def main(run: str) -> None:
    model = pgn.load(run)
    data = pgn.sample(model.task, nodes=20, count=32, split="test", seed=model.seed)
    run_all = jax.jit(partial(rollouts, network=model.config["network"]))
    arrays = dataset(data)
    out = run_all(parameters(model), priorities=arrays["priorities"], operands=arrays["operands"])
    difference = np.abs(out["query_logits"] - model.rollout(data).query_logits).max()
    print("largest difference of an answer's logit", difference)


if __name__ == "__main__":
    main(sys.argv[1])
