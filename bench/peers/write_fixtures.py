"""Writes the fixtures that the engine's tests compare themselves with.

    python bench/peers/write_fixtures.py            # crates/engine/tests/fixtures/*.safetensors
    python bench/peers/write_fixtures.py --check    # compare with what is there, write nothing

One file per model and task: a small batch, weights, and what the float64 reference makes of
them. Before anything is written the reference is checked against finite differences of its own
loss, and its ground truth against naive simulations. Seeds are searched, in order, for a batch
on which float32 arithmetic is trustworthy: no kink (a ReLU's corner, a maximum's or argmax's
runner-up, a mask's threshold) nearer than MARGIN (a tenth of it where several layers, heads or
processors have several times as many kinks), and a float32 run of the same equations that stays
within TOLERANCE of the float64 one.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.numpy import save_file

import structures
import torch_reference as reference

COUNT, NODES, OPS, K = 3, 7, 6, 8
EDGES = 7  # of an input graph
ADAM_STEPS = 10
MARGIN = 1e-5
TOLERANCE = 2e-5
FOLDER = Path(__file__).resolve().parents[2] / "crates/engine/tests/fixtures"


def compute(spec, weights, data, dtype, kinks=None) -> dict[str, torch.Tensor]:
    batch = reference.tensors(data, dtype)
    w = reference.parameters(weights, dtype)
    forward = reference.unroll(spec, w, batch, kinks)
    out = {}
    for name, value in forward.items():
        if name.startswith("loss."):
            out[name] = value.detach().reshape(1)
        elif name != "pointers" or spec.forcing != "teacher":
            out[f"forward.{name}"] = value.detach()
    for name, value in reference.gradients(spec, w, batch).items():
        out[f"grad.{name}"] = value
    for name, value in reference.rollout(spec, w, batch, kinks).items():
        out[f"rollout.{name}"] = value
    reference.adam(spec, w, batch, ADAM_STEPS, kinks)
    for name, value in w.items():
        out[f"after{ADAM_STEPS}.{name}"] = value.detach()
    return out


def check_finite_differences(spec, weights, data, gradient, rng) -> float:
    """Central differences along coordinates and random directions; the worst relative error."""
    batch = reference.tensors(data)
    w = {name: value.detach() for name, value in reference.parameters(weights).items()}

    def loss(direction, size):
        moved = {name: w[name] + size * direction[name] for name in w}
        with torch.no_grad():
            return float(reference.unroll(spec, moved, batch)["loss.total"])

    def directions():
        for name, value in w.items():
            for _ in range(3):
                unit = {other: torch.zeros_like(v) for other, v in w.items()}
                unit[name].view(-1)[int(rng.integers(value.numel()))] = 1.0
                yield unit
        for _ in range(5):
            yield {name: torch.from_numpy(rng.standard_normal(v.shape)) for name, v in w.items()}

    worst = 0.0
    for direction in directions():
        expected = sum(float((gradient[name] * direction[name]).sum()) for name in w)
        length = float(np.sqrt(sum(float((d * d).sum()) for d in direction.values())))
        size = 1e-6 / length
        got = (loss(direction, size) - loss(direction, -size)) / (2 * size)
        error = abs(got - expected) / max(abs(expected), 1e-3 * length)
        worst = max(worst, error)
    if worst > 1e-5:
        sys.exit(f"finite differences and autograd differ by {worst:.1e}")
    return worst


def find(model: str, task: str):
    """The first seed whose batch and weights float32 can be trusted on."""
    spec = reference.MODELS[model]
    key = [ord(c) for c in f"{model}/{task}"]
    margin = MARGIN if spec.size == 1 else MARGIN / 10
    for seed in range(2000):
        rng = np.random.Generator(np.random.PCG64([seed, *key]))
        data = structures.sample(task, rng, COUNT, NODES, OPS, fields=spec.types)
        if spec.input_graph is not None:
            data["edges"] = structures.sample_graphs(rng, COUNT, NODES, EDGES)
        weights = reference.initial_weights(spec, K, rng, bias_scale=0.1)
        kinks = reference.Kinks()
        exact = compute(spec, weights, data, torch.float64, kinks)
        if kinks.nearest < margin or not interesting(spec, exact):
            continue
        single = compute(spec, weights, data, torch.float32)
        differences = [float((exact[name] - single[name]).abs().max()) for name in exact]
        if max(differences) > TOLERANCE:
            continue
        return seed, rng, spec, data, weights, exact, kinks.nearest, max(differences)
    sys.exit(f"no seed gives a trustworthy batch for {model} on {task}")


def interesting(spec, exact) -> bool:
    """Whether a rollout with masks both moves and keeps pointers, and latents are not all dead."""
    if spec.update == "masked":
        kept = (exact["rollout.mask_logits"] > 0).double().mean()
        if not 0.2 < kept < 0.8:
            return False
    if spec.update is not None:
        pointers = exact["rollout.pointers"]
        own = torch.arange(pointers.shape[-1])
        if (pointers == own).all() or len(pointers.unique()) < 4:
            return False
    return bool((exact["forward.h"] > 0).double().mean() > 0.3)


def fixture(model: str, task: str) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    seed, rng, spec, data, weights, exact, nearest, difference = find(model, task)
    gradient = {n.removeprefix("grad."): v for n, v in exact.items() if n.startswith("grad.")}
    worst = check_finite_differences(spec, weights, data, gradient, rng)
    file = dict(data)
    file |= {f"weights.{name}": value for name, value in weights.items()}
    for name, value in exact.items():
        is_index = value.dtype == torch.int64
        file[name] = value.numpy().astype(np.uint32) if is_index else value.numpy()
    print(
        f"{model:14} {task}: seed {seed}, nearest kink {nearest:.1e}, float32 within "
        f"{difference:.1e}, finite differences within {worst:.1e}"
    )
    metadata = {"model": model, "task": task, "k": str(K), "seed": str(seed)}
    return {name: np.ascontiguousarray(value) for name, value in sorted(file.items())}, metadata


def compare(path: Path, file: dict[str, np.ndarray]) -> None:
    """Against the committed file; the last bits of float64 may differ between machines."""
    if not path.exists():
        sys.exit(f"{path}: not found; write it by running this without --check")
    with safe_open(path, "numpy") as old:
        if set(old.keys()) != set(file):
            sys.exit(f"{path}: holds other tensors than the generator writes")
        for name, value in file.items():
            stored = old.get_tensor(name)
            if stored.shape != value.shape or stored.dtype != value.dtype:
                sys.exit(f"{path}: {name} has another shape or type")
            if not np.allclose(stored, value, rtol=1e-9, atol=1e-11):
                sys.exit(f"{path}: {name} differs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    structures.check()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for task in structures.TASKS:
        for model, spec in reference.MODELS.items():
            if not spec.runs_on(task):
                continue
            file, metadata = fixture(model, task)
            path = arguments.folder / f"{model}-{task}.safetensors"
            if arguments.check:
                compare(path, file)
            else:
                temporary = path.with_suffix(".tmp")
                save_file(file, temporary, metadata)
                temporary.chmod(0o644)
                temporary.rename(path)


if __name__ == "__main__":
    main()
