"""What a tape records: steps, the fields that they use, and where gradients stop."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

import numpy as np

from difftile.compile.arguments import Arguments, field_at
from difftile.diagnosis.diagnosis import Diagnosis
from difftile.diagnosis.trace import Times
from difftile.diagnosis.watched import DiagnosisObserver
from difftile.diagnostics import LaunchError, OutOfMemory, TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.numbers import HostRead, Reads, TakenConstant
from difftile.fields.pending import run_pending
from difftile.fields.recording import RECORDING, Recording, Where
from difftile.fields.storage import Storage
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.run import Run
from difftile.recording.budget import as_text
from difftile.recording.gradient_cuts import Cuts
from difftile.recording.history import FullHistory, History
from difftile.recording.host_reads import HostReads
from difftile.recording.opaque import Opaque, OpaqueStep
from difftile.recording.recorder import StepRecorder
from difftile.recording.runs import fused_step, names_of
from difftile.recording.steps import Launch, TapeStep
from difftile.recording.write import Write
from difftile.runtime.met_fields import MetFields, check_owns_gradient
from difftile.runtime.tape_summary import StepCounts
from difftile.substrate import failed


class TapeRecorder(StepRecorder):
    """Records the steps of a tape in its history.

    Args:
        history: Keeps old values.
        loss: The memory of the tape's loss, if it is known.
        accumulate: Whether gradients stay as they are when the tape meets their fields.
        diagnosis: See below.
        times: See below.

    Attributes:
        diagnosis: Looks at each step; None for nothing.
        times: Where the time of each step is noted; None for nowhere.
        met: The fields that steps use.
        written: Those with gradients that steps have changed, by their memory.
        last_writer: The step that wrote the loss, in the words of an error.
        failed: The kernel whose launch failed, so that fields do not hold what it recorded.
        cuts: Where gradients stop.
        reads: What Python has read.
        counts: How many steps of which kind there are.
        opened_by: The tape while it is open, which may have no other reference.
    """

    def __init__(
        self,
        history: History,
        loss: Storage | None,
        *,
        accumulate: bool,
        diagnosis: Diagnosis | None,
        times: Times | None,
    ) -> None:
        self.history = history
        self._loss = loss
        self.diagnosis = diagnosis
        self.observer = None if diagnosis is None else DiagnosisObserver(diagnosis)
        self.times = times
        self.takes_runs = times is None and diagnosis is None
        self.met = MetFields(clears=not accumulate)
        self.written: dict[Storage, Field] = {}
        self.last_writer = self.failed = ""
        self.cuts = Cuts()
        self.reads = HostReads()
        self.counts = StepCounts()
        self.opened_by: object = None

    @property
    def runs_again(self) -> bool:
        """Whether steps that are recorded now may run again in reverse."""
        return not isinstance(self.history, FullHistory) or self.history.in_region

    def host_read(self, field: Field, where: Where) -> HostRead | None:
        """Return the record of a read from Python, or None where a constant is read."""
        if self.diagnosis is not None:
            self.diagnosis.host_read(field)
        if self._shared:
            self.look_at((field,))
        return self.reads.read(field, where, self.cuts.held)

    def write(self, field: Field, where: Where, given: HostArray | ArrayLike) -> None:
        """Write what Python gives, and record it."""
        check_owns_gradient(field)
        super().write(field, where, given)
        if field.has_grads:
            self.written[field.storage] = field
        if isinstance(given, np.ndarray) or RECORDING.get().constant:
            if where is None:
                self.cuts.overwritten(field.storage)
            self.reads.set_constant(field, where)
            return
        if given.has_grads or given.base.storage in self.cuts.held:
            self.reads.written((field.storage,))
        else:
            self.reads.set_constant(field, where)
        self.cuts.copied(field, where, given)

    def record(self, step: TapeStep) -> object:
        """Record a step in the history, observed by the diagnosis and timed."""
        if self.takes_runs:
            return self.history.record(step)
        after = None if self.observer is None else self.observer.before(step)
        started = time.perf_counter()
        result = self.history.record(step)
        if self.times is not None:
            self.times.forward[id(step)] = 1e3 * (time.perf_counter() - started)
        if after is not None:
            after()
        return result

    def launch(self, launch: PreparedLaunch, values: Arguments) -> None:
        """Run a kernel and record it, stage by stage."""
        plans = launch.plans(constant=RECORDING.get().constant)
        if plans.ownership:
            plans.check(values)
        new = not self.met.knows(launch)
        if new:
            self._meet_all(launch, values)
        mark = self.met.mark
        if self._shared:
            self.look_at(launch.fields)
        for plan in plans.stages:
            if plan.cuts or self.cuts.held:
                self.cuts.launched(plan, values)
        self.counts.launches += 1
        try:
            step = Launch(launch, values, plans.stages)
            if not self.takes_runs:
                self.record(step)
            else:  # without a detour, as launches may take microseconds
                self.history.record(step)
        except OutOfMemory as error:
            raise self._out_of_memory(f"'{launch.code.name}'", error) from error
        if launch.session.debug and failed():
            self.failed = launch.code.name
        if new:
            self.written.update(plans.written)
            launch.met = mark
        if self._shared:
            self._shared.used(plans.written.values())
        if self.reads.constant:
            self.reads.written(plans.written)
        if self._loss in plans.written:
            self.last_writer = f"kernel '{launch.code.name}'"

    def _out_of_memory(self, kernel: str, error: OutOfMemory) -> OutOfMemory:
        return OutOfMemory(
            f"No memory is left at launch {self.counts.launches} on the tape, of kernel {kernel}: "
            f"{error} Give the tape a limit, such as Tape(memory='1GB'); it holds "
            f"{as_text(self.history.nbytes)} of old values."
        )

    def may_wait(self, launch: PreparedLaunch) -> bool:
        """Tell whether a launch can be recorded later without a difference.

        Raises:
            TapeError: It writes a field whose gradient belongs to another one.
        """
        if not self.takes_runs:
            return False
        plans = launch.plans(constant=RECORDING.get().constant)
        if plans.ownership:
            return False
        if not self.met.knows(launch):
            for field in plans.written.values():
                check_owns_gradient(field)
            if any(plan.cuts for plan in plans.stages):
                return False  # it notes which fields hold what has lost its gradient
        return all(self.cuts.may_wait(plan, launch.values) for plan in plans.stages)

    def run(self, run: Run) -> str | None:
        """Run and record launches as one program; return the reason if that is not possible."""
        if not self.takes_runs:
            return "the tape looks at each launch"
        constant = RECORDING.get().constant
        planned = [launch.plans(constant=constant) for launch in run.launches]
        step = fused_step(run, [plans.stages for plans in planned])
        if isinstance(step, str):
            self.counts.unfused[names_of(run)] = step
            return step
        step.check()
        for launch, values, plans in zip(run.launches, run.values, planned, strict=True):
            if not self.met.knows(launch):
                self._meet_all(launch, values)
            for plan in plans.stages:
                if plan.cuts or self.cuts.held:
                    self.cuts.launched(plan, values)
        mark = self.met.mark
        self.counts.launches += run.count * len(run.launches)
        try:
            self.history.record(step)
        except OutOfMemory as error:
            raise self._out_of_memory(step.title, error) from error
        self.counts.fused[step.title, step.fused.kernels.recorded.form] += step.count
        for launch, plans in zip(run.launches, planned, strict=True):
            self.written.update(plans.written)
            launch.met = mark
            if self.reads.constant:
                self.reads.written(plans.written)
            if self._loss in plans.written:
                self.last_writer = f"kernel '{launch.code.name}'"
        return None

    def result(self, launch: PreparedLaunch, values: Arguments, position: int) -> HostRead | None:
        """Return the record of a result of a launch, or None where it is a constant."""
        if position not in launch.plans().varying:
            return None
        return self.reads.returned(launch.code.name)

    def follows(self, launch: PreparedLaunch, position: int) -> bool:
        """Tell whether gradients pass to a result that varies."""
        return launch.plans().followed

    def carries_into(self, field: Field) -> bool:
        """Tell whether gradients pass to numbers that Python writes into a field."""
        return field.has_grads

    def varying(self, reads: Iterable[HostRead]) -> list[HostRead]:
        """Return the reads of fields with gradients."""
        return self.reads.varying(reads)

    def takes_constant(self, number: TakenConstant, reads: Reads) -> None:
        """Warn that a number which varies is taken for a constant."""
        if varying := self.reads.varying(reads):
            number.warn(varying)
        for read in reads:
            if read in self.reads.ungraded:
                self.cuts.used(self.reads.ungraded[read], read.source)

    def changed(self, field: Field) -> None:
        """Record a write by others as constants, where no gradient passes.

        Raises:
            TapeError: A gradient may pass.
        """
        twin = field.storage.graded_field
        if field.has_grads or (twin is not None and twin.has_grads):
            super().changed(field)
        self.record(Write(field, None, values=field.buffer.read(), happened=True))
        self.shared_fields().used((field,))

    def _meet_all(self, launch: PreparedLaunch, values: Arguments) -> None:
        """Check the fields of a launch that is new to the tape, and clear their gradients."""
        self.met.renew()
        if launch.mixed and any(one.has_grads for one in launch.fields):
            raise LaunchError(launch.mixed)
        for k in launch.code.writes:
            check_owns_gradient(field_at(values, k))
        for field in launch.fields:
            self.meet(field)
        if self._shared:
            self._shared.writes(field_at(values, k) for k in launch.code.writes)

    def meet(self, field: Field) -> None:
        """Set the gradients of a field to zero when the tape meets the field."""
        if field.storage.memory.is_shared:
            self.shared_fields().meet(field)
        self.met.meet(field)

    def misses(self, storage: Storage) -> bool:
        """Tell whether a write from another thread into this memory would falsify the record."""
        return storage in self.met.touched

    def opaque(self, step: OpaqueStep) -> Any:
        """Run and record an opaque step, and return its result.

        Raises:
            LaunchError: The step writes a field that is declared as only read.
        """
        run_pending()
        for use in step.uses:
            self.meet(use.field)
        opaque = Opaque(step, step.uses, constant=RECORDING.get().constant)
        self.counts.opaque[step.title] += 1
        if step.approximate:
            self.counts.approximate.add(step.title)
        self.look_at(opaque.fields)
        saved = self.record(opaque)
        if self._shared:
            self._shared.used(opaque.writes)
        for field in opaque.writes:
            check_owns_gradient(field)
            if field.has_grads:
                self.written[field.storage] = field
                self.reads.written((field.storage,))
                if field.storage is self._loss:
                    self.last_writer = step.title
        self.cuts.ran(opaque)
        return saved

    def check_holds(self) -> None:
        """Check that the fields hold what was recorded.

        Raises:
            TapeError: A launch failed.
        """
        if self.failed:
            raise TapeError(
                f"A launch of kernel '{self.failed}' failed on this tape, so the fields do not "
                "hold what it recorded; record the launches again."
            )

    @contextmanager
    def region(self) -> Generator[None]:
        """Keep only the contents on entry for the launches in the block; see `dt.checkpoint`."""
        run_pending()
        history = self.history
        if not isinstance(history, FullHistory) or not history.begin_region():
            yield  # a limited tape chooses by itself
            return
        try:
            yield
            run_pending()
        finally:
            history.end_region()

    def end(self, *, look: bool) -> list[Field]:
        """End the recording.

        Args:
            look: Whether to look at memory that others may have written.

        Returns:
            The fields that others have overwritten, and for which a gradient may come in.
        """
        if self._shared is None:
            return []
        ends = [
            one
            for one in self.met.cleared
            if one.storage in self.written or one.grad_in not in (None, one.grad_out)
        ]
        found = self._shared.changed(ends) if look else []
        self._shared.release()
        return found


def outer_recording(*, is_used: bool) -> Recording:
    """Return the state of recording where a tape is opened.

    Args:
        is_used: Whether the tape was opened before.

    Raises:
        TapeError: It cannot be opened there, or was opened before.
    """
    run_pending()
    before = RECORDING.get()
    if before.recorder is not None:
        raise TapeError("A tape is open already; tapes are not nested. Leave the first block.")
    if is_used:
        raise TapeError("This tape has been used; make a new one for each recording.")
    return before
