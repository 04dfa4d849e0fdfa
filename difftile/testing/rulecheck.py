"""`dt.check_rule`: rules against what they stand for."""

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
from difftile.fields.recording import OPEN_TAPE
from difftile.fields.structs import StructField
from difftile.frontend.source import source_of
from difftile.ir.types import F64, is_float, shaped
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
from difftile.testing.subject import Subject, subject_of

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
    is zero. A func that returns nothing is called for what it writes into fields, at a few
    arguments. If there is a forward rule as well, both must agree. Where the func itself is not
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
    tolerance = GradientTolerance(rtol, atol, FIRST_STEP)
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
    tolerance: GradientTolerance,
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
    try:
        mapped, results = map_over(f, arguments, whole)
    except ReturnsNothing:
        comparisons, faults = _check_effects(f, arguments, drawn, tolerance, rng)
        title = f"func '{func_name(f)}'"
        approximate = _is_approximate(rules)
        return RuleCheck(title, _label(rules), approximate, tuple(comparisons), tuple(faults))
    except KernelError as error:
        left_out = [name for name in names if name not in given]
        if not left_out:
            raise
        raise LaunchError(
            f"check_rule(): {f!r} does not take numbers for {', '.join(left_out)}; give an example "
            f"of each argument, such as np.ones(3).\n{error}"
        ) from None
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
    with STREAMS.given_back(), ShadowFields() as shadows:
        evaluator = Evaluator(subject, shadows, None, None, rng, finite=False)
        tests = RuleTests(evaluator, Pointwise(evaluator, drawn), tolerance, rng)
        comparisons, faults = tests.run(both=both, search=bool(whole))
    return RuleCheck(
        subject.title, _label(rules), _is_approximate(rules), tuple(comparisons), tuple(faults)
    )


def _check_effects(
    f: Any,
    arguments: Mapping[str, Any],
    drawn: Mapping[str, npt.NDArray[np.float64]],
    tolerance: GradientTolerance,
    rng: np.random.Generator,
) -> tuple[list[Comparison], list[str]]:
    """Check the rule of a func that returns nothing: by the fields that it writes, call by call."""
    comparisons: list[Comparison] = []
    faults: dict[str, None] = {}
    for k in range(min(_FEW, *(len(values) for values in drawn.values()), _FEW)):
        sample = {
            name: from_numpy(drawn[name][k], shaped(drawn[name].shape[1:], F64), grad=True)
            if name in drawn
            else one
            for name, one in arguments.items()
        }
        once = call_once(f, sample, drawn)
        run = functools.partial(once, **sample)
        subject = Subject(f"func '{func_name(f)}'", run, sample, {}, True, True)
        with STREAMS.given_back(), ShadowFields() as shadows:
            evaluator = Evaluator(subject, shadows, None, None, rng)
            found, wrong = RuleTests(evaluator, None, tolerance, rng).run(both=False, search=True)
        comparisons += found
        faults |= dict.fromkeys(wrong)
    return comparisons, list(faults)


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
    f: Any, arguments: tuple[Any, ...], tolerance: GradientTolerance, rng: np.random.Generator
) -> RuleCheck:
    rules: Mapping[str, Any] = getattr(f, "rules", None) or {}
    if not rules:
        raise LaunchError(f"{f!r} has no rule; dt.gradcheck() checks gradients that are derived.")
    subject = subject_of(f, arguments)
    with STREAMS.given_back(), ShadowFields() as shadows:
        evaluator = Evaluator(subject, shadows, None, None, rng)
        tests = RuleTests(evaluator, None, tolerance, rng)
        comparisons, faults = tests.run(both=False, search=True)
    word, rule = next(iter(rules.items()))
    label = _place(rule.function, f"its {word} rule")
    approximate = any(one.approximate for one in rules.values())
    return RuleCheck(subject.title, label, approximate, tuple(comparisons), tuple(faults))
