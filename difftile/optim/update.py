"""The launches of a step: one that moves a field by a rule, and one that looks at a gradient.

A rule is a func `rule(i, x, d, state, numbers)` that takes the value `x` of element `i` and its
gradient `d`, changes element `i` of the fields in `state`, and returns the new value. The code for
entries of `state` or `numbers` that are `None` is left out when the kernel is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.compile.func import func
from difftile.fields.field import Field
from difftile.ir.types import F64, Scalar
from difftile.optim.parameters import NamedParameter
from difftile.runtime.kernel import kernel
from difftile.substrate import dtype_of, ti

_double = dtype_of(F64)


@func
def _move_element(i: Any, rule: Any, x: Any, g: Any, state: Any, numbers: Any, limits: Any) -> None:
    scale, clip, low, high = limits
    d = scale * g[i]
    if ti.static(clip is not None):
        d = max(min(d, clip), -clip)
    moved = rule(i, x[i], d, state, numbers)
    if ti.static(low is not None):
        moved = max(moved, low)
    if ti.static(high is not None):
        moved = min(moved, high)
    x[i] = moved


@kernel
def move(rule: Any, x: Any, g: Any, state: Any, numbers: Any, limits: Any) -> None:
    """Move a field by a rule.

    Args:
        rule: The func.
        x: The field.
        g: Its gradient.
        state: The fields of the rule's state, None for unused ones.
        numbers: The rule's numbers.
        limits: A factor of the gradient, the largest magnitude of its components after that, and
            the least and the largest value of the components of x; all but the factor may be None.
    """
    if ti.static(len(x.shape) == 0):
        _move_element(None, rule, x, g, state, numbers, limits)
    else:
        for i in ti.grouped(x):
            _move_element(i, rule, x, g, state, numbers, limits)


@func
def _square(g: Any, i: Any, several: Any) -> Any:
    number = _double(g[i])
    return (number * number).sum() if ti.static(several) else number * number


@kernel
def _add_squares(total: Any, g: Any, several: Any) -> None:
    if ti.static(len(g.shape) == 0):
        total[None] += _square(g, None, several)
    else:
        for i in ti.grouped(g):
            total[None] += _square(g, i, several)


def norm(total: Field, gradients: Sequence[Field]) -> float:
    """Return the norm of several gradients as one vector; not finite exactly if one of them is not.

    Args:
        total: A work field in double precision, of shape ().
        gradients: The gradients.
    """
    total.fill(0.0)
    for g in gradients:
        _add_squares(total, g, not isinstance(g.element, Scalar))
    squared = float(total[None])
    if math.isfinite(squared):
        return math.sqrt(squared)
    # One number is not finite, or the squares of large ones are not.
    arrays = [g.to_numpy().astype(np.float64) for g in gradients]
    largest = max(float(np.max(np.abs(array))) for array in arrays)
    if not all(bool(np.isfinite(array).all()) for array in arrays):
        return math.nan
    squared = sum(float(np.sum((array / largest) ** 2)) for array in arrays)
    return min(largest * math.sqrt(squared), float(np.finfo(np.float64).max))


def first_not_finite(parameters: Sequence[NamedParameter]) -> str:
    """Return the place of the first number in the gradients that is not finite, in words."""
    for one in parameters:
        gradient: npt.NDArray[Any] = one.grad.to_numpy()
        wrong = np.argwhere(~np.isfinite(gradient))
        if len(wrong):
            index = tuple(int(k) for k in wrong[0])
            at, parts = index[: one.field.ndim], index[one.field.ndim :]
            where = f"at index {at}" if at else "in its element"
            where += f", component {parts}" if parts else ""
            return f"the gradient of {one} is {gradient[index]} {where}"
    raise AssertionError("all gradients are finite")
