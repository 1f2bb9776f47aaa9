"""Sweeps on Ray: one task for each run, wherever there is room.

``pip install pointer-graph-networks[ray]`` brings Ray along. All machines need the package and one shared folder::

    import pgn.cluster.ray

    for run in pgn.cluster.ray.iterate("sweep.toml", "/shared/sweep"):
        print(run["task"], run["model"], run["seed"], run["test"][0]["f1"])

or ``python -m pgn.cluster.ray sweep.toml --out /shared/sweep``. The file is that of ``pgn sweep``,
which can list and watch the same folder meanwhile.

A run whose machine is lost goes on elsewhere from its last checkpoint: Ray starts its task again,
and the lease of its directory makes sure that no two processes ever train it at once.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pgn import _native, _progress

_Path = str | os.PathLike[str]

__all__ = ["iterate", "run"]

#: Seconds from one look at the folder to the next.
_LOOK = 1.0
#: Seconds until an entry that another process was at is tried again.
_AGAIN = 5.0


def _work(sweep: str, out: str, index: int, threads: int, checkpoint_every: float) -> str:
    """What a Ray task does."""
    return _native.sweep_run(sweep, out, index, threads, checkpoint_every)


def iterate(
    sweep: _Path,
    out: _Path,
    *,
    cpus: int = 1,
    resources: dict[str, float] | None = None,
    address: str | None = None,
    checkpoint_every: float = 30.0,
    progress: bool | None = None,
) -> Iterator[dict[str, Any]]:
    """Runs a sweep on Ray and yields each run's ``results.json`` when it is finished.

    ``sweep``
        A file as ``pgn sweep`` takes it.
    ``out``
        Where the runs go: a folder that all machines share. Runs that are finished there are
        yielded first, others are resumed.
    ``cpus``, ``resources``
        What each task asks of Ray; ``cpus`` is also the number of its threads.
    ``address``
        Of the Ray cluster, as ``ray.init`` takes it; unless given, the cluster that this process is
        connected to already, or a new one on this machine.
    ``checkpoint_every``
        Seconds: what is lost, at most, when a machine is.
    ``progress``
        Whether to show how far the sweep is; where a person is looking unless given.

    At the end ``runs.json`` and ``tables.md`` are in ``out``. If some runs failed, the others are
    finished first; then ``RuntimeError`` names the first of them.
    """
    if cpus < 1:
        raise ValueError(f"cpus is {cpus}; expected at least 1")
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise ImportError("pgn.cluster.ray needs Ray: pip install 'pointer-graph-networks[ray]'") from None
    text = Path(sweep).read_text(encoding="utf-8")
    folder = os.path.abspath(out)
    entries: list[dict[str, Any]] = json.loads(_native.sweep_list(text, folder))
    if not ray.is_initialized():
        ray.init(address=address, logging_level="warning")
    # Ray starts a task again whose worker or machine died, as often as need be.
    task = ray.remote(num_cpus=cpus, max_retries=-1, resources=resources or {})(_work)
    shown = _Shown(text, folder, _progress.choose(progress))
    finished: set[int] = set()
    failed: list[str] = []
    lost: set[int] = set()
    running: dict[Any, int] = {}
    #: Entries that are to be submitted, and not before when.
    waiting = {entry["index"]: 0.0 for entry in entries}
    try:
        while waiting or running:
            for index, not_before in list(waiting.items()):
                teacher = entries[index]["depends_on"]
                if teacher in lost:
                    del waiting[index]
                    lost.add(index)
                    failed.append(f"{entries[index]['name']}: its teacher failed")
                elif (teacher is None or teacher in finished) and not_before <= time.monotonic():
                    del waiting[index]
                    if _is_finished(entries[index]):
                        finished.add(index)
                        yield _results(entries[index])
                    else:
                        ref = task.remote(text, folder, index, cpus, checkpoint_every)
                        running[ref] = index
            done, _ = ray.wait(list(running), timeout=_LOOK) if running else ([], [])
            for ref in done:
                index = running.pop(ref)
                try:
                    outcome = ray.get(ref)
                except Exception as error:
                    failed.append(str(getattr(error, "cause", None) or error))
                    lost.add(index)
                    continue
                if outcome == "finished":
                    finished.add(index)
                    yield _results(entries[index])
                else:
                    waiting[index] = time.monotonic() + _AGAIN
            if waiting and not running:
                time.sleep(0.1)
            shown()
        if finished:
            _native.sweep_tables(text, folder)
    finally:
        # Of a loop that was left early: runs stop after their epoch, with a checkpoint.
        for ref in running:
            ray.cancel(ref)
        shown.close()
    if failed:
        first = failed[0].splitlines()[-1]
        raise RuntimeError(f"{len(failed)} of {len(entries)} runs failed; the first, {first}")


def run(sweep: _Path, out: _Path, **options: Any) -> list[dict[str, Any]]:
    """Runs a sweep on Ray, as :func:`iterate` does, and returns all results in its order."""
    entries = json.loads(_native.sweep_list(Path(sweep).read_text(encoding="utf-8"), str(out)))
    for _ in iterate(sweep, out, **options):
        pass
    return [_results(entry) for entry in entries]


def _is_finished(entry: dict[str, Any]) -> bool:
    return Path(entry["directory"], "results.json").is_file()


def _results(entry: dict[str, Any]) -> dict[str, Any]:
    results: dict[str, Any] = json.loads(Path(entry["directory"], "results.json").read_bytes())
    if "variant" in entry:
        results["variant"] = entry["variant"]
    return results


class _Shown:
    """Shows how far a whole sweep is: a line on a terminal, a bar in a notebook."""

    def __init__(self, sweep: str, out: str, display: _progress.Display | None) -> None:
        self._sweep, self._out, self._display = sweep, out, display
        self._last = 0.0

    def __call__(self) -> None:
        now = time.monotonic()
        if self._display is None or now - self._last < _LOOK:
            return
        self._last = now
        entries = json.loads(_native.sweep_list(self._sweep, self._out))
        states = [entry["state"] for entry in entries]
        finished, running = states.count("finished"), states.count("running")
        done = sum(entry["epoch"] / max(entry["epochs"], 1) for entry in entries)
        text = f"{finished} of {len(entries)} runs finished, {running} running"
        self._display.show(text, done / len(entries))

    def close(self) -> None:
        if self._display is not None:
            self._display.close()


def main(arguments: list[str] | None = None) -> int:
    """``python -m pgn.cluster.ray``."""
    parser = argparse.ArgumentParser(
        prog="python -m pgn.cluster.ray", description="Run a sweep on Ray, one task for each run."
    )
    parser.add_argument("sweep", metavar="SWEEP.toml", help="what is run, as for pgn sweep")
    parser.add_argument("--out", required=True, help="where the runs go: a shared folder")
    parser.add_argument("--address", help="of the Ray cluster, or auto; else one is started here")
    parser.add_argument("--cpus", type=int, default=1, help="cores for each run (1)")
    parser.add_argument(
        "--checkpoint-every", type=float, default=30.0, metavar="SECONDS",
        help="what is lost, at most, when a machine is (30)",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    try:
        runs = iterate(
            options.sweep,
            options.out,
            cpus=options.cpus,
            address=options.address,
            checkpoint_every=options.checkpoint_every,
        )
        for results in runs:
            scores = "  ".join(f"n={test['nodes']} {test['f1']:.3f}" for test in results["test"])
            name = " ".join(
                str(results[key]) for key in ("task", "model", "variant") if results.get(key)
            )
            print(f"{name} seed {results['seed']}: F1 {scores}", flush=True)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; to go on, start the same command again", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
