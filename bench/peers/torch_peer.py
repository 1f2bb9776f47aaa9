"""The PyTorch contestant of `bench/compare`: float32 on the CPU, eager and compiled, several forms.

    python bench/peers/torch_peer.py --data D.safetensors --weights W.safetensors --model pgn \
        --mode epoch --form segment --threads 2

Shape letters: T steps, B sequences, n nodes, k latent size. Arrays are time-major.
"""

from __future__ import annotations

import protocol

FORMS = {
    "epoch": {
        "dense": "n×n×k messages, as in the paper's equations and most users' code",
        "algebra": "max_j ReLU(a_i + b_j) = ReLU(a_i + max_j b_j), masked maximum over n×n×k",
        "hoisted": "as algebra, and decoder, mask and pointer losses after the loop, in one go",
        "folded": "as hoisted, and one product per step computes z, both message halves and the "
        "update's half from h",
        "segment": "as folded, with gathers and scatter-maxima over the 2n edges and a "
        "hand-written derivative for them",
        "dense+compile": "as dense, each step and the losses through torch.compile",
        "hoisted+compile": "as hoisted, through torch.compile",
        "folded+compile": "as folded, through torch.compile",
        "segment+compile": "as segment, through torch.compile",
    },
    "rollout": {
        "rows": "scatter-maxima; scores only for nodes with mask 0",
        "segment": "scatter-maxima, all n×n scores",
        "dense": "masked maximum over n×n×k, all n×n scores",
        "rows+compile": "as rows, the step through torch.compile",
    },
}

args = protocol.arguments("torch_peer", FORMS)
form, *extras = args.form.split("+")

import numpy as np  # noqa: E402  (after the thread settings)
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

torch.set_num_threads(args.threads)
PGN = args.model == "pgn"
LOW = -3.0e38  # below every message, but finite


def compiled(function):
    return torch.compile(function) if "compile" in extras else function


