"""The recording state of a thread or task: who hears of launches and of accesses from Python."""

from __future__ import annotations

import os
import weakref
from collections.abc import Generator, Iterable, Set
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, Protocol, TypeAlias

from difftile.diagnostics import FieldError, TapeError
from difftile.fields.any_field import AnyField
from difftile.fields.elements import WholeElements
from difftile.fields.exchange import HostArray
from difftile.fields.numbers import HostRead, Origin, Reads, TakenConstant, carrying
from difftile.fields.pending import run_pending
from difftile.fields.storage import Storage
from difftile.fields.window import Window
from difftile.user_line import user_line

Where: TypeAlias = tuple[int, ...] | Window | None
"""An element of a field, a part of it, or with None all of it."""


class Recorder:
    """An open tape, or another listener, as fields see it; by default nothing is recorded."""

    is_private: ClassVar[bool] = False
    """Whether any field may carry derivatives here, not only fields with gradients."""

    takes_runs: bool = False
    """Whether it takes launches that repeat as one program, by `run`."""

    _told: Set[tuple[str, int]] = frozenset()

    def meet(self, field: AnyField) -> None:
        """Hear that Python is about to read or write a field."""

    def host_read(self, field: AnyField, where: Where) -> HostRead | None:
        """Hear that Python reads a field; return the read if what it gives may vary."""
        return None

    def write(self, field: AnyField, where: Where, given: HostArray | AnyField) -> None:
        """Write what Python gives to a field, and record it.

        Args:
            field: The field.
            where: The element or the part; None stands for all.
            given: Constants, of which one element stands for all of a whole field; or the field or
                part that is copied.
        """
        field.put(where, given)

    def host_add(self, target: AnyField, values: HostArray) -> None:
        """Hear that Python is about to add constants to a field, or part of one.

        Raises:
            FieldError: The recorder would take the sums for constants.
        """
        raise FieldError(
            f"{target!r}: add_numpy() is for gradients, and no tape may be open. "
            "On a tape add in a kernel: 'x[i] += a[i]'."
        )

    def launch(self, launch: Any, values: Any) -> None:
        """Run a prepared launch and record it."""
        launch.run(values)

    def run(self, run: Any) -> str | None:
        """Run launches as one program and record that; return why it is not possible, or None."""
        return "only tapes record launches as one program"

    def may_wait(self, launch: Any) -> bool:
        """Tell whether a launch can be recorded later without a difference."""
        return False

    def result(self, launch: Any, values: Any, position: int) -> HostRead | None:
        """Hear that Python is given a result of a launch; return the read if it may vary."""
        return None

    def follows(self, launch: Any, position: int) -> bool:
        """Tell whether derivatives pass to a result that varies."""
        return False

    def carries_into(self, field: AnyField) -> bool:
        """Tell whether derivatives pass to numbers that Python writes into a field."""
        return False

    def varying(self, reads: Iterable[HostRead]) -> list[HostRead]:
        """Return the reads among some that are known to read varying values."""
        return []

    def takes_constant(self, number: Any, reads: Reads) -> None:
        """Hear that a number which carries a derivative is taken for a constant."""

    def lets_go(self, number: Any, reads: Reads) -> None:
        """Hear that a number of this recorder becomes a plain one, perhaps after its end."""
        if not self.is_open or RECORDING.get().constant:
            return
        line = user_line()
        place = line.file, line.line
        if place not in self._told:  # once for each line
            self.takes_constant(number, reads)
            self._told = {*self._told, place}

    @property
    def is_open(self) -> bool:
        """Whether it records, in some thread or task."""
        return self in Recording.open

    def opaque(self, step: Any) -> Any:
        """Run and record a step whose inside is not seen; return the result of the step."""
        return step.run()

    def shares(self, field: AnyField) -> None:
        """Hear that others are given the memory of a field, which they may write from then on."""

    def misses(self, storage: Storage) -> bool:
        """Tell whether a write from another thread into this memory would falsify the record."""
        return True


class AccessObserver(Protocol):
    """Hears of accesses from Python, and of launches without a recorder."""

    def read(self, field: AnyField) -> None:
        """Hear that a field is about to be read."""
        ...

    def wrote(self, field: AnyField) -> None:
        """Hear that a field is about to be written."""
        ...


class RepeatedBody(Protocol):
    """The body of `dt.repeat` while Python runs it, with a symbolic number of the step."""

    def numbers(self, args: tuple[object, ...]) -> tuple[object, ...]:
        """Return the arguments of a kernel with plain numbers in place of step numbers."""
        ...

    def launched(self, launch: Any) -> None:
        """Hear that a kernel is about to be launched with those arguments."""
        ...


