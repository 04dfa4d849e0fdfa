"""Forms of the language that are more than functions: `ti.static`, `ti.ndrange`, `ti.cast`."""

from __future__ import annotations

import itertools
import typing
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from difftile.diagnostics import LaunchError
from difftile.ir.types import numpy_dtype
from difftile.lang.type_objects import scalar_named
from difftile.lang.values import array_of, converted, wrapped


def static(x: Any, *xs: Any) -> Any:
    """Return the arguments as they are; in a kernel they are known while compiling."""
    return [x, *xs] if xs else x


class ndrange:
    """The indices of a box: `for i, j in ti.ndrange(3, (1, 4))`.

    Args:
        bounds: For each axis a size, or a start and a stop.
    """

    def __init__(self, *bounds: Any) -> None:
        self._ranges = [range(*(map(int, _pair(one)))) for one in bounds]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(*self._ranges)


def _pair(bounds: Any) -> Sequence[Any]:
    if isinstance(bounds, (list, tuple)):
        return typing.cast("Sequence[Any]", bounds)
    return (bounds,)


def grouped(x: Any) -> Iterator[Any]:
    """Yield the indices of an `ndrange` or a field as vectors of integers."""
    cells = x if isinstance(x, ndrange) else ndrange(*x.shape)
    return (wrapped(np.array(cell, np.int32)) for cell in cells)


def cast(obj: Any, dtype: Any) -> Any:
    """Return a value in another number type; floats are cut towards zero."""
    return converted(obj, scalar_named(dtype))


def bit_cast(obj: Any, dtype: Any) -> Any:
    """Return the bits of a number as another type of the same size."""
    target = numpy_dtype(scalar_named(dtype))
    given = array_of(obj)
    if isinstance(obj, (int, float)):  # as a literal of a kernel: 32 bits
        given = given.astype(np.float32 if isinstance(obj, float) else np.int32)
    if given.dtype.itemsize != target.itemsize:
        raise LaunchError(f"{given.dtype} has another size than {target}.")
    made = given.view(target)
    return made if isinstance(obj, np.ndarray) else wrapped(made[()])


def zero(x: Any) -> Any:
    """Return zeros of the type of a value."""
    return wrapped(np.zeros_like(array_of(x))[()])


def one(x: Any) -> Any:
    """Return ones of the type of a value."""
    return wrapped(np.ones_like(array_of(x))[()])


def loop_config(**options: Any) -> None:
    """Set options of the loop that follows in a kernel: `block_dim`, `serialize`.

    Raises:
        LaunchError: Called from Python, which has no such loop.
    """
    raise _of_kernels("loop_config")


def random(dtype: Any = float) -> Any:
    """Draw a number from [0, 1) in a kernel.

    Raises:
        LaunchError: Called from Python.
    """
    raise _draws("random")


def randn(dt: Any = None) -> Any:
    """Draw a normal number in a kernel.

    Raises:
        LaunchError: Called from Python.
    """
    raise _draws("randn")


def atomic_add(x: Any, y: Any) -> NoReturn:
    """Add to a place, and return its value from before; in kernels only."""
    raise _of_kernels("atomic_add")


def atomic_sub(x: Any, y: Any) -> NoReturn:
    """Subtract from a place, and return its value from before; in kernels only."""
    raise _of_kernels("atomic_sub")


def atomic_mul(x: Any, y: Any) -> NoReturn:
    """Multiply a place, and return its value from before; in kernels only."""
    raise _of_kernels("atomic_mul")


def atomic_max(x: Any, y: Any) -> NoReturn:
    """Raise a place to a number, and return its value from before; in kernels only."""
    raise _of_kernels("atomic_max")


def atomic_min(x: Any, y: Any) -> NoReturn:
    """Lower a place to a number, and return its value from before; in kernels only."""
    raise _of_kernels("atomic_min")


def atomic_and(x: Any, y: Any) -> NoReturn:
    """Clear bits of a place, and return its value from before; in kernels only."""
    raise _of_kernels("atomic_and")


def atomic_or(x: Any, y: Any) -> NoReturn:
    """Set bits of a place, and return its value from before; in kernels only."""
    raise _of_kernels("atomic_or")


def atomic_xor(x: Any, y: Any) -> NoReturn:
    """Flip bits of a place, and return its value from before; in kernels only."""
    raise _of_kernels("atomic_xor")


def _of_kernels(name: str) -> LaunchError:
    return LaunchError(f"ti.{name}() is called in kernels and funcs.")


def _draws(name: str) -> LaunchError:
    return LaunchError(
        f"ti.{name}() is called in kernels and funcs; in Python draw with numpy.random."
    )
