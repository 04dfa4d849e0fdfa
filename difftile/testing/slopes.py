"""Derivatives of functions of one number by differences, with estimates of their errors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

FIRST_STEP = 2.0**-7
# Between steps. A large ratio amplifies rounding errors little; an irrational one keeps functions
# that are rounded to a grid from giving equal quotients.
_RATIO = math.sqrt(14)
_LEVELS = 9
_EPSILON = 2.0**-52
_GROWTH = 1.5  # of a quotient from one step to the next that indicates divergence
_NOISE = 4.0  # rounding errors of a value, in units of its last place


@dataclass(frozen=True, slots=True)
class Sample:
    """A value of the function.

    Args:
        value: The value.
        size: The sum of the magnitudes of its terms, which bounds its rounding error.
    """

    value: float
    size: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its estimated error, of truncation and of rounding."""

    value: float
    error: float


NOTHING = Estimate(math.nan, math.inf)


@dataclass(frozen=True, slots=True)
class Slope:
    """The derivative at 0, and the one-sided derivatives.

    Args:
        both: From central differences.
        left: From smaller values.
        right: From larger values.
    """

    both: Estimate
    left: Estimate
    right: Estimate

    @property
    def at_edge(self) -> bool:
        """Whether the function has values on one side only."""
        return math.isnan(self.left.value) != math.isnan(self.right.value)

    @property
    def has_kink(self) -> bool:
        """Whether the sides disagree: there is a kink or a jump nearer than the steps."""
        left, right = self.left.value, self.right.value
        if math.isinf(left) or math.isinf(right):
            return True
        apart = abs(right - left)
        return apart > 10 * (self.left.error + self.right.error) + 1e-6 * max(abs(left), abs(right))

    @property
    def steepest(self) -> float:
        """The magnitude of the steeper finite one-sided derivative."""
        values = (abs(side.value) for side in (self.left, self.right))
        return max((value for value in values if math.isfinite(value)), default=0.0)

    def admits(self, value: float, slack: float) -> bool:
        """Return whether a value lies between the one-sided derivatives, up to a slack.

        If both are infinite, any value does.
        """
        sides = (self.left, self.right)
        if all(math.isinf(side.value) for side in sides):
            return True
        slack = max(slack, *(4 * side.error for side in sides))
        low, high = sorted(side.value for side in sides)
        return low - slack <= value <= high + slack


def slope_of(
    function: Callable[[float], Sample], at_zero: Sample, accuracy: float, step: float = FIRST_STEP
) -> Slope:
    """Return the derivative of a function at 0.

    Central differences with decreasing steps are extrapolated to 0 (Richardson; two of them give
    fourth order), and the value with the least estimated error is taken (Ridders, "Accurate
    computation of F'(x) and F'(x) F''(x)", Adv. Eng. Software 4, 1982). The error is the difference
    from the neighbours in the table plus the noise of the function. A kink at a distance disturbs
    the larger steps, and smaller ones are taken.

    Args:
        function: The function.
        at_zero: Its value at 0.
        accuracy: The relative error at which no smaller steps are tried.
        step: The largest step.
    """
    center = at_zero.value
    left: list[float] = []
    right: list[float] = []
    noise: list[float] = []
    for level in range(_LEVELS):
        h = step / _RATIO**level
        below, above = function(-h), function(h)
        left.append((center - below.value) / h)
        right.append((above.value - center) / h)
        noise.append(_NOISE * _EPSILON * max(at_zero.size, below.size, above.size) / h)
        best = _extrapolated(_means(left, right), noise, 2)
        constant = not any(left) and not any(right)
        if level >= 2 and (constant or best.error <= accuracy * abs(best.value)):
            break
    both = _limit(_means(left, right), noise, 2)
    return Slope(both, _limit(left, noise, 1), _limit(right, noise, 1))


def _means(left: list[float], right: list[float]) -> list[float]:
    """Return central differences from one-sided ones."""
    return [0.5 * (a + b) for a, b in zip(left, right, strict=True)]


def _limit(quotients: list[float], noise: list[float], order: int) -> Estimate:
    """Return the limit of quotients; infinite if they diverge, as at a jump or a root."""
    last = [one for one in quotients[-3:] if math.isfinite(one) and one]
    clear = len(last) == 3 and abs(last[-1]) > 100 * noise[-1]
    if clear and all(later / earlier > _GROWTH for earlier, later in itertools.pairwise(last)):
        return Estimate(math.copysign(math.inf, last[-1]), 0.0)
    return _extrapolated(quotients, noise, order)


def _extrapolated(quotients: list[float], noise: list[float], order: int) -> Estimate:
    """Return the best of Richardson's extrapolations.

    Args:
        quotients: The quotients; a non-finite one discards all before it.
        noise: Their rounding errors.
        order: The errors are a series in multiples of this power of the step.
    """
    best, place = NOTHING, (0, 0)
    rows: list[list[float]] = []
    for quotient, rounding in zip(quotients, noise, strict=True):
        if not math.isfinite(quotient):
            rows, best = [], NOTHING
            continue
        row = [quotient]
        for column, earlier in enumerate(rows[-1] if rows else (), 1):
            better = row[-1] + (row[-1] - earlier) / (_RATIO ** (order * column) - 1)
            error = max(abs(better - row[-1]), abs(better - earlier)) + rounding
            row.append(better)
            if error <= best.error:
                best, place = Estimate(better, error), (len(rows), column)
        rows.append(row)
    return Estimate(best.value, max(best.error, _scatter(rows, *place))) if rows else best


def _scatter(rows: list[list[float]], row: int, column: int) -> float:
    """Return the deviation of other rows from the best one, weighted by their steps.

    In noise two neighbours may agree by chance, but not all later rows. For the last row, which has
    no later ones, the row before the neighbour must agree.
    """
    if row == _LEVELS - 1:
        return abs(rows[row][column] - rows[row - 2][min(column, row - 2)])
    later = enumerate(rows[row + 1 :], 1)
    return max((abs(r[column] - rows[row][column]) / _RATIO**k for k, r in later), default=0.0)
