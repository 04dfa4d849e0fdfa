"""The fields of an opaque step as they were, with gradients for its reverse to work on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

import numpy as np

from difftile.diagnostics import FieldError, GradientCut, TapeError
from difftile.fields.elements import FieldElements
from difftile.fields.field import Field
from difftile.fields.gradients import carrier
from difftile.fields.storage import Storage
from difftile.ir.types import is_float
from difftile.recording.meeting import meet
from difftile.recording.opaque import OpaqueRecord
from difftile.recording.snapshots import Snapshot
from difftile.recording.uses import Use
from difftile.recording.watching import closed
from difftile.recording.work_fields import copied, zeros_of
from difftile.substrate import Buffer


class NoContents(Storage):
    """A placeholder for contents of a field that were not kept.

    Args:
        text: The error for an attempt to read them.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text
        self.graded = self.gradient_of = self.split = None

    def __del__(self) -> None:
        """Do nothing: there is no buffer to give back."""

    def share(self, field: Field) -> None:
        """Do nothing: no field has contents here."""

    @property
    def buffer(self) -> Buffer:
        """Refuse.

        Raises:
            FieldError: Always.
        """
        raise FieldError(self._text)


class ReplayedField(Field):
    """Stands for a field in the derivative of a step; its two gradients are told apart."""

    __slots__ = ()

    @property
    def grad(self) -> Field:
        """The gradient of a field that the step only read.

        Raises:
            FieldError: The step wrote the field, so there are two.
        """
        if self.grad_in is not None:
            raise FieldError(
                f"{self!r} was written and has two gradients here: read grad_in, that of what it "
                "held after the call, and add to grad_out, that of what it held before."
            )
        return super().grad

    @grad.setter
    def grad(self, gradient: FieldElements) -> None:
        Field.grad.__set__(self, gradient)


class ReverseContext:
    """The fields of a step as they were when it ran.

    `then[field]` stands for a field of the step and has the contents that were kept. Of a field
    that the step wrote, `grad_in` is the gradient with respect to the contents after the step; of
    a field that it read, `grad_out` takes the gradient with respect to the contents before, and is
    zero to begin with. Fields without gradients have such buffers too, which are thrown away.

    Args:
        stands: The stand-in for the field in each memory.
        kept: The contents that were kept.
        left: The memory of the contents after the step, where `kept` has the contents before it.
    """

    def __init__(
        self,
        stands: Mapping[Storage, Field],
        kept: Mapping[Storage, Buffer],
        left: Mapping[Storage, Storage],
    ) -> None:
        self._stands = stands
        self._kept = kept
        self._left = left

    @staticmethod
    def of(record: OpaqueRecord, stands: Mapping[Storage, Field]) -> ReverseContext:
        """Return the fields of a step with the contents in its record."""
        left = {storage: Storage(buffer) for storage, buffer in record.left.items()}
        return ReverseContext(stands, record.kept, left)

    def __getitem__(self, field: Field) -> Field:
        found = self._stands.get(field.storage)
        if found is None:
            raise FieldError(f"{field!r} is not among the fields that the step declares.")
        return found.under(field.shape)

    def after(self, field: Field) -> Field:
        """Return a field with the contents from after the step, where both are kept."""
        stand = self[field]
        found = self._left.get(field.storage)
        return stand if found is None else stand.origin.over(found, None, None).under(field.shape)

    def stand_in(self, field: Field, carrying: Field, *, late: bool = False) -> Field:
        """Return the stand-in for a field, which is constant if another one carries derivatives.

        Args:
            field: The field.
            carrying: The field of the step in that memory, to which derivatives pass.
            late: Whether contents from after the step are meant, where both are kept.
        """
        found = self[field]
        if carrier((field, carrying)) is field:
            return self.after(field) if late else found
        grad_in = None if found.grad_in is None else zeros_of(field)
        contents = Storage(found.storage.buffer)  # in which no tangent of the others is seen
        return found.over(contents, grad_in, zeros_of(field), ReplayedField)

    def emptied(self) -> ReverseContext:
        """Return the same contents with other gradients, which are zero."""
        return ReverseContext(
            {
                storage: stand.over(
                    stand.storage,
                    None if stand.grad_in is None else zeros_of(stand.grad_in),
                    None if stand.grad_out is None else zeros_of(stand.grad_out),
                    ReplayedField,
                )
                for storage, stand in self._stands.items()
            },
            self._kept,
            self._left,
        )

    @contextmanager
    def restored(self) -> Generator[None]:
        """Restore the kept contents in the step's own fields, inside a block."""
        final = Snapshot(0)
        for storage in self._kept:
            final.hold(storage)
        try:
            for storage, buffer in self._kept.items():
                storage.restore(buffer)
            yield
        finally:
            final.restore()
            final.release()


def reverse_opaque(record: OpaqueRecord, gradient: Callable[[Field], Field]) -> None:
    """Run the reverse of an opaque step.

    Args:
        record: A run of it.
        gradient: Returns the gradient of a field that the backward pass works on.

    Raises:
        TapeError: The reverse has changed the contents of a field.
    """
    step, incoming = record.opaque.step, taken_gradients(record, gradient)
    if not record.opaque.flows:
        return
    stands = stand_ins(record, incoming)
    with applying(record, stands):
        step.reverse(ReverseContext.of(record, stands), record.saved)
    touched = add_gradients(record, stands, gradient)
    touched |= step.has_parameters
    if not touched and any(np.any(bar.buffer.array()) for bar in incoming.values()):
        text = f"The gradient is cut: the backward of {step.title} added to no gradient."
        warnings.warn(GradientCut(text), stacklevel=2)


