"""A GRU and a Transformer over the history of operations, on the benchmark's files.

    pgn benchmark make data
    pip install torch safetensors
    python benchmark_torch.py data predictions --model gru
    pgn benchmark score predictions/*.safetensors

An operation is a token: vectors of u and v, their keys and the kind. The vectors are random and drawn
again for every batch, so that only what happened to a node tells it from others, and larger n are no
different. Supervision: answers. Nothing is imported from this package.
"""

# PyTorch's own types are partly unknown to pyright.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

import argparse
import hashlib
import time
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

WIDTH, IDENTITY, KINDS = 128, 32, 3


class History(nn.Module):
    """Reads all operations so far; the logit of the last one's answer."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.encode = nn.Linear(2 * IDENTITY + 2 + KINDS, WIDTH)
        self.gru = nn.GRU(WIDTH, WIDTH, num_layers=2, batch_first=True) if kind == "gru" else None
        if self.gru is None:
            layer = nn.TransformerEncoderLayer(
                WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True, norm_first=True
            )
            self.transformer = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.decode = nn.Linear(WIDTH, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        rows = self.encode(tokens)
        if self.gru is not None:
            rows, _ = self.gru(rows)
        else:
            mask = nn.Transformer.generate_square_subsequent_mask(rows.shape[1])
            rows = self.transformer(rows, mask=mask, is_causal=True)
        logits: Tensor = self.decode(rows)[..., 0]
        return logits


def tokens(data: dict[str, Tensor], rows: Tensor, generator: torch.Generator) -> Tensor:
    """[sequences, ops, features] of some sequences, with fresh vectors for the nodes."""
    operands, keys = data["operands"][rows].long(), data["priorities"][rows]
    count = len(operands)
    vectors = torch.randn(count, keys.shape[1], IDENTITY, generator=generator)
    sequence = torch.arange(count)[:, None]
    ends = [torch.cat([vectors[sequence, operands[..., i]], keys[sequence, operands[..., i], None]], -1)
            for i in (0, 1)]
    kinds = data.get("kinds", torch.zeros(data["answers"].shape, dtype=torch.uint8))[rows].long()
    return torch.cat([*ends, nn.functional.one_hot(kinds, KINDS).float()], -1)


def main() -> None:
    parser = argparse.ArgumentParser(description="A GRU and a Transformer on the benchmark.")
    parser.add_argument("data", type=Path, help="what `pgn benchmark make` wrote")
    parser.add_argument("out", type=Path, help="where to write predictions")
    parser.add_argument("--model", choices=("gru", "transformer"), default="gru")
    parser.add_argument("--tasks", default="", help="comma-separated [default: all in data]")
    parser.add_argument("--nodes", default="20,50,100,200", help="sizes to predict")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.out.mkdir(parents=True, exist_ok=True)
    folders = [path.parent for path in sorted(arguments.data.glob("*/train.safetensors"))]
    for folder in folders:
        if arguments.tasks and folder.name not in arguments.tasks.split(","):
            continue
        torch.manual_seed(arguments.seed)
        generator = torch.Generator().manual_seed(arguments.seed)
        train = load_file(folder / "train.safetensors")
        model = History(arguments.model)
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for epoch in range(arguments.epochs):
            losses = []
            for rows in torch.randperm(len(train["answers"]), generator=generator).view(-1, 50):
                logits = model(tokens(train, rows, generator))
                truth = train["answers"][rows].float()
                loss = nn.functional.binary_cross_entropy_with_logits(logits, truth)
                optimiser.zero_grad()
                torch.autograd.backward(loss)
                optimiser.step()
                losses.append(loss.item())
            print(f"{folder.name} epoch {epoch + 1}: loss {sum(losses) / len(losses):.4f}", flush=True)
        for nodes in arguments.nodes.split(","):
            path = folder / f"test-{nodes}.safetensors"
            test, started = load_file(path), time.perf_counter()
            with torch.no_grad():
                parts = torch.arange(len(test["answers"])).tensor_split(7)
                logits = torch.cat([model(tokens(test, rows, generator)) for rows in parts])
            about = {
                "task": folder.name,
                "nodes": nodes,
                "split": "test",
                "data": hashlib.sha256(path.read_bytes()).hexdigest(),
                "seed": str(arguments.seed),
                "seconds": f"{time.perf_counter() - started:.3f}",
            }
            file = arguments.out / f"{folder.name}-{nodes}-{arguments.seed}.safetensors"
            save_file({"query_logits": logits}, file, metadata=about)


if __name__ == "__main__":
    main()
