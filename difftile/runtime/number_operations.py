"""`dt.value`, and the operations on numbers that carry derivatives, as kernels.

The kernels compute in double precision, as Python does, or in the precision of NumPy's numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, cast

import numpy as np
import numpy.typing as npt

import difftile.lang as ti
from difftile.compile.func import KernelValue
from difftile.diagnostics import FieldError, brief
from difftile.fields.arithmetic import Operators
from difftile.fields.create import element_type
from difftile.fields.field import Field
from difftile.fields.number_field import number_field, value_field
from difftile.fields.recording import RECORDING
from difftile.fields.tracked import TrackedArray, TrackedFloat
from difftile.ir.types import F64, Matrix, Scalar, Vector, is_float, shape_of
from difftile.runtime.funcs import func
from difftile.runtime.kernel import Kernel
from difftile.runtime.number_flow import Operations, Places, field_of, place_of, put, warn_if_cut
from difftile.substrate import current_session


def _unary(op: KernelValue, a: KernelValue, out: KernelValue) -> None:
    out[None] = op(a)


def _binary(op: KernelValue, a: KernelValue, b: KernelValue, out: KernelValue) -> None:
    out[None] = op(a, b)


def _component(op: KernelValue, a: KernelValue, i: KernelValue, out: KernelValue) -> None:
    out[None] = op(a[i])


def _entry(
    op: KernelValue, a: KernelValue, i: KernelValue, j: KernelValue, out: KernelValue
) -> None:
    out[None] = op(a[i, j])


@func
def _negative(a: KernelValue) -> KernelValue:
    return -a


@func
def _add(a: KernelValue, b: KernelValue) -> KernelValue:
    return a + b


@func
def _subtract(a: KernelValue, b: KernelValue) -> KernelValue:
    return a - b


@func
def _multiply(a: KernelValue, b: KernelValue) -> KernelValue:
    return a * b


@func
def _divide(a: KernelValue, b: KernelValue) -> KernelValue:
    return a / b


@func
def _remainder(a: KernelValue, b: KernelValue) -> KernelValue:
    return a % b


@func
def _power(a: KernelValue, b: KernelValue) -> KernelValue:
    return a**b


@func
def _square(a: KernelValue) -> KernelValue:
    return a * a


@func
def _positive(a: KernelValue) -> KernelValue:
    return +a


_UNARY: dict[str, Callable[..., Any]] = {
    **{"negative": _negative, "positive": _positive, "square": _square, "absolute": abs},
    **{"sqrt": ti.sqrt, "exp": ti.exp, "log": ti.log, "tanh": ti.tanh},
    **{"sin": ti.sin, "cos": ti.cos, "tan": ti.tan},
}
_BINARY: dict[str, Callable[..., Any]] = {
    **{"add": _add, "subtract": _subtract, "multiply": _multiply, "divide": _divide},
    **{"remainder": _remainder, "power": _power, "maximum": ti.max, "minimum": ti.min},
}
_MEANINGS = _UNARY | _BINARY | {"component": _positive, "entry": _positive}
_KERNELS: dict[str, Kernel] = {
    **{name: Kernel(_unary) for name in _UNARY},
    **{name: Kernel(_binary) for name in _BINARY},
    **{"component": Kernel(_component), "entry": Kernel(_entry)},
}
_PLACES: Places = {}


def apply(op: str, operands: Sequence[Field | float], dtype: np.dtype[Any]) -> Field | None:
    """Return a field that holds the result of an operation on numbers.

    Args:
        op: The operation, by NumPy's name.
        operands: Numbers, and fields that hold some which the open recorder follows.
        dtype: The type of the result.

    Returns:
        The field; None where there is no such operation.
    """
    if op not in _MEANINGS:
        return None
    cell = number_field(element_type(dtype))
    _compute(cell, op, operands)
    return cell


def _compute(target: Field, op: str, operands: Sequence[Field | float]) -> None:
    # The kernel is given the same fields in each launch, which is then prepared once.
    given = [
        put(_PLACES, f"{op} {k}", one) if isinstance(one, Field) else one
        for k, one in enumerate(operands)
    ]
    out = place_of(_PLACES, op, target.element, Field)
    _KERNELS[op](_MEANINGS[op], *given, out)
    target.copy_from(out)


def store(target: Field, where: tuple[int, ...] | None, number: TrackedFloat) -> bool:
    """Write a number into an element of a field, or with None into all, with its derivative.

    Returns:
        Whether that was done: a recorder follows the number, and derivatives pass to the field.
    """
    recording = RECORDING.get()
    if recording.constant or recording.recorder is None or shape_of(target.element):
        return False
    held = field_of(number) if recording.recorder.carries_into(target) else None
    if held is None or (where and not current_session().on_host):
        return False
    ones = (1,) * len(where or ())
    cell = number_field(target.element, ones)
    _compute(cell.under(()), "positive", (held,))
    if where is None:
        target.copy_from(cell.broadcast_to(target.shape))
    elif where:
        target[tuple(slice(k, k + 1) for k in where)].copy_from(cell)
    else:
        target.copy_from(cell)
    return True


Operations.apply = apply
Operators.store = store


def value(number: object, dtype: Any = None) -> Field:
    """Return a field of shape () that holds a number, with the gradient that the number carries.

    A vector or matrix that a kernel has returned is the one element of the field.

    On a tape, the results of kernels, elements that Python reads from fields, and numbers computed
    from these carry gradients: `h = dt.value(0.5 * cfl(x))` is a field that a kernel reads as
    `h[None]`. Other numbers are constants.

    Args:
        number: The number. A field of one element is returned as it is.
        dtype: The type of the field, `ti.f64` by default, as of Python's floats.

    Raises:
        FieldError: The value is not a number.
    """
    if isinstance(number, Field) and not number.shape:
        return number
    if isinstance(number, np.ndarray) and dtype is None:
        return _vector_value(cast("npt.NDArray[Any]", number))
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, (Real, np.number)):
        raise FieldError(
            f"dt.value() takes a number, such as the result of a kernel, not {brief(number)}."
        )
    plain = cast(float, number)
    made = value_field(F64 if dtype is None else _float_type(dtype))
    if isinstance(plain, TrackedFloat) and not RECORDING.get().constant:
        held = field_of(plain)
        if held is not None:
            _compute(made, "positive", (held,))
            return made
        warn_if_cut(plain)
    made.buffer.fill(float(plain))
    return made


def _vector_value(array: npt.NDArray[Any]) -> Field:
    if array.ndim not in (1, 2) or array.dtype.kind != "f":
        raise FieldError(
            f"dt.value() takes a number, or a vector or matrix of floats, not {brief(array)}."
        )
    scalar = element_type(array.dtype)
    assert isinstance(scalar, Scalar)
    rows = array.shape[0]
    made = value_field(
        Vector(rows, scalar) if array.ndim == 1 else Matrix(rows, array.shape[1], scalar)
    )
    if isinstance(array, TrackedArray) and not RECORDING.get().constant:
        held = field_of(array)
        if held is not None:
            made.copy_from(held)
            return made
        warn_if_cut(array)
    made.buffer.write(np.array(array))
    return made


def _float_type(dtype: Any) -> Scalar:
    element = element_type(dtype)
    if not isinstance(element, Scalar) or not is_float(element):
        raise FieldError(f"dt.value() makes fields of ti.f32, ti.f64 or ti.f16, not of {element}.")
    return element
