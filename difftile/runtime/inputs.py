"""The arguments of a func that Python calls: arrays and tensors become fields."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any, cast

import numpy as np

from difftile.compile.definition import annotated
from difftile.diagnostics import FieldError, LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import from_numpy
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.structs import StructField
from difftile.ir.types import scalar_from_numpy, shape_of, shaped
from difftile.substrate import dtype_of, value_type


def as_input(
    title: str, parameter: inspect.Parameter, function: FunctionType, value: object
) -> object:
    """Return an argument of a func with arrays and tensors in a field of their own.

    A parameter that is annotated with a type of vectors or matrices takes the last axes of an
    array for their components.

    Args:
        title: The func in the words of an error.
        parameter: The parameter.
        function: The Python function of the func.
        value: The argument.

    Raises:
        LaunchError: The array is not one that a field can hold, or a gradient would be lost.
    """
    if isinstance(value, (ArrayLike, StructField)):
        return value
    wanted = value_type(annotated(parameter, function))
    inner = 0 if wanted is None else len(shape_of(wanted))
    if not inner and is_list(value):
        raise LaunchError(
            f"{title}: '{parameter.name}' is a list; make it an array: np.array({parameter.name}), "
            f"or a vector: ti.Vector({parameter.name})."
        )
    given: Any = value
    if is_tensor(given):
        if given.requires_grad:
            raise LaunchError(
                f"{title}: '{parameter.name}' is a tensor that requires a gradient, which would "
                "be lost. Pass t.detach(), or a field with grad=True."
            )
        given = given.detach().cpu().numpy()
    if isinstance(given, np.ndarray):
        return _constants(title, parameter.name, cast(HostArray, given), inner)
    return given


def is_list(value: object) -> bool:
    """Tell whether a value is a list."""
    return type(value) is list


def is_tensor(value: object) -> bool:
    """Tell whether a value is a tensor of torch, which need not be installed."""
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach")


def _constants(title: str, name: str, array: HostArray, inner: int) -> Field:
    """Return a field with a copy of an array, whose last axes are those of an element."""
    scalar = scalar_from_numpy(array.dtype)
    dtype = None
    if scalar is not None and inner:
        dtype = dtype_of(shaped(array.shape[-inner:], scalar))
    try:
        return from_numpy(array, dtype)
    except FieldError as error:
        raise LaunchError(f"{title}: '{name}' makes no field. {error}") from None
