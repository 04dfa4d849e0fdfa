"""Which gradients the backward passes of one tape have computed, and which of them are there."""

from __future__ import annotations

from collections.abc import Iterable

from difftile.diagnostics import TapeError
from difftile.fields.create import zeros_like
from difftile.fields.field import Field
from difftile.fields.marked import COMPUTED, Computed
from difftile.fields.recording import Recording
from difftile.fields.storage import Storage
from difftile.fields.view import View
from difftile.user_line import user_line


class ComputedGradients:
    """The gradients after the last backward pass of a tape, which is open now.

    A pass works on the gradients of fields, which later passes, and anyone else, may change: only
    what has not been written since is the derivative of this tape.
    """

    def __init__(self) -> None:
        at = user_line()
        self._own, self._sum = (Computed(at.file, at.line, one) for one in (False, True))
        self._versions: dict[Storage, object] = {}  # None for a sum
        self._before: dict[Storage, tuple[object, bool, bool]] = {}
        self._is_complete = False

    def begin(self, met: Iterable[Field], summed: Iterable[Field], *, accumulate: bool) -> None:
        """Note the gradients that a pass is about to change.

        Args:
            met: The fields that the tape has met.
            summed: Those whose gradients are then combined with other ranks'.
            accumulate: Whether that includes what gradients hold of fields that were not met.
        """
        self._is_complete = False
        self._before = {}
        fields = {one: True for one in summed} | {one: False for one in met}
        for one, only_summed in fields.items():
            if one.grad_out is None:
                continue
            gradient = one.grad_out.storage
            version = gradient.buffer.contents.version
            is_own = gradient.buffer.zeros or version is self._versions.get(gradient, self)
            is_own = is_own or (only_summed and not accumulate)
            self._before[gradient] = version, is_own, only_summed

    def end(self) -> None:
        """Note the gradients that the pass has left, and leave its line in them."""
        for gradient, (before, is_own, only_summed) in self._before.items():
            version = gradient.buffer.contents.version
            if not only_summed or version is not before:
                self._versions[gradient] = version if is_own else None
                COMPUTED.note(gradient, self._own if is_own else self._sum)
        self._is_complete = True

    def of(self, field: Field | View, *, is_met: bool) -> Field:
        """Return a copy of the gradient of a field, or zeros if the tape has not met the field.

        Raises:
            TapeError: No pass has run, or the gradient holds something else.
            FieldError: The field has no gradient.
        """
        gradient = field.grad
        storage = gradient.base.storage
        if not self._is_complete:
            raise TapeError(
                "This tape has computed no gradients: they come from its backward pass, "
                "tape.backward(loss), which leaving 'with dt.Tape(loss):' runs."
            )
        if storage not in self._versions:
            if is_met:
                raise TapeError(
                    f"{field!r} had another gradient, or none, when the tape ran backward. Make "
                    "fields with gradients before the tape: 'x = x.with_grads()'."
                )
            return zeros_like(gradient, grad=False)
        if storage.buffer.is_shared:
            raise TapeError(
                f"The gradient of {field!r} is in memory that others may write, so the tape cannot "
                "tell whether it holds the derivative of its loss: read x.grad."
            )
        if self._versions[storage] is None:
            raise TapeError(
                f"The gradient of {field!r} is a sum: the tape has added to what it held. Without "
                "accumulate=True a tape clears it first; dt.zero_grads() clears all."
            )
        if self._versions[storage] is not storage.buffer.contents.version:
            raise TapeError(
                f"The gradient of {field!r} has changed since the tape computed it: a later tape, "
                "dt.zero_grads() or a write came in between. Call tape.gradient(x) before."
            )
        with Recording():
            return gradient.copy()
