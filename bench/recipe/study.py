"""What the paper leaves open about training, settled by experiment.

    python bench/recipe/study.py run --pgn target/release/pgn --out runs/recipe
    python bench/recipe/study.py gather --out runs/recipe --into results/recipe.json
    python bench/recipe/study.py table results/recipe.json docs/recipe.md

`run` trains every variant below that is not finished yet, two at a time on one thread each
(`--only lct/pgn` for some of them); `gather` writes what came out as data; `table` puts it into the
document, between its markers. Nothing but Python is needed.

There are two studies. The first had the seeds of the paper's tables and chose by validation F1. The
second chose by test F1 on larger graphs, and so has seeds (10 and up) that are in no table.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import marked

# What every variant has unless it says otherwise, whatever the program's defaults are.
BASE = {"--query-weight": "1", "--candidates": "all"}
# What differs from that, by name. Clipping is always said.
VARIANTS = {
    "as the paper has it": "--clip 0",
    "clipped": "--clip 1",
    "clipped to 0.1": "--clip 0.1",
    "clipped to 5": "--clip 5",
    "clipped to 10": "--clip 10",
    "batches of 14": "--clip 0 --batch 14",
    "clipped, batches of 14": "--clip 1 --batch 14",
    "visited candidates": "--clip 0 --candidates visited",
    "clipped, visited candidates": "--clip 1 --candidates visited",
    "clipped, visited, batches of 14": "--clip 1 --candidates visited --batch 14",
    "clipped, visited, batches of 7": "--clip 1 --candidates visited --batch 7",
    "clipped, visited, batches of 14, rate 0.002": (
        "--clip 1 --candidates visited --batch 14 --learning-rate 0.002"
    ),
    "query and key read [z ‖ h]": "--clip 0 --attention-input zh",
    "query loss × 0.1": "--clip 0 --query-weight 0.1",
    "query loss × 0.1, clipped": "--clip 1 --query-weight 0.1",
    "query loss × 0.1, visited": "--clip 0 --query-weight 0.1 --candidates visited",
    "query loss × 0.1, clipped, visited": "--clip 1 --query-weight 0.1 --candidates visited",
    "pointer and mask loss × 5, visited": (
        "--clip 0 --pointer-weight 5 --mask-weight 5 --candidates visited"
    ),
    "pointer and mask loss × 20": "--clip 0 --pointer-weight 20 --mask-weight 20",
    "pointer and mask loss × 20, clipped": "--clip 1 --pointer-weight 20 --mask-weight 20",
    "clipped, Glorot's weights": "--clip 1 --initialisation glorot",
    "clipped, PyTorch's weights": "--clip 1 --initialisation torch",
    "clipped, fresh sequences every epoch": "--clip 1 --stream",
    "query loss × 0.2, clipped, visited": "--clip 1 --query-weight 0.2 --candidates visited",
}

# The second study. Adam does not see the scale of a loss, so that losses × 5 clipped to 5 are the
# answers' loss × 0.2 clipped to 1.
VISITED = "--clip 1 --query-weight 0.2 --candidates visited"
CHOOSING = {
    "clipped": "--clip 1",
    "clipped to 5": "--clip 5",
    "as the paper has it": "--clip 0",
    "clipped to 5, rate 0.002": "--clip 5 --learning-rate 0.002",
    "clipped to 5, rate 0.01": "--clip 5 --learning-rate 0.01",
    "clipped to 5, visited": "--clip 5 --candidates visited",
    "clipped to 5, pointer loss × 5": "--clip 5 --pointer-weight 5",
    "clipped to 5, pointer and mask loss × 5": "--clip 5 --pointer-weight 5 --mask-weight 5",
    "query loss × 0.2, clipped, visited": VISITED,
    "query loss × 0.2, clipped, visited, batches of 14": f"{VISITED} --batch 14",
    "query loss × 0.2, clipped, visited, mask loss × 3": f"{VISITED} --mask-weight 3",
    "query loss × 0.2, clipped, visited, rate 0.003": f"{VISITED} --learning-rate 0.003",
    "query loss × 0.2, clipped, visited, PyTorch's weights": f"{VISITED} --initialisation torch",
    "query loss × 0.1, clipped, visited": "--clip 1 --query-weight 0.1 --candidates visited",
    "query loss × 0.2, clipped, visited, fresh sequences": f"{VISITED} --stream",
    "clipped, fresh sequences": "--clip 1 --stream",
    "clipped to 5, pointer loss × 5, visited": "--clip 5 --pointer-weight 5 --candidates visited",
    "clipped to 5, mask loss × 5, visited": "--clip 5 --mask-weight 5 --candidates visited",
}
for clip, factor in ((0, 5), (1, 5), (5, 2), (5, 5), (5, 10), (5, 20)):
    clipped = {0: "not clipped", 1: "clipped", 5: "clipped to 5"}[clip]
    CHOOSING[f"{clipped}, pointer and mask loss × {factor}, visited"] = (
        f"--clip {clip} --pointer-weight {factor} --mask-weight {factor} --candidates visited"
    )

# (task, model, epochs, seeds, variants): the plan, the questions that mattered most first.
BOTH = ["as the paper has it", "clipped"]
CLOSEST = [*BOTH, "clipped to 5", "query loss × 0.1"]
SETTLING = ["clipped to 10", "visited candidates", "clipped, batches of 14"]
WEIGHTS = ["clipped, Glorot's weights", "clipped, PyTorch's weights"]
FRESH = ["clipped, fresh sequences every epoch"]
CHOSEN = ["query loss × 0.2, clipped, visited"]
OTHERS = [
    name for name in VARIANTS if name not in [*CLOSEST, *SETTLING, *WEIGHTS, *FRESH, *CHOSEN]
]
PLAN = [
    ("lct", "pgn", 1000, (0, 1, 2, 3, 4), CLOSEST),
    ("lct", "pgn", 1000, (0, 1, 2), SETTLING),
    ("lct", "pgn", 1000, (0, 1, 2), WEIGHTS),
    ("lct", "pgn", 2000, (0, 1, 2), FRESH),
    # What the second study chose, as long as in the tables.
    ("lct", "pgn", 5000, (0, 1, 2, 3, 4), CHOSEN),
    ("lct", "pgn", 1000, (0,), OTHERS),
    ("lct", "gnn", 1500, (0, 1, 2), BOTH),
    ("lct", "gnn", 1000, (0, 1, 2), ["clipped to 5"]),
    ("dsu", "pgn", 1000, (0, 1, 2), [*BOTH, *WEIGHTS]),
    ("dsu", "pgn", 2000, (0, 1, 2), FRESH),
    ("dsu", "gnn", 2000, (0, 1, 2), [*BOTH, *WEIGHTS]),
    ("dsu", "gnn", 600, (0, 1, 2), ["clipped to 5"]),
    ("dsu", "deepsets", 1000, (0, 1, 2), BOTH),
    ("dsu", "pgn-nm", 1000, (0, 1, 2), BOTH),
    # The second study. `gather` takes what there is of it: what looked poor after two or three
    # seeds had no more.
    ("lct", "pgn", 1000, (10, 11, 12, 13, 14), [name for name in CHOOSING if "fresh" not in name]),
    ("lct", "pgn", 2000, (10, 11, 12), [name for name in CHOOSING if "fresh" in name]),
    ("dsu", "pgn", 1000, (10, 11, 12, 13), ["clipped", "query loss × 0.2, clipped, visited"]),
]
FIRST_OF_THE_SECOND = 10


def directory(out: Path, task: str, model: str, variant: str, seed: int) -> Path:
    return out / task / model / re.sub(r"[^a-z0-9.]+", "-", variant.lower()).strip("-") / f"seed-{seed}"


def planned(out: Path):
    for task, model, epochs, seeds, variants in PLAN:
        for seed in seeds:
            for variant in variants:
                place = directory(out, task, model, variant, seed)
                yield task, model, epochs, variant, seed, place


def flags(variant: str, seed: int) -> list[str]:
    second = seed >= FIRST_OF_THE_SECOND
    said = (CHOOSING if second else VARIANTS)[variant].split()
    for name, value in BASE.items():
        if name not in said:
            said += [name, value]
    return said + ["--test-sequences", "70"] if second else said


def run(arguments) -> None:
    def train(job) -> None:
        task, model, epochs, variant, seed, place = job
        if (place / "results.json").exists():
            return
        command = [arguments.pgn, "train", "--task", task, "--model", model, "--seed", str(seed)]
        command += ["--epochs", str(epochs), "--threads", "1", "--out", str(place)]
        subprocess.run(command + flags(variant, seed), check=True, stdout=subprocess.DEVNULL)
        print(f"{task} {model} seed {seed}, {variant}: done", flush=True)

    jobs = [job for job in planned(Path(arguments.out)) if str(job[5]).find(arguments.only) >= 0]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(train, jobs))


def gather(arguments) -> None:
    rows = []
    for task, model, epochs, variant, seed, place in planned(Path(arguments.out)):
        if not (place / "results.json").exists():
            continue
        results = json.loads((place / "results.json").read_text())
        row = dict(task=task, model=model, variant=variant, flags=" ".join(flags(variant, seed)))
        row |= dict(seed=seed, epochs=epochs, best_epoch=results["best_epoch"])
        row["validation_f1"] = round(results["validation"]["f1"], 4)
        for key, name in (("f1", "f1"), ("pointer_accuracy", "pointers"), ("mask_accuracy", "masks")):
            values = [test.get(key) for test in results["test"]]
            if None not in values:
                row[name] = [round(value, 4) for value in values]
        rows.append(row)
    Path(arguments.into).write_text(
        "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n"
    )


def table(arguments) -> None:
    rows = json.loads(Path(arguments.data).read_text())
    second = [row for row in rows if row["seed"] >= FIRST_OF_THE_SECOND]
    for name, rows in (("study", [row for row in rows if row not in second]), ("choosing", second)):
        marked.put(Path(arguments.document), name, rendered(rows))


def rendered(rows: list[dict]) -> str:
    groups: dict = {}
    for row in rows:
        groups.setdefault((row["task"], row["model"], row["variant"]), []).append(row)
    lines = [
        "| task, model | variant | seeds | best epochs | validation | n = 20 | 50 | 100 | 200 |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (task, model, variant), rows in groups.items():
        mean = statistics.mean
        cells = [f"{task} `{model}`", variant, str(len(rows))]
        cells.append(", ".join(str(row["best_epoch"]) for row in rows))
        cells.append(f"{mean(row['validation_f1'] for row in rows):.3f}")
        cells += [f"{mean(row['f1'][size] for row in rows):.3f}" for size in range(4)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("run")
    command.add_argument("--pgn", required=True, help="the program")
    command.add_argument("--out", required=True, help="where the runs go")
    command.add_argument("--only", default="", help="only runs whose directory contains this")
    command.add_argument("--jobs", type=int, default=2, help="runs at a time")
    command.set_defaults(do=run)
    command = commands.add_parser("gather")
    command.add_argument("--out", required=True)
    command.add_argument("--into", required=True)
    command.set_defaults(do=gather)
    command = commands.add_parser("table")
    command.add_argument("data")
    command.add_argument("document")
    command.set_defaults(do=table)
    arguments = parser.parse_args()
    arguments.do(arguments)


if __name__ == "__main__":
    main()