def taken_gradients(
    record: OpaqueRecord, gradient: Callable[[Field], Field]
) -> dict[Storage, Field]:
    """Return copies of the gradients of the fields that a step wrote, and set these to zero."""
    incoming: dict[Storage, Field] = {}
    for use in record.opaque.uses:
        if use.writes and use.field.has_grads:
            work = gradient(use.field.origin)
            incoming[use.field.storage] = copied(work)
            for part in use.parts:
                part.assign(work.under(part.base).buffer, 0.0)
            if not use.parts:
                work.buffer.fill(0.0)
    return incoming


def stand_ins(record: OpaqueRecord, incoming: Mapping[Storage, Field]) -> dict[Storage, Field]:
    """Return stand-ins for the fields of a step in its reverse, with zero gradients to add to.

    Args:
        record: A run of the step.
        incoming: The gradients of the fields that it wrote.
    """
    return {
        use.field.storage: _stand_in(
            use,
            record,
            incoming.get(use.field.storage) if use.writes else None,
            zeros_of(use.field.origin) if use.reads and is_float(use.field.element) else None,
        )
        for use in record.opaque.uses
    }


def add_gradients(
    record: OpaqueRecord, stands: Mapping[Storage, Field], gradient: Callable[[Field], Field]
) -> bool:
    """Add the gradients that a reverse has set to the fields; return whether there are any."""
    touched = False
    for use in record.opaque.uses:
        added = stands[use.field.storage].grad_out
        if use.reads and use.field.has_grads and added is not None and not added.buffer.zeros:
            gradient(use.field.origin).buffer.add(added.buffer)
            touched = True
    return touched


def tangents_after(record: OpaqueRecord, before: Callable[[Field], Field]) -> dict[Use, Field]:
    """Push tangents through an opaque step by its rule; return them for the written fields.

    Args:
        record: A run of the step.
        before: Returns a copy of a field's tangent before the step.
    """
    stands = tangent_stand_ins(record, before)
    if record.opaque.flows:
        with applying(record, stands):
            record.opaque.step.reverse(ReverseContext.of(record, stands), record.saved)
    return tangents_left(record, stands, before)


def tangent_stand_ins(
    record: OpaqueRecord, before: Callable[[Field], Field]
) -> dict[Storage, Field]:
    """Return stand-ins for the fields of a step whose reverse pushes tangents.

    Args:
        record: A run of the step.
        before: Returns a copy of a field's tangent before the step.
    """
    stands: dict[Storage, Field] = {}
    for use in record.opaque.uses:
        field = use.field.origin
        smooth = is_float(field.element)
        dots = None
        if smooth and use.reads:  # a detached field does not vary, whatever its memory does
            dots = before(field) if use.field.has_grads else zeros_of(field)
        stands[field.storage] = _stand_in(
            use, record, zeros_of(field) if smooth and use.writes else None, dots
        )
    return stands


def tangents_left(
    record: OpaqueRecord, stands: Mapping[Storage, Field], before: Callable[[Field], Field]
) -> dict[Use, Field]:
    """Return the tangents of the fields that a step wrote, where its rule has set them."""
    after: dict[Use, Field] = {}
    for use in record.opaque.uses:
        set_here = stands[use.field.storage].grad_in
        if set_here is None:
            continue
        after[use] = set_here
        if use.parts:
            after[use] = before(use.field.origin)
            target = after[use]
            for part in use.parts:
                values = part.of(set_here.under(part.base).buffer.array())
                part.assign(target.under(part.base).buffer, values)
    return after


@contextmanager
def applying(record: OpaqueRecord, stands: Mapping[Storage, Field]) -> Generator[None]:
    """Run the rule of a step inside the block, and check that it changes only gradients.

    Raises:
        TapeError: The rule has changed the contents of a field.
        RankError: In a debug session, another rank is at another step.
    """
    if record.opaque.communicates:
        meet(f"the derivative of {record.opaque.step.title}", f"{record.opaque.signature}'")
    with closed(set()), record.opaque.step.around_rule():
        yield
    for use in record.opaque.uses:
        kept = record.kept.get(use.field.storage)
        if kept is not None and stands[use.field.storage].storage.buffer is not kept:
            raise TapeError(
                f"The derivative of {record.opaque.step.title} changed what '{use.name}' holds; it "
                "reads fields and changes gradients alone."
            )


def _stand_in(
    use: Use, record: OpaqueRecord, grad_in: Field | None, grad_out: Field | None
) -> Field:
    """Return the stand-in for a field in the derivative of a step."""
    field = use.field.origin
    kept = record.kept.get(field.storage)
    name = record.opaque.step.title
    storage = (
        Storage(kept)
        if kept is not None
        else NoContents(
            f"What '{use.name}' held is not kept: {name} writes it, and does not say whether its "
            "backward reads what it held before or after. Declare it dt.Out to read what it held "
            "after the call, or dt.InOut to read what it held before."
        )
    )
    if grad_in is None and use.writes and is_float(field.element):
        grad_in = zeros_of(field)
    return field.over(storage, grad_in, grad_out, ReplayedField)
