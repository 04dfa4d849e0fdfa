"""Assignment to parts of fields: `x[1:3] = value`, for what broadcasts to the part."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError, brief
from difftile.fields.arithmetic import carried_into
from difftile.fields.elements import FieldElements
from difftile.fields.exchange import as_array
from difftile.fields.host_access import HostAccess, followed_array
from difftile.ir.types import shape_of


def assign_part(part: HostAccess, value: npt.ArrayLike | FieldElements) -> None:
    """Set a part of a field to what broadcasts to its shape: `x[1:3] = value`.

    Args:
        part: The part.
        value: A number or an element for all, an array, or a field, from which gradients flow.

    Raises:
        FieldError: The shapes do not go together, or the type cannot hold the values.
    """
    value = followed_array(value)
    if isinstance(value, FieldElements):
        fitting: Any = value
        if value.shape != part.shape:
            if not _broadcasts(value.shape, part.shape):
                raise FieldError(
                    f"{part!r} takes a field that broadcasts to it, not {brief(value)}."
                )
            fitting = fitting.broadcast_to(part.shape)
        part.copy_from(fitting)
        return
    if carried_into(part, value):
        return
    array, inner = as_array(value), shape_of(part.element)
    if array.shape in ((), inner):
        part.fill(value)
        return
    wanted = (*part.shape, *inner)
    given = array.reshape(array.shape[_ones_in_front(array.shape, len(wanted)) :])
    if not _broadcasts(given.shape, wanted):
        raise FieldError(
            f"{part!r} takes an array that broadcasts to shape {wanted}, not one of shape "
            f"{array.shape}."
        )
    part.from_numpy(np.broadcast_to(given, wanted))


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False


def _ones_in_front(shape: tuple[int, ...], dimensions: int) -> int:
    """Return how many axes of size 1 there are before so many others."""
    spare = shape[: max(0, len(shape) - dimensions)]
    return len(spare) if all(size == 1 for size in spare) else 0
