"""A full training loop in PyTorch on our data, scored with `pgn.score`, next to `pgn.train`.

    python train_torch.py --task dsu --epochs 1000 --seeds 10 11 12
    python train_torch.py --task lct --model pgn-free-2

The protocol is that of `pgn.train`: one Adam step per epoch on 70 sequences, with clipped
gradients; the epoch with the best validation F1 is tested. PyTorch draws the initial weights, from the same
distribution. An epoch takes about 0.13 s of one core.
"""

# PyTorch's own types are partly unknown to pyright.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pgn
import torch
from side_by_side import EVALUATE_EVERY, main
from torch import Tensor, nn
from torch_pgn import PGN, Sequences, forced, losses


def batch_of(data: pgn.Dataset) -> dict[str, Tensor]:
    """All sequences of a set as one batch."""
    [batch] = torch.utils.data.DataLoader(Sequences(data), batch_size=len(data))
    return dict(batch)


def initialise(module: nn.Module) -> None:
    """Truncated normal, σ = 1/√fan_in, cut at 2σ; biases zero."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            sigma = layer.in_features**-0.5
            nn.init.trunc_normal_(layer.weight, std=sigma, a=-2 * sigma, b=2 * sigma)
            if "bias" in dict(layer.named_parameters()):
                nn.init.zeros_(layer.bias)


def roll_out(module: PGN, priorities: Any, operands: Any) -> dict[str, Any]:
    """What `pgn.score` is given: a free rollout, which sees priorities and operands only."""
    with torch.no_grad():
        out = module(torch.as_tensor(priorities), torch.as_tensor(operands.astype("int64")))
    return {"answers": (out["query_logits"] > 0).numpy(), "pointers": out["pointers"].numpy()}


def train(
    task: str, seed: int, epochs: int, name: str = "pgn", start: pgn.Model | None = None
) -> dict[str, Tensor]:
    """The best weights on validation; `start` has the first ones, if given."""
    torch.manual_seed(seed)
    settings = pgn.config(task, name)
    if start is None:
        module = PGN(settings["network"])
        initialise(module)
    else:
        module = PGN.of(start)
    batch = batch_of(pgn.sample(task, nodes=20, count=70, seed=seed))
    validation = pgn.sample(task, nodes=20, count=35, seed=seed, split="validation")
    adam = torch.optim.Adam(module.parameters(), lr=settings["learning_rate"])
    best, kept = -1.0, module.state_dict()
    for epoch in range(1, epochs + 1):
        adam.zero_grad()
        loss = losses(module(**forced(batch, module.network)), batch, module.network)
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(module.parameters(), settings["clip"])
        adam.step()
        if epoch % EVALUATE_EVERY == 0 or epoch == epochs:
            predicted = roll_out(module, validation.priorities, validation.operands)
            f1 = pgn.score(validation, **predicted, counting=False).f1
            if f1 > best:
                best = f1
                kept = {name: weight.clone() for name, weight in module.state_dict().items()}
    return kept


def predictor(model: pgn.Model) -> Callable[[pgn.Questions], dict[str, Any]]:
    module = PGN.of(model)
    return lambda questions: roll_out(module, questions.priorities, questions.operands)


if __name__ == "__main__":
    main("torch", train, predictor)
