"""Kills and failing system calls: nothing is lost, and the same command goes on."""

from __future__ import annotations

import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from common import LEASE, SMALL, Program, Row, difference, leftovers, outcome

#: System calls that reach the file system.
CALLS = (
    "openat,write,pwrite64,rename,renameat,renameat2,mkdir,unlink,unlinkat,rmdir,fsync,fdatasync,"
    "ftruncate,flock,read,newfstatat,statx,getdents64,lseek,copy_file_range"
)
#: Those that change it.
WRITING = "openat,write,pwrite64,rename,renameat,renameat2,mkdir,fsync,fdatasync,ftruncate"
#: Exit code of a command that was told to stop.
STOPPED = 130
STRACE = ["strace", "--quiet=all", "-f", "-o", "/dev/null"]


class Workload:
    """A command whose outcome is known, and what its finished folder must hold."""

    def __init__(self, program: Program, folder: Path, name: str, arguments: list[str]) -> None:
        self.program, self.name, self.arguments = program, name, arguments
        self.reference = folder / f"reference-{name}"
        self.reference.mkdir()
        begun = time.monotonic()
        ended = program.run(self.reference, *arguments)
        assert ended.code == 0, ended
        self.seconds = time.monotonic() - begun
        self.expected = self.outcomes(self.reference)
        self.calls = self.count_calls(folder)

    def outcomes(self, here: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for results in sorted(here.rglob("results.json")):
            run = results.parent
            # A draft in a lease that a killed process left.
            if any(part.startswith(".") for part in run.relative_to(here).parts):
                continue
            found[str(run.relative_to(here))] = outcome(run)
        for path in here.glob("*.safetensors"):
            found[path.name] = path.read_bytes()
        return found

    def count_calls(self, folder: Path) -> dict[str, int]:
        """How often each system call of `CALLS` is made."""
        here, log = folder / f"counting-{self.name}", folder / f"calls-{self.name}"
        here.mkdir()
        counted = ["strace", "--quiet=all", "-f", "-o", str(log), "-e", f"trace={CALLS}"]
        if shutil.which("strace"):
            self.program.run(here, *self.arguments, before=counted)
        text = log.read_text(errors="replace") if log.exists() else ""
        shutil.rmtree(here)
        found = re.findall(r"^\d+ +(\w+)\(", text, re.MULTILINE)
        return {name: found.count(name) for name in sorted(set(found))}

    def some_call(self, rng: random.Random, among: str) -> tuple[str, int]:
        """A system call, and the how-manieth of its kind."""
        name = rng.choice([name for name in self.calls if name in among.split(",")])
        return name, rng.randrange(1, self.calls[name] + 1)

    def differs(self, here: Path) -> str | None:
        found = self.outcomes(here)
        if found == self.expected:
            return None
        for name in self.expected:
            if name not in found:
                return f"{name} is missing"
            if isinstance(found[name], dict):
                wrong = difference(here / name, self.expected[name])  # type: ignore[arg-type]
                if wrong:
                    return f"{name}: {wrong}"
        return "other files than in the reference"


def workloads(program: Program, folder: Path) -> list[Workload]:
    train = ["train", "--out", "run", *SMALL]
    exact = "train --task forest --model pgn-exact --out run --epochs 8 --checkpoint-every 0"
    exact += " --threads 2 --sequences 8 --validation-sequences 2 --nodes 6 --test-nodes 8"
    exact += " --test-sequences 2 --evaluate-every 2"
    grid = "reproduce --out grid --tasks dsu --models pgn,pgn-ptrs --seeds 1 --epochs 3 --jobs 1"
    grid += " --sequences 4 --validation-sequences 2 --nodes 6 --test-nodes 6 --test-sequences 2"
    grid += " --checkpoint-every 0 --threads 1"
    generate = "generate --task lct --nodes 60 --count 40 --force --out set.safetensors"
    return [
        Workload(program, folder, "train", train),
        Workload(program, folder, "exact", exact.split()),
        Workload(program, folder, "grid", grid.split()),
        Workload(program, folder, "generate", generate.split()),
    ]


def finish(work: Workload, here: Path, row: Row, what: str) -> None:
    """Starts the command once more, undisturbed; everything must then be as if never disturbed."""
    end = time.monotonic() + 20 * LEASE
    ended = work.program.run(here, *work.arguments)
    # A process that took a run over while the last holder's file lock was still held has none; if it
    # is killed, its lease has to expire.
    while "is in use" in ended.stderr and time.monotonic() < end:
        time.sleep(LEASE / 5)
        ended = work.program.run(here, *work.arguments)
    row.judge(ended, f"{what}, then resumed", (0,))
    wrong = work.differs(here)
    if ended.code == 0 and wrong:
        row.trouble(f"{what}: {wrong}")
    left = leftovers(here)
    if left:
        row.trouble(f"{what}: left behind {left[:5]}")


def kill_at_random_moments(
    work: Workload, here: Path, rng: random.Random, row: Row
) -> None:
    """Kills the command a few times in a row, then lets it finish."""
    here.mkdir()
    for round_ in range(rng.randrange(1, 6)):
        process = work.program.start(here, *work.arguments)
        time.sleep(rng.random() * work.seconds * 1.2)
        process.kill()
        ended = process.wait()
        row.tried += 1
        if ended.code == 0:
            row.count("had finished")
            break
        row.count("killed")
        row.judge(ended, f"{work.name} killed {round_ + 1} times", (-9,))
    finish(work, here, row, f"{work.name} killed at random")
    shutil.rmtree(here)


def signal_at_random_moments(
    work: Workload, here: Path, rng: random.Random, row: Row
) -> None:
    """Asks the command to stop, a few times in a row, then lets it finish."""
    here.mkdir()
    for round_ in range(rng.randrange(1, 4)):
        number = rng.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1))
        process = work.program.start(here, *work.arguments)
        time.sleep(rng.random() * work.seconds * 1.2)
        process.signal(number)
        ended = process.wait()
        row.tried += 1
        what = f"{work.name}, {number.name} number {round_ + 1}"
        # The third: it arrived before the program had begun to listen.
        row.judge(ended, what, (0, STOPPED, -number))
        if ended.code == -number:
            row.count("too early")
            continue
        row.count("had finished" if ended.code == 0 else "stopped")
        left = leftovers(here)
        if left:
            row.trouble(f"{what}: left behind {left[:5]}")
        if ended.code == 0:
            break
    finish(work, here, row, f"{work.name} stopped by signals")
    shutil.rmtree(here)


