"""Functions of floats in the precision of their arguments, for kernels.

Taichi computes the functions of its own library in its default precision. Some of those here keep
their digits where the obvious formula loses them:

`log(1 + x)` and `exp(x) - 1` cancel near 0: there both are series, and beyond it the formula. The
well-known corrections that compare 1 + x with x do not live under fast math, which folds
(1 + x) - 1. Both branches are computed, for vectors too, so that the series sees x clamped.
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyrefly: ignore-errors[implicit-any, invalid-annotation, unannotated-return]
# pyrefly: ignore-errors[unknown-argument-type, unknown-attribute-access]
# pyrefly: ignore-errors[unknown-return-type, unknown-variable-type]
# pyrefly: ignore-errors[untyped-function-decorator]

import math

from difftile.substrate.compiler import ti
from difftile.substrate.family import predicates


def _is_double(dtype: object) -> bool:
    return dtype == ti.f64


@ti.func
def atan(x, dtype: ti.template()):
    """The arc tangent of one number."""
    return ti.atan2(x, dtype(1.0))


@ti.func
def log2(x, dtype: ti.template()):
    """The logarithm in base 2."""
    return ti.log(x) * dtype(ti.static(1 / math.log(2)))


@ti.func
def log10(x, dtype: ti.template()):
    """The logarithm in base 10."""
    return ti.log(x) * dtype(ti.static(1 / math.log(10)))


@ti.func
def power(x, y, dtype: ti.template()):
    """X to the power y as in C99, but for infinite y; the compiler's is right for x > 0.

    1 for y = 0; of a negative number NaN, unless y is an integer, and that decides the sign.
    """
    size = ti.abs(x)
    half = y * dtype(0.5)
    whole = ti.floor(y) == y
    odd = whole & (ti.floor(half) != half)
    found = ti.pow(ti.select(size == 0, dtype(1.0), size), y)
    found = ti.select((x < 0) & odd, -found, found)
    found = ti.select((x < 0) & (not whole), dtype(ti.static(math.nan)), found)
    at_zero = ti.select(y < 0, 1 / ti.select(odd, x, size), dtype(0.0))
    found = ti.select(size == 0, at_zero, found)
    found = ti.select(predicates.isnan(x, dtype), x, found)
    return ti.select(y == 0, dtype(1.0), found)


@ti.func
def log1p(x, dtype: ti.template()):
    """log(1 + x).

    Near 0 it is 2 artanh(s) with s = x / (2 + x), as in Abramowitz and Stegun 4.1.29; the series
    2 s (1 + s^2/3 + s^4/5 + ...) is written as x - s (x - 2 s (s^2/3 + ...)), where x is exact.
    """
    near = ti.min(ti.max(x, dtype(-0.5)), dtype(0.5))
    s = near / (2 + near)
    z = s * s
    tail = z * 0
    for k in ti.static(range(17 if _is_double(dtype) else 8, 0, -1)):
        tail = z * (dtype(ti.static(1 / (2 * k + 1))) + tail)
    series = near - s * (near - 2 * tail)
    return ti.select(near == x, series, ti.log(1 + x))


@ti.func
def expm1(x, dtype: ti.template()):
    """exp(x) - 1; near 0 the power series, Abramowitz and Stegun 4.2.1."""
    near = ti.min(ti.max(x, dtype(-0.5)), dtype(0.5))
    tail = near * 0
    for k in ti.static(range(14 if _is_double(dtype) else 8, 1, -1)):
        tail = near * (dtype(ti.static(1 / math.factorial(k))) + tail)
    return ti.select(near == x, near + near * tail, ti.exp(x) - 1)


@ti.func
def log1pexp(x, dtype: ti.template()):
    """log(1 + exp(x)), without an overflow on either side."""
    return ti.max(x, dtype(0.0)) + log1p(ti.exp(-ti.abs(x)), dtype)


@ti.func
def logit(x, dtype: ti.template()):
    """log(x / (1 - x)); from 1/4 on the log of 1 + (2 x - 1) / (1 - x), exact at 1/2."""
    rest = 1 - x
    return ti.select(x < dtype(0.25), ti.log(x / rest), log1p((2 * x - 1) / rest, dtype))


@ti.func
def logsumexp(a, dtype: ti.template()):
    """log(exp(a[0]) + exp(a[1]) + ...): the largest of them, and the log of 1 + the rest."""
    top = a.max()
    rest = dtype(-1.0)  # the first of the largest is not part of the rest
    for i in ti.static(range(a.n)):
        if a[i] == top:
            rest += 1
        else:
            rest += ti.exp(a[i] - top)
    return top + log1p(rest, dtype)


@ti.func
def sign(x, dtype: ti.template()):
    """The sign of x: -1, 0 or 1; 0 of NaN, as in Taichi."""
    return ti.cast(x > 0, dtype) - ti.cast(x < 0, dtype)


@ti.func
def normalized(x, dtype: ti.template()):
    """The direction x / |x|; zero stays zero, where Taichi gives NaN."""
    size = x.norm()
    return x * (1 / ti.select(size == 0, dtype(1.0), size))
