"""Derivatives of all orders of opaque steps: their rules, differentiated like any other function.

A step brings a rule that pulls gradients back, and perhaps one that pushes tangents; else these go
by the transpose of the first (`transposed.py`). For tangents of what a rule computes, the step may
say how (`OpaqueStep.derivative`); else the launches, copies and steps of the rule are recorded, and
tangents pushed through them. A rule in NumPy is linear in the gradients that it is given; if it
reads no other varying values, it is run on the tangents of these gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from difftile.diagnostics import FieldError, Label, LaunchError, TapeError, render
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.recording import RECORDING, Recording
from difftile.fields.storage import Storage
from difftile.ir.types import is_float, shape_of
from difftile.launch.tangents import make_writable
from difftile.linearization.active import Active, varying_uses
from difftile.linearization.transposed import (
    Inside,
    ReadInPython,
    TransposedStep,
    contents_of,
    varying_contents,
)
from difftile.recording.opaque import Opaque, OpaqueRecord, OpaqueStep, Pushing
from difftile.recording.recorder import StepRecorder
from difftile.recording.replayed_fields import (
    ReverseContext,
    add_gradients,
    applying,
    reverse_opaque,
    stand_ins,
    taken_gradients,
    tangent_stand_ins,
    tangents_left,
)
from difftile.recording.steps import TapeStep
from difftile.recording.uses import Keeps, Use
from difftile.recording.work_fields import copied, zeros_of
from difftile.records import dataclass

Gradient = Callable[[Field], Field]
"""Returns the gradient, or a part of its tangent, of a field that a pass works on."""


def run_step(opaque: Opaque, active: Active, inside: Inside) -> tuple[object, OpaqueRecord | None]:
    """Run an opaque step, and add the memory that varies after it.

    Returns:
        The result, and the record of the run, whose reverse pushes tangents; None if no varying
        field was written.

    Raises:
        LaunchError: The step has updated a detached field whose memory varies.
    """
    uses, step = varying_uses(opaque, active), opaque.step
    constant = opaque.constant or not any(u.reads and active.carries(u) for u in opaque.uses)
    if not constant:
        step = forward_of(step, inside)
        uses = _keeping(uses, step.uses)
    pushing = replace(opaque, step=step, uses=uses)
    result, record = pushing.execute(record=True)
    try:
        active.check_updates(opaque, pushing.uses)
    except LaunchError:
        if record is not None:
            record.release()
        raise
    if not constant:
        active.storages |= {use.field.storage for use in pushing.uses if use.writes}
    if isinstance(step, TransposedStep):
        step.uses = pushing.uses  # only now is it known what the step writes, and keeps
    return result, record


def forward_of(step: OpaqueStep, inside: Inside) -> OpaqueStep:
    """Return a step as one whose `reverse` pushes tangents."""
    return Pushing(step) if step.pushes else TransposedStep(step, inside)


def _keeping(uses: Iterable[Use], more: Iterable[Use]) -> tuple[Use, ...]:
    """Return uses that keep the contents read by the rules of both directions."""
    others = {use.field.storage: use.keeps for use in more}

    def kept(use: Use) -> Keeps:
        other = others.get(use.field.storage, use.keeps)
        if use.keeps in (Keeps.NOTHING, other):
            return other
        return use.keeps if other in (Keeps.NOTHING, Keeps.UNWRITTEN) else Keeps.BOTH

    return tuple(replace(use, keeps=kept(use)) for use in uses)


@dataclass(frozen=True, slots=True)
class StepTangents:
    """The tangents of the fields of an opaque step, by part and memory; none are values.

    Args:
        before: The tangents of the fields that the step has read.
        after: The tangents of the fields that it has written.
        zeros: The tangents of fields that do not vary; records of `kept` hold their memory.
    """

    before: list[dict[Storage, Field]]
    after: list[dict[Storage, Field]]
    zeros: dict[Storage, Field]

    def kept(self, record: OpaqueRecord, part: int) -> OpaqueRecord:
        """Return a run with a part of the tangents of its contents in their place."""
        if not part:
            return record
        early, late = Keeps.BEFORE, Keeps.AFTER
        kept: dict[Storage, Field] = {}
        left: dict[Storage, Field] = {}
        for use in record.opaque.uses:
            storage = use.field.storage
            before = self.before[part].get(storage)
            if before is None and is_float(use.field.element):
                before = self._zeros_of(use.field)
            after = self.after[part].get(storage, before)
            if use.keeps in (early, Keeps.BOTH) and before is not None:
                kept[storage] = before
            elif use.keeps is late and after is not None:
                kept[storage] = after
            if use.keeps is Keeps.BOTH and after is not None:
                left[storage] = after
        return OpaqueRecord(
            record.opaque,
            {storage: one.storage.buffer for storage, one in kept.items()},
            {storage: one.storage.buffer for storage, one in left.items()},
            None,
        )

    def _zeros_of(self, field: Field) -> Field:
        """Return the tangent of a field that does not vary; memory is freed with its field."""
        found = self.zeros.get(field.storage)
        if found is None:
            found = self.zeros[field.storage] = zeros_of(field.origin)
        return found


def push_step(
    record: OpaqueRecord, primal: OpaqueStep, dots: Sequence[Gradient], inside: Inside
) -> StepTangents:
    """Push tangents through a run of `run_step`.

    The rule pushes them along one direction; along further ones they are tangents of its result.

    Args:
        record: The run.
        primal: The step itself.
        dots: Return the tangents of a field, by part; part 0 is not used.
        inside: Returns a sweep through a rule.
    """
    found = StepTangents([{} for _ in dots], [{} for _ in dots], {})
    uses = record.opaque.uses
    if not record.opaque.flows:  # writing constants leaves zero
        for gradient in dots[1:]:
            for use in uses:
                if use.writes and use.field.has_grads:
                    make_writable(gradient(use.field.origin))
            reverse_opaque(record, gradient)
        return found
    given = [use for use in uses if is_float(use.field.element) and use.field.has_grads]
    for part, gradient in enumerate(dots):
        if part:
            read = (use.field.origin for use in given if use.reads or use.parts)
            found.before[part].update({one.storage: copied(gradient(one)) for one in read})
    for level in range((len(dots) - 1).bit_length()):
        _push_along(record, primal, found, 1 << level, inside)
    for part, gradient in enumerate(dots):
        for use in uses:
            dot = found.after[part].get(use.field.storage)
            if dot is not None:
                target = gradient(use.field.origin)
                make_writable(target)
                target.buffer.copy_from(dot.buffer)
    return found


def _push_along(
    record: OpaqueRecord, primal: OpaqueStep, found: StepTangents, bit: int, inside: Inside
) -> None:
    """Push tangents along one direction by the rule of a step, and along earlier ones with it.

    Args:
        record: The run.
        primal: The step itself.
        found: The tangents before the step, and after it those along earlier directions; those
            along this one are added.
        bit: The part of the direction alone.
        inside: Returns a sweep through a rule.
    """

    def before(part: int) -> Gradient:
        return lambda one: copied(found.before[part | bit][one.storage])

    runs = [found.kept(record, part) for part in range(bit)]
    stands = [tangent_stand_ins(run, before(part)) for part, run in enumerate(runs)]
    with applying(record, stands[0]):
        _apply(runs, stands, inside, primal)
    for part, each in enumerate(stands):
        left = tangents_left(record, each, before(part))
        found.after[part | bit].update({use.field.storage: dot for use, dot in left.items()})


@dataclass(slots=True)
class TangentStepRecord:
    """A run of an opaque step, and the tangents of its fields before and after it.

    Args:
        record: The run.
        pushed: The tangents, for each direction that they were pushed along.
        inside: Returns a sweep through a rule.
    """

    record: OpaqueRecord
    pushed: list[StepTangents]
    inside: Inside

    def release(self) -> None:
        """Release the old values."""
        self.record.release()
        self.pushed = []

    def reverse(self, bars: Sequence[Gradient], direction: int = 0) -> None:
        """Run the reverse of the step with tangents.

        Args:
            bars: Return the gradient of a field, and its tangents, by part.
            direction: The direction.

        Raises:
            TapeError: The derivative of the reverse is not known.
        """
        record = self.record
        incoming = [taken_gradients(record, one) for one in bars]
        if not record.opaque.flows:
            return
        runs = [self.pushed[direction].kept(record, part) for part in range(len(bars))]
        stands = [stand_ins(run, given) for run, given in zip(runs, incoming, strict=True)]
        with applying(record, stands[0]):
            _apply(runs, stands, self.inside)
        for each, gradient in zip(stands, bars, strict=True):
            add_gradients(record, each, gradient)


def recorded_step(
    record: OpaqueRecord,
    step: OpaqueStep,
    directions: Iterable[Sequence[Gradient]],
    inside: Inside,
) -> TangentStepRecord:
    """Push tangents through a run of `run_step`, and return the record that reverses both.

    Args:
        record: The run.
        step: The step itself.
        directions: Return the tangents of fields, by part, for each direction.
        inside: Returns a sweep through a rule.
    """
    try:
        pushed = [push_step(record, step, dots, inside) for dots in directions]
    except BaseException:
        record.release()
        raise
    return TangentStepRecord(_with_step(record, step), pushed, inside)


def _apply(
    runs: Sequence[OpaqueRecord],
    stands: Sequence[Mapping[Storage, Field]],
    inside: Inside,
    primal: OpaqueStep | None = None,
) -> None:
    """Run the rule of a step with tangents.

    Args:
        runs: The run, and those of `StepTangents.kept`, by part.
        stands: The stand-ins of the step's fields, by part.
        inside: Returns a sweep through a rule.
        primal: The step itself, where the rule pushes tangents.
    """
    at = [ReverseContext.of(run, each) for run, each in zip(runs, stands, strict=True)]
    if len(at) == 1:
        runs[0].opaque.step.reverse(at[0], runs[0].saved)
    else:
        _differentiate(runs[0], at, inside, primal)


def _differentiate(
    record: OpaqueRecord,
    at: Sequence[ReverseContext],
    inside: Inside,
    primal: OpaqueStep | None = None,
) -> None:
    """Run the rule of a step and push tangents through it; see `_apply`."""
    step = record.opaque.step
    if step.derivative(at, record.saved):
        return
    if primal is None:
        _Rule(record, at, inside, forward=False).push()
        return
    try:
        if not step.is_seen:
            raise ReadInPython
        _Rule(record, at, inside, forward=True).push()
    except (ReadInPython, TapeError):
        _push_by_units(_with_step(record, primal), at, inside)


def _push_by_units(record: OpaqueRecord, at: Sequence[ReverseContext], inside: Inside) -> None:
    """Push tangents of tangents through a step, by the tangents of its reverse.

    The second derivative of a number y along v and w is <dx_bar, v>, where dx_bar is the tangent
    along w of the cotangent that y's own unit leads to. So the reverse runs once for each number:
    this is for rules in Python, whose inside no sweep sees.

    Args:
        record: A run of the step.
        at: The fields of the step with tangents before it in `grad_out`, by part; those after it
            are set in `grad_in`.
        inside: Returns a sweep through a rule.
    """
    fields = [use.field.origin for use in record.opaque.uses if is_float(use.field.element)]
    given = [
        {one: dot.to_numpy() for one in fields if (dot := along[one].grad_out) is not None}
        for along in at
    ]
    for out in fields:
        if at[0][out].grad_in is None:
            continue
        found = np.zeros((len(at), *out.shape, *shape_of(out.element)))
        for cell, unit in enumerate(np.eye(found[0].size)):
            inner = [along.emptied() for along in at]
            seed = inner[0][out].grad_in
            assert seed is not None
            seed.from_numpy(unit.reshape(found[0].shape))
            _differentiate(record, inner, inside)
            for part in range(len(at)):
                found[part].reshape(-1)[cell] = sum(
                    float(np.sum(bar.to_numpy() * dot))
                    for own in range(part + 1)
                    if own & part == own
                    for one, dot in given[part ^ own].items()
                    if (bar := inner[own][one].grad_out) is not None
                )
        for along, values in zip(at, found, strict=True):
            target = along[out].grad_in
            assert target is not None
            target.from_numpy(values)


def _with_step(record: OpaqueRecord, step: OpaqueStep) -> OpaqueRecord:
    """Return a run with the rules of a step for both directions."""
    return replace(record, opaque=replace(record.opaque, step=step))


class _Rule:
    """The rule of a step, to be differentiated.

    Args:
        record: A run of the step.
        at: The fields of the step, and their tangents, by part.
        inside: Returns a sweep through a rule.
        forward: Whether the rule pushes tangents.
    """

    def __init__(
        self,
        record: OpaqueRecord,
        at: Sequence[ReverseContext],
        inside: Inside,
        *,
        forward: bool,
    ) -> None:
        self._record = record
        self._at = at
        self._inside = inside
        self._given, self._found = ("grad_out", "grad_in") if forward else ("grad_in", "grad_out")
        uses = [use for use in record.opaque.uses if is_float(use.field.element)]
        self._fields = [use.field.origin for use in uses]
        self._varying = varying_contents(uses)

    @property
    def _step(self) -> OpaqueStep:
        return self._record.opaque.step

    def push(self) -> None:
        """Run the rule, and push tangents through it.

        Raises:
            TapeError: The rule computes in Python from values that vary.
        """
        if self._varying and self._step.reads_saved(self._record.saved):
            raise self._error(None)
        try:
            self._push_launches()
        except (ReadInPython, FieldError, LaunchError, TapeError):
            self._push_linear()

    def _push_launches(self) -> None:
        """Push tangents through the launches of the rule."""
        then, tangents = self._at[0], list(enumerate(self._at))[1:]
        moves: list[tuple[int, Field, Field]] = []
        for part, along in tangents:
            moves += contents_of(then, along, part, self._varying)
            moves += ((part, bar, dot) for bar, dot in self._gradients(self._given, along))
        sweep = self._inside({bar for _, bar, _ in moves}, len(self._at).bit_length() - 1, False)
        for part, bar, dot in moves:
            sweep.part(part, bar).buffer.copy_from(dot.buffer)
        with Recording(sweep, observer=RECORDING.get().observer):
            self._step.reverse(then, self._record.saved)
        for part, along in tangents:
            for bar, dot in self._gradients(self._found, along):
                dot.copy_from(sweep.part(part, bar))

    def _push_linear(self) -> None:
        """Run the rule on the gradients and on their tangents.

        Raises:
            TapeError: The rule reads other varying values, or is not linear.
        """
        given = [self._incoming(one) for one in self._at]
        total = {one: sum(each[one] for each in given) for one in given[0]}
        *results, both = [self._applied(one) for one in (*given, total)]
        for one in both:
            several = np.stack([found[one] for found in results])
            if not _agree(several.sum(0), both[one], np.abs(several).sum(0)):
                raise self._error("Its backward is not linear in the gradients that it is given.")
        for context, found in zip(self._at, results, strict=True):
            for one, values in found.items():
                target = getattr(context[one], self._found)
                target.from_numpy(values)

    def _incoming(self, context: ReverseContext) -> dict[Field, HostArray]:
        found = {one: getattr(context[one], self._given) for one in self._fields}
        return {one: bar.to_numpy() for one, bar in found.items() if bar is not None}

    def _applied(self, gradients: Mapping[Field, Any]) -> dict[Field, HostArray]:
        """Return the result of the rule for some gradients."""
        context = self._at[0].emptied()
        for one, values in gradients.items():
            getattr(context[one], self._given).from_numpy(values)
        storages = {context[one].storage for one in self._varying}
        storages |= {context.after(one).storage for one in self._varying}
        try:
            with Recording(_Looking(storages), observer=RECORDING.get().observer):
                self._step.reverse(context, self._record.saved)
        except ReadInPython as error:
            raise self._error(str(error)) from None
        found = {one: getattr(context[one], self._found) for one in self._fields}
        return {one: bar.to_numpy() for one, bar in found.items() if bar is not None}

    def _gradients(self, name: str, along: ReverseContext) -> list[tuple[Field, Field]]:
        """Return pairs of a gradient and its tangent."""
        pairs = ((getattr(self._at[0][one], name), one) for one in self._fields)
        return [(bar, getattr(along[one], name)) for bar, one in pairs if bar is not None]

    def _error(self, why: str | None) -> TapeError:
        step = self._step
        title = f"The second derivative of {step.title} is needed here, and is not known."
        labels = () if step.place is None else (Label(step.place, "called here"),)
        reason = why or "Its backward reads values that were saved in Python."
        return TapeError(render(title, labels, (reason,), step.advice("second")))


class _Looking(StepRecorder):
    """Runs the steps of a rule, and refuses reads of certain memory.

    Args:
        storages: The memory.
    """

    def __init__(self, storages: set[Storage]) -> None:
        self._storages = storages

    def record(self, step: TapeStep) -> object:
        """Run a step."""
        for one in step.reads:
            self._look(one)
        return step.run(None)

    def meet(self, field: Field) -> None:
        """Check a read or write from Python."""
        self._look(field)

    def host_add(self, target: ArrayLike, values: HostArray) -> None:
        """Allow all additions."""

    def _look(self, field: Field) -> None:
        if field.storage in self._storages:
            raise ReadInPython(
                "Its backward computes in Python from contents that vary, and not only from "
                "gradients."
            )


def _agree(one: HostArray, other: HostArray, scale: HostArray) -> bool:
    """Tell whether two sums are equal but for rounding errors."""
    size = float(np.max(scale, initial=0.0))
    return bool(np.all(np.abs(one - other) <= float(np.finfo(one.dtype).eps) ** 0.5 * size))
