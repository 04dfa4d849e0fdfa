"""Results of the kind that the arguments are: arrays of NumPy, torch, JAX or CuPy."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy.typing as npt

from difftile.fields.arrays import is_array

Make: TypeAlias = Callable[[npt.NDArray[Any]], Any]
"""Makes an array of some library out of one of NumPy, which it may keep."""


def _of_torch(like: Any) -> Make:
    torch: Any = importlib.import_module("torch")
    return lambda values: torch.from_numpy(values).to(like.device)


def _of_jax(like: Any) -> Make:
    return importlib.import_module("jax.numpy").asarray


def _of_cupy(like: Any) -> Make:
    return importlib.import_module("cupy").asarray


_LIBRARIES: dict[str, Callable[[Any], Make]] = {
    "torch": _of_torch,
    "jax": _of_jax,
    "jaxlib": _of_jax,
    "cupy": _of_cupy,
}


def kind_of(array: Any) -> Make:
    """Return a function that makes arrays of the library of an array, on its device.

    Arrays of unknown libraries become arrays of NumPy.
    """
    library = type(array).__module__.partition(".")[0]
    return _LIBRARIES[library](array) if library in _LIBRARIES else lambda values: values


def kind_among(values: Iterable[object]) -> Make | None:
    """Return the kind of the first array among some values; None if there is none."""
    return next((kind_of(value) for value in values if is_array(value)), None)
