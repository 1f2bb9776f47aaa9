"""The built-in structures step by step, and structures that are Python classes."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pgn
import pytest

from pgn._structure import TaskName


class PlainDisjointSet:
    """The paper's figure 2, in Python."""

    name = "plain-dsu"

    def __init__(self, priorities: npt.NDArray[np.float32]) -> None:
        self.priorities = priorities
        self.pointers = list(range(len(priorities)))

    def find(self, u: int, visited: list[int]) -> int:
        visited.append(u)
        if self.pointers[u] != u:
            self.pointers[u] = self.find(self.pointers[u], visited)
        return self.pointers[u]

    def apply(self, u: int, v: int) -> tuple[bool, list[int]]:
        visited: list[int] = []
        x, y = self.find(u, visited), self.find(v, visited)
        if x == y:
            return False, visited
        if self.priorities[x] < self.priorities[y]:
            x, y = y, x
        self.pointers[y] = x
        return True, visited


class PlainForest:
    """Rooted trees whose pointers are their edges."""

    name = "plain-forest"
    features = ("first", "second", "self-pointing")

    def __init__(self, priorities: npt.NDArray[np.float32]) -> None:
        self.pointers = np.arange(len(priorities))

    def start_from(self, pointers: npt.NDArray[np.uint32]) -> None:
        self.pointers[:] = pointers

    def path(self, node: int) -> list[int]:
        path = [node]
        while self.pointers[path[-1]] != path[-1]:
            path.append(int(self.pointers[path[-1]]))
        return path

    def apply(self, u: int, v: int) -> tuple[bool, set[int]]:
        path, other = self.path(u), self.path(v)
        for child, parent in zip(path, path[1:]):
            self.pointers[parent] = child
        connected = path[-1] == other[-1]
        self.pointers[u] = u
        self.pointers[v if connected else u] = v
        return connected, {*path, *other}


@pytest.mark.parametrize(
    ("task", "structure"),
    [
        ("dsu", PlainDisjointSet),
        ("forest", PlainForest),
        ("dsu", pgn.DisjointSet),
        ("lct", pgn.LinkCutTree),
        ("forest", pgn.RootedForest),
    ],
)
def test_a_class_gives_the_same_sequences_as_the_built_in_task(task: str, structure: Any) -> None:
    for nodes in (2, 3, 20, 50):
        ours = pgn.sample(structure, nodes=nodes, count=20, seed=nodes)
        theirs = pgn.sample(task, nodes=nodes, count=20, seed=nodes)
        assert ours.task == structure.name
        for name, values in ours.arrays().items():
            assert np.array_equal(values, theirs.arrays()[name]), name


@pytest.mark.parametrize("structure", [pgn.DisjointSet, pgn.LinkCutTree, pgn.RootedForest])
def test_step_by_step(structure: Any) -> None:
    data = pgn.sample(structure.name, nodes=15, count=4, seed=1)
    for sequence in data:
        state = structure(sequence.priorities[0])
        assert state.pointers.tolist() == list(range(15)) and len(state) == 15
        for t, (u, v) in enumerate(sequence.operands[0]):
            before = state.copy()
            answer, visited = state.apply(u, v)
            assert answer == sequence.answers[0, t]
            assert np.array_equal(state.pointers, sequence.pointers[0, t])
            mask = np.ones(15, np.uint8)
            mask[visited] = 0
            assert np.array_equal(mask, sequence.masks[0, t])
            again, _ = before.apply(int(u), int(v))
            assert again == answer and np.array_equal(before.pointers, state.pointers)


def test_type_checkers_know_every_built_in_task() -> None:
    assert list(get_args(TaskName)) == list(pgn.tasks())


def test_without_priorities_of_ones_own() -> None:
    one = pgn.replay("dsu", [[0, 1], [2, 1], [3, 4]], nodes=6, seed=4)
    sets = pgn.DisjointSet(6, seed=4)
    for u, v in one.operands[0]:
        sets.apply(u, v)
    assert np.array_equal(sets.pointers, one.pointers[0, -1])


