"""Scores of any model: the same as the program's, and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pgn
import pytest


def counted(operands: npt.NDArray[Any], nodes: int) -> npt.NDArray[Any]:
    """How often u and v were operated on before, at most twice, the smaller first: [count, ops]."""
    count, ops, _ = operands.shape
    seen, cells = np.zeros((count, nodes), int), np.zeros((count, ops), int)
    for t in range(ops):
        both = np.minimum(np.take_along_axis(seen, operands[:, t], 1), 2)
        cells[:, t] = both.min(axis=1) * 3 + both.max(axis=1)
        np.put_along_axis(seen, operands[:, t], both + 1, 1)
    return cells


def counting_rule(questions: pgn.Questions) -> npt.NDArray[Any]:
    """The rule of counting, in NumPy: which cells to answer with 1 is learned from training data."""
    data = pgn.sample(questions.task, nodes=20, seed=questions.seed)
    cells = counted(data.operands.astype(int), 20)
    ones, all_ = (np.bincount(cells.ravel(), w, 9) for w in (data.answers.ravel(), None))
    order = np.argsort(-ones / np.maximum(all_, 1), kind="stable")
    f1 = 2 * ones[order].cumsum() / (all_[order].cumsum() + ones.sum())
    chosen = order[: f1.argmax() + 1]
    return np.isin(counted(questions.operands.astype(int), questions.shape[2]), chosen)


def test_counting_in_numpy_scores_what_the_program_says(
    program: Callable[..., str], runs: Path
) -> None:
    tasks, sizes = ("dsu", "lct"), (20, 50)
    table = pgn.benchmark({"numpy": counting_rule}, tasks=tasks, nodes=sizes, seeds=(0, 3), count=7)
    for task in tasks:
        for nodes in sizes:
            mine, theirs = (table.at(name, task, nodes) for name in ("numpy", "counting"))
            assert mine.mean == theirs.mean > 0.4 and mine.worst == theirs.worst
            assert mine.scores[0].beyond_counting == 0
        # And that is what `pgn eval` shows next to a run of that seed.
        run = runs / ("dsu-pgn" if task == "dsu" else "lct-supgnn")
        report = json.loads(program("eval", run, "--nodes=20,50", "--count=7", "--json"))
        ours = [table.at("numpy", task, nodes).scores[0].f1 for nodes in sizes]
        assert ours == report["counting_f1"]


def test_a_models_rollout_has_the_models_scores(runs: Path) -> None:
    for run in runs.iterdir():
        model = pgn.load(run)
        data = pgn.sample(model.task, nodes=9, count=4, split="test")
        rollout = model.rollout(data)
        scores = rollout.score(data)
        for name, value in model.evaluate(data).items():
            if name not in ("nodes", "ops", "sequences", "trivial", "execution"):
                assert scores[name] == value, name
        assert scores == pgn.score(
            data, answers=rollout.answers, pointers=rollout.pointers, masks=rollout.masks
        )
        assert (scores.valid is None) == (rollout.pointers is None) == (scores.pairs is None)
        assert 0 <= scores.beyond_counting <= 1 or scores.beyond_counting < 0
        assert scores.counting_f1 is not None
        assert rollout.score(data, counting=False).counting_f1 is None


def test_what_is_perfect_and_what_is_not() -> None:
    data = pgn.sample("forest", nodes=8, count=5, split="test")
    right = pgn.score(data, answers=data.answers, pointers=data.pointers, masks=data.masks)
    for name in ("f1", "accuracy", "sequences_right", "sequences_exact", "pointer_accuracy",
                 "mask_accuracy", "valid", "pairs", "beyond_counting"):
        assert right[name] == 1, name
    assert right.first_error is None and "first_error" not in right
    pointers = data.pointers.copy()
    pointers[2, 4, 1] = (pointers[2, 4, 1] + 1) % 8
    one = pgn.score(data, answers=data.answers, pointers=pointers)
    assert one.first_error == 4 and one.sequences_exact == 0.8 and one.sequences_right == 1
    assert one.pointer_accuracy == 1 - 1 / pointers.size and one.mask_accuracy is None
    answers = 1 - data.answers
    assert pgn.score(data, answers=answers).first_error == 0
    assert repr(right).startswith("Scores(f1=1") and right._repr_html_().startswith("<table")
    with pytest.raises(AttributeError, match="there is no score 'f2'"):
        right.f2


def test_other_types_are_taken() -> None:
    data = pgn.sample("dsu", nodes=6, count=3)
    expected = pgn.score(data, answers=data.answers, pointers=data.pointers)
    logits = np.where(data.answers == 1, 3.0, -0.5)
    assert pgn.score(data, query_logits=logits.tolist(), pointers=data.pointers.tolist()) == expected
    wide = np.asfortranarray(data.pointers.astype(np.int64))
    assert pgn.score(data, answers=data.answers.astype(bool), pointers=wide) == expected


@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        ({}, "one of answers, query_logits and probabilities"),
        ({"answers": 0, "query_logits": 0}, "one of answers, query_logits and probabilities"),
        ({"probabilities": np.full((3, 9), 1.5)}, "not from 0 to 1"),
        ({"answers": np.zeros((3, 8))}, r"answers has shape \[3, 8\]; expected \[3, 9\]"),
        ({"answers": np.full((3, 9), 2)}, "a predicted answer is 2; expected 0 or 1"),
        ({"answers": np.full((3, 9), 0.5)}, "cannot hold exactly"),
        ({"query_logits": np.zeros((1, 9))}, r"query_logits has shape \[1, 9\]; expected \[3, 9\]"),
        ({"query_logits": np.full((3, 9), np.nan)}, "values that are not finite"),
        ({"answers": np.zeros((3, 9)), "pointers": np.full((3, 9, 6), 6)}, "pointer is 6; expected"),
        ({"answers": np.zeros((3, 9)), "pointers": np.zeros((3, 9, 5))}, "expected .3, 9, 6."),
        ({"answers": np.zeros((3, 9)), "masks": np.full((3, 9, 6), 3)}, "a predicted mask is 3"),
    ],
)
def test_refusals(keywords: dict[str, Any], sentence: str) -> None:
    data = pgn.sample("dsu", nodes=6, count=3)
    with pytest.raises(ValueError, match=sentence):
        pgn.score(data, **keywords)


def test_rollouts_of_other_tasks_are_refused(model: pgn.Model, data: pgn.Dataset) -> None:
    rollout = model.rollout(data)
    other = pgn.sample("lct", nodes=10, count=5)
    with pytest.raises(ValueError, match="the rollout is of task dsu, the data of lct"):
        rollout.score(other)


def test_benchmarks(model: pgn.Model) -> None:
    truths: list[Any] = []

    def nosy(questions: pgn.Questions) -> dict[str, Any]:
        truths.extend(name for name in dir(questions) if name in ("answers", "masks", "pointers"))
        questions.operands[:] = 0
        return {"probabilities": np.ones(questions.shape[:2])}

    table = pgn.benchmark({"nosy": nosy, "pgn": model}, nodes=8, seeds=[1, 2, 5], count=4)
    assert not truths, "predictors never see the truth"
    assert [(row.task, row.name) for row in table] == [
        ("dsu", "nosy"), ("dsu", "pgn"), ("dsu", "counting"), ("dsu", "always 1"),
        ("lct", "nosy"), ("lct", "counting"), ("lct", "always 1"),
    ]
    always = table.at("always 1", "dsu", 8)
    assert table.at("nosy", "dsu", 8)[3:7] == always[3:7], "the questions were a copy"
    ours = table.at("pgn", "dsu", 8)
    expected = [
        model.evaluate(pgn.sample("dsu", nodes=8, count=4, seed=seed, split="test"))["f1"]
        for seed in (1, 2, 5)
    ]
    assert [one.f1 for one in ours.scores] == expected
    assert ours.mean == pytest.approx(np.mean(expected)) and ours.worst == min(expected)
    assert ours.std == pytest.approx(np.std(expected, ddof=1))
    assert ours.worst_seed == (1, 2, 5)[int(np.argmin(expected))]
    text = str(table)
    assert text.splitlines()[0].split() == ["task", "nodes", "model", "f1", "worst", "seed"]
    assert "counting" in table._repr_html_() and "±" in text
    per_seed = pgn.benchmark({"pgn": [model] * 3}, tasks="dsu", nodes=8, seeds=[1, 2, 5], count=4)
    assert per_seed.at("pgn", "dsu", 8) == ours
    exact = pgn.benchmark({"pgn": model}, "dsu", [8], [1], 4, metric="pointer_accuracy")
    assert [row.name for row in exact] == ["pgn"]


def test_benchmarks_that_make_no_sense(model: pgn.Model) -> None:
    with pytest.raises(ValueError, match="x has 2 predictors; expected one for each of 3 seeds"):
        pgn.benchmark({"x": [model] * 2}, seeds=range(3))
    with pytest.raises(TypeError, match="x is 3; expected a Model, a Machine or a function"):
        pgn.benchmark({"x": 3})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="seeds is empty"):
        pgn.benchmark({}, seeds=[])
    with pytest.raises(ValueError, match="x predicted 'truth'; expected answers"):
        pgn.benchmark({"x": lambda questions: {"truth": 1}}, "dsu", 5, [0], 2)
    with pytest.raises(ValueError, match=r"x on dsu with 5 nodes: answers has shape \[1\]; expected"):
        pgn.benchmark({"x": lambda questions: [1]}, "dsu", 5, [0], 2)
    with pytest.raises(ValueError, match="x has no score 'valid' on dsu"):
        pgn.benchmark({"x": lambda q: np.ones(q.shape[:2])}, "dsu", 5, [0], 2, metric="valid")
