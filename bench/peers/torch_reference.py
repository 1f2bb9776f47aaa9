"""The model in PyTorch, float64, straight from the equations of section 2 of the paper.

No cleverness: every message of the n×n is formed, every score is computed, gradients are
autograd's. It exists to be right and readable, and shares no code with the Rust engine that is
checked against it. Shape letters: B sequences, n nodes, k latent size, P pointer types.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F


@dataclass(frozen=True)
class Spec:
    """One model of the family."""

    graph: str  # complete | self | symmetric | directed | given
    update: str | None = None  # masked | all
    losses: tuple[str, ...] = ("query",)
    # Whose pointers an operation of training finds: teacher | own (argmax under the true masks) |
    # free (argmax under the model's own masks).
    forcing: str = "teacher"
    # How likely the truth's are found all the same.
    teacher_probability: float = 0.0
    # How often the processor is applied in an operation.
    layers: int = 1
    messages: str = "max"  # max | sum | mean
    readout: str = "max"  # max | sum | mean
    # Whether masks and pointers read a second processor.
    pointer_processor: bool = False
    # Further pointer fields, each with messages, attention and a loss of its own.
    types: tuple[str, ...] = ()
    # What becomes of an input graph's edges: edges (added to the pointers') | head (messages of
    # their own).
    input_graph: str | None = None
    # How many times a visited node counts in the mask loss.
    visited_weight: float = 1.0

    @property
    def heads(self) -> int:
        """Message functions of a processor."""
        return 1 + len(self.types) + (self.input_graph == "head")

    @property
    def processors(self) -> tuple[str, ...]:
        """What the names of each processor's layers begin with."""
        return ("", "pointer.") if self.pointer_processor else ("",)

    @property
    def size(self) -> int:
        """How many times the messages of a plain model are formed in an operation."""
        return self.layers * self.heads * len(self.processors)

    def runs_on(self, task: str) -> bool:
        return task == "lct" or not self.types

    @property
    def has_mask(self) -> bool:
        return self.update == "masked" or "masks" in self.losses

    @property
    def has_attention(self) -> bool:
        return self.update is not None or "pointers" in self.losses


ALL = ("query", "pointers", "masks")
MODELS = {
    "gnn": Spec("complete"),
    "deepsets": Spec("self"),
    "pgn": Spec("symmetric", "masked", ALL),
    "pgn-nm": Spec("symmetric", "all", ("query", "pointers")),
    "pgn-asym": Spec("directed", "masked", ALL),
    "pgn-mo": Spec("symmetric", "masked", ("query", "masks"), forcing="own"),
    "supgnn": Spec("complete", None, ALL),
    "oracle-ptrs": Spec("given"),
    "pgn-own": Spec("symmetric", "masked", ALL, forcing="own"),
    "pgn-free": Spec("symmetric", "masked", ALL, forcing="free"),
    "pgn-nm-free": Spec("symmetric", "all", ("query", "pointers"), forcing="free"),
    "pgn-asym-free": Spec("directed", "masked", ALL, forcing="free"),
    "pgn-own-mixed": Spec("symmetric", "masked", ALL, forcing="own", teacher_probability=0.5),
    "pgn-free-mixed": Spec("symmetric", "masked", ALL, forcing="free", teacher_probability=0.5),
    "pgn-free-2": Spec("symmetric", "masked", ALL, forcing="free", layers=2),
    "supgnn-3": Spec("complete", None, ALL, layers=3),
    "pgn-weighted": Spec("symmetric", "masked", ALL, visited_weight=3.0),
    "pgn-free-weighted": Spec("symmetric", "masked", ALL, forcing="free", visited_weight=5.0),
    "pgn-sum": Spec("symmetric", "masked", ALL, messages="sum"),
    "pgn-mean": Spec("symmetric", "masked", ALL, messages="mean"),
    "gnn-mean": Spec("complete", messages="mean"),
    "pgn-reads-sum": Spec("symmetric", "masked", ALL, readout="sum"),
    "pgn-reads-mean": Spec("symmetric", "masked", ALL, readout="mean"),
    "pgn-apart": Spec("symmetric", "masked", ALL, pointer_processor=True),
    "pgn-typed": Spec("symmetric", "masked", ALL, types=("left", "right")),
    "pgn-free-typed": Spec("symmetric", "masked", ALL, forcing="free", types=("left", "right")),
    "pgn-edges": Spec("symmetric", "masked", ALL, input_graph="edges"),
    "pgn-head": Spec("symmetric", "masked", ALL, input_graph="head"),
    "pgn-all": Spec(
        "directed", "masked", ALL, "free", layers=2, messages="mean", readout="sum",
        pointer_processor=True, types=("left", "right"), input_graph="head",
    ),
}


