"""Arithmetic of fields with fields and numbers: `loss /= n`, `0.5 * x + y`."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError, abbreviated
from difftile.fields.exchange import TOO_LARGE
from difftile.fields.numbers import Number, replaced
from difftile.fields.step_number import StepNumber
from difftile.lang.meanings import vector_values
from difftile.tracebacks import boundary

_I32_LIMIT = 2**31
BinaryMethod: TypeAlias = Callable[[object, object], Any]


class Operators:
    """The implementation of the operators, which `runtime` puts here.

    Attributes:
        apply: Returns the result of an operator for its name, its operands, and a field for the
            result or None.
        put: Writes a number into a component, given by its index, of all elements of a part.
        store: Writes numbers, some of which carry derivatives, into a field or a part of one;
            returns False where derivatives do not pass.
    """

    apply: Callable[[str, tuple[Any, ...], Any], Any] | None = None
    put: Callable[[Any, tuple[int, ...], Any], None] | None = None
    store: Callable[[Any, Any], bool] | None = None


def carried_into(target: Any, values: Any) -> bool:
    """Write numbers with their derivatives into a field or a part; return whether that was done."""
    return may_carry(values) and Operators.store is not None and Operators.store(target, values)


def may_carry(values: Any) -> bool:
    """Tell whether a value may hold numbers that carry derivatives."""
    return isinstance(values, (Number, list, tuple)) or (
        isinstance(values, np.ndarray) and cast("npt.NDArray[Any]", values).dtype == object
    )


def _binary(name: str) -> tuple[BinaryMethod, BinaryMethod, BinaryMethod]:
    """Return the methods of an operator: with the field on the left, on the right, and in place."""

    @boundary
    def on_left(self: object, other: object) -> Any:
        return operated(name, self, other)

    @boundary
    def on_right(self: object, other: object) -> Any:
        return operated(name, other, self)

    @boundary
    def in_place(self: object, other: object) -> Any:
        # Without a result of its own, `x += array` would give the name to an array.
        return operated(name, self, other, into=self, arrays=(np.ndarray, list, tuple))

    return on_left, on_right, in_place


def _refused(word: str) -> tuple[BinaryMethod, BinaryMethod]:
    """Return the methods of an operator that fields lack: with the field on the left and right."""

    def refuse(self: object, other: object) -> Any:
        if isinstance(other, _OPERANDS):
            raise _no_operator(word, self)
        return NotImplemented  # arrays are left to NumPy

    return refuse, refuse


def _order(word: str) -> Callable[[object, object], Any]:
    """Return the method of a comparison by size, which leaves arrays to NumPy."""

    @boundary
    def compare(self: object, other: object) -> Any:
        listed = isinstance(other, (FieldComparisons, list, tuple))
        if listed or np.ndim(other) == 0:  # pyrefly: ignore[bad-argument-type]
            raise _not_compared(word, self, other)
        return NotImplemented

    return compare


def _equality(word: str) -> Callable[[FieldComparisons, object], bool]:
    """Return the method of '==' or '!='."""

    @boundary
    def compare(self: FieldComparisons, other: object) -> bool:
        # Never NotImplemented: arrays and vectors would compare element by element then.
        if _holds_numbers(other):
            raise _not_compared(word, self, other)
        return self.equals(other) == (word == "==")

    return compare


def _holds_numbers(value: object) -> bool:
    """Tell whether a value is a number, an array of any library, or a list of such."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_holds_numbers, cast("Sequence[object]", value)))
    if isinstance(value, (FieldComparisons, str)):
        return False
    kind = type(value)
    is_array = hasattr(kind, "__array__") or hasattr(kind, "__dlpack__")
    is_number = isinstance(value, (numbers.Number, StepNumber))
    return is_number or is_array or vector_values(value) is not None


class FieldComparisons:
    """The comparisons of fields, which are equal to themselves only.

    Numbers, and arrays of them, are what a reader of `x == 0.0` would expect to be compared: these
    are refused. Anything else, such as None or a text, is no field and unequal.
    """

    __slots__ = ()

    def equals(self, other: object) -> bool:
        """Tell whether another object stands for the same elements."""
        return self is other

    __eq__, __ne__ = _equality("=="), _equality("!=")
    __lt__, __le__, __gt__, __ge__ = (_order(word) for word in ("<", "<=", ">", ">="))
    __hash__ = object.__hash__


