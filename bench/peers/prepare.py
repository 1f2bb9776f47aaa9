"""Data sets and initial weights without the Rust program, for racing the peers on their own.

    python bench/peers/prepare.py data --nodes 20 --count 70 --out data.safetensors
    python bench/peers/prepare.py weights --model pgn --out pgn.safetensors
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

import structures
import torch_reference as reference


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    kinds = parser.add_subparsers(dest="kind", required=True)
    data = kinds.add_parser("data")
    data.add_argument("--task", default="dsu", choices=tuple(structures.TASKS))
    data.add_argument("--nodes", type=int, required=True)
    data.add_argument("--ops", type=int, default=30)
    data.add_argument("--count", type=int, required=True)
    weights = kinds.add_parser("weights")
    weights.add_argument("--model", required=True, choices=tuple(reference.MODELS))
    weights.add_argument("--k", type=int, default=32)
    for kind in (data, weights):
        kind.add_argument("--seed", type=int, default=1)
        kind.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()

    rng = np.random.Generator(np.random.PCG64(args.seed))
    if args.kind == "data":
        tensors = structures.sample(args.task, rng, args.count, args.nodes, args.ops)
    else:
        tensors = reference.initial_weights(reference.MODELS[args.model], args.k, rng)
    save_file(tensors, args.out)


if __name__ == "__main__":
    main()
