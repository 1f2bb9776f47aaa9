"""Scores: of our models, and of anybody's."""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pgn import _html, _native
from pgn._arrays import array
from pgn._dataset import Dataset


class Scores(dict[str, Any]):
    """Scores by name, as a dictionary whose entries are attributes too.

    ======================= ================================================================
    ``f1``                  of the answers, answer 1 being positive: the paper's score
    ``precision, recall``   what it is the harmonic mean of
    ``accuracy``            share of right answers
    ``sequences_right``     share of sequences with every answer right
    ``sequences_exact``     … and every pointer after every operation
    ``pointer_accuracy``    share of right pointers
    ``mask_accuracy``       share of right masks
    ``first_error``         the earliest operation, from 0, after which something is wrong
    ``first_errors``        the same for each sequence, ``None`` where all is right
    ``answers_1``           share of true answers that are 1
    ``f1_always_1``         the F1 of answering 1 always
    ``counting_f1``         the F1 of counting how often u and v were operated on before
    ``beyond_counting``     how much better the answers are than counting allows, 0 to 1
    ``valid``               share of steps whose pointers are acyclic and connect what is
                            connected
    ``pairs``               F1 of connected pairs; ``pair_precision`` and ``pair_recall``
    ======================= ================================================================

    What does not apply is absent as an entry, and ``None`` as an attribute.

    >>> data = pgn.sample("dsu", nodes=20, count=35, split="test")
    >>> scores = pgn.score(data, answers=np.ones_like(data.answers))
    >>> scores.f1 == scores["f1_always_1"], scores.beyond_counting, scores.valid
    (True, 0.0, None)
    """

    f1: float
    precision: float
    recall: float
    accuracy: float
    sequences_right: float
    sequences_exact: float | None
    pointer_accuracy: float | None
    mask_accuracy: float | None
    first_error: int | None
    first_errors: list[int | None] | None
    answers_1: float
    f1_always_1: float
    f1_always_0: float
    counting_f1: float | None
    beyond_counting: float | None
    valid: float | None
    pairs: float | None
    pair_precision: float | None
    pair_recall: float | None

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        if name in Scores.__annotations__:
            return None
        raise AttributeError(f"there is no score {name!r}")

    def __repr__(self) -> str:
        numbers = {name: value for name, value in self.items() if name != "first_errors"}
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in numbers.items())
        return f"Scores({shown})"

    def _repr_html_(self) -> str:
        rows = [[name, value] for name, value in self.items() if name != "first_errors"]
        return _html.table(["score", "value"], rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return Scores, (dict(self),)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def score(
    data: Dataset,
    *,
    answers: npt.ArrayLike | None = None,
    query_logits: npt.ArrayLike | None = None,
    probabilities: npt.ArrayLike | None = None,
    pointers: npt.ArrayLike | None = None,
    masks: npt.ArrayLike | None = None,
    counting: Dataset | Literal[False] | None = None,
) -> Scores:
    """Scores the predictions of any model, in any framework, against the truth of ``data``.

    ``answers`` [count, ops] are 0 or 1. In their place, ``query_logits`` may be given, above 0 for
    answer 1, or ``probabilities`` of answer 1, above 0.5 for answer 1. ``pointers``
    [count, ops, nodes] are those after each operation, ``masks`` [count, ops, nodes] are 0 for
    visited nodes and 1 for others.

    ``counting_f1`` is what counting scores on the same data: a rule learned from the paper's
    training sequences at the seed of ``data``, or from another set, ``counting``; it is left out
    for ``False``, and for structures of your own unless a set is given.

    >>> data = pgn.sample("lct", nodes=20, count=35, split="test")
    >>> perfect = pgn.score(data, answers=data.answers, pointers=data.pointers)
    >>> perfect.f1, perfect.sequences_exact, perfect.valid, perfect.first_error
    (1.0, 1.0, 1.0, None)
    >>> round(perfect.counting_f1, 2)
    0.64
    """
    shape = (data.count, data.ops)
    named = {"answers": answers, "query_logits": query_logits, "probabilities": probabilities}
    given = {name: values for name, values in named.items() if values is not None}
    if len(given) != 1:
        raise ValueError("score needs one of answers, query_logits and probabilities")
    [(name, values)] = given.items()
    if name == "answers":
        predicted = array("answers", values, np.uint8, shape)
    else:
        numbers = np.asarray(values)
        if numbers.shape != shape:
            raise ValueError(f"{name} has shape {list(numbers.shape)}; expected {list(shape)}")
        if not np.isfinite(numbers).all():
            raise ValueError(f"{name} has values that are not finite")
        unit = bool(((numbers >= 0) & (numbers <= 1)).all())
        if name == "probabilities" and not unit:
            raise ValueError("probabilities has values that are not from 0 to 1")
        if name == "query_logits" and unit and (numbers > 0).any():
            raise ValueError(
                "query_logits are all from 0 to 1, as probabilities are: every answer would be 1; "
                "give them as probabilities, or answers=query_logits > 0 if logits they are"
            )
        predicted = (numbers > (0.5 if name == "probabilities" else 0)).astype(np.uint8)
    if isinstance(counting, Dataset) and counting.task != data.task:
        raise ValueError(f"counting is a set of {counting.task}; expected {data.task}")
    nodes = (*shape, data.nodes)
    aims = None if pointers is None else array("pointers", pointers, np.uint32, nodes)
    scores: dict[str, Any] = json.loads(
        _native.score(
            data,
            predicted,
            None if masks is None else array("masks", masks, np.uint8, nodes),
            aims,
            counting if isinstance(counting, Dataset) else None,
            None if counting is False else (data.task, data.seed),
        )
    )
    wrong = predicted != data.answers
    if aims is not None:
        wrong |= (aims != data.pointers).any(axis=2)
    scores["first_errors"] = [int(row.argmax()) if row.any() else None for row in wrong]
    return Scores(scores)
