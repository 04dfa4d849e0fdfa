"""Comparison of derivatives along directions and entries, and the search for a wrong entry."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difftile.testing.coordinates import Coordinates, Vector
from difftile.testing.gradcheck_report import Probe, Probed, Verdict
from difftile.testing.slopes import Sample, Slope, slope_of

Function = Callable[[float], Sample]
_SHORTER = 0.77
_SURE = 3.0  # multiple of the estimated error within which two values agree


@dataclass(frozen=True, slots=True)
class GradientTolerance:
    """The tolerance of comparisons.

    Args:
        relative: The relative difference that passes.
        absolute: The absolute difference that passes.
        step: The largest step of the differences.
    """

    relative: float
    absolute: float
    step: float

    def slope(self, function: Function, base: Sample, shorter: float = 1.0) -> Slope:
        """Return the derivative of a function at 0; `shorter` is a factor of the steps."""
        return slope_of(function, base, 1e-2 * self.relative, self.step * shorter)

    def verdict(self, analytic: float, slope: Slope, typical: float) -> Verdict:
        """Return the verdict of a comparison.

        Args:
            analytic: The derivative by the adjoint.
            slope: The derivative by differences.
            typical: The largest contribution of an entry to the gradient; errors that are small
                relative to it count as exact.
        """
        numeric, error = slope.both.value, slope.both.error
        if analytic == numeric:
            return Verdict.RIGHT  # two zeros, mostly: the function is constant
        if not math.isfinite(analytic):
            return Verdict.WRONG
        if slope.at_edge:
            return Verdict.EDGE
        if math.isnan(numeric):
            return Verdict.UNCERTAIN
        larger = max(abs(analytic), abs(numeric) if math.isfinite(numeric) else 0.0)
        allowed = self.absolute + self.relative * larger
        if math.isfinite(numeric):
            apart = abs(analytic - numeric)
            exact = error <= max(allowed, self.relative * max(typical, slope.steepest))
            if exact and apart <= max(allowed, _SURE * error):
                return Verdict.RIGHT
            if apart <= _SURE * error and not slope.has_kink:
                return Verdict.UNCERTAIN
        if slope.has_kink and slope.admits(analytic, allowed):
            return Verdict.KINK
        return Verdict.WRONG


def compare(
    function: Function, base: Sample, analytic: float, typical: float, tolerance: GradientTolerance
) -> tuple[Slope, Verdict]:
    """Compare a derivative with differences; it is wrong only by two sequences of steps.

    Args:
        function: A function of one number.
        base: Its value at 0.
        analytic: The derivative at 0 that is checked.
        typical: See `GradientTolerance.verdict`.
        tolerance: The tolerance.
    """
    slope = tolerance.slope(function, base)
    verdict = tolerance.verdict(analytic, slope, typical)
    if verdict is Verdict.WRONG and math.isfinite(analytic):
        # In noise, error estimates are sometimes too small.
        other = tolerance.slope(function, base, _SHORTER)
        apart = abs(slope.both.value - other.both.value)
        agree = slope.both.value == other.both.value or apart <= _SURE * (
            slope.both.error + other.both.error
        ) + 1e-3 * abs(analytic - slope.both.value)
        if tolerance.verdict(analytic, other, typical) is not Verdict.WRONG or not agree:
            return slope, Verdict.UNCERTAIN
    return slope, verdict


class Prober:
    """Compares derivatives along directions.

    Args:
        along: Returns the outputs as a function of the step along a direction.
        base: The outputs without a step.
        coordinates: The entries.
        gradient: The gradient by the adjoint.
    """

    def __init__(
        self,
        along: Callable[[Vector], Callable[[float], Sample]],
        base: Sample,
        coordinates: Coordinates,
        gradient: Vector,
    ) -> None:
        self._along = along
        self._base = base
        self._coordinates = coordinates
        self._gradient = gradient
        self._scales = coordinates.scales(coordinates.read())
        sizes = np.abs(gradient * self._scales)
        self._typical = float(np.max(sizes[np.isfinite(sizes)], initial=0.0))

    def probed(self, probes: Sequence[Probe]) -> list[Probed]:
        """Return the coverage of each field by some derivatives."""
        counts = Counter(probe.field for probe in probes)
        return [
            Probed(
                block.name,
                block.values.shape,
                block.entries.size,
                counts[block.name],
                counts[""] if np.any(self._scales[where]) else 0,
            )
            for block, where in self._coordinates.parts()
        ]

    def run(
        self, directions: int, entries: int, tolerance: GradientTolerance, rng: np.random.Generator
    ) -> list[Probe]:
        """Return the derivatives along random directions and entries.

        If a direction is wrong and no probed entry is, this searches for a wrong entry.
        """
        if not self._coordinates.size:
            return []
        self._tolerance = tolerance
        drawn = [self._draw(rng) for _ in range(directions)]
        probes = [
            self._probe(direction, "", (), f"direction {k}") for k, direction in enumerate(drawn, 1)
        ]
        chosen = list(self._entries(entries, rng))
        found = [self._entry(k) for k in chosen]
        wrong = [d for d, p in zip(drawn, probes, strict=True) if p.verdict is Verdict.WRONG]
        if wrong and not any(probe.verdict is Verdict.WRONG for probe in found):
            fault = self._locate(wrong[0])
            if fault not in chosen:
                found.append(self._entry(fault))
        return [*probes, *found]

    def _draw(self, rng: np.random.Generator) -> Vector:
        size = self._coordinates.size
        return rng.uniform(0.5, 1.5, size) * rng.choice((-1.0, 1.0), size) * self._scales

    def _entries(self, most: int, rng: np.random.Generator) -> Iterable[int]:
        """Yield entries of each field: the ones with the largest gradients, and random ones."""
        for _, where in self._coordinates.parts():
            possible = np.flatnonzero(self._scales[where])
            if possible.size <= most:
                yield from (int(where.start + k) for k in possible)
                continue
            sizes = np.abs(np.nan_to_num(self._gradient[where][possible], nan=np.inf))
            order = possible[np.argsort(-sizes, kind="stable")]
            largest = order[: most // 2]
            rest = rng.permutation(order[most // 2 :])[: most - most // 2]
            yield from sorted(int(where.start + k) for k in (*largest, *rest))

    def _entry(self, entry: int) -> Probe:
        block, own = self._coordinates.owner(entry)
        direction = np.zeros(self._coordinates.size)
        direction[entry] = self._scales[entry]
        return self._probe(direction, block.name, block.index(own), block.place(own), entry)

    def _probe(
        self,
        direction: Vector,
        field: str,
        index: tuple[int, ...],
        place: str,
        entry: int | None = None,
    ) -> Probe:
        terms = self._gradient[direction != 0] * direction[direction != 0]
        analytic = float(np.sum(terms))
        slope, verdict = compare(
            self._along(direction), self._base, analytic, self._typical, self._tolerance
        )
        unit = 1.0 if entry is None else float(self._scales[entry])
        return Probe(
            field,
            index,
            place,
            analytic / unit,
            slope.both.value / unit,
            slope.both.error / unit,
            (slope.left.value / unit, slope.right.value / unit),
            slope.has_kink,
            verdict,
        )

    def _locate(self, direction: Vector) -> int:
        """Return a wrong entry, given a wrong direction, by bisection.

        If a part of the direction is wrong, so is at least one half of it: the one further off.
        """
        part: npt.NDArray[np.int64] = np.flatnonzero(direction)
        off = self._off(direction, part)
        while part.size > 1:
            middle = part.size // 2
            first = self._off(direction, part[:middle])
            if abs(first) >= abs(off - first):
                part, off = part[:middle], first
            else:
                part, off = part[middle:], off - first
        return int(part[0])

    def _off(self, direction: Vector, part: npt.NDArray[np.int64]) -> float:
        """Return the error of the gradient along a part of a direction."""
        own = np.zeros_like(direction)
        own[part] = direction[part]
        slope = self._tolerance.slope(self._along(own), self._base)
        off = float(np.sum(self._gradient[part] * own[part])) - slope.both.value
        return math.inf if math.isnan(off) else off
