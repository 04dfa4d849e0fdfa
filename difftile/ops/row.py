"""The row of the table of ops, and the typing rules that rows name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np

from difftile.ir.types import (
    BOOL,
    F32,
    F64,
    FLOATS,
    Matrix,
    Scalar,
    Type,
    Vector,
    is_float,
    scalar_of,
    shape_of,
    shaped,
    with_scalar,
)
from difftile.records import dataclass

Typing: TypeAlias = Callable[[tuple[Type, ...]], Type]
Formulas: TypeAlias = tuple[str | EllipsisType | None, ...]

# Tangents of ops that are linear in all their float arguments together, or in each by itself.
LINEAR, BILINEAR = "linear", "bilinear"
LARGEST_DENSE = 16  # rows of a matrix that is solved with


class OpTypeError(Exception):
    """Argument types that a row does not accept; the text goes into the user's error."""


@dataclass(frozen=True, slots=True)
class Op:
    """One operation: everything that any part of difftile needs to know about it.

    The table of spellings in `substrate` has the Taichi syntax for it.

    Args:
        name: The name in the IR and in formulas.
        numpy: Its meaning on NumPy scalars and arrays; complex numbers are accepted where the
            op is smooth, so that the complex step works.
        typing: Result type from argument types.
        vjp: For each argument the adjoint it receives, as a formula over the arguments `a`, `b`,
            `c`, the result `z` and its adjoint `z_bar` (see formula.py); None for an argument that
            gets none. `...` stands for the entry before it, as often as there are arguments, as in
            the type `tuple[int, ...]`. Empty for an op without derivative.
        domain: For each argument the interval from which the generated tests draw it. Kinks may
            be inside: a random number does not hit them.
        singular: Some formula can be infinite or NaN for finite arguments, or the result itself;
            where an adjoint may be a masked zero it is then guarded.
        masks: The formula makes an adjoint zero for the side that was not taken.
        kinks: The value returned where the derivative does not exist, for the documentation.
        jvp: The tangent of the result, for ops that are not componentwise (for those it follows
            from `vjp`): a formula over the arguments, the result and the tangents `a_dot`, `b_dot`
            of the arguments; or LINEAR or BILINEAR. Empty: from `vjp`, component by component.
        tie: The condition, as a formula, that the arguments are at the kink exactly, where the
            derivative is a convention.
        value: The op as a formula over other rows, for an op that Taichi does not have: lines
            `name = ...`, and the value. Computed in double precision, after differentiation.
        names: Its names in kernels, separated by spaces: `ti.sin math.sin`.
    """

    name: str
    numpy: Callable[..., Any]
    typing: Typing
    vjp: Formulas = ()
    domain: tuple[tuple[float, float], ...] = ()
    singular: bool = False
    masks: bool = False
    kinks: str = ""
    jvp: str = ""
    tie: str = ""
    value: str = ""
    names: str = ""

    @property
    def arity(self) -> int:
        """How many arguments the meaning takes; 0 where that is a list of any length."""
        if isinstance(self.numpy, np.ufunc):
            return self.numpy.nin
        parameters = inspect.signature(self.numpy).parameters.values()
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            return 0
        return sum(p.default is p.empty for p in parameters)

    def formulas(self, count: int) -> tuple[str | None, ...]:
        """Return the formula of each of `count` arguments, `...` written out."""
        if ... not in self.vjp:
            return tuple(f for f in self.vjp if f is not ...) or (None,) * count
        at = self.vjp.index(...)
        before, after = self.vjp[: at - 1], self.vjp[at + 1 :]
        between = (self.vjp[at - 1],) * (count - len(before) - len(after))
        return tuple(f for f in (*before, *between, *after) if f is not ...)


def as_given(types: tuple[Type, ...]) -> Type:
    """One value to the same type, as far as the argument tells."""
    (a,) = types
    return a


def _same_scalar(types: tuple[Type, ...]) -> Scalar:
    scalars = {scalar_of(t) for t in types}
    if len(scalars) != 1:
        raise OpTypeError(f"operands of different types: {', '.join(map(str, types))}")
    return scalars.pop()