def numbered(name: str, index: int) -> str:
    """`message`, `message.2`, `message.3`, …"""
    return name if index == 0 else f"{name}.{index + 1}"


def shapes(spec: Spec, k: int, m: int = 2) -> dict[str, tuple[int, ...]]:
    """Names and shapes of `model.safetensors`; what a model has no use for is absent."""
    out = {
        "encoder.weight": (k, m + k),
        "encoder.bias": (k,),
    }
    for processor in spec.processors:
        for head in range(spec.heads):
            message = processor + numbered("message", head)
            out |= {f"{message}.weight": (k, 2 * k), f"{message}.bias": (k,)}
        out |= {f"{processor}update.weight": (k, (1 + spec.heads) * k)}
        out |= {f"{processor}update.bias": (k,)}
    out |= {"decoder.weight": (1, 2 * k), "decoder.bias": (1,)}
    if spec.has_mask:
        out |= {"mask.weight": (1, 2 * k), "mask.bias": (1,)}
    if spec.has_attention:
        for kind in range(1 + len(spec.types)):
            out |= {f"{numbered(name, kind)}.weight": (k, k) for name in ("query", "key")}
    return out


def initial_weights(
    spec: Spec, k: int, rng: np.random.Generator, bias_scale: float = 0.0, m: int = 2
) -> dict[str, np.ndarray]:
    """Truncated normal of σ = 1/√fan_in, cut at 2σ. Biases are zero unless a scale is given."""
    weights = {}
    for name, shape in shapes(spec, k, m).items():
        if name.endswith(".bias"):
            value = bias_scale * rng.standard_normal(shape)
        else:
            value = rng.standard_normal(shape)
            while (outside := np.abs(value) > 2).any():
                value[outside] = rng.standard_normal(int(outside.sum()))
            value /= np.sqrt(shape[1])
        weights[name] = value.astype(np.float32)
    return weights


class Kinks:
    """Notes how close a computation came to a point where its derivative or a choice jumps.

    A float32 implementation may land on the other side of a kink that is nearer than its
    rounding error; fixtures are chosen to have none. Exact ties are no kinks: they are exact in
    every precision, since they come from zeros.
    """

    def __init__(self):
        self.nearest = float("inf")

    def note(self, distance: torch.Tensor) -> None:
        distance = distance[distance > 0]
        if distance.numel():
            self.nearest = min(self.nearest, float(distance.min()))


def argmax_first(x: torch.Tensor, dim: int) -> torch.Tensor:
    """The lowest index among the maxima; torch.argmax promises none in particular."""
    shape = [1] * x.dim()
    shape[dim] = x.shape[dim]
    index = torch.arange(x.shape[dim]).view(shape).expand_as(x)
    is_max = x == x.amax(dim, keepdim=True)
    return index.masked_fill(~is_max, x.shape[dim]).amin(dim)


def max_first(x: torch.Tensor, dim: int, kinks: Kinks | None = None) -> torch.Tensor:
    """Maximum whose whole gradient goes to the lowest index among ties."""
    with torch.no_grad():
        index = argmax_first(x, dim)
        if kinks is not None:
            best = x.amax(dim, keepdim=True)
            kinks.note(best - x)
    return x.gather(dim, index.unsqueeze(dim)).squeeze(dim)


def relu(x: torch.Tensor, kinks: Kinks | None) -> torch.Tensor:
    if kinks is not None:
        kinks.note(x.detach().abs())
    return F.relu(x)


