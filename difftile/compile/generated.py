"""Arguments that each thread generates: its index, or a random number."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from difftile.diagnostics import FieldError, LaunchError, abbreviated, brief
from difftile.fields.exchange import Shape, as_integer, as_shape
from difftile.records import dataclass
from difftile.tracebacks import boundary

_Function = TypeVar("_Function", bound=Callable[..., Any])
_MOST = 2**31
_BINARY = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)
_OPERATORS = (
    *(f"__{prefix}{name}__" for name in _BINARY for prefix in ("", "r")),
    *("__neg__", "__pos__", "__abs__", "__invert__", "__lt__", "__le__", "__gt__", "__ge__"),
    *("__getitem__", "__float__", "__int__", "__array_ufunc__"),
)


class Generated:
    """An argument that each thread generates, and that has no value in Python."""

    __slots__ = ()

    @property
    def hint(self) -> str:
        """What to write instead of an operator in Python, as sentences."""
        return "Compute with it in the kernel or func that takes it as an argument."


@boundary
def _no_value(self: Generated, *_: object, **__: object) -> NoReturn:
    raise LaunchError(f"{self!r} has a value in each thread, and none in Python. {self.hint}")


for _name in _OPERATORS:
    setattr(Generated, _name, _no_value)


@dataclass(frozen=True, slots=True)
class Grid(Generated):
    """The index of each thread of a box; made by `dt.grid`."""

    shape: tuple[int, ...]

    def __repr__(self) -> str:
        return f"dt.grid({self.shape})"


@dataclass(frozen=True, slots=True)
class CallId(Generated):
    """The index of each call of a func; made by `dt.call_id`."""

    def __repr__(self) -> str:
        return "dt.call_id()"


@dataclass(frozen=True, slots=True)
class Drawn(Generated):
    """A random number for each call of a func; made by `dt.rand(seed)` and `dt.randn(seed)`."""

    name: str
    seed: int

    def __repr__(self) -> str:
        return f"dt.{self.name}({self.seed})"

    @property
    def hint(self) -> str:
        """What to write instead of an operator in Python, as sentences."""
        return (
            f"A func draws it for each call, 'f(x, {self!r})'. For an array of random numbers "
            f"write 'dt.from_numpy({_ARRAYS[self.name]})'."
        )


def grid(*shape: Shape) -> Grid:
    """Return an argument that is the index of each thread: `dt.grid((64, 64))`.

    A kernel that is given one runs its body once for each index, and a func is called once for
    each. The index is an integer for one axis. For more it is a vector of integers in the order of
    the axes: `x[i]` is the element that a field of that shape has at `x[i[0], i[1]]`.

    Args:
        shape: The sizes of the axes, as a tuple or one by one.

    Raises:
        FieldError: The sizes are not a shape.
    """
    one = shape[0] if len(shape) == 1 else shape
    sizes = as_shape(one)  # pyrefly: ignore[bad-argument-type] - user input
    if math.prod(sizes) >= _MOST:
        raise FieldError(f"dt.grid({abbreviated(sizes)}) is too large: an index is below 2**31.")
    return Grid(sizes)


def call_id() -> CallId:
    """Return an argument that is the index of each call of a func, as `dt.grid` gives it.

    The shape of the call follows from the other arguments or from `_result`.
    """
    return CallId()


def drawn(name: str, seed: object) -> Drawn:
    """Return an argument that is a random number for each call of a func.

    Args:
        name: `rand` or `randn`.
        seed: An integer of 32 bits: the same one gives the same numbers.

    Raises:
        LaunchError: The seed is not an integer of 32 bits.
    """
    number = as_integer(seed)
    if number is None or not -(2**31) <= number < 2**31:
        raise LaunchError(
            f"the seed of dt.{name}(seed) is an integer of 32 bits, not {brief(seed)}."
        )
    return Drawn(name, number)


_ARRAYS = {
    "rand": "np.random.default_rng(seed).random(shape)",
    "randn": "np.random.default_rng(seed).normal(size=shape)",
    "randint": "np.random.default_rng(seed).integers(low, high, shape)",
}


def _of_kernels(function: _Function) -> _Function:
    """Refuse calls from Python but those with a seed; a decorator."""
    name = function.__name__

    @functools.wraps(function)
    @boundary
    def called(*args: object, **kwargs: object) -> Drawn:
        if name != "randint" and len(args) == 1 and not kwargs and isinstance(args[0], int):
            return drawn(name, args[0])
        raise LaunchError(
            f"dt.{name}() draws in kernels and funcs; in Python write "
            f"'dt.from_numpy({_ARRAYS[name]})'."
        )

    return called  # pyrefly: ignore[bad-return]


@_of_kernels
def rand(dtype: Any = float) -> Drawn:
    """Draw a number that is uniform in [0, 1), in kernels and funcs.

    In Python `dt.rand(seed)` is an argument for a func: each call gets a number of its own, which
    depends only on the seed and on the index of the call.

    Args:
        dtype: A float type, by default the float type of the kernel's fields; in Python the seed.

    Raises:
        LaunchError: The function is called from Python without a seed.
    """
    ...


@_of_kernels
def randn(dtype: Any = float) -> Drawn:
    """Draw a normal number with mean 0 and variance 1, in kernels and funcs.

    `x = mu + sigma * dt.randn()` has the gradient of a reparameterised sample: the adjoint draws
    the same numbers again. In Python `dt.randn(seed)` is an argument for a func, as `dt.rand(seed)`
    is.

    Args:
        dtype: A float type, by default the float type of the kernel's fields; in Python the seed.

    Raises:
        LaunchError: The function is called from Python without a seed.
    """
    ...


@_of_kernels
def randint(low: int, high: int) -> NoReturn:
    """Draw one of the integers low, ..., high - 1; only in kernels and funcs.

    `dt.randint(n)` draws from 0, ..., n - 1. If high is not above low, the result is low.

    Raises:
        LaunchError: The function is called from Python.
    """
    ...
