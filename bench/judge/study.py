"""Full-size cases of the judge's problems: right or not, and how long.

    cargo build --release -p pgn-cli
    cargo build --release -p pgn-uses --example by_hand
    python bench/judge/study.py measure --into results/uses/judge.json
    python bench/judge/study.py table results/uses/judge.json results/uses/README.md

Cases are as large as the Library Checker's, of the same kinds. Every output is compared with that
of the structures written by hand. Times are processor seconds of the whole process, which has one
thread: what other programs do at the same time matters little.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import marked

LIMITS = {
    "unionfind": 5,
    "dynamic_tree_vertex_add_path_sum": 5,
    "incremental_minimum_spanning_forest": 10,
    "minimum_spanning_tree": 5,
}


def parent_of(kind: str, node: int, rng: random.Random) -> int:
    """One of the nodes before this one."""
    return {
        "random": lambda: rng.randrange(node),
        "path": lambda: node - 1,
        "almost a path": lambda: node - 1 - rng.randrange(min(node, 3)),
        "star": lambda: 0,
    }[kind]()


def shuffled(count: int, rng: random.Random):
    numbers = list(range(count))
    rng.shuffle(numbers)
    return numbers


def tree(kind: str, nodes: int, rng: random.Random):
    """The edges of a tree whose nodes have names in random order."""
    names = shuffled(nodes, rng)
    for node in range(1, nodes):
        yield names[node], names[parent_of(kind, node, rng)]


def unionfind(kind, rng, size):
    edges = list(tree(kind, size, rng))
    yield f"{size} {size}"
    for query in range(size):
        u, v = edges[query // 2] if query % 2 == 0 else (rng.randrange(size), rng.randrange(size))
        yield f"{query % 2} {u} {v}"


def dynamic_tree_vertex_add_path_sum(kind, rng, size):
    yield f"{size} {size}"
    yield " ".join(str(rng.randrange(10**9)) for _ in range(size))
    names = shuffled(size, rng)
    parents = [0] + [parent_of(kind, node, rng) for node in range(1, size)]
    yield from (f"{names[node]} {names[parents[node]]}" for node in range(1, size))
    for _ in range(size):
        which = rng.randrange(3)
        if which == 0:
            # Parents come before their children, so that it stays a tree.
            node = 1 + rng.randrange(size - 1)
            before, after = parents[node], parent_of(rng.choice([kind, "random"]), node, rng)
            parents[node] = after
            yield f"0 {names[node]} {names[before]} {names[node]} {names[after]}"
        elif which == 1:
            yield f"1 {rng.randrange(size)} {rng.randrange(10**9)}"
        else:
            yield f"2 {rng.randrange(size)} {rng.randrange(size)}"


def incremental_minimum_spanning_forest(kind, rng, size):
    nodes, count = size * 5 // 2, size * 5
    weights = rng.sample(range(1, 10**9), count)
    if kind in ("path", "star"):
        weights.sort(reverse=True)
    yield f"{nodes} {count}"
    edges = tree(kind, nodes, rng) if kind != "random" else iter(())
    for weight in weights:
        u, v = next(edges, None) or (rng.randrange(nodes), rng.randrange(nodes))
        yield f"{u} {v} {weight}"


def minimum_spanning_tree(kind, rng, size):
    nodes = size * 5 // 4
    count = size * 5 // 2
    yield f"{nodes} {count}"
    edges = tree(kind, nodes, rng)
    for _ in range(count):
        u, v = next(edges, None) or (rng.randrange(nodes), rng.randrange(nodes))
        yield f"{u} {v} {rng.randrange(10**9)}"


CASES = [unionfind, dynamic_tree_vertex_add_path_sum]
CASES += [incremental_minimum_spanning_forest, minimum_spanning_tree]
KINDS = ["random", "path", "almost a path", "star"]


def solve(command, path: Path):
    """The output, what the program tells, and the processor seconds it took."""
    out, err = path.with_name("out"), path.with_name("err")
    with path.open("rb") as case, out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(command, stdin=case, stdout=stdout, stderr=stderr)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command}: {err.read_text()}")
    stats = json.loads(err.read_text().splitlines()[-1])
    return out.read_bytes(), stats | {"seconds": used.ru_utime + used.ru_stime}


def measure(arguments) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for make in CASES:
            problem = make.__name__
            machine = "lct" if "forest" in problem or "tree_" in problem else "dsu"
            machine = "dsu" if problem == "minimum_spanning_tree" else machine
            for kind in KINDS:
                path = Path(folder) / "case"
                lines = make(kind, random.Random(f"{problem} {kind}"), arguments.size)
                path.write_text("\n".join(lines) + "\n")
                expected, by_hand = solve([arguments.by_hand, problem], path)
                modes = ["compiled"]
                if problem == "unionfind" and kind == "random":
                    modes.append("network")
                for mode in modes:
                    place = Path(arguments.machines) / machine
                    command = [arguments.pgn, "judge", problem, place, "--mode", mode, "--stats"]
                    found, stats = solve(command, path)
                    row = {"problem": problem, "case": kind, "mode": mode, "right": found == expected}
                    row |= {"limit": LIMITS[problem], "seconds": round(stats["seconds"], 3)}
                    row |= {"operations": stats["operations"]}
                    rows.append(row | {"by_hand": round(by_hand["seconds"], 3)})
                    print(rows[-1], flush=True)
                    if not row["right"]:
                        sys.exit(f"{problem}, {kind}: the output differs")
    Path(arguments.into).parent.mkdir(parents=True, exist_ok=True)
    Path(arguments.into).write_text(json.dumps(rows, indent=1) + "\n")


def table(arguments) -> None:
    rows = json.loads(Path(arguments.file).read_text())
    head = ["problem", "case", "mode", "learned operations", "seconds", "by hand", "limit"]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        cells = [f"`{row['problem']}`", row["case"], row["mode"], f"{row['operations']:,}"]
        cells += [f"{row['seconds']:.2f}", f"{row['by_hand']:.2f}", f"{row['limit']}"]
        lines.append(cells)
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    marked.put(Path(arguments.document), "judge", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("measure")
    one.add_argument("--pgn", default="target/release/pgn")
    one.add_argument("--by-hand", default="target/release/examples/by_hand")
    one.add_argument("--machines", default="results/machines", help="where dsu and lct are")
    one.add_argument("--size", type=int, default=200_000, help="N of the first two problems")
    one.add_argument("--into", default="results/uses/judge.json")
    one.set_defaults(go=measure)
    two = commands.add_parser("table")
    two.add_argument("file")
    two.add_argument("document")
    two.set_defaults(go=table)
    arguments = parser.parse_args()
    arguments.go(arguments)


if __name__ == "__main__":
    main()
