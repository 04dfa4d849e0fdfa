"""`dt.check_rule`: rules for derivatives, compared with differences."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from difftile.compile.meanings import meaning_of
from difftile.diagnostics import KernelError, Label, LaunchError, TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import from_numpy
from difftile.fields.recording import RECORDING
from difftile.fields.structs import StructField
from difftile.frontend.source import source_of
from difftile.ir.types import F64, shaped
from difftile.launch.streams import STREAMS
from difftile.ops.vocabulary import FuncMeaning, Rules
from difftile.testing.elementwise import ReturnsNothing, call_once, func_name, map_over
from difftile.testing.evaluator import Evaluator
from difftile.testing.pointwise import Pointwise
from difftile.testing.probing import GradientTolerance
from difftile.testing.rule_tests import RuleTests
from difftile.testing.rulecheck_report import Comparison, RuleCheck
from difftile.testing.samples import draw_samples
from difftile.testing.shadow_fields import ShadowFields
from difftile.testing.slopes import FIRST_STEP
from difftile.testing.subject import Subject, mapped_subject, subject_of
from difftile.tracebacks import boundary

_FEW = 4  # samples of a func that takes fields, which all of them share


@boundary
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
    """Compare a rule for a derivative with differences of its function.

    A func is evaluated at many arguments at once, in double precision: ordinary numbers of all
    signs, small and large ones, zeros and ones. For two random adjoints of the result, the rule is
    compared with differences; it has to be linear in the adjoint, and zero where that is zero. A
    func without a result is called for its writes into fields, at a few arguments. If there is a
    forward rule as well, both have to agree. Arguments where the func is not finite are skipped,
    and at kinks the rule may give any value between the one-sided derivatives.

    Args:
        f: A func, kernel or custom op with a rule of its own.
        examples: The arguments. For a func a float or an array gives the shape of an argument and
            the first sample, and an omitted argument is a number; integers and fields are passed
            on. Kernels and custom ops need all their arguments.
        samples: The number of samples.
        domain: The interval of an argument, by parameter: `{"x": (0.0, 1.0)}`.
        rtol: The relative difference that passes.
        atol: The absolute difference that passes.
        seed: Seed of samples and adjoints.
        strict: Raise if the rule does not pass.

    Returns:
        The report: true if the rule passed. A rule marked `approx=True` passes, and the report
        states its error.

    Raises:
        GradientMismatch: The rule does not pass, and `strict` is set.
        LaunchError: There is no rule, or the arguments do not fit.
        TapeError: A tape is open.
    """
    if RECORDING.get().recorder is not None:
        raise TapeError("check_rule() runs launches of its own; call it after the 'with' block.")
    tolerance = GradientTolerance(rtol, atol, FIRST_STEP)
    rng = np.random.default_rng(seed)
    meaning = meaning_of(f)
    if isinstance(meaning, FuncMeaning):
        report = _check_func(f, meaning, examples, samples, domain or {}, tolerance, rng)
    else:
        rules: Mapping[str, Any] = getattr(f, "rules", None) or {}
        if not rules:
            raise _without_rule(f)
        subject = subject_of(f, examples)
        found = _tested(subject, tolerance, rng)
        word, rule = next(iter(rules.items()))
        approximate = any(one.approximate for one in rules.values())
        report = RuleCheck(subject.title, _place(rule.function, word), approximate, *found)
    return report.raise_if_failed() if strict else report


def _without_rule(f: Any) -> LaunchError:
    return LaunchError(f"{f!r} has no rule; use dt.gradcheck() for derived gradients.")


def _tested(
    subject: Subject,
    tolerance: GradientTolerance,
    rng: np.random.Generator,
    samples: Mapping[str, npt.NDArray[np.float64]] | None = None,
    *,
    both: bool = False,
    search: bool = True,
) -> tuple[tuple[Comparison, ...], tuple[str, ...]]:
    """Return the comparisons and faults of a subject; see `RuleTests.run`."""
    with STREAMS.given_back(), ShadowFields() as shadows:
        evaluator = Evaluator(subject, shadows, None, None, rng, finite=samples is None)
        points = None if samples is None else Pointwise(evaluator, samples)
        tests = RuleTests(evaluator, points, tolerance, rng)
        comparisons, faults = tests.run(both=both, search=search)
    return tuple(comparisons), tuple(faults)


def _check_func(
    f: Any,
    meaning: FuncMeaning,
    examples: tuple[Any, ...],
    count: int,
    domain: Mapping[str, tuple[float, float]],
    tolerance: GradientTolerance,
    rng: np.random.Generator,
) -> RuleCheck:
    rules = meaning.rules
    if rules is None or rules == Rules():
        raise _without_rule(f)
    names = list(inspect.signature(meaning.function).parameters)[meaning.bound :]
    if len(examples) > len(names):
        raise LaunchError(f"check_rule(): {f!r} takes only {', '.join(names)}; pass no more.")
    given = dict(zip(names, examples, strict=False))
    fixed = {name: one for name, one in given.items() if not _is_floats(one)}
    whole = [name for name, one in fixed.items() if isinstance(one, (ArrayLike, StructField))]
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
    given_rules = [rule for rule in (rules.backward, rules.forward) if rule is not None]
    approximate = rules.differences is not None or rules.approximate
    approximate = approximate or any(rule.approximate for rule in given_rules)
    title = f"func '{func_name(f)}'"
    try:
        mapped, results = map_over(f, arguments, whole)
    except ReturnsNothing:
        found = _check_effects(f, title, arguments, drawn, tolerance, rng)
        return RuleCheck(title, _label(rules), approximate, *found)
    except KernelError as error:
        left_out = [name for name in names if name not in given]
        if not left_out:
            raise
        raise LaunchError(
            f"check_rule(): {f!r} does not take numbers for {', '.join(left_out)}; give an example "
            f"of each argument, such as np.ones(3).\n{error}"
        ) from None
    subject = mapped_subject(f, mapped, arguments, results)
    both = rules.backward is not None and rules.forward is not None
    found = _tested(subject, tolerance, rng, drawn, both=both, search=bool(whole))
    return RuleCheck(title, _label(rules), approximate, *found)


def _check_effects(
    f: Any,
    title: str,
    arguments: Mapping[str, Any],
    drawn: Mapping[str, npt.NDArray[np.float64]],
    tolerance: GradientTolerance,
    rng: np.random.Generator,
) -> tuple[tuple[Comparison, ...], tuple[str, ...]]:
    """Check the rule of a func without a result by the fields that it writes, call by call."""
    comparisons: list[Comparison] = []
    faults: dict[str, None] = {}
    for k in range(min(_FEW, *(len(values) for values in drawn.values()), _FEW)):
        sample = {
            name: from_numpy(drawn[name][k], shaped(drawn[name].shape[1:], F64), grad=True)
            if name in drawn
            else one
            for name, one in arguments.items()
        }
        run = functools.partial(call_once(f, sample, drawn), **sample)
        found, wrong = _tested(Subject(title, run, sample, {}, True, True), tolerance, rng)
        comparisons += found
        faults |= dict.fromkeys(wrong)
    return tuple(comparisons), tuple(faults)


def _is_floats(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return cast("np.ndarray[Any, Any]", value).dtype.kind == "f"
    return isinstance(value, float)


def _label(rules: Rules) -> Label | None:
    """Return the source of a rule."""
    for rule, word in ((rules.backward, "backward"), (rules.forward, "forward")):
        if rule is not None:
            return _place(rule.function, word)
    return None


def _place(function: Any, word: str) -> Label | None:
    try:
        source = source_of(function)
    except KernelError:
        return None
    return Label(source.span(source.tree), f"its {word} rule")
