"""Powers as 2^(y log2 |x|), by a logarithm of more digits than its type has.

In single precision everything is computed in double precision. In double precision the logarithm,
the product and the exponent have a high part, of 26 bits, and a low one, so that products of high
parts are exact (Dekker 1971, A floating-point technique for extending the available precision;
the steps have the order of fdlibm's e_pow.c).
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyrefly: ignore-errors[implicit-any, invalid-annotation, unannotated-return]
# pyrefly: ignore-errors[unknown-attribute-access, unknown-variable-type]
# pyrefly: ignore-errors[untyped-function-decorator]

import math

from difftile.substrate.compiler import ti
from difftile.substrate.family import vector_tables as tables
from difftile.substrate.family.vector_bits import (
    DOUBLE,
    SINGLE,
    barrier,
    format_of,
    magnitude,
    polynomial,
    scaled,
)
from difftile.substrate.family.vector_exp import beside
from difftile.substrate.family.vector_log import exponent_and_rest

_HUGE = 2.0**100  # an exponent with the same results as any larger one


@ti.func
def pow(x, y, dtype: ti.template()):
    """X to the power y, as in C99: 1 for y = 0 and for x = 1, whatever the other one is."""
    f = ti.static(format_of(dtype))
    huge = f.real(_HUGE)
    exponent = ti.select(y > huge, huge, ti.select(y < -huge, -huge, y))
    size = ti.bit_cast(magnitude(x, f), f.real)
    power = _power(size, exponent) if ti.static(f.is_double) else _single_power(size, exponent)
    return _checked(x, y, exponent, power, f)


@ti.func
def _checked(x, y, exponent, power, f):
    """The power of |x| with the sign that x gives it, and the results of special numbers."""
    infinity, one = ti.static((f.infinity, f.bits(1.0)))
    own, size = ti.bit_cast(x, f.whole), magnitude(x, f)
    is_zero = size == 0
    is_decaying = ti.bit_cast(y, f.whole) < 0
    extreme = ti.select(is_zero ^ is_decaying, f.whole(0), f.whole(infinity))
    is_extreme = is_zero | (size == f.whole(infinity))
    bits = ti.select(is_extreme, extreme, ti.bit_cast(power, f.whole))
    is_whole = ti.floor(exponent) == exponent
    is_even = ti.floor(exponent * f.real(0.5)) * 2 == exponent
    is_negative = own < 0
    sign = ti.select(is_negative & is_whole & (not is_even), f.whole(f.sign), f.whole(0))
    is_nan = (is_negative & (not is_whole) & (not is_extreme)) | (
        (size > f.whole(infinity)) | (magnitude(y, f) > f.whole(infinity))
    )
    bits = ti.select(is_nan, f.whole(f.nan), bits | sign)
    bits = ti.select(ti.bit_cast(y, f.whole) == f.whole(one), own, bits)
    is_one = (magnitude(y, f) == 0) | (own == f.whole(one))
    return ti.bit_cast(ti.select(is_one, f.whole(one), bits), f.real)


@ti.func
def _single_power(size, y):
    f = ti.static(DOUBLE)
    k, g = exponent_and_rest(size, ti.static(SINGLE))
    wide = ti.cast(g, ti.f64)
    s = wide / (2 + wide)
    log2 = ti.cast(k, ti.f64) + s * polynomial(s * s, ti.static(tables.LOG2_FOR_POW), f)
    t = ti.cast(y, ti.f64) * log2
    t = ti.select(t < ti.f64(-200.0), ti.f64(-200.0), t)
    t = ti.select(t > ti.f64(200.0), ti.f64(200.0), t)
    n = ti.floor(t + ti.f64(0.5))
    p = ti.bit_cast(polynomial(t - n, ti.static(tables.EXP2_FOR_POW), f), ti.i64)
    p += ti.cast(ti.cast(n, ti.i32), ti.i64) << ti.i64(52)
    return ti.cast(ti.bit_cast(p, ti.f64), ti.f32)


@ti.func
def _top(x):
    """The number of the first 26 bits of x."""
    return ti.bit_cast(ti.bit_cast(x, ti.i64) & ti.i64(-(1 << 27)), ti.f64)


@ti.func
def _log2(x):
    """The logarithm in base 2 of a positive number, in two parts.

    log(1 + g) = 2/3 s (3 + s^2 + r) with s = g / (2 + g).
    """
    f = ti.static(DOUBLE)
    k, g = exponent_and_rest(x, f)
    n = ti.cast(k, ti.f64)
    inverse = 1 / (2 + g)
    s = g * inverse
    s_top = _top(s)
    d_top = _top(2 + g)
    d_rest = g - barrier(d_top - 2, f)
    s_rest = inverse * (barrier(g - s_top * d_top, f) - s_top * d_rest)
    square = s_top * s_top
    z = s * s
    r = barrier(z * z * polynomial(z, ti.static(tables.LOG_FOR_POW), f) + s_rest * (s_top + s), f)
    t_top = _top(3 + (square + r))
    t_rest = r - barrier(barrier(t_top - 3, f) - square, f)
    high = s_top * t_top
    low = barrier(s_rest * t_top + t_rest * s, f)
    top = _top(high + low)
    rest = low - barrier(top - high, f)
    c_top, c_rest = ti.static(tables.LOG2_OF_THIRDS)
    high = ti.f64(c_top) * top
    low = barrier(ti.f64(c_rest) * top + rest * ti.f64(ti.static(c_top + c_rest)), f)
    total = _top((high + low) + n)
    return total, low - barrier(barrier(total - n, f) - high, f)


@ti.func
def _power(size, y):
    f = ti.static(DOUBLE)
    log_top, log_rest = _log2(size)
    y_top = _top(y)
    high = y_top * log_top
    low = barrier(barrier(y - y_top, f) * log_top + y * log_rest, f)
    t = high + low
    n = ti.floor(t + ti.f64(0.5))
    n = ti.select(n < ti.f64(-1080.0), ti.f64(-1080.0), n)
    n = ti.select(n > ti.f64(1024.0), ti.f64(1024.0), n)
    whole = barrier(high - n, f)
    top = _top(whole + low)
    rest = low - barrier(top - whole, f)
    c_top, c_rest = ti.static(tables.LOG_2_FOR_POW)
    whole = top * ti.f64(c_top)
    less = rest * ti.f64(ti.static(math.log(2))) + top * ti.f64(c_rest)
    p = whole + beside(whole, -less, f)
    bits = ti.bit_cast(scaled(1 + p, ti.cast(n, ti.i32), f), ti.i64)
    bits = ti.select(t >= ti.f64(1024.0), ti.i64(f.infinity), bits)
    return ti.bit_cast(ti.select(t < ti.f64(-1076.0), ti.i64(0), bits), ti.f64)