def test_linking_by_operands() -> None:
    data = pgn.sample("dsu-ordered", nodes=9, count=1)
    sets = pgn.DisjointSet(9, linking="operands")
    for t, (u, v) in enumerate(data.operands[0]):
        sets.apply(u, v)
        assert np.array_equal(sets.pointers, data.pointers[0, t])


def test_the_rest_of_what_they_do() -> None:
    sets = pgn.DisjointSet(4)
    assert sets.union(0, 1) and not sets.union(1, 0) and sets.find(0) == sets.find(1)
    assert sets.connected(0, 1) and not sets.connected(0, 2)
    forest = pgn.LinkCutTree(5)
    forest.link(0, 1)
    forest.link(1, 2)
    assert forest.path(0, 2) == [0, 1, 2] and forest.path(0, 4) is None
    forest.evert(0)
    assert forest.find_root(2) == 0
    forest.cut(1)
    assert not forest.connected(0, 2)
    forest.expose(2)
    rooted = pgn.RootedForest(3)
    rooted.apply(0, 1)
    assert rooted.find_root(0) == 1
    rooted.evert(0)
    assert rooted.find_root(1) == 0


def test_refusals() -> None:
    sets, forest = pgn.DisjointSet(3), pgn.LinkCutTree(3)
    for wrong in (3, -1, 2**40, -(2**70)):
        with pytest.raises(ValueError, match=f"node {wrong} is out of range: there are 3 nodes"):
            sets.find(wrong)
        with pytest.raises(ValueError, match="out of range"):
            sets.apply(0, wrong)
    with pytest.raises(ValueError, match="u and v are both 1: an operation needs two"):
        forest.apply(1, 1)
    forest.link(0, 1)
    with pytest.raises(ValueError, match="already connected"):
        forest.link(1, 0)
    with pytest.raises(ValueError, match="has no parent to be cut from"):
        forest.cut(1)
    for nodes in ("x", None, 2.5):
        with pytest.raises(TypeError):
            pgn.DisjointSet(nodes)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at most 2\\^24"):
        pgn.DisjointSet(2**40)
    with pytest.raises(ValueError, match="a priority is NaN"):
        pgn.DisjointSet([0.1, float("nan")])
    with pytest.raises(ValueError, match="linking is x; expected"):
        pgn.DisjointSet(3, linking="x")  # type: ignore[arg-type]


def test_a_class_that_draws_its_own_operations() -> None:
    class Neighbours(PlainDisjointSet):
        name = "neighbours"

        def sample(self, rng: pgn.Rng) -> tuple[int, int]:
            u = rng.below(len(self.pointers) - 1)
            return u, u + 1

    data = pgn.sample(Neighbours, nodes=12, count=3)
    assert np.all(data.operands[..., 1] == data.operands[..., 0] + 1)
    assert data.task == "neighbours" and len(np.unique(data.operands)) > 6
    assert data == pgn.sample(Neighbours, nodes=12, count=3)


class Partners:
    """Points u to v; keeps its first partner, and whether it had an odd number of them."""

    name = "partners"
    fields = ("first",)
    bits = ("odd",)

    def __init__(self, priorities: Any) -> None:
        self.pointers = list(range(len(priorities)))
        self.first = list(self.pointers)
        self.odd = [False] * len(priorities)

    def apply(self, u: int, v: int) -> tuple[bool, list[int]]:
        if self.first[u] == u:
            self.first[u] = v
        self.odd[u] = not self.odd[u]
        answer, self.pointers[u] = self.pointers[u] == v, v
        return answer, [u]


