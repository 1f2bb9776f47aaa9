"""The network of machines in JAX (float64), and the fixture its Rust twin is tested against.

    python bench/peers/machine_reference.py            # crates/engine/tests/machine_fixtures/
    python bench/peers/machine_reference.py --check    # compare with what is there, write nothing

Needs jax, numpy and safetensors. It shares no code with the Rust engine: a view is a dense
adjacency matrix per relation here, and gradients come from `jax.grad`. Views and actions are
random; they belong to no program. Seeds are searched, in order, for a batch without a kink (an
end of the capped ReLU) nearer than MARGIN, so that float32 and float64 are on the same side.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

jax.config.update("jax_enable_x64", True)

FILE = Path(__file__).resolve().parents[2] / "crates/engine/tests/machine_fixtures/random.safetensors"
K, ROUNDS, CAP = 8, 3, 1.5
VIEWS = 11
MARGIN = 1e-5

FIELDS = ["up", "next"]
BITS = ["flip"]
MARKS = ["visit", "seen"]
REGISTERS = ["s", "t", "u"]
CONTROLS = [("context", ["one", "two", "three"]), ("return", ["here", "there"])]
STATES = ["walk", "turn", "link", "done"]

SIGNATURE = {
    "name": "random",
    "version": 1,
    "pointers": FIELDS,
    "bits": BITS,
    "marks": MARKS,
    "registers": REGISTERS,
    "controls": [{"name": name, "values": values} for name, values in CONTROLS],
    "states": [{"name": name, "halt": "done" if name == "done" else None} for name in STATES],
    "operations": [],
}

COMMON = 1 + len(STATES) + sum(len(values) + 1 for _, values in CONTROLS)
NODE_FEATURES = COMMON + 2 * len(FIELDS) + 3 * len(BITS) + len(REGISTERS)
FEATURES = NODE_FEATURES + COMMON + 2 * len(REGISTERS)
BETWEEN = 1 + 2 * len(FIELDS) + 4
RELATIONS = BETWEEN + len(REGISTERS) + 1 + len(REGISTERS) + 1 + 1
NODE_CHOICE = K + 2 + BETWEEN + len(REGISTERS)
NODE_OUTPUTS = len(FIELDS) * NODE_CHOICE + len(BITS) + len(MARKS) + K
CONTROLLER_CHOICE = K + 2 + len(REGISTERS)
CONTROLLER_OUTPUTS = (
    len(REGISTERS) * CONTROLLER_CHOICE
    + sum(len(values) + 1 for _, values in CONTROLS)
    + len(STATES)
)
SHAPES = {
    "encoder.weight": (K, FEATURES),
    "message.weight": (RELATIONS * K, K),
    "node.weight": (NODE_OUTPUTS, K),
    "node.bias": (NODE_OUTPUTS,),
    "controller.weight": (CONTROLLER_OUTPUTS, K),
    "controller.bias": (CONTROLLER_OUTPUTS,),
}


def random_view(rng, nodes):
    def seen():
        kind = rng.integers(4) if nodes else rng.integers(2)
        return ["unread", "nil", None, None][kind] or {"node": int(rng.integers(nodes))}

    comparisons = []
    if nodes > 1:
        for _ in range(int(rng.integers(3))):
            a, b = (int(x) for x in rng.choice(nodes, 2, replace=False))
            if all((c["a"], c["b"]) != (a, b) for c in comparisons):
                comparisons.append({"a": a, "b": b, "less": bool(rng.integers(2))})
    return {
        "state": int(rng.integers(len(STATES))),
        "nodes": nodes,
        "registers": [seen() for _ in REGISTERS],
        "controls": [[None, int(rng.integers(len(v)))][rng.integers(2)] for _, v in CONTROLS],
        "pointers": [seen() for _ in range(nodes * len(FIELDS))],
        "bits": [[None, False, True][rng.integers(3)] for _ in range(nodes * len(BITS))],
        "comparisons": comparisons,
    }


def random_action(rng, nodes):
    def write():
        kind = rng.integers(3) if nodes else rng.integers(2)
        return ["keep", "nil", None][kind] or {"node": int(rng.integers(nodes))}

    return {
        "pointers": [write() for _ in range(nodes * len(FIELDS))],
        "toggles": [bool(rng.integers(2)) for _ in range(nodes * len(BITS))],
        "marks": [bool(rng.integers(2)) for _ in range(nodes * len(MARKS))],
        "registers": [write() for _ in REGISTERS],
        "controls": [[None, int(rng.integers(len(v)))][rng.integers(2)] for _, v in CONTROLS],
        "next": int(rng.integers(len(STATES))),
    }


def dense(view):
    """Features [rows, FEATURES] and adjacency [RELATIONS, hearer, heard]; the controller is the
    last row. Also biases [node, node, kinds] of a node's choices and [node, registers]."""
    n = view["nodes"]
    features = np.zeros((n + 1, FEATURES))
    heard = np.zeros((RELATIONS, n + 1, n + 1))
    controller = n

    def common(row, first):
        features[row, first] = 1
        features[row, first + 1 + view["state"]] = 1
        place = first + 1 + len(STATES)
        for (_, values), value in zip(CONTROLS, view["controls"]):
            features[row, place + (len(values) if value is None else value)] = 1
            place += len(values) + 1

    for i in range(n):
        common(i, 0)
        heard[0, i, i] = 1
        for f in range(len(FIELDS)):
            seen = view["pointers"][i * len(FIELDS) + f]
            if seen == "nil":
                features[i, COMMON + 2 * f] = 1
            elif seen == "unread":
                features[i, COMMON + 2 * f + 1] = 1
            else:
                heard[1 + f, i, seen["node"]] = 1
                heard[1 + len(FIELDS) + f, seen["node"], i] = 1
        for b in range(len(BITS)):
            value = view["bits"][i * len(BITS) + b]
            place = COMMON + 2 * len(FIELDS) + 3 * b
            features[i, place + (2 if value is None else int(value))] = 1
        heard[BETWEEN + len(REGISTERS), i, controller] = 1
        heard[BETWEEN + 2 * len(REGISTERS) + 1, controller, i] = 1
    for read in view["comparisons"]:
        relation = 1 + 2 * len(FIELDS) + (0 if read["less"] else 2)
        heard[relation, read["a"], read["b"]] = 1
        heard[relation + 1, read["b"], read["a"]] = 1
    common(controller, NODE_FEATURES)
    held = np.zeros((n, len(REGISTERS)))
    for r, seen in enumerate(view["registers"]):
        place = NODE_FEATURES + COMMON + 2 * r
        if seen == "nil":
            features[controller, place] = 1
        elif seen == "unread":
            features[controller, place + 1] = 1
        else:
            node = seen["node"]
            held[node, r] = 1
            features[node, COMMON + 2 * len(FIELDS) + 3 * len(BITS) + r] = 1
            heard[BETWEEN + r, node, controller] = 1
            heard[BETWEEN + len(REGISTERS) + 1 + r, controller, node] = 1
    heard[RELATIONS - 1, controller, controller] = 1
    related = np.concatenate(
        [
            heard[:BETWEEN, :n, :n].transpose(1, 2, 0),
            np.broadcast_to(held[None], (n, n, len(REGISTERS))),
        ],
        axis=-1,
    )
    return features, heard, related, held


