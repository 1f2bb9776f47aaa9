"""Data sets as people use them: parts, batches, tables, and what a notebook shows."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pgn
import pytest


@pytest.fixture(scope="module")
def ten() -> pgn.Dataset:
    return pgn.sample("lct", nodes=6, count=10, seed=2)


def test_any_index_gives_a_set(ten: pgn.Dataset) -> None:
    mask = np.arange(10) % 3 == 0
    for index, expected in [
        (3, [3]),
        (np.int64(-1), [9]),
        (np.array(4), [4]),
        (slice(2, 5), [2, 3, 4]),
        ([4, 0, 4], [4, 0, 4]),
        (np.array([7, -1]), [7, 9]),
        (range(3), [0, 1, 2]),
        (mask, [0, 3, 6, 9]),
        (mask.tolist(), [0, 3, 6, 9]),
        ([], []),
    ]:
        part = ten[index]  # type: ignore[index]
        assert isinstance(part, pgn.Dataset) and part.count == len(expected), index
        for name, values in part.arrays().items():
            assert np.array_equal(values, ten.arrays()[name][expected]), (index, name)
            assert values.flags.c_contiguous
        assert (part.task, part.seed, part.split) == ("lct", 2, "train")


@pytest.mark.parametrize(
    "index", [10, -11, [10], np.array([True]), np.ones((2, 2), int), [0.5], "x", None, (1, 2, "a")]
)
def test_indices_that_make_no_sense(ten: pgn.Dataset, index: Any) -> None:
    with pytest.raises((IndexError, TypeError)):
        ten[index]


def test_concatenate(ten: pgn.Dataset) -> None:
    assert pgn.concatenate([ten[:4], ten[4:]]) == ten
    assert pgn.concatenate(iter([ten])) == ten
    other = pgn.sample("lct", nodes=6, count=2, seed=3)
    both = pgn.concatenate([ten, other])
    assert (both.count, both.seed, both.split) == (12, 0, "given") and both[10:].count == 2
    for wrong in (pgn.sample("dsu", nodes=6), pgn.sample("lct", nodes=7)):
        with pytest.raises(ValueError, match="the sets differ in (task|nodes)"):
            pgn.concatenate([ten, wrong])
    with pytest.raises(ValueError, match="nothing to concatenate"):
        pgn.concatenate([])


def test_batches(ten: pgn.Dataset) -> None:
    assert pgn.concatenate(ten.batches(4)) == ten
    assert [len(batch) for batch in ten.batches(4, drop_last=True)] == [4, 4]
    shuffled = list(ten.batches(4, shuffle=True, seed=7))
    assert [len(batch) for batch in shuffled] == [4, 4, 2]
    together = pgn.concatenate(shuffled)
    assert together == pgn.concatenate(ten.batches(4, shuffle=True, seed=7))
    assert together != ten and together != pgn.concatenate(ten.batches(4, shuffle=True, seed=8))
    rows = sorted(row.tobytes() for row in ten.priorities)
    assert sorted(row.tobytes() for row in together.priorities) == rows
    with pytest.raises(ValueError, match="size is 0; expected at least 1"):
        next(ten.batches(0))


def test_single_sequences() -> None:
    ten = pgn.sample("dsu", nodes=6, count=10)
    one = ten.sequence(3)
    assert {name: values.shape for name, values in one.items()} == {
        "priorities": (6,), "operands": (9, 2), "answers": (9,), "masks": (9, 6), "pointers": (9, 6)
    }
    assert np.shares_memory(one["pointers"], ten.pointers)
    assert len(ten.sequences) == 10 and ten.sequences[-1]["operands"].dtype == np.int64
    assert np.array_equal(ten.sequences[3]["pointers"], one["pointers"])
    assert len(ten.sequences[2:5]) == 3 and len(list(ten.sequences)) == 10
    with pytest.raises(IndexError):
        ten.sequences[10]


@pytest.mark.filterwarnings("ignore")
def test_a_data_loader_takes_them(ten: pgn.Dataset) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (TORCH=1)")
    batches = list(torch.utils.data.DataLoader(ten.sequences, batch_size=4))
    assert [len(batch["answers"]) for batch in batches] == [4, 4, 2]
    assert batches[0]["pointers"].shape == (4, 9, 6) and batches[0]["pointers"].dtype == torch.int64


def test_pandas(ten: pgn.Dataset) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = ten.to_pandas()
    assert len(frame) == 90 and frame["answer"].sum() == ten.answers.sum()
    row = frame[(frame["sequence"] == 3) & (frame["step"] == 4)].iloc[0]
    assert (row["u"], row["v"]) == tuple(ten.operands[3, 4])
    assert row["visited"] == (ten.masks[3, 4] == 0).sum()
    assert row["moved"] == (ten.pointers[3, 4] != ten.pointers[3, 3]).sum()
    first = frame[frame["step"] == 0]
    assert np.array_equal(first["moved"], (ten.pointers[:, 0] != np.arange(6)).sum(axis=1))


def test_drawings(tmp_path: Path) -> None:
    import xml.etree.ElementTree as xml

    # 1 and 2 below 0, a cycle of 3, 4 and 5 with 6 below it, 7 alone.
    picture = pgn.draw([0, 0, 0, 4, 5, 3, 4, 7], truth=[0, 0, 1, 4, 5, 5, 4, 0], highlight=[1, 7])
    root = xml.fromstring(picture.svg)
    space = "{http://www.w3.org/2000/svg}"
    circles = list(root.iter(f"{space}circle"))
    assert len(circles) == 8
    assert [text.text for text in root.iter(f"{space}text")] == [str(node) for node in range(8)]
    assert sum(circle.get("fill") != "none" for circle in circles) == 2
    at = [(float(c.get("cx", "")), float(c.get("cy", ""))) for c in circles]
    assert len(set(at)) == 8
    assert at[1][1] == at[2][1] > at[0][1] and at[4][1] > at[5][1] > at[3][1] == at[0][1]
    paths = [path.get("d", "") for path in root.iter(f"{space}path")]
    assert sum("C" in path for path in paths) == 1  # the back edge of the cycle, once
    wrong = [p for p in root.iter(f"{space}path") if p.get("stroke") == "#d43f3a"]
    assert len(wrong) == 2 and "3 wrong" in picture.svg
    # Where wrong pointers should lead: from rim to rim, not across the numbers.
    dashed = [p.get("d", "") for p in root.iter(f"{space}path") if p.get("stroke-dasharray")]
    ends = [[float(x) for x in path[1:].replace("L", " ").split()] for path in dashed]
    radius = float(circles[0].get("r", ""))
    assert len(ends) == 2  # 2 to 1, 7 to 0; 5 should point to itself
    for (x, y, to_x, to_y), (node, aim) in zip(ends, [(2, 1), (7, 0)]):
        assert np.hypot(x - at[node][0], y - at[node][1]) == pytest.approx(radius, rel=1e-3)
        assert np.hypot(to_x - at[aim][0], to_y - at[aim][1]) == pytest.approx(radius, rel=1e-3)
    picture.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text() == picture.svg == picture._repr_svg_()
    for pointers, sentence in [([0, 2], "node 1 points to 2, but there are 2 nodes"),
                               ([0, -1], "node 1 points to -1"), ([[0]], "has shape"),
                               ([0.5], "cannot hold exactly")]:
        with pytest.raises(ValueError, match=sentence):
            pgn.draw(pointers)
    with pytest.raises(ValueError, match="highlight is 5"):
        pgn.draw([0, 1], highlight=[5])


def test_long_chains_can_be_drawn() -> None:
    assert pgn.draw(np.maximum(np.arange(3000) - 1, 0)).svg.count("<circle") == 3000
    assert pgn.draw((np.arange(3000) + 1) % 3000).svg.count("C") >= 1


def test_cards(model: pgn.Model, data: pgn.Dataset) -> None:
    state = model.start(8)
    state.apply(0, 1)
    shown: list[Any] = [data, model, model.evaluate(data), model.rollout(data), state]
    for thing in shown:
        html = thing._repr_html_()
        assert html.startswith("<") and "<script" not in html and len(html) < 20_000
    assert "n = 10" in data._repr_html_() and "dsu pgn" in model._repr_html_()
    assert "<svg" in state._repr_html_() and "<svg" not in model.start(500)._repr_html_()
    named = pgn.Dataset(**data.arrays(), task="<b>&")
    assert "<b>" not in named._repr_html_() and "&lt;b&gt;&amp;" in named._repr_html_()


def test_the_player(model: pgn.Model, data: pgn.Dataset, runs: Path, tmp_path: Path) -> None:
    import json
    import re

    rollout = model.rollout(data)
    player = pgn.play(data, rollout, sequence=2)
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', player.html)
    assert found is not None
    [replay] = json.loads(found[1])["replays"]
    assert replay["task"] == "dsu" and len(replay["steps"]) == data.ops
    pointers, truth = np.arange(10), np.arange(10)
    assert rollout.pointers is not None
    for t, step in enumerate(replay["steps"]):
        assert [step["u"], step["v"]] == data.operands[2, t].tolist()
        assert step["model"]["answer"] == rollout.answers[2, t]
        for who, steps in ((pointers, step["model"]), (truth, step["truth"])):
            for node, to in steps["moved"]:
                who[node] = to
        assert np.array_equal(pointers, rollout.pointers[2, t])
        assert np.array_equal(truth, data.pointers[2, t])
    assert player._repr_html_().startswith("<iframe sandbox=")
    player.save(tmp_path / "x.html")
    assert (tmp_path / "x.html").read_text(encoding="utf-8") == player.html
    # Of models without masks and pointers, and of other data.
    assert pgn.play(data, pgn.load(runs / "dsu-gnn").rollout(data)).html
    with pytest.raises(ValueError, match="expected a rollout of this data"):
        pgn.play(data[:2], rollout)
    with pytest.raises(IndexError):
        pgn.play(data, rollout, sequence=5)


def test_history(model: pgn.Model) -> None:
    history = model.history()
    assert history["epoch"].tolist() == [1, 2, 3, 4, 5, 6]
    expected = [line["validation"]["f1"] for line in model.metrics]
    assert history["validation.f1"].tolist() == expected
    assert all(len(values) == 6 for values in history.values())
    assert model.metrics is model.metrics, "parsed once"


def test_other_weights(model: pgn.Model, data: pgn.Dataset, tmp_path: Path) -> None:
    same = model.with_weights(model.weights)
    assert same.evaluate(data) == model.evaluate(data)
    assert same.results is None and same.metrics == [] and model.results is not None
    same.save(tmp_path / "same")
    model.save(tmp_path / "model")
    written = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("same", "model")]
    assert written[0] == written[1]

    class Tensor:
        """As PyTorch's: it must be detached before it is an array."""

        def __init__(self, values: Any) -> None:
            self.values = values

        def detach(self) -> Any:
            return self.values

    zeros = model.with_weights({n: Tensor(np.zeros_like(w)) for n, w in model.weights.items()})
    assert not zeros.rollout(data).query_logits.any()
    assert pickle.loads(pickle.dumps(zeros)).results is None
    weights = dict(model.weights)
    bias = weights.pop("mask.bias")
    with pytest.raises(ValueError, match="mask.bias is missing; this model has it"):
        model.with_weights(weights)
    with pytest.raises(ValueError, match="x is not one of this model's weights"):
        model.with_weights({**model.weights, "x": bias})
    with pytest.raises(ValueError, match=r"mask.bias has shape \[2\]; expected \[1\]"):
        model.with_weights({**weights, "mask.bias": np.zeros(2)})
    with pytest.raises(ValueError, match="mask.bias has values that are not finite"):
        model.with_weights({**weights, "mask.bias": np.array([np.nan])})


def test_pretrained_models() -> None:
    names = pgn.pretrained()
    assert {"dsu", "lct"} <= set(names)
    for name in names:
        model = pgn.pretrained(name)
        assert model.task == name.removesuffix("-2").removesuffix("-free") and model.results is not None
        [at_20] = [one for one in model.results["test"] if one["nodes"] == 20]
        [again] = model.test(20)
        assert again.f1 == pytest.approx(at_20["f1"])
    with pytest.raises(ValueError, match="there is no pretrained model 'x'; expected one of dsu"):
        pgn.pretrained("x")
