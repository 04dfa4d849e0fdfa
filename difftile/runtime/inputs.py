"""The arguments of a func that Python calls: fields take the places of arrays."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any, cast

import numpy as np

from difftile.diagnostics import FieldError, LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.arrays import field_of, host_values, is_array, is_numpy
from difftile.fields.create import from_numpy
from difftile.fields.recording import RECORDING
from difftile.fields.structs import StructField
from difftile.frontend.annotations import annotated
from difftile.ir.types import scalar_from_numpy, shape_of, shaped
from difftile.lang.type_objects import value_type
from difftile.substrate import block_of


def as_input(
    title: str, parameter: inspect.Parameter, function: FunctionType, value: object, *, whole: bool
) -> object:
    """Return an argument of a func with a field in the place of an array.

    A parameter that is annotated with a type of vectors or matrices takes the last axes of an
    array for their components.

    Args:
        title: The func in the words of an error.
        parameter: The parameter.
        function: The Python function of the func.
        value: The argument.
        whole: Whether each call gets the whole field, and may write it. Otherwise arrays that
            fields cannot share are copied: the func only reads their elements.

    Raises:
        LaunchError: The array is not one that a field can hold, or a gradient would be lost.
    """
    if isinstance(value, (ArrayLike, StructField)):
        return value
    wanted = value_type(annotated(function, parameter.name))
    inner = 0 if wanted is None else len(shape_of(wanted))
    if not inner and type(value) is list:
        one = parameter.name
        hint = f"make it an array: np.array({one}), or a vector: ti.Vector({one})"
        if any(isinstance(part, (ArrayLike, StructField)) for part in cast("list[object]", value)):
            hint = "give the func a parameter for each field"
        raise LaunchError(f"{title}: '{one}' is a list; {hint}.")
    if not is_array(value):
        return value
    given: Any = value
    if getattr(given, "requires_grad", False):
        raise LaunchError(
            f"{title}: '{parameter.name}' is a tensor that requires a gradient, which would "
            "be lost. Pass t.detach(), or a field with grad=True."
        )
    element = None
    try:
        if inner:
            block = block_of(given)
            scalar = scalar_from_numpy(block.dtype)
            element = None if scalar is None else shaped(block.shape[-inner:], scalar)
        if whole or RECORDING.get().recorder is None:
            return field_of(given, element)
        # The tape keeps a copy, independent of later changes of the array.
        return from_numpy(given if is_numpy(given) else host_values(given), element)
    except FieldError as error:
        if whole or not is_numpy(given) or isinstance(given, np.ma.MaskedArray):
            raise LaunchError(f"{title}: '{parameter.name}' makes no field. {error}") from None
    try:
        return from_numpy(given, element)
    except FieldError as error:
        raise LaunchError(f"{title}: '{parameter.name}' makes no field. {error}") from None
