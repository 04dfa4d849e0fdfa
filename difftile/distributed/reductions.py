"""Reductions of fields that are split among ranks: each element counts once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from difftile.diagnostics import FieldError, TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.recording import RECORDING, may_vary
from difftile.ir.types import is_float, shape_of
from difftile.ranks.collect import gather

_HALF = 32  # bits: numbers of so many are exact in double precision
_OF_NOTHING = {"sum": 0.0, "min": math.inf, "max": -math.inf}
_EXACT: dict[str, Callable[[Sequence[int]], int]] = {"sum": sum, "min": min, "max": max}


def reduced(name: str, field: Field) -> Any:
    """Return a reduction over the elements that all ranks own; every rank calls this.

    No gradient flows through it, so on a tape it is refused where one might be wanted.

    Args:
        name: "sum", "mean", "min", "max" or "norm".
        field: The field.

    Raises:
        FieldError: There are no elements, or this is another shape of the field.
        RankError: Another rank failed, or did not answer.
        TapeError: A tape is open that would need its derivative.
    """
    recording = RECORDING.get()
    recorded = recording.recorder is not None and not recording.constant
    if recorded and is_float(field.element) and may_vary(field):
        raise TapeError(
            f"{name}() of {field.named()}, which is split among ranks, has no derivative on a "
            "tape. Compute it for this rank's elements in a kernel that adds to a field of shape "
            "(), and combine the ranks: dt.distributed.sum(total), or max, or min."
        )
    split = field.split
    assert split is not None
    if not split.size and name not in ("sum", "norm"):
        raise FieldError(f"{field!r} has no elements, so it has no {name}().")
    if name == "mean":
        return reduced("sum", field) / split.size
    inner = field.inner
    if name == "norm":
        size: Any = inner.norm() if inner.size else 0.0
        largest = gather([float(size)], f"norm() of {field.named()}").max()
        # The squares of large or small numbers might not be.
        unit = float(largest) if 0.0 < largest < math.inf else 1.0
        part = size / unit
        return unit * np.sqrt(_combined("sum", part * part, field, exact=False))
    found = getattr(inner, name)() if inner.size else _nothing(name, field)
    return _combined(name, found, field, exact=not is_float(field.element))


def _combined(name: str, found: Any, field: Field, *, exact: bool) -> Any:
    """Return a reduction of what the ranks have found, of integers an exact one."""
    what = f"{name}() of {field.named()}"
    if not exact:
        each = gather(found, what)
        result = getattr(each, name)(axis=0)
        return result.reshape(np.shape(found)) if np.shape(found) else float(result[0])
    numbers = [int(one) for one in np.asarray(found, object).reshape(-1)]
    halves = [(one >> _HALF, one & ((1 << _HALF) - 1)) for one in numbers]
    each = gather([float(half) for pair in halves for half in pair], what)
    results = [
        _EXACT[name]([(int(row[2 * k]) << _HALF) + int(row[2 * k + 1]) for row in each])
        for k in range(len(numbers))
    ]
    return np.array(results).reshape(np.shape(found)) if np.shape(found) else results[0]


def _nothing(name: str, field: ArrayLike) -> Any:
    """Return the reduction of a rank that owns nothing."""
    inner = shape_of(field.element)
    if not is_float(field.element):
        number: Any = {"sum": 0, "min": 1 << 65, "max": -(1 << 65)}[name]
        return np.full(inner, number, object) if inner else number
    return np.full(inner, _OF_NOTHING[name]) if inner else _OF_NOTHING[name]
