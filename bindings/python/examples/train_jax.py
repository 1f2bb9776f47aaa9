"""A full training loop in JAX on our data, scored with `pgn.score`.

    python train_jax.py --task dsu --epochs 300 --seeds 0 1 2

The protocol is that of `train_torch.py`. Adam is written out: it is five lines, and the example
needs nothing but JAX.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pgn
from jax_pgn import dataset, losses, parameters, rollouts


def adam(gradient: Any, state: Any, params: Any, rate: float = 0.005) -> tuple[Any, Any]:
    """One step of Adam (β 0.9 and 0.999, ε 1e-8)."""
    steps, first, second = state
    steps += 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, second, gradient)

    def moved(p: Any, m: Any, v: Any) -> Any:
        return p - rate * (m / (1 - 0.9**steps)) / (jnp.sqrt(v / (1 - 0.999**steps)) + 1e-8)

    return jax.tree.map(moved, params, first, second), (steps, first, second)


def train(task: str, seed: int, epochs: int, evaluate_every: int = 5) -> tuple[Any, Any]:
    """The best parameters on validation, and a function that rolls them out."""
    # The first weights are ours: those that `pgn.train` begins with at this seed.
    start = pgn.train(task, "pgn", seed, epochs=0, test_nodes=[])
    network, params = start.config["network"], parameters(start)
    batch = dataset(pgn.sample(task, nodes=20, count=70, seed=seed))
    validation = pgn.sample(task, nodes=20, count=35, seed=seed, split="validation")
    roll_out = jax.jit(partial(rollouts, network=network))

    @jax.jit
    def step(params: Any, state: Any) -> tuple[Any, Any]:
        gradient = jax.grad(losses)(params, network, batch)
        return adam(gradient, state, params)

    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (0, zeros, zeros)
    best, kept = -1.0, params
    arrays = dataset(validation)
    for epoch in range(1, epochs + 1):
        params, state = step(params, state)
        if epoch % evaluate_every == 0 or epoch == epochs:
            out = roll_out(params, priorities=arrays["priorities"], operands=arrays["operands"])
            f1 = pgn.score(validation, query_logits=out["query_logits"], counting=False).f1
            if f1 > best:
                best, kept = f1, params
    return kept, roll_out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="dsu")
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--nodes", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--compare", action="store_true", help="train with pgn.train too")
    given = parser.parse_args()

    def predictor(seed: int) -> Any:
        params, roll_out = train(given.task, seed, given.epochs)

        def predict(questions: pgn.Questions) -> dict[str, Any]:
            operands = jnp.asarray(questions.operands.astype("int32"))
            out = roll_out(params, priorities=questions.priorities, operands=operands)
            return {name: out[name] for name in ("query_logits", "pointers")}

        return predict

    predictors: dict[str, Any] = {"jax": [predictor(seed) for seed in given.seeds]}
    if given.compare:
        predictors["pgn"] = [
            pgn.train(given.task, seed=seed, epochs=given.epochs, evaluate_every=5, test_nodes=[])
            for seed in given.seeds
        ]
    print(pgn.benchmark(predictors, given.task, given.nodes, given.seeds))


if __name__ == "__main__":
    main()
