"""The steps of a run that can be run again: launches and writes from Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from difftile.compile.adjoint_plan import AdjointPlan
from difftile.fields.field import Field, Storage
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.opaque import Opaque
from difftile.recording.records import (
    HostCopy,
    HostWrite,
    LaunchRecord,
    Record,
    copy_again,
    record_stage,
    write_again,
)
from difftile.recording.snapshots import Snapshots
from difftile.substrate import silence


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch of a kernel, all its stages."""

    call: PreparedLaunch
    values: list[Any]
    plans: list[AdjointPlan]


Step: TypeAlias = Launch | HostWrite | HostCopy | Opaque


@dataclass(slots=True)
class Run:
    """Steps as they are run, for the first time or again.

    Args:
        snapshots: The snapshots that must hear what the steps touch.
        make_room: Called before a step with a function that returns the bytes which the step may
            add to the old values, as things stand.
        records: The records of what was run, or None while nothing is recorded.
    """

    snapshots: Snapshots
    make_room: Callable[[Callable[[], int]], None]
    records: list[Record] | None

    def release_records(self) -> None:
        """Let go of what was recorded, and record no more."""
        for record in self.records or ():
            if not isinstance(record, HostWrite):  # its values are needed to write it again
                record.release()
        self.records = None

    def launch(self, launch: Launch, position: int) -> None:
        """Run a kernel."""
        values = launch.values
        self.make_room(lambda: self._growth(launch.plans, values))
        for plan in launch.plans:
            self._touch(plan, launch, position)
        for plan in launch.plans:
            if self.records is None:
                launch.call.stages[plan.stage.number].launch(values)
                continue
            for record in record_stage(plan, launch.call, values):
                if isinstance(record, LaunchRecord):
                    self.records.append(record)

    def opaque(self, opaque: Opaque, position: int) -> Any:
        """Run a step whose inside is not seen; return what it saved."""
        self.make_room(lambda: self._opaque_growth(opaque))
        known = opaque.saved_nbytes
        for use in opaque.uses:
            self._touch_storage(use.field.storage, position, overwritten=use.overwrites)
        saved, record = opaque.run(record=self.records is not None, compare=True)
        if record is not None:
            if opaque.saved_nbytes > known:  # only now is it known what it saves
                self.make_room(lambda: opaque.saved_nbytes)
            if self.records is None:
                record.release()
            else:
                record.count_saved()
                self.records.append(record)
        return saved

    def announce(self, step: HostWrite | HostCopy, position: int) -> None:
        """Prepare for a write from Python that is about to happen."""
        field = field_of(step)
        self.make_room(lambda: self._leaving(field.storage))
        match step:
            case HostWrite(where=where):
                self._touch_storage(field.storage, position, overwritten=where is None)
            case HostCopy(target=target, source=source):
                self._touch_storage(source.base.storage, position, overwritten=False)
                whole = target.window is None
                self._touch_storage(field.storage, position, overwritten=whole)
        if self.records is not None and field.has_grads:
            self.records.append(step)

    def again(self, step: Step, position: int) -> None:
        """Run a step once more."""
        match step:
            case Launch():
                with silence():
                    self.launch(step, position)
            case HostWrite():
                self.announce(step, position)
                write_again(step)
            case HostCopy():
                self.announce(step, position)
                copy_again(step)
            case Opaque():
                with silence():
                    self.opaque(step, position)

    def _touch_storage(self, storage: Storage, position: int, *, overwritten: bool) -> None:
        if self.snapshots.concerns(storage):
            self.snapshots.touch((storage,), position, overwritten=overwritten)

    def _touch(self, plan: AdjointPlan, launch: Launch, position: int) -> None:
        values = launch.values
        for k in plan.loads:
            self._touch_storage(values[k].storage, position, overwritten=False)
        for k in plan.writes:
            whole = k in launch.call.stages[plan.stage.number].overwritten
            self._touch_storage(values[k].storage, position, overwritten=whole)

    def _growth(self, plans: Sequence[AdjointPlan], values: list[Any]) -> int:
        """Return the bytes of the buffers that a launch must leave because they are kept."""
        growth = 0
        pinned: set[Storage] = set()  # what earlier stages of this launch have found or left there
        fresh: set[Storage] = set()
        for plan in plans:
            for k in plan.writes:
                storage = values[k].storage
                if self.records is not None and (k in plan.reads or storage in pinned):
                    growth += storage.buffer.nbytes
                elif storage not in fresh:
                    growth += self._leaving(storage)
                pinned.discard(storage)
                fresh.add(storage)
            stay = (k for k in plan.reads if k not in plan.writes)
            pinned |= {values[k].storage for k in (*stay, *plan.reads_after)}
        return growth

    def _opaque_growth(self, opaque: Opaque) -> int:
        """Return the bytes that a step may add to the old values."""
        recording = self.records is not None
        growth = opaque.saved_nbytes if recording else 0
        for use in opaque.uses:
            storage = use.field.storage
            if use.writes is None or (use.writes and recording and opaque.keeps_before(use)):
                growth += storage.buffer.nbytes
            elif use.writes:
                growth += self._leaving(storage)
        return growth

    def _leaving(self, storage: Storage) -> int:
        """Return the bytes of a field's buffer if whoever writes the field must leave it."""
        kept = storage.buffer.pins or self.snapshots.concerns(storage)
        return storage.buffer.nbytes if kept else 0


def storages_of(step: Step) -> list[Storage]:
    """Return the memory of the fields that a step changes, or may change."""
    match step:
        case Launch(plans=plans, values=values):
            return [values[k].storage for plan in plans for k in plan.writes]
        case HostWrite() | HostCopy():
            return [field_of(step).storage]
        case Opaque():
            return [field.storage for field in step.written]


def field_of(step: HostWrite | HostCopy) -> Field:
    """Return the field that Python writes."""
    return step.field if isinstance(step, HostWrite) else step.target.base
