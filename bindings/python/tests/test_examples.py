"""The examples: other frameworks compute what the package computes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pgn
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))

#: Few epochs on few sequences, but enough to move pointers: the rollouts have something in them.
QUICK: dict[str, Any] = {"epochs": 60, "sequences": 20, "validation_sequences": 5, "test_nodes": []}
MODELS = [
    ("dsu", "pgn", {}),
    ("lct", "pgn", {"attention_input": "zh", "candidates": "visited"}),
    ("forest", "pgn", {}),
    ("dsu", "pgn-nm", {}),
    ("dsu", "pgn-asym", {}),
    ("dsu", "gnn", {}),
    ("dsu", "deepsets", {}),
    ("lct", "supgnn", {}),
    ("dsu", "pgn", {"network": {"processor": "fresh"}}),
    ("lct", "pgn-free-2", {}),
]


#: One of each kind of graph, attention and candidates: JAX takes seconds to compile each.
FEW = MODELS[:2] + MODELS[5:6] + MODELS[-1:]


def ids(case: tuple[str, str, dict[str, Any]]) -> str:
    return "-".join(case[:2])


@pytest.fixture(scope="session")
def train() -> Callable[..., tuple[pgn.Model, pgn.Dataset]]:
    """Trains each model once; the model and sequences to roll it out on."""

    @cache
    def one(index: int) -> tuple[pgn.Model, pgn.Dataset]:
        task, name, settings = MODELS[index]
        model = pgn.train(task, name, **QUICK, **settings)
        return model, pgn.sample(task, nodes=20, count=8, split="test")

    return lambda case: one(MODELS.index(case))


def assert_close(model: pgn.Model, data: pgn.Dataset, out: dict[str, Any]) -> None:
    """Logits within 1e-5 over full rollouts, and the same pointers after every operation.

    Of logits beyond ±1, up to ±20 in these models, the difference is relative: a single-precision
    number of that size is not exact to 1e-6 itself.
    """
    rollout = model.rollout(data)

    def compare(ours: Any, theirs: Any) -> None:
        ours, theirs = np.asarray(ours, np.float64), theirs.astype(np.float64)
        assert np.max(np.abs(ours - theirs) / np.maximum(1, np.abs(theirs))) < 1e-5

    compare(out["query_logits"], rollout.query_logits)
    if rollout.mask_logits is not None:
        compare(out["mask_logits"], rollout.mask_logits)
    if rollout.pointers is not None:
        np.testing.assert_array_equal(out["pointers"], rollout.pointers)
        assert (rollout.pointers != np.arange(data.nodes)).mean() > 0.05


@pytest.mark.parametrize("case", MODELS, ids=ids)
def test_numpy(case: Any, train: Callable[..., tuple[pgn.Model, pgn.Dataset]]) -> None:
    import numpy_pgn

    trained, sequences = train(case)
    names = ("query_logits", "mask_logits", "pointers")
    out = numpy_pgn.rollout(trained, sequences)
    assert_close(trained, sequences, dict(zip(names, out)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", FEW, ids=ids)
def test_jax(case: Any, train: Callable[..., tuple[pgn.Model, pgn.Dataset]]) -> None:
    pytest.importorskip("jax", reason="JAX is not installed")
    import jax_pgn

    trained, sequences = train(case)
    network = trained.config["network"]
    params, arrays = jax_pgn.parameters(trained), jax_pgn.dataset(sequences)
    out = jax_pgn.rollouts(params, network, arrays["priorities"], arrays["operands"])
    assert_close(trained, sequences, out)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", FEW, ids=ids)
def test_flax(case: Any, train: Callable[..., tuple[pgn.Model, pgn.Dataset]]) -> None:
    pytest.importorskip("flax", reason="Flax is not installed (TORCH=1)")
    import flax_pgn
    import jax
    import jax_pgn

    trained, sequences = train(case)
    module = flax_pgn.flax_module(trained.config["network"])
    arrays = jax_pgn.dataset(sequences)
    inputs = arrays["priorities"], arrays["operands"]
    fresh = module.init(jax.random.PRNGKey(0), *inputs)["params"]
    params = jax_pgn.parameters(trained)
    assert jax.tree.map(np.shape, fresh) == jax.tree.map(np.shape, params)
    assert_close(trained, sequences, module.apply({"params": params}, *inputs))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", MODELS, ids=ids)
def test_torch(case: Any, train: Callable[..., tuple[pgn.Model, pgn.Dataset]]) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (TORCH=1)")
    import torch_pgn

    trained, sequences = train(case)
    module = torch_pgn.PGN.of(trained)
    items = torch_pgn.Sequences(sequences)
    assert len(items) == 8 and items[3]["pointers"].shape == (30, 20)
    [batch] = torch.utils.data.DataLoader(items, batch_size=8)
    with torch.no_grad():
        out = module(batch["priorities"], batch["operands"])
    assert_close(trained, sequences, out)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["pgn", "pgn-free-2"])
def test_torch_loss_is_the_training_loss(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (TORCH=1)")
    import torch_pgn

    train = pgn.sample("dsu", nodes=20, count=10)
    initial = pgn.train("dsu", name, epochs=0, train=train, test_nodes=[])
    one = pgn.train("dsu", name, epochs=1, train=train, test_nodes=[])
    module = torch_pgn.PGN.of(initial)
    [batch] = torch.utils.data.DataLoader(torch_pgn.Sequences(train), batch_size=10)
    given = torch_pgn.forced(batch, module.network)
    loss = torch_pgn.losses(module(**given), batch, module.network)
    assert loss.item() == pytest.approx(one.metrics[0]["losses"]["total"], abs=1e-5)
    # And Adam on its gradient makes the same step.
    adam = torch.optim.Adam(module.parameters(), lr=0.005)
    loss.backward()
    adam.step()
    for key, weight in module.state_dict().items():
        np.testing.assert_allclose(weight.numpy(), one.weights[key], rtol=0, atol=2e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["pgn", "pgn-free-2"])
def test_jax_loss_is_the_training_loss(name: str) -> None:
    pytest.importorskip("jax", reason="JAX is not installed")
    import jax
    import jax_pgn

    train = pgn.sample("dsu", nodes=20, count=10)
    initial = pgn.train("dsu", name, epochs=0, train=train, test_nodes=[])
    one = pgn.train("dsu", name, epochs=1, train=train, test_nodes=[])
    network, arrays = initial.config["network"], jax_pgn.dataset(train)
    parameters = jax_pgn.parameters(initial)
    loss, gradient = jax.value_and_grad(jax_pgn.losses)(parameters, network, arrays)
    assert float(loss) == pytest.approx(one.metrics[0]["losses"]["total"], abs=1e-5)
    # The package made one Adam step, whose first is the sign of the gradient times the rate.
    stepped = jax_pgn.parameters(one)
    for layer, weights in gradient.items():
        for kind, slope in weights.items():
            sure = np.abs(slope) > 1e-4  # others are of the order of rounding, once clipped
            expected = parameters[layer][kind] - 0.005 * np.sign(slope)
            np.testing.assert_allclose(stepped[layer][kind][sure], expected[sure], atol=2e-5)


#: A model that reads its own pointers soon reads others: where two scores are close, rounding decides.
LOOPS = [("pgn", 10), ("pgn-free-2", 2)]


def assert_same_training(weights: Any, seed: int, epochs: int, model: str) -> None:
    """A loop of another framework, from the same weights, ends where `pgn.train` does.

    Rounding differs, and Adam makes whole steps of tiny gradients: the weights agree to less than
    one of its steps, of which there were `epochs`.
    """
    ours = pgn.train("dsu", model, seed, epochs, evaluate_every=epochs, test_nodes=[])
    assert weights.keys() == ours.weights.keys()
    for name, weight in ours.weights.items():
        difference = np.abs(np.asarray(weights[name]) - weight)
        far = difference > ours.config["learning_rate"]
        assert far.mean() < (0.01 if model != "pgn" else 1e-9), name
    validation = pgn.sample("dsu", nodes=20, count=35, seed=seed, split="validation")
    theirs = ours.with_weights(weights).evaluate(validation)
    assert theirs.f1 == pytest.approx(ours.evaluate(validation).f1, abs=0.01)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, epochs", LOOPS)
def test_the_loop_in_jax_is_that_of_the_package(name: str, epochs: int) -> None:
    pytest.importorskip("jax", reason="JAX is not installed")
    import train_jax

    assert_same_training(train_jax.train("dsu", 10, epochs, name), 10, epochs, name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, epochs", LOOPS)
def test_the_loop_in_torch_is_that_of_the_package(name: str, epochs: int) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (TORCH=1)")
    import train_torch

    start = pgn.train("dsu", name, 10, epochs=0, test_nodes=[])
    weights = train_torch.train("dsu", 10, epochs, name, start)
    arrays = {key: weight.numpy() for key, weight in weights.items()}
    assert_same_training(arrays, 10, epochs, name)


@pytest.mark.parametrize("network", [{"readout_aggregation": "sum"}, {"message_aggregation": "sum"}])
def test_networks_beyond_the_paper_are_refused(network: dict[str, Any]) -> None:
    import paper_only

    paper_only.check(pgn.config("dsu", "pgn")["network"])
    with pytest.raises(ValueError, match=f"network.{next(iter(network))} is "):
        paper_only.check(pgn.config("dsu", "pgn", network=network)["network"])
    with pytest.raises(ValueError, match="iterated"):
        paper_only.check(pgn.config("forest", "pgn-exact")["network"])


def test_programs_of_ones_own_are_proved(capsys: pytest.CaptureFixture[str]) -> None:
    """A list with suggested clauses; a search tree once its order is known of what is inserted."""
    import prove

    prove.main()
    told = capsys.readouterr().out
    assert told.count("certified=True, proved=True") == 2
    assert "`p.right = c and c reaches q -> p < q` is violated afterwards" in told
    assert "The nodes form trees along `left` and `right`. Keys are in search order: " in told
