"""The transfer of messages between ranks, as a step of a tape.

All that crosses ranks goes through here: parts of one field are sent, parts of another one are
received. The step is linear, so its reverse sends gradients back along the same ways, and its
forward is itself, on tangents.

A transfer may be cut in two steps, a start and a finish, so that launches between them run while
messages travel. Each way is started at one of them and ends at the other: on the way back gradients
leave at the finish and arrive at the start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import difftile as dt
from difftile.diagnostics import FieldError
from difftile.distributed.messaging import Part, Posted, ReturningGradients
from difftile.recording.opaque import OpaqueRecord, OpaqueStep
from difftile.recording.passes import number_of_pass
from difftile.recording.perform import perform
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.uses import Keeps, Use

__all__ = ["Part", "begin", "transfer"]


def transfer(
    source: dt.Field, sends: Sequence[Part], target: dt.Field, receives: Sequence[Part], what: str
) -> None:
    """Send parts of a field, and receive parts of another one; a step of the tape.

    Every rank calls this, in the same order. Elements of the target that no part receives become
    zero.

    Args:
        source: The elements to send, shape (n, ...).
        sends: Its parts; between two ranks they arrive in this order.
        target: Takes the received elements, shape (m, ...); of the same element.
        receives: Its parts, which do not overlap.
        what: The step in errors, the same on all ranks: "the exchange of 'u'".

    Raises:
        FieldError: The fields do not fit.
        RankError: Another rank failed, or did not answer.
    """
    perform(_Transfer(_Way(source, tuple(sends), target, tuple(receives), what)))


def begin(
    source: dt.Field, sends: Sequence[Part], target: dt.Field, receives: Sequence[Part], what: str
) -> Callable[[], None]:
    """Start a transfer; return the function that finishes it. Both are steps of the tape.

    Between them neither field is used.

    Args:
        source: See `transfer`.
        sends: See `transfer`.
        target: See `transfer`.
        receives: See `transfer`.
        what: See `transfer`.

    Raises:
        FieldError: The fields do not fit.
    """
    way = _Way(source, tuple(sends), target, tuple(receives), what)
    flight = _Flight()
    perform(_Start(way, flight))

    def finish() -> None:
        perform(_Finish(way, flight))

    return finish


@dataclass(frozen=True, slots=True)
class _Way:
    """The parts that are sent and received. See `transfer`."""

    source: dt.Field
    sends: tuple[Part, ...]
    target: dt.Field
    receives: tuple[Part, ...]
    what: str

    def __post_init__(self) -> None:
        source, target = self.source, self.target
        if source.element != target.element or source.shape[1:] != target.shape[1:]:
            raise FieldError(
                f"{self.what}: {source!r} is sent into {target!r}, which has other elements."
            )

    def there(self, source: dt.Field, target: dt.Field) -> None:
        """Send parts of one field into another, both in the shapes of the way."""
        into = target.fresh_if_pinned(keep=False)
        Posted([source.buffer], self.sends, [into], self.receives).wait(self.what)

    def back(self, incoming: dt.Field) -> ReturningGradients:
        """Start to send a gradient back; it stays as it is until that has arrived."""
        return ReturningGradients(incoming.buffer, self.receives, self.source.buffer, self.sends)

    @property
    def backwards(self) -> str:
        """The way back in errors."""
        return f"the way back of {self.what}"

    @property
    def uses(self) -> list[Use]:
        """The uses of the fields by a step that does all."""
        return [
            Use(self.source, True, False, Keeps.NOTHING, "source"),
            Use(self.target, False, True, Keeps.NOTHING, "target"),
        ]


class _Joint(OpaqueStep):
    """A step that all ranks run together."""

    is_contained = True
    communicates = True


class _Transfer(_Joint):
    """A whole transfer."""

    def __init__(self, way: _Way) -> None:
        self.way = way
        super().__init__(way.what, way.uses)

    def run(self) -> None:
        """Send and receive."""
        self.way.there(self.way.source, self.way.target)

    def reverse_in_place(
        self, record: OpaqueRecord, gradient: Callable[[dt.Field], dt.Field]
    ) -> bool:
        """Send the gradient back, and clear it here."""
        way = self.way
        incoming = gradient(way.target)
        way.back(incoming).add_to(gradient(way.source).buffer, way.backwards)
        incoming.buffer.fill(0.0)
        return True

    def reverse(self, then: ReverseContext, saved: Any) -> None:
        """Send the gradients back."""
        way = self.way
        incoming, outgoing = then[way.target].grad_in, then[way.source].grad_out
        if incoming is not None and outgoing is not None:
            way.back(incoming).add_to(outgoing.buffer, way.backwards)

    def derivative(self, at: Sequence[ReverseContext], saved: Any) -> bool:
        """Send the gradients back, and their tangents."""
        for one in at:
            self.reverse(one, saved)
        return True

    def push(self, at: Sequence[ReverseContext], saved: Any) -> bool:
        """Send the tangents along."""
        for one in at:
            before, after = one[self.way.source].grad_out, one[self.way.target].grad_in
            if before is not None and after is not None:
                self.way.there(before, after)
        return True


@dataclass(slots=True)
class _Flight:
    """The messages between a start and its finish.

    Attributes:
        there: The messages of the latest start, until a finish takes them.
        back: Gradients that have left at the finish, in the order in which the start expects them.
        number: The number of the pass in which they left.
    """

    there: Posted | None = None
    back: deque[ReturningGradients] = field(default_factory=deque[ReturningGradients])
    number: int = 0


class _Start(_Joint):
    """The start of a transfer.

    It changes nothing itself: gradients and tangents of the source pass it, and gradients that left
    at the finish are added.
    """

    def __init__(self, way: _Way, flight: _Flight) -> None:
        self.way, self._flight = way, flight
        super().__init__(
            f"the start of {way.what}", [Use(way.source, True, True, Keeps.NOTHING, "source")]
        )

    def run(self) -> None:
        """Send, and prepare to receive."""
        way, flight = self.way, self._flight
        if flight.there is not None:  # a tape ran the start again, and not the finish
            flight.there.wait(way.what)[0].free()
        into = way.target.buffer.empty_like()
        flight.there = Posted([way.source.buffer], way.sends, [into], way.receives)

    def reverse_in_place(
        self, record: OpaqueRecord, gradient: Callable[[dt.Field], dt.Field]
    ) -> bool:
        """Add the gradient that has come back."""
        self._arrive(gradient(self.way.source))
        return True

    def reverse(self, then: ReverseContext, saved: Any) -> None:
        """Pass the gradient on, and add what has come back."""
        stand = then[self.way.source]
        if stand.grad_in is not None and stand.grad_out is not None:
            stand.grad_out.copy_from(stand.grad_in)
            self._arrive(stand.grad_out)

    def derivative(self, at: Sequence[ReverseContext], saved: Any) -> bool:
        """Do the same for the gradients and for their tangents."""
        for one in at:
            self.reverse(one, saved)
        return True

    def _arrive(self, gradient: dt.Field) -> None:
        if self._flight.back:  # unless no gradient has left
            self._flight.back.popleft().add_to(gradient.buffer, self.way.backwards)

    def push(self, at: Sequence[ReverseContext], saved: Any) -> bool:
        """Pass the tangents on."""
        for one in at:
            stand = one[self.way.source]
            if stand.grad_in is not None and stand.grad_out is not None:
                stand.grad_in.copy_from(stand.grad_out)
        return True


class _Finish(_Transfer):
    """The finish of a transfer.

    Run without its start, as by a tape that has a snapshot between them, it is a whole transfer.
    """

    has_parameters = True  # gradients end here, and arrive at the start

    def __init__(self, way: _Way, flight: _Flight) -> None:
        super().__init__(way)
        self._flight = flight
        self.name = self.title = f"the finish of {way.what}"

    def run(self) -> None:
        """Receive."""
        flight, way = self._flight, self.way
        posted, flight.there = flight.there, None
        if posted is None:
            super().run()
        else:
            way.target.storage.move(posted.wait(way.what)[0])

    def reverse_in_place(
        self, record: OpaqueRecord, gradient: Callable[[dt.Field], dt.Field]
    ) -> bool:
        """Start to send the gradient back."""
        self._forget()
        self._leave(gradient(self.way.target))
        return True

    def reverse(self, then: ReverseContext, saved: Any) -> None:
        """Start to send the gradients back."""
        self._forget()
        self._send(then)

    def derivative(self, at: Sequence[ReverseContext], saved: Any) -> bool:
        """Start to send the gradients back, and their tangents."""
        self._forget()
        for one in at:
            self._send(one)
        return True

    def _forget(self) -> None:
        """Let gradients go that left in an earlier pass, which was broken off before the start."""
        flight, number = self._flight, number_of_pass()
        while flight.back and flight.number != number:
            flight.back.popleft().drop(self.way.backwards)
        flight.number = number

    def _send(self, then: ReverseContext) -> None:
        incoming = then[self.way.target].grad_in
        if incoming is not None:
            self._leave(incoming)

    def _leave(self, gradient: dt.Field) -> None:
        """Start to send a gradient back, from a copy, and clear it here."""
        sent = gradient.buffer.empty_like()
        sent.copy_from(gradient.buffer)
        gradient.buffer.fill(0.0)
        way = self.way
        leaving = ReturningGradients(sent, way.receives, way.source.buffer, way.sends, frees=True)
        self._flight.back.append(leaving)
