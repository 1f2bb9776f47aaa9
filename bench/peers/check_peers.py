"""Checks every form of the peers against the float64 fixtures, before anyone races them.

    python bench/peers/check_peers.py [--peer jax_peer.py] [--form segment] [--threads 2]

Training forms must have the fixture's losses, and its weights after ten Adam steps; rollout forms
the losses and number of moved pointers of the reference's own rollout.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file, save_file

import torch_reference as reference

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parents[1] / "crates/engine/tests/fixtures"
DATA = ("priorities", "operands", "answers", "masks", "pointers")


def conversation(command, requests):
    result = subprocess.run(
        command, input="".join(f"{r}\n" for r in requests), capture_output=True, text=True
    )
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nfailed:\n{result.stderr}")
    return json.loads(result.stdout.splitlines()[0])


def split(fixture, folder: Path):
    """A data-set file and a weights file from a fixture."""
    data = {name: fixture[name] for name in DATA}
    weights = {n.removeprefix("weights."): v for n, v in fixture.items() if n[:8] == "weights."}
    save_file(data, folder / "data.safetensors")
    save_file(weights, folder / "weights.safetensors")
    return data, weights


def check_epoch(command, fixture, folder: Path) -> float:
    saved = folder / "after.safetensors"
    answer = conversation(command, ["run"] * 9 + [f"save {saved}", "quit"])
    worst = max(abs(v - fixture[f"loss.{n}"][0]) for n, v in answer["losses"].items())
    after = load_file(saved)
    for name, value in after.items():
        worst = max(worst, float(np.abs(value - fixture[f"after10.{name}"]).max()))
    return worst


def check_rollout(command, model, data, weights, folder: Path) -> float:
    # One sequence at a time: that is what the race times.
    first = {name: value[:1] for name, value in data.items()}
    save_file(first, folder / "data.safetensors")
    spec = reference.MODELS[model]
    batch = reference.tensors(first)
    exact = reference.rollout(spec, reference.parameters(weights), batch)
    bce = torch.nn.functional.binary_cross_entropy_with_logits
    answer = conversation(command, ["run", "quit"])
    worst = abs(answer["losses"]["query"] - float(bce(exact["query_logits"], batch["answers"])))
    if spec.has_mask:
        masks = float(bce(exact["mask_logits"], batch["masks"]))
        worst = max(worst, abs(answer["losses"]["masks"] - masks))
        moved = int((~(exact["mask_logits"] > 0)).sum())
        if answer["moved"] != moved:
            sys.exit(f"{answer['form']} moved {answer['moved']} pointers, not {moved}")
    return worst


def forms(peer: str, mode: str) -> list[str]:
    result = subprocess.run([sys.executable, HERE / peer, "--help"], capture_output=True, text=True)
    lines = (line.split(":") for line in result.stdout.splitlines())
    return [parts[1].strip() for parts in lines if parts[0].strip() == mode and len(parts) > 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", action="append", help="default: all")
    parser.add_argument("--form", action="append", help="default: all")
    parser.add_argument("--model", action="append", help="default: pgn, gnn, deepsets")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--tolerance", type=float, default=2e-5)
    arguments = parser.parse_args()
    for peer in arguments.peer or ("jax_peer.py", "torch_peer.py"):
        for mode in ("epoch", "rollout"):
            for form in arguments.form or forms(peer, mode):
                if form not in forms(peer, mode):
                    continue
                for model in arguments.model or ("pgn", "gnn", "deepsets"):
                    for task in ("dsu", "lct"):
                        fixture = load_file(FIXTURES / f"{model}-{task}.safetensors")
                        with tempfile.TemporaryDirectory() as name:
                            folder = Path(name)
                            data, weights = split(fixture, folder)
                            command = [sys.executable, HERE / peer, "--mode", mode]
                            command += ["--data", folder / "data.safetensors"]
                            command += ["--weights", folder / "weights.safetensors"]
                            command += ["--model", model, "--form", form]
                            command += ["--threads", arguments.threads]
                            if mode == "epoch":
                                worst = check_epoch(command, fixture, folder)
                            else:
                                worst = check_rollout(command, model, data, weights, folder)
                        print(f"{peer} {mode} {form} {model} {task}: within {worst:.1e}", flush=True)
                        if worst > arguments.tolerance:
                            sys.exit("too far from the reference")


if __name__ == "__main__":
    main()
