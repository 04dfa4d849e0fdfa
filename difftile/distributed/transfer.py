"""The transfer of messages between ranks, as a step of a tape.

All that crosses ranks goes through here: parts of one field are sent, parts of another one are
received. The step is linear, so its reverse sends gradients back along the same ways, and its
forward is itself, on tangents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from difftile.diagnostics import FieldError
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.ranks import Message, current
from difftile.recording.opaque import Keeps, OpaqueStep, Use
from difftile.recording.perform import perform
from difftile.recording.replayed_fields import ReverseContext


@dataclass(frozen=True, slots=True)
class Part:
    """Elements of a field along its first axis, which go to a rank or come from it.

    Args:
        peer: The other rank; the own one for a copy.
        start: The first element.
        stop: The first element after them.
    """

    peer: int
    start: int
    stop: int


def transfer(
    source: Field, sends: Sequence[Part], target: Field, receives: Sequence[Part], what: str
) -> None:
    """Send parts of a field, and receive parts of another one; a step of the tape.

    Every rank calls this, in the same order. Elements of the target that no part receives become
    zero.

    Args:
        source: The elements to send, shape (n, ...).
        sends: Its parts; between two ranks they arrive in this order.
        target: Takes the received elements, shape (m, ...); of the same element.
        receives: Its parts, which do not overlap.
        what: The step in errors: "the exchange of 'u'".

    Raises:
        FieldError: The fields do not fit.
        RankError: Another rank failed, or did not answer.
    """
    if source.element != target.element or source.shape[1:] != target.shape[1:]:
        raise FieldError(f"{what}: {source!r} is sent into {target!r}, which has other elements.")
    perform(Transfer(source, tuple(sends), target, tuple(receives), what))


class Transfer(OpaqueStep):
    """One transfer. See `transfer`."""

    is_contained = True
    communicates = True

    def __init__(
        self,
        source: Field,
        sends: tuple[Part, ...],
        target: Field,
        receives: tuple[Part, ...],
        what: str,
    ) -> None:
        self.source, self.sends = source, sends
        self.target, self.receives = target, receives
        self.what = what
        super().__init__(
            what,
            [
                Use(source, True, False, Keeps.NOTHING, "source"),
                Use(target, False, True, Keeps.NOTHING, "target"),
            ],
        )

    def run(self) -> None:
        """Send and receive."""
        _move(self.source, self.sends, self.target, self.receives, self.what)

    def reverse(self, then: ReverseContext, saved: Any) -> None:
        """Send the gradients back."""
        self._back(then)

    def second(self, then: ReverseContext, dots: ReverseContext, saved: Any) -> bool:
        """Send the gradients back, and their tangents."""
        self._back(then)
        self._back(dots)
        return True

    def _back(self, fields: ReverseContext) -> None:
        incoming, outgoing = fields[self.target].grad_in, fields[self.source].grad_out
        if incoming is not None and outgoing is not None:
            back = f"the way back of {self.what}"
            _move(incoming, self.receives, outgoing, self.sends, back, adding=True)

    def forward(self) -> OpaqueStep:
        """Return the same transfer, of tangents."""
        return _Tangents(self.source, self.sends, self.target, self.receives, self.what)


class _Tangents(Transfer):
    """A transfer of tangents."""

    def reverse(self, then: ReverseContext, saved: Any) -> None:
        """Send the tangents along."""
        before, after = then[self.source].grad_out, then[self.target].grad_in
        if before is not None and after is not None:
            _move(before, self.sends, after, self.receives, f"the tangents of {self.what}")


def _move(
    source: Field,
    sends: Sequence[Part],
    target: Field,
    receives: Sequence[Part],
    what: str,
    *,
    adding: bool = False,
) -> None:
    """Send parts of one field into parts of another.

    Args:
        source: The elements to send.
        sends: Its parts.
        target: Takes the received elements.
        receives: Its parts.
        what: The step in errors.
        adding: Add to the target, whose parts may overlap then; otherwise it is zero elsewhere.
    """
    numbers = np.ascontiguousarray(source.buffer.array())
    memory = target.fresh_if_pinned(keep=adding)

    def receive(array: HostArray) -> None:
        if not adding and sum(part.stop - part.start for part in receives) < len(array):
            array.fill(0)
        parts = [array[part.start : part.stop] for part in receives]
        taken = [np.empty_like(part) for part in parts] if adding else parts
        current().exchange(
            [Message(part.peer, numbers[part.start : part.stop]) for part in sends],
            [Message(part.peer, one) for part, one in zip(receives, taken, strict=True)],
        ).wait(what)
        if adding:
            for part, one in zip(parts, taken, strict=True):
                np.add(part, one, out=part)

    memory.change(receive)
