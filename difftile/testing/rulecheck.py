"""`dt.check_rule`: rules against what they stand for."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from difftile.diagnostics import KernelError, Label, LaunchError, TapeError
from difftile.fields.create import from_numpy
from difftile.fields.recording import OPEN_TAPE
from difftile.fields.structs import StructField
from difftile.fields.values import Values
from difftile.frontend.source import source_of
from difftile.ir.types import F64, is_float, shaped
from difftile.launch.meanings import meaning_of
from difftile.launch.random import STREAMS
from difftile.ops.vocabulary import FuncMeaning, Rules
from difftile.testing.doubles import Doubles
from difftile.testing.mapped import func_name, map_over
from difftile.testing.pointwise import Pointwise
from difftile.testing.rulereport import Comparison, RuleCheck
from difftile.testing.samples import Array, draw_samples
from difftile.testing.search import Search, Tolerance
from difftile.testing.slopes import FIRST_STEP
from difftile.testing.subject import Subject, subject_of
from difftile.testing.trial import Trial

_LINEAR = 1e-9
_FEW = 4  # samples where fields are shared by all of them


def check_rule(
    f: Any,
    *examples: Any,
    samples: int = 200,
    domain: Mapping[str, tuple[float, float]] | None = None,
    rtol: float = 1e-6,
    atol: float = 0.0,
    seed: int = 0,
    strict: bool = False,
) -> RuleCheck:
    """Compare a rule for a derivative with differences of what it belongs to.

    A func is evaluated at many arguments at once, in double precision: ordinary numbers of all
    signs, small and large ones, zeros and ones. For two random adjoints of the result, what the
    rule gives is compared with differences; it must be linear in that adjoint, and zero where that
    is zero. If there is a forward rule as well, both must agree. Where the func itself is not
    finite nothing is compared, and at kinks the rule may give what lies between the sides.

    Args:
        f: A func with a rule of its own; or a kernel or custom op that has one.
        examples: Its arguments. A float or an array gives the shape of an argument, and the first
            sample; one that is left out is a number. An integer stays as it is, and so does a
            field, for funcs that take fields. Kernels and custom ops take all their arguments.
        samples: How many samples.
        domain: The interval of an argument, by parameter: `{"x": (0.0, 1.0)}`.
        rtol: The relative difference that passes.
        atol: The absolute difference that passes.
        seed: Seed of what is drawn.
        strict: Raise if the rule does not pass.

    Returns:
        The report: true if the rule passed. One marked `approx=True` passes; the report says by
        how much it is off.

    Raises:
        GradientMismatch: The rule does not pass, and `strict` is set.
        LaunchError: There is no rule, or the arguments do not fit.
        TapeError: A tape is open.
    """
    if OPEN_TAPE.get() is not None:
        raise TapeError("check_rule() runs launches of its own; call it after the 'with' block.")
    tolerance = Tolerance(rtol, atol, FIRST_STEP)
    rng = np.random.default_rng(seed)
    meaning = meaning_of(f)
    if isinstance(meaning, FuncMeaning):
        report = _check_func(f, meaning, examples, samples, domain or {}, tolerance, rng)
    else:
        report = _check_fields(f, examples, tolerance, rng)
    return report.raise_if_failed() if strict else report


# Funcs


def _check_func(
    f: Any,
    meaning: FuncMeaning,
    examples: tuple[Any, ...],
    count: int,
    domain: Mapping[str, tuple[float, float]],
    tolerance: Tolerance,
    rng: np.random.Generator,
) -> RuleCheck:
    rules = meaning.rules
    if rules is None or rules == Rules():
        raise LaunchError(f"{f!r} has no rule; dt.gradcheck() checks gradients that are derived.")
    names = list(inspect.signature(meaning.function).parameters)[meaning.bound :]
    if len(examples) > len(names):
        raise LaunchError(f"check_rule(): {f!r} takes {', '.join(names)}, and is given more.")
    given = dict(zip(names, examples, strict=False))
    fixed = {name: one for name, one in given.items() if not _is_floats(one)}
    whole = [name for name, one in fixed.items() if isinstance(one, (Values, StructField))]
    known = {n: np.asarray(one, np.float64) for n, one in given.items() if n not in fixed}
    shapes = {name: known[name].shape if name in known else () for name in names}
    shapes = {name: shape for name, shape in shapes.items() if name not in fixed}
    drawn = draw_samples(shapes, _FEW if whole else count, known, domain, rng)
    arguments = {
        name: fixed[name]
        if name in fixed
        else from_numpy(drawn[name], shaped(shapes[name], F64), grad=True)
        for name in names
    }
    mapped, results = map_over(f, arguments, whole)
    everything = {**arguments, **results}
    floats = {name: one for name, one in results.items() if is_float(one.element)}
    subject = Subject(
        f"func '{func_name(f)}'",
        lambda: mapped(**everything),
        arguments,
        floats,
        True,
        True,
        lambda: mapped.fwds(**everything),
    )
    both = rules.backward is not None and rules.forward is not None
    with STREAMS.given_back(), Doubles() as doubles:
        trial = Trial(subject, doubles, None, None, rng, finite=False)
        checked = _Checked(trial, Pointwise(trial, drawn), tolerance, rng)
        comparisons, faults = checked.run(both=both, search=bool(whole))
    return RuleCheck(
        subject.title, _label(rules), _is_approximate(rules), tuple(comparisons), tuple(faults)
    )


def _is_floats(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return cast("np.ndarray[Any, Any]", value).dtype.kind == "f"
    return isinstance(value, float)


def _is_approximate(rules: Rules) -> bool:
    exact = rules.differences is None and not rules.approximate
    given = [rule for rule in (rules.backward, rules.forward) if rule is not None]
    return not exact or any(rule.approximate for rule in given)


def _label(rules: Rules) -> Label | None:
    """Return the place of a rule."""
    for rule, word in ((rules.backward, "backward"), (rules.forward, "forward")):
        if rule is not None:
            return _place(rule.function, f"its {word} rule")
    return None


def _place(function: Any, text: str) -> Label | None:
    try:
        source = source_of(function)
    except KernelError:
        return None
    return Label(source.span(source.tree), text)


# Kernels and host operations


def _check_fields(
    f: Any, arguments: tuple[Any, ...], tolerance: Tolerance, rng: np.random.Generator
) -> RuleCheck:
    rules: Mapping[str, Any] = getattr(f, "rules", None) or {}
    if not rules:
        raise LaunchError(f"{f!r} has no rule; dt.gradcheck() checks gradients that are derived.")
    subject = subject_of(f, arguments)
    with STREAMS.given_back(), Doubles() as doubles:
        trial = Trial(subject, doubles, None, None, rng)
        checked = _Checked(trial, None, tolerance, rng)
        comparisons, faults = checked.run(both=False, search=True)
    word, rule = next(iter(rules.items()))
    label = _place(rule.function, f"its {word} rule")
    approximate = any(one.approximate for one in rules.values())
    return RuleCheck(subject.title, label, approximate, tuple(comparisons), tuple(faults))


@dataclass(slots=True)
class _Checked:
    """The checks of a rule.

    Args:
        trial: What has the rule.
        points: The same at samples, if its arguments are no fields.
        tolerance: What passes.
        rng: Draws adjoints.
    """

    trial: Trial
    points: Pointwise | None
    tolerance: Tolerance
    rng: np.random.Generator

    def run(self, *, both: bool, search: bool) -> tuple[list[Comparison], list[str]]:
        """Return comparisons, and what else is wrong.

        Args:
            both: Whether there are two rules, which must agree.
            search: Whether there are fields to be searched.
        """
        one = self._draw()
        two = self._draw()
        first, second = self.trial.pull(one), self.trial.pull(two)
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
            for w in self.trial.weights
        ]

    def _search(self, weights: list[Array], gradient: Array) -> Iterator[Comparison]:
        self.trial.weights = weights
        base = self.trial.along(np.zeros_like(gradient))(0.0)
        search = Search(self.trial.along, base, self.trial.coordinates, gradient)
        for k, probe in enumerate(search.run(2, 8, self.tolerance, self.rng)):
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
        """Check that the rule is linear in the adjoint of the result, and zero at zero."""
        (w1, g1), (w2, g2) = one, two
        at_zero = self.trial.pull([np.zeros_like(w) for w in w1])
        together = self.trial.pull([2 * a + 3 * b for a, b in zip(w1, w2, strict=True)])
        size = np.abs(together) + 2 * np.abs(g1) + 3 * np.abs(g2)
        finite = np.isfinite(size) & np.isfinite(at_zero)
        nonzero = finite & (np.abs(at_zero) > _LINEAR * size)
        if np.any(nonzero):
            yield self._told(
                nonzero, "It is not zero for d_out = 0", [("rule", at_zero), ("should be", 0 * g1)]
            )
        same = (g1 == g2) & (g1 == at_zero)
        if np.any(nonzero) and np.all(same[finite & (g1 != 0)]):
            yield "It does not depend on d_out, by which a rule multiplies."
        bent = finite & (np.abs(together - 2 * g1 - 3 * g2) > _LINEAR * size)
        if np.any(bent):
            sides = [("rule(2 a + 3 b)", together), ("2 rule(a) + 3 rule(b)", 2 * g1 + 3 * g2)]
            yield self._told(bent, "It is not linear in d_out", sides)

    def _agree(self, weights: list[Array], gradient: Array) -> Iterator[str]:
        """Check that forward and backward rule are the same linear function."""
        assert self.points is not None
        tangents = self.rng.uniform(0.5, 1.5, gradient.shape)
        with np.errstate(all="ignore"):
            pushed = self.trial.push(tangents)
            terms = [w * dot for w, dot in zip(weights, pushed, strict=True)]
            sums = [one.reshape(len(one), -1) for one in terms]
            left = np.sum([one.sum(axis=1) for one in sums], axis=0)
            right = self.points.sums(gradient * tangents)
            size = np.sum([np.abs(one).sum(axis=1) for one in sums], axis=0)
            size = size + self.points.sums(np.abs(gradient * tangents))
            apart = np.isfinite(size) & (np.abs(left - right) > 1e-7 * size)
        if np.any(apart):
            k = self.points.simplest(apart)
            yield (
                f"Its forward rule is another one at {int(np.sum(apart))} of {len(apart)} samples: "
                f"at {self.points.at(k)} it gives {left[k]:.6g} where this gives {right[k]:.6g}."
            )

    def _told(self, entries: Any, what: str, sides: list[tuple[str, Array]]) -> str:
        """Return a fault with the simplest entry that shows it."""
        place, entry = self._place(entries)
        values = ", ".join(f"{name} {side[entry]:.6g}" for name, side in sides)
        return f"{what}: {place}: {values}."

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
        leaf, own = self.trial.coordinates.owner(entry)
        return f"by {leaf.place(own)}", entry
