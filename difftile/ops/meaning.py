"""The meaning of ops on NumPy values, complex numbers included.

Functions compare the real parts of their arguments, so that the complex step (Squire and Trapp
1998, SIAM Review 40, 110-112) works through branches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy

np: Any = numpy  # what its stubs know differs from version to version

Function: TypeAlias = Callable[..., Any]


def real_parts(compare: Function) -> Function:
    """Return a comparison as one of real parts."""

    def compared(a: Any, b: Any) -> Any:
        return compare(np.real(a), np.real(b))

    return compared


def identity(a: Any) -> Any:
    """Return the value as it is."""
    return a


def maximum(a: Any, b: Any) -> Any:
    """Return the larger one; of a number and NaN the number."""
    return np.where((np.real(a) >= np.real(b)) | (np.real(b) != np.real(b)), a, b)[()]


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller one; of a number and NaN the number."""
    return np.where((np.real(a) <= np.real(b)) | (np.real(b) != np.real(b)), a, b)[()]


def absolute(a: Any) -> Any:
    """Return |a|, analytic on both sides of 0."""
    return np.where(np.real(a) < 0, -a, a)[()]


def clamp(x: Any, low: Any, high: Any) -> Any:
    """Return x between the bounds; ties keep x, and the upper bound is the stronger one.

    As `maximum` and `minimum` do, it takes the lower bound for NaN.
    """
    return minimum(maximum(x, low), high)


def sign(a: Any) -> Any:
    """Return -1, 0 or 1 in the type of a; 0 of NaN."""
    x = np.real(a)
    return _like(a, np.asarray(x > 0).astype(int) - np.asarray(x < 0))


def floor(a: Any) -> Any:
    """Return the largest whole number that is not above a."""
    return _like(a, np.floor(np.real(a)))


def ceil(a: Any) -> Any:
    """Return the smallest whole number that is not below a."""
    return _like(a, np.ceil(np.real(a)))


def rounded(a: Any) -> Any:
    """Return the nearest whole number, ties away from zero, as Taichi and C do."""
    x = np.real(a)
    whole = np.trunc(x)
    # Not floor(|x| + 0.5), which is wrong for the number just below 0.5.
    return _like(a, np.where(abs(x - whole) >= 0.5, whole + np.sign(x), whole))


def _like(a: Any, result: Any) -> Any:
    return result.astype(np.asarray(a).dtype)[()]


def floordiv(a: Any, b: Any) -> Any:
    """Return floor(a / b); of floats that is the quotient as it was rounded."""
    if _has_floats(a, b):
        return floor(a / b)
    return np.floor_divide(a, b)


def mod(a: Any, b: Any) -> Any:
    """Return a - b * floor(a / b), with the sign of b, as in Python."""
    if _has_floats(a, b):
        return a - b * floor(a / b)
    return np.mod(a, b)


def _has_floats(*values: Any) -> bool:
    return any(np.issubdtype(np.asarray(value).dtype, np.inexact) for value in values)


def whole_power(a: Any, b: Any) -> Any:
    """Return a ** b of integers, low bits only; b is not negative."""
    return np.power(a, np.maximum(b, 0))


def raw_div(a: Any, b: Any) -> Any:
    """Return a / b of integers, cut towards zero as in C; 0 for b = 0."""
    found = np.floor_divide(a, b)
    signs_differ = (np.less(a, 0) != np.less(b, 0)) & np.not_equal(b, 0)
    return found + (signs_differ & (found * b != a)).astype(np.asarray(found).dtype)


def raw_mod(a: Any, b: Any) -> Any:
    """Return the remainder of `raw_div`, with the sign of a as in C; 0 for b = 0."""
    return (a - b * raw_div(a, b)) * np.not_equal(b, 0).astype(np.asarray(a).dtype)


def shr_logical(a: Any, b: Any) -> Any:
    """Return the bits of a moved down, with zeros coming in."""
    dtype = np.asarray(a).dtype
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return np.right_shift(np.asarray(a).view(unsigned), np.asarray(b).astype(unsigned)).view(dtype)[
        ()
    ]


def popcnt(a: Any) -> Any:
    """Return how many bits are set."""
    return _bits(a).sum(axis=-1).astype(np.asarray(a).dtype)[()]


def clz(a: Any) -> Any:
    """Return how many zeros stand before the first bit that is set."""
    return np.logical_not(np.maximum.accumulate(_bits(a), axis=-1)).sum(axis=-1)[()]


def _bits(a: Any) -> Any:
    """Return the bits along a last axis, the highest first."""
    array = np.asarray(a)
    size = array.dtype.itemsize
    big = array.astype(array.dtype.newbyteorder(">"))
    octets = np.frombuffer(big.tobytes(), np.uint8).reshape((*array.shape, size))
    return np.unpackbits(octets, axis=-1)


