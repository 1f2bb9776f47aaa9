"""The benchmark: somebody else's model, trained on the files and scored; refusals."""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pgn
import pytest

Arrays = dict[str, npt.NDArray[Any]]
DTYPES = {"U8": "<u1", "U32": "<u4", "F32": "<f4"}


@pytest.fixture(scope="module")
def folder(program: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("benchmark")
    program("benchmark", "make", made, "--task", "dsu,bst", "--text")
    return made


def read(path: Path) -> Arrays:
    """A safetensors file, by its specification."""
    contents = path.read_bytes()
    (length,) = struct.unpack("<Q", contents[:8])
    header = json.loads(contents[8 : 8 + length])
    header.pop("__metadata__", None)
    arrays = {}
    for name, one in header.items():
        start, end = one["data_offsets"]
        values = contents[8 + length + start : 8 + length + end]
        arrays[name] = np.frombuffer(values, DTYPES[one["dtype"]]).reshape(one["shape"])
    return arrays


def write(path: Path, arrays: Arrays, metadata: dict[str, str]) -> None:
    names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
    header: dict[str, Any] = {"__metadata__": metadata}
    at, contents = 0, b""
    for name, values in arrays.items():
        contents += values.tobytes()
        header[name] = {
            "dtype": names[values.dtype], "shape": values.shape, "data_offsets": [at, len(contents)]
        }
        at = len(contents)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + contents)


