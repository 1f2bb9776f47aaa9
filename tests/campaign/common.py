"""What every part of the campaign uses: running `pgn`, and judging what came of it."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

#: No command of the campaign may take longer than this to fail, in seconds of its own CPU time.
SLOW = 2.0
#: No process may use more memory than this, in bytes.
MEMORY = 1 << 30
#: A command that takes longer than this has hung. By the clock, so generous: the machine may be
#: busy with other things.
HUNG = 300.0

#: Seconds after which the lease of a process that was killed without its file lock expires.
LEASE = 5

#: A run that takes a fraction of a second, with a checkpoint after every epoch.
SMALL = (
    "--epochs 6 --checkpoint-every 0 --threads 2 --sequences 6 --validation-sequences 4 --nodes 8"
    " --test-nodes 8,12 --test-sequences 3"
).split()


@dataclass
class Ended:
    """How a process ended."""

    code: int
    stderr: str
    seconds: float
    cpu: float
    memory: int
    hung: bool


@dataclass
class Row:
    """A row of the table: what was tried, and what came of it."""

    name: str
    tried: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    slowest: float = 0.0
    memory: int = 0

    def count(self, outcome: str, number: int = 1) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + number

    def trouble(self, what: str) -> None:
        self.troubles.append(what)

    def judge(self, ended: Ended, what: str, codes: tuple[int, ...], failing: bool = True) -> None:
        """Notes a process that did not end as it should: no panic, no hang, one sentence."""
        self.memory = max(self.memory, ended.memory)
        tail = ended.stderr.strip().splitlines()[-1:] or [""]
        if ended.hung:
            self.trouble(f"{what}: hung for {HUNG:.0f} s")
        elif ended.code not in codes:
            self.trouble(f"{what}: exit code {ended.code}: {tail[0][:200]}")
        if "panicked" in ended.stderr:
            self.trouble(f"{what}: panicked: {ended.stderr[:300]}")
        if ended.memory > MEMORY:
            self.trouble(f"{what}: used {ended.memory >> 20} MB")
        # strace counts the calls of each thread: where a write fails, that of the sentence may too.
        mute = "inject=write:" in what and "resumed" not in what
        said = any(line.startswith("error: ") for line in ended.stderr.splitlines())
        if ended.code == 1 and not said and not mute:
            self.trouble(f"{what}: failed without a sentence: {ended.stderr[:200]!r}")
        if failing and ended.code == 1:
            self.slowest = max(self.slowest, ended.cpu)
            if ended.cpu > SLOW:
                self.trouble(f"{what}: took {ended.cpu:.1f} s of CPU time to fail")


class Program:
    """The program under test, started in folders of its own."""

    def __init__(self, pgn: Path) -> None:
        self.pgn = str(pgn)
        self.environment = {**os.environ, "PGN_LEASE_SECONDS": str(LEASE)}

    def start(self, here: Path, *arguments: str, before: list[str] | None = None) -> Process:
        return Process([*(before or []), self.pgn, *arguments], here, self.environment)

    def run(self, here: Path, *arguments: str, before: list[str] | None = None) -> Ended:
        return self.start(here, *arguments, before=before).wait()

    def output(self, here: Path, *arguments: str) -> tuple[int, bytes]:
        """The exit code and what was printed, but for times."""
        ended = subprocess.run(
            [self.pgn, *arguments], cwd=here, env=self.environment, capture_output=True,
            timeout=HUNG,
        )
        return ended.returncode, re.sub(rb"[\d.]+ s\b", b"", ended.stdout)


class Process:
    """A child whose CPU time and memory are measured."""

    def __init__(self, command: list[str], here: Path, environment: dict[str, str]) -> None:
        self.begun = time.monotonic()
        self.stderr = here / f".stderr-{threading.get_ident()}-{time.monotonic_ns()}"
        with self.stderr.open("wb") as stderr:
            self.child = subprocess.Popen(
                command, cwd=here, env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=stderr, start_new_session=True,
            )

    def kill(self) -> None:
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def signal(self, number: int) -> None:
        """Sends a signal to the program. What has ended is not yet waited for, so it still has its
        number."""
        os.kill(self.child.pid, number)

    def wait(self) -> Ended:
        hung = threading.Event()

        def end() -> None:
            hung.set()
            self.kill()

        timer = threading.Timer(HUNG, end)
        timer.start()
        _, status, usage = os.wait4(self.child.pid, 0)
        timer.cancel()
        self.child.returncode = os.waitstatus_to_exitcode(status)
        text = self.stderr.read_text(errors="replace")
        self.stderr.unlink()
        return Ended(
            self.child.returncode, text, time.monotonic() - self.begun,
            usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, hung.is_set(),
        )


#: The files of a run that are the same bytes however it came about.
SAME = ("config.toml", "model.safetensors", "metrics.jsonl")


def outcome(run: Path) -> dict[str, object]:
    """What a run came to, without the times and the checksum over them."""
    results = json.loads((run / "results.json").read_text())
    for key in ("timing", "crc32c"):
        results.pop(key, None)
    return {"results.json": results, **{name: (run / name).read_bytes() for name in SAME}}


def difference(run: Path, reference: dict[str, object]) -> str | None:
    """How a finished run differs from the reference, or `None`."""
    try:
        ours = outcome(run)
    except (OSError, ValueError) as error:
        return f"cannot be read: {error}"
    wrong = [name for name, value in reference.items() if ours.get(name) != value]
    return f"{', '.join(wrong)} differ" if wrong else None


def leftovers(folder: Path) -> list[str]:
    """Temporary files and leases in a folder whose processes have all ended.

    What a process that was killed while it took a lease leaves is removed once it is a minute old,
    since its owner may be on another machine: younger ones are no trouble.
    """

    def counts(path: Path) -> bool:
        if path.name == ".lock" or path.name.startswith(".stderr-"):
            return False
        young = time.time() - path.stat().st_mtime < 60
        parts = path.relative_to(folder).parts
        return not (young and any(part.startswith((".claim-", ".expired-")) for part in parts))

    return [str(path.relative_to(folder)) for path in folder.rglob(".*") if counts(path)]


def spread(random: random.Random, bytes_: bytes) -> bytes:
    """A copy with something wrong in it: flipped, cut, repeated, overwritten."""
    data = bytearray(bytes_)
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        if not data:
            return bytes(data)
        at = random.randrange(len(data))
        match random.randrange(7):
            case 0 | 1:
                data[at] ^= 1 << random.randrange(8)
            case 2:
                data[at] = random.choice(b"\x00\xff{}[]\",:-0919e.\n ")
            case 3:
                del data[at:]
            case 4:
                del data[at : at + random.randrange(1, 40)]
            case 5:
                data[at:at] = data[at : at + random.randrange(1, 40)]
            case 6:
                data[at:at] = random.randbytes(random.randrange(1, 9))
    return bytes(data)
