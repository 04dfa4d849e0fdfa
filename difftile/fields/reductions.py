"""Sums, means, extremes and norms of fields.

On the CPU NumPy reduces the memory where it is. On other devices, and wherever derivatives may be
asked for, a kernel does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.any_field import AnyField
from difftile.fields.elements import FieldElements
from difftile.fields.recording import RECORDING, Recording, note_read
from difftile.ir.types import is_float, shape_of
from difftile.substrate import current_session

Values: TypeAlias = npt.NDArray[Any]
_PIECE = 1 << 16  # numbers that are brought to double precision at a time
_OF_NOTHING = ("sum", "norm")  # the reductions that no elements have as well
_EXTREMES = ("min", "max")


class Reductions:
    """The reductions that higher packages implement, and put here.

    Attributes:
        launch: Returns a reduction by name of a field of floats that has elements, as kernels
            return numbers and vectors.
        over_ranks: Returns a reduction by name of a field that is split among ranks: of the
            elements that all of them own. `distributed` makes such fields.
    """

    launch: Callable[[str, AnyField], Any] | None = None
    over_ranks: Callable[[str, AnyField], Any] | None = None


def reduced(name: str, field: FieldElements, axis: object) -> Any:
    """Return a reduction of a field: a number, or an array for vectors and matrices.

    Args:
        name: "sum", "mean", "min", "max" or "norm".
        field: The field.
        axis: What the user has given as an axis.

    Raises:
        FieldError: An axis is given, or the reduction of no elements is not defined.
    """
    if axis is not None:
        raise FieldError(
            f"{field!r}: {name}() takes all elements, and no axis. Reduce along an axis in a "
            f"kernel, or in NumPy: x.to_numpy().{name}(axis=...)."
        )
    whole: Any = field
    if field is field.base and whole.split is not None:
        assert Reductions.over_ranks is not None
        return Reductions.over_ranks(name, whole)
    if not field.size and name not in _OF_NOTHING:
        raise FieldError(f"{field!r} has no elements, so it has no {name}().")
    launch = Reductions.launch
    if launch is not None and is_float(field.element):
        recording = RECORDING.get()
        recorded = recording.recorder is not None and not recording.constant
        if recorded or not current_session().on_host:
            found = launch(name, field)
            if name in _EXTREMES:
                # Kernels are compiled without regard to NaN, which sums keep all the same.
                nans = _nans(field, launch)
                return found if nans is None else found + nans
            return found
    note_read(field.base)
    columns, inner = _columns(field), shape_of(field.element)
    with np.errstate(all="ignore"):
        if name == "norm":
            return float(np.sqrt(sum(map(_squares, columns))))
        found = [_REDUCED[name](column) for column in columns]
    return np.array(found).reshape(inner) if inner else found[0]


def _columns(field: FieldElements) -> Values:
    """Return each component of all elements, shape (components, elements)."""
    whole = field.base.buffer.array()
    values = whole if field.window is None else field.window.of(whole)
    components = int(np.prod(shape_of(field.element), dtype=int))
    return values.reshape(field.size, components).T


def _nans(field: FieldElements, launch: Callable[[str, FieldElements], Any]) -> Any:
    """Return NaN for each component of which some element is NaN, and 0 for the others.

    Returns:
        A number or an array; None if there is no NaN.
    """
    with Recording():
        if not current_session().on_host and not np.isnan(launch("sum", field)).any():
            return None
        found = np.where(np.isnan(_columns(field)).any(axis=1), np.nan, 0.0)
    if not np.isnan(found).any():
        return None
    inner = shape_of(field.element)
    return found.reshape(inner) if inner else float(found[0])


def _squares(values: Values) -> float:
    """Return the sum of the squares, in double precision."""
    pieces = np.split(values, range(_PIECE, len(values), _PIECE))
    wide = (piece.astype(np.float64) for piece in pieces)
    return sum(float(np.dot(piece, piece)) for piece in wide)


def _sum(values: Values) -> float | int:
    """Return the sum: of floats in double precision, by pairs, and of integers exactly."""
    if values.dtype.kind == "f":
        return float(values.sum(dtype=np.float64))
    if values.dtype.itemsize < 8:
        return int(values.sum(dtype=np.int64))
    low = values & values.dtype.type(0xFFFF_FFFF)
    return (int((values >> 32).sum()) << 32) + int(low.sum())


_REDUCED: dict[str, Callable[[Values], Any]] = {
    "sum": _sum,
    "mean": lambda values: _sum(values) / len(values),
    "min": lambda values: values.min().item(),
    "max": lambda values: values.max().item(),
}
