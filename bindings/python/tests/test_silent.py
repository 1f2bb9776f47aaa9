"""What once went wrong without a word."""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pgn
import pytest
from conftest import SMALL, scores


def same(ours: pgn.Model, theirs: pgn.Model) -> bool:
    return all(np.array_equal(weight, theirs.weights[name]) for name, weight in ours.weights.items())


@pytest.fixture(scope="module")
def graph_model(
    program: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, pgn.Model]:
    run = tmp_path_factory.mktemp("graph") / "run"
    flags = ["--epochs=6", "--sequences=8", "--validation-sequences=4", "--test-sequences=3"]
    program("train", "--task=kruskal", "--input-graph=edges", "--test-nodes=8,12", *flags,
            "--out", run)
    return run, pgn.load(run)


def test_kruskal_is_kruskal(program: Callable[..., str], tmp_path: Path) -> None:
    data = pgn.sample("kruskal", nodes=12, count=3, seed=4)
    path = tmp_path / "kruskal.safetensors"
    program("generate", "--task=kruskal", "--nodes=12", "--count=3", "--seed=4", "--out", path)
    assert pgn.Dataset.load(path) == data
    data.save(tmp_path / "ours.safetensors")
    assert path.read_bytes() == (tmp_path / "ours.safetensors").read_bytes()
    assert data.edges is not None and data.weights is not None
    for edges, weights, operands in zip(data.edges, data.weights, data.operands):
        assert np.array_equal(edges[np.argsort(weights)], operands), "the lightest edge comes first"
    dsu = pgn.sample("dsu", nodes=12, count=3, seed=4)
    assert not np.array_equal(data.operands, dsu.operands)
    assert pickle.loads(pickle.dumps(data)) == data
    assert data[1:].edges is not None and len(data[1:].edges) == 2
    again = pgn.replay("kruskal", data.operands, priorities=data.priorities, edges=data.edges,
                       weights=data.weights)
    assert np.array_equal(again.edges, data.edges) and np.array_equal(again.answers, data.answers)


def test_models_read_the_graph(
    graph_model: tuple[Path, pgn.Model], program: Callable[..., str], tmp_path: Path
) -> None:
    run, model = graph_model
    data = pgn.sample("kruskal", nodes=12, count=3, split="test")
    data.save(tmp_path / "test.safetensors")
    theirs = scores(program("eval", run, "--data", tmp_path / "test.safetensors", "--json"))
    assert [model.evaluate(data)] == theirs and model.test()[1].f1 == model.evaluate(data).f1
    program("rollout", run, "--data", tmp_path / "test.safetensors", "--out", tmp_path / "theirs")
    model.rollout(data).save(tmp_path / "ours")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert model.analyse(data)["credit"] == model.analyse()["credit"][1:]
    # One operation at a time, too; and not without the graph.
    assert data.edges is not None
    state = model.start(priorities=data.priorities[0], edges=data.edges[0])
    logits = [state.apply(u, v).logit for u, v in data.operands[0].tolist()]
    assert logits == model.rollout(data).query_logits[0].tolist()
    with pytest.raises(ValueError, match="reads an input graph; give its edges"):
        model.start(12)
    bare = pgn.replay("kruskal", data.operands, priorities=data.priorities)
    for use in (model.evaluate, model.rollout, model.analyse):
        with pytest.raises(ValueError, match="but the data has no edges and weights"):
            use(bare)


@pytest.mark.parametrize("name", ["masks", "pointers", "answers", "operands", "priorities"])
def test_fortran_order(name: str, tmp_path: Path) -> None:
    model, data = pgn.pretrained("dsu"), pgn.sample("dsu", nodes=12, count=6, split="test")
    expected = model.evaluate(data)
    data.save(tmp_path / "plain")
    setattr(data, name, np.asfortranarray(getattr(data, name)))
    assert getattr(data, name).flags.c_contiguous
    assert model.evaluate(data) == expected
    data.save(tmp_path / "fortran")
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "fortran").read_bytes()
    with pytest.raises(ValueError, match=f"{name} has shape"):
        setattr(data, name, getattr(data, name)[..., :1])
    lct = pgn.sample("lct", nodes=6, count=3)
    lct.fields["left"] = np.asfortranarray(lct.fields["left"])
    assert lct == pgn.sample("lct", nodes=6, count=3) and lct.fields["left"].flags.c_contiguous


