"""Comparisons and classes of floats as IEEE 754 has them, for kernels, whatever `fast_math` is.

Taichi's own predicates convert to its default float type first, in which 1e300 is infinite. Under
fast math Taichi 1.7.4 lets LLVM write PTX as if no number were NaN (`NoNaNsFPMath`), so that a
branch on `a <= b` may become one on the opposite of `a > b`. On CUDA comparisons are therefore
calls of these, which look at the bits. LLVM's instructions for the CPU have no such flag.
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyrefly: ignore-errors[implicit-any, invalid-annotation, unannotated-return]
# pyrefly: ignore-errors[unknown-return-type, untyped-function-decorator]

from difftile.substrate.compiler import ti


@ti.func
def _magnitude(x, dtype: ti.template()):
    """The bits of |x|: they order floats by size, then infinity, then NaN."""
    if ti.static(dtype == ti.f64):
        return ti.bit_cast(x, ti.u64) & ti.u64(0x7FFFFFFFFFFFFFFF)
    return ti.bit_cast(ti.cast(x, ti.f32), ti.u32) & ti.u32(0x7FFFFFFF)


@ti.func
def _infinity(dtype: ti.template()):
    """The bits of infinity."""
    if ti.static(dtype == ti.f64):
        return ti.u64(0x7FF0000000000000)
    return ti.u32(0x7F800000)


@ti.func
def _odd(dtype: ti.template()):
    if ti.static(dtype == ti.f64):
        return ti.u64(0x9E3779B97F4A7C15)
    return ti.u32(0x9E3779B1)


@ti.func
def isnan(x, dtype: ti.template()):
    """Whether x is NaN."""
    return _magnitude(x, dtype) > _infinity(dtype)


@ti.func
def isinf(x, dtype: ti.template()):
    """Whether x is an infinity of either sign.

    LLVM reads an equality with the bits of infinity as a question about the float, and answers no
    where fast math has computed it. It does not look behind a product with an odd number, which is
    different for different bits.
    """
    return _magnitude(x, dtype) * _odd(dtype) == _infinity(dtype) * _odd(dtype)


@ti.func
def isfinite(x, dtype: ti.template()):
    """Whether x is neither NaN nor infinite."""
    return _magnitude(x, dtype) < _infinity(dtype)


@ti.func
def _ordered(a, b, dtype: ti.template()):
    infinity = _infinity(dtype)
    return (_magnitude(a, dtype) <= infinity) & (_magnitude(b, dtype) <= infinity)


@ti.func
def lt(a, b, dtype: ti.template()):
    """Whether a < b; no if either is NaN."""
    return (a < b) & _ordered(a, b, dtype)


@ti.func
def le(a, b, dtype: ti.template()):
    """Whether a <= b; no if either is NaN."""
    return (a <= b) & _ordered(a, b, dtype)


@ti.func
def gt(a, b, dtype: ti.template()):
    """Whether a > b; no if either is NaN."""
    return (a > b) & _ordered(a, b, dtype)


@ti.func
def ge(a, b, dtype: ti.template()):
    """Whether a >= b; no if either is NaN."""
    return (a >= b) & _ordered(a, b, dtype)


@ti.func
def eq(a, b, dtype: ti.template()):
    """Whether a == b; no if either is NaN."""
    return (a == b) & _ordered(a, b, dtype)


@ti.func
def ne(a, b, dtype: ti.template()):
    """Whether a != b; yes if either is NaN."""
    return not eq(a, b, dtype)


# With a constant that is infinite: LLVM 22 takes it under fast math that no float is, and answers
# without looking. These look at the bits only.


@ti.func
def _order(x, dtype: ti.template()):
    """An integer that orders floats: both zeros are 0, and negative numbers have negative ones."""
    if ti.static(dtype == ti.f64):
        size = ti.cast(_magnitude(x, dtype), ti.i64)
        return ti.select(ti.bit_cast(x, ti.i64) < 0, -size, size)
    size = ti.cast(_magnitude(x, dtype), ti.i32)
    return ti.select(ti.bit_cast(ti.cast(x, ti.f32), ti.i32) < 0, -size, size)


@ti.func
def eq_infinite(a, b, dtype: ti.template()):
    """Whether a == b; no if either is NaN."""
    unsigned = ti.static(ti.u64 if dtype == ti.f64 else ti.u32)
    left = ti.cast(_order(a, dtype), unsigned) * _odd(dtype)
    return (left == ti.cast(_order(b, dtype), unsigned) * _odd(dtype)) & _ordered(a, b, dtype)


@ti.func
def ne_infinite(a, b, dtype: ti.template()):
    """Whether a != b; yes if either is NaN."""
    return not eq_infinite(a, b, dtype)


@ti.func
def le_infinite(a, b, dtype: ti.template()):
    """Whether a <= b; no if either is NaN."""
    return (_order(a, dtype) <= _order(b, dtype)) & _ordered(a, b, dtype)


@ti.func
def lt_infinite(a, b, dtype: ti.template()):
    """Whether a < b; no if either is NaN."""
    return le_infinite(a, b, dtype) & (not eq_infinite(a, b, dtype))


@ti.func
def ge_infinite(a, b, dtype: ti.template()):
    """Whether a >= b; no if either is NaN."""
    return le_infinite(b, a, dtype)


@ti.func
def gt_infinite(a, b, dtype: ti.template()):
    """Whether a > b; no if either is NaN."""
    return lt_infinite(b, a, dtype)
