"""What `train_torch.py` and `train_jax.py` have in common: seeds, scores, and ours next to them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pgn

#: Trains at a task, a seed, a number of epochs and a model's name: weights named as in `model.safetensors`.
Train = Callable[[str, int, int, str], Mapping[str, Any]]
#: Makes a model's weights into a function that `pgn.benchmark` calls.
Predict = Callable[[pgn.Model], Callable[[pgn.Questions], dict[str, Any]]]

EVALUATE_EVERY = 10


def main(name: str, train: Train, predict: Predict) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", default="dsu")
    parser.add_argument("--model", default="pgn", help="pgn, pgn-free, pgn-free-2, gnn, …")
    parser.add_argument("--epochs", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 11, 12])
    parser.add_argument("--nodes", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--out", type=Path, default=Path("runs"), help="a run directory per seed")
    given = parser.parse_args()

    def theirs(seed: int) -> pgn.Model:
        out = given.out / f"{given.task}-{given.model}-{name}-{given.epochs}-seed-{seed}"
        if not out.is_dir():
            begun = time.monotonic()
            weights = train(given.task, seed, given.epochs, given.model)
            print(f"{name} seed {seed}: {time.monotonic() - begun:.0f} s", flush=True)
            untrained = pgn.train(given.task, given.model, seed, epochs=0, test_nodes=[])
            untrained.with_weights(weights).save(out)
        return pgn.load(out)

    def ours(seed: int) -> pgn.Model:
        out = given.out / f"{given.task}-{given.model}-{given.epochs}-seed-{seed}"
        begun = time.monotonic()
        model = pgn.train(
            given.task, given.model, seed, given.epochs, out=out, evaluate_every=EVALUATE_EVERY,
            test_nodes=[],
        )
        print(f"pgn.train seed {seed}: {time.monotonic() - begun:.0f} s", flush=True)
        return model

    predictors: dict[str, Any] = {
        name: [predict(theirs(seed)) for seed in given.seeds],
        "pgn.train": [ours(seed) for seed in given.seeds],
    }
    print(pgn.benchmark(predictors, given.task, given.nodes, given.seeds))
