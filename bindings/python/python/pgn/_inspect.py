"""What happens inside a model on a whole data set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pgn._dataset import Dataset

if TYPE_CHECKING:
    from pgn._model import Model


class Inspection(dict[str, npt.NDArray[Any]]):
    """Arrays by name, which are attributes too; :meth:`Model.inspect` makes one.

    ==================== =========================== =======================================
    ``query_logits``     [count, ops]                the decoder's output
    ``pointers``         [count, ops, nodes]         after each operation
    ``latents``          [count, ops, nodes, k]      h
    ``encoded``          [count, ops, nodes, k]      z
    ``mask_logits``      [count, ops, nodes]         of models with masks
    ``attention``        [count, ops, nodes, nodes]  α, of models with attention
    ``query_loss``       [count, ops]                binary cross-entropy of the answer
    ``mask_loss``        [count, ops, nodes]         binary cross-entropy of the mask
    ``pointer_loss``     [count, ops, nodes]         −log α of the true pointer
    ==================== =========================== =======================================

    Losses are those of free rollouts, not weighted and not averaged.
    """

    def __getattr__(self, name: str) -> npt.NDArray[Any]:
        if name in self:
            return self[name]
        raise AttributeError(f"there is no {name!r}; there are {', '.join(self)}")

    def __repr__(self) -> str:
        return f"Inspection({', '.join(f'{n}={list(a.shape)}' for n, a in self.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Inspection, (dict(self),)


def inspect(model: Model, data: Dataset, attention: bool) -> Inspection:
    """See :meth:`Model.inspect`."""
    names = ["query_logits", "pointers", "latents", "encoded"]
    network = model.config["network"]
    names += ["mask_logits"] if network["losses"].get("masks", 0) > 0 else []
    found: dict[str, list[Any]] = {name: [] for name in names}
    given = network["pointers"] == "given" and not model.has_teacher
    for i in range(data.count):
        edges = None if data.edges is None else data.edges[i]
        state = model.start(priorities=data.priorities[i], edges=edges)
        for t, (u, v) in enumerate(data.operands[i].tolist()):
            found["query_logits"].append(state.apply(u, v).logit)
            if attention and (i, t) == (0, 0) and state.attention(0) is not None:
                found["attention"] = []
            for name in found.keys() - {"query_logits", "attention"}:
                found[name].append(getattr(state, name))
            if "attention" in found:
                rows = [state.attention(node) for node in range(data.nodes)]
                found["attention"].append(np.stack([row for row in rows if row is not None]))
            if given:
                state.pointers = data.pointers[i, t]
                found["pointers"][-1] = data.pointers[i, t]
    shape = (data.count, data.ops)
    arrays = {
        name: np.asarray(values).reshape(*shape, *np.shape(values[0])) for name, values in found.items()
    }
    arrays["query_logits"] = arrays["query_logits"].astype(np.float32)
    arrays["query_loss"] = _cross_entropy(arrays["query_logits"], data.answers)
    if "mask_logits" in arrays:
        arrays["mask_loss"] = _cross_entropy(arrays["mask_logits"], data.masks)
    if "attention" in arrays:
        true = np.take_along_axis(arrays["attention"], data.pointers[..., None].astype(np.int64), 3)
        arrays["pointer_loss"] = -np.log(np.maximum(true[..., 0], np.finfo(np.float32).tiny))
    return Inspection(arrays)


def _cross_entropy(
    logits: npt.NDArray[np.float32], truth: npt.NDArray[np.uint8]
) -> npt.NDArray[np.float32]:
    loss: npt.NDArray[np.float32] = np.logaddexp(np.float32(0), logits) - truth * logits
    return loss
