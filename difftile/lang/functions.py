"""Functions on numbers, arrays, vectors and matrices: `ti.sin`, `ti.max`, `ti.select`."""

from __future__ import annotations

from typing import Any

from difftile.lang.type_objects import scalar_named
from difftile.lang.values import apply, converted


def abs(x: Any) -> Any:
    """Return the absolute value."""
    return apply("abs", x)


def sin(x: Any) -> Any:
    """Return the sine of an angle [rad]."""
    return apply("sin", x)


def cos(x: Any) -> Any:
    """Return the cosine of an angle [rad]."""
    return apply("cos", x)


def tan(x: Any) -> Any:
    """Return the tangent of an angle [rad]."""
    return apply("tan", x)


def asin(x: Any) -> Any:
    """Return the angle whose sine is x [rad]."""
    return apply("asin", x)


def acos(x: Any) -> Any:
    """Return the angle whose cosine is x [rad]."""
    return apply("acos", x)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent."""
    return apply("tanh", x)


def exp(x: Any) -> Any:
    """Return e to the power of x."""
    return apply("exp", x)


def log(x: Any) -> Any:
    """Return the natural logarithm."""
    return apply("log", x)


def sqrt(x: Any) -> Any:
    """Return the square root."""
    return apply("sqrt", x)


def rsqrt(x: Any) -> Any:
    """Return 1 / sqrt(x)."""
    return apply("rsqrt", x)


def atan2(x1: Any, x2: Any) -> Any:
    """Return the angle of the point (x2, x1) [rad]."""
    return apply("atan2", x1, x2)


def raw_div(x1: Any, x2: Any) -> Any:
    """Return the quotient, cut towards zero for integers."""
    return apply("raw_div", x1, x2)


def raw_mod(x1: Any, x2: Any) -> Any:
    """Return the remainder of `raw_div`, with the sign of x1."""
    return apply("raw_mod", x1, x2)


def bit_shr(x1: Any, x2: Any) -> Any:
    """Return the bits of x1 moved down by x2, with zeros coming in."""
    return apply("shr_logical", x1, x2)


def pow(x1: Any, x2: Any) -> Any:
    """Return x1 to the power of x2."""
    return apply("pow", x1, x2)


def max(*args: Any) -> Any:
    """Return the largest of some values; of a number and NaN the number."""
    return apply("max", *args) if len(args) > 1 else _only(args)


def min(*args: Any) -> Any:
    """Return the smallest of some values; of a number and NaN the number."""
    return apply("min", *args) if len(args) > 1 else _only(args)


def _only(args: tuple[Any, ...]) -> Any:
    (one,) = args
    return one


def select(cond: Any, x1: Any, x2: Any) -> Any:
    """Return x1 where a condition holds, else x2."""
    return apply("select", cond, x1, x2)


def floor(x: Any, dtype: Any = None) -> Any:
    """Return the largest whole number that is not above x, as a float or in another type."""
    return _in(apply("floor", x), dtype)


def ceil(x: Any, dtype: Any = None) -> Any:
    """Return the smallest whole number that is not below x, as a float or in another type."""
    return _in(apply("ceil", x), dtype)


def round(x: Any, dtype: Any = None) -> Any:
    """Return the nearest whole number, ties away from zero, as a float or in another type."""
    return _in(apply("round", x), dtype)


def _in(value: Any, dtype: Any) -> Any:
    return value if dtype is None else converted(value, scalar_named(dtype))
