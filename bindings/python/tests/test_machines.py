"""Machines: programs in Python, trained, certified, compiled and run like the built-in ones."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pgn
import pytest


class UnionFind:
    """Disjoint sets without path compression, linking by key."""

    name = "plain-union-find"
    pointers = ["up"]
    registers = ["u", "v"]
    states = ["first", "second", "link", "same", "apart"]
    halts = {"same": False, "apart": True}
    operations = {"union": ("first", ["u", "v"])}
    clauses = [
        "acyclic up",
        "u != nil",
        "v != nil",
        "second, link: u.up = nil",
        "link: v.up = nil",
    ]

    def step(self, state: str, memory: pgn.machines.Memory) -> str | None:
        u, v = memory.register("u"), memory.register("v")
        if state in ("first", "second"):
            node, name = (u, "u") if state == "first" else (v, "v")
            memory.visit(node)
            above = memory.pointer(node, "up")
            if above is None:
                return "second" if state == "first" else "link"
            memory.set_register(name, above)
            return state
        if u == v:
            return "same"
        if memory.less(u, v):
            memory.set_pointer(u, "up", v)
        else:
            memory.set_pointer(v, "up", u)
        return "apart"


def test_clauses_are_suggested() -> None:
    """Without the clauses that make it inductive, a program is only tested; with those that are
    found, it is proved."""

    class Bare(UnionFind):
        name = "bare-union-find"
        clauses = ["u != nil", "v != nil", "link: u.up = nil"]

    machine = pgn.machines.train(Bare, epochs=400, data={"consistent": True})
    certificate = machine.certify()
    assert certificate and not certificate.proved
    found = machine.suggest()
    assert set(Bare.clauses) < set(found)
    proved = type("Proved", (Bare,), {"name": "proved-union-find", "clauses": found})
    assert pgn.machines.train(proved, epochs=400).certify().proved


@pytest.fixture(scope="module")
def machine() -> pgn.machines.Machine:
    return pgn.machines.train(UnionFind, epochs=400)


def test_a_program_in_python(machine: pgn.machines.Machine) -> None:
    certificate = machine.certify()
    assert certificate and certificate["certified"] and certificate["views"] > 5
    assert certificate.proved and certificate["proof"]["induction"] > 20
    assert machine.certificate == certificate and "certified=True" in repr(machine)
    assert "Certificate: plain-union-find" in certificate._repr_html_()
    rng = np.random.default_rng(0)
    for one in (machine, machine.compile()):
        keys = rng.random(60).astype(np.float32)
        state, sets = one.start(keys=keys), list(range(60))
        for _ in range(120):
            u, v = (int(node) for node in rng.choice(60, 2, replace=False))
            apart = sets[u] != sets[v]
            assert state.apply("union", u, v) is apart
            if apart:
                old = sets[u]
                sets = [sets[v] if label == old else label for label in sets]
        for node, above in enumerate(state.pointers):
            assert above == node or keys[above] > keys[node]
        assert np.array_equal(state.fields["up"], state.pointers) and state.bits == {}


def test_compiled_machines_travel(machine: pgn.machines.Machine, tmp_path: Path) -> None:
    compiled = machine.compile()
    assert compiled.compiled and not machine.compiled
    again = pickle.loads(pickle.dumps(compiled))
    assert again.compiled and again.start(4).apply("union", 0, 1) is True
    machine.save(tmp_path / "run")
    loaded = pgn.machines.load(tmp_path / "run", program=UnionFind)
    assert loaded.certify() == machine.certify()
    outcome = loaded.start(3).outcome("union", 0, 2)
    assert outcome == ("answer", True, (0, 2)) and len(loaded.start(3)) == 3


def test_an_untrained_network_is_not_certified() -> None:
    hardly = pgn.machines.train(UnionFind, epochs=1)
    certificate = hardly.certify()
    assert not certificate and certificate["failures"]
    with pytest.raises(ValueError, match="certificate"):
        hardly.compile()


def test_a_built_in_program(program: Callable[..., str], tmp_path: Path) -> None:
    ours = pgn.machines.train("dsu", epochs=3, out=tmp_path / "ours", test={"nodes": []})
    assert ours.results is not None
    program("train", "--task=dsu", "--model=pgn-machine", "--epochs=3", "--test-nodes=8",
            "--out", tmp_path / "theirs")
    ours_file, theirs_file = (tmp_path / name / "model.safetensors" for name in ("ours", "theirs"))
    assert ours_file.read_bytes() == theirs_file.read_bytes()
    assert ours.start(4).outcome("find", 2) is not None


def mistaken(**changes: Any) -> Any:
    return type("Mistaken", (UnionFind,), {"name": "mistaken", **changes})


@pytest.mark.parametrize(
    ("program", "exception", "sentence"),
    [
        (mistaken(step=lambda self, state, memory: 1 / 0), ZeroDivisionError, "division by zero"),
        (mistaken(step=lambda self, state, memory: "nowhere"), ValueError, "has no 'nowhere' among"),
        (mistaken(step=lambda self, s, memory: memory.register("w")), ValueError, "its registers"),
        (mistaken(registers="uv"), ValueError, "registers is 'uv'; expected a list of names"),
        (mistaken(name="dsu"), ValueError, "`dsu` has the name of a built-in one"),
        (mistaken(operations={"x": ("nowhere", ["u"])}), ValueError, "names a state"),
        (mistaken(halts={"nowhere": None}), ValueError, "has no 'nowhere' among its states"),
        (object(), TypeError, "expected the name of one or a class with a method step"),
        ("tree", ValueError, "there is no program 'tree'"),
    ],
)
def test_programs_that_make_no_sense(program: Any, exception: Any, sentence: str) -> None:
    with pytest.raises(exception, match=sentence):
        pgn.machines.train(program, epochs=1)


def test_refusals(machine: pgn.machines.Machine) -> None:
    state = machine.start(3)
    with pytest.raises(ValueError, match="out of range"):
        state.apply("union", 0, 3)
    with pytest.raises(ValueError):
        state.apply("cut", 0)
    for use in (state.value, lambda node: state.add(node, 1), machine.start(3).value):
        with pytest.raises(ValueError, match="out of range|have no values"):
            use(7)
    with pytest.raises(ValueError, match="either nodes or keys"):
        machine.start()


#: Without these, a node can be hung below itself, and the search does not end.
ALONE = {f"x.{field} = nil": "x is in a tree" for field in ("left", "right", "above")}
ROOT = {"h != x": "one node", "h.above = nil": "h is in a tree", "h.right = nil": "h is in a tree"}


@pgn.machines.code(pointers=["left", "right", "above"], requires={"insert": ALONE | ROOT})
class PlainTree:
    """A search tree below the node h, in ``h.left``."""

    def insert(self, memory: Any, h: int, x: int) -> bool:
        below = memory.left(h)
        if below is None:
            memory.left(h, x)
            memory.above(x, h)
            return True
        while True:
            here = below
            side = memory.left if memory.less(x, here) else memory.right
            below = side(here)
            if below is None:
                side(here, x)
                memory.above(x, here)
                return True


@pgn.machines.code(pointers=["next", "back"])
class PlainList:
    """A doubly linked list, with splicing."""

    def put(self, memory: Any, x: int, y: int) -> bool:
        if x == y or memory.next(y) is not None or memory.back(y) is not None:
            return False
        following = memory.next(x)
        memory.next(y, following)
        if following is not None:
            memory.back(following, y)
        memory.next(x, y)
        memory.back(y, x)
        return True

    def first(self, memory: Any, x: int) -> int:
        while (before := memory.back(x)) is not None:
            x = before
        return x


def test_ordinary_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inferred, trained on traces, proved; and as the code on more operations."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "examples"))
    import learn

    inferred = pgn.machines.infer(learn.sets)
    assert (inferred.states, inferred.refutation) == (4, None)
    assert "is nil" in inferred.picture and "digraph" in inferred.dot and inferred.clauses
    out = tmp_path / "sets"
    machine = pgn.machines.train(learn.sets, out=out)
    assert machine.certify().proved
    memory = machine.compile().start(50)
    group = list(range(50))
    rng = np.random.default_rng(1)
    for u, v in rng.integers(0, 50, (200, 2)):
        apart = group[u] != group[v]
        assert memory.apply("sets", int(u), int(v)) is apart
        old = group[u]
        group = [group[v] if one == old else one for one in group]
    assert pgn.machines.load(out, program=learn.sets).compile().compiled

    for plain, most in [(PlainTree, 12), (PlainList, 12)]:
        found = pgn.machines.infer(plain)
        assert 1 <= found.states <= most, found
    for source, trouble in [
        (lambda memory, x: memory.up(memory.up(x)), "of nil"),
        (lambda memory, x: [memory.up(x) for _ in range(10**6)], "does not end"),
        (lambda memory, x: memory.down(x), "no 'down'; expected one of up, less, toggle"),
    ]:
        with pytest.raises((ValueError, AttributeError), match=trouble):
            pgn.machines.infer(pgn.machines.code(source, pointers=["up"], name="odd"))


def test_learn_command(tmp_path: Path) -> None:
    """The whole way from the command line."""
    examples = Path(__file__).parent.parent / "examples"
    run = [sys.executable, "-m", "pgn", "learn", "learn:sets", "--out", str(tmp_path / "sets")]
    done = subprocess.run(run, cwd=examples, capture_output=True, text=True, check=True)
    assert "states=4" in done.stdout and "Proved:" in done.stdout, done.stdout
    wrong = subprocess.run([*run[:4], "learn:find", *run[5:]], cwd=examples, capture_output=True, text=True)
    assert wrong.returncode == 1 and "with the decorator pgn.machines.code" in wrong.stderr
