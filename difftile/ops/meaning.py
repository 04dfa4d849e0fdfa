"""The meaning of ops on NumPy values, complex numbers included.

Where a function compares its arguments, the real parts are compared, which is what makes the complex
step (Squire and Trapp 1998, SIAM Review 40, 110-112) work through branches.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def maximum(a: Any, b: Any) -> Any:
    """Return the larger one."""
    return np.where(np.real(a) >= np.real(b), a, b)[()]


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller one."""
    return np.where(np.real(a) <= np.real(b), a, b)[()]


def absolute(a: Any) -> Any:
    """Return |a|, analytic on both sides of 0."""
    return np.where(np.real(a) < 0, -a, a)[()]


def sign(a: Any) -> Any:
    """Return -1, 0 or 1 in the type of a."""
    return np.sign(np.real(a)).astype(np.asarray(a).dtype)[()]


def clamp(x: Any, low: Any, high: Any) -> Any:
    """Return x between the bounds; ties keep x."""
    return np.where(np.real(x) < np.real(low), low, np.where(np.real(x) > np.real(high), high, x))[
        ()
    ]


def floor(a: Any) -> Any:
    """Return the largest whole number that is not above a."""
    return np.floor(np.real(a)).astype(np.asarray(a).dtype)[()]


def ceil(a: Any) -> Any:
    """Return the smallest whole number that is not below a."""
    return np.ceil(np.real(a)).astype(np.asarray(a).dtype)[()]


def rounded(a: Any) -> Any:
    """Return the nearest whole number, ties away from zero, as Taichi and C do."""
    x = np.real(a)
    whole = np.trunc(x)
    # Not floor(|x| + 0.5), which is wrong for the number just below 0.5.
    nearest = np.where(np.abs(x - whole) >= 0.5, whole + np.sign(x), whole)
    return nearest.astype(np.asarray(a).dtype)[()]


def floordiv(a: Any, b: Any) -> Any:
    """Return floor(a / b)."""
    if np.iscomplexobj(a) or np.iscomplexobj(b):
        return floor(np.asarray(a, complex) / b)
    return np.floor_divide(a, b)


def mod(a: Any, b: Any) -> Any:
    """Return a - b * floor(a / b), with the sign of b, as in Python."""
    if np.iscomplexobj(a) or np.iscomplexobj(b):
        return a - b * floor(np.asarray(a, complex) / b)
    return np.mod(a, b)


def arctan2(y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y)."""
    if np.iscomplexobj(y) or np.iscomplexobj(x):
        angle = np.arctan2(np.real(y), np.real(x))
        # First-order in the imaginary parts, which is all that a complex step carries.
        squared = np.real(x) ** 2 + np.real(y) ** 2
        slope = (np.real(x) * np.imag(y) - np.real(y) * np.imag(x)) / squared
        return angle + 1j * slope
    return np.arctan2(y, x)


def power(a: Any, b: Any) -> Any:
    """Return a ** b; a whole exponent keeps a negative base real."""
    whole = np.all(np.imag(b) == 0) and np.all(np.real(b) == np.round(np.real(b)))
    if np.iscomplexobj(a) and whole:
        return a ** np.asarray(np.real(b)).astype(int)[()]
    return np.power(a, b)


def norm(a: Any) -> Any:
    """Return the square root of the sum of squares, without conjugation."""
    return np.sqrt(np.sum(a * a))


def normalized(a: Any) -> Any:
    """Return a / |a|; zero stays zero."""
    size = norm(a)
    return a / size if size != 0 else a * 0


def sqrt(a: Any) -> Any:
    """Return the square root."""
    return np.sqrt(a)


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
    """Return the determinant."""
    return np.linalg.det(a)


def inverse(a: Any) -> Any:
    """Return the inverse."""
    return np.linalg.inv(a)


def cross(a: Any, b: Any) -> Any:
    """Return the cross product of two vectors of length 3."""
    return np.cross(a, b)


def dot(a: Any, b: Any) -> Any:
    """Return the sum of products, without conjugation."""
    return np.sum(a * b)
