"""Stopping when you like: runs, and all work that takes long."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pgn
import pytest
from conftest import SMALL, scores


def at(epoch: int) -> Callable[[pgn.Progress], object]:
    return lambda progress: pgn.STOP if progress.epoch == epoch else None


def test_a_callback_stops_the_run(tmp_path: Path, program: Callable[..., str]) -> None:
    stopped = pgn.train("dsu", out=tmp_path / "run", callback=at(3), **SMALL)
    assert stopped.results is not None and len(stopped.metrics) == 3
    assert stopped.results["stopped_at"] == 3 and stopped.results["best_epoch"] <= 3
    best = max(stopped.metrics, key=lambda line: line["validation"]["f1"])
    assert stopped.results["best_epoch"] == best["epoch"]
    assert stopped.results["validation"] == best["validation"]
    assert [one["nodes"] for one in stopped.results["test"]] == [8, 12]
    # A run of three epochs has the same model.
    three = pgn.train("dsu", **{**SMALL, "epochs": 3})
    for name, weight in three.weights.items():
        assert np.array_equal(weight, stopped.weights[name]), name
    assert three.results is not None
    for ours, theirs in zip(stopped.results["test"], three.results["test"]):
        assert ours == theirs
    # It is a finished run like any other: the same call trains no more.
    assert scores(program("eval", tmp_path / "run", "--json")) == stopped.test()
    assert pgn.load(tmp_path / "run").results == stopped.results

    def never(progress: pgn.Progress) -> None:
        raise AssertionError(progress)

    again = pgn.train("dsu", out=tmp_path / "run", callback=never, **SMALL)
    assert again.results == stopped.results
    stopped.save(tmp_path / "saved")
    assert pgn.load(tmp_path / "saved").results == stopped.results


def test_stopping_at_the_last_epoch_is_the_end() -> None:
    model = pgn.train("dsu", callback=at(6), **SMALL)
    assert model.results is not None and model.results["epochs"] == 6
    assert model.unfinished is None


def test_stopping_before_anything_was_evaluated() -> None:
    model = pgn.train("dsu", callback=at(1), **{**SMALL, "evaluate_every": 5})
    assert model.results is not None and model.metrics == []
    assert model.results["best_epoch"] == model.results["stopped_at"] == 1


def test_patience() -> None:
    told: list[pgn.Progress] = []
    settings: dict[str, Any] = {**SMALL, "epochs": 200, "test_nodes": []}
    model = pgn.train("dsu", callback=told.append, patience=4, **settings)
    last = told[-1]
    assert last.best_epoch is not None and last.epoch - last.best_epoch == 4 and last.epoch < 200
    assert all(p.best_epoch is None or p.epoch - p.best_epoch < 4 for p in told[:-1])
    assert model.results is not None and model.results["best_epoch"] == last.best_epoch
    whole: list[pgn.Progress] = []
    pgn.train("dsu", callback=whole.append, patience=0, **settings)
    assert whole[-1].epoch == 200
    with pytest.raises(ValueError, match="patience"):
        pgn.train(patience=-1)
    with pytest.raises(ValueError, match="on_interrupt is 'x'; expected 'raise' or 'return'"):
        pgn.train(on_interrupt="x")  # type: ignore[arg-type]


def test_unfinished_runs_are_loaded(tmp_path: Path) -> None:
    seen: list[pgn.Model] = []

    def look(progress: pgn.Progress) -> None:
        if progress.epoch == 4:
            # Of a run that goes on, while it does.
            seen.append(pgn.load(tmp_path / "run", unfinished=True))
            raise StopIteration

    with pytest.raises(StopIteration):
        pgn.train("dsu", out=tmp_path / "run", callback=look, checkpoint_every=0, **SMALL)
    live, stopped = seen[0], pgn.load(tmp_path / "run", unfinished=True)
    assert live.unfinished is not None and live.unfinished.epoch == 3
    assert stopped.unfinished is not None and stopped.unfinished.epoch == 4
    assert stopped.results is None and len(stopped.metrics) == 4
    data = pgn.sample("dsu", nodes=8, count=2)
    assert 0 <= stopped.evaluate(data).f1 <= 1
    assert stopped.unfinished.validation is not None
    best = [m for m in stopped.metrics if m["epoch"] == stopped.unfinished.best_epoch]
    assert stopped.unfinished.validation == best[0]["validation"]
    with pytest.raises(ValueError, match="its run is not finished"):
        pgn.load(tmp_path / "run")
    pgn.train("dsu", out=tmp_path / "run", **SMALL)
    assert pgn.load(tmp_path / "run", unfinished=True).results is not None
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError):
        pgn.load(tmp_path / "empty", unfinished=True)


def test_weights_to_begin_with(model: pgn.Model, tmp_path: Path) -> None:
    zero = pgn.train("dsu", initial=model, **{**SMALL, "epochs": 0})
    for name, weight in model.weights.items():
        assert np.array_equal(weight, zero.weights[name])
    run = tmp_path / "run"
    warm = pgn.train("dsu", initial=model.weights, out=run, **SMALL)
    cold = pgn.train("dsu", **SMALL)
    assert warm.metrics[0]["losses"]["total"] < cold.metrics[0]["losses"]["total"]
    # It goes on with the same ones, and with no others.
    again = pgn.train("dsu", initial=model, out=run, **SMALL)
    assert again.results == warm.results
    with pytest.raises(ValueError, match="holds other weights"):
        halved = {name: weight / 2 for name, weight in model.weights.items()}
        pgn.train("dsu", initial=halved, out=run, **SMALL)
    pgn.train("dsu", out=tmp_path / "cold", **SMALL)
    with pytest.raises(ValueError, match="holds a run that began with other weights"):
        pgn.train("dsu", initial=model, out=tmp_path / "cold", **SMALL)
    with pytest.raises(ValueError, match="initial.safetensors.*is missing; this model has it"):
        pgn.train("dsu", initial={}, **SMALL)


def test_test_sets_of_ones_own(tmp_path: Path) -> None:
    sets = [pgn.sample("dsu", nodes=n, count=3, seed=9, split="test") for n in (7, 9)]
    model = pgn.train("dsu", test=sets, out=tmp_path / "run", **{**SMALL, "test_nodes": []})
    assert model.results is not None
    assert [one["nodes"] for one in model.results["test"]] == [7, 9]
    assert model.results["test"][1]["f1"] == model.evaluate(sets[1]).f1
    assert pgn.load(tmp_path / "run").results == model.results
    stopped = pgn.train("dsu", test=sets[0], callback=at(2), **SMALL)
    assert stopped.results is not None and len(stopped.results["test"]) == 1
    with pytest.raises(TypeError, match="test has 3; expected data sets"):
        pgn.train("dsu", test=[3])  # type: ignore[list-item]


def test_a_teacher_in_memory(runs: Path) -> None:
    few: dict[str, Any] = {**SMALL, "epochs": 2}
    from_path = pgn.train("dsu", "pgn-ptrs", teacher=runs / "dsu-pgn", **few)
    from_model = pgn.train("dsu", "pgn-ptrs", teacher=pgn.load(runs / "dsu-pgn"), **few)
    for name, weight in from_path.weights.items():
        assert np.array_equal(weight, from_model.weights[name]), name
    assert from_path.results is not None and from_model.results is not None
    assert from_path.results["test"] == from_model.results["test"]


def test_recorded_sequences_of_ones_own_task(tmp_path: Path) -> None:
    def recorded(split: Any, count: int) -> pgn.Dataset:
        data = pgn.sample("dsu", nodes=8, count=count, split=split)
        return pgn.Dataset(**data.arrays(), task="lab-book", split=split)

    train, validation, test = recorded("train", 8), recorded("validation", 4), recorded("test", 3)
    model = pgn.train(train=train, validation=validation, test=test, epochs=4, out=tmp_path / "run")
    assert model.task == "lab-book" and model.results is not None
    assert [one["sequences"] for one in model.results["test"]] == [3]
    # The same numbers by another name.
    named = {n: pgn.Dataset(**d.arrays(), task="dsu", split=d.split)
             for n, d in (("train", train), ("validation", validation))}
    dsu = pgn.train(**named, test_nodes=[], epochs=4)
    assert dsu.task == "dsu"
    for name, weight in dsu.weights.items():
        assert np.array_equal(weight, model.weights[name]), name
    again = pgn.load(tmp_path / "run")
    assert again.evaluate(test) == model.evaluate(test)
    with pytest.raises(ValueError, match="lab-book"):
        again.test(8)
    with pytest.raises(ValueError, match="is known by recorded sequences alone"):
        model.test(8)


def test_data_of_another_task_is_refused(model: pgn.Model) -> None:
    other = pgn.sample("lct", nodes=10, count=2)
    for use in (model.evaluate, model.rollout, model.analyse):
        with pytest.raises(ValueError, match="the task of the data is lct; expected dsu"):
            use(other)


INTERRUPTED = """
    import os, signal, sys, threading, time, pgn
    model = pgn.pretrained("dsu")
    small = pgn.sample("dsu", nodes=200, count=400, ops=1500)

    class Slow:
        def __init__(self, priorities):
            self.pointers = list(range(len(priorities)))
        def apply(self, u, v):
            time.sleep(0.001)
            return True, [u, v]

    work = {
        "sample": lambda: pgn.sample("lct", nodes=4, count=40, ops=1_000_000, fields=False),
        "own": lambda: pgn.sample(Slow, nodes=50, count=10_000),
        "evaluate": lambda: model.evaluate(small),
        "rollout": lambda: model.rollout(small),
        "test": lambda: model.test(1000, count=100),
    }[sys.argv[1]]
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        work()
        print("finished")
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.parametrize("what", ["sample", "own", "evaluate", "rollout", "test"])
def test_ctrl_c_interrupts_work(what: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(INTERRUPTED), what],
        capture_output=True, text=True, timeout=300,
    )
    # All of it takes minutes where nobody interrupts it, and then prints "finished".
    assert done.stdout == "interrupted\n", done.stdout + done.stderr