def cross_entropy(scores, target):
    return jax.nn.logsumexp(scores) - scores[target]


def binary(logit, target):
    return jnp.logaddexp(0.0, logit) - logit * target


def target(write):
    return {"keep": 0, "nil": 1}[write] if isinstance(write, str) else 2 + write["node"]


def view_losses(weights, view, action):
    features, heard, related, held = dense(view)
    n = view["nodes"]
    messages = weights["message.weight"].reshape(RELATIONS, K, K)
    z = features @ weights["encoder.weight"].T
    pre = z
    kinks = [pre]
    for _ in range(ROUNDS):
        x = jnp.clip(pre, 0.0, CAP)
        pre = z + jnp.einsum("rij,jc,rdc->id", heard, x, messages)
        kinks.append(pre)
    x = jnp.clip(pre, 0.0, CAP)
    nodes = x[:n] @ weights["node.weight"].T + weights["node.bias"]
    controller = x[n] @ weights["controller.weight"].T + weights["controller.bias"]
    keys = nodes[:, NODE_OUTPUTS - K :]

    def choice(outputs, kinds, write):
        towards = keys @ outputs[:K] / np.sqrt(K) + kinds @ outputs[K + 2 :]
        return cross_entropy(jnp.concatenate([outputs[K : K + 2], towards]), target(write))

    losses = dict.fromkeys(["pointers", "toggles", "marks", "registers", "controls", "states"], 0.0)
    place = len(FIELDS) * NODE_CHOICE
    for i in range(n):
        for f in range(len(FIELDS)):
            outputs = nodes[i, f * NODE_CHOICE : (f + 1) * NODE_CHOICE]
            write = action["pointers"][i * len(FIELDS) + f]
            losses["pointers"] += choice(outputs, related[i], write)
        for b in range(len(BITS)):
            losses["toggles"] += binary(nodes[i, place + b], action["toggles"][i * len(BITS) + b])
        for m in range(len(MARKS)):
            logit = nodes[i, place + len(BITS) + m]
            losses["marks"] += binary(logit, action["marks"][i * len(MARKS) + m])
    for r in range(len(REGISTERS)):
        outputs = controller[r * CONTROLLER_CHOICE : (r + 1) * CONTROLLER_CHOICE]
        losses["registers"] += choice(outputs, held, action["registers"][r])
    place = len(REGISTERS) * CONTROLLER_CHOICE
    for (_, values), value in zip(CONTROLS, action["controls"]):
        logits = controller[place : place + len(values) + 1]
        losses["controls"] += cross_entropy(logits, 0 if value is None else value + 1)
        place += len(values) + 1
    losses["states"] += cross_entropy(controller[place:], action["next"])
    return losses, kinks


