"""The iterated processor in PyTorch, float64, gradients by autograd, and the fixtures made of it.

    python bench/peers/iterated_reference.py            # crates/engine/tests/iterated_fixtures/
    python bench/peers/iterated_reference.py --check    # compare with what is there

Dense and plain: every node and every pair is computed at every step, and what takes no part is
masked out. It shares no code with the Rust engine, structures included. Shape letters: B
transitions, n nodes, k latent size. Seeds are searched as in `write_fixtures.py`, for a batch on
which no kink is near.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import save_file

from torch_reference import Kinks, max_first
from write_fixtures import FOLDER, MARGIN, compare

COUNT, NODES, K, STEPS, MORE_STEPS = 12, 8, 8, 5, 2
CAP = 1.0  # low enough that it is reached
WEIGHTS = {"query": 1.0, "masks": 4.0, "pointers": 16.0}
INPUTS = 3  # is u, is v, points to itself


def path(pointers: list[int], node: int) -> list[int]:
    nodes = [node]
    while pointers[node] != node:
        node = pointers[node]
        nodes.append(node)
    return nodes


def toggle(before: list[int], u: int, v: int, _):
    """The rooted forest: evert u, then cut v or link u to v."""
    after, of_u, of_v = list(before), path(before, u), path(before, v)
    for child, node in zip(of_u, of_u[1:]):
        after[node] = child
    after[u] = u
    connected = of_u[-1] == of_v[-1]
    if connected:
        after[v] = v
    else:
        after[u] = v
    return int(connected), set(of_u + of_v), after


def union(before: list[int], u: int, v: int, priorities=None):
    """Path compression, then u's root under v's, or the one of lower priority under the other."""
    after, of_u, of_v = list(before), path(before, u), path(before, v)
    for nodes in (of_u, of_v):
        for node in nodes:
            after[node] = nodes[-1]
    apart = of_u[-1] != of_v[-1]
    low, high = of_u[-1], of_v[-1]
    if priorities is not None and priorities[low] > priorities[high]:
        low, high = high, low
    after[low] = high
    return int(apart), set(of_u + of_v), after


TASKS = {"forest": toggle, "dsu-ordered": union, "dsu": union}
#: Tasks in which attention compares priorities.
COMPARED = {"dsu"}


def sample(task: str, rng: np.random.Generator) -> dict[str, np.ndarray]:
    rows = []
    for _ in range(COUNT):
        order, before = rng.permutation(NODES), list(range(NODES))
        for place in range(1, NODES):
            if rng.random() < 0.85:
                above = place - 1 if rng.random() < 0.6 else rng.integers(place)
                before[order[place]] = int(order[above])
        u, v = (int(x) for x in rng.choice(NODES, 2, replace=False))
        priorities = rng.random(NODES, np.float32) if task in COMPARED else np.zeros(NODES, np.float32)
        answer, visited, after = TASKS[task](before, u, v, priorities if task in COMPARED else None)
        mask = [int(i not in visited) for i in range(NODES)]
        rows.append((priorities, before, (u, v), answer, mask, after))
    priorities, before, operands, answers, masks, after = (np.array(x) for x in zip(*rows))
    return {
        "priorities": priorities,
        "before": before.astype(np.uint32),
        "operands": operands.astype(np.uint32),
        "answers": answers.astype(np.uint8),
        "masks": masks.astype(np.uint8),
        "after": after.astype(np.uint32),
    }


def shapes(k: int, relations: int) -> dict[str, tuple[int, ...]]:
    out = {
        "encoder.weight": (k, INPUTS),
        "encoder.bias": (k,),
        "update.weight": (k, 5 * k),  # z, x, parent, children, global
        "update.bias": (k,),
        "decoder.weight": (1, 2 * k),
        "decoder.bias": (1,),
        "mask.weight": (1, 2 * k),
        "mask.bias": (1,),
        "query.weight": (k, 3 * k),  # z, x, max x
        "key.weight": (k, 2 * k),  # z, x
        "relation.weight": (relations, 3 * k),  # self, parent, child, u, v, higher priority
        "relation.bias": (relations,),
    }
    for name in ("parent", "children", "global"):
        out |= {f"{name}.weight": (k, k), f"{name}.bias": (k,)}
    return out


def linear(w, name, *inputs):
    return F.linear(torch.cat(inputs, dim=-1), w[f"{name}.weight"], w.get(f"{name}.bias"))


def losses(w, data: dict[str, np.ndarray], kinks: Kinks | None = None) -> dict[str, torch.Tensor]:
    """All losses, means over the batch; transition i takes STEPS + i mod (MORE_STEPS + 1) steps."""
    before, after = (torch.from_numpy(data[name].astype(np.int64)) for name in ("before", "after"))
    u, v = torch.from_numpy(data["operands"].astype(np.int64)).unbind(1)
    B, n = before.shape
    dtype = w["encoder.bias"].dtype
    one_hot = lambda index: F.one_hot(index, n).bool()
    is_u, is_v, eye = one_hot(u), one_hot(v), torch.eye(n, dtype=torch.bool)
    points = one_hot(before)  # [B, i, j]: i points to j
    child = points.transpose(1, 2) & ~eye  # [B, i, j]: j points to i
    e = torch.stack([is_u, is_v, before == torch.arange(n)], -1).to(dtype)
    z = linear(w, "encoder", e)
    x = torch.zeros_like(z)
    sends = torch.zeros(B, n, dtype=torch.bool)

    def note(values, where):
        if kinks is not None:
            kinks.note(values.detach()[where.unsqueeze(-1).expand_as(values)].abs())

    def message(name):
        raw = linear(w, name, x)
        note(raw, sends)
        return torch.relu(raw) * sends.unsqueeze(-1)

    def loudest(messages, heard):  # heard [B, i, j]
        kept = messages.unsqueeze(1).expand(B, n, n, -1) * heard.unsqueeze(-1)
        return max_first(kept, 2, kinks)

    steps = STEPS + torch.arange(B) % (MORE_STEPS + 1)
    for step in range(STEPS + MORE_STEPS):
        here = sends | (is_u | is_v) | (points & sends.unsqueeze(-1)).any(1)
        parent = message("parent").gather(1, before.unsqueeze(-1).expand_as(x))
        children = loudest(message("children"), child)
        everyone = loudest(message("global"), torch.ones_like(child))
        raw = linear(w, "update", z, x, parent, children, everyone)
        note(raw, here)
        note(raw - CAP, here)
        new = torch.relu(raw)
        new = torch.where(new < CAP, new, torch.full_like(new, CAP))
        goes_on = (step < steps).view(B, 1, 1)
        x = torch.where(here.unsqueeze(-1) & goes_on, new, x)
        sends = torch.where(goes_on[..., 0], here, sends)

    def top(values):
        return max_first(values.masked_fill(~sends.unsqueeze(-1), -torch.inf), 1, kinks)

    top_x = top(x)
    answers = torch.from_numpy(data["answers"]).to(dtype)
    logits = linear(w, "decoder", top(z), top_x)[:, 0]
    out = {"query": F.binary_cross_entropy_with_logits(logits, answers)}
    masks = torch.from_numpy(data["masks"]).to(dtype)
    mask_logits = linear(w, "mask", z, x)[..., 0]
    each = F.binary_cross_entropy_with_logits(mask_logits, masks, reduction="none")
    out["masks"] = (each * sends).sum() / (B * n)
    asking = torch.cat([z, x, top_x.unsqueeze(1).expand_as(x)], -1)
    scores = linear(w, "query", asking) @ linear(w, "key", z, x).transpose(1, 2) / K**0.5
    biases = linear(w, "relation", asking)  # [B, i, relations]
    priorities = torch.from_numpy(data["priorities"])
    related = [
        eye.expand(B, n, n),
        points & ~eye,
        child,
        is_u.unsqueeze(1).expand(B, n, n),
        is_v.unsqueeze(1).expand(B, n, n),
        priorities.unsqueeze(1) > priorities.unsqueeze(2),
    ]
    related = torch.stack(related[: biases.shape[-1]], -1)
    scores = scores + (biases.unsqueeze(2) * related).sum(-1)
    visited = (masks == 0) & sends
    log_alpha = F.log_softmax(scores.masked_fill(~visited.unsqueeze(1), -torch.inf), -1)
    chosen = log_alpha.gather(-1, after.unsqueeze(-1))[..., 0]
    reached = visited & visited.gather(1, after)
    out["pointers"] = -torch.where(reached, chosen, torch.zeros_like(chosen)).sum() / (B * n)
    out["total"] = sum(weight * out[name] for name, weight in WEIGHTS.items())
    return out


def fixture(task: str):
    for seed in range(2000):
        rng = np.random.Generator(np.random.PCG64([seed, *(ord(c) for c in task)]))
        data = sample(task, rng)
        weights = {
            name: (rng.standard_normal(shape) * (0.3 if name.endswith("bias") else shape[-1] ** -0.5))
            .astype(np.float32)
            for name, shape in shapes(K, 6 if task in COMPARED else 5).items()
        }
        w = {n: torch.from_numpy(v.astype(np.float64)).requires_grad_() for n, v in weights.items()}
        kinks = Kinks()
        out = losses(w, data, kinks)
        if kinks.nearest < MARGIN:
            continue
        gradient = torch.autograd.grad(out["total"], list(w.values()))
        if min(float(g.abs().max()) for g in gradient) < 1e-6:
            continue
        kept = {name: value for name, value in data.items() if name != "priorities" or value.any()}
        file = kept | {f"weights.{name}": value for name, value in weights.items()}
        file |= {f"loss.{name}": value.detach().numpy().reshape(1) for name, value in out.items()}
        file |= {f"grad.{name}": g.numpy() for name, g in zip(w, gradient)}
        print(f"{task}: seed {seed}, nearest kink {kinks.nearest:.1e}")
        settings = {"k": K, "steps": STEPS, "more_steps": MORE_STEPS, "cap": CAP, "seed": seed}
        metadata = {"task": task} | {name: str(value) for name, value in settings.items()}
        return {name: np.ascontiguousarray(v) for name, v in sorted(file.items())}, metadata
    sys.exit(f"no seed gives a trustworthy batch for {task}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--folder", type=Path, default=FOLDER.parent / "iterated_fixtures")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for task in TASKS:
        file, metadata = fixture(task)
        target = arguments.folder / f"{task}.safetensors"
        if arguments.check:
            compare(target, file)
        else:
            temporary = target.with_suffix(".tmp")
            save_file(file, temporary, metadata)
            temporary.chmod(0o644)
            temporary.rename(target)


if __name__ == "__main__":
    main()