def kill_at_a_call(work: Workload, here: Path, rng: random.Random, row: Row) -> None:
    """Kills the command at one of its system calls, sometimes again while it resumes."""
    here.mkdir()
    for _ in range(rng.randrange(1, 3)):
        call, when = work.some_call(rng, CALLS)
        inject = ["-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={when}"]
        ended = work.program.run(here, *work.arguments, before=STRACE + inject)
        row.tried += 1
        row.count("had finished" if ended.code == 0 else "killed")
        row.judge(ended, f"{work.name} killed at {call} {when}", (0, -9, 137))
        if ended.code == 0:
            break
    finish(work, here, row, f"{work.name} killed at {call} {when}")
    shutil.rmtree(here)


def fail_a_call(work: Workload, here: Path, rng: random.Random, row: Row) -> None:
    """Lets one system call fail, or all of a kind from some moment on."""
    here.mkdir()
    error = rng.choice(("ENOSPC", "ENOSPC", "EIO", "EIO", "EDQUOT", "EINTR", "EACCES", "EMFILE"))
    # Restarted by every program; anything else would be a bug.
    call, when = work.some_call(rng, "write" if error == "EINTR" else WRITING)
    forever = error in ("ENOSPC", "EDQUOT") and rng.random() < 0.3
    rule = f"inject={call}:error={error}:when={when}{'+' if forever else ''}"
    inject = ["-e", f"trace={call}", "-e", rule]
    ended = work.program.run(here, *work.arguments, before=STRACE + inject)
    row.tried += 1
    what = f"{work.name} with {rule}"
    # Before the program begins, it is the loader that fails, with a code of its own.
    loader = ended.code == 127 or "error while loading shared libraries" in ended.stderr
    if loader:
        row.count("no start")
    else:
        row.count({0: "continued", 1: "reported"}.get(ended.code, f"code {ended.code}"))
        row.judge(ended, what, (0, 1), failing=False)
    finish(work, here, row, what)
    shutil.rmtree(here)


def elsewhere(number: int) -> list[str]:
    """What starts a command on a machine of another name."""
    script = f'hostname host-{number} && exec "$@"'
    return ["unshare", "--user", "--uts", "--map-root-user", "sh", "-c", script, "sh"]


def has_machines() -> bool:
    """Whether this system allows machines of other names."""
    if not shutil.which("unshare"):
        return False
    return subprocess.run([*elsewhere(0), "true"], capture_output=True).returncode == 0


def several_at_once(
    work: Workload, here: Path, rng: random.Random, row: Row, machines: bool = False
) -> None:
    """Several processes on one directory, on machines of their own or on one; some are killed. One
    outcome, whoever made it."""
    here.mkdir()
    processes = [
        work.program.start(here, *work.arguments, before=elsewhere(n) if machines else None)
        for n in range(rng.randrange(2, 5))
    ]
    for process in processes:
        if rng.random() < 0.4:
            time.sleep(rng.random() * work.seconds)
            process.kill()
    codes = []
    for process in processes:
        ended = process.wait()
        codes.append(ended.code)
        row.tried += 1
        row.count({0: "finished", 1: "in use", -9: "killed"}.get(ended.code, f"code {ended.code}"))
        row.judge(ended, f"{work.name}, one of several", (0, 1, 75, -9), failing=False)
    finish(work, here, row, f"{work.name}, {len(codes)} at once ({codes})")
    shutil.rmtree(here)
