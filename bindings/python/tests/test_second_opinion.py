"""The checker of proofs and z3 agree: on the built-in programs, and on mutants of them."""

from __future__ import annotations

import importlib.util
import json
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pgn
import pytest

pytest.importorskip("z3", reason="z3-solver is not installed")
SCRIPT = Path(__file__).parents[3] / "crates/check/second_opinion.py"


@pytest.fixture(scope="module")
def second() -> Any:
    spec = importlib.util.spec_from_file_location("second_opinion", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table(second: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """The proof of a built-in machine."""

    def of(name: str) -> Any:
        run = tmp_path_factory.mktemp(name) / "run"
        machine = pgn.machines.load(name)
        machine.save(run)
        subprocess.run([sys.executable, "-m", "pgn", "certify", str(run)], check=True, capture_output=True)
        return second.proof_of(str(run / "proof.safetensors"))

    return of


def first(proof: Any, path: Path) -> str | None:
    """What `pgn check` has against a table: the part of a proof, or nothing."""
    path.write_text(json.dumps(proof))
    done = subprocess.run([sys.executable, "-m", "pgn", "check", str(path)], capture_output=True, text=True)
    if done.returncode == 0:
        return None
    assert "not proved: " in done.stderr, done.stderr
    return done.stderr.split("not proved: ")[1].split(":")[0]


@pytest.mark.parametrize("name", ["dsu", "forest", "heap", "lct", "splay"])
def test_both_judge_networks_alike(second: Any, name: str, tmp_path: Path) -> None:
    """A weight grows until a decision is another one: both say so, and of the same row."""
    run = tmp_path / "run"
    pgn.machines.load(name).save(run)
    subprocess.run([sys.executable, "-m", "pgn", "certify", str(run)], check=True, capture_output=True)
    proof = run / "proof.safetensors"
    assert second.decisions(proof) == {}
    contents, mutant, rng = proof.read_bytes(), tmp_path / "mutant.safetensors", random.Random(4)
    start = 8 + int.from_bytes(contents[:8], "little")
    rejected = 0
    for _ in range(6 if name == "splay" else 12):
        place = start + 4 * rng.randrange((len(contents) - start) // 4)
        (weight,) = struct.unpack("<f", contents[place : place + 4])
        changed = struct.pack("<f", weight * rng.choice([-30.0, 30.0]))
        mutant.write_bytes(contents[:place] + changed + contents[place + 4 :])
        wrong = second.decisions(mutant)
        command = [sys.executable, "-m", "pgn", "check", str(mutant)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode == 0) == (not wrong), (wrong, done.stderr)
        assert not wrong or "not proved: arithmetic: " in done.stderr, done.stderr
        rejected += bool(wrong)
    assert rejected > 0


@pytest.mark.parametrize(("name", "rows"), [("dsu", 99), ("forest", 99), ("heap", 99), ("lct", 6), ("splay", 6)])
def test_both_prove_the_programs(second: Any, table: Callable[[str], Any], name: str, rows: int) -> None:
    refuted, counts = second.opinion(table(name), rows)
    assert refuted == [] and counts["induction"] > 100


@pytest.mark.parametrize("name", ["dsu", "forest", "heap", "lct", "splay"])
def test_both_miss_the_same_rows(
    second: Any, table: Callable[[str], Any], name: str, tmp_path: Path
) -> None:
    """Without a row a table has a gap, unless the clauses exclude its view."""
    whole, rng = table(name), random.Random(2)
    z3 = second.Opinion(whole)
    few = 3 if name in ("lct", "splay") else 6
    for number in rng.sample(range(len(whole["rows"])), few):
        proof = {**whole, "rows": whole["rows"][:number] + whole["rows"][number + 1 :]}
        view = whole["rows"][number]["view"]
        assert first(proof, tmp_path / "gap.json") == "coverage" and z3.occurs(view), number
        # A clause that excludes the view excuses the gap.
        shown = [place for place, node in enumerate(view["registers"]) if node >= 0]
        if shown:
            names = whole["signature"]
            register, state = names["registers"][shown[0]], names["states"][view["state"]]["name"]
            proof["clauses"] = [*whole["clauses"], f"{state}: {register} = nil"]
            assert not second.Opinion(proof).occurs(view), number
            assert first(proof, tmp_path / "gap.json") in ("induction", "start"), number


@pytest.mark.parametrize("name", ["lct", "splay"])
def test_both_judge_actions_alike(
    second: Any, table: Callable[[str], Any], name: str, tmp_path: Path
) -> None:
    """One write of one action is another one: the other rows stay as they are proved."""
    whole, rng, wrong = table(name), random.Random(3), 0
    for _ in range(5 if name == "lct" else 3):
        proof = json.loads(json.dumps(whole))
        number = rng.randrange(len(proof["rows"]))
        row = proof["rows"][number]
        writes = row["action"]["registers"]
        place = rng.randrange(len(writes))
        writes[place] = rng.choice(sorted(set(range(-2, row["view"]["nodes"])) - {writes[place]}))
        verdict = first(proof, tmp_path / "mutant.json")
        refuted, _ = second.opinion(proof, [number])
        assert (verdict is None) == (refuted == []), (verdict, refuted[:3])
        wrong += verdict is not None
    assert wrong > 0


@pytest.mark.parametrize("name", ["dsu", "forest", "heap"])
def test_both_judge_mutants_alike(
    second: Any, table: Callable[[str], Any], name: str, tmp_path: Path
) -> None:
    """One write of one action is another one, or one clause is missing."""
    whole, rng, wrong = table(name), random.Random(1), 0
    for _ in range(12):
        proof = json.loads(json.dumps(whole))
        if rng.random() < 0.3:
            del proof["clauses"][rng.randrange(len(proof["clauses"]))]
        else:
            row = rng.choice(proof["rows"])
            part = rng.choice(["pointers", "registers"])
            writes = row["action"][part]
            if not writes:
                continue
            place = rng.randrange(len(writes))
            others = set(range(-2, row["view"]["nodes"])) - {writes[place]}
            writes[place] = rng.choice(sorted(others))
        verdict = first(proof, tmp_path / "mutant.json")
        # Gaps are tested above; a clause may need the order.
        if verdict in ("coverage", "file"):
            continue
        refuted, _ = second.opinion(proof)
        assert (verdict is None) == (refuted == []), (verdict, refuted[:3])
        wrong += verdict is not None
    assert wrong > 2
