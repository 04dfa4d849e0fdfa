"""The error functions: polynomials near 0, and beyond of (x - 3/2) / (x + 3/2) beside exp(-x^2).

Shepherd and Laframboise 1981, Chebyshev approximation of (1 + 2 x) exp(x^2) erfc(x), Math. Comp.
36; as the formulas of `ops/special.py`, but with x^2 in two parts.
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyrefly: ignore-errors[implicit-any, invalid-annotation, unannotated-return]
# pyrefly: ignore-errors[unknown-argument-type, unknown-attribute-access]
# pyrefly: ignore-errors[unknown-variable-type, untyped-function-decorator]

import math

from difftile.substrate.compiler import ti
from difftile.substrate.family import vector_tables as tables
from difftile.substrate.family.vector_bits import (
    DOUBLE,
    as_normal,
    barrier,
    by_horner,
    format_of,
    magnitude,
    of,
    polynomial,
    scaled,
)
from difftile.substrate.family.vector_exp import pieces_of_exp


@ti.func
def _small(x, f):
    """What erf(x) / x is above 1, for |x| <= 1."""
    return polynomial(x * x, ti.static(of(f.real, tables.ERF_SINGLE, tables.ERF)), f)


@ti.func
def _complement(size, f):
    """1 - erf(x) for x >= 0.8."""
    largest = ti.static(of(f.real, 10.3, 28.0))
    x = ti.select(size > f.real(largest), f.real(largest), size)
    x = ti.select(x < f.real(0.8), f.real(0.8), x)
    mask = ti.static(of(f.real, -(1 << 12), -(1 << 27)))
    top = ti.bit_cast(ti.bit_cast(x, f.whole) & f.whole(mask), f.real)
    n, r, small = pieces_of_exp(-(top * top), barrier(x - top, f) * (x + top), f)
    t = (x - f.real(1.5)) / (x + f.real(1.5))
    q = by_horner(t, ti.static(of(f.real, tables.ERFC_SINGLE, tables.ERFC)), f)
    g = f.real(0.5) + q
    y = f.real(0.5) + barrier(r * g + barrier(q + small * g, f), f)
    return scaled(32 * (y / x), n - 5, f)


@ti.func
def erf(x, dtype: ti.template()):
    """The integral of 2 / sqrt(pi) exp(-t^2) from 0 to x."""
    f = ti.static(format_of(dtype))
    size, bits = ti.abs(x), magnitude(x, f)
    slope = ti.static(2 / math.sqrt(math.pi))
    is_subnormal = bits < f.whole(ti.static(1 << f.digits))
    tiny = as_normal(bits, f) * f.real(ti.static(slope * 2.0 ** (1 - f.bias)))
    tiny = ti.select(is_subnormal, tiny, size * f.real(slope))
    near = ti.select(size < f.real(ti.static(2.0**-28)), tiny, size + size * _small(size, f))
    y = ti.select(size < f.real(1.0), near, 1 - _complement(size, f))
    y_bits = ti.bit_cast(y, f.whole) | (ti.bit_cast(x, f.whole) & f.whole(f.sign))
    is_nan = bits > f.whole(f.infinity)
    return ti.bit_cast(ti.select(is_nan, ti.bit_cast(x, f.whole), y_bits), f.real)


@ti.func
def erfc(x, dtype: ti.template()):
    """1 - erf(x), with all its digits where it is small; computed in double precision."""
    return ti.cast(_erfc(ti.cast(x, ti.f64), ti.static(DOUBLE)), dtype)


@ti.func
def _erfc(x, f):
    size = ti.abs(x)
    near = barrier(1 - x, f) - x * _small(x, f)
    far = _complement(size, f)
    y = ti.select(size < f.real(0.8), near, ti.select(x < f.real(0.0), 2 - far, far))
    is_nan = magnitude(x, f) > f.whole(f.infinity)
    bits = ti.select(is_nan, ti.bit_cast(x, f.whole), ti.bit_cast(y, f.whole))
    return ti.bit_cast(bits, f.real)