def arctan2(y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y)."""
    if np.iscomplexobj(y) or np.iscomplexobj(x):
        angle = np.arctan2(np.real(y), np.real(x))
        # First-order in the imaginary parts, which is all that a complex step carries.
        squared = np.real(x) ** 2 + np.real(y) ** 2
        slope = (np.real(x) * np.imag(y) - np.real(y) * np.imag(x)) / squared
        return angle + 1j * slope
    return np.arctan2(y, x)


def rsqrt(a: Any) -> Any:
    """Return the reciprocal of the square root."""
    return 1 / np.sqrt(a)


def sigmoid(a: Any) -> Any:
    """Return 1 / (1 + exp(-a)), without an overflow on either side."""
    small = np.exp(np.where(np.real(a) < 0, a, -a))
    return (np.where(np.real(a) < 0, small, 1) / (1 + small))[()]


def log1pexp(a: Any) -> Any:
    """Return log(1 + exp(a)), without an overflow on either side."""
    small = np.exp(np.where(np.real(a) < 0, a, -a))
    return (np.where(np.real(a) < 0, 0, a) + np.log1p(small))[()]


def logit(a: Any) -> Any:
    """Return log(a / (1 - a)), accurate near 1/2 too."""
    rest = 1 - a
    return np.where(np.real(a) < 0.25, np.log(a / rest), np.log1p((2 * a - 1) / rest))[()]


def logsumexp(a: Any) -> Any:
    """Return log(exp(a[0]) + exp(a[1]) + ...), without an overflow."""
    at = np.argmax(np.real(a))
    top = a[at]
    if not np.isfinite(np.real(top)):
        return top
    return top + np.log1p(np.sum(np.exp(np.delete(a, at) - top)))


def stop_grad(a: Any) -> Any:
    """Return the value without the perturbation of the complex step."""
    return np.real(a)


def norm(a: Any) -> Any:
    """Return the square root of the sum of squares, without conjugation."""
    return np.sqrt(np.sum(a * a))


def normalized(a: Any) -> Any:
    """Return a / |a|; zero stays zero."""
    size = norm(a)
    return a / size if size != 0 else a * 0


def select(cond: Any, a: Any, b: Any) -> Any:
    """Return a where the condition holds, else b."""
    return np.where(cond, a, b)[()]


def vector(*components: Any) -> Any:
    """Return the vector of the components."""
    return np.array(components)


def extract(a: Any, *index: Any) -> Any:
    """Return one component."""
    return a[tuple(int(i) for i in index)]


def insert(a: Any, *rest: Any) -> Any:
    """Return a copy of a with one component replaced."""
    *index, value = rest
    copy = np.array(a, dtype=np.result_type(a, value))
    copy[tuple(int(i) for i in index)] = value
    return copy


def determinant(a: Any) -> Any:
    """Return the determinant, by the expansion that compiled code uses as far as that goes."""
    n = len(a)
    if n == 1:
        return a[0, 0]
    if n == 2:
        return a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    if n > 4:
        return np.linalg.det(a)
    minors = (determinant(np.delete(a[1:], k, 1)) for k in range(n))
    return sum((-1) ** k * a[0, k] * minor for k, minor in enumerate(minors))


def inverse(a: Any) -> Any:
    """Return the inverse; NaN for a singular matrix."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return a * np.nan


def solve(a: Any, b: Any) -> Any:
    """Return x with a @ x = b; NaN for a singular matrix."""
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return b * np.nan


def solve_lower(a: Any, b: Any) -> Any:
    """Return x with tril(a) @ x = b; NaN for a singular matrix."""
    return solve(np.tril(a), b)


def solve_upper(a: Any, b: Any) -> Any:
    """Return x with triu(a) @ x = b; NaN for a singular matrix."""
    return solve(np.triu(a), b)


def cholesky(a: Any) -> Any:
    """Return the lower triangular L with L @ L^T = (a + a^T) / 2; NaN where no such L exists.

    NumPy's own conjugates.
    """
    z = np.zeros_like(a)
    for i, j in np.ndindex(*a.shape):
        rest = (a[i, j] + a[j, i]) / 2 - np.sum(z[i, :j] * z[j, :j])
        if j < i:
            z[i, j] = rest / z[j, j]
        elif j == i:
            z[i, i] = np.sqrt(rest) if np.real(rest) >= 0 else np.nan
    return z


def cross(a: Any, b: Any) -> Any:
    """Return the cross product of two vectors of length 3."""
    return np.cross(a, b)


def dot(a: Any, b: Any) -> Any:
    """Return the sum of products, without conjugation."""
    return np.sum(a * b)
