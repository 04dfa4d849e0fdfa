"""Arithmetic of fields with fields and numbers: `loss /= n`, `0.5 * x + y`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from difftile.fields.tracked import replaced

if TYPE_CHECKING:
    from difftile.fields.array_like import ArrayLike


class Operators:
    """What runs the operators: `runtime` says so, which nothing here depends on.

    Attributes:
        apply: Given an operator, its operands and a field for the result or None, returns the
            result.
    """

    apply: Callable[[str, tuple[Any, ...], Any], Any] | None = None


class Arithmetic:
    """The operators of fields; each is one launch, which an open tape records.

    The result is a new field, or with `+=` and its like the field itself. With an array NumPy
    computes, and the result is an array.
    """

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return operated("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return operated("add", other, self)

    def __iadd__(self, other: Any) -> Any:
        return operated("add", self, other, into=self)

    def __sub__(self, other: Any) -> Any:
        return operated("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return operated("subtract", other, self)

    def __isub__(self, other: Any) -> Any:
        return operated("subtract", self, other, into=self)

    def __mul__(self, other: Any) -> Any:
        return operated("multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return operated("multiply", other, self)

    def __imul__(self, other: Any) -> Any:
        return operated("multiply", self, other, into=self)

    def __truediv__(self, other: Any) -> Any:
        return operated("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return operated("divide", other, self)

    def __itruediv__(self, other: Any) -> Any:
        return operated("divide", self, other, into=self)

    def __pow__(self, other: Any) -> Any:
        return operated("power", self, other)

    def __rpow__(self, other: Any) -> Any:
        return operated("power", other, self)

    def __ipow__(self, other: Any) -> Any:
        return operated("power", self, other, into=self)

    def __neg__(self) -> Any:
        return operated("negative", self)

    def __pos__(self) -> Any:
        return operated("positive", self)

    # NumPy: its numbers are numbers, and with arrays a field is an array.

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


def operated(name: str, *operands: Any, into: ArrayLike | Arithmetic | None = None) -> Any:
    """Return the result of an operator, or `NotImplemented` for what is no number and no field."""
    if Operators.apply is None or not all(isinstance(one, (Arithmetic, Real)) for one in operands):
        return NotImplemented
    return Operators.apply(name, operands, into)


def _as_arrays(value: Any) -> Any:
    """Return what NumPy is given with arrays in place of fields."""
    return replaced(value, lambda one: one.to_numpy(), Arithmetic)
