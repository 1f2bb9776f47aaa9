"""A full training loop in JAX on our data, scored with `pgn.score`, next to `pgn.train`.

    python train_jax.py --task dsu --epochs 1000 --seeds 10 11 12

The protocol is that of `train_torch.py`; the initial weights are those of `pgn.train`. All epochs
between two evaluations are one compiled call. Adam is written out: it is a few lines, and the
example needs nothing but JAX.
"""

# JAX's own types are partly unknown to pyright.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pgn
from jax import Array
from jax_pgn import Arrays, Params, dataset, losses, parameters, rollouts
from side_by_side import EVALUATE_EVERY, main

State = tuple[Array, Params, Params]  # steps, first and second moments


def adam(
    gradient: Params, state: State, params: Params, rate: float, clip: float
) -> tuple[Params, State]:
    """One step of Adam (β 0.9 and 0.999, ε 1e-8), with the gradient clipped to a norm."""
    steps, first, second = state
    steps = steps + 1
    norm = jnp.sqrt(sum(jnp.sum(slope**2) for slope in jax.tree.leaves(gradient)))
    gradient = jax.tree.map(lambda g: g * jnp.minimum(1, clip / norm), gradient)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, second, gradient)

    def moved(p: Array, m: Array, v: Array) -> Array:
        return p - rate * (m / (1 - 0.9**steps)) / (jnp.sqrt(v / (1 - 0.999**steps)) + 1e-8)

    return jax.tree.map(moved, params, first, second), (steps, first, second)


@cache
def compiled(task: str, name: str) -> tuple[Any, Any]:
    """Some epochs of training, and rollouts; compiled once for all seeds."""
    settings = pgn.config(task, name)
    network, rate, clip = settings["network"], settings["learning_rate"], settings["clip"]

    @partial(jax.jit, static_argnames="count")
    def some_epochs(
        params: Params, state: State, batch: Arrays, count: int
    ) -> tuple[Params, State]:
        def epoch(_: int, now: tuple[Params, State]) -> tuple[Params, State]:
            params, state = now
            return adam(jax.grad(losses)(params, network, batch), state, params, rate, clip)

        done: tuple[Params, State] = jax.lax.fori_loop(0, count, epoch, (params, state))
        return done

    return some_epochs, jax.jit(partial(rollouts, network=network))


def train(task: str, seed: int, epochs: int, name: str = "pgn") -> dict[str, Any]:
    """The best weights on validation."""
    some_epochs, roll_out = compiled(task, name)
    start = pgn.train(task, name, seed, epochs=0, test_nodes=[])
    params = parameters(start)
    batch = dataset(pgn.sample(task, nodes=20, count=70, seed=seed))
    validation = pgn.sample(task, nodes=20, count=35, seed=seed, split="validation")
    questions = dataset(validation)
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (jnp.zeros(()), zeros, zeros)
    best, kept = -1.0, params
    for done in range(0, epochs, EVALUATE_EVERY):
        params, state = some_epochs(params, state, batch, min(EVALUATE_EVERY, epochs - done))
        out = roll_out(params, priorities=questions["priorities"], operands=questions["operands"])
        f1 = pgn.score(validation, answers=out["query_logits"] > 0, counting=False).f1
        if f1 > best:
            best, kept = f1, params
    return {
        f"{layer}.{'weight' if kind == 'kernel' else kind}": np.asarray(value).T
        for layer, kinds in kept.items()
        for kind, value in kinds.items()
    }


def predictor(model: pgn.Model) -> Callable[[pgn.Questions], dict[str, Any]]:
    params, (_, roll_out) = parameters(model), compiled(model.task, model.config["model"])

    def predict(questions: pgn.Questions) -> dict[str, Any]:
        operands = jnp.asarray(questions.operands.astype("int32"))
        out = roll_out(params, priorities=jnp.asarray(questions.priorities), operands=operands)
        return {"answers": out["query_logits"] > 0, "pointers": np.asarray(out["pointers"])}

    return predict


if __name__ == "__main__":
    main("jax", train, predictor)
