"""Trains and certifies every machine with several seeds, by the default recipe.

    python bench/machines/seeds.py --pgn target/release/pgn --out runs/machine-seeds

A row per run goes to `results/machines/seeds.json`: how many views are right, the smallest margin
of any decision, the hash of the weights, and the scores on the test sets where the task has them.
Finished runs are not repeated. Nothing but Python is needed.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

TASKS = "dsu,lct,forest,splay,heap"
SCORES = ["nodes", "ops", "sequences", "f1", "sequences_exact", "pointer_accuracy", "mask_accuracy"]


def ask(*command, allowed=(0,)) -> dict:
    """What `pgn COMMAND --json` prints."""
    done = subprocess.run([*map(str, command), "--json"], capture_output=True, text=True)
    if done.returncode not in allowed:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return json.loads(done.stdout)


def measure(pgn: str, out: Path, task: str, seed: int) -> dict:
    run = out / f"{task}-{seed}"
    train = [pgn, "train", "--task", task, "--model", "pgn-machine", "--seed", seed]
    results = ask(*train, "--out", run)
    # Code 1: not certified, which is a result.
    ask(pgn, "certify", run, allowed=(0, 1))
    certificate = json.loads((run / "certificate.json").read_text())
    test = [{key: size[key] for key in SCORES} for size in results["test"]]
    row = {"task": task, "seed": seed, "epochs": results["epochs"]}
    row |= {"certified": certificate["certified"], "views": results["views"]}
    return row | {"weights": certificate["weights"], "test": test}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pgn", default="pgn")
    parser.add_argument("--out", type=Path, required=True, help="where the runs go")
    parser.add_argument("--into", type=Path, default=Path("results/machines/seeds.json"))
    parser.add_argument("--tasks", default=TASKS)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    rows = []
    for task in arguments.tasks.split(","):
        for seed in range(arguments.seeds):
            rows.append(row := measure(arguments.pgn, arguments.out, task, seed))
            views = row["views"]
            print(task, seed, "certified" if row["certified"] else "not certified", end=", ")
            print(f"margin {views['margin']:.2f}, f1 {[s['f1'] for s in row['test']]}", flush=True)
            arguments.into.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
