"""The history of a tape without a limit: all records, and regions of which it keeps the inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from typing import Protocol

from difftile.fields.field import Field
from difftile.fields.recording import Where
from difftile.fields.window import Window
from difftile.launch.patch import Patch, patch_of
from difftile.recording.budget import LOG_BYTES
from difftile.recording.limited_history import LimitedHistory
from difftile.recording.runs import MOST_OF_A_PART, RunStep
from difftile.recording.snapshots import kept_bytes
from difftile.recording.steps import Launch, StepRecord, TapeStep, record_stage
from difftile.recording.write import Write
from difftile.substrate import Buffer


class History(Protocol):
    """The records of a tape, or the steps and snapshots from which they can be made again."""

    recomputed: int

    def record(self, step: TapeStep) -> object:
        """Run a step and remember it; return the result of an opaque step."""
        ...

    def backwards(self, *, keep: bool) -> Generator[StepRecord]:
        """Yield the records from the last to the first; each is good until the next is taken."""
        ...

    def room(self, needed: int) -> float:
        """Return the bytes that the log of a loop may take now, or `needed` if they are there."""
        ...

    def steps(self) -> Iterator[tuple[TapeStep, StepRecord | None]]:
        """Yield the steps in order with their records; a launch once for each recorded stage."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes of old values."""
        ...

    def release(self) -> None:
        """Release everything."""
        ...

    def __len__(self) -> int: ...


class FullHistory:
    """Keeps all records.

    Args:
        may_patch: Tells whether no other tape needs the kept contents, so that small writes may
            stay where they are.
    """

    def __init__(self, may_patch: Callable[[], bool] = lambda: False) -> None:
        self.entries: list[StepRecord | Patch | LimitedHistory] = []
        self._may_patch = may_patch
        self.recomputed = 0
        self._region: LimitedHistory | None = None

    def __len__(self) -> int:
        return sum(
            len(entry) if isinstance(entry, LimitedHistory) else entry.launches
            for entry in self.entries
            if not isinstance(entry, Patch)
        )

    def record(self, step: TapeStep) -> object:
        """Run a step and record it."""
        if self._region is not None:
            return self._region.record(step)
        if isinstance(step, Launch):
            for plan in step.plans:
                record, patches = record_stage(plan, step, may_patch=self._may_patch, packing=True)
                if patches:
                    self.entries += [patch for k, patch in patches.items() if k not in plan.reads]
                if record is not None:
                    self.entries.append(record)
                if patches:
                    # In reverse, patches restore the values that the adjoint reads.
                    self.entries += [patch for k, patch in patches.items() if k in plan.reads]
            return None
        if isinstance(step, Write):
            patch = None if step.source is not None else self._patch(step.field, step.where)
            if patch is not None:
                self.entries.append(patch)
                step.in_place = True
            return self._add(step)
        if isinstance(step, RunStep):
            for part in step.parts(MOST_OF_A_PART, fused=True):
                self._add(part) if isinstance(part, RunStep) else self.record(part)
            return None
        return self._add(step)

    def _add(self, step: TapeStep) -> object:
        """Run a step and add its records."""
        records: list[StepRecord] = []
        result = step.run(records)
        for record in records:
            record.count_saved()
            self.entries.append(record)
        return result

    def _patch(self, field: Field, where: Where) -> Patch | None:
        if where is None or not field.storage.buffer.pins or not self._may_patch():
            return None
        if isinstance(where, Window):
            return None if where.repeats else patch_of(field, where.of)
        return patch_of(field, tuple((i, i + 1) for i in where))

    def steps(self) -> Iterator[tuple[TapeStep, StepRecord | None]]:
        """Yield the steps in order with their records."""
        for entry in self.entries:
            if isinstance(entry, LimitedHistory):
                yield from entry.steps()
            elif isinstance(entry, StepRecord):
                yield entry.step, entry

    @property
    def in_region(self) -> bool:
        """Whether a region is open, whose steps run again in reverse."""
        return self._region is not None

    def begin_region(self) -> bool:
        """Keep only the contents that enter the region; return False if one is open already."""
        if self._region is not None:
            return False
        self._region = LimitedHistory(lambda _: math.inf, bounded=False)
        self.entries.append(self._region)
        return True

    def end_region(self) -> None:
        """Record everything again."""
        self._region = None

    def backwards(self, *, keep: bool) -> Generator[StepRecord]:
        """Yield the records from the last to the first; patches are undone on the way."""
        undone: list[Patch] = []
        try:
            for entry in reversed(self.entries):
                if isinstance(entry, LimitedHistory):
                    before = entry.recomputed
                    yield from entry.backwards(keep=keep)
                    self.recomputed += entry.recomputed - before
                elif isinstance(entry, Patch):
                    undone.append(entry)
                    entry.undo()
                else:
                    yield entry
                    if not keep:
                        entry.release()
        finally:
            _put_back(undone)

    def room(self, needed: int) -> float:
        """Return the bytes that the log of a loop may take."""
        return LOG_BYTES

    @property
    def nbytes(self) -> int:
        """Bytes of old values."""
        patches = sum(e.nbytes for e in self.entries if isinstance(e, Patch))
        saved = sum(e.counted_nbytes for e in self.entries if isinstance(e, StepRecord))
        return patches + saved + kept_bytes(self.buffers())

    def buffers(self) -> Iterator[Buffer]:
        """Yield the memory that is held, some of it perhaps twice."""
        for entry in self.entries:
            if isinstance(entry, LimitedHistory):
                yield from entry.buffers()
            elif isinstance(entry, Patch):
                yield entry.buffer
            else:
                yield from entry.buffers

    def release(self) -> None:
        """Release all old values."""
        entries, self.entries = self.entries, []
        for entry in entries:
            entry.release()


def _put_back(undone: list[Patch]) -> None:
    """Restore the contents from before patches were undone; Ctrl+C waits for that."""
    try:
        while undone:
            if undone[-1].undone:
                undone[-1].redo()
            del undone[-1]
    except BaseException:
        _put_back(undone)
        raise
