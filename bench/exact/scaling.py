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
import math
import subprocess
import time
from pathlib import Path


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


COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22"]
WIDTH, HEIGHT, LEFT, TOP = 360, 260, 56, 36


def draw(arguments) -> None:
    rows = json.loads(Path(arguments.file).read_text())
    lines = sorted({(r["model"], r["task"]) for r in rows})
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * (WIDTH + LEFT) + 30}" '
        f'height="{TOP + HEIGHT + 50 + 16 * len(lines)}" font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    most = max(6, math.ceil(max(math.log10(r["nodes"]) for r in rows)))
    for panel, (score, title) in enumerate(
        [("f1", "F₁"), ("exact", "share of sequences right to the last pointer")]
    ):
        left = LEFT + panel * (WIDTH + LEFT)
        x = lambda n: left + WIDTH * (math.log10(n) - 1) / (most - 1)
        y = lambda value: TOP + HEIGHT * (1 - value)
        text.append(f'<text x="{left}" y="{TOP - 14}" font-size="13">{title}</text>')
        for tick in range(6):
            at = y(tick / 5)
            text.append(f'<path d="M{left} {at}h{WIDTH}" stroke="#ddd"/>')
            text.append(f'<text x="{left - 6}" y="{at + 4}" text-anchor="end">{tick / 5:.1f}</text>')
        for power in range(1, most + 1):
            at = x(10**power)
            text.append(f'<path d="M{at} {TOP}v{HEIGHT}" stroke="#ddd"/>')
            text.append(
                f'<text x="{at}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{10**power:,}</text>'
            )
        for number, (model, task) in enumerate(lines):
            colour = COLOURS[number % len(COLOURS)]
            of_line = [r for r in rows if (r["model"], r["task"]) == (model, task)]
            points = {}
            for r in of_line:
                if r[score] is not None:
                    points.setdefault(r["nodes"], []).append(r[score])
            means = [(n, sum(v) / len(v)) for n, v in sorted(points.items())]
            way = " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in means)
            text.append(
                f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
            )
            for n, value in means:
                text.append(f'<circle cx="{x(n):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}"/>')
    for number, (model, task) in enumerate(lines):
        at = TOP + HEIGHT + 40 + 16 * number
        colour = COLOURS[number % len(COLOURS)]
        text.append(f'<path d="M{LEFT} {at - 4}h24" stroke="{colour}" stroke-width="3"/>')
        text.append(f'<text x="{LEFT + 32}" y="{at}">{model}, {task}</text>')
    text.append(f'<text x="{LEFT + WIDTH}" y="{TOP + HEIGHT + 32}" text-anchor="end">nodes</text>')
    Path(arguments.svg).write_text("\n".join([*text, "</svg>", ""]))


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
