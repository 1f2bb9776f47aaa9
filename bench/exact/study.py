"""Leave one out: what each ingredient of `pgn-exact` contributes.

    python bench/exact/study.py --pgn target/release/pgn --out runs/exact-study --seeds 3

Trains every variant on both tasks and every seed, evaluates it at n = 20 and 100 (35 sequences)
and n = 1,000 (3 sequences), and writes `study.json`. A run that is there is not repeated, so the
study can be stopped at any time. Seeds are the outer loop: the first pass gives the whole picture.
"""

import argparse
import json
import subprocess
from pathlib import Path

EXACT = "network.processor.iterated"

# name: (what is changed, settings by dotted key, tasks)
VARIANTS = {
    "pgn-exact": {},
    "no children's messages": {f"{EXACT}.relations": ["parent", "global"]},
    "no parent's messages": {f"{EXACT}.relations": ["children", "global"]},
    "no global messages": {f"{EXACT}.relations": ["parent", "children"]},
    "no relation biases": {f"{EXACT}.relation_biases": False},
    "no deep forests in training": {"data.transitions.forests": 0.0},
    "always 24 steps in training": {f"{EXACT}.more_steps": 0},
    "at most 48 steps at test": {f"{EXACT}.steps": 48, f"{EXACT}.more_steps": 0,
                                 f"{EXACT}.steps_per_depth": 0},
    "one more step per depth at test": {f"{EXACT}.steps_per_depth": 1},
    "no cap": {f"{EXACT}.cap": None},
    "u and v not told apart": {"network.inputs": ["operated", "self-pointing"]},
    "roots not marked": {"network.inputs": ["first", "second"]},
    "loss weights 1, 1, 1": {"network.losses": {"query": 1.0, "pointers": 1.0, "masks": 1.0,
                                                 "dgm": 0.0}},
    "all nodes take part": {f"{EXACT}.participants": "all"},
    "all nodes take part, all are candidates": {f"{EXACT}.participants": "all",
                                                "network.candidates": "all"},
}
LARGE = 1000


def settings_of(base: dict, changes: dict) -> dict:
    settings = json.loads(json.dumps(base))
    for key, value in changes.items():
        *tables, last = key.split(".")
        place = settings
        for table in tables:
            place = place.setdefault(table, {})
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value
    return settings


def to_toml(settings: dict, prefix: str = "") -> str:
    plain = {k: v for k, v in settings.items() if not isinstance(v, dict)}
    text = "".join(f"{k} = {json.dumps(v)}\n" for k, v in plain.items())
    for key, value in settings.items():
        if isinstance(value, dict):
            name = f"{prefix}{key}"
            text += f"\n[{name}]\n{to_toml(value, name + '.')}"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pgn", default="pgn")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=1500)
    parser.add_argument("--tasks", default="forest,dsu-ordered")
    parser.add_argument("--threads", default="1")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for seed in range(arguments.seeds):
        for name, changes in VARIANTS.items():
            for task in arguments.tasks.split(","):
                rows.append(run(arguments, name, changes, task, seed))
                target = arguments.out / f"study-{arguments.tasks}.json"
                target.write_text(json.dumps({"epochs": arguments.epochs, "rows": rows}, indent=1))


def run(arguments, name: str, changes: dict, task: str, seed: int) -> dict:
    folder = arguments.out / f"{task}-{seed}-{name.replace(' ', '_').replace(',', '')}"
    config = arguments.out / f"{folder.name}.toml"
    large = arguments.out / f"{folder.name}-{LARGE}.json"
    pgn = [arguments.pgn]
    threads = ["--threads", arguments.threads]
    base = {"task": task, "model": "pgn-exact", "seed": seed, "epochs": arguments.epochs}
    base["test"] = {"nodes": [20, 100], "sequences": 35}
    settings = settings_of(base, changes)
    if changes.get(f"{EXACT}.cap", 0) is None:
        # The preset's cap would come back: say that there is none by a number never reached.
        settings = settings_of(settings, {f"{EXACT}.cap": 1e30})
    config.write_text(to_toml(settings))
    command = [*pgn, "train", "--config", config, "--out", folder, *threads]
    trained = subprocess.run(command, capture_output=True, text=True)
    row = {"variant": name, "task": task, "seed": seed, "test": {}}
    if trained.returncode != 0:
        row["failed"] = trained.stderr.strip().splitlines()[-1]
        print(row, flush=True)
        return row
    results = json.loads((folder / "results.json").read_text())
    sets = results["test"]
    if "all" not in changes.get(f"{EXACT}.participants", ""):
        if not large.exists():
            command = [*pgn, "eval", folder, "--nodes", str(LARGE), "--count", "3", "--json"]
            done = subprocess.run([*command, *threads], capture_output=True, text=True, check=True)
            large.write_text(done.stdout)
        sets = sets + json.loads(large.read_text())["test"]
    for test in sets:
        row["test"][test["nodes"]] = {"f1": test["f1"], "exact": test["sequences_exact"]}
    row["train_seconds"] = results["timing"]["train_seconds"]
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