def test_fortran_order_of_rollouts(tmp_path: Path) -> None:
    data = pgn.sample("dsu", nodes=12, count=6, split="test")
    rollout = pgn.pretrained("dsu").rollout(data)
    rollout.save(tmp_path / "plain")
    arrays = (rollout.query_logits, rollout.mask_logits, rollout.pointers)
    turned = pgn.Rollout(*map(np.asfortranarray, arrays), "dsu", "pgn", 0, 12)  # type: ignore[arg-type]
    turned.save(tmp_path / "fortran")
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "fortran").read_bytes()
    with pytest.raises(AttributeError, match="a rollout is not changed"):
        turned.pointers = None


TEXT = """
class Changing:
    name = "changing"
    def __init__(self, priorities):
        self.pointers = list(range(len(priorities)))
    def apply(self, u, v):
        self.pointers[u] = v
        return {answer}, [u, v]
"""


def version(answer: str, folder: Path) -> Any:
    """A class as a file has it, so that its source is found."""
    import importlib.util

    path = folder / f"changing_{abs(hash(answer))}.py"
    path.write_text(TEXT.format(answer=answer))
    spec = importlib.util.spec_from_file_location("changing", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["changing"] = module
    spec.loader.exec_module(module)
    return module.Changing


def test_a_changed_class_is_another_run(tmp_path: Path) -> None:
    few: dict[str, Any] = {**SMALL, "epochs": 2, "nodes": 8, "test_nodes": []}
    run = tmp_path / "run"
    first = pgn.train(version("u < v", tmp_path), out=run, **few)
    again = pgn.train(version("u < v", tmp_path), out=run, **few)
    assert same(first, again)
    changed = version("u > v", tmp_path)
    with pytest.raises(ValueError, match="another version of changing:Changing.*choose another dir"):
        pgn.train(changed, out=run, **few)
    with pytest.raises(ValueError, match="it has other transitions"):
        pgn.load(run, task=changed)
    # Another source that does the same at first is refused for training alone.
    rewritten = version("(u < v)", tmp_path)
    with pytest.raises(ValueError, match="it has other source"):
        pgn.train(rewritten, out=run, **few)
    assert pgn.load(run, task=rewritten).task == "changing"


class Cyclic:
    """A list whose last node may be put before its first: not acyclic, whatever it says."""

    name = "cyclic"
    pointers = ["next"]
    registers = ["x", "y"]
    states = ["put", "done"]
    halts: dict[str, Any] = {"done": None}
    operations = {"put": ("put", ["x", "y"])}
    clauses = ["acyclic next", "x != nil", "y != nil"]

    def step(self, state: str, memory: pgn.machines.Memory) -> str | None:
        x, y = memory.register("x"), memory.register("y")
        if memory.pointer(x, "next") is None:
            memory.set_pointer(x, "next", y)
        return "done"


class OnItself(Cyclic):
    """Acyclic as long as nobody puts a node before itself."""

    name = "on-itself"

    def step(self, state: str, memory: pgn.machines.Memory) -> str | None:
        x, y = memory.register("x"), memory.register("y")
        if memory.pointer(x, "next") is None and memory.pointer(y, "next") is None:
            memory.set_pointer(x, "next", y)
        return "done"


class Guarded(OnItself):
    name = "guarded"
    requires = {"put": {"x != y": "x and y are the same node"}}


@pytest.mark.parametrize("program", [Cyclic, OnItself])
def test_false_invariants_get_no_certificate(program: Any) -> None:
    with pytest.raises(ValueError, match="violates its clause `acyclic next`"):
        pgn.machines.train(program, epochs=300).certify()


def test_true_invariants_get_one() -> None:
    machine = pgn.machines.train(Guarded, epochs=300, data={"consistent": True})
    assert machine.certify()
    assert machine.results is not None
    assert machine.results["views"]["trained_on"] <= machine.results["views"]["consistent"]


def test_views_that_invariants_exclude_are_an_error() -> None:
    """More views in traces than there are consistent ones."""

    class Deep(Cyclic):
        name = "deep"

        def step(self, state: str, memory: pgn.machines.Memory) -> str | None:
            x, y = memory.register("x"), memory.register("y")
            following = memory.pointer(x, "next")
            if following is None:
                memory.set_pointer(x, "next", y)
            else:
                memory.pointer(following, "next")
            return "done"

    with pytest.raises(ValueError, match="violates its clause `acyclic next`"):
        pgn.machines.train(Deep, epochs=1)


def test_one_number_for_counting(runs: Path, program: Callable[..., str]) -> None:
    run, task, seeds = runs / "lct-supgnn", "lct", (1, 3)
    model = pgn.load(run)
    for seed in seeds:
        data = pgn.sample(task, nodes=20, count=20, seed=seed, split="test")
        own = pgn.score(data, answers=data.answers, counting=pgn.sample(task, nodes=20))
        ones = pgn.score(data, answers=np.ones_like(data.answers)).counting_f1
        assert own.counting_f1 != ones, "the model's seed gives another rule than the data's"
        [tested] = model.test(20, count=20, seed=seed)
        flags = ["--nodes=20", "--count=20", f"--seed={seed}", "--json"]
        [theirs] = scores(program("eval", run, *flags))
        found = [model.evaluate(data).counting_f1, model.rollout(data).score(data).counting_f1,
                 tested.counting_f1, theirs["counting_f1"]]
        assert found == [ones] * 4, seed
        table = pgn.benchmark({}, task, 20, [seed], 20)
        assert table.at("counting", task, 20).mean == ones


def test_saving_does_not_ruin_a_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    model = pgn.train("dsu", out=run, **SMALL)
    halved = model.with_weights({name: weight / 2 for name, weight in model.weights.items()})
    with pytest.raises(ValueError, match="holds another run .its model.safetensors is another"):
        halved.save(run)
    assert pgn.load(run).results == model.results and same(pgn.load(run), model)
    model.save(run)
    halved.save(tmp_path / "halved")
    assert same(pgn.load(tmp_path / "halved"), halved)
    with pytest.raises(ValueError, match="holds another run"):
        model.save(tmp_path / "halved")
    machine = pgn.machines.load("dsu")
    machine.save(tmp_path / "machine")
    with pytest.raises(ValueError, match="holds another run"):
        pgn.machines.train("dsu", epochs=1).save(tmp_path / "machine")


def test_a_teacher_teaches_step_by_step(runs: Path) -> None:
    few: dict[str, Any] = {**SMALL, "epochs": 2}
    model = pgn.train("dsu", "pgn-ptrs", teacher=runs / "dsu-pgn", **few)
    data = pgn.sample("dsu", nodes=10, count=2, split="test")
    teacher = pgn.load(runs / "dsu-pgn").rollout(data)
    for i in range(data.count):
        state = model.start(priorities=data.priorities[i])
        for t, (u, v) in enumerate(data.operands[i].tolist()):
            assert state.apply(u, v).logit == model.rollout(data).query_logits[i, t]
            assert np.array_equal(state.pointers, teacher.pointers[i, t])  # type: ignore[index]
    again = pickle.loads(pickle.dumps(state))
    assert again.apply(0, 1).logit == state.apply(0, 1).logit


def test_rollouts_know_their_data() -> None:
    model, data = pgn.pretrained("dsu"), pgn.sample("dsu", nodes=10, count=4, split="test")
    rollout = model.rollout(data)
    other = pgn.sample("dsu", nodes=10, count=4, seed=1, split="test")
    with pytest.raises(ValueError, match="made on other data: sequence 0"):
        rollout.score(other)
    with pytest.raises(ValueError, match="made on other data"):
        pgn.play(other, rollout)
    assert rollout[1:3].score(data[1:3]).f1 == model.evaluate(data[1:3]).f1
    with pytest.raises(ValueError, match="made on other data"):
        rollout[1:3].score(data[:2])
    assert repr(rollout) == "Rollout(task='dsu', model='pgn', count=4, ops=15, nodes=10, seed=0)"
    assert len(rollout[[3, 0]]) == 2 and pickle.loads(pickle.dumps(rollout)) == rollout


def test_probabilities_are_no_logits() -> None:
    data = pgn.sample("dsu", nodes=10, count=4, split="test")
    likely = np.where(data.answers == 1, 0.9, 0.2)
    assert pgn.score(data, probabilities=likely).f1 == 1
    with pytest.raises(ValueError, match="give them as probabilities"):
        pgn.score(data, query_logits=likely)


def test_counting_of_another_task() -> None:
    data = pgn.sample("dsu", nodes=10, count=4, split="test")
    with pytest.raises(ValueError, match="counting is a set of lct; expected dsu"):
        pgn.score(data, answers=data.answers, counting=pgn.sample("lct", nodes=10))


def test_benchmarks_say_what_they_leave_out(model: pgn.Model) -> None:
    table = pgn.benchmark({"pgn": model}, ["dsu", "lct"], 8, [0], 2)
    assert table.skipped == ("pgn was not trained for lct",)
    assert str(table).endswith("pgn was not trained for lct")
    with pytest.raises(ValueError, match="pgn was trained for none of the tasks"):
        pgn.benchmark({"pgn": model}, "lct", 8, [0], 2)


# Loud, and in words.


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pgn.Model]:
    run = tmp_path_factory.mktemp("typed") / "run"
    return run, pgn.train("lct", out=run, pointer_types=["left", "right"], **SMALL)


