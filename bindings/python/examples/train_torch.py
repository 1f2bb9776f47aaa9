"""A full training loop in PyTorch on our data, scored with `pgn.score`.

    python train_torch.py --task dsu --epochs 300 --seeds 0 1 2

The protocol is the paper's, and so `pgn.train`'s: one Adam step an epoch on 70 sequences, the
epoch with the best validation F1 is tested. Printed are its scores and, with `--compare`, those of
`pgn.train` at the same seeds and epochs.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pgn
import torch
from torch import Tensor, nn
from torch_pgn import PGN, losses

NAMES = ("priorities", "operands", "pointers", "masks")


def batch_of(data: pgn.Dataset) -> dict[str, Tensor]:
    """All sequences of a set as one batch."""
    loader = torch.utils.data.DataLoader(data.sequences, batch_size=len(data))
    [batch] = loader
    return {
        name: tensor.float() if name in ("answers", "masks") else tensor
        for name, tensor in batch.items()
    }


def initialise(module: nn.Module) -> None:
    """Truncated normal, σ = 1/√fan_in, cut at 2σ; biases zero."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            sigma = layer.in_features**-0.5
            nn.init.trunc_normal_(layer.weight, std=sigma, a=-2 * sigma, b=2 * sigma)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def predict(module: PGN, data: pgn.Dataset) -> dict[str, Any]:
    """What `pgn.score` is given: a free rollout, which reads priorities and operands alone."""
    batch = batch_of(data)
    with torch.no_grad():
        out = module(batch["priorities"], batch["operands"])
    return {name: out[name].numpy() for name in ("query_logits", "pointers") if name in out}


def train(task: str, seed: int, epochs: int, evaluate_every: int = 5) -> PGN:
    """The best module on validation."""
    torch.manual_seed(seed)
    network = pgn.config(task, "pgn")["network"]
    module = PGN(network)
    initialise(module)
    batch = batch_of(pgn.sample(task, nodes=20, count=70, seed=seed))
    validation = pgn.sample(task, nodes=20, count=35, seed=seed, split="validation")
    adam = torch.optim.Adam(module.parameters(), lr=0.005)
    best, kept = -1.0, module.state_dict()
    for epoch in range(1, epochs + 1):
        adam.zero_grad()
        loss = losses(module(*(batch[name] for name in NAMES)), batch)
        loss.backward()  # type: ignore[no-untyped-call,unused-ignore]
        adam.step()
        if epoch % evaluate_every == 0 or epoch == epochs:
            f1 = pgn.score(validation, **predict(module, validation), counting=False).f1
            if f1 > best:
                best = f1
                kept = {name: weight.clone() for name, weight in module.state_dict().items()}
    module.load_state_dict(kept)
    return module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="dsu")
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--nodes", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--compare", action="store_true", help="train with pgn.train too")
    given = parser.parse_args()
    modules = [train(given.task, seed, given.epochs) for seed in given.seeds]
    predictors: dict[str, Any] = {
        "torch": [
            lambda questions, module=module: predict(module, _unanswered(questions))
            for module in modules
        ]
    }
    if given.compare:
        predictors["pgn"] = [
            pgn.train(given.task, seed=seed, epochs=given.epochs, evaluate_every=5, test_nodes=[])
            for seed in given.seeds
        ]
    print(pgn.benchmark(predictors, given.task, given.nodes, given.seeds))


def _unanswered(questions: pgn.Questions) -> pgn.Dataset:
    """Questions in the form of a data set, with nothing where the truth would be."""
    count, ops, nodes = questions.shape
    return pgn.Dataset(
        questions.priorities,
        questions.operands,
        np.zeros((count, ops), np.uint8),
        np.zeros((count, ops, nodes), np.uint8),
        np.zeros((count, ops, nodes), np.uint32),
        task=questions.task,
        seed=questions.seed,
    )


if __name__ == "__main__":
    main()
