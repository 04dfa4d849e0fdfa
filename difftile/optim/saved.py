"""What an optimiser is when it stands still: arrays by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import LaunchError


def restored(
    saved: Mapping[str, npt.ArrayLike], rule: str, shapes: Mapping[str, tuple[int | None, ...]]
) -> tuple[int, dict[str, npt.NDArray[Any]]]:
    """Return the number of steps and the arrays of a state that was saved.

    Args:
        saved: It, as `state_dict` returned it.
        rule: Which optimiser wants it.
        shapes: The shape of each array that it wants; None is any size.

    Raises:
        LaunchError: It is that of another optimiser, or of other fields.
    """
    what = f"dt.optim.{rule}: load_state_dict()"
    given = {key: np.asarray(saved[key]) for key in saved}
    if "rule" not in given or "steps" not in given:
        raise LaunchError(f"{what} takes what state_dict() returned.")
    other = str(given.pop("rule"))
    if other != rule:
        raise LaunchError(f"{what} is given the state of {other}.")
    steps = int(given.pop("steps"))
    for key in sorted({*given} ^ {*shapes}):
        wrong = "has no" if key in shapes else "has a"
        raise LaunchError(f"{what}: the saved state {wrong} '{key}': its fields are others.")
    for key, array in given.items():
        shape = shapes[key]
        fits = len(shape) == array.ndim and all(
            size in (None, found) for size, found in zip(shape, array.shape, strict=True)
        )
        if not fits or array.dtype.kind != "f":
            raise LaunchError(f"{what}: '{key}' has the shape {array.shape}, not {_shown(shape)}.")
    return steps, given


def _shown(shape: tuple[int | None, ...]) -> str:
    return repr(shape).replace("None", "any")
