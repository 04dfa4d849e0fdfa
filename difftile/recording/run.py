"""A run of steps, for the first time or again, within the memory that a tape may hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from difftile.fields.storage import Storage
from difftile.recording.snapshots import Snapshots
from difftile.recording.steps import StepRecord, TapeStep
from difftile.records import dataclass
from difftile.substrate import silence


@dataclass(slots=True)
class Run:
    """Steps as they are run, for the first time or again.

    Args:
        snapshots: The snapshots that must be told which fields the steps touch.
        make_room: Called before a step with a function that returns the bytes which the step may
            add to the old values, as things stand.
        records: The records of the steps, or None while they are not recorded.
        started: The records of the step that runs now.
    """

    snapshots: Snapshots
    make_room: Callable[[Callable[[], int]], None]
    records: list[StepRecord] | None
    started: list[StepRecord] = field(default_factory=list["StepRecord"])

    def release_records(self) -> None:
        """Release the records, and record no more."""
        for record in self.records or ():
            record.release()
        self.records = None

    def first(self, step: TapeStep, position: int) -> object:
        """Run a step of the user's program; return its result."""
        return self._run(step, position)

    def again(self, step: TapeStep, position: int) -> None:
        """Run a step once more."""
        with silence():
            self._run(step, position)

    def _run(self, step: TapeStep, position: int) -> object:
        self.make_room(
            lambda: (
                step.growth(self._leaving, recording=self.records is not None) + self._copies(step)
            )
        )
        for one, overwritten in step.accesses():
            if self.snapshots.concerns(one.storage):
                self.snapshots.touch((one.storage,), position, overwritten=overwritten)
        known = step.saved_nbytes
        records = self.started = list[StepRecord]()
        try:
            return step.run(None if self.records is None else records, repeats=True)
        finally:
            if records and step.saved_nbytes > known:  # only now is the size known
                self.make_room(lambda: step.saved_nbytes)
            self.started = []
            for record in records:
                if self.records is None:
                    record.release()
                else:
                    record.count_saved()
                    self.records.append(record)

    def _leaving(self, storage: Storage) -> int:
        """Return the bytes of a field's buffer if the next write has to leave it as it is."""
        if storage.buffer.is_shared:
            return 0
        kept = storage.buffer.pins or self.snapshots.concerns(storage)
        return storage.buffer.nbytes if kept else 0

    def _copies(self, step: TapeStep) -> int:
        """Return the bytes of copies of the fields of a step that stay where they are."""
        shared = {one.storage for one in step.fields if one.storage.memory.is_shared}
        recorded = self.records is not None
        return sum(
            storage.memory.nbytes * (2 * recorded + self.snapshots.concerns(storage))
            for storage in shared
        )
