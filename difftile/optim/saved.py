"""Saved states of optimisers: arrays by name, and files of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import LaunchError
from difftile.files.arrays import arrays_of, read_arrays, write_arrays

_MOST = 2**53  # steps


def write_state(path: str | os.PathLike[str], state: Mapping[str, npt.ArrayLike]) -> None:
    """Write a state that `state_dict` returned as a `.npz` file, which appears when it is whole.

    Args:
        path: The file.
        state: Arrays by name.
    """
    write_arrays(Path(path), state)


def read_state(path: str | os.PathLike[str]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays that `write_state` or `np.savez` wrote, for `load_state_dict`.

    The reader unpickles no objects, and takes no more memory than the file can hold.

    Args:
        path: The file.

    Raises:
        DatasetError: The file is missing or broken; the message says where.
    """
    return read_arrays(Path(path))


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requirements on an array of a state.

    Args:
        shape: The shape; None is any size.
        dtype: The number type of the field, in which the numbers must be finite.
        square: Whether the array holds squares, which must not be negative.
    """

    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]
    square: bool = False


def restored(
    saved: Mapping[str, npt.ArrayLike], rule: str, wanted: Mapping[str, Wanted]
) -> tuple[int, dict[str, npt.NDArray[Any]]]:
    """Return the number of steps and the arrays of a saved state.

    Args:
        saved: The state, as `state_dict` returned it.
        rule: The name of the optimiser.
        wanted: The arrays of the optimiser.

    Raises:
        LaunchError: The state belongs to another optimiser or to other fields, or has numbers that
            no optimiser has.
        DatasetError: The state is in a file that cannot be read.
    """
    what = f"dt.optim.{rule}: load_state_dict()"
    given = arrays_of(saved)
    if "rule" not in given or "steps" not in given:
        raise LaunchError(f"{what} takes a state that state_dict() returned.")
    other = given.pop("rule")
    if other.dtype.kind != "U" or other.shape or str(other) != rule:
        raise LaunchError(
            f"{what} is given the state of {str(other)[:80]}; load it with that optimiser."
        )
    steps = given.pop("steps")
    if steps.dtype.kind not in "iu" or steps.shape or not 0 <= int(steps) <= _MOST:
        raise LaunchError(f"{what}: 'steps' is a whole number from 0, not {str(steps)[:80]}.")
    for key in sorted({*given} ^ {*wanted}):
        wrong = "has no" if key in wanted else "has a"
        raise LaunchError(f"{what}: the saved state {wrong} '{key}': its fields are others.")
    for key, array in given.items():
        shape = wanted[key].shape
        fits = len(shape) == array.ndim and all(
            size in (None, found) for size, found in zip(shape, array.shape, strict=True)
        )
        if not fits or array.dtype.kind != "f":
            wanted_shape = repr(shape).replace("None", "any")
            raise LaunchError(
                f"{what}: '{key}' has the shape {array.shape} of {array.dtype}, "
                f"not {wanted_shape} of floats."
            )
        with np.errstate(over="ignore"):  # infinite then, and refused
            sound = np.isfinite(array.astype(wanted[key].dtype))
        if wanted[key].square:
            sound &= array >= 0
        if not sound.all():
            at = tuple(int(k) for k in np.argwhere(~sound)[0])
            raise LaunchError(
                f"{what}: '{key}' is {array[at]:g} at index {at}, which no valid state has. Take "
                "one from before the gradients became infinite."
            )
    return int(steps), given
