"""What the tests of both engines share: a small sweep, a plain run of it, and comparing."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PGN = Path(os.environ.get("PGN", TARGET / "debug" / "pgn"))

# Six runs, two of which depend on another two. EPOCHS is set so that one takes some seconds.
SWEEP = """
epochs = {epochs}
evaluate_every = 50
[data]
sequences = 20
validation_sequences = 6
[test]
nodes = [20, 50]
sequences = 4
[sweep]
task = ["dsu"]
model = ["gnn", "pgn", "pgn-ptrs"]
seed = [0, 1]
"""

RUNS = [f"dsu/{model}/seed-{seed}" for seed in (0, 1) for model in ("gnn", "pgn", "pgn-ptrs")]


def skip(why: str) -> None:
    """Says in one line why a test is skipped; with CI=true that is an error."""
    print(f"SKIPPED {Path(sys.argv[0]).name}: {why}", file=sys.stderr)
    sys.exit(1 if os.environ.get("CI") == "true" else 0)


def step(text: str) -> None:
    print(text, flush=True)


def pgn(*arguments: object, **options: object) -> str:
    command = [str(PGN), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
    return str(done.stdout)


def plain(folder: Path, epochs: int = 200) -> Path:
    """The sweep, run by one process. Returns the sweep's file; the runs are beside it."""
    sweep = folder / "sweep.toml"
    sweep.write_text(SWEEP.format(epochs=epochs))
    pgn("sweep", sweep, "--out", folder / "plain")
    return sweep


def progress(run: Path) -> int:
    """The epoch of a run's last checkpoint; 0 if there is none."""
    try:
        with open(run / "checkpoint.safetensors", "rb") as file:
            size = int.from_bytes(file.read(8), "little")
            metadata = json.loads(file.read(size))["__metadata__"]
            return int(json.loads(metadata["progress"])["epoch"])
    except OSError:
        return 0


def assert_same(plain: Path, out: Path) -> None:
    """Every run has the outcome of the plain one, byte for byte."""
    for run in RUNS:
        for name in ("config.toml", "model.safetensors", "metrics.jsonl"):
            a, b = (plain / run / name).read_bytes(), (out / run / name).read_bytes()
            assert a == b, f"{run}/{name} differs"
        a, b = (json.loads((d / run / "results.json").read_text()) for d in (plain, out))
        a.pop("timing"), b.pop("timing"), a.pop("crc32c"), b.pop("crc32c")
        assert a == b, f"{run}/results.json differs"
        assert not (out / run / ".lease").exists(), f"{run} is still leased"
