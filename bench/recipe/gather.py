"""The sweeps of this folder, as data and as tables of results/studies/recipe.md.

    python bench/recipe/gather.py runs/choice            # runs.json -> results/studies/choice.json
    python bench/recipe/gather.py --tables               # all of them -> the document

A line of a table is the mean over the seeds of one condition; ± is the sample standard deviation.
"""

import json
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ROOT / "results" / "studies"
sys.path.insert(0, str(ROOT / "bench"))
import marked

SCORES = {"f1": "f1", "pointers": "pointer_accuracy", "masks": "mask_accuracy"}


def gather(runs: Path) -> None:
    """Keeps of every run what the tables need; its condition is a part of its path."""
    kept = []
    for path in sorted(runs.glob("**/results.json")):
        run = json.loads(path.read_text())
        condition = "/".join(path.relative_to(runs).parts[2:-2])
        test = {
            str(one["nodes"]): {k: round(one[v], 4) for k, v in SCORES.items() if v in one}
            for one in run["test"]
        }
        kept.append(
            {
                "task": run["task"],
                "model": run["model"],
                "condition": condition,
                "seed": run["seed"],
                "best_epoch": run["best_epoch"],
                "validation": round(run["validation"]["f1"], 4),
                "test": test,
            }
        )
    lines = ",\n".join(json.dumps(run, ensure_ascii=False) for run in kept)
    (STUDIES / f"{runs.name}.json").write_text(f"[\n{lines}\n]\n")


def table(name: str, accuracies: bool) -> str:
    runs = json.loads((STUDIES / f"{name}.json").read_text())
    sizes = list(runs[0]["test"])
    head = ["", "seeds", "best epochs", "validation", f"F₁, n = {sizes[0]}", *sizes[1:]]
    if accuracies:
        head += [f"pointers, %, n = {sizes[0]}", "100", "masks, %, n = 20", "100"]
    lines = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    groups = {}
    # The choice has 24 conditions: the document shows the task that they differ on.
    for run in (run for run in runs if name != "choice" or run["task"] == "lct"):
        groups.setdefault((run["task"], run["model"], run["condition"]), []).append(run)

    def quality(key):
        return key[0], -statistics.mean(run["test"]["20"]["f1"] for run in groups[key])

    for key in sorted(groups, key=quality):
        of = groups[key]
        row = [" ".join([f"`{key[0]}`", f"`{key[1]}`", key[2]]).strip(), str(len(of))]
        row.append(", ".join(str(run["best_epoch"]) for run in of))
        row.append(f"{statistics.mean(run['validation'] for run in of):.3f}")
        for n in sizes:
            values = [run["test"][n]["f1"] for run in of]
            deviation = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
            row.append(f"{statistics.mean(values):.3f}{deviation}")
        for score in ("pointers", "masks") if accuracies else ():
            for n in ("20", "100"):
                values = [run["test"][n][score] for run in of if score in run["test"][n]]
                row.append(f"{100 * statistics.mean(values):.1f}" if values else "–")
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["--tables"]:
        for name in ("choice", "patience", "no-masks", "forcing", "layers", "how-far", "how-far-wide"):
            accuracies = name in ("choice", "patience", "no-masks")
            if (STUDIES / f"{name}.json").exists():
                marked.put(STUDIES / "recipe.md", name, table(name, accuracies))
    elif len(sys.argv) == 2 and Path(sys.argv[1]).is_dir():
        gather(Path(sys.argv[1]))
    else:
        sys.exit(__doc__)
