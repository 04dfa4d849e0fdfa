"""Reductions of fields that are split among ranks: each element counts once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import difftile as dt
from difftile.diagnostics import FieldError
from difftile.distributed.losses import combine
from difftile.fields.recording import RECORDING, Recording, may_vary
from difftile.ranks.collect import gather

_HALF = 32  # bits: numbers of so many are exact in double precision
_OF_NOTHING = {"sum": 0.0, "min": math.inf, "max": -math.inf}
_EXACT: dict[str, Callable[[Sequence[int]], int]] = {"sum": sum, "min": min, "max": max}


def reduced(name: str, field: dt.Field) -> Any:
    """Return a reduction over the elements that all ranks own; every rank calls this.

    On a tape it is a step, after which all ranks compute the same with it, as after `dist.sum`.

    Args:
        name: "sum", "mean", "min", "max" or "norm".
        field: The field.

    Raises:
        FieldError: There are no elements, or this is another shape of the field.
        RankError: Another rank failed, or did not answer.
        TapeError: In the backward pass: ranks use the result differently.
    """
    split = field.split
    assert split is not None
    if not split.size and name not in ("sum", "norm"):
        raise FieldError(f"{field!r} has no elements, so it has no {name}().")
    recording = RECORDING.get()
    recorded = recording.recorder is not None and not recording.constant
    if recorded and field.numpy_dtype.kind == "f" and may_vary(field):
        return _recorded(name, field, split.size)
    if name == "mean":
        return reduced("sum", field) / split.size
    inner = field.inner
    if name == "norm":
        size: Any = inner.norm() if inner.size else 0.0
        largest = gather([float(size)], f"norm() of {field.named()}", _dtype(field)).max()
        # The squares of large or small numbers might not be.
        unit = float(largest) if 0.0 < largest < math.inf else 1.0
        part = size / unit
        return unit * np.sqrt(_combined("sum", part * part, field, exact=False))
    found = getattr(inner, name)() if inner.size else _nothing(name, field)
    return _combined(name, found, field, exact=field.numpy_dtype.kind != "f")


def _recorded(name: str, field: dt.Field, count: int) -> Any:
    """Return a reduction with its derivative.

    Args:
        name: The reduction.
        field: The field.
        count: The number of elements of all ranks.
    """
    step = _STEPS[name]
    inner: Any = field.inner
    part = getattr(inner, step.part)() if inner.size else _nothing(step.part, field)
    ties = None
    if step.op in ("min", "max"):
        with Recording():
            axes = tuple(range(len(inner.shape)))
            ties = (inner.to_numpy() == np.asarray(part)).sum(axis=axes).astype(float).reshape(-1)
    number = dt.value(part * part if name == "norm" else part)
    remedy = f"If each uses it for elements of its own, write {step.instead}, with x the field."
    combine(step.op, number, f"{name}() of {field.named()}", remedy, ties=ties)
    if name == "mean":
        number.copy_from(number / count)
    found = number.sum()  # of one element: the number, with its gradient
    return np.sqrt(found) if name == "norm" else found


@dataclass(frozen=True, slots=True)
class _ReductionStep:
    """A reduction on a tape.

    Args:
        part: The reduction of the elements of each rank.
        op: The combination of the ranks' numbers.
        instead: The spelling for results that ranks use differently.
    """

    part: str
    op: str
    instead: str


_STEPS = {
    "sum": _ReductionStep("sum", "sum", "dist.sum(x.inner.sum(), local=True)"),
    "mean": _ReductionStep("sum", "sum", "dist.sum(x.inner.sum(), local=True) / count"),
    "min": _ReductionStep("min", "min", "dist.min(x.inner.min(), local=True)"),
    "max": _ReductionStep("max", "max", "dist.max(x.inner.max(), local=True)"),
    "norm": _ReductionStep(
        "norm", "sum", "dist.sum(x.inner.norm() ** 2, local=True), and its root"
    ),
}


def _combined(name: str, found: Any, field: dt.Field, *, exact: bool) -> Any:
    """Return a reduction of what the ranks have found, of integers an exact one."""
    what = f"{name}() of {field.named()}"
    if not exact:
        each = gather(found, what, _dtype(field))
        result = getattr(each, name)(axis=0)
        return result.reshape(np.shape(found)) if np.shape(found) else float(result[0])
    numbers = [int(one) for one in np.asarray(found, object).reshape(-1)]
    halves = [(one >> _HALF, one & ((1 << _HALF) - 1)) for one in numbers]
    each = gather([float(half) for pair in halves for half in pair], what, _dtype(field))
    results = [
        _EXACT[name]([(int(row[2 * k]) << _HALF) + int(row[2 * k + 1]) for row in each])
        for k in range(len(numbers))
    ]
    return np.array(results).reshape(np.shape(found)) if np.shape(found) else results[0]


def _dtype(field: dt.Field) -> np.dtype[Any]:
    return field.numpy_dtype


def _nothing(name: str, field: dt.ArrayLike) -> Any:
    """Return the reduction of a rank that owns nothing."""
    inner = field.element_shape
    if field.numpy_dtype.kind != "f":
        number: Any = {"sum": 0, "min": 1 << 65, "max": -(1 << 65)}[name]
        return np.full(inner, number, object) if inner else number
    return np.full(inner, _OF_NOTHING[name]) if inner else _OF_NOTHING[name]