def neighbours(graph: str, pointers: torch.Tensor) -> torch.Tensor:
    """[B, n, n] booleans: entry (i, j) says that i reads j. `pointers` is [B, n]."""
    B, n = pointers.shape
    eye = torch.eye(n, dtype=torch.bool).expand(B, n, n)
    if graph == "complete":
        return torch.ones_like(eye)
    if graph == "self":
        return eye
    points_to = F.one_hot(pointers, n).bool()
    if graph == "directed":
        return points_to
    return points_to | points_to.transpose(1, 2)  # Π = Π̃ ∨ Π̃ᵀ, equation 7


def heard(spec: Spec, pointers: torch.Tensor, edges: torch.Tensor | None) -> list[torch.Tensor]:
    """[B, n, n] for each head: who reads whom. `pointers` is [P, B, n], `edges` [B, E, 2]."""
    heads = [neighbours(spec.graph, kind) for kind in pointers]
    if spec.input_graph is not None:
        B, n = pointers.shape[1:]
        given = torch.eye(n, dtype=torch.bool).repeat(B, 1, 1)
        for b in range(B):
            u, v = edges[b].T
            given[b, u, v] = given[b, v, u] = True
        if spec.input_graph == "edges":
            heads[0] = heads[0] | given
        else:
            heads.append(given)
    return heads


def truth(spec: Spec, data: dict[str, torch.Tensor], t: int) -> torch.Tensor:
    """[P, B, n]: the true pointers of all types after an operation."""
    names = ["pointers", *(f"pointers.{name}" for name in spec.types)]
    return torch.stack([data[name][:, t] for name in names])


def features(data: dict[str, torch.Tensor], t: int) -> torch.Tensor:
    """e [B, n, 2]: priority, and whether the node is u or v."""
    operated = F.one_hot(data["operands"][:, t], data["priorities"].shape[1]).amax(1)
    return torch.stack([data["priorities"], operated.to(data["priorities"].dtype)], dim=-1)


def tensors(data: dict[str, np.ndarray], dtype=torch.float64) -> dict[str, torch.Tensor]:
    """A data set as torch tensors: indices as int64, everything real as `dtype`."""
    real = ("priorities", "answers", "masks")
    return {
        name: torch.from_numpy(value.astype(np.float64)).to(dtype)
        if name in real
        else torch.from_numpy(value.astype(np.int64))
        for name, value in data.items()
    }


def linear(w: dict[str, torch.Tensor], name: str, *inputs: torch.Tensor) -> torch.Tensor:
    return F.linear(torch.cat(inputs, dim=-1), w[f"{name}.weight"], w.get(f"{name}.bias"))


def aggregate(how: str, x: torch.Tensor, dim: int, kinks=None) -> torch.Tensor:
    if how == "max":
        return max_first(x, dim, kinks)
    return x.sum(dim) if how == "sum" else x.mean(dim)


def process(spec: Spec, w, processor: str, x, heads, kinks=None) -> torch.Tensor:
    """One application of a processor (8): from x to h."""
    B, n, k = x.shape
    receiver = x.unsqueeze(2).expand(B, n, n, k)
    sender = x.unsqueeze(1).expand(B, n, n, k)
    all_m = []
    for head, adjacent in enumerate(heads):
        adjacent = adjacent.unsqueeze(-1)
        messages = linear(w, processor + numbered("message", head), receiver, sender)
        # Only messages between neighbours exist; the others are no kinks either.
        if kinks is not None:
            kinks.note(messages.detach().abs()[adjacent.expand_as(messages)])
        messages = F.relu(messages)
        if spec.messages == "max":
            m = max_first(messages.masked_fill(~adjacent, -torch.inf), 2, kinks)
        else:
            m = messages.masked_fill(~adjacent, 0).sum(2)
            if spec.messages == "mean":
                m = m / adjacent.sum(2)
        all_m.append(m)
    return relu(linear(w, f"{processor}update", x, *all_m), kinks)


