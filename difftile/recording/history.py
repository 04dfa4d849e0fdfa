"""Histories of tapes: all records, or within a budget snapshots from which to run again.

With a budget the tape records everything while that fits. Then it lets go of the records and lives
on snapshots, taken at a stride that doubles whenever they take half of the budget, so that the
length of the run need not be known (in the spirit of Wang, Moin and Iaccarino, Minimal repetition
dynamic checkpointing, 2009). In reverse, each stretch between two snapshots is run again and
recorded; where a stretch does not fit, new snapshots divide it by the binomial schedule
(`revolve`), with the memory that the snapshots already passed have given back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Protocol, TypeAlias

from difftile.diagnostics import TapeError
from difftile.fields.field import Field, Storage, fields_with_grads
from difftile.fields.recording import Where
from difftile.fields.window import Window
from difftile.launch.patch import Patch, box_of, patch_of
from difftile.recording.budget import LOG_BYTES, as_text
from difftile.recording.run import Run
from difftile.recording.runs import MOST_OF_A_PART, RunStep
from difftile.recording.schedule import make_schedule
from difftile.recording.snapshots import Snapshot, Snapshots
from difftile.recording.steps import HostWrite, Launch, StepRecord, TapeStep, record_stage
from difftile.substrate import Buffer, Pool, current_session

Limit: TypeAlias = Callable[[int], float]
"""The bytes that may be kept, given those of the state: of all fields that the run changes."""

_FIRST_STRIDE = 8  # launches between snapshots, before any had to be dropped
_BESIDE_LOGS = 0.75  # of the budget, where launches have logs
_SHARE_OF_A_RUN = 1 / 32  # of the budget, for the values saved by a part of a run


class History(Protocol):
    """The records of a tape, or the steps and snapshots from which they can be made again."""

    recomputed: int

    def record(self, step: TapeStep) -> object:
        """Run a step and remember it; return the result of an opaque step.

        A write from Python is going to happen: return whether memory that records need may take it.
        """
        ...

    def backwards(self, *, keep: bool) -> Generator[StepRecord]:
        """Yield the records from the last to the first; each is good until the next is taken."""
        ...

    def room(self) -> float:
        """Return the bytes that the log of a loop may take now."""
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


def kept_bytes(buffers: Iterable[Buffer]) -> int:
    """Return the bytes of those buffers that hold no field's contents any more."""
    return sum(b.held for b in {id(b): b for b in buffers if not b.owners}.values())


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
        """Run a step and record it; of a write, tell whether it may happen in kept memory."""
        if self._region is not None:
            return self._region.record(step)
        if isinstance(step, RunStep):
            for part in step.parts(MOST_OF_A_PART, fused=True):
                self._add(part) if isinstance(part, RunStep) else self.record(part)
            return None
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
        patch = None
        if isinstance(step, HostWrite):
            step = HostWrite(step.field, step.where)
            patch = self._patch(step.field, step.where)
            if patch is not None:
                self.entries.append(patch)
        result = self._add(step)
        return result if patch is None else True

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
        return patch_of(field, box_of(tuple((i, i) for i in where)))

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
        self._region = LimitedHistory(lambda _: math.inf, recording=False, first_stride=math.inf)
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
                    entry.exchange()
                else:
                    yield entry
                    if not keep:
                        entry.release()
        finally:
            _put_back(undone)

    def room(self) -> float:
        """Return the bytes that the log of a loop may take."""
        return LOG_BYTES

    @property
    def nbytes(self) -> int:
        """Bytes of old values."""
        patches = sum(e.values.nbytes for e in self.entries if isinstance(e, Patch))
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
                undone[-1].exchange()
            del undone[-1]
    except BaseException:
        _put_back(undone)
        raise


