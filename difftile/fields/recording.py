"""What fields tell an open tape about writes from Python; the tape itself is in `tape`."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

import numpy.typing as npt

from difftile.diagnostics import TapeError
from difftile.fields.tracked import HostRead, track

if TYPE_CHECKING:
    from difftile.fields.array_like import ArrayLike
    from difftile.fields.field import Field
    from difftile.fields.window import Window


class Recorder(Protocol):
    """An open tape, as fields see it."""

    def host_read(self, field: Field, where: tuple[int, ...] | Window | None) -> HostRead | None:
        """Hear that Python reads an element, a part, or with None all of a field.

        Returns the read if what it gives is to be tracked.
        """
        return None

    def host_write(
        self, field: Field, where: tuple[int, ...] | Window | None, values: npt.NDArray[Any]
    ) -> bool:
        """Record that Python is about to set one element, a part, or with None all of it.

        `values` are the constants; for a whole field one element stands for all. They are tracked
        if they follow from what Python read while the recorder was open. Returns whether
        the write may happen in the memory that the field has, though records need what is there.
        """
        ...

    def host_copy(self, target: ArrayLike, source: ArrayLike) -> None:
        """Record that Python is about to copy one field, or part of one, into another."""
        ...

    def opaque(self, step: Any) -> Any:
        """Run and record a step whose inside it does not see; return what the step returns."""
        ...


class Outlook(Protocol):
    """Looks on while code runs of which a tape sees only the arguments."""

    def read(self, field: Field) -> None:
        """Hear that Python is about to read a field."""
        ...

    def wrote(self, field: Field) -> None:
        """Hear that Python is about to write a field."""
        ...


class OpenIn:
    """What launches and reads outside of tapes must heed.

    `thread` is that in which a tape is open, `outlook` what looks on; `heed` says that one is set.
    """

    def __init__(self) -> None:
        self.heed = False
        self._thread: int | None = None
        self._outlook: Outlook | None = None

    @property
    def thread(self) -> int | None:
        """The thread in which a tape is open, if one is."""
        return self._thread

    @thread.setter
    def thread(self, thread: int | None) -> None:
        self._thread = thread
        self.heed = self._thread is not None or self._outlook is not None

    @property
    def outlook(self) -> Outlook | None:
        """What looks on, if anything does."""
        return self._outlook

    @outlook.setter
    def outlook(self, outlook: Outlook | None) -> None:
        self._outlook = outlook
        self.heed = self._thread is not None or self._outlook is not None


# Whether what launches write counts as constant, as in a block of `no_grad`.
NO_GRAD: ContextVar[bool] = ContextVar("difftile_no_grad", default=False)
OPEN_TAPE: ContextVar[Recorder | None] = ContextVar("difftile_open_tape", default=None)
OPEN_IN = OpenIn()


def as_read(field: Field, where: tuple[int, ...] | Window | None, values: Any) -> Any:
    """Return what Python read from a field, tracked if the open recorder asks for it."""
    tape = OPEN_TAPE.get()
    if tape is None or NO_GRAD.get():
        return values
    read = tape.host_read(field, where)
    return values if read is None else track(values, frozenset((read,)))


def check_no_tape(what: str) -> None:
    """Check that no tape is open.

    Raises:
        TapeError: One is.
    """
    if OPEN_TAPE.get() is not None:
        raise TapeError(
            f"{what} is no part of what a tape differentiates, and one is open. "
            "Call it after the 'with' block, when the gradients are there."
        )
