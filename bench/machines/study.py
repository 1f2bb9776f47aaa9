"""How much a machine takes to learn, and what the checker proves of it.

    python bench/machines/study.py measure --pgn target/release/pgn --out runs/machine-study
    python bench/machines/study.py draw results/machines/study.json results/machines/study.svg
    python bench/machines/study.py prove --pgn target/release/pgn --runs runs/machines

`measure` trains `pgn-machine` on the traces of 1 to 100 sequences of n = 5, 10 and 20 nodes, 45 n
operations each, with several seeds. A row per run goes to `results/machines/study.json`: on how
many views it is right, whether that is all (`certified`), and whether `pgn check` proves it. Runs
that are there are not repeated, so the study can be stopped at any time.

`prove` certifies and checks the runs of `pgn sweep bench/machines/seeds.toml`. A row per run goes
to `results/machines/proofs.json`: whether it is proved, with how many obligations of each kind, how
much of a decision's lead rounding errors can use up, and the seconds of processor time that the checker took.

Nothing but Python is needed.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from drawing import GAP, HEIGHT, LEFT, TOP, WIDTH, Axis, count, legend, panel, picture

SEQUENCES = [1, 3, 10, 30, 100]
NODES = [5, 10, 20]


def variants(tasks, seeds):
    """Seeds are the outer loop: the first pass gives the whole picture."""
    for seed in range(seeds):
        for task in tasks:
            for sequences in SEQUENCES:
                for nodes in NODES:
                    yield task, nodes, sequences, seed


def proof_of(pgn, run):
    """What `pgn check` prints of a run, after `pgn certify`; nothing if it proves nothing."""
    subprocess.run([pgn, "certify", run], capture_output=True)
    command = [pgn, "check", run, "--json"]
    begin = os.times().children_user
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = round(os.times().children_user - begin, 2)
    return {**json.loads(done.stdout), "seconds": seconds} if done.returncode == 0 else {}


def prove(arguments) -> None:
    rows = []
    for run in sorted(Path(arguments.runs).glob("*/pgn-machine/seed-*")):
        results = json.loads((run / "results.json").read_text())
        views, proof = results["views"], proof_of(arguments.pgn, run)
        row = {"task": run.parts[-3], "seed": int(run.name.split("-")[1])}
        row |= {key: views[key] for key in ("met", "consistent", "consistent_right")}
        row |= {"proved": bool(proof), **proof, "program": proof.get("program")}
        row.pop("statement", None)
        rows.append(row)
        Path(arguments.into).write_text(json.dumps(rows, indent=1) + "\n")
    for task in dict.fromkeys(row["task"] for row in rows):
        runs = [row for row in rows if row["task"] == task]
        proved = [row for row in runs if row["proved"]]
        worst = max((row["rounding"] for row in proved), default=1)
        seconds = max((row["seconds"] for row in proved), default=0)
        print(
            f"{task}: {len(proved)} of {len(runs)} proved, in at most {seconds} s; "
            f"rounding errors use up at most {100 * worst:.1f} % of a lead"
        )


def measure(arguments) -> None:
    rows = []
    for task, nodes, sequences, seed in variants(
        arguments.tasks.split(","), arguments.seeds
    ):
        name = f"{task}-n{nodes}-{sequences}-{seed}"
        run = Path(arguments.out) / name
        settings = Path(arguments.out) / f"{name}.toml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(
            f'task = "{task}"\nmodel = "pgn-machine"\nseed = {seed}\n'
            f"[data]\nnodes = [{nodes}]\nsequences = {sequences}\n"
            "[test]\nnodes = [20]\nsequences = 1\n"
        )
        command = [arguments.pgn, "train", "--config", settings, "--out", run, "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{name}: {done.stderr}")
        results = json.loads(done.stdout)
        views = results["views"]
        row = {"task": task, "nodes": nodes, "sequences": sequences}
        row |= {"seed": seed, **{key: views[key] for key in views if key != "margin"}}
        row["certified"] = views["consistent_right"] == views["consistent"]
        row["proved"] = row["certified"] and bool(proof_of(arguments.pgn, run))
        row["seconds"] = round(results["timing"]["train_seconds"], 2)
        rows.append(row)
        print(row, flush=True)
        Path(arguments.into).parent.mkdir(parents=True, exist_ok=True)
        Path(arguments.into).write_text(json.dumps(rows, indent=1) + "\n")


def draw(arguments) -> None:
    rows = json.loads(Path(arguments.file).read_text())
    tasks = sorted({row["task"] for row in rows})
    sequences = Axis.powers([1, *(row["sequences"] for row in rows), 100], count)
    share = Axis(0, 1, [tick / 5 for tick in range(6)], lambda tick: f"{tick:.1f}")
    lines_of = {0: 20, 1: 10, 2: 5}
    names = {style: f"n = {nodes}" for style, nodes in lines_of.items()}
    shown = {
        "consistent views right": lambda row: row["consistent_right"] / row["consistent"],
        "runs certified": lambda row: float(row["certified"]),
    }
    parts = []
    for down, (title, value) in enumerate(shown.items()):
        for across, task in enumerate(tasks):
            lines = {}
            for style, nodes in lines_of.items():
                points: dict = {}
                for row in rows:
                    if (row["task"], row["nodes"]) == (task, nodes):
                        points.setdefault(row["sequences"], []).append(value(row))
                if points:
                    lines[style] = [(n, sum(all) / len(all)) for n, all in sorted(points.items())]
            place = LEFT + across * (WIDTH + GAP), TOP + down * (HEIGHT + GAP)
            parts += panel(
                *place, f"{task}: share of {title}", "training sequences", sequences, share, lines
            )
    below = TOP + len(shown) * (HEIGHT + GAP)
    parts += legend(LEFT, below, names)
    width, height = LEFT + len(tasks) * (WIDTH + GAP), below + 18 * len(names)
    Path(arguments.svg).write_text(picture(width, height, parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("measure")
    one.add_argument("--pgn", default="pgn")
    one.add_argument("--out", required=True, help="where the runs go")
    one.add_argument("--into", default="results/machines/study.json")
    one.add_argument("--tasks", default="lct,splay,dsu")
    one.add_argument("--seeds", type=int, default=3)
    one.set_defaults(go=measure)
    two = commands.add_parser("draw")
    two.add_argument("file")
    two.add_argument("svg")
    two.set_defaults(go=draw)
    three = commands.add_parser("prove")
    three.add_argument("--pgn", default="pgn")
    three.add_argument("--runs", required=True, help="where `pgn sweep` put them")
    three.add_argument("--into", default="results/machines/proofs.json")
    three.set_defaults(go=prove)
    arguments = parser.parse_args()
    arguments.go(arguments)


if __name__ == "__main__":
    main()
