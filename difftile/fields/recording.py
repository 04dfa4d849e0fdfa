"""What fields tell an open tape about writes from Python; the tape itself is in `runtime`."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from difftile.fields.field import Field


class Recorder(Protocol):
    """An open tape, as fields see it."""

    def host_write(self, field: Field, index: tuple[int, ...] | None) -> None:
        """Record that Python set one element, or with None the whole field, to constants."""
        ...

    def host_copy(self, target: Field, source: Field) -> None:
        """Record that Python copied one field into another."""
        ...


OPEN_TAPE: ContextVar[Recorder | None] = ContextVar("difftile_open_tape", default=None)
