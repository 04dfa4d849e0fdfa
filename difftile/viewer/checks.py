"""Checks of numbers, boxes and indices that users pass to shapes, with errors in their words."""

from __future__ import annotations

import linecache
import math
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import Span, ViewerError, located
from difftile.tracebacks import is_own
from difftile.viewer.primitives import Box


def as_array(values: Any, noun: str) -> npt.NDArray[Any]:
    """Return a field or array as an array of real numbers.

    Raises:
        ViewerError: The argument is not an array of numbers.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise ViewerError(f"{noun} are an array or a field; the rows differ in length") from None
    if array.dtype.kind not in "biuf":
        got = repr(values) if array.ndim == 0 else f"an array of {array.dtype}"
        raise ViewerError(f"{noun} are an array or a field of real numbers, not {got}")
    return array


def as_size(value: Any, name: str, *, zero: bool = True) -> float:
    """Return a size in pixels or a factor as a float.

    Args:
        value: The argument.
        name: Its name, for errors.
        zero: Whether the size may be 0.

    Raises:
        ViewerError: The argument is not one number, not finite, or too small.
    """
    number = as_number(value, name)
    if number < 0 or (number == 0 and not zero):
        raise ViewerError(f"{name} is {'at least' if zero else 'above'} 0, not {number:g}")
    return number


def as_number(value: Any, name: str) -> float:
    """Return a finite number, an array or a field of one element as a float.

    Raises:
        ViewerError: The argument is something else.
    """
    array = as_array(value, name) if hasattr(value, "shape") else np.array(None)
    if isinstance(value, (int, float)):
        number = float(value)
    elif array.size == 1 and array.dtype != object:
        number = float(array.item())
    else:
        got = repr(value) if array.ndim == 0 else f"an array of the shape {array.shape}"
        raise ViewerError(f"{name} is one number, not {got}")
    if not math.isfinite(number):
        raise ViewerError(f"{name} is a finite number, not {number}")
    return number


def as_count(value: Any, name: str, least: int = 1) -> int:
    """Return a whole number as an int.

    Raises:
        ViewerError: The argument is something else, or below `least`.
    """
    number = as_number(value, name)
    if number != int(number) or number < least:
        raise ViewerError(f"{name} is a whole number of at least {least}, not {value!r}")
    return int(number)


def check_action(action: object, name: str) -> None:
    """Check that a function is given.

    Raises:
        ViewerError: It cannot be called.
    """
    if not callable(action):
        raise ViewerError(f"{name} takes a function without arguments, not {action!r}")


def as_box(box: Any, name: str) -> Box:
    """Return a box as four floats.

    Raises:
        ViewerError: The argument is not (left, bottom, right, top) in order.
    """
    try:
        left, bottom, right, top = (float(number) for number in box)
    except (TypeError, ValueError):
        raise ViewerError(f"{name} is (left, bottom, right, top), not {box!r}") from None
    if not (left < right and bottom < top and all(map(math.isfinite, (left, bottom, right, top)))):
        raise ViewerError(f"{name} is (left, bottom, right, top) in order, not {box!r}")
    return left, bottom, right, top


def as_indices(values: Any, each: int, count: int, noun: str, of: str) -> npt.NDArray[np.int32]:
    """Return indices, shape (m, each).

    Args:
        values: The argument, shape (m, each) or flat.
        each: The number of indices of one shape.
        count: The number of elements that they index.
        noun: What the indices make up, such as "faces".
        of: The elements, such as "vertices".

    Raises:
        ViewerError: They are not whole numbers, or out of range.
    """
    array = as_array(values, noun)
    fits = array.ndim == 1 and array.size % each == 0
    if not fits and (array.ndim == 0 or array.shape[-1] != each):
        raise ViewerError(f"{noun} have {each} indices each, not the shape {array.shape}")
    if not (array == np.floor(array)).all():  # NaN is unequal to itself
        raise ViewerError(f"{noun} are whole numbers, the indices of {of}")
    if array.size and not 0 <= array.min() <= array.max() < count:
        raise ViewerError(
            f"{noun} of {count} {of} have indices from 0 to {count - 1}, "
            f"not from {array.min():g} to {array.max():g}"
        )
    return array.reshape(-1, each).astype(np.int32)


def calling_line() -> str:
    """Return the file, line and source text of the innermost caller outside the library."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_own(frame.f_code.co_filename):
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, line).strip()
    return located(Span(file, line, 0, len(text), text))
