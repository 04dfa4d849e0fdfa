"""The backward passes of a tape: its records in reverse, and what they leave."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from difftile.diagnosis.findings import report_of
from difftile.diagnosis.report import Report
from difftile.diagnostics import TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.recording.computed_gradients import ComputedGradients
from difftile.recording.passes import begin_pass
from difftile.recording.reduction import Reduction, RunningReduction
from difftile.recording.replay import Replay
from difftile.recording.runs import RunRecord
from difftile.recording.seeds import Seed, add_seed
from difftile.recording.steps import LaunchRecord, StepRecord, TapeStep
from difftile.recording.tapes import TAPES
from difftile.recording.work_fields import copied
from difftile.runtime.tape_recorder import TapeRecorder
from difftile.substrate import LOCK, batch_of, current_session

Progress: TypeAlias = Callable[[int, int], object]
"""Is called with the number of launches done and the number of all."""


class BackwardPass:
    """One pass over what a tape has recorded.

    Args:
        recorder: What was recorded.
        accumulate: Whether the pass adds to the gradients that there are.
        reduce: Combines gradients with the gradients of other ranks.
        progress: Is told how far the pass is.
    """

    def __init__(
        self,
        recorder: TapeRecorder,
        accumulate: bool,
        reduce: Reduction | None,
        progress: Progress | None,
    ) -> None:
        self._recorder = recorder
        self._history = recorder.history
        self._accumulate = accumulate
        self._reduce = reduce
        self._times = recorder.times
        self._progress = progress
        self._replay = Replay(recorder.written, accumulate, room=self._history.room)

    def run(
        self,
        computed: ComputedGradients,
        seeds: Mapping[ArrayLike, Seed],
        retain: Sequence[Field],
        *,
        keep: bool,
    ) -> Report | None:
        """Run the pass and return the findings of the diagnosis.

        Args:
            computed: Where the tape notes the gradients that it has computed.
            seeds: The adjoint of each output.
            retain: Fields that keep the gradient with respect to the values last written to them.
            keep: Whether old values stay for another pass.
        """
        begin_pass()
        replay, diagnosis = self._replay, self._recorder.diagnosis
        with LOCK:  # from here on tapes of other threads do not clear what the pass adds to
            for field in self._recorder.met.cleared:
                grads = (field.grad_in, field.grad_out)
                replay.changed.update(one.storage for one in grads if one is not None)
            TAPES.pass_of = TAPES.pass_of or (threading.get_ident(), replay.changed)
        summed = () if self._reduce is None else self._reduce.fields
        computed.begin(self._recorder.met.cleared, summed, accumulate=self._accumulate)
        for field, seed in seeds.items():
            add_seed(replay.gradient(field.base), field, seed)
        for field in self._recorder.written.values():
            if field.grad_in is not field.grad_out:  # incoming gradients pass elements not stored
                replay.gradient(field)
        if diagnosis is not None:
            diagnosis.gradients.check_seeds(seeds, replay)
        retained = _Retained(replay, retain)
        reduction = self._reduction(frozenset(retained.missing))
        self._reverse_all(retained, reduction, keep=keep)
        outputs = [field.base.storage for field in seeds]
        report = None if diagnosis is None else report_of(diagnosis, replay, outputs)
        retained.restore()
        replay.finish()
        if reduction is not None:
            reduction.finish()
        kept = {field.storage for field in retained.gradients}
        for storage, field in self._recorder.written.items():
            if field.grad_out is not None:
                field.grad_out.storage.of_overwritten = storage not in kept
        computed.end()
        return report

    def _reduction(self, late: frozenset[Storage]) -> RunningReduction | None:
        if self._reduce is None:
            return None
        steps = (step for step, _ in self._history.steps())
        return self._reduce.begin(steps, self._replay, accumulate=self._accumulate, late=late)

    def _reverse_all(
        self, retained: _Retained, reduction: RunningReduction | None, *, keep: bool
    ) -> None:
        """Run the adjoints of all records, from the last to the first."""
        # Launches that are measured or observed run one by one.
        watched = not (self._times is self._recorder.observer is self._progress is None)
        total, done = 0 if self._progress is None else len(self._history), 0
        records = self._history.backwards(keep=keep)
        try:
            with batch_of(None if watched else current_session().batches):
                for record in retained.split(records) if retained.missing else records:
                    retained.reached(record.step)
                    if reduction is not None:
                        reduction.reached(record.step)
                    self._reverse(record, done)
                    done += record.launches
                    if self._progress is not None:
                        self._progress(done, max(total, done))
        finally:
            records.close()

    def _reverse(self, record: StepRecord, done: int) -> None:
        """Run the adjoint of one record, after so many launches.

        Raises:
            TapeError: The adjoint failed; the error names the launch.
        """
        started = time.perf_counter()
        observer = self._recorder.observer
        try:
            if observer is None:
                self._replay.reverse(record)
            else:
                observer.reverse(self._replay, record)
        except (RecursionError, MemoryError):
            raise
        except Exception as error:
            number = len(self._history) - done
            if isinstance(record, RunRecord):
                which = f"the launches up to {number}, of kernel {record.step.title},"
            elif isinstance(record, LaunchRecord):
                which = f"launch {number}, of kernel '{record.plan.code.name}',"
            else:
                raise
            raise TapeError(f"The adjoint of {which} failed: {error}") from error
        if self._times is not None:
            spent, of = 1e3 * (time.perf_counter() - started), id(record.step)
            self._times.backward[of] = self._times.backward.get(of, 0.0) + spent


class _Retained:
    """The gradients of fields with respect to the values last written to them.

    Args:
        replay: The pass.
        fields: The fields.

    Attributes:
        missing: Those whose last write the pass has not reached, by their memory.
        gradients: Copies of the gradients of the others.
    """

    def __init__(self, replay: Replay, fields: Iterable[Field]) -> None:
        self._replay = replay
        self.missing = {field.storage: field for field in fields}
        self.gradients: dict[Field, Field] = {}

    def split(self, records: Iterable[StepRecord]) -> Iterator[StepRecord]:
        """Yield records; runs that write a field whose gradient is missing launch by launch."""
        for record in records:
            if isinstance(record, RunRecord) and any(map(self._misses, record.step.writes)):
                yield from record.expanded()
            else:
                yield record

    def reached(self, step: TapeStep) -> None:
        """Copy the gradients of fields that a step writes, before it is reversed."""
        for field in step.writes if self.missing else ():
            wanted = self.missing.pop(field.storage, None)
            if wanted is not None:
                self.gradients[wanted] = copied(self._replay.gradient(wanted))

    def restore(self) -> None:
        """Put the copies in the place of the gradients that the pass has left."""
        for field, gradient in self.gradients.items():
            self._replay.gradient(field).buffer.copy_from(gradient.buffer)

    def _misses(self, field: Field) -> bool:
        return field.storage in self.missing
