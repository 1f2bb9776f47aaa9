"""F₁ and exactness over n: measures, and draws what was measured.

    python bench/exact/scaling.py measure --pgn target/release/pgn --run results/exact/forest \\
        --sizes 20:35,50:35,100:35,200:35,500:10,1000:10,10000:1 --into results/exact/scaling.json
    python bench/exact/scaling.py draw results/exact/scaling.json results/exact/scaling.svg

A size is `nodes:sequences` or `nodes:sequences:operations`. `measure` adds to the file, a row per
run and size, and replaces rows it measures again; runs of the paper's models (`pgn`, `gnn`,
`oracle-ptrs`, trained with `pgn train`) go into the same file. Nothing but Python is needed.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from drawing import GAP, HEIGHT, LEFT, TOP, WIDTH, Axis, count, legend, panel, picture


def measure(arguments) -> None:
    target = Path(arguments.into)
    rows = json.loads(target.read_text()) if target.exists() else []
    for size in arguments.sizes.split(","):
        nodes, count, *ops = size.split(":")
        command = [arguments.pgn, "eval", arguments.run, "--nodes", nodes, "--count", count]
        command += ["--ops", ops[0]] if ops else []
        started = time.monotonic()
        done = subprocess.run(
            [*command, "--threads", "1", "--json"], capture_output=True, text=True, check=True
        )
        report = json.loads(done.stdout)
        keep(rows, report, time.monotonic() - started)
        target.write_text(json.dumps(rows, indent=1) + "\n")


def keep(rows: list, report: dict, seconds: float) -> None:
    (test,) = report["test"]
    row = {name: report[name] for name in ("task", "model", "seed")}
    row |= {name: test[name] for name in ("nodes", "ops", "sequences", "f1")}
    row["exact"] = test.get("sequences_exact")
    row["execution"] = test.get("execution")
    row["seconds"] = round(report.get("seconds", seconds), 2)
    key = lambda r: (r["task"], r["model"], r["seed"], r["nodes"])
    rows[:] = sorted([r for r in rows if key(r) != key(row)] + [row], key=key)
    print(row, flush=True)


MODELS = ["pgn-exact", "oracle-ptrs", "pgn", "gnn"]
PROBLEMS = {"disjoint sets": ("dsu", "dsu-ordered"), "dynamic trees": ("lct", "forest")}
SCORES = {"f1": "F₁", "exact": "sequences right to the last pointer"}


def draw(arguments) -> None:
    rows = json.loads(Path(arguments.file).read_text())
    parts = []
    nodes = Axis.powers([10, *(row["nodes"] for row in rows)], count)
    share = Axis(0, 1, [tick / 5 for tick in range(6)], lambda tick: f"{tick:.1f}")
    for down, (score, score_name) in enumerate(SCORES.items()):
        for across, (problem, tasks) in enumerate(PROBLEMS.items()):
            lines = {}
            for style, model in enumerate(MODELS):
                points: dict = {}
                for row in rows:
                    if row["model"] == model and row["task"] in tasks and row[score] is not None:
                        points.setdefault(row["nodes"], []).append(row[score])
                if points:
                    lines[style] = [(n, sum(each) / len(each)) for n, each in points.items()]
            place = LEFT + across * (WIDTH + GAP), TOP + down * (HEIGHT + GAP)
            parts += panel(*place, f"{problem}: {score_name}", "nodes", nodes, share, lines)
    below = TOP + 2 * (HEIGHT + GAP)
    parts += legend(LEFT, below, dict(enumerate(MODELS)))
    width, height = LEFT + 2 * (WIDTH + GAP), below + 18 * len(MODELS)
    Path(arguments.svg).write_text(picture(width, height, parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("measure")
    one.add_argument("--pgn", default="pgn")
    one.add_argument("--run", required=True)
    one.add_argument("--sizes", required=True)
    one.add_argument("--into", required=True)
    one.set_defaults(go=measure)
    two = commands.add_parser("draw")
    two.add_argument("file")
    two.add_argument("svg")
    two.set_defaults(go=draw)
    arguments = parser.parse_args()
    arguments.go(arguments)


if __name__ == "__main__":
    main()
