"""Logarithms as polynomials.

x = 2^k (1 + g) with 1 + g between sqrt(1/2) and sqrt(2), and log(1 + g) = 2 artanh(s) with
s = g / (2 + g) (Abramowitz and Stegun 4.1.29), which is written as g - s (g - r): g is exact, and
the rest small beside it.
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyrefly: ignore-errors[implicit-any, invalid-annotation, unannotated-return]
# pyrefly: ignore-errors[unknown-argument-type, unknown-attribute-access]
# pyrefly: ignore-errors[unknown-return-type, unknown-variable-type]
# pyrefly: ignore-errors[untyped-function-decorator]

import math

from difftile.substrate.compiler import ti
from difftile.substrate.family import vector_tables as tables
from difftile.substrate.family.vector_bits import (
    as_normal,
    barrier,
    format_of,
    magnitude,
    of,
    polynomial,
    power_of_two,
)


@ti.func
def exponent_and_rest(x, f):
    """The integer k and g with x = 2^k (1 + g), for positive x, subnormal ones included."""
    own = ti.bit_cast(x, f.whole)
    is_tiny = own < f.whole(ti.static(1 << f.digits))
    k = ti.select(is_tiny, ti.i32(1 - f.bias), 0)
    enlarged = ti.bit_cast(as_normal(own, f), f.whole)
    root = ti.static(f.bits(math.sqrt(0.5)))
    above = ti.select(is_tiny, enlarged, own) - f.whole(root)
    k += ti.cast(above >> f.whole(f.digits), ti.i32)
    m = (above & f.whole(ti.static((1 << f.digits) - 1))) + f.whole(root)
    return k, ti.bit_cast(m, f.real) - 1


@ti.func
def _less(g, f):
    """What log(1 + g) is less than g."""
    s = g / (2 + g)
    z = s * s
    return s * (g - z * polynomial(z, ti.static(of(f.real, tables.LOG_SINGLE, tables.LOG)), f))


@ti.func
def _checked(x, y, f):
    """y, the logarithm of x, or its value at 0, infinity, NaN and numbers below 0."""
    own = ti.bit_cast(x, f.whole)
    is_zero = magnitude(x, f) == 0
    minus_infinity = ti.static(f.infinity + f.sign)
    other = ti.select(is_zero, f.whole(minus_infinity), f.whole(f.nan))
    y_bits = ti.select(own >= f.whole(f.infinity), own, ti.bit_cast(y, f.whole))
    return ti.bit_cast(ti.select((own < 0) | is_zero, other, y_bits), f.real)


@ti.func
def log(x, dtype: ti.template()):
    """The natural logarithm."""
    f = ti.static(format_of(dtype))
    high, low = ti.static(of(dtype, tables.LOG_2_SINGLE, tables.LOG_2))
    k, g = exponent_and_rest(x, f)
    n = ti.cast(k, f.real)
    y = n * f.real(high) + barrier(g - _less(g, f) + n * f.real(low), f)
    return _checked(x, y, f)


@ti.func
def _in_base(x, log_2: ti.template(), log_e: ti.template(), f):
    """The logarithm in a base, from the logarithms of 2 and e in two parts each."""
    k, g = exponent_and_rest(x, f)
    n = ti.cast(k, f.real)
    mask = ti.static(-(1 << (27 if f.is_double else 12)))
    top = ti.bit_cast(ti.bit_cast(g, f.whole) & f.whole(mask), f.real)
    high, low = ti.static(log_e)
    small = (barrier(g - top, f) - _less(g, f)) * f.real(ti.static(high + low))
    small = barrier(small + top * f.real(low) + n * f.real(log_2[1]), f)
    return _checked(x, n * f.real(log_2[0]) + (top * f.real(high) + small), f)


@ti.func
def log2(x, dtype: ti.template()):
    """The logarithm in base 2; exact for powers of 2."""
    f = ti.static(format_of(dtype))
    return _in_base(x, (1.0, 0.0), ti.static(of(dtype, tables.LOG2_E_SINGLE, tables.LOG2_E)), f)


@ti.func
def log10(x, dtype: ti.template()):
    """The logarithm in base 10."""
    f = ti.static(format_of(dtype))
    log_2 = ti.static(of(dtype, tables.LOG10_2_SINGLE, tables.LOG10_2))
    return _in_base(x, log_2, ti.static(of(dtype, tables.LOG10_E_SINGLE, tables.LOG10_E)), f)


@ti.func
def log1p(x, dtype: ti.template()):
    """log(1 + x): the logarithm of the rounded sum, plus the rounding error divided by it."""
    f = ti.static(format_of(dtype))
    high, low = ti.static(of(dtype, tables.LOG_2_SINGLE, tables.LOG_2))
    x = barrier(x, f)
    total = barrier(1 + x, f)
    k, g = exponent_and_rest(total, f)
    is_large = x > f.real(1.0)
    larger = ti.select(is_large, x, f.real(1.0))
    smaller = ti.select(is_large, f.real(1.0), x)
    lost = smaller - barrier(total - larger, f)
    # Where 1 + x has no exponent, g is x.
    g = ti.select(k == 0, x, g)
    lost = ti.select(k == 0, f.real(0.0), lost) * power_of_two(-ti.min(k, ti.i32(f.bias - 1)), f)
    n = ti.cast(k, f.real)
    more = lost * (1 - g * (1 - g)) + n * f.real(low)
    y = n * f.real(high) + barrier(g - _less(g, f) + more, f)
    own = ti.bit_cast(x, f.whole)
    size = magnitude(x, f)
    itself = (size < f.whole(ti.static(f.bits(2.0 ** (-2 - f.digits))))) | (
        own >= f.whole(f.infinity)
    )
    y_bits = ti.select(itself, own, ti.bit_cast(y, f.whole))
    one = ti.static(f.bits(1.0))
    minus_infinity = ti.static(f.infinity + f.sign)
    other = ti.select(size == f.whole(one), f.whole(minus_infinity), f.whole(f.nan))
    below = (own < 0) & (size >= f.whole(one))
    return ti.bit_cast(ti.select(below, other, y_bits), f.real)


@ti.func
def logit(x, dtype: ti.template()):
    """log(x / (1 - x)); infinite at 0 and 1, NaN beyond.

    With the smaller of x and 1 - x as 2^k m, the larger one as d, and m / d between sqrt(1/2) and
    sqrt(2), it is k log(2) + 2 artanh((m - d) / (m + d)), or minus that.
    """
    f = ti.static(format_of(dtype))
    high, low = ti.static(of(dtype, tables.LOG_2_SINGLE, tables.LOG_2))
    x = barrier(x, f)
    is_small = x <= f.real(0.5)
    rest = barrier(1 - x, f)
    lost = ti.select(is_small, barrier(1 - rest, f) - x, f.real(0.0))
    d = ti.select(is_small, rest, x)
    k, g = exponent_and_rest(ti.select(is_small, x, rest), f)
    m = 1 + g
    is_large = m > f.real(math.sqrt(2)) * d
    m = ti.select(is_large, f.real(0.5) * m, m)
    n = ti.cast(ti.select(is_large, k + 1, k), f.real)
    total = barrier(m + d, f)
    s = (barrier(m - d, f) - lost) / total
    # What the rounded sum is less by, divided by about that sum, is what s is less by.
    lost = (lost + barrier(m - barrier(total - d, f), f)) * f.real(0.65)
    z = s * s
    r = z * polynomial(z, ti.static(of(dtype, tables.LOG_SINGLE, tables.LOG)), f)
    y = n * f.real(high) + barrier(n * f.real(low) + 2 * s + barrier(s * (r - 2 * lost), f), f)
    own, one = ti.bit_cast(x, f.whole), f.whole(ti.static(f.bits(1.0)))
    sign = ti.select(is_small, f.whole(0), f.whole(f.sign))
    is_zero = magnitude(x, f) == 0
    pole = f.whole(f.infinity) | ti.select(is_zero, f.whole(f.sign), f.whole(0))
    y_bits = ti.select(is_zero | (own == one), pole, ti.bit_cast(y, f.whole) ^ sign)
    is_beyond = (own > one) | ((own < 0) & (not is_zero))
    return ti.bit_cast(ti.select(is_beyond, f.whole(f.nan), y_bits), f.real)
