"""Replaying records in reverse: gradients from the end of a tape to its beginning."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

import numpy as np

from difftile.compile.adjoint_plan import AdjointPlan
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, make_like
from difftile.fields.gradient_changes import GradientGuard
from difftile.fields.recording import Where
from difftile.fields.storage import Storage
from difftile.ir.derived import After, Before
from difftile.ir.nodes import Array
from difftile.ir.types import shape_of
from difftile.launch.binding import Binding, Fixed, Kept, LaunchEnvironment, Slot
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.budget import LOG_BYTES
from difftile.recording.meeting import meet
from difftile.recording.opaque import OpaqueRecord
from difftile.recording.reduction import COMBINED, MIXED
from difftile.recording.replayed_fields import reverse_opaque
from difftile.recording.runs import RunRecord
from difftile.recording.steps import LaunchRecord, StepRecord
from difftile.recording.windows import reverse_in_windows
from difftile.recording.work_fields import copied
from difftile.substrate import apart


class AdjointEnvironment(LaunchEnvironment):
    """Finds contents among the buffers that records keep, and gradients in a backward pass.

    Args:
        record: A launch of a stage; others of the same launch keep buffers in the same order.
        gradient: Returns the gradient of a field.
    """

    def __init__(self, record: LaunchRecord, gradient: Callable[[Field], Field]) -> None:
        super().__init__(record.plan.code, record.values)
        self.plan = record.plan
        self._gradient = gradient

    def before(self, array: Array) -> Slot:
        """Return the slot of contents from before the stage."""
        return Kept(self.kept_at(Before(array)), self.field(array))

    def after(self, array: Array) -> Slot:
        """Return the slot of contents from after the stage."""
        return Kept(self.kept_at(After(array)), self.field(array))

    def bar(self, array: Array) -> Slot:
        """Return the slot of a gradient."""
        return Fixed(self._gradient(self.field(array)).buffer)

    def kept_at(self, role: Before | After) -> int:
        """Return the position of contents among the buffers that a record keeps."""
        position, plan = self.code.position[role.array], self.plan
        if isinstance(role, Before):
            return plan.reads.index(position)
        return len(plan.reads) + plan.reads_after.index(position)


class Replay:
    """The gradient buffers of one backward pass.

    A field with one shared gradient works in it directly. Where `grad_in` and `grad_out` differ, or
    gradients accumulate over tapes and the field is written, the pass works in a buffer of its own,
    which starts as `grad_in` and is added to `grad_out` at the end.

    Args:
        written: The memory of the fields that the records write.
        accumulate: Add to the gradients of these fields, too.
        seeds: The memory of fields whose shared gradients the pass reads and leaves as they are.
        private: Work only in buffers of its own, which start as zero; fields need no gradients.
        room: Returns the bytes that the log of a loop may take, given the bytes that it needs.
    """

    def __init__(
        self,
        written: Container[Storage],
        accumulate: bool,
        seeds: Container[Storage] = (),
        *,
        private: bool = False,
        room: Callable[[int], float] = lambda _: LOG_BYTES,
    ) -> None:
        self.written = written
        self.accumulate = accumulate
        self.seeds = seeds
        self.private = private
        self.room = room
        self._work: dict[Storage, Field] = {}
        self.changed: set[Storage] = set()  # the memory of the fields' gradients
        self._mixed: list[Field] = []
        self._own: list[tuple[Field, Field]] = []  # fields, and gradients that are not theirs
        self._adjoints: dict[tuple[AdjointPlan, PreparedLaunch], Binding] = {}

    def gradient(self, field: Field) -> Field:
        """Return the gradient that the pass works on, in the field's shape."""
        work = self._work.get(field.storage)
        if work is None:
            work = self._start(field.origin)
        return work if work.shape == field.shape else work.under(field.shape)

    def _start(self, field: Field) -> Field:
        """Choose the gradient of a field to work on."""
        grad_in, grad_out = field.grad_in, field.grad_out
        shared = grad_in is grad_out
        if not self.private:
            self.changed |= {one.storage for one in (grad_in, grad_out) if one is not None}
            if GradientGuard.open:
                GradientGuard.changes(self.changed)
            if grad_out is not None:
                out = grad_out.storage
                out.of_overwritten = False
                if self.accumulate and (COMBINED.get(out) or MIXED.get(out)):
                    self._mixed.append(grad_out)
        if self.private:
            work = make_like(field)
            work.buffer.fill(0.0)
        elif shared and field.storage in self.seeds:
            work = copied(field.grad)
        elif shared and not (self.accumulate and field.storage in self.written):
            work = field.grad if grad_out is None else grad_out
            work.fresh_if_pinned(keep=True)  # a launch on the tape read its contents
        else:
            work = make_like(field)
            if not shared and grad_in is not None:
                work.buffer.copy_from(grad_in.buffer)
            else:
                work.buffer.fill(0.0)
        self._work[field.storage] = work
        if work is not grad_out:
            self._own.append((field, work))
        return work

    def reverse(self, record: StepRecord) -> None:
        """Run the adjoint of one record."""
        record.reverse(self)

    def launch(self, record: LaunchRecord) -> None:
        """Run the adjoint of a launch."""
        adjoint = self._adjoint(record)
        extents: Mapping[Array, int] | None = None
        if adjoint.has_logs:
            extents = adjoint.extents(record.values, record.kept)
            nbytes = adjoint.log_nbytes(extents)
            room = self.room(nbytes)
            if nbytes > room:
                env = AdjointEnvironment(record, self.gradient)
                if reverse_in_windows(record, env, nbytes, room):
                    return
        adjoint.launch(record.values, record.kept, extents)

    def run(self, record: RunRecord) -> None:
        """Run the adjoint of a run of launches."""
        record.step.fused.reverse(record.slabs, record.kept, self.gradient)

    def opaque(self, record: OpaqueRecord) -> None:
        """Run the reverse of an opaque step."""
        opaque = record.opaque
        if opaque.communicates:
            meet(f"the way back of {opaque.step.title}", f"{opaque.signature} back")
        with apart():  # others may look at memory
            if not opaque.flows or not opaque.step.reverse_in_place(record, self.gradient):
                reverse_opaque(record, self.gradient)

    def arrays(self, field: Field) -> tuple[HostArray]:
        """Return the gradient of a field as an array, to read it."""
        return (self.gradient(field).buffer.array(),)

    def change(self, field: Field, change: Callable[[HostArray], None]) -> None:
        """Let a function change the gradient of a field, given as an array."""
        self.gradient(field).buffer.change(change)

    def drop(self, field: Field, where: Where) -> None:
        """Set the gradient of a field, a part or an element to zero."""
        buffer = self.gradient(field).buffer
        if not where:
            buffer.fill(0.0)
        elif isinstance(where, tuple):
            buffer.write_at(where, np.zeros(shape_of(field.element)))
        else:
            where.assign(buffer, 0.0)

    def arguments(self, record: LaunchRecord) -> list[Any]:
        """Return the arguments of an adjoint, with None for its scratch memory."""
        return self._adjoint(record).arguments(record.values, record.kept)

    def _adjoint(self, record: LaunchRecord) -> Binding:
        plan, prepared = record.plan, record.launch.prepared
        binding = self._adjoints.get((plan, prepared))
        if binding is None:
            # From an earlier pass, if it worked on the same gradients.
            fields: list[Any] = record.values
            bars = [self.gradient(fields[k]).buffer for k in plan.bars]
            known = prepared.adjoints.get(plan)
            if known is None or any(a is not b for a, b in zip(known[0], bars, strict=True)):
                assert plan.adjoint is not None
                env = AdjointEnvironment(record, self.gradient)
                known = prepared.adjoints[plan] = bars, Binding(plan.adjoint, env)
            binding = self._adjoints[plan, prepared] = known[1]
        return binding

    def clear(self) -> None:
        """Set all gradients to zero, to begin again."""
        for work in self._work.values():
            work.buffer.fill(0.0)

    def finish(self) -> None:
        """Add the gradients in buffers of the pass to the gradients of the fields."""
        GradientGuard.changes(self.changed)
        for field, work in self._own:
            seeds_alone = field.grad_in is field.grad_out and field.storage in self.seeds
            if field.grad_out is not None and not seeds_alone:
                field.grad_out.fresh_if_pinned(keep=True)
                field.grad_out.buffer.add(work.buffer)
        for gradient in self._mixed:
            MIXED.note(gradient.storage, True)
