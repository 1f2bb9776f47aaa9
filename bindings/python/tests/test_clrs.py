"""The export to CLRS: what it says, and whether dm-clrs takes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pgn
import pytest


def by_name(probes: tuple[pgn.clrs.DataPoint, ...]) -> dict[str, Any]:
    return {probe.name: probe.data for probe in probes}


@pytest.mark.parametrize("task", ["dsu", "dsu-ordered", "forest"])
def test_operations(task: str) -> None:
    data = pgn.sample(task, nodes=9, count=6)
    (inputs, hints, lengths), outputs = pgn.clrs.operations(data)
    given, shown, wanted = by_name(inputs), by_name(hints), by_name(outputs)
    samples = 6 * data.ops
    assert lengths.shape == (samples,) and lengths.max() == len(shown["pi_h"])
    for sample in range(samples):
        sequence, t = divmod(sample, data.ops)
        u, v = data.operands[sequence, t]
        before = np.arange(9) if t == 0 else data.pointers[sequence, t - 1]
        assert np.array_equal(given["pi_before"][sample], before)
        assert given["u"][sample].argmax() == u and given["v"][sample].sum() == 1
        assert wanted["answer"][sample] == data.answers[sequence, t]
        assert np.array_equal(wanted["pi"][sample], data.pointers[sequence, t])
        # By walking, node by node, what the hints are to show.
        walks = []
        for node in (u, v):
            walk = [node]
            while before[walk[-1]] != walk[-1]:
                walk.append(before[walk[-1]])
            walks.append(walk)
        length = lengths[sample]
        assert length == max(map(len, walks)) + 1
        for step in range(length):
            for name, walk in zip(("reached_u", "reached_v"), walks):
                assert set(np.flatnonzero(shown[name][step, sample])) == set(walk[: step + 1])
            pointers = before if step < length - 1 else data.pointers[sequence, t]
            assert np.array_equal(shown["pi_h"][step, sample], pointers)
        # These structures visit exactly the two walks.
        assert set(np.flatnonzero(wanted["visited"][sample])) == {*walks[0], *walks[1]}


def test_sequences() -> None:
    data = pgn.sample("lct", nodes=7, count=3)
    (inputs, hints, lengths), outputs = pgn.clrs.sequences(data)
    shown, wanted = by_name(hints), by_name(outputs)
    assert by_name(inputs)["priority"].shape == (3, 7) and lengths.tolist() == [data.ops + 1] * 3
    assert np.array_equal(shown["pi_h"][0], [range(7)] * 3)
    for t in range(data.ops):
        assert np.array_equal(shown["u"][t].argmax(1), data.operands[:, t, 0])
        assert np.array_equal(shown["v"][t].argmax(1), data.operands[:, t, 1])
        assert np.array_equal(shown["pi_h"][t + 1], data.pointers[:, t])
        assert np.array_equal(shown["visited_h"][t + 1], 1 - data.masks[:, t])
        assert np.array_equal(shown["answer_h"][t + 1], data.answers[:, t])
    assert np.array_equal(wanted["pi"], data.pointers[:, -1])


def test_kinds_of_operations_are_told() -> None:
    data = pgn.sample("bst", nodes=7, count=3)
    assert data.kinds is not None and data.kinds.max() == 2
    (inputs, _, _), _ = pgn.clrs.operations(data)
    assert np.array_equal(by_name(inputs)["kind"], data.kinds.ravel())
    (_, hints, _), _ = pgn.clrs.sequences(data)
    assert np.array_equal(by_name(hints)["kind"][:-1], data.kinds.T)
    for kind in ("operations", "sequences"):
        sampler = pgn.clrs.Sampler("heap", 6, kind=kind, ops=1)  # type: ignore[arg-type]
        for _ in range(5):
            assert parts(sampler.next(1)).keys() == set(sampler.spec)


def parts(feedback: Any) -> dict[str, Any]:
    """Of our feedback and of dm-clrs's, which has the same fields."""
    features = feedback.features
    return {p.name: np.asarray(p.data) for p in (*features.inputs, *features.hints,
                                                 *feedback.outputs)}