def test_typed_pointers(
    typed: tuple[Path, pgn.Model], program: Callable[..., str], tmp_path: Path
) -> None:
    run, model = typed
    data = pgn.sample("lct", nodes=8, count=3, split="test")
    assert "left" in data.fields
    bare = pgn.sample("lct", nodes=8, count=3, split="test", fields=False)
    expected = model.test()[0]
    assert model.evaluate(data) == model.evaluate(bare) == expected
    assert model.rollout(data) == model.rollout(bare)
    table = pgn.benchmark({"typed": model}, "lct", 8, [0], 3)
    assert table.at("typed", "lct", 8).mean == expected.f1
    analysed = model.analyse()
    assert model.analyse(data)["pointers"] == analysed["pointers"][:1]
    program("analyse", run, "--out", tmp_path / "analyses.json")
    assert len(analysed["chains"]) == 2
    few: dict[str, Any] = {**SMALL, "epochs": 2, "pointer_types": ["left"]}
    tested = pgn.train("lct", test=data, **{**few, "test_nodes": []})
    assert tested.results is not None and tested.results["test"][0]["nodes"] == 8
    of_file = pgn.train("lct", train=data, epochs=2, pointer_types=["left"], test_nodes=[8],
                        validation_sequences=2)
    assert of_file.config["data"]["sequences"] == 3


