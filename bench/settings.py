"""What each setting of the network costs in training.

    python bench/settings.py --pgn target/release/pgn --write results/studies/speed.md

Processor time of one epoch on one thread: the paper's setting, 70 sequences of 20 nodes and 30
operations, forward, backward and Adam. Settings take turns, round after round, and the lowest time
counts, so that other programs matter little. Start-up is measured with fewer epochs and subtracted.
Nothing but Python is needed.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import marked

ROOT = Path(__file__).resolve().parents[1]
FEW, MANY = 10, 130

# What the row is called, the task, and the flags of `pgn train`. Times in a block are relative to
# its first row.
BLOCKS = {
    "`pgn` on `lct`": (
        "lct",
        {
            "`pgn`": "--model pgn",
            "`forcing = \"own\"`": "--model pgn --forcing own",
            "`forcing = \"free\"` (`pgn-free`)": "--model pgn-free",
            "the same, half of the operations teacher-forced": "--model pgn-free "
            "--teacher-probability 0.5",
            "`layers = 2`": "--model pgn --layers 2",
            "`layers = 3`": "--model pgn --layers 3",
            "`message_aggregation = \"sum\"`": "--model pgn --message-aggregation sum",
            "`message_aggregation = \"mean\"`": "--model pgn --message-aggregation mean",
            "`readout_aggregation = \"sum\"`": "--model pgn --readout-aggregation sum",
            "`pointer_processor = true`": "--model pgn --pointer-processor",
            "`pointer_types = [\"left\", \"right\"]`": "--model pgn --pointer-types left,right",
        },
    ),
    "`pgn-nm` on `lct`": (
        "lct",
        {"`pgn-nm`": "--model pgn-nm", "`pgn-nm-free`": "--model pgn-nm-free"},
    ),
    "`gnn` on `lct`": (
        "lct",
        {
            "`gnn`": "--model gnn",
            "`message_aggregation = \"sum\"`": "--model gnn --message-aggregation sum",
        },
    ),
    "`pgn` on `kruskal`": (
        "kruskal",
        {
            "without the graph": "--model pgn",
            "`input_graph = \"edges\"`": "--model pgn --input-graph edges",
            "`input_graph = \"head\"`": "--model pgn --input-graph head",
        },
    ),
}


def processor_seconds(command) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def train(pgn: str, task: str, flags: str, epochs: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        command = [pgn, "train", "--task", task, *flags.split(), "--epochs", epochs]
        command += ["--evaluate-every", epochs, "--threads", 1, "--test-nodes", 20]
        command += ["--test-sequences", 1, "--out", Path(folder) / "run"]
        return processor_seconds(command)


def measure(pgn: str, rounds: int) -> dict:
    rows = [
        (block, row, task, flags)
        for block, (task, settings) in BLOCKS.items()
        for row, flags in settings.items()
    ]
    best: dict = {}
    for number in range(rounds):
        for block, row, task, flags in rows:
            for epochs in (FEW, MANY):
                seconds = train(pgn, task, flags, epochs)
                key = block, row, epochs
                best[key] = min(best.get(key, seconds), seconds)
        print(f"round {number + 1} of {rounds}", flush=True)
    out: dict = {}
    for block, row, *_ in rows:
        seconds = (best[block, row, MANY] - best[block, row, FEW]) / (MANY - FEW)
        out.setdefault(block, {})[row] = round(1000 * seconds, 2)
    return out


def table(times: dict) -> str:
    text = "| | epoch | relative |\n| --- | --- | --- |\n"
    for block, rows in times.items():
        text += f"| **{block}** | | |\n"
        base = next(iter(rows.values()))
        for row, milliseconds in rows.items():
            text += f"| {row} | {milliseconds:.1f} ms | {milliseconds / base:.2f} |\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pgn", default="pgn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=ROOT / "bench/results/settings.json")
    parser.add_argument("--write", type=Path, help="a document with the begin and end markers")
    arguments = parser.parse_args()
    times = measure(arguments.pgn, arguments.rounds)
    arguments.json.write_text(json.dumps(times, indent=1, ensure_ascii=False) + "\n")
    text = table(times)
    print(text)
    if arguments.write:
        marked.put(arguments.write, "settings", text)


if __name__ == "__main__":
    main()
