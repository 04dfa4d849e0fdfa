"""The report of a diagnosis: its findings in words, with the lines at fault."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from difftile.ad.missing_gradients import PRODUCT, Cut
from difftile.diagnosis.diagnosis import Diagnosis
from difftile.diagnosis.gradients import TOO_LARGE, Grown
from difftile.diagnosis.influence import Influence, InfluenceAnalysis
from difftile.diagnosis.not_finite import NotFinite
from difftile.diagnosis.report import FieldGradient, Finding, Report
from difftile.diagnostics import Label, Span, counted, render
from difftile.fields.storage import Storage
from difftile.recording.replay import Replay

_MOST_PLACES = 4
_OVERWRITTEN = (
    "write the new values to another field, or compute them from the old ones in a kernel."
)


def values_not_finite(diagnosis: Diagnosis) -> Finding | None:
    """Return the finding about the first value that is not finite, if there is one."""
    one = diagnosis.value
    if one is None:
        return None
    title = f"'{one.field}' became {_word(one.value)} in {_where(diagnosis, one)}{_at(one.index)}."
    hint = "keep the operands in the domain of the operation, and small enough not to overflow."
    return _not_finite("value", one, title, "this computes", hint)


def report_of(diagnosis: Diagnosis, replay: Replay, outputs: Iterable[Storage]) -> Report:
    """Return the report.

    Args:
        diagnosis: The observations.
        replay: The pass, before it adds its gradients to others.
        outputs: The memory of the fields that were differentiated.
    """
    watch, asked = diagnosis.gradients, {f.storage: f.origin for f in diagnosis.wanted}
    # A `grad_in` of a field's own is a seed as well.
    graded = diagnosis.graded.items()
    own_seeds = [storage for storage, field in graded if field.grad_in is not field.grad_out]
    outputs = [*outputs, *own_seeds]
    findings = [values_not_finite(diagnosis), _gradient_not_finite(diagnosis)]
    fields = [
        FieldGradient.of(diagnosis.name(field), field, replay.gradient(field).buffer.read())
        for field in {**asked, **diagnosis.inputs, **diagnosis.only_python_reads}.values()
    ]
    small = {f.name for f in fields if max(-f.low, f.high) < watch.seed / TOO_LARGE}
    grown = [g for g in watch.grown if g.factor > 1 or g.field in small]
    decayed = {g.field for g in grown if g.factor < 1}
    analysis = InfluenceAnalysis(diagnosis.steps, diagnosis.name)
    for one in fields:
        storage = one.field.storage
        wanted = not asked or storage in asked
        if wanted and one.zeros == one.size and storage not in outputs:
            influence = analysis.of(storage, outputs)
            too_small = influence.outputs.smooth and one.name in decayed
            # A state that Python sets on the tape is not a finding, unless it is asked for.
            unseen = storage in diagnosis.only_python_reads
            if not too_small and (asked or influence.read or unseen):
                findings.append(_zero(diagnosis, one, influence))
    if diagnosis.constant is not None and not any(findings):
        name = diagnosis.name(diagnosis.constant)
        title = f"All gradients are zero: the loss '{name}' depends smoothly on no field with a "
        title += "gradient."
        hint = "make the fields that the loss depends on with grad=True."
        findings.append(_worded(Finding("zero", "", field=name), title, (), (), hint))
    findings += [_grown(diagnosis, one) for one in grown]
    return Report(
        diagnosis.launches,
        tuple(finding for finding in findings if finding is not None),
        tuple(fields),
        tuple(watch.levels),
        diagnosis.ties,
        diagnosis.approximate,
        diagnosis.plain,
    )


def _gradient_not_finite(diagnosis: Diagnosis) -> Finding | None:
    """Return the finding about the first gradient that is not finite, if there is one."""
    one = diagnosis.gradients.found
    if one is None:
        return None
    if not one.kernel:
        title = f"The seed of '{one.field}' is {_word(one.value)}{_at(one.index)}."
        hint = "give backward() finite numbers."
        return _not_finite("gradient", one, title, "", hint)
    where = f"the adjoint of {_where(diagnosis, one)}{_at(one.index)}"
    title = f"The gradient of '{one.field}' became {_word(one.value)} in {where}."
    if diagnosis.value is not None:
        hint = "correct the value that is not finite first."
    else:
        hint = "keep the operands away from infinite slopes, and small enough not to overflow."
    return _not_finite("gradient", one, title, "its adjoint computes", hint)


def _not_finite(kind: str, one: NotFinite, title: str, computes: str, hint: str) -> Finding:
    labels: list[Label] = []
    notes: list[str] = []
    if one.opaque:
        hint = f"keep the inputs of {one.kernel} where its {kind} is finite."
    elif one.origin is not None:
        text = f"{computes} {one.origin.step}"
        if one.origin.span is None:
            notes.append(f"{text}.")
        else:
            labels.append(Label(one.origin.span, text))
        if one.origin.inputs:
            notes.append(f"here {', '.join(one.origin.inputs)}.")
        if one.origin.earlier:
            hint = "write finite numbers into the field before the launch."
    elif one.kernel:
        notes.append("running the launch again did not find the statement.")
    finding = Finding(kind, "", one.launch, one.kernel, one.field, one.index)
    return _worded(finding, title, labels, notes, hint)


def _worded(
    finding: Finding, title: str, labels: Sequence[Label], notes: Iterable[str], hint: str | None
) -> Finding:
    """Return a finding with its text and the places that the text shows."""
    spans = tuple(label.span for label in labels)
    return replace(finding, text=render(title, labels, notes, hint), spans=spans)


def _where(diagnosis: Diagnosis, one: NotFinite) -> str:
    if one.opaque:
        return f"{one.kernel}, after launch {one.launch} of {diagnosis.launches}"
    return _launch(diagnosis, one.launch, one.kernel)


def _launch(diagnosis: Diagnosis, number: int, kernel: str) -> str:
    return f"launch {number} of {diagnosis.launches}, of kernel '{kernel}'"


def _word(value: object) -> str:
    numbers = np.asarray(value)
    if np.isnan(numbers).any():
        return "NaN"
    return "-inf" if (numbers[np.isinf(numbers)] < 0).all() else "inf"


def _at(index: tuple[int, ...]) -> str:
    return f", at [{', '.join(map(str, index))}]" if index else ""


def _zero(diagnosis: Diagnosis, one: FieldGradient, influence: Influence) -> Finding:
    """Return the finding about a gradient that is zero, with the reason."""
    launch, kernel, cuts = 0, "", list[Cut]()
    hint: str | None = None
    if influence.outputs.smooth:
        launch, cuts = _last_alive(diagnosis, influence)
        if launch:
            kernel = diagnosis.kernels[launch - 1]
            why = f"all slopes are 0 in {_launch(diagnosis, launch, kernel)}"
            hint = "change the inputs, or use a function whose slope is not 0 there."
        elif influence.replaced:
            why, cuts = "values computed from it are overwritten before use", [*influence.replaced]
            hint = _OVERWRITTEN
        else:
            why = "the slopes between it and the differentiated outputs multiply to 0"
            hint = "look for products with 0."
    elif influence.outputs:
        why, cuts = (
            "every path to the differentiated outputs is cut",
            _in_order(influence.outputs.cuts),
        )
        hint = next((cut.hint for cut in cuts if cut.hint), None)
    elif influence.lost and influence.read:
        why, cuts = "values computed from it are overwritten before use", [*influence.lost]
        hint = _OVERWRITTEN
    elif influence.lost:
        why, cuts = "the field is overwritten before it is read", [*influence.lost]
        hint = "write to another field, or differentiate with respect to the new contents."
    elif influence.read:
        why = "the values computed from it are not used"
        hint = "let the loss depend on them."
    elif one.field.storage in diagnosis.only_python_reads:
        why = "only Python reads the field, no launch on the tape does"
        hint = "values computed in Python are constants for the tape: compute them in a kernel."
    else:
        why = "no launch on the tape reads the field"
        hint = "launch the kernels that read it inside the tape."
    labels = [Label(cut.span, cut.reason) for cut in cuts if cut.span is not None]
    notes = [f"{cut.reason}." for cut in cuts if cut.span is None]
    if len(labels) > _MOST_PLACES:
        notes.append(f"and at {counted(len(labels) - _MOST_PLACES, 'more place')}.")
    labels = labels[:_MOST_PLACES]
    title = f"The gradient of '{one.name}' is zero: {why}."
    return _worded(Finding("zero", "", launch, kernel, one.name), title, labels, notes, hint)


def _last_alive(diagnosis: Diagnosis, influence: Influence) -> tuple[int, list[Cut]]:
    """Return the launch in whose adjoint the gradient became zero, and the likely places."""
    for number in sorted(influence.passages, reverse=True):
        passage = influence.passages[number]
        before, after = diagnosis.gradients.sizes.get(number, ({}, {}))
        came = any(before.get(storage, 0.0) > 0 for storage in passage.written)
        went = any(after.get(storage, 0.0) > 0 for storage in passage.read)
        if came and not went:
            # A product is seldom the reason where something else can be.
            likely = [mask for mask in passage.masks if mask.reason != PRODUCT]
            return number, _in_order(likely or passage.masks)
    return 0, []


def _in_order(cuts: Iterable[Cut]) -> list[Cut]:
    def place(cut: Cut) -> tuple[str, int, int, str]:
        span = cut.span or Span("", 0, 0, 0, "")
        return span.file, span.line, span.column, cut.reason

    return sorted(cuts, key=place)


def _grown(diagnosis: Diagnosis, one: Grown) -> Finding:
    """Return the finding about a gradient that exploded or vanished."""
    launch = _launch(diagnosis, one.launch, one.kernel)
    grows = one.factor > 1
    subject, notes = f"The gradient of '{one.field}'", list[str]()
    if one.in_launch:
        title = f"{subject} {'explodes' if grows else 'vanishes'} in the adjoint of {launch}: "
        title += f"it is {one.factor:.3g} times the incoming gradient."
    else:
        title = f"{subject} {'exploded' if grows else 'vanished'}: it is {one.factor:.3g} times "
        title += f"the seed after the adjoint of {launch}."
        levels = diagnosis.gradients.levels
        passed = sum(x.launch >= one.launch and x.kernel == one.kernel for x in levels)
        if passed > 1:
            mean = one.factor ** (1 / passed)
            notes.append(f"{mean:.4g} times per launch, over {passed} launches of '{one.kernel}'.")
    labels: list[Label] = []
    if one.loop is not None:
        verb = "grows" if grows else "shrinks"
        labels.append(Label(one.loop, f"it {verb} from one iteration of this loop to the next"))
    elif one.span is not None:
        labels.append(Label(one.span, f"'{one.field}' here"))
    if not one.in_launch:
        hint = "differentiate over fewer launches"
    elif one.loop is not None:
        hint = "differentiate over fewer iterations"
    else:
        hint = "rescale the values"
    hint += ", or clip the gradient." if grows else ", or use operations whose slopes are larger."
    finding = Finding("growth" if grows else "decay", "", one.launch, one.kernel, one.field)
    return _worded(finding, title, labels, notes, hint)