class Somebody:
    """A network in plain NumPy that knows nothing of this package: every node has a vector, the nodes of
    an operation become alike, and from how alike they were it learns the answers."""

    K = 16

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        k = self.K
        self.weights: Arrays = {
            "in": rng.normal(0, 0.3, (2 * k + 2, 4 * k)),
            "out": rng.normal(0, 0.3, (4 * k, 1)),
        }
        self.identity = rng.normal(0, 1, (10_000, k))
        self.moments = {name: np.zeros((2, *w.shape)) for name, w in self.weights.items()}
        self.steps = 0

    def features(self, operands: npt.NDArray[Any], nodes: int) -> npt.NDArray[np.float64]:
        count, ops, _ = operands.shape
        rows = np.arange(count)
        state = np.repeat(self.identity[None, :nodes], count, 0).copy()
        features = np.zeros((count, ops, 2 * self.K + 2))
        for t in range(ops):
            u, v = operands[:, t, 0], operands[:, t, 1]
            a, b = state[rows, u], state[rows, v]
            distance = np.linalg.norm(a - b, axis=1, keepdims=True)
            features[:, t] = np.concatenate([abs(a - b), a * b, distance, 1 / (0.1 + distance)], 1)
            # What u is like and what v is like become alike, and with them all that were the same.
            both = (a + b)[:, None] / 2
            for end in (a, b):
                same = (abs(state - end[:, None]).max(2) < 1e-9)[..., None]
                state = np.where(same, both, state)
        return features

    def logits(self, features: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        hidden = np.maximum(features @ self.weights["in"], 0)
        return (hidden @ self.weights["out"])[..., 0], hidden

    def train(self, operands: npt.NDArray[Any], answers: npt.NDArray[Any], nodes: int) -> None:
        features = self.features(operands, nodes).reshape(-1, 2 * self.K + 2)
        self.mean, self.scale = features.mean(0), features.std(0) + 1e-6
        features, truth = (features - self.mean) / self.scale, answers.ravel()
        rng = np.random.default_rng(1)
        for _ in range(300):
            batch = rng.integers(0, len(truth), 512)
            logits, hidden = self.logits(features[batch])
            error = (1 / (1 + np.exp(-logits)) - truth[batch])[:, None] / 512
            back = (error @ self.weights["out"].T) * (hidden > 0)
            self.adam({"out": hidden.T @ error, "in": features[batch].T @ back})

    def adam(self, gradients: Arrays) -> None:
        self.steps += 1
        for name, gradient in gradients.items():
            first, second = self.moments[name]
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            step = first / (1 - 0.9**self.steps)
            step /= np.sqrt(second / (1 - 0.999**self.steps)) + 1e-8
            self.weights[name] -= 0.01 * step

    def predict(self, operands: npt.NDArray[Any], nodes: int) -> npt.NDArray[np.float32]:
        features = (self.features(operands, nodes) - self.mean) / self.scale
        return self.logits(features)[0].astype(np.float32)


def test_somebody_elses_model_is_trained_on_the_files_and_scored(
    folder: Path, program: Callable[..., str], tmp_path: Path
) -> None:
    train = read(folder / "dsu/train.safetensors")
    model = Somebody()
    model.train(train["operands"].astype(int), train["answers"], 20)
    files = []
    for nodes in (20, 50):
        path = folder / f"dsu/test-{nodes}.safetensors"
        test = read(path)
        predicted = model.predict(test["operands"].astype(int), nodes)
        file = tmp_path / f"mine-{nodes}.safetensors"
        checksum = hashlib.sha256(path.read_bytes()).hexdigest()
        about = {"task": "dsu", "nodes": str(nodes), "split": "test", "data": checksum}
        write(file, {"query_logits": predicted}, about)
        record = pgn.suite.score(file)
        assert (record.task, record.nodes, record.seed) == ("dsu", nodes, 0)
        # It has learned more than a count tells.
        assert record.all.f1 > record.all.counting_f1 + 0.02 > 0
        _as_scikit_learn(record.all, test["answers"], predicted > 0)
        for index, family in enumerate(pgn.suite.FAMILIES):
            part = slice(index * len(predicted) // 5, (index + 1) * len(predicted) // 5)
            scores = record.families[family]
            assert scores.accuracy == ((predicted > 0) == test["answers"])[part].mean()
        files.append(file)
    # The program says the same, and makes an entry of it.
    entry = tmp_path / "entries/mine"
    entry.mkdir(parents=True)
    (entry / "card.toml").write_text(
        'name = "mine"\nsupervision = "answers"\nclaim = "tested"\nbudget = "s"\ncode = "here"\n'
    )
    printed = json.loads(program("benchmark", "score", *files, "--json", "--out", entry / "scores.json"))
    assert printed[1]["all"]["f1"] == pgn.suite.score(files[1]).all.f1
    table = pgn.suite.table(tmp_path / "entries", nodes=50)
    assert f"| mine | {printed[1]['all']['f1']:.3f} |" in table and "**Answers**" in table
    assert program("benchmark", "table", tmp_path / "entries", "--nodes", "50") == table


def test_a_model_in_pytorch_that_imports_nothing_of_ours(
    folder: Path, program: Callable[..., str], tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (TORCH=1)")
    example = Path(__file__).parents[1] / "examples/benchmark_torch.py"
    options = ["--tasks", "bst", "--epochs", "3", "--nodes", "20,50"]
    subprocess.run([sys.executable, example, folder, tmp_path, *options], check=True, timeout=600)
    files = sorted(tmp_path.glob("*.safetensors"))
    for record in json.loads(program("benchmark", "score", *files, "--json")):
        assert record["all"]["f1"] > record["all"]["f1_always_1"] + 0.02


def _as_scikit_learn(scores: pgn.Scores, truth: Any, predicted: Any) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    flat = truth.ravel(), predicted.ravel()
    assert scores.f1 == pytest.approx(metrics.f1_score(*flat), abs=1e-12)
    assert scores.precision == pytest.approx(metrics.precision_score(*flat), abs=1e-12)
    assert scores.recall == pytest.approx(metrics.recall_score(*flat), abs=1e-12)
    assert scores.accuracy == pytest.approx(metrics.accuracy_score(*flat), abs=1e-12)


def test_pointers_and_masks_are_scored(folder: Path, tmp_path: Path) -> None:
    data = pgn.suite.load("bst", nodes=50, folder=folder)
    assert data.count == 175 and data.operands.shape == (175, 75, 2)
    assert pgn.suite.load("bst", nodes=50).answers.tobytes() == data.answers.tobytes()
    pointers = data.pointers.copy()
    pointers[0, 3, 2] = (pointers[0, 3, 2] + 1) % 50
    file = tmp_path / "p.safetensors"
    pgn.suite.save(
        file, "bst", 50, answers=data.answers, pointers=pointers, masks=data.masks, seed=2, seconds=1.5
    )
    record = pgn.suite.score(file)
    assert (record.seed, record.all.first_error, record.all.mask_accuracy) == (2, 3, 1)
    assert record.all.pointer_accuracy == 1 - 1 / pointers.size
    assert record.all.sequences_exact == 174 / 175
    assert record.seconds == pytest.approx(1.5 * 1000 / (175 * 75))
    trivial = record.all["trivial"]
    assert trivial["never_visit"] == data.masks.mean()
    assert trivial["point_to_self"] == (data.pointers == np.arange(50)).mean()


def test_questions_in_words(folder: Path) -> None:
    lines = (folder / "bst/test-20.jsonl").read_text().splitlines()
    truth = read(folder / "bst/test-20.safetensors")
    for index in (0, 174):
        line = json.loads(lines[index])
        assert line["answer"] == " ".join(map(str, truth["answers"][index]))
        assert line["sequence"] == index and "insert(" in line["question"]
    assert json.loads(lines[174])["family"] == "adversarial"


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pgn.suite.make(tmp_path, "dsu-by-size", parquet=True)
    written = sorted(path.stem for path in (tmp_path / "dsu-by-size").glob("*.parquet"))
    assert written == ["test-100", "test-20", "test-50", "train", "validation"]
    read = pgn.export.from_parquet(tmp_path / "dsu-by-size/test-20.parquet")
    assert np.array_equal(read.pointers, pgn.suite.load("dsu-by-size", folder=tmp_path).pointers)


def test_refusals(tmp_path: Path) -> None:
    file = tmp_path / "p.safetensors"
    ones = np.ones((175, 30))
    with pytest.raises(ValueError, match="no test set of dsu with 30 nodes"):
        pgn.suite.save(file, "dsu", 30, answers=ones)
    with pytest.raises(ValueError, match=r"answers has shape \[30, 175\]; expected \[175, 30\]"):
        pgn.suite.save(file, "dsu", 20, answers=ones.T)
    with pytest.raises(ValueError, match="expected one of answers and query_logits"):
        pgn.suite.save(file, "dsu", 20)
    with pytest.raises(ValueError, match="or have NaN"):
        pgn.suite.save(file, "dsu", 20, query_logits=ones * np.nan)
    with pytest.raises(ValueError, match="would take gigabytes"):
        pgn.suite.load("dsu", nodes=10_000)
    pgn.suite.save(file, "dsu", 20, answers=ones)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match="cut short"):
        pgn.suite.score(file)
    with pytest.raises(FileNotFoundError):
        pgn.suite.score(tmp_path / "none")
    with pytest.raises(ValueError, match="no folder in it has a card.toml"):
        pgn.suite.table(tmp_path)
