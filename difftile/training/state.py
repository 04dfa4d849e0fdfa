"""The state of a run as arrays by name: gaussians, and what belongs to them, of all ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import LaunchError
from difftile.files.arrays import Arrays, arrays_of
from difftile.training.rows_of_ranks import stretch_of, total_of

_GAUSSIANS = "gaussians"
_BY_ROW = (_GAUSSIANS, "optimiser", "strategy")  # parts whose arrays have a row for each gaussian


class Part(Protocol):
    """A part of a run with a state of its own."""

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return the state as arrays by name."""
        ...

    def load_state_dict(self, saved: Mapping[str, npt.ArrayLike], /) -> None:
        """Continue from a state that `state_dict` returned."""
        ...


def state_of(parts: Mapping[str, Part | None], gaussians: dt.Rows, step: int) -> Arrays:
    """Return the state of a run, with the rows of all ranks on rank 0.

    Args:
        parts: The parts besides the gaussians, by name.
        gaussians: The gaussians.
        step: The number of steps made.
    """
    found = {_GAUSSIANS: gaussians.to_numpy()}
    for name, part in parts.items():
        found[name] = {} if part is None else part.state_dict()
    if isinstance(gaussians, dt.distributed.SplitRows):
        for part in _BY_ROW:
            own = found[part].items()
            found[part] = {k: gaussians.collect(a) if a.ndim else a for k, a in own}
    arrays = {f"{part}.{k}": array for part, held in found.items() for k, array in held.items()}
    return {**arrays, "step": np.array(step)}


def restore(
    parts: Mapping[str, Part | None], gaussians: dt.Rows, saved: Mapping[str, npt.ArrayLike]
) -> int:
    """Restore the state of a run, and return its number of steps.

    Args:
        parts: The parts besides the gaussians, by name.
        gaussians: The gaussians.
        saved: The state, with the rows of all ranks.

    Raises:
        LaunchError: The state belongs to a run with other options, or has numbers that are not
            finite.
        FieldError: The rows of the gaussians do not fit.
        DatasetError: The state is in a file that cannot be read.
    """
    arrays = arrays_of(saved)
    step = arrays.pop("step", np.array(-1))
    given: dict[str, Arrays] = {
        part: {k.partition(".")[2]: v for k, v in arrays.items() if k.startswith(f"{part}.")}
        for part in (_GAUSSIANS, *parts)
    }
    if step.dtype.kind not in "iu" or step.shape or step < 0:
        raise LaunchError("Trainer: load_state_dict() takes a state that state_dict() returned.")
    unknown = [name for name in arrays if name.partition(".")[0] not in given]
    unknown += [name for name, part in parts.items() if part is None and given[name]]
    if unknown:
        raise LaunchError(
            f"Trainer: load_state_dict() is given '{unknown[0]}', which is unknown. Use the "
            "options of the saved run."
        )
    for name, array in given[_GAUSSIANS].items():
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            raise LaunchError(
                f"Trainer: load_state_dict(): '{name}' must be an array of finite floats."
            )
    gaussians.from_numpy(given[_GAUSSIANS])
    for name, part in parts.items():
        if part is not None:
            held = given[name]
            part.load_state_dict(_own(gaussians, held) if name in _BY_ROW else held)
    return int(step)


def _own(gaussians: dt.Rows, arrays: Arrays) -> Arrays:
    """Return the rows of this rank.

    Raises:
        LaunchError: An array has another number of rows.
    """
    total, rows = total_of(gaussians), slice(*stretch_of(gaussians))
    for name, array in arrays.items():
        if array.ndim and len(array) != total:
            raise LaunchError(
                f"Trainer: load_state_dict(): '{name}' has the shape {array.shape}, for {total} "
                "gaussians."
            )
    return {name: array[rows] if array.ndim else array for name, array in arrays.items()}
