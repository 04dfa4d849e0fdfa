"""What an optimiser is when it stands still: arrays by name, and files of them."""

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
    """Write what `state_dict` returned as a `.npz` file, which appears when it is whole.

    Args:
        path: The file.
        state: Arrays by name.
    """
    write_arrays(Path(path), state)


def read_state(path: str | os.PathLike[str]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays that `write_state` or `np.savez` wrote, for `load_state_dict`.

    Nothing is unpickled, and no memory is taken for more than the file can hold.

    Args:
        path: The file.

    Raises:
        DatasetError: It is not there, or is broken; the message says where.
    """
    return read_arrays(Path(path))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an array of a state has to be.

    Args:
        shape: Its shape; None is any size.
        dtype: The type of the numbers that it becomes, in which they are finite too.
        square: Whether it is made of squares, of which none is negative.
    """

    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]
    square: bool = False


def restored(
    saved: Mapping[str, npt.ArrayLike], rule: str, wanted: Mapping[str, Wanted]
) -> tuple[int, dict[str, npt.NDArray[Any]]]:
    """Return the number of steps and the arrays of a state that was saved.

    Args:
        saved: It, as `state_dict` returned it.
        rule: Which optimiser wants it.
        wanted: The arrays that it wants.

    Raises:
        LaunchError: It is that of another optimiser, or of other fields, or has numbers that no
            optimiser has.
        DatasetError: It is that of a file, which cannot be read.
    """
    what = f"dt.optim.{rule}: load_state_dict()"
    given = arrays_of(saved)
    if "rule" not in given or "steps" not in given:
        raise LaunchError(f"{what} takes what state_dict() returned.")
    other = given.pop("rule")
    if other.dtype.kind != "U" or other.shape or str(other) != rule:
        raise LaunchError(f"{what} is given the state of {str(other)[:80]}.")
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
            raise LaunchError(
                f"{what}: '{key}' has the shape {array.shape} of {array.dtype}, "
                f"not {_shown(shape)} of floats."
            )
        with np.errstate(over="ignore"):  # infinite then, and refused
            sound = np.isfinite(array.astype(wanted[key].dtype))
        if wanted[key].square:
            sound &= array >= 0
        if not sound.all():
            at = tuple(int(k) for k in np.argwhere(~sound)[0])
            raise LaunchError(
                f"{what}: '{key}' is {array[at]:g} at index {at}, which no state is: take one from "
                "before the gradients became infinite."
            )
    return int(steps), given


def _shown(shape: tuple[int | None, ...]) -> str:
    return repr(shape).replace("None", "any")
