"""Numbers of any type as engines take them: bytes to send, and types that they can add."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import RankError

HostArray = npt.NDArray[Any]

OPS = ("sum", "max", "min")

# Types that not every engine can combine, and types that hold all their numbers. Sums of half
# precision are rounded once, at the end.
CARRIERS = {
    "float16": "float32",
    "int16": "int32",
    "uint16": "int32",
    "uint32": "int64",
    "bool": "uint8",
}
_NAMES = {np.dtype(one): one for one in ("float32", "float64", "int32", "int64")}  # names are slow
_TOP = np.uint64(1 << 63)


def check_op(op: str, dtype: str) -> None:
    """Refuse to combine numbers in an unknown way.

    Raises:
        RankError: There is no such operation for the type.
    """
    if op not in OPS:
        raise RankError(f"Ranks combine numbers by {', '.join(map(repr, OPS))}, not by {op!r}.")
    if op == "sum" and dtype == "bool":
        raise RankError("Truth values of ranks have no sum: 'max' tells whether any is true.")


def as_bytes(array: HostArray, *, filled: bool) -> HostArray:
    """Return the memory of an array as bytes.

    Args:
        array: The numbers.
        filled: They are received into it.

    Raises:
        RankError: Numbers cannot be received into the array, since it has gaps or is read-only.
    """
    if filled and not (array.flags.c_contiguous and array.flags.writeable):
        raise RankError("Messages are received into arrays without gaps that may be written.")
    if not array.flags.c_contiguous or not array.flags.writeable:
        array = array.copy(order="C")
    return array.reshape(-1).view(np.uint8)


def carried(array: HostArray, op: str) -> tuple[HostArray, Callable[[], None]]:
    """Return numbers of a type that every engine can combine, and a function that puts them back.

    Args:
        array: The numbers.
        op: "sum", "max" or "min".

    Raises:
        RankError: There is no such operation for the type.
    """
    name = _NAMES.get(array.dtype) or array.dtype.name
    check_op(op, name)
    if name == "uint64":
        # Sums are the same bits with and without a sign; for the order the highest bit is turned.
        turned = np.uint64(0) if op == "sum" else _TOP
        numbers = (np.ascontiguousarray(array) ^ turned).view(np.int64)

        def put_back() -> None:
            array[...] = (numbers.view(np.uint64) ^ turned).reshape(array.shape)

        return numbers, put_back
    if name not in CARRIERS and array.flags.c_contiguous and array.flags.writeable:
        return array, lambda: None
    carrier = np.array(array, CARRIERS.get(name, name), order="C", copy=True)

    def narrow() -> None:
        with np.errstate(over="ignore"):  # to infinity, as a sum in half precision goes
            array[...] = carrier.astype(array.dtype).reshape(array.shape)

    return carrier, narrow
