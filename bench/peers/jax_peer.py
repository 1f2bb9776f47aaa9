"""The JAX contestant of `bench/compare`: jit and `lax.scan`, float32, in several forms.

    python bench/peers/jax_peer.py --data D.safetensors --weights W.safetensors --model pgn \
        --mode epoch --form folded --threads 2

Shape letters: T steps, B sequences, n nodes, k latent size. Arrays are time-major.
"""

from __future__ import annotations

import os

import protocol

FORMS = {
    "epoch": {
        "dense": "n×n×k messages, as in the paper's equations and most users' code",
        "algebra": "max_j ReLU(a_i + b_j) = ReLU(a_i + max_j b_j), masked maximum over n×n×k",
        "hoisted": "as algebra, and decoder, mask and pointer losses after the scan, in one go",
        "folded": "as hoisted, and one product per step computes z, both message halves and the "
        "update's half from h",
        "segment": "as folded, with gathers and scatter-maxima over the 2n edges and a "
        "hand-written derivative for them",
        "rows": "as segment, with queries and scores only for the nodes with mask 0",
        "dense+devices": "as dense, one XLA device per thread, sequences shared among them",
        "folded+devices": "as folded, one XLA device per thread",
        "folded+devices+chunks": "and a few sequences at a time, so that they stay in cache",
        "segment+devices": "as segment, one XLA device per thread",
        "segment+chunks": "as segment, a few sequences at a time",
        "segment+devices+chunks": "as segment, both",
    },
    "rollout": {
        "rows": "scatter-maxima; scores only for nodes with mask 0, in blocks of a while loop",
        "segment": "scatter-maxima, all n×n scores",
        "dense": "masked maximum over n×n×k, all n×n scores",
        "blocks": "scatter-maxima, all n×n scores in blocks of rows",
    },
}
CHUNK = 7  # sequences at most

args = protocol.arguments("jax_peer", FORMS)
form, *extras = args.form.split("+")
many_devices = "devices" in extras
flags = [f"--xla_cpu_multi_thread_eigen={'true' if args.threads > 1 else 'false'}"]
flags.append(f"intra_op_parallelism_threads={args.threads}")
os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", ""), *flags])
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402  (after the thread settings)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

if many_devices:
    jax.config.update("jax_num_cpu_devices", args.threads)

PGN = args.model == "pgn"
LOW = -3.0e38  # below every message, but finite: no NaN from inf − inf


