"""Fields as arrays for JAX, and its arrays as the contents of fields.

Arrays of JAX never change, and fields do: both ways copy. The copies are arrays of NumPy, which
compiled functions of JAX take at less cost than arrays of their own.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from difftile.diagnostics import LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.recording import note_read
from difftile.ir.types import numpy_dtype, scalar_of
from difftile.jax.library import jax

Array: TypeAlias = Any
"""A `jax.Array`, or an array of NumPy that JAX takes."""


def array_of(value: ArrayLike, name: str) -> Array:
    """Return an array with a copy of a field's contents; components of vectors are trailing axes.

    Args:
        value: The field, or a part of one.
        name: The field, for errors.

    Raises:
        LaunchError: JAX would cut its numbers to 32 bits.
    """
    dtype = numpy_dtype(scalar_of(value.element))
    if dtype.itemsize == 8 and not jax.config.jax_enable_x64:
        raise LaunchError(
            f"{name} is a field of {dtype}, and JAX computes with 32 bits now. Begin the program "
            "with jax.config.update('jax_enable_x64', True), or use fields of 32 bits."
        )
    note_read(value.base)
    window, buffer = value.window, value.base.buffer
    return np.array(buffer.array() if window is None else window.of(buffer.array()))


def write_array(target: ArrayLike, array: Array) -> None:
    """Set the contents of a field from an array of its shape."""
    dtype = numpy_dtype(scalar_of(target.element))
    target.from_numpy(np.asarray(array).astype(dtype, copy=False))


def add_array(target: ArrayLike, array: Array) -> None:
    """Add an array to the contents of a field, or of a part of one."""
    target.add_numpy(np.asarray(array).astype(numpy_dtype(scalar_of(target.element)), copy=False))