def step(spec: Spec, w, e, h, pointers, edges=None, kinks=None):
    """Equations 1 to 4 and 6 for one operation: z, h, query logit, mask logits, scores.

    `pointers` is [P, B, n], and so are the first dimensions of the scores.
    """
    z = linear(w, "encoder", e, h)  # (1)
    heads = heard(spec, pointers, edges)
    outputs = []
    for processor in spec.processors:
        x = z
        for _ in range(spec.layers):
            x = process(spec, w, processor, x, heads, kinks)  # (8)
        outputs.append(x)
    h, pointer_h = outputs[0], outputs[-1]
    read = [aggregate(spec.readout, x, 1, kinks) for x in (z, h)]
    query = linear(w, "decoder", *read)[:, 0]  # (3)
    mask = linear(w, "mask", z, pointer_h)[..., 0] if spec.has_mask else None  # (4)
    scores = None
    if spec.has_attention:  # (6), before the softmax
        ask = lambda name, kind: linear(w, numbered(name, kind), pointer_h)
        kinds = range(1 + len(spec.types))
        scores = torch.stack([ask("query", i) @ ask("key", i).transpose(1, 2) for i in kinds])
    return z, h, query, mask, scores


def chacha8(key: tuple[int, int, int, int], words: int) -> list[int]:
    """The first words of the stream with this key, as docs/reference.md has it (up to 16)."""
    part = lambda number: [number & 0xFFFFFFFF, number >> 32]
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
    start += [word for number in key for word in part(number)] + [0] * 4
    state = list(start)

    def quarter(a, b, c, d):
        for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            state[x] = (state[x] + state[y]) & 0xFFFFFFFF
            mixed = state[z] ^ state[x]
            state[z] = (mixed << turn | mixed >> (32 - turn)) & 0xFFFFFFFF

    for _ in range(4):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return [(a + b) & 0xFFFFFFFF for a, b in zip(state, start)][:words]


FORCING_STREAM = 23


def taught(spec: Spec, sequences: int, ops: int, adam_step: int) -> torch.Tensor:
    """[B, ops]: whether the truth's pointers are found after an operation, at seed 0."""
    if spec.forcing == "teacher" or spec.teacher_probability == 0:
        return torch.full((sequences, ops), spec.forcing == "teacher")
    words = [chacha8((0, FORCING_STREAM, adam_step, index), ops) for index in range(sequences)]
    fractions = torch.tensor([[(word >> 8) / 2**24 for word in row] for row in words])
    return fractions < spec.teacher_probability


def repoint(scores, pointers, moves, kinks=None):
    """Equation 7: nodes that move point to their best-scoring node, the others keep."""
    with torch.no_grad():
        if kinks is not None:
            gap = scores.amax(3, keepdim=True) - scores
            kinks.note(gap[moves.expand_as(pointers).unsqueeze(-1).expand_as(gap)])
        return torch.where(moves, argmax_first(scores, 3), pointers)


def start(spec: Spec, w, data):
    """h before the first operation, and pointers [P, B, n] from every node to itself."""
    B, n = data["priorities"].shape
    k = w["encoder.bias"].shape[0]
    h = torch.zeros(B, n, k, dtype=data["priorities"].dtype)
    return h, torch.arange(n).expand(1 + len(spec.types), B, n)


