"""Arrays from outside: as the native half wants them, or refused in one sentence."""

from __future__ import annotations

import operator
import warnings
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt


def array(
    name: str, value: npt.ArrayLike, dtype: type[np.generic], shape: tuple[int | str, ...]
) -> npt.NDArray[Any]:
    """``value`` as a C-contiguous array of this type and shape.

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


def rounded(
    name: str, value: npt.ArrayLike, shape: tuple[int | str, ...]
) -> npt.NDArray[np.float32]:
    """Priorities, keys or weights as float32. Double precision is rounded, which is said once."""
    global _said
    given = np.asarray(value)
    if given.dtype == np.float64:
        single = given.astype(np.float32)
        if isinstance(value, np.ndarray) and not _said and (single != given).any():
            _said = True
            warnings.warn(f"{name}: float64 is rounded to float32", stacklevel=4)
        given = single
    return array(name, given, np.float32, shape)


_said = False


def whole(name: str, value: SupportsIndex, most: int = 2**63 - 1) -> int:
    """``value`` as a number of something."""
    number = operator.index(value)
    if not 0 <= number <= most:
        raise ValueError(f"{name} is {number}; expected a whole number from 0 to {most}")
    return number


def wholes(name: str, value: Any) -> list[int] | None:
    """One number or several, as a list; ``None`` stays."""
    if value is None:
        return None
    values = value if hasattr(value, "__iter__") else [value]
    return [whole(name, number) for number in values]
