"""The benchmark's tasks as a procedural environment for language models, in the style of reasoning-gym.

    python reasoning_gym.py

Questions are generated, endlessly and by seed; answers are verified by the structure itself. Only
:func:`pgn.sample` is used, so a class of yours is an environment too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pgn


class PointerStructures:
    """``env[i]`` is a question with its answer; :meth:`score_answer` verifies what a model says."""

    def __init__(self, task: str = "dsu", nodes: int = 8, ops: int = 10, size: int = 500, seed: int = 0):
        self.task, self.nodes, self.ops, self.size, self.seed = task, nodes, ops, size, seed
        self.about = pgn.tasks()[task]

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[index] for index in range(self.size))

    def __getitem__(self, index: int) -> dict[str, Any]:
        if not 0 <= index < self.size:
            raise IndexError(index)
        data = pgn.sample(self.task, nodes=self.nodes, ops=self.ops, count=1, seed=self.seed + index)
        order = " ".join(map(str, data.priorities[0].argsort()))
        kinds = None if data.kinds is None else data.kinds[0]
        lines = [
            f"{t + 1}. operation {0 if kinds is None else kinds[t]} on ({u}, {v})"
            for t, (u, v) in enumerate(data.operands[0])
        ]
        question = (
            f"{self.about}. {self.nodes} nodes, in ascending order of their keys: {order}. For every "
            "operation, in order, answer 0 or 1; separate the digits by spaces.\n" + "\n".join(lines)
        )
        answer = " ".join(map(str, data.answers[0]))
        return {"question": question, "answer": answer, "metadata": {"task": self.task, "index": index}}

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """1 if every digit is right; else the share of right ones before the first wrong one, halved."""
        given, truth = (answer or "").split(), entry["answer"].split()
        if given == truth:
            return 1.0
        wrong = (t for t, right in enumerate(truth) if given[t : t + 1] != [right])
        return next(wrong, len(truth)) / len(truth) / 2


def main() -> None:
    environment = PointerStructures("bst", size=3)
    for entry in environment:
        print(entry["question"], "\n->", entry["answer"])
        assert environment.score_answer(entry["answer"], entry) == 1
        assert environment.score_answer(entry["answer"][:9] + " 2", entry) == 0.25
        assert environment.score_answer(None, entry) == 0


if __name__ == "__main__":
    main()