def prepare(data: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    """Time-major tensors of one data set, with what can be known before training worked out."""
    B, n = data["priorities"].shape
    own = np.arange(n)
    pointers = data["pointers"].astype(np.int64).transpose(1, 0, 2)
    before = np.concatenate([np.broadcast_to(own, (1, B, n)), pointers[:-1]])
    operands = data["operands"].transpose(1, 0, 2)
    operated = (operands[..., 0, None] == own) | (operands[..., 1, None] == own)
    batch = {
        "priorities": data["priorities"],
        "operated": operated.astype(np.float32),
        "answers": data["answers"].T.astype(np.float32),
        "masks": data["masks"].transpose(1, 0, 2).astype(np.float32),
        "pointers": pointers,
        "before": before,
    }
    batch = {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in batch.items()}
    batch["e"] = torch.stack(
        [batch["priorities"].expand_as(batch["operated"]), batch["operated"]], dim=-1
    )
    if form in ("dense", "algebra", "hoisted", "folded"):
        points_to = F.one_hot(batch["before"], n).bool()
        batch["graph"] = (points_to | points_to.transpose(-1, -2)).unsqueeze(-1)
    else:
        # Edges of all sequences as rows of one [B·n, k] matrix.
        offset = (torch.arange(B) * n).view(B, 1)
        batch["graph"] = (batch["before"] + offset).view(len(before), B * n)
    return batch


# Messages and their maximum ------------------------------------------------------------------


class SegmentMax(torch.autograd.Function):
    """max over π_i and all j with π_j = i; b [N, k], pointers [N] (acyclic but for roots)."""

    @staticmethod
    def forward(ctx, b, pointers):
        m = segment_max(b, pointers)
        ctx.save_for_backward(b, m, pointers)
        return m

    @staticmethod
    def backward(ctx, g):
        b, m, pointers = ctx.saved_tensors
        mine = torch.where(b.index_select(0, pointers) == m, g, 0.0)
        others = (pointers != torch.arange(len(pointers))).unsqueeze(1)
        theirs = (m.index_select(0, pointers) == b) & others
        down = torch.where(theirs, g.index_select(0, pointers), 0.0)
        return down.index_add(0, pointers, mine), None


def segment_max(b, pointers):
    index = pointers.unsqueeze(1).expand_as(b)
    return b.index_select(0, pointers).scatter_reduce(0, index, b, "amax", include_self=True)


def neighbour_max(b, graph):
    if args.model == "deepsets":
        return b
    if args.model == "gnn":
        return b.amax(-2, keepdim=True)
    if form in ("segment", "rows"):
        flat = b.reshape(-1, b.shape[-1])
        flat = SegmentMax.apply(flat, graph) if torch.is_grad_enabled() else segment_max(flat, graph)
        return flat.view_as(b)
    return torch.where(graph, b.unsqueeze(-3), LOW).amax(-2)


# One step ------------------------------------------------------------------------------------


def step_dense(w, h, e, graph):
    """Equations 1 and 8 with every message formed."""
    z = F.linear(torch.cat([e, h], -1), w["encoder.weight"], w["encoder.bias"])
    B, n, k = z.shape
    if args.model == "deepsets":
        pairs = torch.cat([z, z], -1)
    else:
        shape = (B, n, n, k)
        pairs = torch.cat([z.unsqueeze(2).expand(shape), z.unsqueeze(1).expand(shape)], -1)
    m = F.relu(F.linear(pairs, w["message.weight"], w["message.bias"]))
    if args.model == "gnn":
        m = m.amax(2)
    elif PGN:
        m = m.masked_fill(~graph, LOW).amax(2)
    h = F.relu(F.linear(torch.cat([z, m], -1), w["update.weight"], w["update.bias"]))
    return z, h


def step_algebra(w, h, e, graph):
    """Equations 1 and 8 with max_j ReLU(a_i + b_j) = ReLU(a_i + max_j b_j)."""
    k = h.shape[-1]
    M = w["message.weight"]
    z = F.linear(torch.cat([e, h], -1), w["encoder.weight"], w["encoder.bias"])
    a = F.linear(z, M[:, :k], w["message.bias"])
    m = F.relu(a + neighbour_max(F.linear(z, M[:, k:]), graph))
    h = F.relu(F.linear(torch.cat([z, m], -1), w["update.weight"], w["update.bias"]))
    return z, h


def fold(w):
    """z, a, b and the update's z half are all linear in (e, h): one matrix and one offset."""
    k = w["encoder.bias"].shape[0]
    M, U = w["message.weight"], w["update.weight"]
    of_z = torch.cat([torch.eye(k), M[:, :k], M[:, k:], U[:, :k]])
    zeros = torch.zeros(k)
    offset = torch.cat([zeros, w["message.bias"], zeros, w["update.bias"]])
    return {
        "matrix": (of_z @ w["encoder.weight"]).t().contiguous(),
        "offset": of_z @ w["encoder.bias"] + offset,
        "m": U[:, k:].t().contiguous(),
    }


def step_folded(f, h, e, graph):
    """Equations 1 and 8 in two products; e is its share of the first, computed for all steps."""
    shape = h.shape
    k = shape[-1]
    zabu = torch.addmm(e.view(-1, 4 * k), h.view(-1, k), f["matrix"][2:]).view(*shape[:-1], 4 * k)
    z, a, b, u = zabu.split(k, -1)
    m = F.relu(a + neighbour_max(b, graph))
    return z, F.relu(u + (m.reshape(-1, k) @ f["m"]).view(shape))


# Losses --------------------------------------------------------------------------------------


def heads(w, z, h, answers, masks, pointers):
    """Losses from z, h [..., n, k] of one step or of all; means over what is given."""
    D = w["decoder.weight"]
    pooled = torch.cat([z.amax(-2), h.amax(-2)], -1)
    query = F.linear(pooled, D, w["decoder.bias"]).squeeze(-1)
    losses = {"query": F.binary_cross_entropy_with_logits(query, answers)}
    if PGN:
        k = h.shape[-1]
        M = w["mask.weight"][0]
        logits = z @ M[:k] + h @ M[k:] + w["mask.bias"]
        losses["masks"] = F.binary_cross_entropy_with_logits(logits, masks)
        q = h @ (w["query.weight"].t() @ w["key.weight"])
        scores = q @ h.transpose(-1, -2)
        chosen = scores.gather(-1, pointers.unsqueeze(-1)).squeeze(-1)
        losses["pointers"] = ((scores.logsumexp(-1) - chosen) * (1 - masks)).mean()
    return losses


STEPS = {"dense": step_dense, "algebra": step_algebra, "hoisted": step_algebra}
stepper = compiled(STEPS.get(form, step_folded))
losses_of = compiled(heads)


def teacher_forced(w, batch):
    T, B, n = batch["masks"].shape
    h = torch.zeros(B, n, w["encoder.bias"].shape[0])
    folded = form in ("folded", "segment")
    truth = ("answers", "masks", "pointers")
    e, parameters = batch["e"], w
    if folded:
        parameters = fold(w)
        e = e @ parameters["matrix"][:2] + parameters["offset"]
    e = e.unbind(0)  # indexing would make every step's gradient as large as the whole
    zs, hs, losses = [], [], []
    for t in range(T):
        z, h = stepper(parameters, h, e[t], batch["graph"][t])
        if form in ("dense", "algebra"):
            losses.append(losses_of(w, z, h, *(batch[name][t] for name in truth)))
        else:
            zs.append(z)
            hs.append(h)
    if losses:
        losses = {name: torch.stack([l[name] for l in losses]).mean() for name in losses[0]}
    else:
        losses = losses_of(w, torch.stack(zs), torch.stack(hs), *(batch[name] for name in truth))
    return losses | {"total": sum(losses.values())}


def epoch_contestant(data, weights):
    batch = prepare(data)
    w = {name: torch.from_numpy(value.copy()).requires_grad_() for name, value in weights.items()}
    # `foreach` is the faster of the eager implementations here.
    optimiser = torch.optim.Adam(w.values(), lr=0.005, betas=(0.9, 0.999), eps=1e-8, foreach=True)
    first = {name: float(value.detach()) for name, value in teacher_forced(w, batch).items()}

    def repetition():
        optimiser.zero_grad(set_to_none=True)
        teacher_forced(w, batch)["total"].backward()
        optimiser.step()

    def current():
        return {name: value.detach().numpy() for name, value in w.items()}

    return repetition, first, {"weights": current}


# Rollout -------------------------------------------------------------------------------------


def rollout_step(w, f, h, priorities, operated, pointers):
    k = h.shape[-1]
    n = h.shape[0]
    e = torch.outer(priorities, f["matrix"][0]) + torch.outer(operated, f["matrix"][1])
    graph = pointers
    if form == "dense" and PGN:
        points_to = F.one_hot(pointers, n).bool()
        graph = (points_to | points_to.t()).unsqueeze(-1)
    z, h = step_folded(f, h, e + f["offset"], graph)
    D = w["decoder.weight"][0]
    query = z.amax(0) @ D[:k] + h.amax(0) @ D[k:] + w["decoder.bias"][0]
    if not PGN:
        return h, query, None
    M = w["mask.weight"][0]
    return h, query, z @ M[:k] + h @ M[k:] + w["mask.bias"]


def rollout_contestant(data, weights):
    w = {name: torch.from_numpy(value.copy()) for name, value in weights.items()}
    priorities = torch.from_numpy(data["priorities"][0])
    operands = torch.from_numpy(data["operands"][0].astype(np.int64))
    n = len(priorities)
    one_step = compiled(rollout_step)

    @torch.inference_mode()
    def rollout():
        f = fold(w)
        h = torch.zeros(n, w["encoder.bias"].shape[0])
        pointers = torch.arange(n)
        folded = w["query.weight"].t() @ w["key.weight"] if PGN else None
        queries, masks, used = [], [], []
        for pair in operands:
            operated = torch.zeros(n)
            operated[pair] = 1.0
            h, query, mask = one_step(w, f, h, priorities, operated, pointers)
            queries.append(query)
            if PGN:
                moves = ~(mask > 0)
                if form == "rows":
                    rows = moves.nonzero().squeeze(1)
                    pointers = pointers.clone()
                    pointers[rows] = ((h[rows] @ folded) @ h.t()).argmax(1)
                else:
                    pointers = torch.where(moves, ((h @ folded) @ h.t()).argmax(1), pointers)
                masks.append(mask)
                used.append(pointers)
        return torch.stack(queries), torch.stack(masks) if PGN else None

    query, mask = rollout()
    bce = F.binary_cross_entropy_with_logits
    losses = {"query": float(bce(query, torch.from_numpy(data["answers"][0]).float()))}
    details = {}
    if PGN:
        losses["masks"] = float(bce(mask, torch.from_numpy(data["masks"][0]).float()))
        details["moved"] = int((~(mask > 0)).sum())
    return rollout, losses, details


def main() -> None:
    data, weights = protocol.load(args.data), protocol.load(args.weights)
    contestant = epoch_contestant if args.mode == "epoch" else rollout_contestant
    repetition, losses, details = contestant(data, weights)
    protocol.serve(args, repetition, losses, framework=f"torch {torch.__version__}", **details)


if __name__ == "__main__":
    main()
