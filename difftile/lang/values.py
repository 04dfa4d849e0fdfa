"""Vectors and matrices that Python makes: `ti.Vector([1.0, 2.0])`, `ti.math.vec3(1, 2, 3)`.

They follow the rules of kernels: shapes are never broadcast, `*` is by component and `@` a product,
and integers stay integers. Floats are in double precision unless their type says another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import LaunchError, UnknownName, brief, counted
from difftile.ir.types import I32, Scalar, numpy_dtype, scalar_from_numpy
from difftile.lang import evaluate as _evaluate
from difftile.lang.arithmetic import Arithmetic
from difftile.lang.dialects import PACKAGES, dialect_values
from difftile.lang.evaluate import in_type
from difftile.lang.type_objects import scalar_named, without
from difftile.ops.table import NAMED

_LETTERS = {letter: k for set_ in ("xyzw", "rgba", "stpq") for k, letter in enumerate(set_)}


def components_named(name: str, n: int) -> list[int] | None:
    """Return the components of a vector of length n that letters name, or None: `xy`, `b`."""
    picks = [_LETTERS.get(letter, n) for letter in name]
    return None if any(pick >= n for pick in picks) else picks


class OfPython(type):
    """The class of `ti.Vector`, `ti.Matrix` and `ti.Struct`, which make no fields."""

    def __getattr__(cls, name: str) -> Any:
        raise without(f"'ti.{cls.__name__}'", name)


class Matrix(Arithmetic, metaclass=OfPython):
    """A matrix of numbers; `Vector` is one with a single axis.

    Args:
        rows: The numbers: a list of rows, an array, or a list of numbers for a vector.
        dt: The number type; by default the type of the numbers.

    Raises:
        LaunchError: The numbers are no vector or matrix.
    """

    __slots__ = ("_numbers",)
    _numbers: npt.NDArray[Any]

    def __new__(cls, rows: Any, dt: Any = None) -> Any:
        """Return a matrix, or a vector where the numbers have one axis."""
        numbers = array_of(rows)
        if numbers.ndim not in (1, 2) or not numbers.size:
            raise LaunchError(
                "a vector is a list of numbers, and a matrix a list of rows of one length; this "
                f"has the shape {numbers.shape}."
            )
        return wrapped(numbers if dt is None else in_type(numbers, scalar_named(dt)))

    # Made by type

    @staticmethod
    def zero(dt: Any, n: int, m: int | None = None) -> Any:
        """Return a vector, or a matrix of n rows and m columns, of zeros."""
        return _filled(0, dt, n, m)

    @staticmethod
    def one(dt: Any, n: int, m: int | None = None) -> Any:
        """Return a vector, or a matrix of n rows and m columns, of ones."""
        return _filled(1, dt, n, m)

    @staticmethod
    def identity(dt: Any, n: int) -> Any:
        """Return the matrix with ones on the diagonal."""
        return wrapped(np.eye(n, dtype=numpy_dtype(scalar_named(dt))))

    @staticmethod
    def diag(dim: int, val: Any) -> Any:
        """Return the matrix with one number on the diagonal."""
        number = array_of(val)
        return wrapped(np.eye(dim, dtype=number.dtype) * number)

    @staticmethod
    def unit(n: int, i: int, dt: Any = None) -> Any:
        """Return the vector with a one at a position; of integers unless `dt` says otherwise."""
        if not 0 <= i < n:
            raise LaunchError(f"expected an index from 0 to {n - 1}, got {i}.")
        return wrapped(np.eye(n, dtype=numpy_dtype(I32 if dt is None else scalar_named(dt)))[i])

    @staticmethod
    def rows(rows: Sequence[Any]) -> Any:
        """Return the matrix with vectors as its rows."""
        return Matrix(list(rows))

    @staticmethod
    def cols(cols: Sequence[Any]) -> Any:
        """Return the matrix with vectors as its columns."""
        return Matrix(list(cols)).transpose()

    # Size and contents

    @property
    def n(self) -> int:
        """The number of rows, or of components."""
        return self._numbers.shape[0]

    @property
    def m(self) -> int:
        """The number of columns; 1 for a vector."""
        return self._numbers.shape[1] if self._numbers.ndim == 2 else 1

    @property
    def is_followed(self) -> bool:
        """Whether the open tape follows some of the numbers."""
        return self._numbers.dtype == object

    @property
    def ndim(self) -> int:
        """1 for a vector, 2 for a matrix."""
        return self._numbers.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """(n,) or (n, m)."""
        return self._numbers.shape

    def get_shape(self) -> tuple[int, ...]:
        """Return (n,) or (n, m)."""
        return self._numbers.shape

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return a copy as an array."""
        return self._numbers.copy()

    def to_list(self) -> list[Any]:
        """Return the numbers, or the rows."""
        return self._numbers.tolist()

    def copy(self) -> Any:
        """Return a copy."""
        return wrapped(self._numbers.copy())

    def fill(self, value: Any) -> None:
        """Put a number into every component."""
        self._set(..., value)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Any]:
        return map(_part, self._numbers)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("a vector is copied into an array")
        return self._numbers.astype(self._numbers.dtype if dtype is None else dtype)

    def __getitem__(self, index: Any) -> Any:
        return _part(self._numbers[self._index(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._set(self._index(index), value)

    def _index(self, index: Any) -> Any:
        picks = cast("tuple[Any, ...]", index if isinstance(index, tuple) else (index,))
        if len(picks) > self._numbers.ndim:
            takes = counted(self._numbers.ndim, "index", "indices")
            raise IndexError(f"{self._title} takes {takes}, not {len(picks)}.")
        if not all(isinstance(one, (int, np.integer, slice)) for one in picks):
            raise LaunchError(f"an index is an integer or a slice, not {brief(index)}.")
        return picks

    def _set(self, index: Any, value: Any) -> None:
        if not self._numbers.flags.writeable:
            raise LaunchError(
                "a row or slice is a copy; write 'm[0, 1] = x', or change 'm[0].copy()'."
            )
        given, place = array_of(value), self._numbers[index]
        if given.shape not in ((), np.shape(place)):
            raise LaunchError(f"{np.shape(place)} numbers are given {given.shape}.")
        if given.dtype.kind == "f" and self._numbers.dtype.kind != "f":
            hint = "make the vector of floats, or cast: 'ti.cast(x, ti.i32)'."
            raise LaunchError(f"{self._title} holds {self._numbers.dtype}, not floats; {hint}")
        self._numbers[index] = given

    @property
    def _title(self) -> str:
        return f"a {' x '.join(map(str, self.shape))} matrix" if self.ndim == 2 else "a vector"

    # Components by letters

    def __getattr__(self, name: str) -> Any:
        picks = self._picks(name)
        if picks is None:
            raise _missing(self, name)
        return wrapped(self._numbers[picks[0] if len(picks) == 1 else picks])

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_numbers", "__class__"):
            object.__setattr__(self, name, value)
            return
        picks = self._picks(name)
        if picks is None:
            raise _missing(self, name)
        self._set(picks[0] if len(picks) == 1 else picks, value)

    def _picks(self, name: str) -> list[int] | None:
        """Return the components that letters name, or None."""
        return components_named(name, self.n) if self._numbers.ndim == 1 else None

    # Functions

    def max(self) -> Any:
        """Return the largest component."""
        return apply("max", *self._numbers.ravel())

    def min(self) -> Any:
        """Return the smallest component."""
        return apply("min", *self._numbers.ravel())

    def any(self) -> bool:
        """Tell whether a component is not 0."""
        return bool((self._numbers != 0).any())

    def all(self) -> bool:
        """Tell whether no component is 0."""
        return bool((self._numbers != 0).all())

    def cast(self, dtype: Any, /) -> Any:
        """Return the components in another number type."""
        return converted(self, scalar_named(dtype))

    # Operators

    @staticmethod
    def _apply(op: str, *operands: Any) -> Any:
        return apply(op, *operands)

    @staticmethod
    def _operate(op: str, *operands: Any) -> Any:
        for one in operands:
            known = isinstance(one, (bool, int, float, np.generic, np.ndarray, list, tuple, Matrix))
            if not known and not is_followed(one) and dialect_values(one) is None:
                return NotImplemented
        return wrapped(apply(op, *operands))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        op = _OF_UFUNC.get(ufunc)
        if op is None or method != "__call__" or options:
            return NotImplemented
        return apply(op, *inputs)

    def __bool__(self) -> bool:
        raise LaunchError(f"{self._title} is neither true nor false; write 'v.any()' or 'v.all()'.")

    def __str__(self) -> str:
        return str(self._numbers)

    def __repr__(self) -> str:
        return f"ti.{type(self).__name__}({self._numbers.tolist()})"

    def __reduce__(self) -> Any:
        return wrapped, (self._numbers,)


class Vector(Matrix):
    """A vector of numbers; a list of rows makes a `Matrix`.

    Args:
        rows: The numbers.
        dt: The number type; by default the type of the numbers.

    Raises:
        LaunchError: The numbers are no vector or matrix.
    """

    __slots__ = ()


def _missing(value: Matrix, name: str) -> UnknownName:
    known = ", ".join(one for one in dir(Matrix) if not one.startswith("_"))
    title = value._title[:1].upper() + value._title[1:]  # pyrefly: ignore[protected-access]
    return UnknownName(f"{title} has no attribute '{name}'; it has {known}.")


def _filled(number: int, dt: Any, n: int, m: int | None) -> Any:
    shape = (n,) if m is None else (n, m)
    return wrapped(np.full(shape, number, numpy_dtype(scalar_named(dt))))


# Between values and arrays


def wrapped(numbers: Any) -> Any:
    """Return an array as a vector or matrix, and a number as it is."""
    if not isinstance(numbers, np.ndarray) or not numbers.ndim:
        return cast(Any, numbers)
    made = object.__new__(Vector if numbers.ndim == 1 else Matrix)
    object.__setattr__(made, "_numbers", numbers)
    return made


def _part(numbers: Any) -> Any:
    """Return a part of a value, to which no one assigns in the belief that it is the value's."""
    if not isinstance(numbers, np.ndarray):
        return numbers
    made: Any = np.array(cast(Any, numbers), subok=True)
    made.flags.writeable = False
    return wrapped(made[()])


def own_values(value: object) -> npt.NDArray[Any] | None:
    """Return the array of a vector or matrix of this module; None for other objects."""
    return value._numbers if isinstance(value, Matrix) else None  # pyrefly: ignore[protected-access]


def array_of(value: Any) -> npt.NDArray[Any]:
    """Return a number, list, array or vector as a new array.

    Raises:
        LaunchError: It holds no numbers, or lists of different lengths.
    """
    array = _numbers_of(value)
    found = np.array(array, subok=True) if array is not None else None
    if found is None or (found.dtype != object and scalar_from_numpy(found.dtype) is None):
        raise LaunchError(f"expected numbers, got {value!r}.")
    return found


def _numbers_of(value: Any) -> npt.NDArray[Any] | None:
    if is_followed(value):  # an array of objects, while it is
        return np.asarray(value)
    if isinstance(value, (bool, int, float, np.generic, np.ndarray)):
        array = np.asarray(cast(Any, value))
        return array if array.dtype != object or all(map(is_followed, array.flat)) else None
    if isinstance(value, Matrix):
        return value._numbers  # pyrefly: ignore[protected-access]
    known = dialect_values(value)
    if known is not None:
        return known
    if not isinstance(value, (list, tuple, range)):
        return None
    parts = [array_of(one) for one in cast("Sequence[Any]", value)]
    shapes = {one.shape for one in parts}
    if len(shapes) > 1:
        raise LaunchError("rows of different lengths are no matrix.")
    if not parts:
        return np.zeros(0)
    given = list(cast("Sequence[Any]", value))
    if all(isinstance(one, bool) for one in given):
        return np.array(given, bool)
    if any(one.dtype == object for one in parts):
        return np.stack([one.astype(object) for one in parts])
    literal = parts[0].ndim == 0
    # Numbers of Python take the type of the others.
    return np.stack(_evaluate.common(given if literal else parts))


def converted(value: Any, scalar: Scalar) -> Any:
    """Return a number, array or vector in a number type."""
    if isinstance(value, int) and not isinstance(value, bool):
        dtype = numpy_dtype(scalar)
        if dtype.kind in "iu":  # the low bits, of integers of any size
            bits = 8 * dtype.itemsize
            low = value % (1 << bits)
            return dtype.type(low - (1 << bits) if dtype.kind == "i" and low >> (bits - 1) else low)
        return dtype.type(value)
    made = in_type(array_of(value), scalar)
    return made if isinstance(value, np.ndarray) else wrapped(made[()])


def apply(op: str, *args: Any) -> Any:
    """Return the value of a function of the tables for numbers, arrays, lists and vectors.

    Numbers of Python give a number of Python, arrays an array, and vectors or lists a vector.

    Raises:
        LaunchError: The function does not take such values.
    """
    if any(is_followed(arg) or (isinstance(arg, Matrix) and arg.is_followed) for arg in args):
        return _followed(op, args)
    plain = all(isinstance(arg, (bool, int, float)) for arg in args)
    shaped = not all(isinstance(arg, _UNSHAPED) for arg in args)
    values = [arg if isinstance(arg, (bool, int, float)) else array_of(arg) for arg in args]
    made = _evaluate.evaluate(op, values, shaped_arrays=shaped)
    if plain:
        return cast(Any, made).item() if isinstance(made, np.generic) else wrapped(made)
    return wrapped(made) if shaped else made


_UNSHAPED = (bool, int, float, np.generic, np.ndarray)


def is_followed(value: Any) -> bool:
    """Tell whether NumPy's functions do more with a number than compute: record its derivative."""
    kind = cast("type[Any]", type(value))
    package = kind.__module__.partition(".")[0]
    return (
        hasattr(kind, "__array_ufunc__") and package not in _PLAIN and not isinstance(value, Matrix)
    )


def _followed(op: str, args: Sequence[Any]) -> Any:
    function = _UFUNCS.get(op) or _OF_OBJECTS.get(op)
    if function is None:
        raise LaunchError(
            f"'{op}' of numbers that a tape follows is computed in kernels and funcs only."
        )
    return wrapped(function(*(array_of(arg) if isinstance(arg, Matrix) else arg for arg in args)))


_PLAIN = ("numpy", *PACKAGES)
_UFUNCS: dict[str, np.ufunc] = {
    **{
        op: getattr(np, name.removeprefix("np."))
        for name, op in NAMED.items()
        if name.startswith("np.")
        and isinstance(getattr(np, name.removeprefix("np."), None), np.ufunc)
    },
    **{"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide},
    **{"floordiv": np.floor_divide, "neg": np.negative, "pow": np.power, "abs": np.absolute},
    **{"max": np.maximum, "min": np.minimum, "matmul": np.matmul, "invert": np.invert},
    **{"bit_and": np.bitwise_and, "bit_or": np.bitwise_or, "bit_xor": np.bitwise_xor},
    **{"shl": np.left_shift, "shr": np.right_shift, "lt": np.less, "le": np.less_equal},
    **{"gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal},
}


def _norm_sqr(a: Any) -> Any:
    return np.sum(a * a)


def _normalized(a: Any) -> Any:
    return a / np.linalg.norm(a)


# The methods of vectors and matrices whose components a tape follows.
_OF_OBJECTS: dict[str, Callable[..., Any]] = {
    **{"dot": np.dot, "cross": np.cross, "outer": np.outer, "sum": np.sum, "trace": np.trace},
    **{"transpose": np.transpose, "norm": np.linalg.norm},
    **{"norm_sqr": _norm_sqr, "normalized": _normalized},
}
_OF_UFUNC = {ufunc: op for op, ufunc in _UFUNCS.items()} | {np.fmax: "max", np.fmin: "min"}
