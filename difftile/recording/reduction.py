"""Gradients of several ranks that are combined while a backward pass computes them.

A gradient is final when all records have been reversed whose steps touch the field. What combines
gradients is told of each record before it is reversed, and sends the gradients final by then.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from difftile.fields.field import Field
from difftile.fields.marked import ContentNotes
from difftile.fields.storage import Storage

if TYPE_CHECKING:
    from difftile.recording.replay import Replay
    from difftile.recording.steps import TapeStep


class Reduction(Protocol):
    """Combines the gradients of several ranks, in as many backward passes as there are."""

    @property
    def fields(self) -> Sequence[Field]:
        """The fields whose gradients it combines."""
        ...

    def begin(
        self,
        steps: Iterable[TapeStep],
        replay: Replay,
        *,
        accumulate: bool,
        late: Container[Storage],
    ) -> RunningReduction:
        """Begin a backward pass.

        Args:
            steps: The steps of the tape in order.
            replay: The pass.
            accumulate: Whether it adds to the gradients that there are.
            late: The memory of fields whose gradients change until the end of the pass.
        """
        ...


class RunningReduction(Protocol):
    """The combination of gradients in one backward pass."""

    def reached(self, step: TapeStep) -> None:
        """Hear that a record of a step is about to be reversed."""
        ...

    def finish(self) -> None:
        """Wait for all gradients; the pass is over."""
        ...


class FinalGradients:
    """Tells which gradients of a backward pass no record can change any more.

    Args:
        steps: The steps of the tape in order.
        fields: The fields.

    Attributes:
        first: For each field the place of the first step that touches it; -1 where none does.
    """

    def __init__(self, steps: Iterable[TapeStep], fields: Sequence[Field]) -> None:
        self.first = [-1] * len(fields)
        missing = {field.storage: k for k, field in enumerate(fields)}
        self._places: dict[int, int] = {}  # of steps, up to the last of the first ones
        for place, step in enumerate(steps):
            if not missing:
                break
            self._places.setdefault(id(step), place)
            for one in step.fields:
                found = missing.pop(one.storage, None)
                if found is not None:
                    self.first[found] = place
        self._waiting = sorted((place, k) for k, place in enumerate(self.first) if place >= 0)

    def before(self, step: TapeStep) -> list[int]:
        """Return the fields whose gradients are final before a step is reversed, and were not yet.

        Steps are given in reverse order.
        """
        place = self._places.get(id(step))
        found: list[int] = []
        while place is not None and self._waiting and self._waiting[-1][0] > place:
            found.append(self._waiting.pop()[1])
        return found


COMBINED: ContentNotes[bool] = ContentNotes()
"""Gradients that have been combined over all ranks."""

MIXED: ContentNotes[bool] = ContentNotes()
"""Such gradients to which a tape has added: to combine them again would count them once a rank."""
