"""Sequences of operations with their ground truth."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from pgn import _html, _native
from pgn._arrays import array, whole
from pgn._structure import Split, Task

if TYPE_CHECKING:
    import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]

_ARRAYS = ("priorities", "operands", "answers", "masks", "pointers")


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
    (uint8, in the order of ``pgn tasks``); else it is None.

    Before the first operation every node points to itself. Structures with more state than
    ``pointers`` have further fields, uint32 each, and bits, uint8, of the same shape. A pointer
    field that is nil holds the node itself. A link/cut tree's ``pointers`` are ``up``; beside
    them are:

    >>> data = pgn.sample("lct", nodes=5, count=10)
    >>> list(data.fields), list(data.bits), data.fields["left"].shape
    (['left', 'right'], ['flip'], (10, 7, 5))

    The arrays are plain numpy arrays. Those given to the constructor (further ones as files name
    them, ``pointers.left`` and ``bits.flip``) are used as they are where type and layout fit, else
    converted if no value changes by it; values are checked when they are used.

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

    __slots__ = ("task", "seed", "split", *_ARRAYS, "fields", "bits", "kinds")

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
        self.priorities = array("priorities", priorities, np.float32, ("count", "nodes"))
        count, nodes = self.priorities.shape
        self.operands = array("operands", operands, np.uint32, (count, "ops", 2))
        ops = self.operands.shape[1]
        self.answers = array("answers", answers, np.uint8, (count, ops))
        self.masks = array("masks", masks, np.uint8, (count, ops, nodes))
        self.pointers = array("pointers", pointers, np.uint32, (count, ops, nodes))
        kinds = fields.pop("kinds", None)
        self.kinds = None if kinds is None else array("kinds", kinds, np.uint8, (count, ops))
        self.fields, self.bits = _Fields("pointer field"), _Fields("bit")
        for name, values in fields.items():
            kind, _, field = name.partition(".")
            if kind == "pointers" and field:
                self.fields[field] = array(name, values, np.uint32, (count, ops, nodes))
            elif kind == "bits" and field:
                self.bits[field] = array(name, values, np.uint8, (count, ops, nodes))
            else:
                raise TypeError(f"Dataset() got an unexpected keyword argument {name!r}")

    @property
    def count(self) -> int:
        """How many sequences there are."""
        return len(self.priorities)

    @property
    def ops(self) -> int:
        """Operations per sequence."""
        return int(self.operands.shape[1])

    @property
    def nodes(self) -> int:
        """Nodes per sequence, n."""
        return int(self.priorities.shape[1])

    def arrays(self) -> dict[str, Any]:
        """All arrays by name, those of further fields as in files.

        >>> list(pgn.sample("lct", nodes=4).arrays())[4:]
        ['pointers', 'pointers.left', 'pointers.right', 'bits.flip']
        """
        return {
            **{name: getattr(self, name) for name in _ARRAYS},
            **({} if self.kinds is None else {"kinds": self.kinds}),
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
        chosen = _chosen(index, self.count)
        arrays = {name: values[chosen] for name, values in self.arrays().items()}
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
        if shuffle:
            order = np.random.default_rng(whole("seed", seed, 2**64 - 1)).permutation(self.count)
        for start in range(0, self.count, size):
            if drop_last and start + size > self.count:
                return
            part = slice(start, start + size)
            yield self[order[part]] if shuffle else self[part]

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
        arrays = self.arrays()
        five = [arrays.pop(name) for name in _ARRAYS]
        return _from_parts, ((self.task, self.seed, self.split, *five, arrays),)


class _Fields(dict[str, Any]):
    """Arrays by the name of their field; what is not there is asked for with a sentence."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, name: str) -> Any:
        known = ", ".join(self) or "none; pgn.replay(task, operands, priorities=...) adds them"
        raise KeyError(f"the set has no {self._kind} {name!r}: recorded are {known}")


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
            known = [", ".join([*one.fields, *one.bits]) or "none" for one in (first, part)]
            raise ValueError(f"the sets differ in further fields: {known[0]} and {known[1]}")
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


def _chosen(index: Any, count: int) -> Any:
    """What a set's arrays are indexed with: a slice or an array, never a single number."""
    if isinstance(index, slice):
        return index
    if hasattr(index, "__index__") and not (isinstance(index, np.ndarray) and index.ndim):
        position = range(count)[index]
        return slice(position, position + 1)
    chosen = np.asarray(index)
    if chosen.dtype == bool:
        if chosen.shape != (count,):
            raise IndexError(f"the mask has shape {list(chosen.shape)}; expected [{count}]")
        return chosen
    if chosen.size == 0:
        return np.zeros(0, np.intp)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise IndexError(
            f"a data set is indexed by {chosen.dtype} {list(chosen.shape)}; expected a number, "
            "a slice, a list of numbers or a boolean for each sequence"
        )
    return chosen


def _from_parts(parts: tuple[Any, ...]) -> Dataset:
    task, seed, split, *arrays = parts
    # Sets that were pickled before there were further fields have five arrays.
    fields = arrays.pop() if isinstance(arrays[-1], dict) else {}
    return Dataset(*arrays, task=task, seed=seed, split=split, **fields)


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
    ``fields=False``, further fields, which no model reads, are left out.

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
    seed: SupportsIndex = 0,
    fields: bool = True,
) -> Dataset:
    """The ground truth of given operations: ``operands`` [count, ops, 2], or [ops, 2] for one.

    Where the task has several kinds of operations, ``kinds`` [count, ops] (or [ops]) says which;
    an operation with one operand has it twice.

    Without ``priorities`` [count, nodes] (or [nodes]), those of ``pgn generate --operations`` are
    drawn from ``seed``, the same for every sequence. ``fields=False`` leaves further fields out.

    >>> one = pgn.replay("dsu", [[0, 1], [1, 2], [0, 2]], nodes=3)
    >>> one.answers
    array([[1, 1, 0]], dtype=uint8)
    """
    given = np.asarray(operands)
    if given.ndim == 2:
        given = given[np.newaxis]
    given = array("operands", given, np.uint32, ("count", "ops", 2))
    if kinds is not None:
        kinds = np.asarray(kinds)
        if kinds.ndim == 1:
            kinds = kinds[np.newaxis]
        kinds = array("kinds", kinds, np.uint8, given.shape[:2])
    if priorities is None:
        if nodes is None:
            raise ValueError("replay needs either nodes or priorities")
        row = _native.given_priorities(whole("nodes", nodes), whole("seed", seed, 2**64 - 1))
        priorities = np.broadcast_to(row, (given.shape[0], row.size))
    drawn = np.asarray(priorities)
    if drawn.ndim == 1:
        drawn = drawn[np.newaxis]
    drawn = array("priorities", drawn, np.float32, (given.shape[0], "nodes" if nodes is None else whole("nodes", nodes)))
    return _from_parts(_native.replay(task, drawn, given, kinds, whole("seed", seed, 2**64 - 1), fields))