class FieldArithmetic:
    """The operators of fields; each is one launch, which an open tape records.

    The result is a new field, or with `+=` and its like the field itself. With an array NumPy
    computes, and the result is an array.
    """

    __slots__ = ()

    __add__, __radd__, __iadd__ = _binary("add")
    __sub__, __rsub__, __isub__ = _binary("subtract")
    __mul__, __rmul__, __imul__ = _binary("multiply")
    __truediv__, __rtruediv__, __itruediv__ = _binary("divide")
    __mod__, __rmod__, __imod__ = _binary("remainder")
    __pow__, __rpow__, __ipow__ = _binary("power")

    __matmul__, __rmatmul__ = _refused("@")
    __floordiv__, __rfloordiv__ = _refused("//")
    __and__, __rand__ = _refused("&")
    __or__, __ror__ = _refused("|")
    __xor__, __rxor__ = _refused("^")
    __lshift__, __rlshift__ = _refused("<<")
    __rshift__, __rrshift__ = _refused(">>")

    def __invert__(self) -> Any:
        raise _no_operator("~", self)

    def __neg__(self) -> Any:
        return operated("negative", self)

    def __pos__(self) -> Any:
        return operated("positive", self)

    def __abs__(self) -> Any:
        return operated("absolute", self)

    # A number of NumPy is a number; with an array of NumPy a field is an array.

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs and ufunc.__name__ in _OPERATORS:
            found = operated(ufunc.__name__, *inputs)
            if found is not NotImplemented:
                return found
        word = "" if kwargs else _COMPARISONS.get(ufunc.__name__, "")
        numbers = all(isinstance(one, FieldArithmetic) or np.ndim(one) == 0 for one in inputs)
        if word in _EQUALITY and all(isinstance(one, FieldArithmetic) for one in inputs):
            return _EQUALITY[word](*inputs)
        if word in _EQUALITY or (word and numbers):
            raise _not_compared(word, *inputs)
        return getattr(ufunc, method)(*_as_arrays(inputs), **_as_arrays(kwargs))

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        return func(*_as_arrays(args), **_as_arrays(kwargs))


_EQUALITY = {"==": operator.eq, "!=": operator.ne}
_COMPARISONS = {
    **{"equal": "==", "not_equal": "!="},
    **{"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="},
}
_OPERATORS = (
    *("add", "subtract", "multiply", "divide", "remainder", "power", "negative", "positive"),
)


_OPERANDS = (FieldArithmetic, numbers.Real, StepNumber)


def operated(
    name: str, *operands: object, into: object = None, arrays: tuple[type, ...] = ()
) -> Any:
    """Return the result of an operator; `NotImplemented` for operands of other kinds.

    Args:
        name: The operator, by NumPy's name.
        operands: What it is applied to.
        into: The field that takes the result; None for a new one.
        arrays: Further classes of operands, which become fields.
    """
    allowed = (*_OPERANDS, *arrays)
    if Operators.apply is None or not all(isinstance(one, allowed) for one in operands):
        return NotImplemented
    return Operators.apply(name, tuple(_in_range(one) for one in operands), into)


def _in_range(operand: object) -> object:
    """Return an operand with integers that kernels do not take as floats."""
    if not isinstance(operand, int) or -_I32_LIMIT <= operand < _I32_LIMIT:
        return operand
    try:
        return float(operand)
    except OverflowError:
        raise FieldError(f"{abbreviated(operand)} is out of range: {TOO_LARGE}.") from None


def _no_operator(word: str, field: object) -> FieldError:
    """Return the error of an operator that fields lack."""
    return FieldError(
        f"{field!r} has no operator '{word}': fields have + - * / % ** and abs, by element. Write "
        "a kernel, which may use all of them on elements, or compute with arrays: x.to_numpy()."
    )


def _not_compared(word: str, *operands: object) -> FieldError:
    """Return the error of a comparison: fields have no order, and the numbers in them do."""
    field = next(one for one in operands if isinstance(one, FieldComparisons))
    message = (
        f"{field!r} is compared by '{word}', and only numbers can be: read them, "
        f"'x[None] {word} ...' for a field of shape (), or 'x.to_numpy() {word} ...'."
    )
    if word in _EQUALITY:
        message += " To ask whether two names stand for one field, write 'x is y'."
    return FieldError(message)


def _as_arrays(value: Any) -> Any:
    """Return the arguments of NumPy with arrays in place of fields."""
    return replaced(value, lambda one: one.to_numpy(), FieldArithmetic)
