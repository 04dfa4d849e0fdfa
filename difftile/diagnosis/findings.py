"""From what a diagnosis has seen to its report: what is wrong, with the lines at fault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from difftile.ad.missing_gradients import PRODUCT, Cut
from difftile.diagnosis.diagnosis import TOO_LARGE, Diagnosis, Grown, NotFinite
from difftile.diagnosis.reasons import Way, Ways
from difftile.diagnosis.report import FieldGradient, Finding, Report
from difftile.diagnostics import Label, Span, counted, render
from difftile.fields.field import Storage
from difftile.recording.replay import Replay

_MOST_PLACES = 4


def values_not_finite(diagnosis: Diagnosis) -> Finding | None:
    """Return the finding about the first value that is not finite, if there is one."""
    if diagnosis.value is None:
        return None
    one = diagnosis.value
    title = f"'{one.field}' became {_word(one.value)} in {_where(diagnosis, one)}{_at(one.index)}."
    return _not_finite("value", one, title, "this computes")


def report_of(diagnosis: Diagnosis, replay: Replay, outputs: Iterable[Storage]) -> Report:
    """Return the report.

    Args:
        diagnosis: What was seen.
        replay: The pass, before it adds its gradients to others.
        outputs: The memory of the fields that were differentiated.
    """
    # What a `grad_in` of its own holds comes in as well.
    graded = diagnosis.graded.items()
    apart = [storage for storage, field in graded if field.grad_in is not field.grad_out]
    outputs = [*outputs, *apart]
    findings: list[Finding | None] = [values_not_finite(diagnosis)]
    if diagnosis.gradient is not None:
        findings.append(_gradient_not_finite(diagnosis, diagnosis.gradient))
    asked = {field.storage: field.origin for field in diagnosis.wanted}
    looked_at = {**asked, **diagnosis.inputs, **diagnosis.only_python_reads}
    fields = [
        FieldGradient.of(diagnosis.name(field), field, replay.gradient(field).buffer.read())
        for field in looked_at.values()
    ]
    small = {f.name: f for f in fields if max(-f.low, f.high) < diagnosis.seed / TOO_LARGE}
    grown = [g for g in diagnosis.grown if g.factor > 1 or g.field in small]
    decayed = {g.field for g in grown if g.factor < 1}
    ways = Ways(diagnosis.steps, diagnosis.name)
    for one in fields:
        wanted = not asked or one.field.storage in asked
        if wanted and one.zeros == one.size and one.field.storage not in outputs:
            way = ways.of(one.field.storage, outputs)
            too_small = way.target.smooth and one.name in decayed
            # A state that Python sets on the tape is no finding, unless it is asked for.
            unseen = one.field.storage in diagnosis.only_python_reads
            if not too_small and (asked or way.read or unseen):
                findings.append(_zero(diagnosis, one, way))
    if not any(finding is not None for finding in findings):
        findings.append(_constant(diagnosis))
    findings += [_grown(diagnosis, one) for one in grown]
    return Report(
        diagnosis.launches,
        tuple(finding for finding in findings if finding is not None),
        tuple(fields),
        tuple(diagnosis.levels),
        diagnosis.ties,
        diagnosis.approximate,
        diagnosis.plain,
    )


def _gradient_not_finite(diagnosis: Diagnosis, one: NotFinite) -> Finding:
    if not one.kernel:
        title = f"The seed of '{one.field}' is {_word(one.value)}{_at(one.index)}."
        return Finding("gradient", render(title, (), (), None), field=one.field, index=one.index)
    title = (
        f"The gradient of '{one.field}' became {_word(one.value)} in the adjoint of "
        f"{_where(diagnosis, one)}{_at(one.index)}."
    )
    return _not_finite("gradient", one, title, "its adjoint computes")


def _not_finite(kind: str, one: NotFinite, title: str, computes: str) -> Finding:
    labels: list[Label] = []
    notes: list[str] = []
    if one.opaque:
        pass
    elif one.origin is None:
        notes.append("the statement could not be found by running the launch again.")
    elif one.origin.span is None:
        notes.append(f"{computes} {one.origin.step}.")
    else:
        labels.append(Label(one.origin.span, f"{computes} {one.origin.step}"))
    if one.origin is not None and one.origin.inputs:
        notes.append(f"there {', '.join(one.origin.inputs)}.")
    return Finding(
        kind,
        render(title, labels, notes, None),
        one.launch,
        one.kernel,
        one.field,
        one.index,
        tuple(label.span for label in labels),
    )


def _where(diagnosis: Diagnosis, one: NotFinite) -> str:
    if one.opaque:
        return f"{one.kernel}, after launch {one.launch} of {diagnosis.launches}"
    return f"launch {one.launch} of {diagnosis.launches}, of kernel '{one.kernel}'"


def _word(value: object) -> str:
    numbers = np.asarray(value)
    if np.isnan(numbers).any():
        return "NaN"
    infinite = numbers[np.isinf(numbers)]
    return "-inf" if (infinite < 0).all() else "inf"


def _at(index: tuple[int, ...]) -> str:
    return f", at [{', '.join(map(str, index))}]" if index else ""


# Gradients that are zero


def _zero(diagnosis: Diagnosis, one: FieldGradient, way: Way) -> Finding:
    launch, kernel = 0, ""
    cuts = _in_order(way.target.cuts)
    hint = next((cut.hint for cut in cuts if cut.hint), None)
    lost = list(way.lost)
    if way.target.smooth:
        launch, kernel, cuts = _flat(diagnosis, way)
        if launch:
            place = f"launch {launch} of {diagnosis.launches}, of kernel '{kernel}'"
            why = f"in {place}, all slopes are 0"
        elif way.replaced:
            why, cuts = "what was computed from it is lost before it is used", list(way.replaced)
        else:
            why = "the slopes on the way to it multiply to 0"
        hint = None
    elif way.target:
        why = "every way from it to what is differentiated is cut"
    elif lost and not way.read:
        why, cuts = "the field is overwritten before it is read", lost
    elif one.field.storage in diagnosis.only_python_reads:
        why, cuts = "no launch on the tape reads the field, Python alone does", []
        hint = "what Python computes from it is a constant for the tape: compute it in a kernel."
    elif not way.read:
        why, cuts = "no launch on the tape reads the field", []
    elif lost:
        why, cuts = "what was computed from it is lost before it is used", lost
    else:
        why, cuts = "what is computed from it is not used", []
    labels = [Label(cut.span, cut.reason) for cut in cuts if cut.span is not None]
    notes = [f"{cut.reason}." for cut in cuts if cut.span is None]
    if len(labels) > _MOST_PLACES:
        notes.append(f"and at {counted(len(labels) - _MOST_PLACES, 'more place')}.")
    labels = labels[:_MOST_PLACES]
    title = f"The gradient of '{one.name}' is zero: {why}."
    spans = tuple(label.span for label in labels)
    text = render(title, labels, notes, hint)
    return Finding("zero", text, launch, kernel, one.name, None, spans)


def _constant(diagnosis: Diagnosis) -> Finding | None:
    """Return the finding about a loss that depends on nothing."""
    if diagnosis.constant is None:
        return None
    name = diagnosis.name(diagnosis.constant)
    title = f"All gradients are zero: the loss '{name}' depends smoothly on no field with one."
    return Finding("zero", render(title, (), (), None), field=name)


def _flat(diagnosis: Diagnosis, way: Way) -> tuple[int, str, list[Cut]]:
    """Return the launch in whose adjoint the gradient ended, its kernel, and the likely places."""
    kernels = diagnosis.kernels
    for number in sorted(way.passages, reverse=True):
        read, written, masks = way.passages[number]
        before, after = diagnosis.alive.get(number, ({}, {}))
        came = any(before.get(storage, 0.0) > 0 for storage in written)
        went = any(after.get(storage, 0.0) > 0 for storage in read)
        if came and not went:
            # A product is seldom the reason where something else can be.
            chosen = [mask for mask in masks if mask.reason != PRODUCT] or masks
            return number, kernels[number - 1], _in_order(chosen)
    return 0, "", []


def _in_order(cuts: Iterable[Cut]) -> list[Cut]:
    def place(cut: Cut) -> tuple[str, int, int, str]:
        span = cut.span or Span("", 0, 0, 0, "")
        return span.file, span.line, span.column, cut.reason

    return sorted(cuts, key=place)


# Gradients that grow or shrink


def _grown(diagnosis: Diagnosis, one: Grown) -> Finding:
    launch = f"launch {one.launch} of {diagnosis.launches}, of kernel '{one.kernel}'"
    if one.alone:
        word = "explodes" if one.factor > 1 else "vanishes"
        title = f"The gradient {word} in the adjoint of {launch}: that of '{one.field}' is "
        title += f"{one.factor:.3g} times what it began with."
    else:
        word = "exploded" if one.factor > 1 else "vanished"
        title = f"The gradient {word}: that of '{one.field}' is {one.factor:.3g} times the seed "
        title += f"after the adjoint of {launch}."
    labels: list[Label] = []
    if one.loop is not None:
        does = "grows" if one.factor > 1 else "shrinks"
        labels.append(Label(one.loop, f"it {does} from one iteration of this loop to the next"))
    elif one.span is not None:
        labels.append(Label(one.span, f"'{one.field}' here"))
    notes = [] if one.alone else list(_by_launch(diagnosis, one))
    return Finding(
        "growth" if one.factor > 1 else "decay",
        render(title, labels, notes, None),
        one.launch,
        one.kernel,
        one.field,
        None,
        tuple(label.span for label in labels),
    )


def _by_launch(diagnosis: Diagnosis, one: Grown) -> Iterator[str]:
    """Yield what a launch of the kernel does to the gradient on average, if there were several."""
    passed = sum(
        level.launch >= one.launch and level.kernel == one.kernel for level in diagnosis.levels
    )
    if passed > 1:
        mean = one.factor ** (1 / passed)
        yield f"{mean:.4g} times a launch, over {passed} launches of '{one.kernel}'."
