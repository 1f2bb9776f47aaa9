"""A sweep of six runs on a real Slurm cluster of two nodes: one worker is told to stop and requeued,
one node is lost with its processes standing still and comes back; the outcome is that of a plain
run, byte for byte."""

import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

from common import PGN, RUNS, assert_same, pgn, plain, skip, step
from slurm import Slurm, missing


def scenario(cluster: Slurm, folder: Path) -> None:
    started = time.monotonic()
    sweep = plain(folder)
    step(f"plain run: {time.monotonic() - started:.0f} s")
    out = folder / "out"
    # Short, so that a lost node's run is taken over within the test.
    cluster.environment["PGN_LEASE_SECONDS"] = "5"
    submit = ("cluster", "slurm", "--sweep", sweep, "--out", out, "--submit", "--workers", "2")
    environment = {"env": cluster.environment}
    step(pgn(*submit, "--warning", "60", "--time", "10", **environment).strip())
    logs = out / "slurm" / "001" / "logs"

    def log_of(job: dict[str, str]) -> str:
        path = logs / f"{job['id'].split('_')[1]}.log"
        return path.read_text() if path.exists() else ""

    def running() -> list[dict[str, str]]:
        jobs = [job for job in cluster.jobs() if job["state"] == "RUNNING"]
        return [job for job in jobs if "_" in job["id"] and ", start " in log_of(job)]

    def trained() -> list[Path]:
        return [out / run for run in RUNS if (out / run / ".lease").exists()]

    # One worker is told to stop, as it is before its time limit.
    cluster.until(lambda: len(trained()) > 1 and len(running()) > 1, "two workers train")
    job = running()[0]
    cluster.run("scancel", "--signal=USR1", "--batch", job["id"])
    cluster.until(lambda: "start the same command again" in log_of(job), "it has stopped")
    step(f"stopped {job['id']} with SIGUSR1")
    cluster.until(lambda: ", start 2" in log_of(job), "it is requeued")

    # One node is cut off while it trains.
    cluster.until(lambda: len(running()) > 1 and len(trained()) > 1, "two workers train again")
    job = running()[-1]
    node = job["node"]
    frozen = cluster.lose_node(node)
    step(f"lost {node} with {len(frozen)} processes and {job['id']}")
    starts = log_of(job).count(", start ")
    cluster.until(lambda: log_of(job).count(", start ") > starts, "it is requeued")
    step(f"{job['id']} was requeued: {log_of(job).splitlines()[-1]}")
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
    assert "6 runs: 6 finished, 0 running, 0 left" in done, done
    assert not (out / "slurm" / "002").exists()
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
