"""Data sets and models for other libraries, each of which is needed only where it is used.

=========================== ===================== ==============================================
:func:`to_pyg`              ``torch_geometric``   a graph for each operation
:func:`to_parquet`          ``pyarrow``           a Parquet file with a row for each sequence
:func:`to_huggingface`      ``datasets``          the same as a ``datasets.Dataset``
:func:`to_onnx`             ``onnx``              one operation of a model as an ONNX graph
=========================== ===================== ==============================================
"""

from __future__ import annotations

import importlib
import json
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from pgn._dataset import Dataset
from pgn._model import Model


def _needs(function: str, module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(f"{function} needs {package}: pip install {package}") from None


def to_pyg(data: Dataset) -> list[Any]:
    """Every operation as a ``torch_geometric.data.Data``: the graph is that of the pointers before
    it, in both directions, with an edge from every node to itself.

    ``x`` [nodes, 2] are the paper's features (priority, is u or v), ``y`` [1] is the answer,
    ``visited`` and ``pointers`` [nodes] are the masks' zeros and the pointers after the operation;
    ``operands`` [1, 2] are u and v in order and ``kind`` [1] is the kind of operation, which the features do
    not tell; ``sequence`` and ``step`` say which it is.
    """
    torch = _needs("to_pyg", "torch", "torch")
    graph = _needs("to_pyg", "torch_geometric.data", "torch_geometric").Data
    own = np.arange(data.nodes)
    graphs = []
    for i in range(data.count):
        before = own
        for t, (u, v) in enumerate(data.operands[i].tolist()):
            moved = before != own
            ends = np.concatenate([
                np.stack([own, own]),
                np.stack([own, before])[:, moved],
                np.stack([before, own])[:, moved],
            ], axis=1)
            operated = ((own == u) | (own == v)).astype(np.float32)
            graphs.append(graph(
                x=torch.from_numpy(np.stack([data.priorities[i], operated], axis=1)),
                edge_index=torch.from_numpy(ends.astype(np.int64)),
                y=torch.tensor([float(data.answers[i, t])]),
                visited=torch.from_numpy(data.masks[i, t] == 0),
                pointers=torch.from_numpy(data.pointers[i, t].astype(np.int64)),
                operands=torch.tensor([[u, v]]),
                kind=torch.tensor([0 if data.kinds is None else int(data.kinds[i, t])]),
                sequence=i,
                step=t,
            ))
            before = data.pointers[i, t].astype(np.int64)
    return graphs


def _columns(data: Dataset) -> dict[str, list[Any]]:
    return {name: [row.tolist() for row in values] for name, values in data.arrays().items()}


def _metadata(data: Dataset) -> dict[str, str]:
    about = {"task": data.task, "seed": data.seed, "split": data.split, "nodes": data.nodes,
             "ops": data.ops, "count": data.count}
    types = {name: str(values.dtype) for name, values in data.arrays().items()}
    return {"pgn": json.dumps({**about, "types": types})}


def to_parquet(data: Dataset, path: str | os.PathLike[str]) -> None:
    """Writes a Parquet file with a row for each sequence and a column of nested lists for each
    array; task, seed and types are its metadata. :func:`from_parquet` reads it.
    """
    arrow = _needs("to_parquet", "pyarrow", "pyarrow")
    table = arrow.table(_columns(data)).replace_schema_metadata(_metadata(data))
    importlib.import_module("pyarrow.parquet").write_table(table, os.fspath(path))


def from_parquet(path: str | os.PathLike[str]) -> Dataset:
    """Reads what :func:`to_parquet` wrote."""
    _needs("from_parquet", "pyarrow", "pyarrow")
    table = importlib.import_module("pyarrow.parquet").read_table(os.fspath(path))
    about = json.loads((table.schema.metadata or {}).get(b"pgn", b"{}"))
    if not about:
        raise ValueError(f"{path} is not of to_parquet: it says nothing of a task")
    arrays: dict[str, npt.NDArray[Any]] = {
        name: np.asarray(table[name].to_pylist(), dtype) for name, dtype in about["types"].items()
    }
    return Dataset(**arrays, task=about["task"], seed=about["seed"], split=about["split"])


def to_huggingface(data: Dataset) -> Any:
    """A ``datasets.Dataset`` with a row for each sequence."""
    hub = _needs("to_huggingface", "datasets", "datasets")
    return hub.Dataset.from_dict(_columns(data))


def to_onnx(model: Model, path: str | os.PathLike[str]) -> None:
    """Writes one operation of a model of the paper as an ONNX graph, for any number of nodes.

    Inputs are ``features`` [n, m], ``latents`` [n, k] (zeros at first) and ``pointers`` [n]
    (int64, each node itself at first). Outputs are ``logit`` [1], ``latents_after``, and
    where the model has them ``mask_logits`` [n] and ``pointers_after`` [n]. Ties in the attention
    go to the lowest node, as in the package.
    """
    onnx = _needs("to_onnx", "onnx", "onnx")
    network = model.config["network"]
    plain = {"processor": "once", "message_aggregation": "max", "readout_aggregation": "max",
             "layers": 1, "pointer_processor": False, "pointer_types": [], "input_graph": "none",
             "candidates": "all"}
    for key, value in plain.items():
        if network.get(key, value) != value:
            raise ValueError(
                f"to_onnx takes models of the paper: network.{key} is {network[key]!r}; expected "
                f"{value!r}"
            )
    graph = _Graph(onnx, model.weights)
    z = graph.linear("encoder", graph.op("Concat", "features", "latents", axis=1))
    k = network["k"]
    weight = model.weights["message.weight"]
    # ReLU(a_i + max_j b_j) = max_j ReLU(a_i + b_j), over the neighbours j.
    received = graph.op("MatMul", z, graph.constant(weight[:, :k].T))
    sent = graph.op("MatMul", z, graph.constant(weight[:, k:].T))
    each = graph.op("Unsqueeze", sent, graph.constant([0]))
    nothing = graph.constant(np.float32(-np.inf))
    sent = graph.op("Where", graph.neighbours(network["graph"]), each, nothing)
    heard = graph.op("ReduceMax", sent, graph.constant([1]), keepdims=0)
    bias = graph.constant(model.weights["message.bias"])
    messages = graph.op("Relu", graph.op("Add", graph.op("Add", received, heard), bias))
    h = graph.op("Relu", graph.linear("update", graph.op("Concat", z, messages, axis=1)),
                 name="latents_after")
    zh = graph.op("Concat", z, h, axis=1)
    readout = graph.op("ReduceMax", zh, graph.constant([0]), keepdims=1)
    graph.op("Reshape", graph.linear("decoder", readout), graph.constant([1]), name="logit")
    outputs: dict[str, list[Any]] = {"logit": [1], "latents_after": ["n", k]}
    moved = None
    if "mask.weight" in model.weights:
        graph.op("Squeeze", graph.linear("mask", zh), graph.constant([1]), name="mask_logits")
        moved = graph.op("LessOrEqual", "mask_logits", graph.constant(np.float32(0)))
        outputs["mask_logits"] = ["n"]
    if network["pointers"] in ("masked", "every"):
        x = h if network["attention_input"] == "h" else zh
        query = graph.op("MatMul", x, graph.constant(model.weights["query.weight"].T))
        key = graph.op("MatMul", x, graph.constant(model.weights["key.weight"].T))
        scores = graph.op("MatMul", query, graph.op("Transpose", key, perm=[1, 0]))
        aims = graph.op("ArgMax", scores, axis=1, keepdims=0)
        if moved is not None and network["pointers"] == "masked":
            graph.op("Where", moved, aims, "pointers", name="pointers_after")
        else:
            graph.op("Identity", aims, name="pointers_after")
        outputs["pointers_after"] = ["n"]
    features = model.weights["encoder.weight"].shape[1] - k
    graph.save(path, {"features": ["n", features], "latents": ["n", k], "pointers": ["n"]}, outputs)


class _Graph:
    """An ONNX graph as it grows."""

    def __init__(self, onnx: Any, weights: dict[str, npt.NDArray[np.float32]]) -> None:
        self._onnx, self._weights = onnx, weights
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, value: Any) -> str:
        values = np.asarray(value)
        if values.dtype == np.float64:
            values = values.astype(np.float32)
        name = f"constant{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def op(self, kind: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        output = name or f"value{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [output], **attributes))
        return output

    def linear(self, layer: str, x: str) -> str:
        product = self.op("MatMul", x, self.constant(self._weights[f"{layer}.weight"].T))
        return self.op("Add", product, self.constant(self._weights[f"{layer}.bias"]))

    def neighbours(self, graph: str) -> str:
        """[n, n, 1], whether node i hears node j."""
        size = self.op("Shape", "pointers")
        own = self.op("Range", self.constant(0), self.op("Squeeze", size), self.constant(1))
        row, column = (self.op("Unsqueeze", own, self.constant([axis])) for axis in (0, 1))
        if graph == "complete":
            heard = self.op("GreaterOrEqual", self.op("Add", row, column), self.constant(0))
        elif graph == "self-only":
            heard = self.op("Equal", column, row)
        else:
            aims = self.op("Unsqueeze", "pointers", self.constant([1]))
            heard = self.op("Equal", aims, row)
            if graph == "symmetric":
                heard = self.op("Or", heard, self.op("Transpose", heard, perm=[1, 0]))
        return self.op("Unsqueeze", heard, self.constant([2]))

    def save(self, path: Any, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        helper, types = self._onnx.helper, self._onnx.TensorProto

        def described(values: dict[str, Any]) -> list[Any]:
            kind = {"pointers": types.INT64, "pointers_after": types.INT64}
            return [
                helper.make_tensor_value_info(name, kind.get(name, types.FLOAT), shape)
                for name, shape in values.items()
            ]

        graph = helper.make_graph(
            self._nodes, "pgn", described(inputs), described(outputs), self._constants
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        self._onnx.checker.check_model(made, full_check=True)
        self._onnx.save(made, os.fspath(path))