@pytest.mark.filterwarnings("ignore")
def test_a_sampler_draws_operations_without_end() -> None:
    first, again = (pgn.clrs.Sampler("forest", 9, seed=3, min_length=4) for _ in range(2))
    other = pgn.clrs.Sampler("forest", 9, seed=4)
    batches = [first.next(20) for _ in range(3)]
    for batch in batches:
        ours, theirs = parts(batch), parts(again.next(20))
        assert ours.keys() == set(pgn.clrs.OPERATIONS) and ours["answer"].shape == (20,)
        assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
        steps = len(ours["pi_h"])
        assert steps >= 4 and batch.features.lengths.max() <= steps
        # A forest's operation: the edge between u and v is there afterwards, or it is not.
        before, after = ours["pi_before"].astype(int), ours["pi"].astype(int)
        rows = np.arange(20)
        u, v = ours["u"].argmax(1), ours["v"].argmax(1)
        connected = np.array([root(before[i], u[i]) == root(before[i], v[i]) for i in rows])
        assert np.array_equal(ours["answer"] == 1, connected)
        for i in rows:
            last = int(batch.features.lengths[i]) - 1
            assert np.array_equal(ours["pi_h"][last, i], after[i])
    assert not np.array_equal(parts(batches[0])["pi"], parts(batches[1])["pi"])
    assert not np.array_equal(parts(batches[0])["priority"], parts(other.next(20))["priority"])
    # More than one sequence has, and fewer; and memory for no more than was asked for.
    assert parts(other.next(1))["pi"].shape == (1, 9)
    assert parts(other.next(500))["pi"].shape == (500, 9)
    with pytest.raises(ValueError, match="batch_size is 0"):
        other.next(0)
    with pytest.raises(ValueError, match="kind is 'x'; expected"):
        pgn.clrs.Sampler("dsu", 5, kind="x")  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore")
def test_a_sampler_draws_sequences() -> None:
    sampler = pgn.clrs.Sampler("lct", 6, kind="sequences", ops=5)
    assert sampler.spec is pgn.clrs.SEQUENCES
    found = parts(sampler.next(7))
    assert found["pi_h"].shape == (6, 7, 6) and found["answer"].shape == (7,)


def root(pointers: Any, node: int) -> int:
    while pointers[node] != node:
        node = pointers[node]
    return node


@pytest.mark.filterwarnings("ignore")
def test_memory_is_linear_in_the_batch() -> None:
    import tracemalloc

    def peak(batch: int) -> int:
        sampler = pgn.clrs.Sampler("forest", 32, min_length=40)
        tracemalloc.start()
        sampler.next(batch)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    assert peak(768) < 6 * peak(192)


@pytest.mark.filterwarnings("ignore")
def test_dm_clrs_takes_it() -> None:
    clrs = pytest.importorskip("clrs", reason="dm-clrs (with TensorFlow) is not installed")
    from clrs._src import probing

    data = pgn.sample("forest", nodes=8, count=4)
    for export, spec in [
        (pgn.clrs.operations, pgn.clrs.OPERATIONS),
        (pgn.clrs.sequences, pgn.clrs.SEQUENCES),
    ]:
        feedback = export(data)
        # As its own samplers check what an algorithm recorded, sample by sample.
        for sample in range(len(feedback.features.lengths)):
            probes: Any = {stage: {} for stage in ("input", "hint", "output")}
            stages = (feedback.features.inputs, feedback.features.hints, feedback.outputs)
            for stage, points in zip(probes, stages):
                for name, location, type_, values in points:
                    length = feedback.features.lengths[sample]
                    one = values[:length, sample] if stage == "hint" else values[sample]
                    probe = {"type_": type_, "data": np.asarray(one)}
                    probes[stage].setdefault(location, {})[name] = probe
            probing.split_stages(probes, spec)
        taken = pgn.clrs.to_clrs(feedback)
        assert isinstance(taken, clrs.Feedback) and taken.outputs[0].name == "answer"


@pytest.mark.filterwarnings("ignore")
def test_a_clrs_processor_trains_on_it() -> None:
    clrs = pytest.importorskip("clrs", reason="dm-clrs (with TensorFlow) is not installed")
    import jax

    feedback = pgn.clrs.to_clrs(pgn.clrs.operations(pgn.sample("forest", nodes=6, count=2)))
    model = clrs.models.BaselineModel(
        processor_factory=clrs.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=0),
        spec=pgn.clrs.OPERATIONS,
        dummy_trajectory=feedback,
        hidden_dim=16,
        encode_hints=True,
        decode_hints=True,
        learning_rate=0.01,
        checkpoint_path="/tmp",
    )
    model.init(feedback.features, 0)
    keys = jax.random.split(jax.random.PRNGKey(0), 30)
    losses = [float(model.feedback(key, feedback)) for key in keys]
    assert losses[-1] < 0.8 * losses[0]
    answers, _ = model.predict(keys[0], feedback.features)
    assert clrs.evaluate(feedback.outputs, answers)["score"] > 0.5
