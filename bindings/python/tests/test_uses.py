"""Learned structures at work: the examples, values, and machines that come with the package."""

from __future__ import annotations

import random
import runpy
import sys
from pathlib import Path

import pytest
from pgn import machines

EXAMPLES = Path(__file__).parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))


def forest(nodes: int, edges: list[tuple[int, int, float]]) -> set[int]:
    """A minimum spanning forest without anything learned."""
    label, inside = list(range(nodes)), set()
    for number in sorted(range(len(edges)), key=lambda number: edges[number][2]):
        u, v, _ = edges[number]
        if label[u] != label[v]:
            inside.add(number)
            label = [label[v] if known == label[u] else known for known in label]
    return inside


@pytest.mark.parametrize("seed", range(8))
def test_forests(seed: int) -> None:
    import kruskal
    import online_msf

    rng = random.Random(seed)
    nodes = rng.randrange(2, 20)
    count = 3 * nodes
    weights = [float(weight) for weight in rng.sample(range(1000), count)]
    edges = [(rng.randrange(nodes), rng.randrange(nodes), weight) for weight in weights]
    expected = forest(nodes, edges)
    assert set(kruskal.kruskal(nodes, edges)) == {edges[number] for number in expected}
    assert online_msf.online_forest(nodes, edges) == expected


@pytest.mark.parametrize(
    "name, last",
    [("kruskal", "total: 312"), ("online_msf", "forest: 108"), ("reasoning_gym", "1 1 0 1 1 1 1 1 0 0")],
)
def test_examples_run(name: str, last: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out.strip().endswith(last)
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) < 80


def test_values() -> None:
    machine = machines.load("lct")
    assert machine.certificate
    for run in (machine, machine.compile()):
        sums = run.start(values=[1.0, 10.0, 100.0])
        sums.apply("link", 0, 1)
        sums.apply("link", 1, 2)
        sums.add(1, 5)
        assert sums.path_aggregate(0, 2) == (116, None)
        sums.set_value(0, -1)
        assert (sums.value(0), sums.path_aggregate(2, 0)) == (-1, (114, None))
        sums.apply("cut", 0)
        assert sums.path_aggregate(0, 2) is None
        least = run.start(values=[3.0, 1.0, 2.0], aggregate="min")
        least.apply("link", 0, 1)
        assert least.path_aggregate(0, 1) == (1, 1)


def test_values_that_do_not_fit() -> None:
    machine = machines.load("lct")
    with pytest.raises(ValueError, match=r"values has shape \[2\]; expected \[3\]"):
        machine.start(3, values=[1, 2])
    with pytest.raises(ValueError, match="aggregate is \"mean\"; expected 'sum', 'min' or 'max'"):
        machine.start(values=[1, 2], aggregate="mean")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nodes of dsu have no values"):
        machines.load("dsu").start(values=[1, 2])
    with pytest.raises(ValueError, match="nodes have no values: give some to start"):
        machine.start(3).path_aggregate(0, 1)
