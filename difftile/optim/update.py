"""The launch of a step, which moves all fields by a rule.

A rule is a func `rule(i, x, d, state, numbers)` that takes the value `x` of element `i` and its
gradient `d`, changes element `i` of the fields in `state`, and returns the new value. The code for
entries of `state` or `numbers` that are `None` is left out when the kernel is compiled.

A kernel has one type for numbers that are no elements, the widest of its fields: fields of several
types are moved by a launch for each type (`launches`). Of fields that are split among ranks a rank
moves the elements that it owns: others are copies, or boundary values of the program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import difftile as dt
from difftile import ti

_TOGETHER = 16  # fields of a launch: each has a loop of its own, which takes time to compile


@dt.func
def _move_element(i: Any, rule: Any, x: Any, g: Any, state: Any, numbers: Any, limits: Any) -> None:
    zeros, scale, clip, low, high = limits
    d = scale * g[i]
    if ti.static(zeros is not None):
        d = ti.select(math.isfinite(d), d, 0.0)
    if ti.static(clip is not None):
        d = max(min(d, clip), -clip)
    moved = rule(i, x[i], d, state, numbers)
    if ti.static(low is not None):
        moved = max(moved, low)
    if ti.static(high is not None):
        moved = min(moved, high)
    x[i] = moved


@dt.kernel
def move(
    rule: Any, xs: Any, gradients: Any, states: Any, numbers: Any, limits: Any, visible: Any
) -> None:
    """Move fields by a rule.

    Args:
        rule: The func.
        xs: The fields.
        gradients: The gradient of each.
        states: The fields of the rule's state for each, None for unused ones.
        numbers: The rule's numbers for each.
        limits: For each True or None for components of the gradient that are not finite to count as
            0, a factor of the gradient, the largest magnitude of its components after that, and the
            least and the largest value of the components of x; the last three may be None.
        visible: Integers by row: rows with 0 stay as they are. None for fields that move whole.
    """
    for k in ti.static(range(len(xs))):
        if ti.static(len(xs[k].shape) == 0):
            _move_element(None, rule, xs[k], gradients[k], states[k], numbers[k], limits[k])
        else:
            for i in ti.grouped(xs[k]):
                if ti.static(visible is None) or visible[i[0]] != 0:
                    _move_element(i, rule, xs[k], gradients[k], states[k], numbers[k], limits[k])


def launches(fields: Sequence[dt.Field]) -> list[tuple[int, ...]]:
    """Return which fields are moved together, by their places.

    They have one type of numbers, and are split among ranks alike: `visible` counts owned rows.
    """
    found: dict[tuple[tuple[object, object], int], list[int]] = {}
    counts: dict[tuple[object, object], int] = {}
    for place, field in enumerate(fields):
        kind = field.numpy_dtype, field.split
        count = counts.get(kind, 0)
        counts[kind] = count + 1
        found.setdefault((kind, count // _TOGETHER), []).append(place)
    return [tuple(places) for places in found.values()]