def test_a_class_with_further_fields(tmp_path: Path) -> None:
    data = pgn.sample(Partners, nodes=6, count=3)
    assert list(data.fields) == ["first"] and list(data.bits) == ["odd"]
    for c in range(3):
        last = Partners(data.priorities[c])
        for t, (u, v) in enumerate(data.operands[c].tolist()):
            last.apply(u, v)
            assert data.fields["first"][c, t].tolist() == last.first
            assert data.bits["odd"][c, t].tolist() == last.odd
    data.save(tmp_path / "partners")
    assert pgn.Dataset.load(tmp_path / "partners") == data

    class Far(Partners):
        def apply(self, u: int, v: int) -> tuple[bool, list[int]]:
            self.first[u] = 99
            return super().apply(u, v)

    with pytest.raises(ValueError, match="`partners` made `first` of node . 99, of 6 nodes"):
        pgn.sample(Far, nodes=6, count=3)
    assert not pgn.sample(Far, nodes=6, count=3, fields=False).fields


def wrong(**methods: Any) -> Any:
    return type("Wrong", (PlainDisjointSet,), {"name": "wrong", **methods})


def showing(pointers: list[Any]) -> Any:
    shown = property(lambda self: pointers, lambda self, value: None)
    return wrong(pointers=shown, apply=lambda self, u, v: (True, [u, v]))


class Short(list[int]):
    """Says that it is longer than it is."""

    def __iter__(self) -> Any:
        return iter(self[:-1])


@pytest.mark.parametrize(
    ("structure", "exception", "sentence"),
    [
        (wrong(apply=lambda self, u, v: 1 / 0), ZeroDivisionError, "division by zero"),
        (wrong(apply=lambda self, u, v: True), ValueError, "returned True from apply; expected"),
        (wrong(apply=lambda self, u, v: (1, 2, 3)), ValueError, r"returned \(1, 2, 3\) from apply"),
        (wrong(apply=lambda self, u, v: (True, 3)), ValueError, "expected \\(answer, visited"),
        (wrong(apply=lambda self, u, v: (1, [99])), ValueError, "visited 99; expected a node below 5"),
        (wrong(apply=lambda self, u, v: (1, ["a"])), ValueError, "`wrong` visited 'a'"),
        (wrong(apply=lambda self, u, v: (None, [u])), ValueError, "answered None; expected 0 or 1"),
        (wrong(apply=lambda self, u, v: (2, [u])), ValueError, r"answered 2; .*\(operation 0, u ="),
        (wrong(apply=lambda self, u, v: ("x", [u])), ValueError, "answered 'x'; expected 0 or 1"),
        (wrong(apply=lambda self, u, v: (1, [])), ValueError, "visited no node; expected u and v"),
        (showing([1, 0, 2, 3, 4]), ValueError, "starts with node 0 pointing to 1; expected every"),
        (showing(Short([0, 1, 2, 3, 4])), ValueError, r"has 5 pointers by len\(\), but lists 4"),
        (wrong(features="priority"), ValueError, "has features 'priority'; expected a list"),
        (wrong(features=[]), ValueError, "has no features; expected at least one"),
        (wrong(name="lct"), ValueError, "is named `lct`, as a built-in task is; choose another"),
        (showing([0, 1]), ValueError, "has 2 pointers, of 5"),
        (showing([9] * 5), ValueError, "point to 9, of 5"),
        (showing([-1] * 5), ValueError, "point to -1, of 5"),
        (wrong(__init__=lambda self, r: [].pop()), IndexError, "pop from empty list"),
        (wrong(sample=lambda self, rng: (0, 0)), ValueError, "u and v are both 0"),
        (wrong(sample=lambda self, rng: 5), TypeError, "tuple"),
        (wrong(features=["colour"]), ValueError, "there is no feature colour; expected"),
        (object(), TypeError, "expected the name of a task or a class"),
        (3, TypeError, "task is 3; expected"),
    ],
)
def test_classes_that_break_the_contract(structure: Any, exception: Any, sentence: str) -> None:
    with pytest.raises(exception, match=sentence):
        pgn.sample(structure, nodes=5, count=4)