def unroll(
    spec: Spec, w, data, kinks: Kinks | None = None, adam_step: int = 0
) -> dict[str, torch.Tensor]:
    """The forward pass with its losses, as in training."""
    B, n = data["priorities"].shape
    ops = data["operands"].shape[1]
    h, pointers = start(spec, w, data)
    queries, masks, all_scores, used = [], [], [], []
    by_teacher = taught(spec, B, ops, adam_step)
    for t in range(ops):
        e = features(data, t)
        _, h, query, mask, scores = step(spec, w, e, h, pointers, data.get("edges"), kinks)
        queries.append(query)
        masks.append(mask)
        all_scores.append(scores)
        if spec.forcing == "teacher":
            pointers = truth(spec, data, t)
        else:
            if spec.update == "all":
                moves = torch.ones(B, n, dtype=torch.bool)
            elif spec.forcing == "own":
                moves = data["masks"][:, t] == 0
            else:
                moves = ~(mask > 0)
                if kinks is not None:
                    kinks.note(mask.detach().abs())
            chosen = repoint(scores, pointers, moves, kinks)
            pointers = torch.where(by_teacher[:, t, None], truth(spec, data, t), chosen)
        used.append(pointers[0])
    out = {"query_logits": torch.stack(queries, 1), "h": h, "pointers": torch.stack(used, 1)}
    zero = torch.zeros((), dtype=h.dtype)
    losses = {"query": zero, "masks": zero, "pointers": zero}
    losses["query"] = F.binary_cross_entropy_with_logits(out["query_logits"], data["answers"])
    if spec.has_mask:
        out["mask_logits"] = torch.stack(masks, 1)
        counts = torch.where(data["masks"] == 0, spec.visited_weight, 1.0).to(h.dtype)
        losses["masks"] = F.binary_cross_entropy_with_logits(
            out["mask_logits"], data["masks"], weight=counts
        )
    if "pointers" in spec.losses:
        # [P, B, ops, n]: log α of the true pointer.
        log_alpha = F.log_softmax(torch.stack(all_scores, 2), dim=-1)
        true = torch.stack([truth(spec, data, t) for t in range(ops)], 2)
        chosen = log_alpha.gather(-1, true.unsqueeze(-1)).squeeze(-1)
        counts = 1 - data["masks"] if spec.has_mask else torch.ones_like(data["masks"])
        losses["pointers"] = -(chosen * counts).sum() / (B * ops * n)
    losses["total"] = sum(losses[name] for name in spec.losses)
    return out | {f"loss.{name}": value for name, value in losses.items()}


@torch.no_grad()
def rollout(spec: Spec, w, data, kinks: Kinks | None = None) -> dict[str, torch.Tensor]:
    """The free run at test time: the model's own thresholded masks and argmax pointers."""
    B, n = data["priorities"].shape
    h, pointers = start(spec, w, data)
    queries, masks, used = [], [], []
    for t in range(data["operands"].shape[1]):
        e = features(data, t)
        _, h, query, mask, scores = step(spec, w, e, h, pointers, data.get("edges"))
        queries.append(query)
        masks.append(mask)
        if spec.update == "masked":
            if kinks is not None:
                kinks.note(mask.abs())
            pointers = repoint(scores, pointers, ~(mask > 0), kinks)  # (5), (7)
        elif spec.update == "all":
            pointers = repoint(scores, pointers, torch.ones(B, n, dtype=torch.bool), kinks)
        elif spec.graph == "given":
            pointers = truth(spec, data, t)
        used.append(pointers[0])
    out = {"query_logits": torch.stack(queries, 1)}
    if spec.has_mask:
        out["mask_logits"] = torch.stack(masks, 1)
    if spec.update is not None:
        out["pointers"] = torch.stack(used, 1)
    return out


def parameters(weights: dict[str, np.ndarray], dtype=torch.float64):
    return {
        name: torch.from_numpy(value.astype(np.float64)).to(dtype).requires_grad_()
        for name, value in weights.items()
    }


def gradients(spec: Spec, w, data) -> dict[str, torch.Tensor]:
    """Of the total loss; zero for a weight the losses do not reach."""
    total = unroll(spec, w, data)["loss.total"]
    values = torch.autograd.grad(total, list(w.values()), allow_unused=True)
    return {
        name: torch.zeros_like(w[name]) if g is None else g for name, g in zip(w, values)
    }


def adam(spec: Spec, w, data, steps: int, kinks: Kinks | None = None, lr: float = 0.005):
    """Full-batch Adam steps, in place."""
    optimiser = torch.optim.Adam(w.values(), lr=lr, betas=(0.9, 0.999), eps=1e-8)
    for adam_step in range(steps):
        optimiser.zero_grad()
        unroll(spec, w, data, kinks, adam_step)["loss.total"].backward()
        optimiser.step()
