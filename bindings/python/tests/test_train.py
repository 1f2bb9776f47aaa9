"""Training, and what comes out of it: the same as the program's, both ways."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pgn
import pytest
from conftest import FLAGS, SMALL, scores
from test_structures import PlainDisjointSet, PlainForest

SAME = ["config.toml", "model.safetensors", "metrics.jsonl"]


def without_timing(directory: Path) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((directory / "results.json").read_text())
    del results["timing"]
    results.pop("crc32c", None)
    results["files"].pop("config.toml", None)  # compared as bytes, where it should be the same
    return results


def assert_same_run(ours: Path, theirs: Path, names: list[str] = SAME) -> None:
    for name in names:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
    assert without_timing(ours) == without_timing(theirs)


@pytest.mark.parametrize("name", ["dsu-pgn", "lct-supgnn", "dsu-gnn"])
def test_the_program_trains_the_same_run(name: str, runs: Path, tmp_path: Path) -> None:
    task, model = name.split("-")
    trained = pgn.train(task, model, out=tmp_path / "run", threads=1, **SMALL)
    assert_same_run(tmp_path / "run", runs / name)
    in_memory = pgn.train(task, model, **SMALL)
    in_memory.save(tmp_path / "saved")
    assert_same_run(tmp_path / "saved", runs / name)
    assert trained.results is not None and trained.results["test"][0]["nodes"] == 8


def test_all_settings_reach_the_run(program: Callable[..., str], tmp_path: Path) -> None:
    train, validation = tmp_path / "train.safetensors", tmp_path / "validation.safetensors"
    pgn.sample("dsu", nodes=7, count=6).save(train)
    pgn.sample("dsu", nodes=7, count=3, split="validation").save(validation)
    settings: dict[str, Any] = {
        "epochs": 2,
        "k": 16,
        "learning_rate": 0.01,
        "decay": "cosine",
        "final_fraction": 0.5,
        "clip": 1,
        "batch": np.int64(2),
        "evaluate_every": 2,
        "test_nodes": [5, 6],
        "test_sequences": 2,
        "query_weight": 2.0,
        "pointer_weight": 0.5,
        "mask_weight": 3,
        "visited_weight": 2.5,
        "attention_input": "zh",
        "candidates": "visited",
        "initialisation": "torch",
        "message_aggregation": "sum",
        "readout_aggregation": "mean",
        "layers": 2,
        "train": train,
        "validation": str(validation),
    }
    flags = []
    for name, value in settings.items():
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        name = {"k": "features"}.get(name, name.replace("_", "-"))
        flags += [f"--{name}", text]
    program("train", "--seed=4", *flags, "--out", tmp_path / "theirs")
    pgn.train("dsu", seed=4, out=tmp_path / "ours", **settings)
    assert_same_run(tmp_path / "ours", tmp_path / "theirs")

    shapes: dict[str, Any] = {"nodes": [5, 7], "ops": (6, 8), "sequences": 4, "stream": True}
    more = ["--nodes=5,7", "--ops=6,8", "--sequences=4", "--stream", "--dgm-weight=0.5"]
    few = ["--epochs=2", "--validation-sequences=2", "--test-nodes=5", "--test-sequences=1"]
    program("train", "--model=dgm", *more, *few, "--out", tmp_path / "theirs-2")
    few_: dict[str, Any] = {"epochs": 2, "validation_sequences": 2, "test_nodes": 5, "test_sequences": 1}
    pgn.train(model="dgm", dgm_weight=0.5, out=tmp_path / "ours-2", **shapes, **few_)
    assert_same_run(tmp_path / "ours-2", tmp_path / "theirs-2")

    # A config file, with a keyword over it; and the same as dictionaries.
    base = tmp_path / "theirs" / "config.toml"
    for config in (base, pgn.load(tmp_path / "theirs").config):
        resolved = pgn.config(seed=9, config=config)
        assert (resolved["seed"], resolved["network"]["k"], resolved["batch"]) == (9, 16, 2)
        assert resolved["data"]["nodes"] == [7]


def test_scores_are_those_of_the_program(
    program: Callable[..., str], runs: Path, tmp_path: Path
) -> None:
    for run in runs.iterdir():
        model = pgn.load(run)
        assert model.test() == scores(program("eval", run, "--json"))
        sizes = program("eval", run, "--nodes=5,6", "--ops=4,3", "--count=4", "--seed=8", "--json")
        assert model.test([5, 6], ops=[4, 3], count=4, seed=8) == scores(sizes)
        data = pgn.sample(model.task, nodes=9, count=3, split="test")
        data.save(tmp_path / "data")
        [theirs] = scores(program("eval", run, "--data", tmp_path / "data", "--json"))
        ours = model.evaluate(data)
        assert ours.items() <= theirs.items() and 0 <= ours["f1"] <= 1


def test_rollouts_are_those_of_the_program(
    program: Callable[..., str], runs: Path, tmp_path: Path
) -> None:
    for run in runs.iterdir():
        model = pgn.load(run)
        data = pgn.sample(model.task, nodes=9, count=3, split="test")
        data.save(tmp_path / "data")
        program("rollout", run, "--data", tmp_path / "data", "--out", tmp_path / "theirs", "--force")
        rollout = model.rollout(data)
        rollout.save(tmp_path / "ours")
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
        assert rollout.query_logits.shape == (3, 13) and rollout.query_logits.dtype == np.float32
        assert (rollout.mask_logits is None) == (model.name == "gnn")
        assert (rollout.pointers is None) == (model.name != "pgn")
        right = np.mean(rollout.answers == data.answers)
        assert right == pytest.approx(model.evaluate(data)["accuracy"])
        again = pickle.loads(pickle.dumps(rollout))
        assert np.array_equal(again.query_logits, rollout.query_logits)


def test_step_by_step_is_the_rollout(model: pgn.Model, data: pgn.Dataset) -> None:
    rollout = model.rollout(data)
    assert rollout.mask_logits is not None and rollout.pointers is not None
    for i, sequence in enumerate(data):
        state = model.start(priorities=sequence.priorities[0])
        before = state.pointers
        for t, (u, v) in enumerate(sequence.operands[0]):
            earlier = state.copy()
            answer = state.apply(u, v)
            assert answer.logit == rollout.query_logits[i, t]
            assert answer.answer == (answer.probability > 0.5) == rollout.answers[i, t]
            assert np.array_equal(state.mask_logits, rollout.mask_logits[i, t])
            assert np.array_equal(state.pointers, rollout.pointers[i, t])
            assert answer.changed.tolist() == np.flatnonzero(before != state.pointers).tolist()
            assert earlier.apply(int(u), int(v)).logit == answer.logit
            before = state.pointers
        assert state.latents.shape == state.encoded.shape == (10, 32)
        alpha = state.attention(0)
        assert alpha is not None and alpha.sum() == pytest.approx(1, abs=1e-5)
    assert (state.nodes, state.steps) == (10, 1)


def test_states_outlive_their_model(runs: Path) -> None:
    state = pgn.load(runs / "dsu-pgn").start(600)
    assert 0 < state.apply(0, 1).probability < 1


def test_saving_loading_and_pickling(runs: Path, data: pgn.Dataset, tmp_path: Path) -> None:
    for run in runs.iterdir():
        model = pgn.load(run)
        copy = pickle.loads(pickle.dumps(model))
        copy.save(tmp_path / run.name)
        for name in ["config.toml", "model.safetensors", "metrics.jsonl", "results.json"]:
            assert (tmp_path / run.name / name).read_bytes() == (run / name).read_bytes()
        again = pgn.load(tmp_path / run.name)
        assert again.config == model.config and again.results == model.results
        assert again.metrics == model.metrics and len(model.metrics) == 6
        for name, weight in model.weights.items():
            assert np.array_equal(weight, again.weights[name])
        if model.task == data.task:
            assert again.evaluate(data) == copy.evaluate(data) == model.evaluate(data)
    with pytest.raises(ValueError, match="holds another run"):
        pgn.load(runs / "dsu-gnn").save(tmp_path / "dsu-pgn")


def test_data_sets_in_memory(tmp_path: Path, program: Callable[..., str]) -> None:
    train = pgn.sample("dsu", nodes=7, count=6, seed=5)
    validation = pgn.sample("dsu", nodes=7, count=3, seed=5, split="validation")
    few: dict[str, Any] = {"epochs": 2, "test_nodes": [5], "train": train, "validation": validation}
    model = pgn.train("dsu", out=tmp_path / "run", **few)
    program("train", "--config", tmp_path / "run" / "config.toml", "--out", tmp_path / "again")
    assert_same_run(tmp_path / "again", tmp_path / "run")
    # Without a directory of their own, they move with the model.
    pgn.train("dsu", **few).save(tmp_path / "saved")
    assert_same_run(tmp_path / "saved", tmp_path / "run", ["model.safetensors", "metrics.jsonl"])
    program("eval", tmp_path / "saved")
    program("train", "--config", tmp_path / "saved" / "config.toml", "--out", tmp_path / "more")
    assert_same_run(tmp_path / "more", tmp_path / "saved")
    model.save(tmp_path / "moved")
    assert pgn.load(tmp_path / "moved").config["data"]["train"].startswith(str(tmp_path / "moved"))
    other = pgn.sample("dsu", nodes=7, count=6, seed=6)
    with pytest.raises(ValueError, match="holds another data set"):
        pgn.train("dsu", out=tmp_path / "run", **{**few, "train": other})


def test_given_pointers(runs: Path, program: Callable[..., str], tmp_path: Path) -> None:
    few: dict[str, Any] = {**SMALL, "epochs": 2}
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    teacher = runs / "dsu-pgn"
    model = pgn.train("dsu", "pgn-ptrs", teacher=teacher, out=ours, **few)
    flags = [*FLAGS[1:], "--epochs=2"]
    program("train", "--model=pgn-ptrs", "--teacher", teacher, *flags, "--out", theirs)
    assert_same_run(ours, theirs)
    assert model.test() == scores(program("eval", theirs, "--json"))
    data = pgn.sample("dsu", nodes=9, count=3, split="test")
    data.save(tmp_path / "data")
    [expected] = scores(program("eval", theirs, "--data", tmp_path / "data", "--json"))
    for one in (model, pickle.loads(pickle.dumps(model))):
        assert one.evaluate(data).items() <= expected.items()
    state = pgn.train("dsu", "oracle-ptrs", **few).start(4)
    state.apply(0, 1)
    state.pointers = [1, 1, 2, 3]
    assert state.pointers.tolist() == [1, 1, 2, 3]
    with pytest.raises(ValueError, match="expected 4 nodes, each below 4"):
        state.pointers = [1, 1, 2, 4]
    with pytest.raises(ValueError, match=r"pointers has shape \[2\]"):
        state.pointers = [1, 1]


def test_a_structure_of_ones_own(runs: Path, tmp_path: Path) -> None:
    model = pgn.train(PlainDisjointSet, "pgn", out=tmp_path / "run", **SMALL)
    for name in ("model.safetensors", "metrics.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (runs / "dsu-pgn" / name).read_bytes()
    for ours, theirs in zip(model.test(), pgn.load(runs / "dsu-pgn").test()):
        assert ours.items() <= theirs.items()

    class Mine(PlainDisjointSet):
        name = "mine"

    streamed = pgn.train(Mine, out=tmp_path / "mine", stream=True, **{**SMALL, "epochs": 2})
    assert streamed.task == "mine" and streamed.results is not None
    data = pgn.sample(Mine, nodes=6, count=2)
    alone = pgn.load(tmp_path / "mine")
    assert alone.evaluate(data) == streamed.evaluate(data)
    with pytest.raises(ValueError, match="the structure `mine` is not built in; give its class, .*Mine, to pgn.load"):
        alone.test()
    assert pgn.load(tmp_path / "mine", task=Mine).test() == streamed.test()
    with pytest.raises(ValueError, match="its task is mine; expected plain-dsu"):
        pgn.load(tmp_path / "mine", task=PlainDisjointSet)


def test_exact_models_learn_python_structures() -> None:
    few: dict[str, Any] = {"epochs": 2, "sequences": 4, "validation_sequences": 1}
    few |= {"nodes": 6, "test_nodes": [6], "test_sequences": 1}
    ours = pgn.train(PlainForest, "pgn-exact", **few)
    theirs = pgn.train("forest", "pgn-exact", **few)
    for name, weight in theirs.weights.items():
        assert np.array_equal(ours.weights[name], weight), name
    # Counting is a baseline of built-in tasks.
    [mine], [built_in] = ours.test(), theirs.test()
    assert mine == {key: value for key, value in built_in.items() if key != "counting_f1"}


def test_a_structure_that_fails_while_training(tmp_path: Path) -> None:
    calls = 0

    class Failing(PlainDisjointSet):
        name = "failing"

        def apply(self, u: int, v: int) -> tuple[bool, list[int]]:
            nonlocal calls
            calls += 1
            if calls == 700:
                raise LookupError("at the 700th call")
            return super().apply(u, v)

    with pytest.raises(LookupError, match="at the 700th call"):
        pgn.train(Failing, stream=True, **{**SMALL, "epochs": 50, "test_nodes": []})


def test_what_start_from_raises_ends_the_run() -> None:
    class Stuck(PlainForest):
        def start_from(self, pointers: Any) -> None:
            raise LookupError("no such state")

    few: dict[str, Any] = {"epochs": 1, "sequences": 4, "validation_sequences": 1}
    with pytest.raises(LookupError, match="no such state"):
        pgn.train(Stuck, "pgn-exact", **few, nodes=6, test_nodes=[])


def test_the_callback_is_told_everything(model: pgn.Model) -> None:
    told: list[pgn.Progress] = []
    trained = pgn.train("dsu", callback=told.append, **SMALL)
    # After every epoch, as it says: not before the first.
    assert [progress.epoch for progress in told] == list(range(1, 7))
    assert all(progress.epochs == 6 for progress in told)
    for progress, line in zip(told, trained.metrics):
        assert progress.loss == line["losses"]["total"]
        assert progress.f1 == line["validation"]["f1"]
    assert trained.results is not None
    assert told[-1].best_f1 == trained.results["validation"]["f1"]
    assert told[-1].best_epoch == trained.results["best_epoch"]
    for name, weight in trained.weights.items():
        assert np.array_equal(weight, model.weights[name])


def test_what_a_callback_raises_ends_the_run(runs: Path, tmp_path: Path) -> None:
    def stop(progress: pgn.Progress) -> None:
        if progress.epoch == 3:
            raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        pgn.train("dsu", out=tmp_path / "run", callback=stop, **SMALL)
    assert len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()) == 3
    with pytest.raises(ValueError, match="its run is not finished"):
        pgn.load(tmp_path / "run")
    first: list[int] = []
    pgn.train("dsu", out=tmp_path / "run", callback=lambda p: first.append(p.epoch), **SMALL)
    assert first[0] == 4
    assert_same_run(tmp_path / "run", runs / "dsu-pgn")
    # Finished already: nothing is done.
    again = pgn.train("dsu", out=tmp_path / "run", callback=lambda p: 1 / 0, **SMALL)
    assert again.results is not None


def test_python_runs_while_it_trains() -> None:
    counts: list[int] = []
    over = threading.Event()

    def count() -> None:
        turns = 0
        while not over.is_set():
            turns += 1
            time.sleep(0)
        counts.append(turns)

    thread = threading.Thread(target=count)
    thread.start()
    # No callback of its own to give the lock back at.
    pgn.train("dsu", epochs=3, test_nodes=[], sequences=70)
    over.set()
    thread.join()
    assert counts[0] > 100


def test_several_runs_at_once(runs: Path, tmp_path: Path) -> None:
    def work(index: int) -> None:
        pgn.train("dsu", out=tmp_path / str(index), threads=1, **SMALL)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index in range(3):
        assert_same_run(tmp_path / str(index), runs / "dsu-pgn")


def test_a_directory_in_use(tmp_path: Path) -> None:
    def second(progress: pgn.Progress) -> None:
        with pytest.raises(OSError, match="is in use: another process is training in it"):
            pgn.train("dsu", out=tmp_path, **SMALL)

    pgn.train("dsu", out=tmp_path, callback=second, **{**SMALL, "epochs": 1})


SCRIPT = """
    import sys, pgn
    def callback(progress):
        if progress.epoch == 2:
            print("running", flush=True)
    try:
        pgn.train("dsu", out=sys.argv[1], epochs=100_000, callback=callback, test_nodes=[20])
    except KeyboardInterrupt as interrupt:
        print("interrupted:", interrupt)