RETURNED = """
    import os, signal, sys, pgn
    def callback(progress):
        if progress.epoch == 3:
            os.kill(os.getpid(), signal.SIGINT)
    model = pgn.train("dsu", epochs=100_000, callback=callback, on_interrupt="return",
                      sequences=4, validation_sequences=2, test_nodes=[8])
    print(len(model.metrics) < 100, model.results["test"][0]["nodes"])
"""


def test_ctrl_c_can_return_the_best_so_far() -> None:
    command = [sys.executable, "-c", textwrap.dedent(RETURNED)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout == "True 8\n", done.stdout + done.stderr


def test_one_state_on_several_threads(model: pgn.Model) -> None:
    state = model.start(600)
    failures: list[BaseException] = []
    answers: list[pgn.Answer] = []

    def work(first: int) -> None:
        try:
            for step in range(30):
                answers.append(state.apply(first + step, 599))
                assert state.pointers.shape == (600,) and state.copy().nodes == 600
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(40 * index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and len(answers) == 120


def test_analyses(runs: Path, program: Callable[..., str], tmp_path: Path) -> None:
    import json

    run = runs / "dsu-pgn"
    model = pgn.load(run)
    program("analyse", run, "--out", tmp_path / "analyses.json")
    [theirs] = json.loads((tmp_path / "analyses.json").read_text())["runs"]
    ours = model.analyse()
    assert dict(ours) == theirs
    one = model.analyse(pgn.sample("dsu", nodes=8, count=3, split="test"))
    for name in ("beyond", "credit", "pointers"):
        assert one[name][0] == theirs[name][0], name
    assert one.valid == ours.valid[:1] and one.depth == ours.depth[:1]
    assert one.beyond_counting[0] == pytest.approx(
        theirs["beyond"][0]["where_1"] - theirs["beyond"][0]["where_0"]
    )
    assert "Analysis: dsu pgn" in ours._repr_html_() and repr(one).startswith("Analysis(task='dsu'")
    without = pgn.load(runs / "dsu-gnn").analyse()
    assert without.valid == [] and without._repr_html_()


def test_verification(tmp_path: Path) -> None:
    few: dict[str, Any] = {"epochs": 1, "sequences": 4, "validation_sequences": 1}
    few |= {"nodes": 6, "test_nodes": [6], "test_sequences": 1}
    model = pgn.train("forest", "pgn-exact", **few)
    verification = model.verify(nodes=3, depth=16, pairs=5)
    assert verification.transitions > 100 and verification.wrong > 0 and not verification
    assert {verdict.nodes for verdict in verification} == {2, 3, 16}
    with pytest.raises(ValueError):
        pgn.pretrained("dsu").verify(nodes=3, depth=0)
    # How an iterated model worked is told for given data too.
    data = pgn.sample("forest", nodes=6, count=1, split="test")
    [tested] = model.test()
    evaluated = model.evaluate(data)
    assert evaluated["execution"] == tested["execution"] and evaluated.f1 == tested.f1


def test_evaluate_has_what_test_has(model: pgn.Model) -> None:
    [tested] = model.test(8, count=3)
    data = pgn.sample("dsu", nodes=8, count=3, seed=model.seed, split="test")
    evaluated = model.evaluate(data)
    assert evaluated == tested and "counting_f1" in tested
    assert evaluated.counting_f1 == model.rollout(data).score(data).counting_f1