def elementwise(types: tuple[Type, ...]) -> Type:
    """Numbers of one type; scalars go with every component of a vector or matrix."""
    shapes = {shape_of(t) for t in types} - {()}
    if len(shapes) > 1:
        shown = " and ".join(str(t) for t in types if shape_of(t))
        raise OpTypeError(f"shapes do not match: {shown}")
    return shaped(shapes.pop() if shapes else (), _same_scalar(types))


def real(types: tuple[Type, ...]) -> Type:
    """As `elementwise`, floats only."""
    if not all(is_float(t) for t in types):
        raise OpTypeError(f"expected floats, got {', '.join(map(str, types))}")
    return elementwise(types)


def whole(types: tuple[Type, ...]) -> Type:
    """As `elementwise`, integers and bools only."""
    if any(is_float(t) for t in types):
        raise OpTypeError(f"expected integers, got {', '.join(map(str, types))}")
    return elementwise(types)


def comparison(types: tuple[Type, ...]) -> Type:
    """Two numbers to a bool; componentwise for vectors."""
    return with_scalar(elementwise(types), BOOL)


def predicate(types: tuple[Type, ...]) -> Type:
    """One float to a bool."""
    return with_scalar(real(types), BOOL)


def logical(types: tuple[Type, ...]) -> Type:
    """Bools to a bool."""
    if _same_scalar(types) != BOOL:
        raise OpTypeError(f"expected bools, got {', '.join(map(str, types))}")
    return elementwise(types)


def selection(types: tuple[Type, ...]) -> Type:
    """A bool (or a bool per component) and two values of one type."""
    cond, *values = types
    if scalar_of(cond) != BOOL:
        raise OpTypeError(f"the condition is {cond}, not a bool")
    result = elementwise(tuple(values))
    if shape_of(cond) not in ((), shape_of(result)):
        raise OpTypeError(f"a condition of {cond} does not go with values of {result}")
    return result


def vector_of(types: tuple[Type, ...]) -> Type:
    """Any number of scalars to a vector of them."""
    if any(shape_of(t) for t in types):
        raise OpTypeError("the components of a vector are scalars")
    return Vector(len(types), _same_scalar(types))


def scalar_result(types: tuple[Type, ...]) -> Type:
    """One vector or matrix to a scalar."""
    (t,) = types
    if not shape_of(t):
        raise OpTypeError(f"expected a vector or matrix, got {t}")
    return scalar_of(t)


def component(types: tuple[Type, ...]) -> Type:
    """A vector or matrix and its indices to one component."""
    t, *index = types
    if not shape_of(t) or len(index) != len(shape_of(t)):
        raise OpTypeError(f"{len(index)} indices into {t}")
    return scalar_of(t)


def replaced(types: tuple[Type, ...]) -> Type:
    """A vector or matrix, its indices and a new component to the same type."""
    t, *rest = types
    if component((t, *rest[:-1])) != rest[-1]:
        raise OpTypeError(f"{rest[-1]} put into {t}")
    return t


def two_vectors(types: tuple[Type, ...]) -> tuple[Vector, Vector]:
    """Check that both arguments are vectors of one number type."""
    a, b = types
    if not isinstance(a, Vector) or not isinstance(b, Vector) or a.scalar != b.scalar:
        raise OpTypeError(f"expected two vectors, got {a} and {b}")
    return a, b


def inner(types: tuple[Type, ...]) -> Type:
    """Two vectors of one length to a scalar."""
    a, b = two_vectors(types)
    if a != b:
        raise OpTypeError(f"expected vectors of one length, got {a} and {b}")
    return a.scalar


def crossed(types: tuple[Type, ...]) -> Type:
    """Two vectors of length 3 to a third."""
    a, b = two_vectors(types)
    if a.n != 3 or b.n != 3:
        raise OpTypeError(f"expected vectors of length 2 or 3, got {a} and {b}")
    return a


