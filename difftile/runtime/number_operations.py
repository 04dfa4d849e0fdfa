"""`dt.value`, and the operations on numbers that carry derivatives, as kernels.

The kernels compute in double precision, as Python does, or in the precision of NumPy's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, cast

import numpy as np
import numpy.typing as npt

import difftile.lang as ti
from difftile.compile.func import KernelValue
from difftile.diagnostics import FieldError, brief
from difftile.fields.arithmetic import Operators
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import element_type
from difftile.fields.field import Field
from difftile.fields.number_field import number_field, value_field
from difftile.fields.numbers import Number, numbers_in, plain_numbers
from difftile.fields.recording import RECORDING
from difftile.ir.types import F64, Matrix, Scalar, Vector, is_float, numpy_dtype, shape_of
from difftile.runtime.funcs import func
from difftile.runtime.kernel import Kernel
from difftile.runtime.number_flow import NumberOperations, Places, field_of, place_of, put


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


@Kernel
def _put(a: float, i: int, out: KernelValue) -> None:
    out[i] = a


@Kernel
def _put_component(a: float, i: int, j: int, out: KernelValue) -> None:
    out[i][j] = a


@Kernel
def _put_entry(a: float, i: int, j: int, k: int, out: KernelValue) -> None:
    out[i][j, k] = a


_PUT: tuple[Kernel, ...] = (_put, _put_component, _put_entry)


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


@func
def _reciprocal(a: KernelValue) -> KernelValue:
    return 1.0 / a


@func
def _cbrt(a: KernelValue) -> KernelValue:
    return np.copysign(abs(a) ** (1.0 / 3.0), a)


@func
def _exp2(a: KernelValue) -> KernelValue:
    return 2.0**a


@func
def _hypot(a: KernelValue, b: KernelValue) -> KernelValue:
    return np.hypot(a, b)


_UNARY: dict[str, Callable[..., Any]] = {
    **{"negative": _negative, "positive": _positive, "square": _square, "absolute": abs},
    **{"reciprocal": _reciprocal, "sqrt": ti.sqrt, "cbrt": _cbrt},
    **{"exp": ti.exp, "exp2": _exp2, "expm1": np.expm1},
    **{"log": ti.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p},
    **{"sin": ti.sin, "cos": ti.cos, "tan": ti.tan, "tanh": ti.tanh},
    **{"sinh": np.sinh, "cosh": np.cosh},
    **{"arcsin": ti.asin, "arccos": ti.acos, "arctan": np.arctan},
    **{name: getattr(np, name) for name in ("deg2rad", "rad2deg", "degrees", "radians")},
}
_BINARY: dict[str, Callable[..., Any]] = {
    **{"add": _add, "subtract": _subtract, "multiply": _multiply, "divide": _divide},
    **{"remainder": _remainder, "power": _power, "maximum": ti.max, "minimum": ti.min},
    **{"hypot": _hypot, "arctan2": ti.atan2, "fmod": np.fmod, "copysign": np.copysign},
}
OPERATIONS = frozenset(_UNARY | _BINARY)
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


def store(target: ArrayLike, values: Any, *, fresh: bool = False) -> bool:
    """Write numbers, some of which carry derivatives, into a field or a part of one.

    Args:
        target: The field or part.
        values: What broadcasts to it: a number or an element for all, or an array or list of them.
        fresh: The field was made for them.

    Returns:
        Whether that was done: a recorder follows the numbers, and derivatives pass to the field.
    """
    recording = RECORDING.get()
    if recording.constant or recording.recorder is None or not numbers_in(values):
        return False
    if not fresh and not recording.recorder.carries_into(target.base):
        return False
    array, inner = np.asarray(values, object), shape_of(target.element)
    shape = array.shape[: array.ndim - len(inner)] if array.ndim else ()
    if array.shape[len(shape) :] != inner and array.ndim:
        return False  # an error
    held = {k: field_of(one) for k, one in enumerate(array.flat) if isinstance(one, Number)}
    if None in held.values():
        return False
    block = number_field(target.element, (math.prod(shape),), Field)
    if array.ndim or inner:
        plain = np.broadcast_to(plain_numbers(array), array.shape if array.ndim else inner)
        block.from_numpy(np.asarray(plain, float).reshape(-1, *inner))
        for k, one in held.items():
            every = [(k // math.prod(inner), *np.unravel_index(k % math.prod(inner), inner))]
            for where in every if array.ndim else [(0, *one) for one in np.ndindex(inner)]:
                number = put(_PLACES, "put", cast(Field, one))
                _PUT[len(inner)](number, *map(int, where), block)
    else:
        _compute(block.under(()), "positive", (cast(Field, held[0]),))
    whole = block.under(shape)
    target.copy_from(whole if shape == target.shape else whole.broadcast_to(target.shape))
    return True


NumberOperations.apply = apply
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
    made = value_field(F64 if dtype is None else _float_type(dtype))
    if not store(made, number, fresh=True):
        made.buffer.fill(float(cast(float, number)))
    return made


def _vector_value(array: npt.NDArray[Any]) -> Field:
    carried = bool(numbers_in(array))
    if array.ndim not in (1, 2) or (array.dtype.kind != "f" and not carried):
        raise FieldError(
            f"dt.value() takes a number, or a vector or matrix of floats, not {brief(array)}."
        )
    scalar = F64 if carried else element_type(array.dtype)
    assert isinstance(scalar, Scalar)
    rows = array.shape[0]
    made = value_field(
        Vector(rows, scalar) if array.ndim == 1 else Matrix(rows, array.shape[1], scalar)
    )
    if not store(made, array, fresh=True):
        made.buffer.write(np.asarray(array, numpy_dtype(scalar)))
    return made


def _float_type(dtype: Any) -> Scalar:
    element = element_type(dtype)
    if not isinstance(element, Scalar) or not is_float(element):
        raise FieldError(f"dt.value() makes fields of ti.f32, ti.f64 or ti.f16, not of {element}.")
    return element
