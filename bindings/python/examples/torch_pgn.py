"""A trained pointer graph network as a PyTorch module, and data sets as a PyTorch `Dataset`.

    python torch_pgn.py RUN_DIRECTORY

The module has the names and shapes of `model.safetensors`, so that the state of one is the state
of the other. It runs a batch of sequences freely, as `model.rollout` does; given the true pointers
and masks it is teacher-forced, and what it returns can be trained on.
"""

# PyTorch's own types are partly unknown to pyright.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import pgn
import torch
from paper_only import check
from torch import Tensor, nn


class Sequences(torch.utils.data.Dataset[dict[str, Tensor]]):
    """A `pgn.Dataset`, one sequence an item, as a dictionary of tensors."""

    def __init__(self, data: pgn.Dataset) -> None:
        wide = {"priorities": torch.float32, "answers": torch.float32, "masks": torch.float32}
        self.tensors = {
            # PyTorch indexes with int64; its unsigned types cannot do much yet.
            name: torch.as_tensor(array.astype("int64" if array.dtype == "uint32" else array.dtype))
            .to(wide.get(name, torch.int64))
            for name, array in data.arrays().items()
        }

    def __len__(self) -> int:
        return len(self.tensors["answers"])

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        return {name: tensor[index] for name, tensor in self.tensors.items()}


class PGN(nn.Module):
    """The paper's network, and its relatives without an iterated processor."""

    def __init__(self, network: Mapping[str, Any]) -> None:
        super().__init__()
        check(network)
        self.network = network
        k, m = network["k"], len(network["inputs"])
        # With processor "fresh", nothing is carried from one operation to the next.
        self.carries = network.get("processor", "once") == "once"
        self.encoder = nn.Linear(m + k if self.carries else m, k)
        self.message = nn.Linear(2 * k, k)
        self.update = nn.Linear(2 * k, k)
        self.decoder = nn.Linear(2 * k, 1)
        if network["pointers"] == "masked" or network["losses"]["masks"] > 0:
            self.mask = nn.Linear(2 * k, 1)
        if network["pointers"] in ("masked", "every") or network["losses"]["pointers"] > 0:
            width = k if network["attention_input"] == "h" else 2 * k
            self.query = nn.Linear(width, k, bias=False)
            self.key = nn.Linear(width, k, bias=False)

    @classmethod
    def of(cls, model: pgn.Model) -> PGN:
        """The module with a trained model's weights."""
        module = cls(model.config["network"])
        module.load_state_dict({n: torch.from_numpy(w) for n, w in model.weights.items()})
        return module

    def features(self, priorities: Tensor, pointers: Tensor, operands: Tensor) -> Tensor:
        """e [batch, n, m]"""
        node = torch.arange(priorities.shape[1], device=priorities.device)
        first, second = node == operands[:, :1], node == operands[:, 1:]
        known = {
            "priority": priorities,
            "operated": first | second,
            "first": first,
            "second": second,
            "self-pointing": node == pointers,
        }
        return torch.stack([known[name].float() for name in self.network["inputs"]], dim=2)

    def heard(self, b: Tensor, pointers: Tensor) -> Tensor:
        """Equation 8: the maximum of b [batch, n, k] over every node's neighbours.

        A gather for the node that i points to and a scatter for those that point to i: no tensor
        of n × n × k, which would make an epoch twice as slow.
        """
        if self.network["graph"] == "complete":
            return b.amax(dim=1, keepdim=True)
        if self.network["graph"] == "self-only":
            return b
        batch, n, k = b.shape
        # The nodes of all structures in one row, so that both are by rows of one matrix.
        first = torch.arange(batch, device=b.device)[:, None] * n
        target = (pointers + first).flatten()
        rows = b.reshape(batch * n, k)
        best = rows[target]
        if self.network["graph"] == "symmetric":
            best = best.scatter_reduce(0, target[:, None].expand_as(rows), rows, "amax")
        return best.view_as(b)

    def forward(
        self,
        priorities: Tensor,  # [batch, n]
        operands: Tensor,  # [batch, ops, 2]
        given: Tensor | None = None,  # [batch, ops, n]: true pointers, to be teacher-forced
        given_masks: Tensor | None = None,  # [batch, ops, n]: and true masks
    ) -> dict[str, Tensor]:
        batch, n = priorities.shape
        h = priorities.new_zeros(batch, n, self.network["k"])
        pointers = torch.arange(n, device=h.device).expand(batch, n)
        eye = torch.eye(n, dtype=torch.bool, device=h.device)
        out: dict[str, list[Tensor]] = {"query_logits": []}
        for t in range(operands.shape[1]):
            e = self.features(priorities, pointers, operands[:, t])
            z = self.encoder(torch.cat([e, h], dim=2) if self.carries else e)  # equation 1
            k, h = z.shape[2], z
            for _ in range(self.network.get("layers", 1)):
                # max over j of ReLU(aᵢ + bⱼ), which is ReLU(aᵢ + max over j of bⱼ).
                a = h @ self.message.weight[:, :k].T + self.message.bias
                b = h @ self.message.weight[:, k:].T
                m = torch.relu(a + self.heard(b, pointers))
                h = torch.relu(self.update(torch.cat([h, m], dim=2)))  # equation 2
            zh = torch.cat([z, h], dim=2)
            out["query_logits"].append(self.decoder(zh.amax(dim=1))[:, 0])  # equation 3
            moved = torch.ones_like(pointers, dtype=torch.bool)
            if hasattr(self, "mask"):
                masks = self.mask(zh)[:, :, 0]  # equation 4
                out.setdefault("mask_logits", []).append(masks)
                moved = masks <= 0 if given_masks is None else given_masks[:, t] == 0  # equation 5
            if hasattr(self, "query"):
                x = h if self.network["attention_input"] == "h" else zh
                scores = self.query(x) @ self.key(x).transpose(1, 2)  # equation 6
                if self.network["candidates"] == "visited":
                    scores = scores.masked_fill(~(moved[:, None] | eye), -torch.inf)
                out.setdefault("pointer_scores", []).append(scores)
                if self.network["pointers"] == "every":
                    moved = torch.ones_like(moved)
                if self.network["pointers"] in ("masked", "every"):
                    pointers = torch.where(moved, scores.argmax(dim=2), pointers)
                    out.setdefault("pointers", []).append(pointers)
            if given is not None:
                pointers = given[:, t]
        return {name: torch.stack(steps, dim=1) for name, steps in out.items()}