def batch_losses(weights, views, actions):
    total: dict = {}
    nearest = np.inf
    for view, action in zip(views, actions):
        losses, kinks = view_losses(weights, view, action)
        for name, value in losses.items():
            total[name] = total.get(name, 0.0) + value / len(views)
        if not isinstance(kinks[0], jax.core.Tracer):
            for pre in kinks:
                off = jnp.minimum(jnp.abs(pre), jnp.abs(pre - CAP))
                nearest = min(nearest, float(off.min()))
    total["total"] = sum(total.values())
    return total, nearest


def fixture():
    for seed in range(1000):
        rng = np.random.Generator(np.random.PCG64([seed, 13]))
        views = [random_view(rng, int(rng.integers(7))) for _ in range(VIEWS - 1)]
        views.append(random_view(rng, 0))
        actions = [random_action(rng, view["nodes"]) for view in views]
        weights = {
            name: (rng.standard_normal(shape) * (0.5 if len(shape) == 2 else 0.2)).astype("f4")
            for name, shape in SHAPES.items()
        }
        exact = {name: jnp.asarray(value, jnp.float64) for name, value in weights.items()}
        losses, nearest = batch_losses(exact, views, actions)
        if nearest < MARGIN:
            continue
        gradient = jax.grad(lambda w: batch_losses(w, views, actions)[0]["total"])(exact)
        file = {f"weights.{name}": value for name, value in weights.items()}
        file |= {f"grad.{name}": np.asarray(value) for name, value in gradient.items()}
        file |= {f"loss.{name}": np.asarray([float(v)]) for name, v in losses.items()}
        metadata = {
            "signature": json.dumps(SIGNATURE),
            "views": json.dumps(views),
            "actions": json.dumps(actions),
            "settings": json.dumps({"k": K, "rounds": ROUNDS, "cap": CAP}),
        }
        print(f"seed {seed}, nearest kink {nearest:.1e}, loss {float(losses['total']):.4f}")
        return file, metadata
    sys.exit("no seed gives a batch without kinks")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    file, metadata = fixture()
    if arguments.check:
        with safe_open(FILE, "numpy") as old:
            for name, value in file.items():
                if not np.allclose(old.get_tensor(name), value, rtol=1e-9, atol=1e-11):
                    sys.exit(f"{FILE}: {name} differs")
        return
    FILE.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: np.ascontiguousarray(v) for name, v in sorted(file.items())}, FILE, metadata)
    FILE.chmod(0o644)


if __name__ == "__main__":
    main()
