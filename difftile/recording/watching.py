"""Watching a step while it runs: which fields it writes, and what it must leave as it was.

Its fields are pinned meanwhile, so that a write into one moves it to another buffer: so the tape
learns which were written, and old values need no copies. A field whose memory others may write
stays in it, and is compared with a copy.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from difftile.diagnostics import LaunchError
from difftile.fields.gradient_changes import GRADIENTS, GradientGuard
from difftile.fields.gradients import fields_with_grads
from difftile.fields.pending import run_pending
from difftile.fields.recording import RECORDING, Recording
from difftile.fields.storage import Storage
from difftile.recording.tapes import TAPES
from difftile.recording.uses import Keeps, Use
from difftile.substrate import LOCK, current_session, keep, unpin


class OpaqueWrites:
    """The contents of a step's fields before it runs, to find the fields it has written.

    The buffers are pinned; the caller releases them.
    """

    def __init__(self, name: str, uses: tuple[Use, ...], record: bool) -> None:
        self._name = name
        self._uses = uses
        run_pending()
        self.before = {
            use.field.storage: keep(use.field.storage)
            for use in uses
            if use.writes is not True or (record and use.keeps in (Keeps.BEFORE, Keeps.BOTH))
        }
        self._marks = {storage: storage.memory.contents.mark() for storage in self.before}

    def uses(self, *, again: bool = False) -> tuple[Use, ...]:
        """Return the uses with the written fields filled in.

        Args:
            again: Whether the step has run before.

        Raises:
            LaunchError: A field was written that is declared to be read only; its contents are
                restored.
        """
        return tuple(self._filled(use, again) for use in self._uses)

    def _is_written(self, storage: Storage) -> bool:
        """Tell whether memory was written, by any writer."""
        before, now = self.before[storage], storage.buffer
        if now is before:
            return False
        if not now.contents.is_uncertain:
            return True
        # Others may write it, or might for a while, for which it has left pinned memory.
        if not now.contents.is_unwritten_since(self._marks[storage]):
            return True
        return not now.has_contents_of(before)

    def _filled(self, use: Use, again: bool) -> Use:
        storage = use.field.storage
        if use.writes is True or storage not in self.before:
            return use
        moved = self._is_written(storage)
        if use.writes is None:
            keeps = use.keeps
            if keeps is Keeps.UNWRITTEN:
                keeps = Keeps.NOTHING if moved else Keeps.BEFORE
            return replace(use, writes=moved, keeps=keeps)
        if moved:
            storage.restore(self.before[storage], self._marks[storage])
            raise LaunchError(
                f"'{use.name}' is written by {self._name} when it is run again, and was not at "
                "first: on a tape with a limit, and in a checkpoint, what it does must follow from "
                "its fields alone."
                if again
                else f"'{use.name}' is written by {self._name}, and declared dt.In; declare it "
                "dt.InOut, or dt.Out if all of it is overwritten."
            )
        return use


@contextmanager
def held(name: str, uses: tuple[Use, ...], *, record: bool = False) -> Generator[OpaqueWrites]:
    """Pin the contents from before a contained step that its reverse reads.

    Args:
        name: The step, for errors.
        uses: The uses of its fields.
        record: Whether values are kept for the reverse.
    """
    early = (Keeps.BEFORE, Keeps.BOTH)
    writes = OpaqueWrites(name, tuple([u for u in uses if record and u.keeps in early]), record)
    try:
        yield writes
    finally:
        for buffer in writes.before.values():
            unpin(buffer)


@contextmanager
def watched(name: str, uses: tuple[Use, ...], *, record: bool = False) -> Generator[OpaqueWrites]:
    """Pin the fields of a step while it runs, so that the written ones move.

    Args:
        name: The step, for errors.
        uses: The declared uses of its fields.
        record: Whether values are kept for the reverse.
    """
    writes = OpaqueWrites(name, uses, record)
    token = object()  # a tape that the step opens must not write into pinned memory
    TAPES.holders.add(token)
    try:
        yield writes
    finally:
        TAPES.holders.discard(token)
        for buffer in writes.before.values():
            unpin(buffer)


@contextmanager
def closed(keeping: set[Storage]) -> Generator[None]:
    """Do work as if no tape were open, and leave the gradients of all fields as they were.

    So a step may use tapes of its own, which set gradients to zero and add to them.

    Args:
        keeping: The memory that the work may change even where it is some field's gradient.
    """
    run_pending()
    pool = current_session().pool
    peak = pool.peak
    guard = GradientGuard()
    GradientGuard.open.add(guard)
    guarded = {
        storage: (keep(storage), storage.memory.contents.mark())
        for storage in _gradients() - keeping - TAPES.works_on()
    }
    graded = {storage: storage.graded for storage in keeping}
    replays, token = TAPES.replays, object()
    TAPES.holders.add(token)
    try:
        with Recording(observer=RECORDING.get().observer), TAPES.turn.lent():
            yield
    finally:
        TAPES.holders.discard(token)
        TAPES.replays = replays
        for storage, field in graded.items():
            if storage.graded is not field:
                storage.graded = field
                GRADIENTS.epoch += 1
        for storage, (buffer, mark) in guarded.items():
            with LOCK:
                if storage not in guard.others and storage not in TAPES.works_on():
                    storage.restore(buffer, mark)
            unpin(buffer)
        GradientGuard.open.discard(guard)
        pool.peak = max(peak, pool.kept)  # buffers that the work kept meanwhile do not count


def _gradients() -> set[Storage]:
    """Return the memory of all gradients."""
    return {
        gradient.storage
        for field in fields_with_grads()
        for gradient in (field.grad_in, field.grad_out)
        if gradient is not None
    }
