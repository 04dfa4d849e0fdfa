"""Line search for a point where the strong Wolfe conditions hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from difftile.optim.box import Box
from difftile.optim.objective import Point
from difftile.solvers.space import HERE, Space, Vector

_DECREASE = 1e-4  # the least decrease of the loss, as a part of the one that its slope promises
_CURVATURE = 0.9  # the part of the slope at the start that may be left
_WIDEST = 4.0  # the factor to the next trial while the loss still falls steeply


@dataclass(frozen=True, slots=True)
class TrialStep:
    """A point along the direction.

    Args:
        length: The distance from the start, in units of the direction.
        point: The objective there.
        slope: The derivative of the loss by the length.
    """

    length: float
    point: Point
    slope: float


def search(
    evaluate: Callable[[Vector], Point],
    start: Point,
    direction: Vector,
    first: float,
    *,
    box: Box | None = None,
    space: Space = HERE,
    trials: int = 25,
) -> Point | None:
    """Return a point along a direction with a lower loss, where the strong Wolfe conditions hold.

    If they hold at none of the trials, the result is the best point with a sufficient decrease. A
    point where the loss is not finite counts as too far.

    Source: Nocedal and Wright, Numerical Optimization, 2nd ed., algorithms 3.5 and 3.6. Their two
    phases are one loop here: an interval without an end still grows. Within bounds the search goes
    along the projection of the direction, and numbers beyond a bound have no part in slopes.

    Args:
        evaluate: The objective.
        start: The point at the start.
        direction: A direction of descent.
        first: The first length to try.
        box: The bounds, if there are any.
        space: The space of the vectors.
        trials: The largest number of evaluations.

    Returns:
        The point, or None where no trial had the decrease.
    """
    begin = TrialStep(0.0, start, space.dot(start.gradient, direction))
    low, high, length = begin, None, first
    for _ in range(trials):
        x, ahead_of = start.x + length * direction, direction
        if box is not None:
            ahead_of = np.where(box.inside(x), direction, 0.0)
            x = box.project(x)
        point = evaluate(x)
        slope = space.dot(point.gradient, ahead_of) if point.is_finite else math.nan
        now = TrialStep(length, point, slope)
        promised = start.value + _DECREASE * length * begin.slope
        if not point.is_finite or point.value > promised or point.value >= low.point.value:
            high = now
        elif abs(slope) <= -_CURVATURE * begin.slope:
            return point
        else:
            ahead = 1.0 if high is None else high.length - low.length
            if slope * ahead >= 0.0:
                high = low
            low = now
        if high is None:
            length *= _WIDEST
        else:
            length = _between(low, high)
            if length in (low.length, high.length):  # the interval is as short as numbers allow
                break
    return None if low is begin else low.point


def _between(low: TrialStep, high: TrialStep) -> float:
    """Return the minimum of the cubic through two trials, kept away from both."""
    width = high.length - low.length
    middle = low.length + 0.5 * width
    if not high.point.is_finite:
        return middle
    # ibid., equation 3.59
    mean = low.slope + high.slope - 3.0 * (high.point.value - low.point.value) / width
    inner = mean * mean - low.slope * high.slope
    if not 0.0 <= inner < math.inf:
        return middle
    root = math.copysign(math.sqrt(inner), width)
    rest = high.slope - low.slope + 2.0 * root
    if rest == 0.0:
        return middle
    share = 1.0 - (high.slope + root - mean) / rest
    return low.length + float(np.clip(share, 0.1, 0.9)) * width
