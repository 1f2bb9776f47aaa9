"""The baselines of the benchmark: the paper's models, machines, and models in PyTorch.

    cargo build --release -p pgn-cli
    python bench/benchmark/study.py runs/benchmark --torch python3

Trains what is not trained yet, one run at a time on one thread, predicts, scores, and writes an entry per
model and the leaderboard. Interrupted, it goes on where it was. With `--torch PYTHON`, an interpreter
that has PyTorch, it also trains bindings/python/examples/benchmark_torch.py.
"""

import argparse
import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TASKS = "dsu dsu-by-size kruskal forest lct msf bst splay heap mtf ring".split()
MACHINES = "dsu forest lct splay heap".split()

#: Name: what it is told, and the flags that train it.
MODELS = {
    "pgn": ("pointers", ["--model", "pgn"]),
    "pgn-free-2": ("pointers", ["--model", "pgn-free-2"]),
    "pgn-exact": ("pointers", ["--model", "pgn-exact"]),
    "gnn": ("answers", ["--model", "gnn"]),
    "deepsets": ("answers", ["--model", "deepsets"]),
}


def fits(model: str, task: str) -> bool:
    """`forest` has features about pointers; pgn-exact is for structures that are their pointers."""
    if model == "pgn-exact":
        return task in ("dsu", "forest")
    return task != "forest" or model.startswith("pgn")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path, help="where runs and predictions are kept")
    parser.add_argument("--into", type=Path, default=ROOT / "results/benchmark")
    parser.add_argument("--pgn", default=str(ROOT / "target/release/pgn"))
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--torch", metavar="PYTHON", help="an interpreter with PyTorch")
    parser.add_argument("--nodes", default="20,50,100,200,1000", help="sizes that networks are tested on")
    parser.add_argument("--only-score", action="store_true", help="with the runs that are there")
    arguments = parser.parse_args()

    def pgn(*flags) -> None:
        subprocess.run([arguments.pgn, *map(str, flags)], check=True)

    def finished(model: str, task: str, seed: int) -> Path:
        return arguments.work / "runs" / f"{task}-{model}-{seed}"

    def predict(name: str, *flags) -> None:
        pgn("benchmark", "predict", *flags, "--threads", 1, "--out", arguments.work / name)

    if not arguments.only_score:
        for machine in MACHINES:
            if not (arguments.work / "pgn-machine" / f"{machine}-10000-0.safetensors").exists():
                predict("pgn-machine", ROOT / "results/machines" / machine)
        for seed in range(arguments.seeds):
            for task in TASKS:
                for model, (_, flags) in MODELS.items():
                    if not fits(model, task):
                        continue
                    run = finished(model, task, seed)
                    file = arguments.work / model / f"{task}-1000-{seed}.safetensors"
                    if file.exists():
                        continue
                    # pgn-exact has epochs of its own.
                    epochs = [] if model == "pgn-exact" else ["--epochs", arguments.epochs]
                    pgn("train", "--task", task, *flags, "--seed", seed, *epochs,
                        "--threads", 1, "--test-nodes", 20, "--out", run)
                    predict(model, run, "--nodes", arguments.nodes)
        if arguments.torch:
            data = arguments.work / "data"
            pgn("benchmark", "make", data)
            for kind in ("gru", "transformer"):
                example = ROOT / "bindings/python/examples/benchmark_torch.py"
                subprocess.run(
                    [arguments.torch, example, data, arguments.work / kind, "--model", kind], check=True
                )

    protocol = f"70 sequences, at most {arguments.epochs} epochs"
    cards = {
        "pgn-machine": ("micro-steps", "proved", "traces; results/machines"),
        "gru": ("answers", "tested", "1,000 sequences, 10 epochs"),
        "transformer": ("answers", "tested", "1,000 sequences, 10 epochs"),
        **{name: (told, "tested", protocol) for name, (told, _) in MODELS.items()},
        "pgn-exact": ("pointers", "tested", "1,500 epochs of 64 fresh transitions"),
    }
    for name, (told, claim, budget) in cards.items():
        files = sorted((arguments.work / name).glob("*.safetensors"))
        if not files:
            continue
        entry = arguments.into / name
        entry.mkdir(parents=True, exist_ok=True)
        lines = {"name": name, "supervision": told, "claim": claim, "budget": budget,
                 "code": "bench/benchmark/study.py"}
        card = "".join(f'{key} = "{value}"\n' for key, value in lines.items())
        if claim == "proved":
            card += f"proofs = {json.dumps(MACHINES)}\n"
        (entry / "card.toml").write_text(card)
        pgn("benchmark", "score", *files, "--out", entry / "scores.json")
    table = subprocess.run([arguments.pgn, "benchmark", "table", arguments.into], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    (arguments.into / "README.md").write_text(table)


if __name__ == "__main__":
    main()
