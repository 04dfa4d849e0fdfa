"""Exponentials and what follows from them, as polynomials.

exp(x) = 2^n (1 + p), where x - n log(2) is computed in two parts (Cody and Waite 1980, Software
Manual for the Elementary Functions), and p = r + r^2 q(r). Errors are in units in the last place.
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyrefly: ignore-errors[implicit-any, invalid-annotation, unannotated-return]
# pyrefly: ignore-errors[unknown-argument-type, unknown-attribute-access]
# pyrefly: ignore-errors[unknown-variable-type, untyped-function-decorator]

import math

from difftile.substrate.compiler import ti
from difftile.substrate.family import vector_tables as tables
from difftile.substrate.family.vector_bits import (
    barrier,
    format_of,
    magnitude,
    odd,
    of,
    polynomial,
    power_of_two,
    scaled,
)

_LOG_2_E = 1 / math.log(2)


@ti.func
def pieces_of_exp(x, less, f):
    """The integer n and exp(x - less) / 2^n - 1, as r and its remainder.

    Where exp(x) is finite or 0; `less` is small.
    """
    n = ti.floor((x - less) * f.real(_LOG_2_E) + f.real(0.5))
    high, low = ti.static(of(f.real, tables.LOG_2_SINGLE, tables.LOG_2))
    r = barrier(x - n * f.real(high), f)
    return ti.cast(n, ti.i32), r, beside(r, n * f.real(low) + less, f)


@ti.func
def beside(whole, less, f):
    """exp(r) - 1 - whole for r = whole - less between -log(2) / 2 and log(2) / 2."""
    r = whole - less
    q = polynomial(r, ti.static(of(f.real, tables.EXP_SINGLE, tables.EXP)), f)
    return barrier(r * r * q - less, f)


@ti.func
def parts_of_exp(x, f):
    """The integer n and p = exp(x) / 2^n - 1, for an x whose exponential is finite or 0."""
    n, r, small = pieces_of_exp(x, f.real(0.0), f)
    return n, r + small


@ti.func
def _raised(x, y, highest: ti.template(), f):
    """The result y of exp(x), or infinity beyond `highest`; NaN of NaN."""
    own = ti.bit_cast(x, f.whole)
    y_bits = ti.bit_cast(y, f.whole)
    y_bits = ti.select(own > f.whole(ti.static(f.bits(highest))), f.whole(f.infinity), y_bits)
    is_nan = magnitude(x, f) > f.whole(f.infinity)
    return ti.bit_cast(ti.select(is_nan, own, y_bits), f.real)


@ti.func
def _clamped(x, low: ti.template(), high: ti.template(), f):
    above = ti.select(x < f.real(low), f.real(low), x)
    return ti.select(above > f.real(high), f.real(high), above)


@ti.func
def exp(x, dtype: ti.template()):
    """The exponential function."""
    f = ti.static(format_of(dtype))
    low, high, largest = ti.static(
        of(dtype, (-104.0, 89.0, 88.72283172607422), (-746.0, 710.0, 709.782712893384))
    )
    n, p = parts_of_exp(_clamped(x, low, high, f), f)
    return _raised(x, scaled(1 + p, n, f), largest, f)


@ti.func
def exp2(x, dtype: ti.template()):
    """2^x; exact for an integer x."""
    f = ti.static(format_of(dtype))
    low, high = ti.static(of(dtype, (-151.0, 128.0), (-1076.0, 1024.0)))
    largest = ti.static(of(dtype, 127.99999237060547, 1023.9999999999999))
    inside = _clamped(x, low, high, f)
    n = ti.floor(inside + f.real(0.5))
    r = (inside - n) * f.real(math.log(2))
    p = r + beside(r, f.real(0.0), f)
    return _raised(x, scaled(1 + p, ti.cast(n, ti.i32), f), largest, f)


@ti.func
def expm1(x, dtype: ti.template()):
    """exp(x) - 1 = ((1 - 2^-n) + p) 2^n."""
    f = ti.static(format_of(dtype))
    low, high, largest, small = ti.static(
        of(
            dtype,
            (-40.0, 89.0, 88.72283172607422, 2**-26),
            (-60.0, 710.0, 709.782712893384, 2**-55),
        )
    )
    n, p = parts_of_exp(_clamped(x, low, high, f), f)
    y = barrier(1 - power_of_two(ti.max(-n, ti.i32(2 - f.bias)), f), f) + p
    whole = ti.cast(n, f.whole) << f.whole(f.digits)
    y = _raised(x, ti.bit_cast(ti.bit_cast(y, f.whole) + whole, f.real), largest, f)
    is_small = magnitude(x, f) < f.whole(ti.static(f.bits(small)))
    return ti.bit_cast(
        ti.select(is_small, ti.bit_cast(x, f.whole), ti.bit_cast(y, f.whole)), f.real
    )


@ti.func
def _parts_of_decay(size, f):
    """The parts of exp(-size), for a size of 0 or more."""
    low = ti.static(of(f.real, -104.0, -746.0))
    return parts_of_exp(ti.select(-size < f.real(low), f.real(low), -size), f)


@ti.func
def tanh(x, dtype: ti.template()):
    """1 - 2 e / (1 + e) with e = exp(-2 |x|), and the sign of x; below 0.55 an odd polynomial."""
    f = ti.static(format_of(dtype))
    high, small = ti.static(of(dtype, (10.0, 2**-13), (20.0, 2**-28)))
    size = ti.abs(x)
    z = size * size
    near = size + size * (
        z * polynomial(z, ti.static(of(dtype, tables.TANH_SINGLE, tables.TANH)), f)
    )
    n, p = parts_of_exp(-2 * ti.select(size > f.real(high), f.real(high), size), f)
    power = power_of_two(n, f)
    e = power + power * p
    far = 1 - 2 * (e / (1 + e))
    return odd(x, ti.select(size < f.real(0.55), near, far), small, f)


@ti.func
def sigmoid(x, dtype: ti.template()):
    """1 / (1 + exp(-x)), for negative x times exp(x): without an overflow on either side."""
    f = ti.static(format_of(dtype))
    n, p = _parts_of_decay(ti.abs(x), f)
    power = power_of_two(ti.max(n, -60), f)
    e = power + power * p
    is_little = n < -1
    v = ti.select(is_little, e, f.real(1.0)) / (1 + e)
    v = ti.select(is_little, 1 - v, v)
    own = ti.bit_cast(x, f.whole)
    y = scaled(v + v * ti.select(own < 0, p, f.real(0.0)), ti.select(own < 0, n, 0), f)
    is_nan = magnitude(x, f) > f.whole(f.infinity)
    return ti.bit_cast(ti.select(is_nan, own, ti.bit_cast(y, f.whole)), f.real)


@ti.func
def log1pexp(x, dtype: ti.template()):
    """log(1 + exp(x)): the larger of x and 0, and log(1 + exp(-|x|)).

    With u = exp(-|x|) the latter is 2 artanh(u / (2 + u)), or from sqrt(2) - 1 on log(2) and
    2 artanh((u - 1) / (u + 3)).
    """
    f = ti.static(format_of(dtype))
    n, p = _parts_of_decay(ti.abs(x), f)
    u = scaled(1 + p, n, f)
    power = power_of_two(ti.max(n, -2), f)
    is_large = u > f.real(math.sqrt(2) - 1)
    less = barrier(power - 1, f) + power * p  # u - 1
    g = ti.select(is_large, less * f.real(0.5), u)
    s = g / (2 + g)
    z = s * s
    r = z * polynomial(z, ti.static(of(dtype, tables.LOG_SINGLE, tables.LOG)), f)
    high, low = ti.static(of(dtype, tables.LOG_2_SINGLE, tables.LOG_2))
    whole = ti.select(is_large, f.real(high), f.real(0.0))
    rest = ti.select(is_large, f.real(low), f.real(0.0))
    near = barrier(g - barrier(s * (g - r) - rest, f), f) + whole
    own = ti.bit_cast(x, f.whole)
    y = ti.select(own < 0, f.real(0.0), x) + near
    itself = (own >= f.whole(f.infinity)) | (magnitude(x, f) > f.whole(f.infinity))
    return ti.bit_cast(ti.select(itself, own, ti.bit_cast(y, f.whole)), f.real)