class LimitedHistory:
    """Keeps the steps, and as many snapshots and records as fit into a budget.

    Args:
        limit: The budget.
        recording: Keep records as long as all of them fit.
        first_stride: Launches between snapshots, to begin with.
    """

    def __init__(
        self, limit: Limit, *, recording: bool = True, first_stride: float = _FIRST_STRIDE
    ) -> None:
        self.recomputed = 0
        self._limit = limit
        self._pool: Pool | None = None
        self._base = 0
        self._steps: list[TapeStep] = []
        self._changed: dict[Storage, int] = {}
        self._state_bytes = 0
        self._running: TapeStep | None = None
        self._saved_bytes = 0
        self._has_logs = False
        self._stride = first_stride
        self._snapshots = Snapshots()
        self._record_bytes = 0.0
        self._run = Run(self._snapshots, self._room_while_recording, [] if recording else None)

    def __len__(self) -> int:
        return sum(step.count for step in self._steps)

    @property
    def snapshots(self) -> int:
        """The number of snapshots held now."""
        return len(self._snapshots.taken)

    def steps(self) -> Iterator[tuple[TapeStep, StepRecord | None]]:
        """Yield the steps in order, with their records if there are any."""
        if self._run.records is None:
            yield from ((step, None) for step in self._steps)
        else:
            yield from ((record.step, record) for record in self._run.records)

    # Recording

    def record(self, step: TapeStep) -> object:
        """Run a step and remember it; Python may write in other memory only."""
        step = step.lasting()
        if self._pool is None:
            self._pool = current_session().pool
            self._base = self._pool.kept
        if isinstance(step, RunStep):
            for storage in {field.storage for field in step.writes}:
                self._add_to_state(storage)
            for part in step.parts(_SHARE_OF_A_RUN * self._without_logs()):
                self._record(part)
            return None
        return self._record(step)

    def _record(self, step: TapeStep) -> object:
        """Run a step and remember it."""
        new = [field.storage for field in step.writes if field.storage not in self._changed]
        for storage in new:
            self._add_to_state(storage)
        for field in step.fields:
            if field.storage.memory.is_shared:  # others may change it, and it is copied as well
                self._add_to_state(field.storage)
        self._has_logs = self._has_logs or (isinstance(step, Launch) and step.has_logs)
        position = len(self._steps)
        taken = self._snapshots.taken
        if not taken or position - taken[-1].position >= self._stride:
            self._snapshots.take(position)
        self._running = step
        result = self._run.first(step, position)
        self._steps.append(step)
        if new:
            written = {field.storage for field in step.writes}
            for storage in set(new) - written:  # an opaque step turned out not to write it
                if not storage.memory.is_shared:
                    self._state_bytes -= self._changed.pop(storage)
        return result

    def _add_to_state(self, storage: Storage) -> None:
        if storage not in self._changed:
            # A shared field stays where it is, and even its latest contents are copied.
            copies = 2 if storage.buffer.is_shared else 1
            nbytes = self._changed[storage] = copies * storage.memory.nbytes
            self._state_bytes += nbytes

    def _without_logs(self) -> float:
        """Return the part of the budget that is not set aside for logs of loops."""
        return _BESIDE_LOGS * self._budget if self._has_logs else self._budget

    @property
    def _budget(self) -> float:
        """The bytes that may be kept; the values saved by one opaque step count as state."""
        if self._running is not None:
            self._saved_bytes = max(self._saved_bytes, self._running.saved_nbytes)
        return self._limit(self._state_bytes + self._saved_bytes)

    @property
    def _kept(self) -> int:
        return 0 if self._pool is None else self._pool.kept - self._base

    def _room_while_recording(self, needed: Callable[[], int]) -> None:
        """Make room for more old values: drop the records first, then snapshots."""
        limit = self._without_logs()
        if self._kept + needed() <= (limit if self._run.records is not None else limit / 2):
            return
        if self._run.records is not None:
            self._record_bytes = self._kept / max(1, len(self._steps))
            self._run.release_records()
        while self._kept + needed() > limit / 2 and len(self._snapshots.taken) > 1:
            self._snapshots.thin()
            self._stride *= 2
        if self._kept + needed() > limit:
            raise self._too_small(limit)

    def _too_small(self, limit: float) -> TapeError:
        # The contents of fields at the end and at the start, and the record of one launch.
        state = self._state_bytes + self._saved_bytes
        enough = math.ceil(3 * state / (_BESIDE_LOGS if self._has_logs else 1))
        saved = f", and one step saves {as_text(self._saved_bytes)}" if self._saved_bytes else ""
        return TapeError(
            f"The memory of the tape, {as_text(limit)}, is too small: the fields that its launches "
            f"change hold {as_text(self._state_bytes)}{saved}. Three times that is enough: "
            f"Tape(memory={enough})."
        )

    # In reverse

    def room(self) -> float:
        """Return the bytes that the log of a loop may take now."""
        return self._budget - self._kept

    def backwards(self, *, keep: bool) -> Generator[StepRecord]:
        """Yield the records from the last to the first; each is good until the next is asked for.

        Fields hold earlier values meanwhile; their present values are restored at the end.
        """
        if self._run.records is not None:
            for record in reversed(self._run.records):
                yield record
                if not keep:
                    record.release()
            return
        self._refuse_gradients()
        # The snapshots before the steps that are still to be reversed, the latest last.
        ahead = list(self._snapshots.taken)
        for snapshot in ahead:
            for storage, buffer in snapshot.held.items():
                if not storage.holds(buffer):  # read here, and changed since by others
                    self._add_to_state(storage)
        final = Snapshot(len(self._steps))
        for storage in self._changed:
            final.hold(storage)
        staying = set(ahead) if keep else set[Snapshot]()
        sweep: Run | None = None
        end = len(self._steps)
        try:
            while end > 0:
                latest = ahead[-1]
                if latest.position < end:
                    sweep, end = self._sweep(ahead, end, staying)
                    for record in reversed(sweep.records or ()):
                        yield record
                        record.release()
                else:
                    ahead.pop()
                    if latest not in staying:
                        latest.release()
        finally:
            if sweep is not None:
                sweep.release_records()
            for snapshot in ahead:
                if snapshot not in staying:
                    snapshot.release()
            final.restore()
            final.release()

    def _sweep(self, ahead: list[Snapshot], end: int, staying: set[Snapshot]) -> tuple[Run, int]:
        """Run the steps from the latest snapshot on again and record the last of them.

        Args:
            ahead: The snapshots so far; new ones are added.
            end: Where to stop.
            staying: The snapshots that are dropped only for want of room.

        Returns:
            The run with its records, and the position where recording began.
        """
        ahead[-1].restore()
        first = ahead[-1].position
        snapshots = Snapshots()
        limit = self._budget
        own = len(self._snapshots.taken)
        each = self._kept / own if own > 1 else self._state_bytes
        schedule = make_schedule(end - first, limit - self._kept, each, self._record_bytes)
        due = {first + offset for offset in schedule.snapshots}
        recorded_from = first + schedule.recorded_from
        position = first

        def make_room(needed: Callable[[], int]) -> None:
            nonlocal recorded_from
            while self._kept + needed() > limit:
                if run.records:
                    # The stretch is longer than it may be: only its rest is recorded.
                    run.release_records()
                    run.records = []
                    snapshots.take(position)
                    recorded_from = position
                elif snapshots.taken:
                    snapshots.thin()
                elif len(ahead) > 1:
                    self._drop(ahead.pop(), staying)  # the run has left it
                elif passed := [snapshot for snapshot in staying if snapshot not in ahead]:
                    self._drop(passed[0], staying)  # the pass has left it
                else:
                    raise self._too_small(limit)

        run = Run(snapshots, make_room, None)
        before = self._kept
        for position in range(first, end):
            if position in due:
                snapshots.take(position)
            if position == recorded_from:
                run.records = []
                before = self._kept
            run.again(self._steps[position], position)
        self.recomputed += sum(step.count for step in self._steps[first:end])
        if run.records:
            self._record_bytes = max(0, self._kept - before) / (end - recorded_from)
        ahead += snapshots.taken
        return run, recorded_from

    def _drop(self, snapshot: Snapshot, staying: set[Snapshot]) -> None:
        """Release a snapshot; a later pass does without it, too."""
        snapshot.release()
        if snapshot in staying:
            staying.remove(snapshot)
            self._snapshots.taken.remove(snapshot)

    def _refuse_gradients(self) -> None:
        """Refuse to run launches again that read or write gradients, to which the replay adds.

        Raises:
            TapeError: A launch does.
        """
        gradients = {
            gradient.storage
            for field in fields_with_grads()
            for gradient in (field.grad_in, field.grad_out)
            if gradient is not None
        }
        touched = [self._changed, *(snapshot.held for snapshot in self._snapshots.taken)]
        if not all(gradients.isdisjoint(storages) for storages in touched):
            raise TapeError(
                "A gradient was read or written while the tape was open. A tape with a limited "
                "memory runs its launches again, in the midst of computing gradients: use "
                "gradients outside the block."
            )

    @property
    def nbytes(self) -> int:
        """Bytes of old values."""
        saved = sum(record.counted_nbytes for record in self._run.records or ())
        return saved + kept_bytes(self.buffers())

    def buffers(self) -> Iterator[Buffer]:
        """Yield the memory that is held, some of it perhaps twice."""
        for snapshot in self._snapshots.taken:
            yield from snapshot.held.values()
        for record in self._run.records or ():
            yield from record.buffers

    def release(self) -> None:
        """Release everything."""
        self._run.release_records()
        self._snapshots.release()
        self._steps = []
        self._changed = {}