def test_python_structures_on_several_threads_at_once() -> None:
    expected = pgn.sample(PlainDisjointSet, nodes=10, count=20)
    outcomes: list[bool] = []

    def work() -> None:
        outcomes.append(pgn.sample(PlainDisjointSet, nodes=10, count=20) == expected)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 4


class Sneaky(PlainDisjointSet):
    """Moves a pointer that it does not visit, at one operation."""

    name = "sneaky"

    def __init__(self, priorities: npt.NDArray[np.float32]) -> None:
        super().__init__(priorities)
        self.done = 0

    def apply(self, u: int, v: int) -> tuple[bool, list[int]]:
        answer, visited = super().apply(u, v)
        if self.done == 2:
            other = next(node for node in range(len(self.pointers)) if node not in visited)
            self.pointers[other] = u if self.pointers[other] != u else v
        self.done += 1
        return answer, visited


def test_pointers_of_unvisited_nodes_must_not_move() -> None:
    sentence = r"`sneaky` moved the pointer of node \d+ from \d+ to \d+ without visiting it"
    with pytest.raises(ValueError, match=sentence + r" \(operation 2, u = \d+, v = \d+\)"):
        pgn.sample(Sneaky, nodes=12, count=3)
    with pytest.raises(ValueError, match=sentence):
        pgn.check(Sneaky, nodes=[20])
    with pytest.raises(ValueError, match=sentence):
        pgn.train(Sneaky, epochs=1, sequences=2, validation_sequences=1, test_nodes=[])


def test_check() -> None:
    for fine in (PlainDisjointSet, PlainForest, pgn.DisjointSet, pgn.RootedForest, "lct"):
        pgn.check(fine)

    class Moody(PlainDisjointSet):
        name = "moody"
        calls = 0

        def apply(self, u: int, v: int) -> tuple[bool, list[int]]:
            Moody.calls += 1
            answer, visited = super().apply(u, v)
            return answer if Moody.calls != 1000 else not answer, visited

    with pytest.raises(ValueError, match="`moody` has other answers when it is sampled again"):
        pgn.check(Moody)

    class Secretive(PlainForest):
        name = "secretive"
        secret = 0

        def apply(self, u: int, v: int) -> tuple[bool, set[int]]:
            self.secret += 1
            answer, visited = super().apply(u, v)
            return self.secret > 2, visited

    with pytest.raises(ValueError, match="does something else after start_from"):
        pgn.check(Secretive)

    class Deaf(PlainForest):
        name = "deaf"

        def start_from(self, pointers: npt.NDArray[np.uint32]) -> None:
            pass

    with pytest.raises(ValueError, match="does not have the pointers that start_from gave it"):
        pgn.train(Deaf, "pgn-exact", epochs=1, sequences=4, nodes=6, test_nodes=[])


def test_answers_of_any_kind_of_zero_and_one() -> None:
    for kind in (bool, int, np.bool_, np.uint8, np.int64):

        class Kind(PlainDisjointSet):
            name = "kind"

            def apply(self, u: int, v: int) -> tuple[Any, list[int]]:
                answer, visited = super().apply(u, v)
                return kind(answer), visited

        plain = pgn.sample("dsu", nodes=6, count=2)
        assert np.array_equal(pgn.sample(Kind, nodes=6, count=2).answers, plain.answers)


def test_an_apply_that_waits_for_a_thread_that_samples() -> None:
    class Nested(PlainDisjointSet):
        name = "nested"

        def apply(self, u: int, v: int) -> tuple[bool, list[int]]:
            threads = [
                threading.Thread(target=pgn.sample, args=(task,), kwargs={"nodes": 5, "count": 4})
                for task in ("dsu", PlainForest)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(timeout=60)
                assert not thread.is_alive()
            return super().apply(u, v)

    assert len(pgn.sample(Nested, nodes=4, ops=2, count=8)) == 8
