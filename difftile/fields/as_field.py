"""`dt.asarray`: a field of anything that holds numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from difftile.fields.array_like import ArrayLike
from difftile.fields.create import element_type, from_numpy
from difftile.fields.exchange import as_array
from difftile.fields.foreign import from_dlpack
from difftile.fields.numbers import numbers_in, plain_numbers
from difftile.fields.structs import StructField
from difftile.ir.types import I32
from difftile.lang.meanings import dtype_of
from difftile.substrate import current_session
from difftile.tracebacks import boundary


@boundary
def asarray(values: Any, dtype: Any = None, *, grad: bool | None = None) -> Any:
    """Return a field of anything that holds numbers: a field as it is, and a copy of all else.

    `dt.from_dlpack` shares the memory of an array instead.

    Args:
        values: A field or a part of one, an array of any library, a number, nested lists, or for
            structs an array for each member by name.
        dtype: Element type. By default the type of the field or of the array. Numbers and lists
            become the default float type of `dt.init`, or 32-bit integers.
        grad: Attach a gradient buffer; by default fields keep what they have.

    Raises:
        FieldError: The values are not real numbers, not such elements, or too large for their type.
    """
    if isinstance(values, StructField):
        return values.with_grads() if grad and not values.has_grads else values
    if isinstance(values, ArrayLike):
        if dtype is not None and element_type(dtype) != values.element:
            return from_numpy(values.to_numpy(), dtype, grad=bool(grad))
        found: Any = values
        if grad is False:
            return found.detach()
        return found.with_grads() if grad and not found.has_grads else found
    if isinstance(values, (np.ndarray, np.generic, Mapping)):
        return cast("Any", from_numpy(cast("Any", values), dtype, grad=bool(grad)))
    if hasattr(values, "__dlpack__"):
        return from_dlpack(values, dtype, copy=True, grad=bool(grad))
    carried = numbers_in(values)
    array = as_array(plain_numbers(values) if carried else values)
    if dtype is not None:
        dtype = dtype_of(element_type(dtype))  # with the default float type, where it has no other
    elif array.dtype.kind == "f":
        dtype = dtype_of(current_session().float_type)
    elif array.dtype.kind == "i":
        dtype = dtype_of(I32)
    return from_numpy(values if carried else array, dtype, grad=bool(grad))
