"""Shapes, indices and values from Python, checked and converted for fields."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError, FieldIndexError, abbreviated, brief, counted
from difftile.fields.numbers import Number
from difftile.ir.types import BOOL, FLOATS, Type, numpy_dtype, scalar_of, with_scalar

Shape: TypeAlias = int | Sequence[int]
HostArray: TypeAlias = npt.NDArray[Any]
MAX_DIMENSIONS = 12  # kernels of more are untried


def as_integer(value: object) -> int | None:
    """Return an integer as an `int`, or None for anything else, such as True and False."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        return None
    try:
        return operator.index(cast(SupportsIndex, value))
    except TypeError:  # an array of integers
        return None


def as_shape(shape: Shape) -> tuple[int, ...]:
    """Return a shape as a tuple of integers.

    Raises:
        FieldError: The value is not a shape.
    """
    one = as_integer(shape)
    try:
        parts = [one] if one is not None else [as_integer(p) for p in cast(Sequence[object], shape)]
    except TypeError:
        parts = [None]
    found = [part for part in parts if part is not None]
    if len(found) != len(parts):
        raise FieldError(f"A shape is an integer or a tuple of integers, not {brief(shape)}.")
    if any(size < 0 for size in found):
        raise FieldError(f"A shape has sizes of 0 or more, not {tuple(found)}.")
    if len(found) > MAX_DIMENSIONS:
        raise FieldError(f"A field has up to {MAX_DIMENSIONS} dimensions, not {len(found)}.")
    return tuple(found)


def as_view_shape(given: tuple[object, ...], size: int | None = None) -> tuple[int, ...]:
    """Return a shape that is given as one tuple or as several integers.

    Args:
        given: The arguments of the call.
        size: The number of elements, from which one size that is -1 follows.

    Raises:
        FieldError: The arguments are not a shape.
    """
    one = given[0] if len(given) == 1 else given
    parts = list(cast("Sequence[object]", one)) if isinstance(one, (tuple, list)) else [one]
    if size is not None and parts.count(-1) == 1:
        place = parts.index(-1)
        rest = as_shape(cast(Shape, (*parts[:place], *parts[place + 1 :])))
        parts[place] = size // max(1, math.prod(rest))
    return as_shape(cast(Shape, tuple(parts)))


def as_index(owner: object, shape: tuple[int, ...], index: object) -> tuple[int, ...]:
    """Return the index of one element, counted from the front.

    Args:
        owner: The field, for errors.
        shape: Its shape.
        index: The index in brackets; None for the element of a field of shape ().

    Raises:
        FieldError: The index does not pick one element.
        FieldIndexError: The index is out of range.
    """
    parts = cast(tuple[object, ...], index) if isinstance(index, tuple) else (index,)
    if len(parts) == 1 and parts[0] is None:
        parts = ()
    where = [index_number(owner, part) for part in parts]
    if len(parts) != len(shape):
        raise wrong_count(owner, len(shape), len(parts))
    return tuple(in_range(owner, number, size) for number, size in zip(where, shape, strict=True))


def index_number(owner: object, part: object) -> int:
    """Return an index along one axis.

    Raises:
        FieldError: The value is not an integer.
    """
    number = as_integer(part)
    if number is None:
        raise FieldError(
            f"An index of {owner!r} is an integer or a slice, not {abbreviated(part)}; "
            "for others use x.to_numpy()."
        )
    return number


def in_range(owner: object, number: int, size: int) -> int:
    """Return an index counted from the front.

    Raises:
        FieldIndexError: The index is out of range.
    """
    if not -size <= number < size:
        raise FieldIndexError(f"Index {number} is out of range for {owner!r}.")
    return number % size


def wrong_count(owner: object, dimensions: int, indices: int) -> FieldError:
    """Return the error for another number of indices than there are dimensions."""
    hint = "" if dimensions else " Its element is 'x[None]'."
    return FieldError(
        f"{owner!r} has {counted(dimensions, 'dimension')} and is given "
        f"{counted(indices, 'index', 'indices')}.{hint}"
    )


def refuse_mask(values: object) -> None:
    """Refuse a masked array.

    Raises:
        FieldError: The values are a masked array.
    """
    masked: Any = sys.modules.get("numpy.ma")  # which takes NumPy long to import
    if masked is not None and isinstance(values, masked.MaskedArray):
        raise FieldError(
            "A masked array is not taken, since its mask would be ignored. Pass its values, "
            "x.filled(0), and the mask as another array."
        )


def as_array(values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return values as an array of numbers in the byte order of this machine.

    Numbers that carry derivatives become plain ones, of which their recorder hears.

    Raises:
        FieldError: The values are not real numbers.
    """
    refuse_mask(values)
    try:
        array: npt.NDArray[Any] = np.asarray(values)
    except (TypeError, ValueError):
        raise FieldError(f"{abbreviated(values)} is no array of numbers.") from None
    except OverflowError:
        raise FieldError(f"{abbreviated(values)} is out of range: {TOO_LARGE}.") from None
    if array.dtype.kind == "O" and any(isinstance(n, Number) for n in array.flat):
        array = array.astype(float)
    if (
        array.dtype.kind == "O"
        and array.size
        and all(isinstance(n, (int, float)) for n in array.flat)
    ):
        raise FieldError(f"{abbreviated(values)} is out of range: {TOO_LARGE}.")
    if array.dtype.kind not in "biuf":
        raise FieldError(f"{abbreviated(values)} is no array of real numbers.")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


TOO_LARGE = "integers have up to 64 bits, and floats, such as 1e20, go up to 1.8e308"


def as_contents(
    owner: object, element: Type, values: npt.ArrayLike, shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    """Return values as an array of a shape in the number type of a field.

    Args:
        owner: The field, for errors.
        element: Its elements.
        values: The values; floats may change precision.
        shape: The shape that they must have.

    Raises:
        FieldError: The shape differs, or the type cannot hold the values.
    """
    array = as_array(values)
    scalar = scalar_of(element)
    dtype = numpy_dtype(scalar)
    if array.shape != shape:
        wanted, given = (
            f"an array of shape {s}" if s else "one number" for s in (shape, array.shape)
        )
        raise FieldError(f"{owner!r} takes {wanted}, not {given}.")
    if array.dtype == dtype:
        return array
    if array.dtype.kind == "f" and scalar not in FLOATS:
        cast_to = "bool" if scalar == BOOL else dtype.name
        raise FieldError(
            f"{owner!r} takes no {array.dtype} values, whose fractions would be cut. "
            f"Cast them: values.astype(np.{cast_to})."
        )
    try:
        with np.errstate(over="raise", invalid="ignore"):
            converted = array.astype(dtype)
    except FloatingPointError:
        raise FieldError(f"{owner!r} takes {scalar} values, and some are too large.") from None
    if scalar not in FLOATS and not np.array_equal(converted, array):
        raise FieldError(f"{owner!r} takes {scalar} values, and some do not fit.")
    return converted


def float_element(element: Type, given: npt.NDArray[Any]) -> Type:
    """Return the element type with the number type of an array, where the array holds floats."""
    if scalar_of(element) not in FLOATS:
        return element
    match = next((s for s in FLOATS if numpy_dtype(s) == given.dtype), None)
    return element if match is None else with_scalar(element, match)
