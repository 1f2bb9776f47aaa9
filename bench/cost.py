"""How the cost of a rollout grows: with nodes, from 20 to 100,000, and with operations.

    python bench/cost.py measure --pgn target/release/pgn --run results/paper/dsu/pgn/seed-0 \\
        --into bench/results/cost.json
    python bench/cost.py draw bench/results/cost.json docs/images/cost.svg

Every measurement is a process of its own, so that its peak memory is known. Leave the machine
alone meanwhile. Nothing but Python is needed.
"""

import argparse
import json
import math
import os
import subprocess
from pathlib import Path

NODES = [20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000]
OPS = [10, 30, 100, 300, 1000, 3000]


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
    threads = os.cpu_count()
    rows = [measured(arguments, n, 30, t) for n in NODES for t in sorted({1, threads})]
    rows += [measured(arguments, n, ops, 1) for n in (20, 1000) for ops in OPS if ops != 30]
    Path(arguments.into).write_text(json.dumps(rows, indent=1) + "\n")


WIDTH, HEIGHT, LEFT, TOP = 300, 230, 64, 40
COLOURS = ["#0072b2", "#d55e00", "#009e73"]
DASHES = ["", "6 3", "2 3"]
STYLE = """<style>
text { fill: #222; font: 12px sans-serif } .grid { stroke: #ccc }
@media (prefers-color-scheme: dark) { .paper { fill: #16181c } text { fill: #ddd } .grid { stroke: #444 } }
</style>"""


def panel(number: int, title: str, x_name: str, lines: dict, unit: str) -> list[str]:
    """One log-log panel; lines are {name: [(x, y)]}."""
    points = [point for line in lines.values() for point in line]
    low_x, high_x = (bound(math.log10(x) for x, _ in points) for bound in (min, max))
    low_y = math.floor(min(math.log10(y) for _, y in points))
    high_y = math.ceil(max(math.log10(y) for _, y in points))
    left = LEFT + number * (WIDTH + LEFT + 20)
    place_x = lambda x: left + WIDTH * (math.log10(x) - low_x) / (high_x - low_x)
    place_y = lambda y: TOP + HEIGHT * (high_y - math.log10(y)) / (high_y - low_y)
    text = [f'<text x="{left}" y="{TOP - 16}" font-weight="bold">{title}</text>']
    for power in range(math.ceil(low_x), math.floor(high_x) + 1):
        at = place_x(10**power)
        text.append(f'<path class="grid" d="M{at:.1f} {TOP}v{HEIGHT}"/>')
        text.append(f'<text x="{at:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{10**power:,}</text>')
    for power in range(low_y, high_y + 1):
        at = place_y(10**power)
        text.append(f'<path class="grid" d="M{left} {at:.1f}h{WIDTH}"/>')
        text.append(
            f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{named(power, unit)}</text>'
        )
    text.append(f'<text x="{left + WIDTH}" y="{TOP + HEIGHT + 36}" text-anchor="end">{x_name}</text>')
    for index, (name, line) in enumerate(lines.items()):
        colour, dash = COLOURS[index], DASHES[index]
        way = " ".join(f"{place_x(x):.1f},{place_y(y):.1f}" for x, y in line)
        text.append(
            f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dash}"/>'
        )
        for x, y in line:
            text.append(f'<circle cx="{place_x(x):.1f}" cy="{place_y(y):.1f}" r="3" fill="{colour}"/>')
        at = TOP + HEIGHT + 58 + 18 * index
        text.append(
            f'<path d="M{left} {at - 4}h28" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        )
        text.append(f'<text x="{left + 36}" y="{at}">{name}</text>')
    return text


def named(power: int, unit: str) -> str:
    if unit == "s":
        return {-7: "0.1 µs", -6: "1 µs", -5: "10 µs", -4: "100 µs", -3: "1 ms", -2: "10 ms", -1: "100 ms", 0: "1 s"}[power]
    return {6: "1 MB", 7: "10 MB", 8: "100 MB", 9: "1 GB"}[power]


def draw(arguments) -> None:
    rows = json.loads(Path(arguments.data).read_text())
    cost, memory, length = {}, {}, {}
    for row in rows:
        threads = f"{row['threads']} thread" + ("s" if row["threads"] > 1 else "")
        if row["ops"] == 30:
            cost.setdefault(threads, []).append((row["nodes"], row["seconds_per_op"]))
            memory.setdefault(threads, []).append((row["nodes"], row["peak_bytes"]))
        if row["threads"] == 1 and row["nodes"] in (20, 1000):
            total = row["seconds_per_op"] * row["ops"]
            length.setdefault(f"n = {row['nodes']:,}", []).append((row["ops"], total))
    length = {name: sorted(line) for name, line in length.items()}
    text = panel(0, "time per operation", "nodes", cost, "s")
    text += panel(1, "peak memory of the program", "nodes", memory, "B")
    text += panel(2, "time of a rollout", "operations", length, "s")
    width = LEFT + 3 * (WIDTH + LEFT + 20) - 20
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + 110}">'
        f'{STYLE}<rect class="paper" width="100%" height="100%" fill="white"/>'
    )
    Path(arguments.svg).write_text("\n".join([head, *text, "</svg>", ""]))


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