class Recording:
    """The recording state inside a `with` block; `with Recording():` closes the block to tapes.

    Args:
        recorder: Hears of launches, and of reads and writes from Python.
        constant: Whether results count as constants, as inside `dt.no_grad()`.
        observer: Hears of accesses besides.
        body: Looks for step numbers among the arguments of kernels; by default the body of the
            block around this one.
        stops: Whether recorders of enclosing blocks miss what is written inside, as they would miss
            it in another thread.

    Attributes:
        hidden: The recorders of enclosing blocks, which this block sets aside.
    """

    __slots__ = (
        *("_opens", "before", "body", "constant"),
        *("hidden", "observer", "recorder", "stops"),
    )

    open: ClassVar[dict[Recorder, None]] = {}
    """The recorders that are open in any thread or task: each enters and leaves in one step."""

    def __init__(
        self,
        recorder: Recorder | None = None,
        *,
        constant: bool = False,
        observer: AccessObserver | None = None,
        body: RepeatedBody | None = None,
        stops: bool = False,
    ) -> None:
        self.recorder = recorder
        self.constant = constant
        self.observer = observer
        self.body = body
        self.stops = stops
        self.hidden: tuple[Recorder, ...] = ()
        self._opens = False

    def __enter__(self) -> Recording:
        run_pending()  # as launches of the block that is left
        before = self.before = RECORDING.get()
        self.body = self.body or before.body
        outer = () if before.recorder is None else (before.recorder,)
        self.hidden = () if self.stops else (*before.hidden, *outer)
        self.stops = self.stops or before.stops
        self._opens = self.recorder is not None and self.recorder not in self.hidden
        try:
            if self.recorder is not None and self._opens:
                Recording.open[self.recorder] = None
            RECORDING.set(self)
        except BaseException:  # Ctrl+C, too: `__exit__` will not be called
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            try:
                run_pending()
            finally:
                RECORDING.set(self.before)
        finally:
            if self.recorder is not None and self._opens:
                Recording.open.pop(self.recorder, None)

    def elsewhere(self) -> list[Recorder]:
        """Return the open recorders that hear nothing of this block: those of other threads."""
        own = (self.recorder, *self.hidden)
        return [one for one in list(Recording.open) if one not in own]

    def is_missed(self, written: Iterable[Storage]) -> bool:
        """Tell whether an open tape would miss writes of this block."""
        others = self.elsewhere()
        if not others:
            return False
        run_pending()
        return any(one.misses(memory) for memory in written for one in others)

    @property
    def missed_where(self) -> tuple[str, str]:
        """Where the tape is open that would miss a write, and where to write instead."""
        if self.stops:
            instead = "after that block, or inside 'with dt.no_grad():' instead"
            return "around 'with dt.stop_recording():'", instead
        return "in another thread or task", "from one thread, or after the 'with' block"


_IDLE = Recording()
RECORDING: ContextVar[Recording] = ContextVar("difftile_recording", default=_IDLE)


def _keep_own() -> None:
    """Forget the recorders of threads that a forked child does not have."""
    now, ours = RECORDING.get(), [RECORDING.get().recorder]
    while now is not _IDLE:
        now = now.before
        ours.append(now.recorder)
    Recording.open = {one: None for one in Recording.open if one in ours}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_own)


@contextmanager
def no_grad() -> Generator[None]:
    """Take the results of launches inside the block as constants: no gradient passes through them.

    A tape still reverses such writes: later reads give no gradient to overwritten values. Other
    threads and tasks are not affected.
    """
    now = RECORDING.get()
    with Recording(now.recorder, constant=True, observer=now.observer):
        yield


def is_recording() -> bool:
    """Return whether the derivatives of launches here are recorded, by a tape or a transformation.

    False inside `dt.no_grad()` and `dt.stop_recording()`.
    """
    recording = RECORDING.get()
    return recording.recorder is not None and not recording.constant


@contextmanager
def stop_recording() -> Generator[None]:
    """Hide the block from open tapes and transformations, as for counters, logs and pictures.

    Launches inside cost a tape nothing, Python reads plain numbers, and no gradient passes through
    anything that is computed. Inside `dt.no_grad()` a tape still records and reverses writes.
    Other threads and tasks are not affected.

    Raises:
        TapeError: A field is written that an open tape has recorded: its record would be wrong.
    """
    with Recording(observer=RECORDING.get().observer, stops=True):
        yield


def may_vary(field: WholeElements) -> bool:
    """Tell whether derivatives may pass to a field that is about to be used."""
    recorder = RECORDING.get().recorder
    return field.has_grads or (recorder is not None and recorder.is_private)


def note_read(field: WholeElements) -> None:
    """Tell recorder and observer, if there are any, that Python is about to read a field."""
    run_pending()
    recording = RECORDING.get()
    if recording.recorder is not None:
        recording.recorder.meet(field)
    if recording.observer is not None:
        recording.observer.read(field)


def note_write(field: WholeElements) -> Recording:
    """Tell the observer, if there is one, that Python is about to write a field.

    Returns:
        The recording state, whose recorder has to hear of the write as well.

    Raises:
        TapeError: A tape of another thread or task, or of a block that is hidden, would miss the
            write.
    """
    run_pending()
    recording = RECORDING.get()
    if recording.recorder is not None:
        recording.recorder.meet(field)
    if recording.observer is not None:
        recording.observer.wrote(field)
    if Recording.open and recording.is_missed((field.storage,)):
        where, instead = recording.missed_where
        raise TapeError(
            f"{field!r} is written while a tape that has recorded it is open {where}, and would "
            f"miss the write. Write it {instead}."
        )
    return recording


_ARRAY = TakenConstant(
    "an array read by Python",
    "compute in kernels or with fields, '2 * x'",
    "read it under 'with dt.no_grad():'",
)


def as_read(field: WholeElements, where: Where, values: Any) -> Any:
    """Return the values that Python read from a field: numbers that carry derivatives, if they do.

    An array, of a part or of all of a field, is one of plain numbers.
    """
    recording = RECORDING.get()
    recorder = recording.recorder
    if recorder is None or recording.constant:
        return values
    read = recorder.host_read(field, where)
    if read is None:
        return values
    reads = frozenset((read,))
    if not isinstance(where, tuple):
        recorder.lets_go(_ARRAY, reads)
        return values
    version = field.storage.buffer.contents.mark()
    origin = Origin(weakref.ref(recorder), reads, values, weakref.ref(field), where, version)
    return carrying(values, origin)


def check_no_tape(what: str) -> None:
    """Check that no tape is open.

    Raises:
        TapeError: A tape is open.
    """
    if RECORDING.get().recorder is not None:
        raise TapeError(
            f"{what} is not part of what a tape differentiates, and one is open. "
            "Call it after the 'with' block, when the gradients are there."
        )