"""


def test_ctrl_c(tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(run)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert said.startswith("interrupted: stopped after epoch ") and "to go on" in said
    assert process.returncode == 0
    epoch = int(said.split()[4])
    assert 2 <= epoch < 100_000

    # It goes on where it was.
    told: list[int] = []

    def stop(progress: pgn.Progress) -> None:
        told.append(progress.epoch)
        raise StopIteration

    with pytest.raises(StopIteration):
        pgn.train("dsu", out=run, epochs=100_000, callback=stop, test_nodes=[20])
    assert told == [epoch + 1]


def test_refusals_are_the_programs(program: Callable[..., str], tmp_path: Path) -> None:
    cases: list[tuple[list[str], dict[str, Any]]] = [
        (["--task=tree"], {"task": "tree"}),
        (["--model=net"], {"model": "net"}),
        (["--learning-rate=-1"], {"learning_rate": -1}),
        (["--batch=0"], {"batch": 0}),
        (["--nodes=1"], {"nodes": 1}),
        (["--nodes=5,5"], {"nodes": [5, 5]}),
        (["--ops=3,4"], {"ops": [3, 4]}),
        (["--latents=9"], {"k": 9}),
        (["--clip=-1"], {"clip": -1}),
        (["--model=pgn-ptrs"], {"model": "pgn-ptrs"}),
        (["--train=missing"], {"train": "missing"}),
        (["--config=missing"], {"config": "missing"}),
        (["--model=gnn", "--candidates=visited"], {"model": "gnn", "candidates": "visited"}),
    ]
    for flags, keywords in cases:
        said = program("train", *flags, "--out", tmp_path / "x", fails=True)
        with pytest.raises((ValueError, FileNotFoundError)) as refused:
            pgn.train(**keywords)
        # Machines are trained by `pgn.machines.train`.
        assert said.replace(", pgn-machine", "") == f"error: {refused.value}\n"
        missing = "missing" in keywords.values()
        assert isinstance(refused.value, FileNotFoundError if missing else ValueError)
    assert not (tmp_path / "x").exists()


def test_more_refusals(model: pgn.Model, runs: Path, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'epoch'"):
        pgn.train(epoch=3)
    with pytest.raises(ValueError, match="unknown field `epoch`"):
        pgn.train(config={"epoch": 3})
    with pytest.raises(ValueError, match="unknown field `depth`"):
        pgn.train(network={"depth": 3})
    for name, value in [("seed", -1), ("seed", 2**63), ("epochs", 1.5), ("epochs", "many")]:
        with pytest.raises(ValueError, match="invalid run config"):
            pgn.config(**{name: value})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a setting is not a finite number"):
        pgn.config(clip=float("nan"))
    with pytest.raises(TypeError, match="a setting is <object"):
        pgn.config(decay=object())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads is 0; expected at least 1"):
        pgn.train(threads=0)
    with pytest.raises(ValueError, match="checkpoint_every is -1"):
        pgn.train(checkpoint_every=-1)
    with pytest.raises(FileNotFoundError, match="cannot read .*config.toml"):
        pgn.load(tmp_path)
    with pytest.raises(ValueError, match="holds another run"):
        pgn.train("dsu", out=runs / "dsu-pgn", **{**SMALL, "epochs": 7})
    (tmp_path / "file").write_text("")
    with pytest.raises((FileExistsError, NotADirectoryError)):
        pgn.train("dsu", out=tmp_path / "file", **SMALL)
    state = model.start(5)
    for u, v in [(0, 5), (0, -1), (2, 2), (0, 2**70)]:
        with pytest.raises(ValueError):
            state.apply(u, v)
    with pytest.raises(ValueError, match="node 9 is out of range"):
        state.attention(9)
    with pytest.raises(ValueError, match="either nodes or priorities"):
        model.start()
    for priorities in ([], [0.5, float("inf")]):
        with pytest.raises(ValueError):
            model.start(priorities=priorities)
    with pytest.raises(ValueError, match="ops has 1 numbers; expected one for each of the 2"):
        model.test([5, 6], ops=[3])
    with pytest.raises((AttributeError, TypeError)):
        model.evaluate("x")  # type: ignore[arg-type]