class Wrong(Guarded):
    name = "wrong-handle"

    def step(self, state: str, memory: pgn.machines.Memory) -> str | None:
        memory.pointer(17, "next")
        return "done"


def test_no_panics() -> None:
    memory = pgn.machines.load("lct").start(values=[1.0, 2.0, 3.0])
    for use in (
        lambda: memory.value(3),
        lambda: memory.add(3, 1.0),
        lambda: memory.set_value(2**40, 1.0),
        lambda: memory.path_aggregate(0, 3),
        lambda: memory.path_aggregate(3, 0),
        lambda: memory.apply("link", 0, -1),
    ):
        with pytest.raises(ValueError, match="is out of range: there are 3 nodes"):
            use()
    with pytest.raises(ValueError, match="is given the node 17, which this step has not read"):
        pgn.machines.train(Wrong, epochs=1)
    empty = type("Empty", (Guarded,), {"name": "empty", "operations": {}, "requires": {}})
    with pytest.raises(ValueError, match="`empty` has no operations; expected at least one"):
        pgn.machines.train(empty, epochs=1)


def test_a_diverged_run_names_no_deleted_path(tmp_path: Path) -> None:
    few: dict[str, Any] = {**SMALL, "epochs": 40, "learning_rate": 1e30}
    with pytest.raises(ValueError) as lost:
        pgn.train("dsu", **few)
    assert "/tmp" not in str(lost.value), str(lost.value)
    with pytest.raises(ValueError) as kept:
        pgn.train("dsu", out=tmp_path / "run", **few)
    if "is now" in str(kept.value):
        assert (tmp_path / "run" / "model.safetensors").is_file()
        assert "give out to keep the best model so far" in str(lost.value)


