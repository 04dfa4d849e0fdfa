"""Tests of a rule: differences, linearity, and agreement of its two directions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from difftile.testing.evaluator import Evaluator
from difftile.testing.pointwise import Pointwise
from difftile.testing.probing import GradientTolerance, Prober
from difftile.testing.rulecheck_report import Comparison
from difftile.testing.samples import Array

_EXACT = 1e-9  # relative rounding error of a linear function
_AGREEING = 1e-7


@dataclass(slots=True)
class RuleTests:
    """The tests of a rule.

    Args:
        evaluator: What has the rule.
        points: The derivatives at samples, for a func without field arguments.
        tolerance: What passes.
        rng: Draws adjoints.
    """

    evaluator: Evaluator
    points: Pointwise | None
    tolerance: GradientTolerance
    rng: np.random.Generator

    def run(self, *, both: bool, search: bool) -> tuple[list[Comparison], list[str]]:
        """Return comparisons, and further faults.

        Args:
            both: Whether there are two rules, which must agree.
            search: Whether there are fields to be searched.
        """
        one = self._draw()
        two = self._draw()
        first, second = self.evaluator.pull(one), self.evaluator.pull(two)
        found: list[Comparison] = []
        for weights, gradient in ((one, first), (two, second)):
            if self.points is not None:
                found += self.points.compare(weights, gradient, self.tolerance)
            if search:
                found += self._search(weights, gradient)
        faults = list(self._linear((one, first), (two, second)))
        if both:
            faults += self._agree(one, first)
        return found, faults

    def _draw(self) -> list[Array]:
        return [
            np.round(self.rng.uniform(1.1, 2.0, w.shape), 2) * self.rng.choice((-1.0, 1.0), w.shape)
            for w in self.evaluator.weights
        ]

    def _search(self, weights: list[Array], gradient: Array) -> Iterator[Comparison]:
        self.evaluator.weights = weights
        base = self.evaluator.along(np.zeros_like(gradient))(0.0)
        prober = Prober(self.evaluator.along, base, self.evaluator.coordinates, gradient)
        for k, probe in enumerate(prober.run(2, 8, self.tolerance, self.rng)):
            yield Comparison(
                -1 - k,
                {},
                {},
                "random",
                probe.place,
                probe.analytic,
                probe.numeric,
                probe.error,
                probe.verdict,
                0.0 if probe.field else 1.0,
            )

    def _linear(
        self, one: tuple[list[Array], Array], two: tuple[list[Array], Array]
    ) -> Iterator[str]:
        """Test that the rule is linear in the adjoint of the result, and zero at zero."""
        (w1, g1), (w2, g2) = one, two
        at_zero = self.evaluator.pull([np.zeros_like(w) for w in w1])
        together = self.evaluator.pull([2 * a + 3 * b for a, b in zip(w1, w2, strict=True)])
        size = np.abs(together) + 2 * np.abs(g1) + 3 * np.abs(g2)
        finite = np.isfinite(size) & np.isfinite(at_zero)
        nonzero = finite & (np.abs(at_zero) > _EXACT * size)
        if np.any(nonzero):
            sides = [("rule", at_zero), ("should be", 0 * g1)]
            yield self._told(nonzero, "The rule is not zero for d_out = 0", sides)
        same = (g1 == g2) & (g1 == at_zero)
        if np.any(nonzero) and np.all(same[finite & (g1 != 0)]):
            yield "The rule does not depend on d_out; multiply its result by d_out."
        bent = finite & (np.abs(together - 2 * g1 - 3 * g2) > _EXACT * size)
        if np.any(bent):
            sides = [("rule(2 a + 3 b)", together), ("2 rule(a) + 3 rule(b)", 2 * g1 + 3 * g2)]
            yield self._told(bent, "The rule is not linear in d_out", sides)

    def _agree(self, weights: list[Array], gradient: Array) -> Iterator[str]:
        """Test that the forward and the backward rule are the same linear function."""
        assert self.points is not None
        tangents = np.zeros(gradient.shape)  # zero for fields that all samples share
        for _, _, entries in self.points.places():
            tangents[entries] = self.rng.uniform(0.5, 1.5, entries.shape)
        with np.errstate(all="ignore"):
            pushed = self.evaluator.push(tangents)
            terms = [w * dot for w, dot in zip(weights, pushed, strict=True)]
            sums = [one.reshape(len(one), -1) for one in terms]
            left = np.sum([one.sum(axis=1) for one in sums], axis=0)
            right = self.points.sums(gradient * tangents)
            size = np.sum([np.abs(one).sum(axis=1) for one in sums], axis=0)
            size = size + self.points.sums(np.abs(gradient * tangents))
            apart = np.isfinite(size) & (np.abs(left - right) > _AGREEING * size)
        if np.any(apart):
            k = self.points.simplest(apart)
            yield (
                f"The forward rule disagrees at {int(np.sum(apart))} of {len(apart)} samples: at "
                f"{self.points.at(k)} it gives {left[k]:.6g}, the backward rule {right[k]:.6g}."
            )

    def _told(self, entries: Any, fault: str, sides: list[tuple[str, Array]]) -> str:
        """Return a fault with the simplest entry that shows it."""
        place, entry = self._place(entries)
        values = ", ".join(f"{name} {side[entry]:.6g}" for name, side in sides)
        return f"{fault}: {place}: {values}."

    def _place(self, entries: Any) -> tuple[str, int]:
        if self.points is not None:
            wrong = {
                (k, by): int(e[k])
                for by, _, e in self.points.places()
                for k in range(len(e))
                if entries[e[k]]
            }
            if wrong:
                mask = np.zeros(1 + max(k for k, _ in wrong), np.bool_)
                mask[[k for k, _ in wrong]] = True
                sample = self.points.simplest(mask)
                by, entry = next((by, e) for (k, by), e in wrong.items() if k == sample)
                return f"at {self.points.at(sample)}, by {by}", entry
        entry = int(np.flatnonzero(entries)[0])
        block, own = self.evaluator.coordinates.owner(entry)
        return f"by {block.place(own)}", entry
