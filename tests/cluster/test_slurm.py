"""A sweep of six runs on a real Slurm cluster of two nodes: one task is told to stop and requeued,
one node is lost with its processes standing still and comes back; the outcome is that of a plain
run, byte for byte."""

import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

from common import PGN, RUNS, assert_same, pgn, plain, progress, skip, step
from slurm import Slurm, missing


def entries_of(job: dict[str, str], out: Path) -> Path:
    """The run of a task; with --batch 0 there is one."""
    folder = out / "slurm" / "001"
    name = job["name"].removeprefix("pgn-")
    index = int((folder / f"{name}.txt").read_text().splitlines()[int(job["id"].split("_")[1])])
    return out / RUNS[index]


def scenario(cluster: Slurm, folder: Path) -> None:
    started = time.monotonic()
    sweep = plain(folder)
    step(f"plain run: {time.monotonic() - started:.0f} s")
    out = folder / "out"
    # Short, so that a lost node's run is taken over within the test.
    cluster.environment["PGN_LEASE_SECONDS"] = "5"
    submit = ("cluster", "slurm", "--sweep", sweep, "--out", out, "--submit", "--batch", "0")
    environment = {"env": cluster.environment}
    step(pgn(*submit, "--warning", "60", "--time", "10", **environment).strip())

    def running(name: str, node: str | None = None) -> list[dict[str, str]]:
        jobs = [job for job in cluster.jobs() if job["name"] == name and job["state"] == "RUNNING"]
        begun = [job for job in jobs if "_" in job["id"] and (out / "slurm").exists()]
        return [job for job in begun if node in (None, job["node"])]

    def begun(job: dict[str, str]) -> bool:
        return (entries_of(job, out) / ".lease").exists()

    # One task is told to stop, as it is before its time limit.
    cluster.until(lambda: any(map(begun, running("pgn-others"))), "a task of gnn trains")
    job = next(filter(begun, running("pgn-others")))
    cluster.run("scancel", "--signal=USR1", "--batch", job["id"])
    log = out / "slurm" / "001" / "logs" / f"others-{job['id'].split('_')[1]}.log"
    cluster.until(lambda: "start the same command again" in log.read_text(), "it has stopped")
    stopped = progress(entries_of(job, out))
    step(f"stopped {job['id']} with SIGUSR1: checkpoint at epoch {stopped}")
    # On a busy machine it may not have finished an epoch.
    assert (entries_of(job, out) / "checkpoint.safetensors").exists()

    # One node is cut off while it trains.
    cluster.until(lambda: any(map(begun, running("pgn-teachers"))), "a task of pgn trains")
    job = next(filter(begun, running("pgn-teachers")))
    node, run = job["node"], entries_of(job, out)
    frozen = cluster.lose_node(node)
    step(f"lost {node} with {len(frozen)} processes and {job['id']} ({run.relative_to(out)})")

    # Submitted again meanwhile, nothing is doubled.
    again = pgn(*submit, **environment)
    assert ", 0 to submit" in again, again
    assert not (out / "slurm" / "002").exists()

    log = out / "slurm" / "001" / "logs" / f"teachers-{job['id'].split('_')[1]}.log"
    cluster.until(lambda: ", start 2" in log.read_text(), "it is requeued")
    step(f"{job['id']} was requeued: {log.read_text().splitlines()[-1]}")
    cluster.until(
        lambda: (run / "results.json").exists() or any((run / ".lease").glob("*")), "it goes on"
    )
    # The node comes back while others have taken over, and its processes go on where they were.
    time.sleep(1)
    for process in frozen:
        try:
            os.kill(process, signal.SIGCONT)
        except ProcessLookupError:
            pass
    cluster.start_node(node)
    cluster.until(lambda: cluster.nodes().get(node) in ("idle", "mix", "alloc"), f"{node} is back")
    cluster.until(lambda: not cluster.jobs(), "all jobs have ended")
    assert_same(folder / "plain", out)
    tables = (out / "tables.md").read_text()
    assert "Generated from 6 of 6 runs" in tables, tables
    done = pgn(*submit, **environment)
    assert "6 runs: 6 finished" in done and " 0 to submit" in done, done
    logs = {log.name: log.read_text() for log in (out / "slurm" / "001" / "logs").iterdir()}
    assert sum(", start 2" in text for text in logs.values()) >= 2, logs
    step(f"Slurm: 6 runs, byte-identical to a plain run, {time.monotonic() - started:.0f} s")


def main() -> None:
    if not PGN.exists():
        skip(f"there is no {PGN}; cargo build --package pgn-cli")
    if (lack := missing()) is not None:
        skip(lack)
    folder = Path(tempfile.mkdtemp(prefix="pgn-cluster-"))
    try:
        with Slurm() as cluster:
            try:
                scenario(cluster, folder)
            except BaseException:
                for log in sorted(folder.glob("out/slurm/*/logs/*")):
                    print(f"--- {log.name}\n{log.read_text()[-1500:]}")
                raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
