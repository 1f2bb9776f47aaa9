"""Arrays from outside: as the native half wants them, or refused in one sentence."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt


def array(
    name: str, value: npt.ArrayLike, dtype: type[np.generic], shape: tuple[int | str, ...]
) -> npt.NDArray[Any]:
    """``value`` as a C-contiguous array of this type and number of dimensions.

    Nothing is copied if it is one already. Other types are converted where no value changes.
    """
    given = np.asarray(value)
    wanted = np.dtype(dtype)
    expected = "[" + ", ".join(map(str, shape)) + "]"
    if given.ndim != len(shape) or any(
        isinstance(size, int) and size != found for size, found in zip(shape, given.shape)
    ):
        raise ValueError(f"{name} has shape {list(given.shape)}; expected {expected}")
    if given.dtype != wanted:
        if given.dtype.kind not in "biuf":
            raise ValueError(f"{name} has type {given.dtype}; expected {wanted}")
        with np.errstate(all="ignore"):
            converted = given.astype(wanted)
        if not np.array_equal(converted, given):
            raise ValueError(
                f"{name} has type {given.dtype} and values that {wanted} cannot hold exactly"
            )
        given = converted
    return np.require(given, wanted, ["C_CONTIGUOUS", "ALIGNED"])


def whole(name: str, value: SupportsIndex, most: int = 2**63 - 1) -> int:
    """``value`` as a number of something."""
    number = operator.index(value)
    if not 0 <= number <= most:
        raise ValueError(f"{name} is {number}; expected a whole number from 0 to {most}")
    return number
