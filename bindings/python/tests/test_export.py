"""Exports to other libraries, and experiment trackers."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pgn
import pytest


@pytest.mark.parametrize("task", ["lct", "kruskal", "heap"])
def test_parquet(task: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    data = pgn.sample(task, nodes=6, count=3, seed=5)
    pgn.export.to_parquet(data, tmp_path / "data.parquet")
    assert pgn.export.from_parquet(tmp_path / "data.parquet") == data


def test_hugging_face() -> None:
    pytest.importorskip("datasets", reason="datasets is not installed")
    data = pgn.sample("dsu", nodes=6, count=3)
    rows = pgn.export.to_huggingface(data)
    assert len(rows) == 3 and np.array_equal(rows[1]["pointers"], data.pointers[1])


def test_torch_geometric() -> None:
    pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed (TORCH=1)")
    data = pgn.sample("dsu", nodes=6, count=2)
    graphs = pgn.export.to_pyg(data)
    assert len(graphs) == 2 * data.ops
    last = graphs[-1]
    assert last.y.item() == data.answers[1, -1] and last.x.shape == (6, 2)
    moved = int((data.pointers[1, -2] != np.arange(6)).sum())
    assert last.edge_index.shape == (2, 6 + 2 * moved)
    assert (last.operands[0].numpy() == data.operands[1, -1]).all() and last.kind.item() == 0
    kinds = pgn.sample("bst", nodes=6, count=1)
    assert kinds.kinds is not None
    assert [one.kind.item() for one in pgn.export.to_pyg(kinds)] == kinds.kinds[0].tolist()


@pytest.mark.parametrize("model", ["pgn", "gnn", "deepsets", "pgn-asym", "pgn-nm", "supgnn"])
def test_onnx_is_the_same_step(model: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    trained = pgn.pretrained("lct") if model == "pgn" else pgn.train(
        "lct", model, epochs=3, sequences=4, validation_sequences=2, test_nodes=[]
    )
    path = tmp_path / "step.onnx"
    pgn.export.to_onnx(trained, path)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    data = pgn.sample("lct", nodes=15, count=2, split="test")
    rollout = trained.rollout(data)
    for i in range(data.count):
        latents = np.zeros((15, trained.config["network"]["k"]), np.float32)
        pointers = np.arange(15)
        for t, (u, v) in enumerate(data.operands[i].tolist()):
            nodes = np.arange(15)
            operated = ((nodes == u) | (nodes == v)).astype(np.float32)
            given = {
                "features": np.stack([data.priorities[i], operated], axis=1),
                "latents": latents,
                "pointers": pointers,
            }
            used = {one.name for one in session.get_inputs()}
            names = [one.name for one in session.get_outputs()]
            found = dict(zip(names, session.run(None, {n: x for n, x in given.items() if n in used})))
            latents = found["latents_after"]
            pointers = found.get("pointers_after", pointers)
            np.testing.assert_allclose(found["logit"][0], rollout.query_logits[i, t], rtol=1e-3, atol=1e-4)
            if rollout.pointers is not None:
                assert np.array_equal(pointers, rollout.pointers[i, t])


def test_onnx_refuses_what_it_cannot_say(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    with pytest.raises(ValueError, match="to_onnx takes models of the paper: network.processor"):
        pgn.export.to_onnx(pgn.pretrained("forest"), tmp_path / "x")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="to_parquet needs pyarrow: pip install pyarrow"):
        pgn.export.to_parquet(pgn.sample("dsu", nodes=4, count=1), tmp_path / "x")
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ImportError, match="logger='wandb' needs wandb"):
        pgn.train("dsu", epochs=1, logger="wandb")
    with pytest.raises(ValueError, match="expected 'trackio', 'wandb' or 'tensorboard'"):
        pgn.train("dsu", epochs=1, logger="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='logger="tensorboard" needs out'):
        pgn.train("dsu", epochs=1, logger="tensorboard")


TRACKED = """
    import json, sqlite3, sys
    from pathlib import Path
    import pgn
    pgn.train("dsu", epochs=3, sequences=4, validation_sequences=2, test_nodes=[], logger="trackio")
    pgn.machines.train("dsu", epochs=20, test={"nodes": []}, logger="trackio")
    [path] = [p for p in Path(sys.argv[1]).rglob("*.db")]
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT step, metrics FROM metrics ORDER BY step").fetchall()
    print(json.dumps([[step, sorted(json.loads(metrics))] for step, metrics in rows]))
"""


def test_trackio(tmp_path: Path) -> None:
    try:
        import importlib.metadata

        importlib.metadata.version("trackio")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("trackio is not installed")
    import os

    environment = {**os.environ, "TRACKIO_DIR": str(tmp_path), "HF_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(TRACKED), str(tmp_path)],
        capture_output=True, text=True, env=environment, timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout.splitlines()[-1])
    assert {"loss/total", "validation/f1", "validation/pointer_accuracy"} <= set(rows[0][1])
    assert [step for step, names in rows if "validation/f1" in names] == [1, 2, 3]
    assert {"loss/total", "loss/states", "views/right"} <= set(rows[-1][1])
