"""Arithmetic of fields with fields and numbers: `loss /= n`, `0.5 * x + y`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from difftile.fields.tracked import replaced

BinaryMethod: TypeAlias = Callable[[object, object], Any]


class Operators:
    """The implementation of the operators, which `runtime` puts here.

    Attributes:
        apply: Returns the result of an operator for its name, its operands, and a field for the
            result or None.
    """

    apply: Callable[[str, tuple[Any, ...], Any], Any] | None = None


def _binary(name: str) -> tuple[BinaryMethod, BinaryMethod, BinaryMethod]:
    """Return the methods of an operator: with the field on the left, on the right, and in place."""

    def on_left(self: object, other: object) -> Any:
        return operated(name, self, other)

    def on_right(self: object, other: object) -> Any:
        return operated(name, other, self)

    def in_place(self: object, other: object) -> Any:
        return operated(name, self, other, into=self)

    return on_left, on_right, in_place


class Arithmetic:
    """The operators of fields; each is one launch, which an open tape records.

    The result is a new field, or with `+=` and its like the field itself. With an array NumPy
    computes, and the result is an array.
    """

    __slots__ = ()

    __add__, __radd__, __iadd__ = _binary("add")
    __sub__, __rsub__, __isub__ = _binary("subtract")
    __mul__, __rmul__, __imul__ = _binary("multiply")
    __truediv__, __rtruediv__, __itruediv__ = _binary("divide")
    __pow__, __rpow__, __ipow__ = _binary("power")

    def __neg__(self) -> Any:
        return operated("negative", self)

    def __pos__(self) -> Any:
        return operated("positive", self)

    # A number of NumPy is a number; with an array of NumPy a field is an array.

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs and ufunc.__name__ in _OPERATORS:
            found = operated(ufunc.__name__, *inputs)
            if found is not NotImplemented:
                return found
        if ufunc.__name__ in _EQUALITY and all(
            isinstance(one, Arithmetic) or np.ndim(one) == 0 for one in inputs
        ):
            return _EQUALITY[ufunc.__name__](*map(id, inputs))  # as for Python's numbers
        return getattr(ufunc, method)(*_as_arrays(inputs), **_as_arrays(kwargs))

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        return func(*_as_arrays(args), **_as_arrays(kwargs))


_EQUALITY = {"equal": operator.eq, "not_equal": operator.ne}
_OPERATORS = ("add", "subtract", "multiply", "divide", "power", "negative", "positive")


def operated(name: str, *operands: object, into: object = None) -> Any:
    """Return the result of an operator; `NotImplemented` for operands of other kinds."""
    if Operators.apply is None or not all(isinstance(one, (Arithmetic, Real)) for one in operands):
        return NotImplemented
    return Operators.apply(name, operands, into)


def _as_arrays(value: Any) -> Any:
    """Return the arguments of NumPy with arrays in place of fields."""
    return replaced(value, lambda one: one.to_numpy(), Arithmetic)