def prepare(data: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Time-major arrays of one data set."""
    B, n = data["priorities"].shape
    T = data["operands"].shape[1]
    own = np.arange(n, dtype=np.int32)
    pointers = data["pointers"].astype(np.int32).transpose(1, 0, 2)
    before = np.concatenate([np.broadcast_to(own, (1, B, n)), pointers[:-1]])
    operands = data["operands"].transpose(1, 0, 2)
    operated = (operands[..., 0, None] == own) | (operands[..., 1, None] == own)
    return {
        "priorities": data["priorities"],
        "operated": operated.astype(np.float32),
        "answers": data["answers"].T.astype(np.float32),
        "masks": data["masks"].transpose(1, 0, 2).astype(np.float32),
        "pointers": pointers,
        "before": before,
    }


def mask0_rows(batch, devices: int) -> dict[str, np.ndarray]:
    """For each device's share of the sequences: which nodes have mask 0, padded to one length."""
    T, B, n = batch["masks"].shape
    shares = np.split(batch["masks"], devices, axis=1)
    targets = np.split(batch["pointers"], devices, axis=1)
    found = [np.nonzero(share == 0) for share in shares]
    longest = max(len(t) for t, _, _ in found)
    rows = np.zeros((devices, longest), np.int32)
    steps = np.zeros((devices, longest), np.int32)
    target = np.zeros((devices, longest), np.int32)
    counts = np.zeros((devices, longest), np.float32)
    for d, (t, b, i) in enumerate(found):
        rows[d, : len(t)] = (t * (B // devices) + b) * n + i
        steps[d, : len(t)] = t * (B // devices) + b
        target[d, : len(t)] = targets[d][t, b, i]
        counts[d, : len(t)] = 1.0
    return {"rows": rows, "row_steps": steps, "row_targets": target, "row_counts": counts}


# Messages and their maximum ------------------------------------------------------------------


def adjacency(pointers):
    """[..., n, n]: i reads π_i, and everyone that points to i."""
    points_to = jax.nn.one_hot(pointers, pointers.shape[-1], dtype=bool)
    return points_to | jnp.swapaxes(points_to, -1, -2)


def masked_max(b, pointers):
    """max over the neighbours j of b_j, by an n×n×k maximum."""
    near = adjacency(pointers)[..., None]
    return jnp.max(jnp.where(near, b[..., None, :, :], LOW), axis=-2)


@jax.custom_vjp
def segment_max(b, pointers):
    """The same by one gather and one scatter-max; b [B, n, k], pointers [B, n]."""
    up = jnp.take_along_axis(b, pointers[..., None], axis=1)
    batch = jnp.arange(b.shape[0])[:, None]
    return up.at[batch, pointers].max(b)


def _segment_max_forward(b, pointers):
    m = segment_max(b, pointers)
    return m, (b, m, pointers)


def _segment_max_backward(saved, g):
    b, m, pointers = saved
    index = pointers[..., None]
    # The edge i → π_i, read by i; then the edge j → π_j, read by π_j. Self-pointers count once.
    mine = jnp.where(jnp.take_along_axis(b, index, axis=1) == m, g, 0.0)
    others = jnp.arange(b.shape[1])[:, None] != index
    theirs = (jnp.take_along_axis(m, index, axis=1) == b) & others
    down = jnp.where(theirs, jnp.take_along_axis(g, index, axis=1), 0.0)
    batch = jnp.arange(b.shape[0])[:, None]
    return down.at[batch, pointers].add(mine), None


segment_max.defvjp(_segment_max_forward, _segment_max_backward)


def neighbour_max(b, pointers, how):
    if args.model == "deepsets":
        return b
    if args.model == "gnn":
        return jnp.max(b, axis=-2, keepdims=True)
    return segment_max(b, pointers) if how == "segment" else masked_max(b, pointers)


# One step ------------------------------------------------------------------------------------


def encode(w, priorities, operated, h):
    """Equation 1, without building [e ‖ h]."""
    W = w["encoder.weight"]
    e = priorities[..., None] * W[:, 0] + operated[..., None] * W[:, 1]
    return h @ W[:, 2:].T + e + w["encoder.bias"]


def step_dense(w, h, priorities, operated, pointers):
    """Equations 1 and 8 with every message formed."""
    z = encode(w, priorities, operated, h)
    n = z.shape[-2]
    shape = (*z.shape[:-1], n, z.shape[-1])
    pairs = jnp.concatenate(
        [jnp.broadcast_to(z[..., :, None, :], shape), jnp.broadcast_to(z[..., None, :, :], shape)],
        axis=-1,
    )
    if args.model == "deepsets":
        pairs = jnp.concatenate([z, z], axis=-1)
    messages = jax.nn.relu(pairs @ w["message.weight"].T + w["message.bias"])
    if args.model == "deepsets":
        m = messages
    elif args.model == "gnn":
        m = jnp.max(messages, axis=-2)
    else:
        m = jnp.max(jnp.where(adjacency(pointers)[..., None], messages, LOW), axis=-2)
    update = jnp.concatenate([z, m], axis=-1) @ w["update.weight"].T + w["update.bias"]
    return z, jax.nn.relu(update)


def step_algebra(w, h, priorities, operated, pointers, how="masked"):
    """Equations 1 and 8 with max_j ReLU(a_i + b_j) = ReLU(a_i + max_j b_j)."""
    k = h.shape[-1]
    M, U = w["message.weight"], w["update.weight"]
    z = encode(w, priorities, operated, h)
    a, b, u = jnp.split(z @ jnp.concatenate([M[:, :k], M[:, k:], U[:, :k]]).T, 3, axis=-1)
    m = jax.nn.relu(a + neighbour_max(b, pointers, how) + w["message.bias"])
    return z, jax.nn.relu(u + m @ U[:, k:].T + w["update.bias"])


def fold(w):
    """z, a, b and the update's z half are all linear in (e, h): one matrix and one offset."""
    k = w["encoder.bias"].shape[0]
    E, M, U = w["encoder.weight"], w["message.weight"], w["update.weight"]
    of_z = jnp.concatenate([jnp.eye(k, dtype=E.dtype), M[:, :k], M[:, k:], U[:, :k]])
    zeros = jnp.zeros(k, E.dtype)
    return {
        "h": (of_z @ E[:, 2:]).T,
        "priority": of_z @ E[:, 0],
        "operated": of_z @ E[:, 1],
        "offset": of_z @ w["encoder.bias"]
        + jnp.concatenate([zeros, w["message.bias"], zeros, w["update.bias"]]),
        "m": U[:, k:].T,
    }


def step_folded(f, h, priorities, operated, pointers, how):
    """Equations 1 and 8 in two products."""
    e = priorities[..., None] * f["priority"] + operated[..., None] * f["operated"]
    z, a, b, u = jnp.split(h @ f["h"] + e + f["offset"], 4, axis=-1)
    m = jax.nn.relu(a + neighbour_max(b, pointers, how))
    return z, jax.nn.relu(u + m @ f["m"])


# Losses --------------------------------------------------------------------------------------


def bce(logits, target):
    return jnp.mean(jax.nn.softplus(logits) - logits * target)


def heads(w, z, h, step):
    """Losses from z, h [..., B, n, k] of one step or of all; means over what is given."""
    k = h.shape[-1]
    D = w["decoder.weight"][0]
    query = jnp.max(z, axis=-2) @ D[:k] + jnp.max(h, axis=-2) @ D[k:] + w["decoder.bias"][0]
    losses = {"query": bce(query, step["answers"])}
    if PGN:
        M = w["mask.weight"][0]
        losses["masks"] = bce(z @ M[:k] + h @ M[k:] + w["mask.bias"][0], step["masks"])
        losses["pointers"] = row_loss(w, h, step) if "rows" in step else all_loss(w, h, step)
    return losses


def all_loss(w, h, step):
    q = h @ (w["query.weight"].T @ w["key.weight"])
    scores = jnp.einsum("...ik,...jk->...ij", q, h)
    target = jax.nn.one_hot(step["pointers"], scores.shape[-1], dtype=scores.dtype)
    entropy = jax.nn.logsumexp(scores, axis=-1) - jnp.sum(scores * target, axis=-1)
    return jnp.mean(entropy * (1 - step["masks"]))


def row_loss(w, h, step):
    T, B, n, k = h.shape
    q = h.reshape(-1, k)[step["rows"]] @ (w["query.weight"].T @ w["key.weight"])
    scores = jnp.einsum("rk,rjk->rj", q, h.reshape(-1, n, k)[step["row_steps"]])
    target = jax.nn.one_hot(step["row_targets"], n, dtype=scores.dtype)
    entropy = jax.nn.logsumexp(scores, axis=-1) - jnp.sum(scores * target, axis=-1)
    return jnp.sum(entropy * step["row_counts"]) / (T * B * n)


def add_total(losses):
    total = sum(losses.values())
    return total, losses | {"total": total}


def time_axis(batch):
    return {name: batch[name] for name in ("operated", "before")}


def losses_in_scan(w, batch):
    """What a user writes first: everything inside the scan."""
    stepper = step_dense if form == "dense" else step_algebra
    B, n = batch["priorities"].shape
    names = ("operated", "before", "answers", "masks", "pointers")

    def body(h, x):
        z, h = stepper(w, h, batch["priorities"], x["operated"], x["before"])
        return h, heads(w, z, h, x)

    h0 = jnp.zeros((B, n, w["encoder.bias"].shape[0]))
    _, losses = lax.scan(body, h0, {name: batch[name] for name in names})
    return add_total({name: jnp.mean(value) for name, value in losses.items()})


def losses_after_scan(w, batch):
    """The recurrence in the scan, what only reads it after the scan."""
    B, n = batch["priorities"].shape
    h0 = jnp.zeros((B, n, w["encoder.bias"].shape[0]))
    f = None if form == "hoisted" else fold(w)

    def body(h, x):
        if form == "hoisted":
            z, h = step_algebra(w, h, batch["priorities"], x["operated"], x["before"])
        else:
            how = "masked" if form == "folded" else "segment"
            z, h = step_folded(f, h, batch["priorities"], x["operated"], x["before"], how)
        return h, (z, h)

    _, (z, h) = lax.scan(body, h0, time_axis(batch))
    return add_total(heads(w, z, h, batch))


def gradients(w, batch):
    """Losses and the gradient of their sum, means over the batch."""
    loss = losses_in_scan if form in ("dense", "algebra") else losses_after_scan
    both = jax.value_and_grad(loss, has_aux=True)

    def some(chunk):
        (_, losses), g = both(w, chunk)
        return losses, g

    count = batch["priorities"].shape[0]
    if "chunks" not in extras:
        return some(batch)
    size = max(s for s in range(1, CHUNK + 1) if count % s == 0 and (s < count or s == 1))

    def chunked(name, value):
        axis = 0 if name == "priorities" else 1
        value = value.reshape(*value.shape[:axis], -1, size, *value.shape[axis + 1 :])
        return jnp.moveaxis(value, axis, 0)

    chunks = {name: chunked(name, value) for name, value in batch.items()}
    shapes = jax.eval_shape(some, jax.tree.map(lambda value: value[0], chunks))
    zeros = jax.tree.map(lambda shape: jnp.zeros(shape.shape, shape.dtype), shapes)
    add = lambda sums, chunk: (jax.tree.map(jnp.add, sums, some(chunk)), None)  # noqa: E731
    sums, _ = lax.scan(add, zeros, chunks)
    return jax.tree.map(lambda total: total / (count // size), sums)


def adam(w, g, state):
    """One Adam step, learning rate 0.005, β 0.9 and 0.999, ε 1e-8."""
    m, v, t = state
    t = t + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
    scale = 0.005 / (1 - 0.9**t)
    root = 1 / (1 - 0.999**t)
    w = jax.tree.map(lambda w, m, v: w - scale * m / (jnp.sqrt(v * root) + 1e-8), w, m, v)
    return w, (m, v, t)


def epoch_contestant(data, w):
    batch = prepare(data)
    devices = args.threads if many_devices else 1
    count = batch["priorities"].shape[0]
    if count % devices:
        raise SystemExit(f"{count} sequences cannot be shared evenly by {devices} devices")
    rows = mask0_rows(batch, devices) if form == "rows" and PGN else {}

    if devices == 1:
        batch = {name: jnp.asarray(value) for name, value in batch.items()}
        batch |= {name: jnp.asarray(value[0]) for name, value in rows.items()}

        @jax.jit
        def train(w, state, batch):
            losses, g = gradients(w, batch)
            return *adam(w, g, state), losses
    else:
        split = lambda name: 0 if name == "priorities" else 1  # noqa: E731
        batch = {n: np.stack(np.split(v, devices, axis=split(n))) for n, v in batch.items()}
        batch |= rows
        mesh = jax.make_mesh((devices,), ("d",))
        P = jax.sharding.PartitionSpec
        batch = jax.device_put(batch, jax.sharding.NamedSharding(mesh, P("d")))

        def one_share(w, state, batch):
            losses, g = gradients(w, jax.tree.map(lambda x: x[0], batch))
            g, losses = lax.pmean((g, losses), "d")
            return *adam(w, g, state), losses

        train = jax.jit(
            jax.shard_map(
                one_share, mesh=mesh, in_specs=(P(), P(), P("d")), out_specs=P(), check_vma=False
            )
        )

    zeros = jax.tree.map(jnp.zeros_like, w)
    start = (zeros, zeros, jnp.float32(0))
    _, _, losses = train(w, start, batch)
    current = [w, start]

    def repetition():
        new_w, state, _ = train(current[0], current[1], batch)
        jax.block_until_ready(new_w)
        current[:] = [new_w, state]

    losses = {name: float(value) for name, value in losses.items()}
    return repetition, losses, {"weights": lambda: jax.tree.map(np.asarray, current[0])}


# Rollout -------------------------------------------------------------------------------------


def first_argmax(scores):
    """jnp.argmax gives the lowest index of ties, as we do; the reduction form vectorises."""
    n = scores.shape[-1]
    best = jnp.max(scores, axis=-1, keepdims=True)
    return jnp.min(jnp.where(scores == best, jnp.arange(n, dtype=jnp.int32), n), axis=-1)


def repoint_rows(q, h, pointers, moves, block):
    """Best-scoring nodes of the nodes that move only: a loop over as many blocks as there are."""
    n = h.shape[0]
    (index,) = jnp.nonzero(moves, size=n + block, fill_value=n)

    def one_block(i, pointers):
        rows = lax.dynamic_slice(index, (i * block,), (block,))
        scores = q[jnp.minimum(rows, n - 1)] @ h.T
        return pointers.at[rows].set(first_argmax(scores), mode="drop")

    return lax.fori_loop(0, (jnp.sum(moves) + block - 1) // block, one_block, pointers)


def repoint_blocks(q, h, pointers, moves, block):
    n, k = h.shape
    padded = jnp.pad(q, ((0, -n % block), (0, 0))).reshape(-1, block, k)
    best = lax.map(lambda rows: first_argmax(rows @ h.T), padded).reshape(-1)[:n]
    return jnp.where(moves, best, pointers)


def rollout_contestant(data, w):
    priorities = jnp.asarray(data["priorities"][:1])
    n = priorities.shape[1]
    operands = jnp.asarray(data["operands"][0].astype(np.int32))
    how = "masked" if form == "dense" else "segment"

    @jax.jit
    def rollout(w, priorities, operands):
        f = fold(w)
        k = w["encoder.bias"].shape[0]
        D = w["decoder.weight"][0]
        own = jnp.arange(n, dtype=jnp.int32)
        folded = w["query.weight"].T @ w["key.weight"] if PGN else None

        def body(carry, pair):
            h, pointers = carry
            operated = ((own == pair[0]) | (own == pair[1])).astype(h.dtype)[None]
            z, h = step_folded(f, h, priorities, operated, pointers, how)
            query = jnp.max(z[0], 0) @ D[:k] + jnp.max(h[0], 0) @ D[k:] + w["decoder.bias"][0]
            if not PGN:
                return (h, pointers), (query, jnp.zeros(n), pointers[0])
            M = w["mask.weight"][0]
            mask = z[0] @ M[:k] + h[0] @ M[k:] + w["mask.bias"][0]
            moves = ~(mask > 0)
            q = h[0] @ folded
            if form == "rows":
                new = repoint_rows(q, h[0], pointers[0], moves, min(32, n))
            elif form == "blocks":
                new = repoint_blocks(q, h[0], pointers[0], moves, min(100, n))
            else:
                new = jnp.where(moves, first_argmax(q @ h[0].T), pointers[0])
            return (h, new[None]), (query, mask, new)

        start = (jnp.zeros((1, n, k)), own[None])
        return lax.scan(body, start, operands)[1]

    query, mask, pointers = map(np.asarray, rollout(w, priorities, operands))
    losses = {"query": float(bce(query, data["answers"][0].astype(np.float32)))}
    details = {}
    if PGN:
        losses["masks"] = float(bce(mask, data["masks"][0].astype(np.float32)))
        details["moved"] = int((~(mask > 0)).sum())

    def repetition():
        jax.block_until_ready(rollout(w, priorities, operands))

    return repetition, losses, details


def main() -> None:
    data = protocol.load(args.data)
    w = {name: jnp.asarray(value) for name, value in protocol.load(args.weights).items()}
    contestant = epoch_contestant if args.mode == "epoch" else rollout_contestant
    repetition, losses, details = contestant(data, w)
    protocol.serve(args, repetition, losses, framework=f"jax {jax.__version__}", **details)


if __name__ == "__main__":
    main()
