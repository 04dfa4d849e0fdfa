"""Sines, cosines and tangents below a limit, and the inverse functions, as polynomials.

Arguments are reduced by multiples of pi/2 in parts, whose products with the multiple are exact
(Cody and Waite 1980, Software Manual for the Elementary Functions). Multiples have 13 bits in
single precision and 20 in double precision, which gives the limits.
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyrefly: ignore-errors[implicit-any, invalid-annotation, unannotated-return]
# pyrefly: ignore-errors[unknown-argument-type, unknown-attribute-access]
# pyrefly: ignore-errors[unknown-variable-type, untyped-function-decorator]

import math

from difftile.substrate.compiler import ti
from difftile.substrate.family import vector_tables as tables
from difftile.substrate.family.vector_bits import barrier, format_of, magnitude, of, polynomial


@ti.func
def _reduced(x, f):
    """The quarters of a turn in x, and the rest as the sum of a number and a small one."""
    x = barrier(x, f)
    n = ti.floor(x * f.real(2 / math.pi) + f.real(0.5))
    first, second, third, last = ti.static(of(f.real, tables.HALF_PI_SINGLE, tables.HALF_PI))
    before = barrier(barrier(x - n * f.real(first), f) - n * f.real(second), f)
    r = barrier(before - n * f.real(third), f)
    lost = barrier(barrier(before - r, f) - n * f.real(third), f)
    return ti.cast(n, ti.i32), r, barrier(lost - n * f.real(last), f)


@ti.func
def _of_quadrant(r, quadrant, f):
    """The sine of r and so many quarters of a turn, for |r| <= pi/4; zeros keep their sign."""
    size, s = ti.abs(r), r * r
    p = polynomial(s, ti.static(of(f.real, tables.SIN_SINGLE, tables.SIN)), f)
    q = polynomial(s, ti.static(of(f.real, tables.COS_SINGLE, tables.COS)), f)
    is_odd = (quadrant & 1) == 1
    y = ti.select(is_odd, 1 - s * (f.real(0.5) - s * q), size + size * (s * p))
    own = ti.cast((quadrant & 1) - 1, f.whole)  # all bits where r keeps its sign
    sign = ti.bit_cast(r, f.whole) & own
    turned = ti.cast(quadrant & 2, f.whole) << f.whole(62 if f.is_double else 30)
    return ti.bit_cast(ti.bit_cast(y, f.whole) ^ turned ^ (sign & f.whole(f.sign)), f.real)


@ti.func
def sin(x, dtype: ti.template()):
    """The sine of one number below the limit."""
    f = ti.static(format_of(dtype))
    quadrant, r, more = _reduced(x, f)
    y = _of_quadrant(r + more, quadrant, f)
    is_small = magnitude(x, f) < f.whole(ti.static(f.bits(of(dtype, 2**-13, 2**-28))))
    y_bits = ti.select(is_small, ti.bit_cast(x, f.whole), ti.bit_cast(y, f.whole))
    return ti.bit_cast(y_bits, f.real)


@ti.func
def cos(x, dtype: ti.template()):
    """The cosine of one number below the limit."""
    f = ti.static(format_of(dtype))
    quadrant, r, more = _reduced(x, f)
    return _of_quadrant(r + more, quadrant + 1, f)


@ti.func
def tan(x, dtype: ti.template()):
    """The tangent of one number below the limit."""
    f = ti.static(format_of(dtype))
    quadrant, whole, more = _reduced(x, f)
    r = barrier(whole + more, f)
    lost = barrier(whole - r, f) + more
    s = r * r
    w = r * (s * polynomial(s, ti.static(of(dtype, tables.TAN_SINGLE, tables.TAN)), f))
    less = barrier(w + lost * (1 + (r + w) * (r + w)), f)
    t = barrier(r + less, f)
    rest = barrier(r - t, f) + less
    is_odd = (quadrant & 1) == 1
    y = ti.select(is_odd, f.real(-1.0), t) / ti.select(is_odd, t, f.real(1.0))
    y += ti.select(is_odd, y * (y * rest), f.real(0.0))  # -1 / (t + rest)
    is_small = magnitude(x, f) < f.whole(ti.static(f.bits(of(dtype, 2**-13, 2**-28))))
    y_bits = ti.select(is_small, ti.bit_cast(x, f.whole), ti.bit_cast(y, f.whole))
    return ti.bit_cast(y_bits, f.real)
