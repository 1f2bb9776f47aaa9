"""Structures as ordinary code: what is inferred, learned from traces and proved, with five seeds.

    python bench/machines/ordinary.py results/machines/ordinary.json     # the Python package installed
    python bench/machines/ordinary.py results/machines/ordinary.json List Heap

Each is inferred with call sites told and, where it says so, without them, and compared with the code
on a million random and adversarial operations. Rows of structures that are not named are kept.

Networks are trained on traces alone, and with the program's action on all other views that the
clauses allow as well (`given`).
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pgn
import structures

SEEDS = 5
#: These are compared on a tenth of the operations: Python takes a millisecond for each.
SLOW = ("Splay", "Heap", "Skew", "LinkCut")
#: Nodes of the memories on which the program is compared with the code, with a share of the operations.
COMPARED = {5: 0.3, 20: 0.5, 100: 0.2}


def compared(found: pgn.machines.Inferred, operations: int) -> dict[str, int]:
    """Compares with the code on so many operations: how many differ."""
    tested = wrong = 0
    for nodes, share in COMPARED.items():
        here, each, seed = 0, 3 * nodes, 0
        while here < share * operations:
            some, bad = found.compare(nodes=nodes, sequences=2000, operations=each, seed=seed)
            here, wrong, seed = here + some, wrong + bad, seed + 1
        tested += here
    return {"operations": tested, "differ": wrong}


def row_of(code: pgn.machines.Code, operations: int) -> dict[str, object]:
    row: dict[str, object] = {"code": code.name, "sites": code.sites}
    begin = time.time()
    try:
        found = pgn.machines.infer(code)
    except ValueError as error:
        return row | {"refused": str(error)}
    row |= {"traces": found.traces, "states": found.states, "leaves": found.leaves, "views": found.views}
    row |= {"provable": found.refutation is None and code.search, "seconds": round(time.time() - begin, 1)}
    row |= {"refutation": found.refutation} if found.refutation else {}
    row["compared"] = compared(found, operations)
    row["runs"] = runs = []
    for seed in range(SEEDS if found.views < 5000 else 0):
        try:
            for table in (False, True):
                data = {"consistent": table}
                machine = pgn.machines.train(code, seed=seed, progress=False, data=data)
                certificate = machine.certify()
                views = machine.results["views"]
                met = {key: views[key] for key in ("met", "consistent", "consistent_right")}
                verdict = {"certified": bool(certificate), "proved": certificate.proved}
                runs.append({"seed": seed, "given": "table" if table else "traces", **met, **verdict})
        except ValueError as error:
            row["refused"] = str(error).splitlines()[0]
            break
    return row


def main() -> None:
    file, *names = sys.argv[1:]
    into = Path(file)
    rows = {row["code"]: row for row in (json.loads(into.read_text()) if into.exists() else [])}
    rows = {name: row for name, row in rows.items() if name.startswith("plain_")}
    for name in names or structures.NAMES:
        code = getattr(structures, name)
        rows[code.name] = row_of(code, 100_000 if name in SLOW else 1_000_000)
        print(json.dumps(rows[code.name]), flush=True)
        into.write_text(json.dumps(list(rows.values()), indent=1) + "\n")


if __name__ == "__main__":
    main()