def losses(
    out: dict[str, Tensor], batch: dict[str, Tensor], network: Mapping[str, Any]
) -> Tensor:
    """The paper's loss on a run of `PGN`, teacher-forced or free."""
    bce = nn.functional.binary_cross_entropy_with_logits
    total = bce(out["query_logits"], batch["answers"])
    if "mask_logits" in out:
        weight = torch.where(batch["masks"] == 0, network["visited_weight"], 1.0)
        total = total + bce(out["mask_logits"], batch["masks"], weight)
    if "pointer_scores" in out:
        entropy = nn.functional.cross_entropy(
            out["pointer_scores"].flatten(0, 2), batch["pointers"].flatten(), reduction="none"
        )
        visited = torch.where(batch["masks"].flatten() == 0, entropy, 0).mean()
        total = total + network["losses"]["pointers"] * visited
    return total


def forced(batch: Mapping[str, Tensor], network: Mapping[str, Any]) -> dict[str, Tensor]:
    """What `PGN` is given in training: the truth, unless it reads its own pointers and masks."""
    given = {name: batch[name] for name in ("priorities", "operands")}
    if network["forcing"] == "teacher":
        given |= {"given": batch["pointers"], "given_masks": batch["masks"]}
    return given


def main(run: str) -> None:
    model = pgn.load(run)
    module = PGN.of(model)
    data = pgn.sample(model.task, nodes=20, count=32, split="test", seed=model.seed)
    loader = torch.utils.data.DataLoader(Sequences(data), batch_size=16)
    right = total = 0
    with torch.no_grad():
        for batch in loader:
            out = module(batch["priorities"], batch["operands"])
            right += ((out["query_logits"] > 0) == batch["answers"].bool()).sum().item()
            total += batch["answers"].numel()
    print(f"accuracy {right / total:.3f}, of the package {model.evaluate(data)['accuracy']:.3f}")


if __name__ == "__main__":
    main(sys.argv[1])
