"""Second derivatives of opaque steps: tangents of their backward.

The backward of a step is differentiated like any other function: its launches, copies and steps are
recorded and tangents pushed through them. A backward in NumPy is linear in the gradients that it is
given; if it reads no other varying values, it is run on the tangents of these gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from difftile.compile.arguments import Arguments
from difftile.diagnostics import FieldError, Label, LaunchError, TapeError, render
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, Storage
from difftile.fields.numbers import HostRead
from difftile.fields.recording import RECORDING, Recording, Where
from difftile.ir.types import is_float
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.linearization.pushforward import Pushforward
from difftile.linearization.tangents import StepTangents, push_step
from difftile.linearization.transposed import ReadInPython
from difftile.recording.opaque import Keeps, Opaque, OpaqueRecord, OpaqueStep
from difftile.recording.recorder import StepRecorder
from difftile.recording.replayed_fields import (
    ReverseContext,
    add_gradients,
    applying,
    stand_ins,
    taken_gradients,
)
from difftile.recording.steps import TapeStep
from difftile.recording.work_fields import zeros_of
from difftile.records import dataclass

Gradients = Callable[[Field], Field]
"""Returns the gradient, or its tangent, of a field that a backward pass works on."""


@dataclass(slots=True)
class DualStepRecord:
    """A run of an opaque step, and the tangents of its fields before and after it.

    Args:
        record: The run.
        pushed: The tangents, for each direction that they were pushed along.
    """

    record: OpaqueRecord
    pushed: list[StepTangents]

    def release(self) -> None:
        """Release the old values."""
        self.record.release()
        self.pushed = []

    def reverse(self, bars: Gradients, dots: Gradients, direction: int = 0) -> None:
        """Run the reverse of the step with tangents.

        Raises:
            TapeError: The derivative of the reverse is not known.
        """
        record, pushed = self.record, self.pushed[direction]
        incoming = [taken_gradients(record, one) for one in (bars, dots)]
        if not record.opaque.flows:
            return
        early, late = Keeps.BEFORE, Keeps.AFTER
        kept: dict[Storage, Field] = {}
        left: dict[Storage, Field] = {}
        for use in record.opaque.uses:
            storage = use.field.storage
            before = pushed.before.get(storage)
            if before is None and is_float(use.field.element):
                before = zeros_of(use.field.origin)  # a field that does not vary
            after = pushed.after.get(storage, before)
            if use.keeps in (early, Keeps.BOTH) and before is not None:
                kept[storage] = before
            elif use.keeps is late and after is not None:
                kept[storage] = after
            if use.keeps is Keeps.BOTH and after is not None:
                left[storage] = after
        tangents = OpaqueRecord(
            record.opaque,
            {storage: one.storage.buffer for storage, one in kept.items()},
            {storage: one.storage.buffer for storage, one in left.items()},
            None,
        )
        stands = stand_ins(record, incoming[0])
        moves = stand_ins(tangents, incoming[1])
        then = ReverseContext.of(record, stands)
        along = ReverseContext.of(tangents, moves)
        step = record.opaque.step
        with applying(record, stands):
            if not step.second(then, along, record.saved):
                rule = _Rule(record, then, along)
                rule.push()
        add_gradients(record, stands, bars)
        add_gradients(record, moves, dots)


def pushed_step(
    record: OpaqueRecord, opaque: Opaque, directions: Iterable[Gradients]
) -> DualStepRecord:
    """Push tangents through a run of `run_step`, and return the record that reverses both.

    Args:
        record: The run.
        opaque: The step.
        directions: Return the tangents of fields, one function for each direction.
    """
    try:
        pushed = [push_step(record, dots) for dots in directions]
    except BaseException:
        record.release()
        raise
    return DualStepRecord(replace(record, opaque=replace(record.opaque, step=opaque.step)), pushed)


class _Rule:
    """The backward of a step, to be differentiated.

    Args:
        record: A run of the step.
        then: The fields of the step.
        along: Their tangents.
    """

    def __init__(self, record: OpaqueRecord, then: ReverseContext, along: ReverseContext) -> None:
        self._record = record
        self._then, self._along = then, along
        uses = [use for use in record.opaque.uses if is_float(use.field.element)]
        self._fields = [use.field.origin for use in uses]
        self._varying = [
            use.field.origin for use in uses if use.field.has_grads and use.keeps in _CONTENTS
        ]

    @property
    def _step(self) -> OpaqueStep:
        return self._record.opaque.step

    def push(self) -> None:
        """Run the backward, and push tangents through it.

        Raises:
            TapeError: The backward computes in Python from values that vary.
        """
        if self._varying and self._step.reads_saved(self._record.saved):
            raise self._error(None)
        try:
            self._push_launches()
        except (ReadInPython, FieldError, LaunchError, TapeError):
            self._push_linear()

    def _push_launches(self) -> None:
        """Push tangents through the launches of the backward."""
        then, along = self._then, self._along
        tangents: dict[Field, HostArray] = {}
        for one in self._varying:
            tangents[then[one]] = along[one].to_numpy()
            if then.after(one).storage is not then[one].storage:
                tangents[then.after(one)] = along.after(one).to_numpy()
        for bar, dot in self._gradients("grad_in"):
            tangents[bar] = dot.to_numpy()
        pushing = _LaunchTangents(tangents)
        with Recording(pushing, observer=RECORDING.get().observer):
            self._step.reverse(then, self._record.saved)
        for bar, dot in self._gradients("grad_out"):
            dot.copy_from(pushing.tangent(bar))

    def _push_linear(self) -> None:
        """Run the backward on the gradients and on their tangents.

        Raises:
            TapeError: The backward reads other varying values, or is not linear.
        """
        given, moved = self._incoming(self._then), self._incoming(self._along)
        results = [
            self._applied({one: weight * given[one] + other * moved[one] for one in given})
            for weight, other in ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
        ]
        for one in results[0]:
            first, second, both = (found[one] for found in results)
            if not _agree(first + second, both, np.abs(first) + np.abs(second)):
                raise self._error("Its backward is not linear in the gradients that it is given.")
        for context, found in zip((self._then, self._along), results, strict=False):
            for one, values in found.items():
                target = context[one].grad_out
                assert target is not None
                target.from_numpy(values)

    def _incoming(self, context: ReverseContext) -> dict[Field, HostArray]:
        found = {one: context[one].grad_in for one in self._fields}
        return {one: bar.to_numpy() for one, bar in found.items() if bar is not None}

    def _applied(self, gradients: Mapping[Field, HostArray]) -> dict[Field, HostArray]:
        """Return the result of the backward for some gradients."""
        context = self._then.emptied()
        for one, values in gradients.items():
            bar = context[one].grad_in
            assert bar is not None
            bar.from_numpy(values)
        storages = {context[one].storage for one in self._varying}
        storages |= {context.after(one).storage for one in self._varying}
        try:
            with Recording(_Looking(storages), observer=RECORDING.get().observer):
                self._step.reverse(context, self._record.saved)
        except ReadInPython as error:
            raise self._error(str(error)) from None
        found = {one: context[one].grad_out for one in self._fields}
        return {one: bar.to_numpy() for one, bar in found.items() if bar is not None}

    def _gradients(self, name: str) -> list[tuple[Field, Field]]:
        """Return pairs of a gradient and its tangent."""
        pairs = ((getattr(self._then[one], name), one) for one in self._fields)
        return [(bar, getattr(self._along[one], name)) for bar, one in pairs if bar is not None]

    def _error(self, why: str | None) -> TapeError:
        step = self._step
        title = f"The second derivative of {step.title} is needed here, and is not known."
        labels = () if step.place is None else (Label(step.place, "called here"),)
        reason = why or "Its backward reads values that were saved in Python."
        return TapeError(render(title, labels, (reason,), step.advice("second")))


class _LaunchTangents(Pushforward):
    """Pushes tangents through the launches of a rule, and refuses to see them read in Python."""

    def host_read(self, field: Field, where: Where) -> HostRead | None:
        """Refuse a read of a field that varies."""
        if super().host_read(field, where) is not None:
            raise ReadInPython
        return None

    def result(self, launch: PreparedLaunch, values: Arguments, position: int) -> HostRead | None:
        """Refuse a result of a launch that varies."""
        if super().result(launch, values, position) is not None:
            raise ReadInPython
        return None

    def host_add(self, target: ArrayLike, values: HostArray) -> None:
        """Allow adding constants, which leaves tangents unchanged."""


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


_CONTENTS = (Keeps.BEFORE, Keeps.AFTER, Keeps.BOTH)


def _agree(one: HostArray, other: HostArray, scale: HostArray) -> bool:
    """Tell whether two sums are equal but for rounding errors."""
    size = float(np.max(scale, initial=0.0))
    return bool(np.all(np.abs(one - other) <= float(np.finfo(one.dtype).eps) ** 0.5 * size))
