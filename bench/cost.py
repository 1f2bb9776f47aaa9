"""How the cost of a rollout grows: with nodes, from 20 to 100,000, and with operations.

    python bench/cost.py measure --pgn target/release/pgn --run results/paper/dsu/pgn/seed-0 \\
        --into bench/results/cost.json
    python bench/cost.py draw bench/results/cost.json docs/images/cost.svg

Every measurement is a process of its own, so that its peak memory is known; the plan is gone through
several times, and of each measurement the quickest counts. Leave the machine alone meanwhile.
Nothing but Python is needed.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

from drawing import GAP, HEIGHT, LEFT, TOP, WIDTH, Axis, count, legend, panel, picture

NODES = [20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000]
OPS = [10, 30, 100, 300, 1000, 3000]
ROUNDS = 4


def measured(arguments, nodes: int, ops: int, threads: int) -> dict:
    command = [arguments.pgn, "bench", "--run", arguments.run, "--models", "deepsets"]
    command += ["--sizes", str(nodes), "--ops", str(ops), "--repeats", "5"]
    command += ["--threads", str(threads), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    line = json.loads(text)["measurements"][-1]
    print(f"{line['what']}, {ops} operations, {threads} threads: {line['seconds'] * 1e6:.0f} µs")
    return {
        "nodes": nodes,
        "ops": ops,
        "threads": threads,
        "seconds_per_op": line["seconds"],
        "peak_bytes": usage.ru_maxrss * 1024,
    }


def measure(arguments) -> None:
    plan = [(n, 30, t) for n in NODES for t in sorted({1, os.cpu_count()})]
    plan += [(n, ops, 1) for n in (20, 1000) for ops in OPS if ops != 30]
    rounds = [[measured(arguments, *place) for place in plan] for _ in range(ROUNDS)]
    rows = [min(rows, key=lambda row: row["seconds_per_op"]) for rows in zip(*rounds)]
    Path(arguments.into).write_text(json.dumps(rows, indent=1) + "\n")


SECONDS = {1e-6: "1 µs", 1e-5: "10 µs", 1e-4: "0.1 ms", 1e-3: "1 ms", 1e-2: "10 ms", 1e-1: "0.1 s"}
SECONDS |= {1: "1 s", 10: "10 s"}
BYTES = {1e6: "1 MB", 1e7: "10 MB", 1e8: "100 MB", 1e9: "1 GB"}


def draw(arguments) -> None:
    rows = json.loads(Path(arguments.data).read_text())
    threads = sorted({row["threads"] for row in rows})
    cost, memory, length = {}, {}, {}
    for row in rows:
        if row["ops"] == 30:
            style = threads.index(row["threads"])
            cost.setdefault(style, []).append((row["nodes"], row["seconds_per_op"]))
            memory.setdefault(style, []).append((row["nodes"], row["peak_bytes"]))
        if row["threads"] == 1 and row["nodes"] in (20, 1000):
            style = (20, 1000).index(row["nodes"])
            length.setdefault(style, []).append((row["ops"], row["seconds_per_op"] * row["ops"]))
    of_threads = {i: f"{n} thread{'s' if n > 1 else ''}" for i, n in enumerate(threads)}
    panels = [
        ("time per operation", "nodes", cost, SECONDS, of_threads),
        ("peak memory of the program", "nodes", memory, BYTES, of_threads),
        ("time of a whole rollout", "operations", length, SECONDS, {0: "n = 20", 1: "n = 1,000"}),
    ]
    parts = []
    for number, (title, x_name, lines, units, names) in enumerate(panels):
        left = LEFT + number * (WIDTH + GAP)
        points = [point for line in lines.values() for point in line]
        x = Axis.powers([x for x, _ in points], count)
        y = Axis.powers([y for _, y in points], lambda tick: units[float(tick)], whole=True)
        parts += panel(left, TOP, title, x_name, x, y, lines)
        parts += legend(left, TOP + HEIGHT + 56, names)
    width, height = LEFT + 3 * (WIDTH + GAP) - GAP + 24, TOP + HEIGHT + 90
    Path(arguments.svg).write_text(picture(width, height, parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("measure")
    one.add_argument("--pgn", required=True, help="the program")
    one.add_argument("--run", required=True, help="a trained run")
    one.add_argument("--into", required=True, help="a JSON file")
    one.set_defaults(do=measure)
    two = commands.add_parser("draw")
    two.add_argument("data")
    two.add_argument("svg")
    two.set_defaults(do=draw)
    arguments = parser.parse_args()
    arguments.do(arguments)


if __name__ == "__main__":
    main()
