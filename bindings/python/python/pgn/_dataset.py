"""Sequences of operations with their ground truth."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from pgn import _html, _native
from pgn._arrays import array, rounded, whole
from pgn._structure import Split, Task

if TYPE_CHECKING:
    import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]

_ARRAYS = ("priorities", "operands", "answers", "masks", "pointers")
_MORE = ("kinds", "edges", "weights")
_BYTES = ("answers", "masks", "kinds")


class Dataset:
    """``count`` sequences of ``ops`` operations on ``nodes`` nodes, with their ground truth.

    ============== ======= ====================== ============================================
    ``priorities`` float32 [count, nodes]         distinct, in [0, 1)
    ``operands``   uint32  [count, ops, 2]        u and v, different; one operand is given twice
    ``answers``    uint8   [count, ops]           0 or 1
    ``masks``      uint8   [count, ops, nodes]    0 visited by the operation, 1 left alone
    ``pointers``   uint32  [count, ops, nodes]    after the operation
    ============== ======= ====================== ============================================

    Where a task has several kinds of operations, ``kinds`` [count, ops] has the number of each
    (uint8, in the order of ``pgn tasks``); else it is None. Where sequences come with a graph, as
    those of ``kruskal`` do, ``edges`` [count, edges, 2] (uint32) and ``weights`` [count, edges]
    (float32) are that graph; else they are None.

    Before the first operation every node points to itself. Structures with more state than
    ``pointers`` have further fields, uint32 each, and bits, uint8, of the same shape. A pointer
    field that is nil holds the node itself. A link/cut tree's ``pointers`` are ``up``; beside
    them are:

    >>> data = pgn.sample("lct", nodes=5, count=10)
    >>> list(data.fields), list(data.bits), data.fields["left"].shape
    (['left', 'right'], ['flip'], (10, 7, 5))

    The arrays are plain numpy arrays. Those given to the constructor (further ones as files name
    them, ``pointers.left`` and ``bits.flip``) or assigned later are used as they are where type and
    layout fit, else converted if no value changes by it, else refused. Values are checked when they
    are used.

    A part of a set is a set: ``data[3]``, ``data[2:5]``, ``data[[4, 0, 4]]`` and ``data[mask]``
    with a boolean for each sequence. Slices share memory with the set; the other two copy.

    >>> data[:2]
    Dataset(task='lct', count=2, ops=7, nodes=5, seed=0, split='train')
    >>> len(data[data.answers.any(axis=1)]), data[[4, 0]] == pgn.concatenate([data[4], data[0]])
    (10, True)
    >>> data == pgn.Dataset(**data.arrays(), task="lct", split="train")
    True
    """

    task: str
    seed: int
    split: str
    priorities: npt.NDArray[np.float32]
    operands: npt.NDArray[np.uint32]
    answers: npt.NDArray[np.uint8]
    masks: npt.NDArray[np.uint8]
    pointers: npt.NDArray[np.uint32]
    fields: dict[str, npt.NDArray[np.uint32]]
    bits: dict[str, npt.NDArray[np.uint8]]
    kinds: npt.NDArray[np.uint8] | None
    edges: npt.NDArray[np.uint32] | None
    weights: npt.NDArray[np.float32] | None
    _shape: tuple[int, int, int]

    __slots__ = ("task", "seed", "split", *_ARRAYS, "fields", "bits", *_MORE, "_shape")

    def __init__(
        self,
        priorities: npt.ArrayLike,
        operands: npt.ArrayLike,
        answers: npt.ArrayLike,
        masks: npt.ArrayLike,
        pointers: npt.ArrayLike,
        *,
        task: str,
        seed: SupportsIndex = 0,
        split: str = "given",
        **fields: npt.ArrayLike,
    ) -> None:
        self.task = task
        self.seed = whole("seed", seed, 2**64 - 1)
        self.split = split
        count, nodes = rounded("priorities", priorities, ("count", "nodes")).shape
        ops = array("operands", operands, np.uint32, (count, "ops", 2)).shape[1]
        self._shape = (count, ops, nodes)
        given = (priorities, operands, answers, masks, pointers)
        for name, values in zip(_ARRAYS, given):
            setattr(self, name, values)
        for name in _MORE:
            setattr(self, name, fields.pop(name, None))
        if (self.edges is None) != (self.weights is None):
            raise ValueError("edges and weights belong together; one of them is missing")
        self.fields, self.bits = {}, {}
        for name, values in fields.items():
            kind, _, field = name.partition(".")
            if kind in ("pointers", "bits") and field:
                held: dict[str, Any] = self.fields if kind == "pointers" else self.bits
                held[field] = values
            else:
                raise TypeError(f"Dataset() got an unexpected keyword argument {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _ARRAYS or (name in _MORE and value is not None):
            value = self._checked(name, value)
        elif name in ("fields", "bits"):
            held = _Fields(name, self._shape)
            given: Any = value
            for field, values in given.items():
                held[field] = values
            value = held
        object.__setattr__(self, name, value)

    def _checked(self, name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
        count, ops, nodes = self._shape
        if name in ("priorities", "weights"):
            return rounded(name, values, (count, nodes if name == "priorities" else "edges"))
        shape: tuple[int | str, ...] = {
            "operands": (count, ops, 2),
            "answers": (count, ops),
            "kinds": (count, ops),
            "edges": (count, "edges", 2),
        }.get(name, (count, ops, nodes))
        return array(name, values, np.uint8 if name in _BYTES else np.uint32, shape)

    @property
    def count(self) -> int:
        """How many sequences there are."""
        return self._shape[0]

    @property
    def ops(self) -> int:
        """Operations per sequence."""
        return self._shape[1]

    @property
    def nodes(self) -> int:
        """Nodes per sequence, n."""
        return self._shape[2]

    @property
    def checksums(self) -> npt.NDArray[np.uint32]:
        """[count]: a checksum of each sequence, by which rollouts know what they were made on."""
        arrays = [getattr(self, name) for name in (*_ARRAYS, *_MORE)]

        def of(index: int) -> int:
            value = 0
            for values in arrays:
                value = value if values is None else zlib.crc32(values[index], value)
            return value

        return np.array([of(index) for index in range(self.count)], np.uint32)

    def arrays(self) -> dict[str, Any]:
        """All arrays by name, those of further fields as in files.

        >>> list(pgn.sample("lct", nodes=4).arrays())[4:]
        ['pointers', 'pointers.left', 'pointers.right', 'bits.flip']
        """
        return {
            **{name: getattr(self, name) for name in _ARRAYS},
            **{name: values for name in _MORE if (values := getattr(self, name)) is not None},
            **{f"pointers.{name}": values for name, values in self.fields.items()},
            **{f"bits.{name}": values for name, values in self.bits.items()},
        }

    def statistics(self) -> dict[str, float]:
        """What is in the set, as ``pgn generate --describe`` shows it.

        >>> round(pgn.sample("dsu", nodes=20).statistics()["answers_one"], 3)
        0.596
        """
        statistics: dict[str, float] = json.loads(_native.statistics(self))
        return statistics

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the set to a ``.safetensors`` file, as ``pgn generate`` does, byte for byte.

        >>> pgn.sample("dsu", nodes=20, count=70, seed=0).save("train.safetensors")
        """
        _native.save_dataset(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Dataset:
        """Reads a data-set file and checks all of it.

        >>> data = pgn.sample("dsu", nodes=20)
        >>> data.save("train.safetensors")
        >>> pgn.Dataset.load("train.safetensors") == data
        True
        """
        return _from_parts(_native.load_dataset(path))

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: slice | SupportsIndex | Sequence[int] | npt.NDArray[Any]) -> Dataset:
        part = chosen(index, self.count)
        arrays = {name: values[part] for name, values in self.arrays().items()}
        return Dataset(**arrays, task=self.task, seed=self.seed, split=self.split)

    def __iter__(self) -> Iterator[Dataset]:
        return (self[index] for index in range(self.count))

    def sequence(self, index: SupportsIndex) -> dict[str, npt.NDArray[Any]]:
        """One sequence as a dictionary of its arrays, without the batch axis.

        >>> {name: values.shape for name, values in pgn.sample("dsu", nodes=4).sequence(0).items()}
        {'priorities': (4,), 'operands': (6, 2), 'answers': (6,), 'masks': (6, 4), 'pointers': (6, 4)}
        """
        position = range(self.count)[index]
        return {name: values[position] for name, values in self.arrays().items()}

    @property
    def sequences(self) -> Sequences:
        """The sequences as a list-like object of dictionaries, for PyTorch's ``DataLoader``.

        ``DataLoader(data.sequences, batch_size=32, shuffle=True)`` yields batches as dictionaries
        of tensors. Nodes are int64 there, the only type that PyTorch indexes with.

        >>> data = pgn.sample("dsu", nodes=20, count=3)
        >>> len(data.sequences), data.sequences[0]["operands"].dtype
        (3, dtype('int64'))
        """
        return Sequences(self)

    def batches(
        self, size: int, *, shuffle: bool = False, seed: int = 0, drop_last: bool = False
    ) -> Iterator[Dataset]:
        """The set in batches of ``size`` sequences; the last may be smaller unless it is dropped.

        With ``shuffle`` the order depends on ``seed`` alone: give the epoch, for example.

        >>> data = pgn.sample("dsu", nodes=5, count=10)
        >>> [len(batch) for batch in data.batches(4)]
        [4, 4, 2]
        """
        if whole("size", size) == 0:
            raise ValueError("size is 0; expected at least 1")
        order = None
        if shuffle:
            order = np.random.default_rng(whole("seed", seed, 2**64 - 1)).permutation(self.count)
        for start in range(0, self.count, size):
            if drop_last and start + size > self.count:
                return
            part = slice(start, start + size)
            yield self[part] if order is None else self[order[part]]

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each operation: sequence, step, u, v, answer, visited nodes, moved pointers.

        Needs pandas.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        before = np.empty_like(self.pointers)
        before[:, :1] = np.arange(self.nodes)
        before[:, 1:] = self.pointers[:, :-1]
        sequence, step = np.divmod(np.arange(self.count * self.ops), max(self.ops, 1))
        return pandas.DataFrame(
            {
                "sequence": sequence,
                "step": step,
                "u": self.operands[..., 0].reshape(-1),
                "v": self.operands[..., 1].reshape(-1),
                "answer": self.answers.reshape(-1),
                "visited": (self.masks == 0).sum(axis=2).reshape(-1),
                "moved": (self.pointers != before).sum(axis=2).reshape(-1),
                "roots": (self.pointers == np.arange(self.nodes)).sum(axis=2).reshape(-1),
            }
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dataset):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()
        return (
            (self.task, self.seed, self.split) == (other.task, other.seed, other.split)
            and mine.keys() == theirs.keys()
            and all(np.array_equal(mine[name], theirs[name]) for name in mine)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"Dataset(task={self.task!r}, count={self.count}, ops={self.ops}, "
            f"nodes={self.nodes}, seed={self.seed}, split={self.split!r})"
        )

    def _repr_html_(self) -> str:
        rows: list[list[object]] = [
            [name, str(values.dtype), "[" + ", ".join(map(str, values.shape)) + "]"]
            for name, values in self.arrays().items()
        ]
        return _html.card(f"Dataset: {self.task}, n = {self.nodes}", {
            "sequences": self.count,
            "operations each": self.ops,
            "seed": self.seed,
            "split": self.split,
            "answer 1": f"{self.answers.mean():.3f}" if self.answers.size else "",
            "visited (mask 0)": f"{1 - self.masks.mean():.3f}" if self.masks.size else "",
        }) + _html.table(["array", "type", "shape"], rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_parts, ((self.task, self.seed, self.split, self.arrays()),)


class _Fields(dict[str, Any]):
    """Arrays by the name of their field; what is not there is asked for with a sentence."""

    def __init__(self, kind: str, shape: tuple[int, int, int]) -> None:
        super().__init__()
        self._kind = kind
        self._shape = shape

    def __setitem__(self, name: str, values: npt.ArrayLike) -> None:
        fields = self._kind == "fields"
        dtype: type[np.generic] = np.uint32 if fields else np.uint8
        named = f"{'pointers' if fields else 'bits'}.{name}"
        super().__setitem__(name, array(named, values, dtype, self._shape))

    def __missing__(self, name: str) -> Any:
        what = "pointer field" if self._kind == "fields" else "bit"
        known = ", ".join(self) or "none; pgn.replay(task, operands, priorities=...) adds them"
        raise KeyError(f"the set has no {what} {name!r}: recorded are {known}")


class Sequences(Sequence[dict[str, npt.NDArray[Any]]]):
    """The sequences of a :class:`Dataset`, each as a dictionary; :attr:`Dataset.sequences`."""

    def __init__(self, data: Dataset) -> None:
        self._data = data

    def __len__(self) -> int:
        return self._data.count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Sequences(self._data[index])
        return {
            name: values.astype(np.int64) if values.dtype == np.uint32 else values
            for name, values in self._data.sequence(index).items()
        }

    def __repr__(self) -> str:
        return f"Sequences({self._data!r})"


def concatenate(sets: Iterable[Dataset]) -> Dataset:
    """One set of all sequences of several, which must agree in task, nodes and ops.

    Seed and split are those of the sets where all have the same, else 0 and ``"given"``.

    >>> pgn.concatenate([pgn.sample("dsu", nodes=5, count=2, seed=seed) for seed in (1, 2)])
    Dataset(task='dsu', count=4, ops=7, nodes=5, seed=0, split='given')
    """
    parts = list(sets)
    if not parts:
        raise ValueError("there is nothing to concatenate; expected at least one data set")
    first = parts[0]
    for part in parts:
        for name in ("task", "nodes", "ops"):
            mine, theirs = getattr(first, name), getattr(part, name)
            if mine != theirs:
                raise ValueError(f"the sets differ in {name}: {mine} and {theirs}")
        if part.arrays().keys() != first.arrays().keys():
            known = [", ".join([*one.arrays()][5:]) or "none" for one in (first, part)]
            raise ValueError(f"the sets differ in further fields: {known[0]} and {known[1]}")
        if part.edges is not None and first.edges is not None:
            mine, theirs = first.edges.shape[1], part.edges.shape[1]
            if mine != theirs:
                raise ValueError(f"the sets differ in edges per sequence: {mine} and {theirs}")
    same = all((part.seed, part.split) == (first.seed, first.split) for part in parts)
    arrays = {
        name: np.concatenate([part.arrays()[name] for part in parts]) for name in first.arrays()
    }
    return Dataset(
        **arrays,
        task=first.task,
        seed=first.seed if same else 0,
        split=first.split if same else "given",
    )


def chosen(index: Any, count: int) -> Any:
    """What a set's arrays are indexed with: a slice or an array, never a single number."""
    if isinstance(index, slice):
        return index
    if hasattr(index, "__index__") and not (isinstance(index, np.ndarray) and index.ndim):
        position = range(count)[index]
        return slice(position, position + 1)
    found = np.asarray(index)
    if found.dtype == bool:
        if found.shape != (count,):
            raise IndexError(f"the mask has shape {list(found.shape)}; expected [{count}]")
        return found
    if found.size == 0:
        return np.zeros(0, np.intp)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise IndexError(
            f"a data set is indexed by {found.dtype} {list(found.shape)}; expected a number, "
            "a slice, a list of numbers or a boolean for each sequence"
        )
    return found


def _from_parts(parts: tuple[str, int, str, dict[str, Any]]) -> Dataset:
    task, seed, split, arrays = parts
    return Dataset(**arrays, task=task, seed=seed, split=split)


def sample(
    task: Task,
    *,
    nodes: SupportsIndex,
    ops: SupportsIndex | None = None,
    count: SupportsIndex = 70,
    seed: SupportsIndex = 0,
    split: Split = "train",
    fields: bool = True,
) -> Dataset:
    """Samples sequences of operations with their ground truth.

    ``task`` is one of :func:`tasks` or a class like :class:`Structure`; ``ops`` is 1.5 × ``nodes``
    unless given. The same arguments give the same arrays on every machine, and ``split``
    (``"train"``, ``"validation"`` or ``"test"``) has random numbers of its own. With
    ``fields=False``, further fields are left out; models that read them find them anew.

    >>> data = pgn.sample("dsu", nodes=4, ops=3, count=1)
    >>> data.operands[0].tolist(), data.answers[0].tolist()
    ([[3, 2], [1, 2], [0, 2]], [1, 1, 1])
    """
    return _from_parts(
        _native.sample(
            task,
            whole("nodes", nodes),
            None if ops is None else whole("ops", ops),
            whole("count", count),
            whole("seed", seed, 2**64 - 1),
            split,
            fields,
        )
    )


def replay(
    task: Task,
    operands: npt.ArrayLike,
    *,
    nodes: SupportsIndex | None = None,
    kinds: npt.ArrayLike | None = None,
    priorities: npt.ArrayLike | None = None,
    edges: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    seed: SupportsIndex = 0,
    fields: bool = True,
) -> Dataset:
    """The ground truth of given operations: ``operands`` [count, ops, 2], or [ops, 2] for one.

    Where the task has several kinds of operations, ``kinds`` [count, ops] (or [ops]) says which;
    an operation with one operand has it twice. ``edges`` and ``weights`` are the graphs that
    come with the sequences, where the task has them.

    Without ``priorities`` [count, nodes] (or [nodes]), those of ``pgn generate --ops FILE`` are
    drawn from ``seed``, the same for every sequence. ``fields=False`` leaves further fields out.

    >>> one = pgn.replay("dsu", [[0, 1], [1, 2], [0, 2]], nodes=3)
    >>> one.answers
    array([[1, 1, 0]], dtype=uint8)
    """
    given = array("operands", _batch(operands, 2), np.uint32, ("count", "ops", 2))
    if kinds is not None:
        kinds = array("kinds", _batch(kinds, 1), np.uint8, given.shape[:2])
    if priorities is None:
        if nodes is None:
            raise ValueError("replay needs either nodes or priorities")
        row = _native.given_priorities(whole("nodes", nodes), whole("seed", seed, 2**64 - 1))
        priorities = np.broadcast_to(row, (given.shape[0], row.size))
    size = "nodes" if nodes is None else whole("nodes", nodes)
    if not isinstance(priorities, np.ndarray):
        priorities = np.asarray(priorities, np.float32)
    drawn = rounded("priorities", _batch(priorities, 1), (given.shape[0], size))
    task_, seed_, split, arrays = _native.replay(
        task, drawn, given, kinds, whole("seed", seed, 2**64 - 1), fields
    )
    if edges is not None and weights is not None:
        arrays |= {"edges": _batch(edges, 2), "weights": _batch(weights, 1)}
    elif edges is not None or weights is not None:
        raise ValueError("edges and weights belong together; one of them is missing")
    return _from_parts((task_, seed_, split, arrays))


def _batch(values: npt.ArrayLike, dimensions: int) -> npt.NDArray[Any]:
    """An array of one sequence, or of many, as one of many."""
    given = np.asarray(values)
    return given[np.newaxis] if given.ndim == dimensions else given