def outer(types: tuple[Type, ...]) -> Type:
    """Two vectors to the matrix of all products."""
    a, b = two_vectors(types)
    return Matrix(a.n, b.n, a.scalar)


def real_vector(types: tuple[Type, ...]) -> Type:
    """One vector of floats to the same."""
    (a,) = types
    if not isinstance(a, Vector) or a.scalar not in FLOATS:
        raise OpTypeError(f"expected a vector of floats, got {a}")
    return a


def reduced_vector(types: tuple[Type, ...]) -> Type:
    """One vector of floats to a scalar."""
    return scalar_of(real_vector(types))


def length(types: tuple[Type, ...]) -> Type:
    """One vector or matrix of floats to a scalar."""
    if not is_float(types[0]):
        raise OpTypeError(f"expected floats, got {types[0]}")
    return scalar_result(types)


def product(types: tuple[Type, ...]) -> Type:
    """Matrix by matrix or matrix by vector."""
    a, b = types
    if not isinstance(a, Matrix) or isinstance(b, Scalar) or scalar_of(a) != scalar_of(b):
        raise OpTypeError(f"no matrix product of {a} and {b}")
    rows = shape_of(b)
    if rows[0] != a.m:
        raise OpTypeError(f"no matrix product of {a} and {b}: {a.m} columns, {rows[0]} rows")
    return shaped((a.n, *rows[1:]), a.scalar)


def transposed(types: tuple[Type, ...]) -> Type:
    """A matrix to its transpose."""
    (a,) = types
    if not isinstance(a, Matrix):
        raise OpTypeError(f"expected a matrix, got {a}")
    return Matrix(a.m, a.n, a.scalar)


def square(types: tuple[Type, ...]) -> Matrix:
    """Check for a square matrix."""
    (a,) = types
    if not isinstance(a, Matrix) or a.n != a.m:
        raise OpTypeError(f"expected a square matrix, got {a}")
    return a


def square_to_scalar(types: tuple[Type, ...]) -> Type:
    """A square matrix to a scalar."""
    return square(types).scalar


def small_square(types: tuple[Type, ...]) -> Matrix:
    """A square float matrix up to 4x4, to the same."""
    a = square(types)
    if a.n > 4 or a.scalar not in FLOATS:
        raise OpTypeError(f"expected a float matrix up to 4x4, got {a}")
    return a


def dense_square_to_scalar(types: tuple[Type, ...]) -> Type:
    """A square float matrix up to 16x16, to a scalar."""
    return dense_square(types).scalar


def dense_square(types: tuple[Type, ...]) -> Matrix:
    """A square float matrix up to 16x16, to the same."""
    a = square(types)
    if a.n > LARGEST_DENSE or a.scalar not in FLOATS:
        size = f"{LARGEST_DENSE}x{LARGEST_DENSE}"
        raise OpTypeError(f"expected a float matrix up to {size}, got {a}")
    return a


def system(types: tuple[Type, ...]) -> Type:
    """A square float matrix up to 16x16, and a vector or matrix of as many rows, to the latter."""
    matrix, right = types
    a = dense_square((matrix,))
    columns = shape_of(right)[-1:] or (0,)
    fits = shape_of(right)[:1] == (a.n,) and columns[0] <= LARGEST_DENSE
    if not fits or scalar_of(right) != a.scalar:
        raise OpTypeError(
            f"beside {a} a vector of {a.n} or a matrix of {a.n} rows and up to {LARGEST_DENSE} "
            f"columns is wanted here, not {right}"
        )
    return right


def packed(matrices: int, vectors: int) -> Typing:
    """Return the rule: a 2x2 or 3x3 matrix to matrices and vectors of its size in one vector."""

    def typing(types: tuple[Type, ...]) -> Type:
        a = small_square(types)
        if a.n not in (2, 3) or a.scalar not in (F32, F64):
            raise OpTypeError(f"expected a 2x2 or 3x3 matrix of f32 or f64, got {a}")
        return Vector(matrices * a.n * a.n + vectors * a.n, a.scalar)

    return typing