def test_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError) as missing:
        pgn.load("dsu")
    assert "did you mean" not in str(missing.value)
    assert "pgn.pretrained('dsu') is a model and pgn.machines.load('dsu')" in str(missing.value)
    with pytest.raises(TypeError, match="nodes is 'x'; expected a number of nodes, or a priority"):
        pgn.DisjointSet("x")  # type: ignore[arg-type]
    pgn.machines.load("dsu").save("machine")
    with pytest.raises(ValueError, match="load it with pgn.machines.load"):
        pgn.load("machine")
    assert "callback" in typing.get_type_hints(pgn.train)
    for function in (pgn.sample, pgn.config, pgn.score, pgn.Model.start, pgn.machines.train):
        assert typing.get_type_hints(function)


def test_clrs_is_asked_for_in_words() -> None:
    try:
        import clrs  # noqa: F401
    except ImportError:
        data = pgn.sample("dsu", nodes=4, count=1)
        with pytest.raises(ImportError, match="to_clrs needs dm-clrs: pip install"):
            pgn.clrs.to_clrs(pgn.clrs.operations(data))


class Endless(Guarded):
    """Walks around a cycle for ever."""

    name = "endless"
    states = ["put", "walk", "done"]
    clauses: list[str] = []
    requires: dict[str, Any] = {}

    def step(self, state: str, memory: pgn.machines.Memory) -> str | None:
        x = memory.register("x")
        if state == "put":
            memory.set_pointer(x, "next", x)
            return "walk"
        memory.set_register("x", memory.pointer(x, "next"))
        return "walk"


def test_endless_operations_are_named() -> None:
    with pytest.raises(ValueError, match="`put` of program `endless` .in state `walk`. did not end"):
        pgn.machines.train(Endless, epochs=1)


# One world.


def test_machines_follow_models() -> None:
    machine = pgn.machines.load("lct")
    data = pgn.sample("lct", nodes=30, count=3, split="test")
    for one in (machine, machine.compile()):
        rollout = one.rollout(data)
        assert np.array_equal(rollout.answers, data.answers)
        assert np.array_equal(rollout.pointers, data.pointers)  # type: ignore[arg-type]
        assert np.array_equal(rollout.masks, data.masks)  # type: ignore[arg-type]
        assert one.evaluate(data).sequences_exact == 1 and one.test(8, count=2)[0].f1 == 1
        assert one.verify(nodes=10, count=3)
    with pytest.raises(ValueError, match="the task of the data is dsu; expected lct"):
        machine.rollout(pgn.sample("dsu", nodes=5, count=1))
    table = pgn.benchmark({"machine": machine, "pgn": pgn.pretrained("lct")}, "lct", 20, [0, 1], 5)
    assert table.at("machine", "lct", 20).mean == 1 > table.at("pgn", "lct", 20).mean
    assert machine.config["model"] == "pgn-machine" and machine.task == "lct"
    assert "Machine: lct" in machine._repr_html_()


def test_memories_are_copied_and_pickled() -> None:
    memory = pgn.machines.load("lct").compile().start(values=[1.0, 2.0, 3.0, 4.0])
    memory.apply("link", 0, 1)
    memory.add(0, 5.0)
    assert repr(memory) == "State('lct', 4 nodes)" and memory.nodes == len(memory) == 4
    for other in (memory.copy(), copy.copy(memory), copy.deepcopy(memory),
                  pickle.loads(pickle.dumps(memory))):
        assert other.path_aggregate(0, 1) == memory.copy().path_aggregate(0, 1)
        other.apply("cut", 1)
        assert np.array_equal(other.fields["up"], np.arange(4))
    assert memory.path_aggregate(0, 1) == (8.0, None)
    with pytest.raises(ValueError, match=r"keys has shape \[3\]; expected \[4\]"):
        pgn.machines.load("dsu").start(4, keys=[0.1, 0.2, 0.3])


