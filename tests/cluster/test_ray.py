"""A sweep of six runs on a real Ray cluster of two local nodes: one is removed in the middle; all
runs finish, byte-identical to a plain run."""

import os
import shutil
import tempfile
import time
from pathlib import Path

from common import SWEEP, assert_same, progress, step

os.environ["RAY_DEDUP_LOGS"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["PGN_LEASE_SECONDS"] = "5"

import ray  # noqa: E402  (after its environment)
from ray.cluster_utils import Cluster  # noqa: E402

import pgn.cluster.ray  # noqa: E402
from pgn import _native  # noqa: E402


def plain(folder: Path) -> Path:
    """The sweep, entry by entry in this process."""
    sweep = folder / "sweep.toml"
    sweep.write_text(SWEEP.format(epochs=200))
    for index in range(6):
        outcome = _native.sweep_run(sweep.read_text(), folder / "plain", index, 2, 30.0)
        assert outcome == "finished", outcome
    return sweep


def scenario(cluster: Cluster, spare: object, folder: Path) -> None:
    started = time.monotonic()
    sweep = plain(folder)
    step(f"plain run: {time.monotonic() - started:.0f} s")
    out = folder / "out"
    # A student without its teacher does not hold a worker up.
    outcome = _native.sweep_run(sweep.read_text(), out, 2, 1, 30.0)
    assert outcome.startswith("not ready: it waits for dsu pgn seed 0"), outcome

    # On which node each run is, by its lease's host and process.
    removed = False
    results = []
    runs = pgn.cluster.ray.iterate(sweep, out, address=cluster.address, checkpoint_every=0.2)

    def remove_when_busy() -> None:
        """In the background: the second node goes as soon as it trains."""
        nonlocal removed
        end = time.monotonic() + 300
        while time.monotonic() < end:
            on = [task for task in running_on(spare) if progress(task) > 0]
            if on:
                cluster.remove_node(spare, allow_graceful=False)
                removed = True
                step(f"removed a node that trained {[str(run.relative_to(out)) for run in on]}")
                return
            time.sleep(0.1)

    def running_on(node: object) -> list[Path]:
        """Runs whose process is a worker of this node."""
        raylet = node.all_processes["raylet"][0].process.pid  # type: ignore[attr-defined]
        found = []
        for holder in out.glob("*/*/*/.lease/*"):
            process = int(holder.name.split("-")[-2])
            while process > 1 and process != raylet:
                try:
                    stat = Path(f"/proc/{process}/stat").read_text()
                    process = int(stat.rsplit(")", 1)[1].split()[1])
                except OSError:
                    break
            if process == raylet:
                found.append(holder.parents[1])
        return found

    import threading

    thread = threading.Thread(target=remove_when_busy)
    thread.start()
    for result in runs:
        results.append((result["model"], result["seed"]))
        step(f"finished {result['model']} seed {result['seed']}")
    thread.join()
    assert removed, "no run was ever on the second node"
    assert sorted(results) == sorted((m, s) for m in ("gnn", "pgn", "pgn-ptrs") for s in (0, 1))
    for seed in (0, 1):
        assert results.index(("pgn", seed)) < results.index(("pgn-ptrs", seed))
    assert_same(folder / "plain", out)
    assert "Generated from 6 of 6 runs" in (out / "tables.md").read_text()
    # Once more: everything is finished, nothing is trained.
    models = sorted(out.rglob("model.safetensors"))
    before = [model.stat().st_mtime_ns for model in models]
    assert len(pgn.cluster.ray.run(sweep, out, address=cluster.address)) == 6
    assert len(models) >= 6 and [model.stat().st_mtime_ns for model in models] == before
    step(f"Ray: 6 runs, byte-identical to a plain run, {time.monotonic() - started:.0f} s")


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="pgn-cluster-"))
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 2, "object_store_memory": 100 << 20},
    )
    try:
        spare = cluster.add_node(num_cpus=2, object_store_memory=100 << 20)
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, logging_level="error", log_to_driver=False)
        scenario(cluster, spare, folder)
    finally:
        ray.shutdown()
        cluster.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
