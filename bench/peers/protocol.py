"""What every contestant of `bench/compare` has in common: arguments, files and the conversation.

A contestant loads its data and weights, warms up (compiles), and prints one JSON line

    {"ready": true, "losses": {"query": …, "masks": …, "pointers": …, "total": …}, …}

with the losses of the given weights before any training. Then it answers each line `run` on
standard input with one measured repetition, {"seconds": x, "cpu_seconds": y} (y: processor time of
all its threads), until it reads `quit`. A training contestant also knows `save FILE`, which writes
its weights as they are now (the warm-up has been one epoch already).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time


def arguments(name: str, forms: dict[str, dict[str, str]]) -> argparse.Namespace:
    """Parses the command line and pins this process to `--threads` processors.

    Call it before importing a framework: they size their thread pools on import.
    """
    listing = "\n".join(
        f"  {mode}: {form}: {text}" for mode in forms for form, text in forms[mode].items()
    )
    parser = argparse.ArgumentParser(
        prog=name,
        description=__doc__,
        epilog="forms:\n" + listing,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", required=True, help="data-set file")
    parser.add_argument("--weights", required=True, help="model.safetensors")
    parser.add_argument("--model", default="pgn", choices=("pgn", "gnn", "deepsets"))
    parser.add_argument("--mode", default="epoch", choices=tuple(forms))
    parser.add_argument("--form", help="how it is computed (default: the first of the mode)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--repeats", type=int, default=1, help="repetitions in a run; their median is reported"
    )
    args = parser.parse_args()
    args.form = args.form or next(iter(forms[args.mode]))
    if args.form not in forms[args.mode]:
        parser.error(f"--form {args.form}: {args.mode} has {', '.join(forms[args.mode])}")
    available = sorted(os.sched_getaffinity(0))
    if args.threads > len(available):
        parser.error(f"--threads {args.threads}: this process may use {len(available)} processors")
    os.sched_setaffinity(0, available[: args.threads])
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = str(args.threads)
    return args


def load(path: str):
    """The tensors of a safetensors file as numpy arrays."""
    from safetensors.numpy import load_file

    return load_file(path)


def serve(args, repetition, losses: dict[str, float], weights=None, **details) -> None:
    """Holds the conversation; `repetition()` does the work once and blocks until it is done."""
    repetition()
    say({"ready": True, "losses": losses, "form": args.form, **details})
    for line in sys.stdin:
        command = line.strip()
        if command == "quit":
            return
        if command.startswith("save ") and weights is not None:
            from safetensors.numpy import save_file

            save_file(weights(), command.removeprefix("save "))
            say({"saved": True})
            continue
        if command != "run":
            sys.exit(f"unknown command {command!r}: expected `run`, `save FILE` or `quit`")
        seconds = []
        used = time.process_time()
        for _ in range(args.repeats):
            start = time.perf_counter()
            repetition()
            seconds.append(time.perf_counter() - start)
        used = (time.process_time() - used) / args.repeats
        say({"seconds": statistics.median(seconds), "cpu_seconds": used})


def say(message: dict) -> None:
    print(json.dumps(message), flush=True)