def test_models_states_and_stop_travel(model: pgn.Model) -> None:
    assert pickle.loads(pickle.dumps(pgn.STOP)) is copy.deepcopy(pgn.STOP) is pgn.STOP
    assert same(copy.deepcopy(model), model)
    state = model.start(6)
    state.apply(0, 1)
    for other in (copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        before = state.copy()
        assert other.apply(1, 2).logit == before.apply(1, 2).logit
        assert np.array_equal(other.latents, before.latents)


def test_double_precision_is_rounded_and_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from pgn import _arrays

    monkeypatch.setattr(_arrays, "_said", False)
    priorities = np.random.default_rng(0).random(5)
    with pytest.warns(UserWarning, match="priorities: float64 is rounded to float32"):
        state = pgn.pretrained("dsu").start(priorities=priorities)
    assert state.nodes == 5
    assert pgn.replay("dsu", [[0, 1]], priorities=priorities).priorities.dtype == np.float32
    assert len(pgn.DisjointSet(priorities)) == 5


def test_first_errors() -> None:
    data = pgn.sample("dsu", nodes=8, count=3, split="test")
    answers = data.answers.copy()
    answers[1, 4] ^= 1
    pointers = data.pointers.copy()
    pointers[2, 7, 0] = (pointers[2, 7, 0] + 1) % 8
    found = pgn.score(data, answers=answers, pointers=pointers)
    assert found.first_errors == [None, 4, 7] and found.first_error == 4


def test_baselines_in_pandas(model: pgn.Model) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    table = pgn.benchmark({"pgn": model}, "dsu", 8, [0, 1], 3).to_pandas()
    assert list(table["model"]) == ["pgn", "pgn", "counting", "counting", "always 1", "always 1"]
    assert (table["f1"] > 0).all()


def test_star_imports_replace_nothing() -> None:
    import builtins

    assert not set(pgn.__all__) & set(vars(builtins))


def test_inspection(model: pgn.Model, runs: Path) -> None:
    data = pgn.sample("dsu", nodes=8, count=2, split="test")
    inside, rollout = model.inspect(data), model.rollout(data)
    assert np.array_equal(inside.query_logits, rollout.query_logits)
    assert np.array_equal(inside.pointers, rollout.pointers)  # type: ignore[arg-type]
    assert np.array_equal(inside.mask_logits, rollout.mask_logits)  # type: ignore[arg-type]
    assert inside.latents.shape == inside.encoded.shape == (2, 12, 8, 32)
    np.testing.assert_allclose(inside.attention.sum(axis=-1), 1, rtol=1e-5)
    logits, truth = inside.query_logits.astype(np.float64), data.answers
    by_hand = -np.log(1 / (1 + np.exp(np.where(truth == 1, -logits, logits))))
    np.testing.assert_allclose(inside.query_loss, by_hand, rtol=1e-4, atol=1e-6)
    i, t, node = 1, 5, 3
    alpha = inside.attention[i, t, node, data.pointers[i, t, node]]
    assert inside.pointer_loss[i, t, node] == pytest.approx(-np.log(alpha), rel=1e-4)
    bare = pgn.load(runs / "dsu-gnn").inspect(data)
    assert "attention" not in bare and "mask_logits" not in bare
    with pytest.raises(AttributeError, match="there is no 'masks'"):
        bare.masks


class Drawn(Guarded):
    """Draws operations itself: only nodes without a next one."""

    name = "drawn"

    drawn = 0

    def sample(self, memory: Any, rng: pgn.Rng) -> tuple[str, int, int]:
        type(self).drawn += 1
        free = [node for node in range(memory.nodes) if memory.pointer(node, "next") is None]
        x = free[rng.below(len(free))]
        return "put", x, (x + 1 + rng.below(memory.nodes - 1)) % memory.nodes


def test_programs_draw_their_operations() -> None:
    # Half of the operations that are traced; every other sequence that verify tries, and half of
    # the operations of the rest.
    machine = pgn.machines.train(Drawn, epochs=200)
    assert Drawn.drawn > 30_000
    Drawn.drawn = 0
    machine.verify(nodes=8, count=10)
    assert 120 < Drawn.drawn < 240
    bad = type("Bad", (Drawn,), {"name": "bad", "sample": lambda self, memory, rng: ("put", 1)})
    with pytest.raises(ValueError, match="sample of the program `bad` draws"):
        pgn.machines.train(bad, epochs=1)
