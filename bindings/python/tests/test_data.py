"""Data sets: arrays, files, and what is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pgn
import pytest

TASKS = ["dsu", "lct", "dsu-ordered", "forest"]


@pytest.mark.parametrize("task", TASKS)
def test_the_program_writes_the_same_bytes(
    task: str, program: Callable[..., str], tmp_path: Path
) -> None:
    theirs, ours, again = (tmp_path / name for name in ("theirs", "ours", "again"))
    options = ["--nodes=9", "--ops=7", "--count=5", "--seed=18446744073709551615", "--split=test"]
    program("generate", "--task", task, *options, "--out", theirs)
    data = pgn.sample(task, nodes=9, ops=7, count=5, seed=2**64 - 1, split="test")
    data.save(ours)
    assert ours.read_bytes() == theirs.read_bytes()
    loaded = pgn.Dataset.load(theirs)
    assert loaded == data
    loaded.save(again)
    assert again.read_bytes() == theirs.read_bytes()


def test_shapes_and_types() -> None:
    data = pgn.sample("lct", nodes=6, count=4)
    assert (data.count, data.ops, data.nodes, len(data)) == (4, 9, 6, 4)
    expected = {
        "priorities": ((4, 6), np.float32),
        "operands": ((4, 9, 2), np.uint32),
        "answers": ((4, 9), np.uint8),
        "masks": ((4, 9, 6), np.uint8),
        "pointers": ((4, 9, 6), np.uint32),
    }
    for name, (shape, dtype) in expected.items():
        array = getattr(data, name)
        assert array.shape == shape and array.dtype == dtype and array.flags.c_contiguous
        assert array.flags.writeable


def test_arrays_are_not_copied() -> None:
    data = pgn.sample("dsu", nodes=6, count=4)
    # numpy owns none of the memory: it is the vector that was sampled into.
    assert not data.pointers.flags.owndata and not data.masks.flags.owndata
    same = pgn.Dataset(**data.arrays(), task="dsu")
    assert same.pointers is data.pointers
    assert np.shares_memory(data[1:3].pointers, data.pointers)


def test_slices_and_single_sequences() -> None:
    data = pgn.sample("dsu", nodes=6, count=5)
    assert data[-1] == data[4:] and len(data[1:3]) == 2
    assert np.array_equal(data[::2].pointers, data.pointers[::2])
    with pytest.raises(IndexError):
        data[5]
    assert [len(one) for one in data] == [1] * 5


def test_more_begin_with_fewer() -> None:
    assert pgn.sample("lct", nodes=7, count=9)[:4] == pgn.sample("lct", nodes=7, count=4)


def test_pickling() -> None:
    data = pgn.sample("forest", nodes=6, count=2, seed=5, split="validation")
    assert pickle.loads(pickle.dumps(data)) == data


def test_replaying_gives_the_same_truth() -> None:
    for task in TASKS:
        data = pgn.sample(task, nodes=8, count=3)
        again = pgn.replay(task, data.operands, priorities=data.priorities)
        assert again.arrays().keys() == data.arrays().keys()
        for name, array in again.arrays().items():
            assert np.array_equal(array, data.arrays()[name]), (task, name)


def test_further_fields(tmp_path: Path) -> None:
    data = pgn.sample("lct", nodes=6, count=4)
    assert list(data.fields) == ["left", "right"] and list(data.bits) == ["flip"]
    assert data.fields["left"].dtype == np.uint32 and data.bits["flip"].dtype == np.uint8
    assert list(data.arrays())[5:] == ["pointers.left", "pointers.right", "bits.flip"]
    # Children point back up, and what the structure shows is what the set has.
    forest = pgn.LinkCutTree(data.priorities[0])
    for t, (u, v) in enumerate(data.operands[0].tolist()):
        forest.apply(u, v)
        for name, shown in (("left", forest.left), ("right", forest.right)):
            assert np.array_equal(shown, data.fields[name][0, t])
            child = np.flatnonzero(shown != np.arange(6))
            assert np.array_equal(data.pointers[0, t][shown[child]], child)
        assert np.array_equal(forest.flip, data.bits["flip"][0, t])
    assert data.bits["flip"].any()

    one = data[2]
    assert np.shares_memory(one.fields["right"], data.fields["right"])
    assert pickle.loads(pickle.dumps(one)) == one
    path = tmp_path / "lct.safetensors"
    data.save(path)
    assert pgn.Dataset.load(path) == data

    plain = pgn.sample("lct", nodes=6, count=4, fields=False)
    assert not plain.fields and not plain.bits and plain != data
    assert np.array_equal(plain.pointers, data.pointers)
    plain.save(path)
    old = pgn.Dataset.load(path)
    assert old == plain
    with pytest.raises(KeyError, match="no pointer field 'left': recorded are none; pgn.replay"):
        old.fields["left"]
    with pytest.raises(KeyError, match="no bit 'colour': recorded are flip"):
        data.bits["colour"]


def test_fields_that_do_not_fit() -> None:
    data = pgn.sample("lct", nodes=6, count=4)
    arrays = data.arrays()
    with pytest.raises(TypeError, match="unexpected keyword argument 'colours'"):
        pgn.Dataset(**arrays, task="lct", colours=data.masks)
    with pytest.raises(ValueError, match=r"pointers.left has shape \[4, 9\]; expected"):
        pgn.Dataset(**{**arrays, "pointers.left": data.answers}, task="lct")
    with pytest.raises(ValueError, match="step 0, `bits.flip` of node 0 is 7, expected at most 1"):
        pgn.Dataset(**{**arrays, "bits.flip": np.full((4, 9, 6), 7)}, task="lct").statistics()
    cyclic = np.roll(np.arange(6), 1) + np.zeros((4, 9, 1))
    with pytest.raises(ValueError, match="in sequence 0, step 0, the pointers form a cycle, 0 → 5"):
        pgn.Dataset(**{**arrays, "pointers": cyclic}, task="lct").statistics()


def test_operations_of_ones_own(program: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "ops.csv").write_text("u,v\n0,1\n2,3\n1,3\n0,2\n")
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    options = ["--task=dsu", "--nodes=5", "--seed=7", "--operations", tmp_path / "ops.csv"]
    program("generate", *options, "--out", theirs)
    pgn.replay("dsu", [[0, 1], [2, 3], [1, 3], [0, 2]], nodes=5, seed=7).save(ours)
    assert ours.read_bytes() == theirs.read_bytes()


def test_other_layouts_and_types_are_converted(model: pgn.Model) -> None:
    data = pgn.sample("dsu", nodes=6, count=4)
    arrays = {
        "priorities": np.asfortranarray(data.priorities.astype(np.float64)),
        "operands": data.operands.astype(np.int64)[:, ::-1][:, ::-1],
        "answers": data.answers.astype(bool),
        "masks": np.asfortranarray(data.masks),
        "pointers": data.pointers.tolist(),
    }
    given = pgn.Dataset(**arrays, task="dsu", split="train")
    assert given == data
    assert model.evaluate(given) == model.evaluate(data)
    big = np.zeros((4, 9, 12), np.uint32)
    big[:, :, ::2] = data.pointers
    strided = pgn.Dataset(**{**data.arrays(), "pointers": big[:, :, ::2]}, task="dsu")
    assert model.evaluate(strided) == model.evaluate(data)
    # An array that lies across the machine's words.
    bytes_ = np.zeros(data.pointers.nbytes + 1, np.uint8)
    crooked = bytes_[1:].view(np.uint32).reshape(data.pointers.shape)
    crooked[...] = data.pointers
    assert pgn.Dataset(**{**data.arrays(), "pointers": crooked}, task="dsu").statistics()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("priorities", np.zeros(6, np.float32), r"priorities has shape \[6\]; expected"),
        ("weights", np.zeros((4, 3), np.float32), "edges and weights belong together"),
        ("operands", np.zeros((4, 9, 3), np.uint32), r"operands has shape \[4, 9, 3\]; expected"),
        ("operands", np.full((4, 9, 2), -1), "values that uint32 cannot hold exactly"),
        ("answers", np.zeros((4, 8), np.uint8), r"expected \[4, 9\]"),
        ("answers", np.full((4, 9), 0.5), "values that uint8 cannot hold exactly"),
        ("masks", np.full((4, 9, 6), "x"), "masks has type <U1; expected uint8"),
        ("masks", np.zeros((4, 6, 9), np.uint8), r"masks has shape \[4, 6, 9\]"),
        ("pointers", np.zeros((4, 9, 6), complex), "pointers has type complex128"),
    ],
)
def test_arrays_that_do_not_fit(name: str, value: Any, sentence: str) -> None:
    arrays = pgn.sample("dsu", nodes=6, count=4).arrays()
    with pytest.raises(ValueError, match=sentence):
        pgn.Dataset(**{**arrays, name: value}, task="dsu")


def test_values_that_make_no_sense(model: pgn.Model, tmp_path: Path) -> None:
    cases: list[tuple[str, tuple[int, ...], float, str]] = [
        ("pointers", (1, 2, 3), 6, "node 3 points to 6, but there are 6 nodes"),
        ("answers", (0, 0), 2, "the answer is 2, expected 0 or 1"),
        ("masks", (0, 0, 1), 9, "the mask of node 1 is 9"),
        ("operands", (0, 1, 0), 77, "node 77 is out of range"),
        ("priorities", (0, 1), np.nan, "the priority of node 1 is NaN"),
    ]
    for name, place, value, sentence in cases:
        data = pickle.loads(pickle.dumps(pgn.sample("dsu", nodes=6, count=4)))
        getattr(data, name)[place] = value
        with pytest.raises(ValueError, match=sentence):
            data.save(tmp_path / "x")
        for use in (model.evaluate, model.rollout):
            with pytest.raises(ValueError):
                use(data)
    assert not list(tmp_path.iterdir())


def test_the_program_and_the_package_refuse_in_the_same_words(
    program: Callable[..., str], tmp_path: Path
) -> None:
    out = tmp_path / "x"
    for flags, keywords in [
        (["--task=tree", "--nodes=5"], {"task": "tree", "nodes": 5}),
        (["--task=dsu", "--nodes=1"], {"task": "dsu", "nodes": 1}),
        (["--task=dsu", "--nodes=99999999"], {"task": "dsu", "nodes": 99999999}),
        (["--task=dsu", "--nodes=5", "--ops=0"], {"task": "dsu", "nodes": 5, "ops": 0}),
        (["--task=dsu", "--nodes=5", "--count=0"], {"task": "dsu", "nodes": 5, "count": 0}),
    ]:
        with pytest.raises(ValueError) as refused:
            pgn.sample(**keywords)  # type: ignore[arg-type]
        assert program("generate", *flags, "--out", out, fails=True) == f"error: {refused.value}\n"
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(b"not a tensor")
    with pytest.raises(ValueError) as refused:
        pgn.Dataset.load(damaged)
    assert program("generate", "--describe", damaged, fails=True) == f"error: {refused.value}\n"
    with pytest.raises(FileNotFoundError) as missing:
        pgn.Dataset.load(out)
    assert program("generate", "--describe", out, fails=True) == f"error: {missing.value}\n"


def test_more_refusals(tmp_path: Path) -> None:
    data = pgn.sample("dsu", nodes=4, count=1)
    with pytest.raises(FileNotFoundError, match="cannot write"):
        data.save(tmp_path / "no" / "such" / "folder")
    for wrong in (-1, 2**80):
        with pytest.raises(ValueError, match="nodes is"):
            pgn.sample("dsu", nodes=wrong)
    with pytest.raises(TypeError):
        pgn.sample("dsu", nodes=2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown split"):
        pgn.sample("dsu", nodes=4, split="weights")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="do not fit in memory"):
        pgn.sample("dsu", nodes=2**24, ops=2**40, count=2**40)
    with pytest.raises(ValueError, match="either nodes or priorities"):
        pgn.replay("dsu", [[0, 1]])
    with pytest.raises(ValueError, match="operation 0 of sequence 0: node 9 is out of range"):
        pgn.replay("dsu", [[0, 9]], nodes=3)
