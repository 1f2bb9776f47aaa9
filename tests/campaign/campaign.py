"""Tries to make `pgn` lose or corrupt something, and prints what was tried and what came of it.

    tests/campaign/test                       a minute, as `./test` does
    tests/campaign/campaign.py --seconds 3600 --seed 7 --table table.md

Everything is drawn from the seed. What a kill hits depends on the machine's timing, too.
Needs strace for kills and failures at system calls; without it these are left out.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import crashes
import requests
from common import Program, Row
from damage import Files


FILES = "a damaged file"
FLIPS = "a flipped bit in a finished run"
REQUESTS = "a hostile request"


def until(
    seconds: float, jobs: int, seed: str, least: int, tried: Callable[[], int],
    one: Callable[[random.Random, int], None],
) -> None:
    """Calls `one` in several threads until the time is up and enough was tried."""
    end = time.monotonic() + seconds

    def worker(job: int) -> None:
        rng = random.Random(f"{seed}-{job}")
        number = 0
        while time.monotonic() < end or tried() < least:
            one(rng, job * 1_000_000 + number)
            number += 1

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(worker, job) for job in range(jobs)]:
            done.result()


def table(rows: list[Row]) -> str:
    lines = ["| what was tried | times | what came of it | troubles | slowest | memory |"]
    lines.append("| --- | --: | --- | --: | --: | --: |")
    for row in rows:
        came = ", ".join(f"{name} {count:,}" for name, count in sorted(row.outcomes.items()))
        slowest = f"{row.slowest:.2f} s" if row.slowest else ""
        memory = f"{row.memory >> 20} MB" if row.memory else ""
        cells = [row.name, f"{row.tried:,}", came, str(len(row.troubles)), slowest, memory]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    root = Path(__file__).resolve().parents[2]
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    parser.add_argument("--pgn", type=Path, default=target / "debug/pgn")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--seconds", type=float, default=60, help="for all parts together")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kills", type=int, default=0, help="at the least, of each kind")
    parser.add_argument("--flips", type=int, default=0, help="at the least")
    parser.add_argument("--failures", type=int, default=0, help="at the least")
    parser.add_argument(
        "--answer-within", type=float, default=2, metavar="SECONDS",
        help="for honest requests, by the clock; a busy machine needs more",
    )
    parser.add_argument("--only", default="", help="parts whose name has this in it")
    parser.add_argument("--table", type=Path, help="where to write the table too")
    options = parser.parse_args()
    # Beside the build, as /tmp may be in memory, where nothing is ever on disk.
    with tempfile.TemporaryDirectory(prefix="campaign-", dir=options.pgn.resolve().parent) as name:
        folder = Path(name)
        rows = campaign(options, Program(options.pgn.resolve()), folder)
        if (folder / "kept").exists():
            kept = Path(tempfile.mkdtemp(prefix="campaign-kept-"))
            shutil.copytree(folder / "kept", kept, dirs_exist_ok=True)
            print(f"inputs that made trouble are in {kept}")
    print(table(rows))
    troubles = [f"{row.name}: {trouble}" for row in rows for trouble in row.troubles]
    print("\n".join(troubles[:40]) or "no trouble")
    if options.table:
        options.table.write_text(table(rows))
    return 1 if troubles else 0


def campaign(options: argparse.Namespace, program: Program, folder: Path) -> list[Row]:
    work = crashes.workloads(program, folder)
    strace = shutil.which("strace") is not None
    rows: list[Row] = []
    parts = [
        ("kill -9 at a random moment", crashes.kill_at_random_moments, options.kills, work),
        ("a signal at a random moment", crashes.signal_at_random_moments, 0, work),
        ("several processes on a directory", crashes.several_at_once, 0, work[:3]),
    ]
    if crashes.has_machines():
        several = functools.partial(crashes.several_at_once, machines=True)
        parts.append(("several machines on a directory", several, 0, work[:3]))
    if strace:
        parts += [
            ("kill -9 at a system call", crashes.kill_at_a_call, options.kills, work),
            ("a failing system call", crashes.fail_a_call, options.failures, work),
        ]
    else:
        print("strace is not installed: no kills and failures at system calls", file=sys.stderr)
    wanted = lambda title: options.only in title
    parts = [part for part in parts if wanted(part[0])]
    last = [wanted(FILES), wanted(FLIPS), wanted(REQUESTS)]
    share = options.seconds / max(1, len(parts) + sum(last))
    for title, act, least, loads in parts:
        row = Row(title)
        rows.append(row)

        def one(rng: random.Random, number: int) -> None:
            act(rng.choice(loads), folder / f"here-{number}", rng, row)

        until(share, options.jobs, f"{options.seed}-{title}", least, lambda: row.tried, one)

    if not any(last):
        return rows
    files = Files(program, folder)
    row = Row(FILES)
    copies = {job: folder / f"copy-{job}" for job in range(options.jobs)}
    for copy in copies.values():
        shutil.copytree(files.folder, copy)

    def damage(rng: random.Random, number: int) -> None:
        files.try_one(copies[number // 1_000_000], rng, row)

    if wanted(FILES):
        rows.append(row)
        until(share, options.jobs, f"{options.seed}-files", 0, lambda: row.tried, damage)
    if wanted(FLIPS):
        flips = Row(FLIPS)
        rows.append(flips)

        def flip(rng: random.Random, number: int) -> None:
            files.flip_one(copies[number // 1_000_000], rng, flips)

        until(
            share, options.jobs, f"{options.seed}-flips", options.flips, lambda: flips.tried, flip
        )
    if not wanted(REQUESTS):
        return rows
    row, held, slow = Row(REQUESTS), Row("a half-open connection"), Row("an unfinished body")
    rows += [row, held, slow]
    server = requests.Server(program, folder, files.folder, options.answer_within)
    rng = random.Random(f"{options.seed}-requests")
    requests.half_open(server, rng, held, requests.HEADERS)
    requests.half_open(server, rng, slow, requests.BODIES)
    end = time.monotonic() + share
    while time.monotonic() < end:
        requests.many(server, rng, row)
    server.stop(row)
    return rows


if __name__ == "__main__":
    sys.exit(main())
