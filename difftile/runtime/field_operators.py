"""The operators of fields, as funcs that map over them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from difftile.compile.arguments import CallArgs
from difftile.compile.func import KernelValue
from difftile.fields.arithmetic import Operators
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import from_numpy
from difftile.fields.elements import overlap
from difftile.fields.exchange import as_array
from difftile.ir.types import scalar_from_numpy, shape_of, shaped
from difftile.runtime.funcs import func


@func
def add(a: KernelValue, b: KernelValue) -> KernelValue:
    """Return a + b."""
    return a + b


@func
def subtract(a: KernelValue, b: KernelValue) -> KernelValue:
    """Return a - b."""
    return a - b


@func
def multiply(a: KernelValue, b: KernelValue) -> KernelValue:
    """Return a * b."""
    return a * b


@func
def divide(a: KernelValue, b: KernelValue) -> KernelValue:
    """Return a / b."""
    return a / b


@func
def remainder(a: KernelValue, b: KernelValue) -> KernelValue:
    """Return a modulo b, with the sign of b."""
    return a % b


@func
def power(a: KernelValue, b: KernelValue) -> KernelValue:
    """Return a to the power b."""
    return a**b


@func
def negative(a: KernelValue) -> KernelValue:
    """Return -a."""
    return -a


@func
def absolute(a: KernelValue) -> KernelValue:
    """Return the absolute value of a."""
    return abs(a)


@func
def positive(a: KernelValue) -> KernelValue:
    """Return a itself."""
    return +a


@func
def with_component(a: KernelValue, k: KernelValue, value: KernelValue) -> KernelValue:
    """Return a vector with another component."""
    a[k] = value
    return a


@func
def with_entry(a: KernelValue, k: KernelValue, j: KernelValue, value: KernelValue) -> KernelValue:
    """Return a matrix with another entry."""
    a[k, j] = value
    return a


_ARRAYS = (np.ndarray, list, tuple)
_FUNCS = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "remainder": remainder,
    "power": power,
    "absolute": absolute,
    "negative": negative,
    "positive": positive,
}


def apply(name: str, operands: CallArgs, into: object) -> KernelValue:
    """Return the result of an operator of fields.

    As in NumPy, a result in place is computed from the old operands where they overlap it.

    Args:
        name: The operator.
        operands: Fields, numbers, and arrays of NumPy, which become fields.
        into: The field that takes the result; None for a new one.

    Raises:
        LaunchError: The shapes or types do not go together.
        FieldError: An array does not hold numbers.
    """
    given: list[Any] = [
        _field_beside(into, cast("Any", one)) if isinstance(one, _ARRAYS) else one
        for one in operands
    ]
    if isinstance(into, ArrayLike):
        given = [
            _copied(one) if isinstance(one, ArrayLike) and overlap(one, into) else one
            for one in given
        ]
    return _FUNCS[name](*given, _result=into)


def _copied(part: ArrayLike) -> KernelValue:
    """Return a copy, by a launch: gradients flow, and nothing leaves the device."""
    return positive(part)


def _field_beside(target: object, values: Any) -> ArrayLike:
    """Return a field of an array, an operand to the elements of another field."""
    array, inner = as_array(values), shape_of(cast("ArrayLike", target).element)
    scalar = scalar_from_numpy(array.dtype)
    by_element = bool(inner) and array.shape[array.ndim - len(inner) :] == inner
    return from_numpy(array, shaped(inner, scalar) if by_element and scalar else None)


def put(part: ArrayLike, index: tuple[int, ...], value: KernelValue) -> None:
    """Set a component of all elements of a part to a number."""
    change = with_component if len(index) == 1 else with_entry
    change(part, *index, value, _result=part)


Operators.apply = apply
Operators.put = put
