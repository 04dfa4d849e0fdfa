"""Whether floats are NaN, infinite or finite, for kernels.

Fast math may fold comparisons that only NaN answers, such as `x != x`: these look at the bits.
Taichi's own convert to its default float type first, in which 1e300 is infinite.
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyright: reportInvalidTypeForm=false, reportIndexIssue=false, reportOperatorIssue=false
# pyright: reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportGeneralTypeIssues=false, reportReturnType=false, reportOptionalOperand=false

import taichi as ti


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
def isnan(x, dtype: ti.template()):
    """Whether x is NaN."""
    return _magnitude(x, dtype) > _infinity(dtype)


@ti.func
def isinf(x, dtype: ti.template()):
    """Whether x is an infinity of either sign."""
    return _magnitude(x, dtype) == _infinity(dtype)


@ti.func
def isfinite(x, dtype: ti.template()):
    """Whether x is neither NaN nor infinite."""
    return _magnitude(x, dtype) < _infinity(dtype)
