"""Sentences of the paper that can be measured, each with a small table.

    python bench/sentences/study.py run --pgn target/release/pgn --out runs/sentences
    python bench/sentences/study.py gather --out runs/sentences --into results/studies/sentences.json
    python bench/sentences/study.py table results/studies/sentences.json results/studies/sentences.md

`run` trains every variant below that is not finished yet, two runs at a time on one thread each;
`--only lct/pgn` trains some of them, `--known results/studies/sentences.json` leaves out what that file has.
`gather` adds what came out to the data. `table` puts it into the document, between its markers.
Nothing but Python is needed.

Seeds are 10, 11 and 12, which are not in the main tables, and training takes 1,000 epochs.
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

SEEDS = [10, 11, 12]
SIZES = [20, 50, 100, 200]

# A table each: its rows are (label, task, model, settings of the network, settings of a rollout).
# Rows with settings of a rollout are tests of the model that the row before them trained.
BOTH = ["dsu", "lct"]
PGN = {"as in the paper: max": {}}
AGGREGATION = PGN | {
    "messages: sum": {"message_aggregation": "sum"},
    "messages: mean": {"message_aggregation": "mean"},
    "readout: sum": {"readout_aggregation": "sum"},
    "readout: mean": {"readout_aggregation": "mean"},
}
LAYERS = {"1 layer": {}, "2 layers": {"layers": 2}, "3 layers": {"layers": 3}}
TYPES = {"one pointer, `up`": {}, "`up`, `left` and `right`": {"pointer_types": ["left", "right"]}}
GRAPHS = {
    "without the graph": {},
    "its edges added to the pointers'": {"input_graph": "edges"},
    "a head of its own": {"input_graph": "head"},
}
DYNAMIC = {"by size": {"test_layers": {"nodes": 20}}, "by depth": {"test_layers": {"depth": 2}}}


def rows(tasks, models, variants):
    return [(label, task, model, s) for task in tasks for model in models for label, s in variants.items()]


TABLES = {
    "aggregation": rows(BOTH, ["pgn"], AGGREGATION),
    "layers": rows(BOTH, ["pgn"], LAYERS),
    "separate": rows(BOTH, ["pgn"], {"one processor": {}, "a second one for pointers": {"pointer_processor": True}}),
    "dynamic": rows(["lct"], ["pgn", "oracle-ptrs"], LAYERS),
    "types": rows(["lct"], ["pgn", "pgn-free", "oracle-ptrs"], TYPES),
    "linking": rows(["dsu", "dsu-by-size", "dsu-by-rank"], ["pgn"], {"": {}}),
    "graph": rows(["kruskal"], ["pgn"], GRAPHS),
}


def slug(settings):
    flat = json.dumps(settings, sort_keys=True)
    return re.sub(r"[^a-z0-9]+", "-", flat.lower()).strip("-") or "plain"


def place(out, task, model, settings, seed):
    return Path(out) / task / model / slug(settings) / f"seed-{seed}"


def toml(settings):
    lines = ["[network]"]
    for key, value in settings.items():
        if isinstance(value, dict):
            value = "{ " + ", ".join(f"{k} = {v}" for k, v in value.items()) + " }"
        else:
            value = json.dumps(value)
        lines.append(f"{key} = {value}")
    return "\n".join(lines) + "\n"


def wanted():
    """Every run once, seed by seed: a study that is cut short has whole seeds."""
    seen = []
    for seed in SEEDS:
        for table in TABLES.values():
            for _, task, model, settings in table:
                run = (task, model, settings, seed)
                if run not in seen:
                    seen.append(run)
    return seen


def run(arguments):
    def train(one):
        task, model, settings, seed = one
        folder = place(arguments.out, *one)
        if (folder / "results.json").is_file():
            return
        folder.parent.mkdir(parents=True, exist_ok=True)
        config = folder.parent / f"settings-{seed}.toml"
        config.write_text(toml(settings))
        command = [arguments.pgn, "train", "--task", task, "--model", model, "--seed", str(seed)]
        command += ["--epochs", "1000", "--threads", "1", "--config", str(config), "--out", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"{folder}: {done.stderr.strip().splitlines()[-1:]}", flush=True)
        else:
            print(folder, flush=True)

    known = measured(arguments.known)
    chosen = [
        one for one in wanted() if arguments.only in str(place("", *one)) and key(*one) not in known
    ]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(train, chosen))
    dynamic(arguments)


def dynamic(arguments):
    """Tests the trained models of one table with other numbers of layers."""
    for label, task, model, settings in TABLES["dynamic"]:
        for seed in SEEDS:
            trained = place(arguments.out, task, model, settings, seed)
            if not (trained / "results.json").is_file() or not settings:
                continue
            for more in DYNAMIC.values():
                tested = place(arguments.out, task, model, settings | more, seed)
                if (tested / "scores.json").is_file():
                    continue
                tested.mkdir(parents=True, exist_ok=True)
                (by, base), = more["test_layers"].items()
                command = [arguments.pgn, "eval", str(trained), "--test-layers", f"{by}:{base}", "--json"]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode:
                    print(f"{tested}: {done.stderr.strip()}", flush=True)
                    continue
                (tested / "scores.json").write_text(done.stdout)
                print(tested, flush=True)


def key(task, model, settings, seed):
    return task, model, slug(settings), seed


def measured(file):
    """What a file of data has: by task, model, settings and seed."""
    if not file or not Path(file).is_file():
        return {}
    return {
        key(row["task"], row["model"], row["settings"], run["seed"]): run
        for rows in json.loads(Path(file).read_text()).values()
        for row in rows
        for run in row["runs"]
    }


def f1s(tests):
    return [next(test["f1"] for test in tests if test["nodes"] == size) for size in SIZES]


def gather(arguments):
    known = measured(arguments.into)
    gathered = {}
    for name, table in TABLES.items():
        gathered[name] = []
        extra = list(DYNAMIC.items()) if name == "dynamic" else []
        for label, task, model, settings in table:
            chosen = [("", {})] + (extra if settings else [])
            for by, more in chosen:
                runs = []
                for seed in SEEDS:
                    one = task, model, settings | more, seed
                    folder = place(arguments.out, *one)
                    if not (folder / ("scores.json" if more else "results.json")).is_file():
                        if key(*one) in known:
                            runs.append(known[key(*one)])
                        continue
                    results = json.loads((folder / ("scores.json" if more else "results.json")).read_text())
                    row = {"seed": seed, "f1": [round(f1, 4) for f1 in f1s(results["test"])]}
                    if not more:
                        row["validation_f1"] = round(results["validation"]["f1"], 4)
                        row["seconds"] = round(results["timing"]["train_seconds"], 1)
                    runs.append(row)
                title = f"{label}, more {by}" if by else label
                gathered[name].append(
                    {"label": title, "task": task, "model": model, "settings": settings | more, "runs": runs}
                )
    Path(arguments.into).write_text(json.dumps(gathered, indent=1, ensure_ascii=False) + "\n")


def spread(values):
    values = list(values)
    if not values:
        return "–"
    deviation = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.3f}{deviation}"


def markdown(rows):
    lines = ["| task | model | | seeds | validation | n = 20 | 50 | 100 | 200 |", "| --- " * 9 + "|"]
    for row in rows:
        runs = row["runs"]
        if not runs:
            continue
        cells = [f"`{row['task']}`", f"`{row['model']}`", row["label"], str(len(runs))]
        cells.append(spread(run["validation_f1"] for run in runs if "validation_f1" in run))
        cells += [spread(run["f1"][size] for run in runs) for size in range(4)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table(arguments):
    data = json.loads(Path(arguments.data).read_text())
    for name, rows in data.items():
        marked.put(Path(arguments.document), name, markdown(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("run")
    command.add_argument("--pgn", required=True, help="the program")
    command.add_argument("--out", required=True, help="where the runs go")
    command.add_argument("--only", default="", help="only runs whose directory contains this")
    command.add_argument("--known", default="", help="leave out the runs of this file of data")
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
