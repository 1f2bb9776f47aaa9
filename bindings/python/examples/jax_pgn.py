"""A trained pointer graph network in JAX, as pure functions over a tree of parameters.

    python jax_pgn.py RUN_DIRECTORY

`parameters` has the form that Flax gives a model with submodules `encoder`, `message` and so on
({"encoder": {"kernel": ..., "bias": ...}, ...}, kernels [in, out]); `flax_module` makes that model.
"""

from __future__ import annotations

import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pgn


def parameters(model: pgn.Model) -> dict[str, dict[str, jax.Array]]:
    """A trained model's weights, named and laid out as Flax has them."""
    tree: dict[str, dict[str, jax.Array]] = {}
    for name, value in model.weights.items():
        layer, kind = name.split(".")
        kernel = kind == "weight"
        tree.setdefault(layer, {})["kernel" if kernel else kind] = jnp.asarray(
            value.T if kernel else value
        )
    return tree


def dataset(data: pgn.Dataset) -> dict[str, jax.Array]:
    """A data set as a tree of arrays, sequences first: for `jax.vmap` and for slicing batches."""
    types = {"priorities": jnp.float32, "answers": jnp.float32, "masks": jnp.float32}
    return {n: jnp.asarray(a, types.get(n, jnp.int32)) for n, a in data.arrays().items()}


def dense(layer, x):
    return x @ layer["kernel"] + layer.get("bias", 0.0)


def features(inputs, priorities, pointers, operands):
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


def neighbours(graph, pointers):
    """Equation 7: [n, n], whether node i hears node j."""
    eye = jnp.eye(pointers.shape[0], dtype=bool)
    points = eye[pointers]
    return {
        "complete": jnp.ones_like(eye),
        "self-only": eye,
        "directed": points,
        "symmetric": points | points.T,
    }[graph]


def step(params, network, priorities, carry, operation):
    """One operation on one structure."""
    h, pointers = carry
    operands, given, masks = operation
    e = features(network["inputs"], priorities, pointers, operands)
    # Equation 1; with processor "fresh" nothing is carried from one operation to the next.
    known = [e, h] if network.get("processor", "once") == "once" else [e]
    z = dense(params["encoder"], jnp.concatenate(known, axis=1))
    k = z.shape[1]
    # max over j of ReLU(aᵢ + bⱼ), which is ReLU(aᵢ + max over j of bⱼ): equation 8.
    a = z @ params["message"]["kernel"][:k] + params["message"]["bias"]
    b = z @ params["message"]["kernel"][k:]
    heard = neighbours(network["graph"], pointers)[:, :, None]
    m = jax.nn.relu(a + jnp.where(heard, b[None], -jnp.inf).max(axis=1))
    h = jax.nn.relu(dense(params["update"], jnp.concatenate([z, m], axis=1)))  # equation 2
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


def rollout(params, network, priorities, operands, given=None, masks=None):
    """One sequence, freely; teacher-forced where the true pointers and masks are given."""
    n = priorities.shape[0]
    start = jnp.zeros((n, params["update"]["bias"].shape[0])), jnp.arange(n)
    one = partial(step, params, network, priorities)
    return jax.lax.scan(one, start, (operands, given, masks))[1]


def rollouts(params, network, priorities, operands, given=None, masks=None):
    """Many sequences."""
    one = partial(rollout, params, network)
    return jax.vmap(one)(priorities, operands, given, masks)


def losses(params, network, batch):
    """The paper's loss, teacher-forced: differentiate it and train on."""
    names = ("priorities", "operands", "pointers", "masks")
    out = rollouts(params, network, *(batch[name] for name in names))

    def bce(logits, truth):
        return jnp.mean(jnp.logaddexp(0, logits) - truth * logits)

    total = bce(out["query_logits"], batch["answers"])
    if "mask_logits" in out:
        total += bce(out["mask_logits"], batch["masks"])
    if "pointer_scores" in out:
        log_alpha = jax.nn.log_softmax(out["pointer_scores"])
        hits = jnp.take_along_axis(log_alpha, batch["pointers"][..., None], axis=-1)[..., 0]
        total -= jnp.mean(jnp.where(batch["masks"] == 0, hits, 0))
    return total


def flax_module(network):
    """The same as a Flax (linen) module: `flax_module(network).apply({"params": parameters(model)}, …)`."""
    from flax import linen as nn

    k, m = network["k"], len(network["inputs"])
    width = k if network["attention_input"] == "h" else 2 * k
    shapes = {
        "encoder": (m + k if network.get("processor", "once") == "once" else m, k),
        "message": (2 * k, k),
        "update": (2 * k, k),
        "decoder": (2 * k, 1),
    }
    if network["pointers"] == "masked" or network["losses"]["masks"] > 0:
        shapes["mask"] = (2 * k, 1)
    if network["pointers"] in ("masked", "every") or network["losses"]["pointers"] > 0:
        shapes |= {"query": (width, k), "key": (width, k)}

    class Weights(nn.Module):
        shape: tuple[int, int]
        bias: bool

        @nn.compact
        def __call__(self):
            # As the paper's training here begins: truncated normal, σ = 1/√fan_in; biases zero.
            normal = nn.initializers.variance_scaling(1.0, "fan_in", "truncated_normal")
            weights = {"kernel": self.param("kernel", normal, self.shape)}
            if self.bias:
                zeros = nn.initializers.zeros_init()
                weights["bias"] = self.param("bias", zeros, self.shape[1:])
            return weights

    class PGN(nn.Module):
        @nn.compact
        def __call__(self, priorities, operands, given=None, masks=None):
            params = {
                name: Weights(shape, name not in ("query", "key"), name=name)()
                for name, shape in shapes.items()
            }
            return rollouts(params, network, priorities, operands, given, masks)

    return PGN()


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
