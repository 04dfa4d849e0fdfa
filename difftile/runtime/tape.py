"""The tape: it records launches and replays them in reverse.

A record keeps references to the buffers that the adjoint of its launch reads; such a buffer is
pinned, and a later launch that would write to it gets another one. Old values are
therefore copied only where they are needed, and not even then where a launch overwrites a field
whole. Fields hold their final values all along.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import (
    Callable,
    Container,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from difftile.compile.arguments import Arguments, field_at
from difftile.diagnosis.diagnosis import Diagnosis
from difftile.diagnosis.findings import report_of, values_not_finite
from difftile.diagnosis.picture import draw
from difftile.diagnosis.report import Report
from difftile.diagnosis.trace import Times, Trace
from difftile.diagnosis.watched import DiagnosisObserver
from difftile.diagnostics import (
    GradientCut,
    GradientWarning,
    LossNotFinite,
    OutOfMemory,
    TapeError,
    brief,
    counted,
    render,
)
from difftile.fields.array_like import ArrayLike
from difftile.fields.elements import check_is_field
from difftile.fields.exchange import HostArray, as_integer
from difftile.fields.field import Field
from difftile.fields.gradient_changes import GRADIENTS
from difftile.fields.gradients import clear_grads
from difftile.fields.numbers import Constant, HostRead, Reads
from difftile.fields.pending import run_pending
from difftile.fields.recording import RECORDING, Recording, Where
from difftile.fields.storage import Storage
from difftile.fields.view import View
from difftile.habits import taught
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.run import Run
from difftile.markup import html_block, html_lines, prompt_text
from difftile.recording.budget import as_text, parse_memory
from difftile.recording.computed_gradients import ComputedGradients
from difftile.recording.gradient_cuts import Cuts
from difftile.recording.history import FullHistory, History
from difftile.recording.host_reads import HostReads
from difftile.recording.limited_history import LimitedHistory
from difftile.recording.meeting import meet_backward
from difftile.recording.opaque import Opaque, OpaqueStep
from difftile.recording.recorder import StepRecorder
from difftile.recording.reduction import Reduction
from difftile.recording.replay import Replay
from difftile.recording.runs import RunRecord, fused_step, names_of
from difftile.recording.seeds import Seed, add_seed, check_loss, checked_seeds
from difftile.recording.steps import Launch, LaunchRecord, StepRecord, TapeStep
from difftile.recording.tapes import TAPES
from difftile.recording.work_fields import copied
from difftile.substrate import LOCK, batch_of, current_session, failed
from difftile.tracebacks import boundary, shorten
from difftile.user_line import warn_user

Progress = Callable[[int, int], object]


@taught("tape", "A tape")
class Tape(StepRecorder):
    """Records the launches of its `with` block and computes gradients.

    Leaving `with dt.Tape(loss):` computes the gradient of `loss` with respect to every field that
    has gradients. `with dt.Tape() as tape:` leaves that to `tape.backward(...)`.

    Without a limit the tape keeps every old value that an adjoint reads. With a limit it keeps
    the snapshots that fit, and in reverse runs launches again from there: the gradient is the
    same, and the time grows slowly as the memory shrinks.

    Args:
        loss: A field of one element.
        accumulate: Add to the gradients that fields have. By default the tape clears the gradients
            of the fields that it meets; others keep an earlier tape's. See `gradient`.
        memory: The most that the tape may hold in addition to the fields' own memory: bytes, or a
            text such as "256MB".
        snapshots: The same in copies of the state, that is of all fields that launches change.
        progress: Called in reverse with the number of launches done and the number of all.
        reduce: Combines gradients with those of other ranks while the tape computes them:
            `dt.distributed.Gradients(fields)`.
        measure: Measure the time of each launch, for `visualize`.
        diagnose: Check every launch and every gradient, and warn of mistakes; `report()` returns
            all findings. True asks for the gradients of the fields that launches read before they
            write them; or name the fields. The run takes several times as long, with small
            launches tens of times.

    Raises:
        TapeError: The loss has no gradient, or more than one element; or a limit is invalid; or a
            field to be diagnosed has no gradient.
    """

    @boundary
    def __init__(
        self,
        loss: ArrayLike | None = None,
        *,
        accumulate: bool = False,
        memory: str | int | None = None,
        snapshots: int | None = None,
        progress: Progress | None = None,
        reduce: Reduction | None = None,
        measure: bool = False,
        diagnose: bool | Field | Sequence[Field] = False,
    ) -> None:
        if loss is not None:
            check_loss(loss)
        self.loss = loss
        self.accumulate = accumulate
        self.progress = progress
        if reduce is not None and not hasattr(reduce, "begin"):
            raise TapeError(f"reduce takes dt.distributed.Gradients(fields), not {brief(reduce)}.")
        self.reduce = reduce
        self._history = _history(memory, snapshots)
        self._diagnosis = _diagnosis(diagnose)
        self._observer = None if self._diagnosis is None else DiagnosisObserver(self._diagnosis)
        self._times = Times() if measure else None
        self._is_observed = measure or self._observer is not None
        self.takes_runs = not self._is_observed
        self._report: Report | None = None
        self._recording = Recording()
        self._token = object()
        self._touched: set[Storage] = set()
        self._cleared: set[Field] = set()
        self._met: set[Field] = set()  # since fields were last given other gradients
        self._met_at = -1
        self._mark = object()
        self._epoch = -1
        self._open = False
        self._entered = False
        self._done = False
        self._replays = 0
        self._written: dict[Storage, Field] = {}
        self._last_writer = ""
        self._failed = ""
        self._computed: ComputedGradients | None = None
        self._cuts = Cuts()
        self.reads = HostReads()
        self._launches = 0
        self._forward_runs = 1.0
        self._opaque: dict[str, int] = {}
        self._approximate: set[str] = set()
        self._fused: dict[tuple[str, str], int] = {}
        self._unfused: dict[str, str] = {}
        self._base = 0
        self._peak = 0
        self._trace: Trace | None = None

    # Recording

    def __reduce__(self) -> Any:
        raise TapeError(
            "A tape is a record of launches in this process, and is neither pickled nor copied. "
            "Pickle the fields, and run the 'with dt.Tape()' block again where they are loaded."
        )

    # Ctrl+C between the end of `__enter__` and that of a boundary around it would leave the tape
    # open, and so would one before `__exit__` begins: these two shorten their errors themselves.
    def __enter__(self) -> Tape:
        try:
            before = self._outer_recording()
        except Exception as error:
            shorten(error)
            raise
        self._recording = Recording(self, constant=before.constant, observer=before.observer)
        try:
            self._entered = True
            self._computed = ComputedGradients()
            TAPES.holders.add(self._token)
            self._open = True
            self._pool = current_session().pool
            self._base = self._pool.peak = self._pool.kept
            self._replays = TAPES.replays
            self._recording.__enter__()
        except BaseException as error:  # Ctrl+C, too: `__exit__` will not be called
            if RECORDING.get() is self._recording:
                self._recording.__exit__()
            if self._open:
                self._open = False
                self.release()
            if isinstance(error, Exception):
                shorten(error)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._open:
                try:
                    run_pending()
                    here = RECORDING.get().recorder is self
                finally:  # even after Ctrl+C
                    self._recording.__exit__()
                    self._recording = Recording()  # drops the reference to the tape
                    self._open = False
                if not here:
                    self.release()
                    raise TapeError("A tape is left in the thread or task in which it was opened.")
                observer = RECORDING.get().observer
                if observer is not None and kind is None:
                    for step, _ in self._history.steps():
                        step.observe(observer)
            self._peak = self._pool.peak - self._base
            if self._shared is not None:
                found = self._changed_at_the_end() if kind is None else []
                self._shared.release()
                for field in found:
                    self.release()
                    self.changed(field)
            if kind is not None:
                self.release()
            elif self.loss is not None:
                self._check_number(self.loss)
                self.backward(self.loss)
        except Exception as raised:
            shorten(raised)
            raise

    def _outer_recording(self) -> Recording:
        """Return the state of recording where the tape is opened.

        Raises:
            TapeError: It cannot be opened there, or was opened before.
        """
        run_pending()
        before = RECORDING.get()
        if before.recorder is not None:
            raise TapeError("A tape is open already; tapes are not nested. Leave the first block.")
        if self._entered:
            raise TapeError("This tape has been used; make a new one for each recording.")
        return before

    def _changed_at_the_end(self) -> list[Field]:
        """Return the fields that others have overwritten, and for which a gradient may come in."""
        ends = [
            one
            for one in self._cleared
            if one.storage in self._written or one.grad_in not in (None, one.grad_out)
        ]
        return [] if self._shared is None else self._shared.changed(ends)

    def __repr__(self) -> str:
        return f"<tape {self._state()}: {', '.join(self.summary().splitlines()[:2])}>"

    def _repr_html_(self) -> str:
        return html_block(f"tape, {self._state()}", html_lines(self.summary().splitlines()))

    def _state(self) -> str:
        return "open" if self._open else "done" if self._done else "recorded"

    def __len__(self) -> int:
        run_pending()
        return len(self._history)

    @property
    def nbytes(self) -> int:
        """Bytes of old values that are kept in addition to the fields' own memory."""
        run_pending()
        return self._history.nbytes

    @property
    def peak_nbytes(self) -> int:
        """The most bytes of old values that were kept at any time."""
        run_pending()
        return max(self._peak, self._pool.peak - self._base if self._open else 0)

    @property
    def recomputed(self) -> int:
        """The number of launches and writes that `backward` has run again."""
        return self._history.recomputed

    @property
    def runs_again(self) -> bool:
        """Whether steps that are recorded now may run again in reverse."""
        return not isinstance(self._history, FullHistory) or self._history.in_region

    @property
    def written(self) -> list[Field]:
        """The fields that recorded launches and writes from Python have changed."""
        run_pending()
        return list(self._written.values())

    @prompt_text
    def summary(self) -> str:
        """Return a few lines on the recording, its memory and the launches that ran again.

        Before `backward` these are the records and the old values at present; after it the first
        line has the cost of the gradient: "4,002 launches, 64 kB of old values held at most, 1.4
        runs of the forward", where launches that ran again count as parts of a run.
        """
        run_pending()
        launches = counted(self._launches, "launch", "launches")
        if self._launches > 999:
            launches = f"{self._launches:,} launches"
        if self._done:
            runs = f"{self._forward_runs:.{int(self._forward_runs < 9.95)}f}".removesuffix(".0")
            lines = [
                f"{launches}, {as_text(self.peak_nbytes)} of old values held at most, "
                f"{runs} {'run' if runs == '1' else 'runs'} of the forward"
            ]
        else:
            lines = [
                f"{launches}, {counted(len(self), 'record')}",
                f"{as_text(self.nbytes)} of old values, {as_text(self.peak_nbytes)} at the most",
            ]
            if isinstance(self._history, LimitedHistory):
                lines.append(f"{counted(self._history.snapshots, 'snapshot')}")
        lines += [
            f"{names}: {counted(count, 'launch', 'launches')} as one program, {form}"
            for (names, form), count in self._fused.items()
        ]
        lines += [f"{names}: one by one, because {why}" for names, why in self._unfused.items()]
        for name, times in self._opaque.items():
            approximate = ", with an approximate backward" if name in self._approximate else ""
            lines.append(f"{name}: {counted(times, 'call')}{approximate}")
        if self.recomputed:
            lines.append(f"{counted(self.recomputed, 'launch', 'launches')} run again")
        return "\n".join(lines)

    @boundary
    def visualize(self, path: str | Path) -> None:
        """Draw the recording: fields, launches, kept values, and times if measured.

        Args:
            path: A file whose name ends in .png or .svg.

        Raises:
            TapeError: The name has another ending; or the launches are gone, since `backward`
                discards them unless the tape measures them.
        """
        run_pending()
        if self._trace is None and self._done:
            raise TapeError(
                "The launches of this tape are gone; call visualize() before backward(), or make "
                "the tape with measure=True."
            )
        trace = self._trace or Trace(self._history.steps())
        title = f"{counted(self._launches, 'launch', 'launches')}, old values of "
        draw(trace, self._times, f"{title}{as_text(self.peak_nbytes)} at the most", path)

    def host_read(self, field: Field, where: Where) -> HostRead | None:
        """Return the record of a read from Python, or None where a constant is read."""
        if self._diagnosis is not None:
            self._diagnosis.host_read(field)
        if self._shared:
            self.look_at((field,))
        return self.reads.read(field, where, self._cuts.held)

    def host_write(self, field: Field, where: Where, values: HostArray) -> bool:
        """Record a write from Python that is about to happen."""
        _check_twin(field)
        stays = super().host_write(field, where, values)
        if where is None:
            self._cuts.overwritten(field.storage)
        self.reads.set_constant(field, where)
        if field.has_grads:
            self._written[field.storage] = field
        return stays

    def record(self, step: TapeStep) -> object:
        """Record a step in the history, observed by the diagnosis and timed."""
        if not self._is_observed:
            return self._history.record(step)
        after = None if self._observer is None else self._observer.before(step)
        started = time.perf_counter()
        result = self._history.record(step)
        if self._times is not None:
            self._times.forward[id(step)] = 1e3 * (time.perf_counter() - started)
        if after is not None:
            after()
        return result

    def launch(self, launch: PreparedLaunch, values: Arguments) -> None:
        """Run a kernel and record it, stage by stage."""
        plans = launch.plans(constant=RECORDING.get().constant)
        if plans.ownership:
            plans.check(values)
        new = launch.met is not self._mark or self._epoch != GRADIENTS.epoch
        if new:
            self._meet_all(launch, values)
        if self._shared:
            self.look_at(launch.fields())
        for plan in plans.stages:
            if plan.cuts or self._cuts.held:
                self._cuts.launched(plan, values)
        self._launches += 1
        try:
            step = Launch(launch, values, plans.stages)
            if self._is_observed:
                self.record(step)
            else:  # without a detour, as launches may take microseconds
                self._history.record(step)
        except OutOfMemory as error:
            raise self._out_of_memory(f"'{launch.code.name}'", error) from error
        if launch.session.debug and failed():
            self._failed = launch.code.name
        if new:
            self._written.update(plans.written)
            launch.met = self._mark
        if self._shared:
            self._shared.used(plans.written.values())
        if self.reads.constant:
            self.reads.written(plans.written)
        if self.loss is not None and self.loss.base.storage in plans.written:
            self._last_writer = f"kernel '{launch.code.name}'"

    def _out_of_memory(self, kernel: str, error: OutOfMemory) -> OutOfMemory:
        return OutOfMemory(
            f"No memory is left at launch {self._launches} on the tape, of kernel {kernel}: "
            f"{error} Give the tape a limit, such as Tape(memory='1GB'); it holds "
            f"{as_text(self.nbytes)} of old values."
        )

    def may_wait(self, launch: PreparedLaunch) -> bool:
        """Tell whether a launch can be recorded later without a difference.

        Raises:
            TapeError: It writes a field whose gradient belongs to another one.
        """
        if self._is_observed:
            return False
        plans = launch.plans(constant=RECORDING.get().constant)
        if plans.ownership:
            return False
        if launch.met is not self._mark or self._epoch != GRADIENTS.epoch:
            for field in plans.written.values():
                _check_twin(field)
            if any(plan.cuts for plan in plans.stages):
                return False  # it notes which fields hold what has lost its gradient
        return all(self._cuts.may_wait(plan, launch.values) for plan in plans.stages)

    def run(self, run: Run) -> str | None:
        """Run and record launches as one program; return the reason if that is not possible."""
        if self._is_observed:
            return "the tape looks at each launch"
        constant = RECORDING.get().constant
        planned = [launch.plans(constant=constant) for launch in run.launches]
        step = fused_step(run, [plans.stages for plans in planned])
        if isinstance(step, str):
            self._unfused[names_of(run)] = step
            return step
        step.check()
        for launch, values, plans in zip(run.launches, run.values, planned, strict=True):
            if launch.met is not self._mark or self._epoch != GRADIENTS.epoch:
                self._meet_all(launch, values)
            for plan in plans.stages:
                if plan.cuts or self._cuts.held:
                    self._cuts.launched(plan, values)
        self._launches += run.count * len(run.launches)
        try:
            self._history.record(step)
        except OutOfMemory as error:
            raise self._out_of_memory(step.title, error) from error
        fused = step.title, step.fused.kernels.recorded.form
        self._fused[fused] = self._fused.get(fused, 0) + step.count
        for launch, plans in zip(run.launches, planned, strict=True):
            self._written.update(plans.written)
            launch.met = self._mark
            if self.reads.constant:
                self.reads.written(plans.written)
            if self.loss is not None and self.loss.base.storage in plans.written:
                self._last_writer = f"kernel '{launch.code.name}'"
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

    def takes_constant(self, number: Constant, reads: Reads) -> None:
        """Warn that a number which varies is taken for a constant."""
        if varying := self.reads.varying(reads):
            number.warn(varying)
        for read in reads:
            if read in self.reads.ungraded:
                self._cuts.used(self.reads.ungraded[read], read.source)

    def host_copy(self, target: ArrayLike, source: ArrayLike) -> None:
        """Record a copy from Python that is about to happen."""
        if RECORDING.get().constant:
            super().host_copy(target, source)
            return
        _check_twin(target.base)
        self.copied(target, source)
        if target.has_grads:
            self._written[target.base.storage] = target.base
            if source.has_grads or source.base.storage in self._cuts.held:
                self.reads.written((target.base.storage,))
            else:
                self.reads.set_constant(target.base, target.window)
        self._cuts.copied(target, source)

    def changed(self, field: Field) -> None:
        """Record a write by others as constants, where no gradient passes.

        Raises:
            TapeError: A gradient may pass.
        """
        twin = field.storage.graded_field
        if field.has_grads or (twin is not None and twin.has_grads):
            super().changed(field)
        StepRecorder.host_write(self, field, None, field.buffer.read())

    def _meet_all(self, launch: PreparedLaunch, values: Arguments) -> None:
        """Check the fields of a launch that is new to the tape, and clear their gradients."""
        if self._epoch != GRADIENTS.epoch:  # fields were given other gradients: meet all again
            self._epoch, self._mark = GRADIENTS.epoch, object()
        for k in launch.code.writes:
            _check_twin(field_at(values, k))
        for field in launch.fields():
            self.meet(field)
        if self._shared:
            self._shared.writes(field_at(values, k) for k in launch.code.writes)

    def meet(self, field: Field) -> None:
        """Set the gradients of a field to zero when the tape meets the field."""
        storage = field.storage
        if storage.memory.is_shared:
            self.shared_fields().meet(field)
        if self._met_at != GRADIENTS.epoch:
            self._met_at, self._met = GRADIENTS.epoch, set()
        elif field in self._met:
            return
        self._met.add(field)
        self._touched.add(storage)
        origin = field.origin
        twin = storage.graded_field
        # A launch may read or write the gradient of a field that has not been met yet.
        owner = None if storage.gradient_of is None else storage.gradient_of()
        for one in (origin, owner) if twin is origin else (origin, twin, owner):
            if one is not None and one not in self._cleared and one.has_grads:
                self._cleared.add(one)
                if not self.accumulate:
                    self._clear(one)

    def _clear(self, field: Field) -> None:
        """Set the gradients of a field to zero, unless another thread's pass adds to them now."""
        gradients = {one.storage for one in (field.grad_in, field.grad_out) if one is not None}
        with LOCK:
            if gradients.isdisjoint(TAPES.works_on()):
                clear_grads(field)

    def misses(self, storage: Storage) -> bool:
        """Tell whether a write from another thread into this memory would falsify the record."""
        return storage in self._touched

    def opaque(self, step: OpaqueStep) -> Any:
        """Run and record an opaque step, and return its result.

        Raises:
            LaunchError: The step writes a field that is declared as only read.
        """
        run_pending()
        for use in step.uses:
            self.meet(use.field)
        opaque = Opaque(step, step.uses, constant=RECORDING.get().constant)
        self._opaque[step.title] = self._opaque.get(step.title, 0) + 1
        self._approximate |= {step.title} if step.approximate else set()
        self.look_at(opaque.fields)
        saved = self.record(opaque)
        if self._shared:
            self._shared.used(opaque.writes)
        for field in opaque.writes:
            _check_twin(field)
            if field.has_grads:
                self._written[field.storage] = field
                self.reads.written((field.storage,))
                if self.loss is not None and field.storage is self.loss.base.storage:
                    self._last_writer = step.title
        self._cuts.ran(opaque)
        return saved

    @contextmanager
    def region(self) -> Generator[None]:
        """Keep only the contents on entry for the launches in the block; see `dt.checkpoint`."""
        run_pending()
        history = self._history
        if not isinstance(history, FullHistory) or not history.begin_region():
            yield  # a limited tape chooses by itself
            return
        try:
            yield
            run_pending()
        finally:
            history.end_region()

    def _check_number(self, loss: ArrayLike) -> None:
        value = float(loss.to_numpy().item())
        if math.isfinite(value):
            return
        found = None if self._diagnosis is None else values_not_finite(self._diagnosis)
        self.release()
        raise LossNotFinite(
            f"The loss is {value}, so no gradient was computed"
            + (f"; {self._last_writer} wrote it." if self._last_writer else ".")
            + ("" if found is None else f"\n\n{found.text}")
        )

    # Replay

    @boundary
    def backward(
        self,
        seeds: ArrayLike | Mapping[ArrayLike, Seed] | None = None,
        *,
        retain: Field | Sequence[Field] = (),
        keep: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Replay the launches in reverse and leave gradients in the fields.

        Args:
            seeds: A field of one element, whose adjoint is 1; or for each output its adjoint: a
                field, an array of its shape, or a number for all elements. The tape's loss by
                default.
            retain: Fields that keep the gradient with respect to the values last written to them,
                instead of their contents before the tape.
            keep: Keep the old values, so that `backward` can be called again with other seeds;
                that call adds to the gradients.
            progress: Called with the number of launches done and the number of all.

        Raises:
            TapeError: The tape is empty, open or already used, no launch wrote an output, or a
                launch of the replay failed.
        """
        run_pending()
        if self._open:
            raise TapeError("The tape is open; call backward() after its 'with' block.")
        if not self._entered:
            raise TapeError("The tape recorded nothing: put the launches into 'with tape:'.")
        if self._failed:
            raise TapeError(
                f"A launch of kernel '{self._failed}' failed on this tape, so the fields do not "
                "hold what it recorded; record the launches again."
            )
        if self._done:
            raise TapeError(
                "backward() has run on this tape; record the launches again, "
                "or call the first one with keep=True."
            )
        seeds = self.loss if seeds is None else seeds
        loss = seeds if isinstance(seeds, ArrayLike) else None
        try:
            seeds = checked_seeds(seeds, self._written)
        except TapeError as error:
            if self._diagnosis is None:
                raise
            raise TapeError("\n\n".join((str(error), *self._why_nothing(seeds)))) from None
        if loss is not None:
            self._check_dependence(loss)
        retain = (retain,) if isinstance(retain, ArrayLike) else tuple(retain)
        for field in retain:
            if not isinstance(field, Field):
                raise TapeError(f"retain takes whole fields, not {brief(field)}.")
        if self._times is not None:
            self._trace = Trace(self._history.steps())
        meet_backward(step for step, _ in self._history.steps())
        finished = False
        with TAPES.turn.whole():
            outer = TAPES.pass_of
            base = self._pool.peak = self._pool.kept
            try:
                self._replay(seeds, retain, keep=keep, progress=progress or self.progress)
                finished = True
            finally:
                TAPES.pass_of = outer
                TAPES.replays += 1  # for tapes that other threads have opened meanwhile
                self._peak = max(self._peak, self._pool.peak - base + self.nbytes)
                if self._history.recomputed:
                    steps = max(1, len(self._history))
                    self._forward_runs = 1.0 + self._history.recomputed / steps
                if not (keep and finished):
                    self.release()
        if self._report is not None and self._report.findings:
            text = "\n\n".join(finding.text for finding in self._report.findings)
            warn_user(GradientWarning(text))

    @boundary
    def gradient(self, field: Field | View, *others: object) -> Field:
        """Return the derivative of the tape's loss with respect to a field, as a field of its own.

        Unlike `x.grad`, which keeps the gradient of an earlier tape if this one has not met `x`,
        it is zero there. Several backward passes of the tape add up, from the time on when the
        gradient was last zero.

        Args:
            field: A field, or a part of one, with the gradient that it had in the backward pass.
            others: Refused: other libraries are given the loss as well.

        Raises:
            TapeError: The backward pass has not run, it added to an earlier gradient, or the
                gradient of the field has been changed since.
            FieldError: The field has no gradient.
        """
        if others:
            raise TapeError(
                "tape.gradient(x) takes one field; the loss is the one that tape.backward(loss) "
                "was given."
            )
        check_is_field(field, "tape.gradient() takes")
        run_pending()
        computed = self._computed or ComputedGradients()
        return computed.of(field, is_met=field.base.storage in self._touched)

    def _check_dependence(self, loss: ArrayLike) -> None:
        """Warn of a constant loss, unless the diagnosis will say so."""
        constant = not any(
            step.passes_to({loss.base.storage}) for step, _ in reversed(list(self._history.steps()))
        )
        if self._diagnosis is not None:
            self._diagnosis.constant = loss.base if constant else None
        elif constant and not self._cuts.told and (self.reduce is None or self._launches):
            title = (
                f"All gradients are zero: the loss {loss!r} depends smoothly on no field with a "
                "gradient."
            )
            hint = "dt.Tape(loss, diagnose=True) looks for the reason."
            warn_user(GradientCut(render(title, (), (), hint)))

    def _why_nothing(self, seeds: object) -> list[str]:
        """Return why the recording has no derivative, and release old values."""
        fields: Any = (seeds,) if isinstance(seeds, ArrayLike) else seeds
        outputs = [f.base.storage for f in fields or () if isinstance(f, ArrayLike)]
        assert self._diagnosis is not None
        self._report = report_of(self._diagnosis, Replay((), self.accumulate), outputs)
        self.release()
        return [finding.text for finding in self._report.findings]

    @boundary
    def report(self) -> Report:
        """Return the findings of `backward`; `str(report)` lists all of them.

        Raises:
            TapeError: The tape was made without `diagnose`, or `backward` has not run.
        """
        if self._diagnosis is None:
            raise TapeError("This tape has no diagnosis to report; make it with diagnose=True.")
        if self._report is None:
            raise TapeError("report() has the findings of backward(); call backward() first.")
        return self._report

    def _replay(
        self,
        seeds: Mapping[ArrayLike, Seed],
        retain: Sequence[Field],
        *,
        keep: bool,
        progress: Progress | None,
    ) -> None:
        # Where another pass has left gradients since this tape was opened, this one adds to them.
        accumulate = self.accumulate or TAPES.replays != self._replays
        TAPES.replays += 1
        replay = Replay(self._written, accumulate, room=self._history.room)
        with LOCK:  # from here on tapes of other threads do not clear what the pass adds to
            for field in self._cleared:
                grads = (field.grad_in, field.grad_out)
                replay.changed.update(one.storage for one in grads if one is not None)
            TAPES.pass_of = TAPES.pass_of or (threading.get_ident(), replay.changed)
        assert self._computed is not None
        summed = () if self.reduce is None else self.reduce.fields
        self._computed.begin(self._cleared, summed, accumulate=accumulate)
        for field, seed in seeds.items():
            add_seed(replay.gradient(field.base), field, seed)
        for field in self._written.values():
            if field.grad_in is not field.grad_out:  # incoming gradients pass elements not stored
                replay.gradient(field)
        if self._diagnosis is not None:
            self._diagnosis.gradients.check_seeds(seeds, replay)
        kept = {field.storage: field for field in retain}
        snapshots: dict[Field, Field] = {}
        reduction = None
        if self.reduce is not None:
            steps = (step for step, _ in self._history.steps())
            late = frozenset(kept)
            reduction = self.reduce.begin(steps, replay, accumulate=accumulate, late=late)
        # Whoever measures launches, or looks at them, has them run one by one.
        watched = not (self._times is self._observer is progress is None)
        total, done = 0 if progress is None else len(self), 0
        records = self._history.backwards(keep=keep)
        try:
            with batch_of(None if watched else current_session().batches):
                for record in _split(records, kept) if kept else records:
                    if kept:
                        for field in record.step.writes:
                            wanted = kept.pop(field.storage, None)
                            if wanted is not None:
                                snapshots[wanted] = copied(replay.gradient(wanted))
                    if reduction is not None:
                        reduction.reached(record.step)
                    self._reverse(replay, record, done)
                    done += record.launches
                    if progress is not None:
                        progress(done, max(total, done))
        finally:
            records.close()
        if self._diagnosis is not None:
            outputs = [field.base.storage for field in seeds]
            self._report = report_of(self._diagnosis, replay, outputs)
        for field, snapshot in snapshots.items():
            replay.gradient(field).buffer.copy_from(snapshot.buffer)
        replay.finish()
        if reduction is not None:
            reduction.finish()
        retained = {field.storage for field in snapshots}
        for storage, field in self._written.items():
            if field.grad_out is not None:
                field.grad_out.storage.of_overwritten = storage not in retained
        self._computed.end()

    def _reverse(self, replay: Replay, record: StepRecord, done: int) -> None:
        """Run the adjoint of one record, after so many launches.

        Raises:
            TapeError: The adjoint failed; the error names the launch.
        """
        started = time.perf_counter()
        try:
            if self._observer is None:
                replay.reverse(record)
            else:
                self._observer.reverse(replay, record)
        except (RecursionError, MemoryError):
            raise
        except Exception as error:
            number = len(self) - done
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

    def release(self) -> None:
        """Release all old values; the tape cannot be replayed any more."""
        if self._entered and not self._done:
            TAPES.holders.discard(self._token)
        self._done = True
        self._history.release()
        if self._diagnosis is not None:
            self._diagnosis.steps.clear()

    def __del__(self, ends: Callable[[], bool] = sys.is_finalizing) -> None:
        # Names of modules are gone while the interpreter ends; arguments may have been wrong.
        if not ends() and getattr(self, "_entered", False) and not self._done:
            self.release()


def _split(records: Iterable[StepRecord], kept: Container[Storage]) -> Iterator[StepRecord]:
    """Yield records; runs that write a field whose gradient is kept launch by launch."""
    for record in records:
        if isinstance(record, RunRecord) and any(f.storage in kept for f in record.step.writes):
            yield from record.expanded()
        else:
            yield record


def _history(memory: str | int | None, snapshots: int | None) -> History:
    """Return the way of keeping old values that a tape's arguments ask for.

    Raises:
        TapeError: A limit is invalid, or both are given.
    """
    if memory is None and snapshots is None:
        return FullHistory(lambda: len(TAPES.holders) == 1)
    if memory is not None and snapshots is not None:
        raise TapeError("Give a tape 'memory' or 'snapshots', not both.")
    if memory is not None:
        limit = parse_memory(memory)
        return LimitedHistory(lambda _: limit)
    count = as_integer(snapshots)
    if count is None or count < 3:
        raise TapeError(f"'snapshots' is a number from 3 on, not {brief(snapshots)}.")
    return LimitedHistory(lambda state: count * state)


def _diagnosis(diagnose: bool | Field | Sequence[Field]) -> Diagnosis | None:
    """Return the diagnosis of the tape, if requested.

    Raises:
        TapeError: An object to be diagnosed is not a field, or has no gradient.
    """
    if isinstance(diagnose, bool):
        return Diagnosis(()) if diagnose else None
    diagnose = (diagnose,) if isinstance(diagnose, ArrayLike) else tuple(diagnose)
    for field in diagnose:
        if not isinstance(field, Field):
            raise TapeError(f"diagnose is True, or takes whole fields, not {brief(field)}.")
        if not field.has_grads:
            raise TapeError(f"{field!r} has no gradient to diagnose; make it with grad=True.")
    return Diagnosis(diagnose)


def _check_twin(field: Field) -> None:
    """Check that a field to be written is the one whose gradient belongs to its memory.

    Raises:
        TapeError: Another field with the same memory has the gradient, which would miss the write.
    """
    twin = field.storage.graded_field
    if twin is not None and twin is not field.origin and twin.has_grads:
        raise TapeError(
            f"{field!r} shares its memory with {twin!r}, which has a gradient. A write through "
            "the first would be missed by it: write through the field with the gradient."
        )
