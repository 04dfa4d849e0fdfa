"""Inverse trigonometric functions as polynomials.

The arc sine beyond 1/2 is pi/2 - 2 asin(sqrt((1 - x) / 2)), and the arc tangent of a ratio between
1/2 and 1 is pi/4 + atan((a - b) / (a + b)) (Abramowitz and Stegun 4.4.32 and 4.4.34; Cody and Waite
1980, Software Manual for the Elementary Functions).
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyrefly: ignore-errors[implicit-any, invalid-annotation, unannotated-return]
# pyrefly: ignore-errors[unknown-argument-type, unknown-attribute-access]
# pyrefly: ignore-errors[unknown-return-type, unknown-variable-type]
# pyrefly: ignore-errors[untyped-function-decorator]

from difftile.substrate.compiler import ti
from difftile.substrate.family import vector_tables as tables
from difftile.substrate.family.vector_bits import (
    as_normal,
    barrier,
    format_of,
    magnitude,
    odd,
    of,
    polynomial,
)


@ti.func
def _halved(size, f):
    """For a size above 1/2 sqrt((1 - size) / 2), else the size; and its square; and which."""
    is_large = size > f.real(0.5)
    z = ti.select(is_large, (1 - size) * f.real(0.5), size * size)
    return is_large, ti.select(is_large, ti.sqrt(z), size), z


@ti.func
def asin(x, dtype: ti.template()):
    """The arc sine; NaN beyond -1 and 1."""
    f = ti.static(format_of(dtype))
    high, low = ti.static(of(dtype, tables.RIGHT_ANGLE_SINGLE, tables.RIGHT_ANGLE))
    is_large, s, z = _halved(ti.abs(x), f)
    t = s * (z * polynomial(z, ti.static(of(dtype, tables.ASIN_SINGLE, tables.ASIN)), f))
    far = f.real(high) - barrier(2 * s + barrier(2 * t - f.real(low), f), f)
    return odd(x, ti.select(is_large, far, s + t), ti.static(of(dtype, 2**-13, 2**-28)), f)


@ti.func
def acos(x, dtype: ti.template()):
    """The arc cosine; NaN beyond -1 and 1."""
    f = ti.static(format_of(dtype))
    high, low = ti.static(of(dtype, tables.RIGHT_ANGLE_SINGLE, tables.RIGHT_ANGLE))
    is_large, root, z = _halved(ti.abs(x), f)
    s = ti.select(is_large, root, x)
    t = s * (z * polynomial(z, ti.static(of(dtype, tables.ASIN_SINGLE, tables.ASIN)), f))
    y = f.real(high) - barrier(s + barrier(t - f.real(low), f), f)
    return ti.select(is_large, 2 * ti.select(x < f.real(0.0), y, s + t), y)


@ti.func
def _angle(t, eighths, is_flipped, f):
    """pi/4 times a small number, and atan(t) added or taken away, for |t| <= 1/2."""
    high, low = ti.static(of(f.real, tables.QUARTER_PI_SINGLE, tables.QUARTER_PI))
    z = t * t
    r = t + t * (z * polynomial(z, ti.static(of(f.real, tables.ATAN_SINGLE, tables.ATAN)), f))
    small = barrier(eighths * f.real(low) + ti.select(is_flipped, -r, r), f)
    return eighths * f.real(high) + small


@ti.func
def atan(x, dtype: ti.template()):
    """The arc tangent."""
    f = ti.static(format_of(dtype))
    size = ti.abs(x)
    one = f.real(1.0)
    is_steep = size > one
    a = ti.select(is_steep, one, size)
    b = ti.select(is_steep, size, one)
    is_near = a > f.real(0.5) * b  # to the diagonal
    t = ti.select(is_near, a - b, a) / ti.select(is_near, a + b, b)
    eighths = ti.select(is_near, one, f.real(0.0))
    eighths = ti.select(is_steep, 2 - eighths, eighths)
    return odd(x, _angle(t, eighths, is_steep, f), ti.static(of(dtype, 2**-13, 2**-28)), f)


@ti.func
def _enlarged(bits, is_below_one, f):
    """The number with such bits, and where asked 2^100 (2^1000) times as much."""
    x = ti.bit_cast(bits, f.real)
    by, rest = ti.static(of(f.real, (2.0**100, 2.0**-26), (2.0**1000, 2.0**-22)))
    is_tiny = bits < f.whole(ti.static(1 << f.digits))
    larger = ti.select(is_tiny, as_normal(bits, f) * f.real(rest), x * f.real(by))
    return ti.select(is_below_one, larger, x)


@ti.func
def atan2(y, x, dtype: ti.template()):
    """The angle of the point (x, y)."""
    f = ti.static(format_of(dtype))
    one_bits, infinity = ti.static((f.bits(1.0), f.infinity))
    x_bits, y_bits = magnitude(x, f), magnitude(y, f)
    is_steep = y_bits > x_bits
    a_bits, b_bits = ti.min(x_bits, y_bits), ti.max(x_bits, y_bits)
    is_below_one = b_bits < f.whole(one_bits)
    a = _enlarged(a_bits, is_below_one, f)
    b = _enlarged(b_bits, is_below_one, f)
    # An infinity next to 0 counts as 1; the smaller of two zeros is 0 next to 1.
    one, zero, half = f.real(1.0), f.real(0.0), f.real(0.5)
    is_infinite = b_bits >= f.whole(infinity)
    a = ti.select(is_infinite, ti.select(a_bits >= f.whole(infinity), one, zero), a)
    b = ti.select(is_infinite | (b_bits == 0), one, b)
    is_near = a > half * b
    t = ti.select(is_near, half * a - half * b, a) / ti.select(is_near, half * a + half * b, b)
    is_behind = ti.bit_cast(x, f.whole) < 0
    eighths = ti.select(is_near, one, zero)
    eighths = ti.select(is_steep, 2 - eighths, eighths)
    eighths = ti.select(is_behind, 4 - eighths, eighths)
    angle = ti.bit_cast(_angle(t, eighths, is_steep ^ is_behind, f), f.whole)
    angle |= ti.bit_cast(y, f.whole) & f.whole(f.sign)
    is_nan = b_bits > f.whole(infinity)
    return ti.bit_cast(ti.select(is_nan, f.whole(f.nan), angle), f.real)


@ti.func
def rsqrt(x, dtype: ti.template()):
    """1 / sqrt(x); minus infinity at -0."""
    f = ti.static(format_of(dtype))
    own = ti.bit_cast(x, f.whole)
    is_tiny = own < f.whole(ti.static(1 << f.digits))  # or negative, and so is the other then
    root = f.real(ti.static(2.0 ** (f.bias // 2)))
    y = ti.select(is_tiny, root, f.real(1.0)) / ti.sqrt(ti.select(is_tiny, as_normal(own, f), x))
    minus_infinity = f.whole(ti.static(f.infinity + f.sign))
    y_bits = ti.select(own == f.whole(f.sign), minus_infinity, ti.bit_cast(y, f.whole))
    return ti.bit_cast(y_bits, f.real)
