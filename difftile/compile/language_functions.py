"""Functions that Taichi lacks, for kernels and for Python."""

from __future__ import annotations

from typing import Any

import numpy
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.field import Field
from difftile.fields.numbers import plain_numbers
from difftile.fields.structs import StructField
from difftile.fields.view import View
from difftile.ops import meaning

np: Any = numpy  # its stubs differ from version to version


def sigmoid(x: npt.ArrayLike) -> Any:
    """Return 1 / (1 + exp(-x)); it and its derivative are finite for every finite x.

    In a kernel x is a float, vector or matrix; in Python it is a number or an array.
    """
    return meaning.sigmoid(_array(x))


def logit(x: npt.ArrayLike) -> Any:
    """Return log(x / (1 - x)), the inverse of `sigmoid`; it is infinite at 0 and 1."""
    return meaning.logit(_array(x))


def softplus(x: npt.ArrayLike, beta: npt.ArrayLike = 1.0) -> Any:
    """Return log(1 + exp(beta x)) / beta, without an overflow; its derivative is a sigmoid.

    Args:
        x: In a kernel a float, vector or matrix; in Python a number or an array.
        beta: How sharp the bend at 0 is.
    """
    return meaning.log1pexp(beta * _array(x)) / beta


def log1p(x: npt.ArrayLike) -> Any:
    """Return log(1 + x), accurate near 0; it and its derivative are infinite at -1."""
    return np.log1p(x)


def expm1(x: npt.ArrayLike) -> Any:
    """Return exp(x) - 1, accurate near 0."""
    return np.expm1(x)


def logsumexp(*values: npt.ArrayLike) -> Any:
    """Return log(exp(v[0]) + exp(v[1]) + ...), without an overflow.

    The derivative by each component is its share of the sum, their softmax.

    Args:
        values: One vector, or several numbers.
    """
    numbers = np.ravel(values[0]) if len(values) == 1 else np.array(values, float)
    return meaning.logsumexp(numbers)


def safe_divide(n: npt.ArrayLike, d: npt.ArrayLike, eps: npt.ArrayLike = 1e-8) -> Any:
    """Return n / d, with d kept from 0: where |d| < eps, eps with the sign of d divides instead.

    0 counts as positive. The derivative matches the computed value: 1 / d and -n / d^2, and 0 by d
    where eps stands in for it. With eps = 1e-8 there is no overflow in single precision for |n| up
    to 1e30.

    Args:
        n: The numerator.
        d: The denominator.
        eps: The smallest size of the divisor, positive.
    """
    signed = np.where(np.less(d, 0), -np.asarray(eps), eps)
    return (n / np.where(np.abs(d) < eps, signed, d))[()]


def safe_norm(v: npt.ArrayLike, eps: npt.ArrayLike = 1e-8) -> Any:
    """Return the length of a vector, at least eps; a vector divided by it is finite.

    The derivative is v / |v|, and 0 where the length is below eps.

    Args:
        v: A vector or matrix.
        eps: The smallest length, positive.
    """
    return np.maximum(np.sqrt(np.sum(np.square(v))), eps)


def inverse(a: npt.ArrayLike) -> Any:
    """Return the inverse of a matrix up to 16x16; it is not finite if the matrix is singular.

    Beyond 3x3 by elimination with partial pivoting, below by cofactors, which lose more digits
    where the matrix is ill-conditioned.
    """
    return meaning.inverse(_array(a))


def solve(a: npt.ArrayLike, b: npt.ArrayLike) -> Any:
    """Return x with a @ x = b, by elimination with partial pivoting.

    The result is not finite if the matrix is singular.

    Args:
        a: A square matrix up to 16x16.
        b: A vector, or a matrix of as many rows and up to 16 columns.
    """
    return meaning.solve(_array(a), _array(b))


def solve_triangular(a: npt.ArrayLike, b: npt.ArrayLike, lower: bool = True) -> Any:
    """Return x with a @ x = b, where only one triangle of a is read.

    The result is not finite if the diagonal has a 0.

    Args:
        a: A square matrix up to 16x16.
        b: A vector, or a matrix of as many rows and up to 16 columns.
        lower: Read the diagonal and the elements below it, else those above it.
    """
    solved = meaning.solve_lower if lower else meaning.solve_upper
    return solved(_array(a), _array(b))


def cholesky(a: npt.ArrayLike) -> Any:
    """Return the lower triangular L with L @ L^T = (a + a^T) / 2, of a matrix up to 16x16.

    Only the symmetric part counts, so the gradient is symmetric. The result is not finite where
    that part is not positive definite.
    """
    return meaning.cholesky(_array(a))


def unique(index: Any) -> Any:
    """Return the index, and promise that it differs between the iterations of a parallel loop.

    A gradient passes through a store only if no two iterations store to one element. Where that
    follows from data, as in `x[q[i]] = ...` with a permutation q, it cannot be proved; write
    `x[dt.unique(q[i])] = ...`. The promise is about the iterations that get there. A vector is
    unique as a whole, not in each component. `dt.init(debug=True)` verifies the promise.

    Args:
        index: In a kernel an integer or a vector of integers; in Python it comes back as it is.
    """
    return index


def stop_grad(x: Any) -> Any:
    """Return x, as a constant for every derivative: no gradient and no tangent goes through.

    In a kernel x is a number, vector, matrix, struct or tuple. In Python it is a number, or an
    array or list of numbers, which come back as plain ones.

    Raises:
        FieldError: The function is called from Python with a field.
    """
    if isinstance(x, (Field, View, StructField)):
        raise FieldError("'dt.stop_grad' is for values in kernels; of a field write 'x.detach()'.")
    return plain_numbers(x)


def exact(x: Any) -> Any:
    """Return x, computed as it is written: each `+`, `-`, `*` and `/` in it is rounded by itself.

    Under fast math sums are computed in the order that is fastest, and `(s + x) - s` may become x.
    Inside `dt.exact(...)` that does not happen, so compensated sums work. This holds for the
    expression and inside the funcs that it calls. The derivative is the expression's.

    In a kernel x is a number, vector, matrix, struct or tuple; in Python it comes back as it is.

    Raises:
        FieldError: The function is called from Python with a field.
    """
    if isinstance(x, (Field, View, StructField)):
        raise FieldError("'dt.exact' is for expressions in kernels, not for fields.")
    return x


def _array(x: npt.ArrayLike) -> Any:
    """Return an array of floats; NumPy's own numbers and arrays keep their precision."""
    array = np.asarray(x)
    return array if array.dtype.kind in "fc" else array.astype(float)
