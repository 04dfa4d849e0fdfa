"""The tape: it records launches and replays them in reverse.

A record keeps references to the buffers that the adjoint of its launch reads; such a buffer is
pinned, and a later launch that would write to it gets another one. Old values are
therefore copied only where they are needed, and not even then where a launch overwrites a field
whole. Fields hold their final values all along.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from difftile.diagnosis.picture import draw
from difftile.diagnosis.report import Report
from difftile.diagnosis.trace import Times, Trace
from difftile.diagnostics import GradientWarning, TapeError, brief, counted
from difftile.fields.array_like import ArrayLike
from difftile.fields.elements import check_is_field
from difftile.fields.field import Field
from difftile.fields.pending import run_pending
from difftile.fields.recording import RECORDING, Recording
from difftile.fields.view import View
from difftile.habits import taught
from difftile.markup import html_block, html_lines, prompt_text
from difftile.recording.budget import as_text
from difftile.recording.computed_gradients import ComputedGradients
from difftile.recording.meeting import meet_backward
from difftile.recording.reduction import Reduction
from difftile.recording.seeds import Seed, check_loss, checked_seeds
from difftile.recording.tapes import TAPES
from difftile.runtime.backward_pass import BackwardPass, Progress
from difftile.runtime.peak_bytes import PeakBytes
from difftile.runtime.tape_checks import check_dependence, loss_not_finite, text_of, why_nothing
from difftile.runtime.tape_options import diagnosis_for, history_for, retained_fields
from difftile.runtime.tape_recorder import TapeRecorder, outer_recording
from difftile.runtime.tape_summary import summary
from difftile.tracebacks import boundary, shorten
from difftile.user_line import warn_user


@taught("tape", "A tape")
class Tape:
    """Records the launches of its `with` block and computes gradients.

    Leaving `with dt.Tape(loss):` computes the gradient of `loss` with respect to every field that
    has gradients. `with dt.Tape() as tape:` leaves that to `tape.backward(...)`.

    Without a limit the tape keeps every old value that an adjoint reads. With a limit it keeps
    the snapshots that fit, and in reverse runs launches again from there: the gradient is the
    same, and the time grows slowly as the memory shrinks.

    Args:
        loss: A field of one element.
        accumulate: Add to the gradients that fields have. By default the tape clears the gradients
            of the fields that it uses; others keep an earlier tape's. See `gradient`.
        memory: The most that the tape may hold in addition to the fields' own memory: bytes, or a
            text such as "256MB".
        snapshots: The same in copies of the state, that is of all fields that launches change.
        progress: Called in reverse with the number of launches done and the number of all.
        reduce: Combines gradients with the gradients of other ranks while the tape computes them:
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
        if reduce is not None and not hasattr(reduce, "begin"):
            raise TapeError(f"reduce takes dt.distributed.Gradients(fields), not {brief(reduce)}.")
        # The arguments.
        self.loss = loss
        self.accumulate = accumulate
        self.progress = progress
        self.reduce = reduce
        self._diagnosis = diagnosis_for(diagnose)  # None unless the tape diagnoses
        self._times = Times() if measure else None  # of each launch, for `visualize`
        # The recorder gets the events of the block, and owns the history and its buffers.
        self._recorder = TapeRecorder(
            history_for(memory, snapshots),
            None if loss is None else loss.base.storage,
            accumulate=accumulate,
            diagnosis=self._diagnosis,
            times=self._times,
        )
        self._recording = Recording()  # of the thread, while the block runs
        self._token = object()  # in TAPES.holders while the tape has records
        self._peak = PeakBytes()  # of the pool, for `summary`
        # Whether the block has begun, whether it runs now, and whether the records are released.
        self._entered = self._open = self._done = False
        # For backward passes, and from them.
        self._replays = 0  # backward passes of all tapes when the block began
        self._computed: ComputedGradients | None = None  # which gradients are this tape's
        self._forward_runs = 1.0  # how often each launch has run, on average
        self._report: Report | None = None
        self._trace: Trace | None = None  # of the records that the pass releases, for `visualize`

    # Recording

    def __reduce__(self) -> Any:
        raise TapeError(
            "A tape is a record of launches in this process, and is neither pickled nor copied. "
            "Pickle the fields, and run the 'with dt.Tape()' block again where they are loaded."
        )

    # Ctrl+C between the end of `__enter__` and the end of a boundary around it would leave the tape
    # open, and so would one before `__exit__` begins: these two shorten their errors themselves.
    def __enter__(self) -> Tape:
        try:
            before = outer_recording(is_used=self._entered)
        except Exception as error:
            shorten(error)
            raise
        self._recording = Recording(
            self._recorder, constant=before.constant, observer=before.observer
        )
        try:
            self._entered = True
            self._computed = ComputedGradients()
            TAPES.holders.add(self._token)
            self._recorder.opened_by = self
            self._open = True
            self._peak.begin()
            self._replays = TAPES.replays
            self._recording.__enter__()
        except BaseException as error:  # Ctrl+C, too: `__exit__` will not be called
            if RECORDING.get() is self._recording:
                self._recording.__exit__()
            if self._open:
                self._open, self._recorder.opened_by = False, None
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
                    here = RECORDING.get().recorder is self._recorder
                finally:  # even after Ctrl+C
                    self._recording.__exit__()
                    self._recording, self._recorder.opened_by = Recording(), None
                    self._open = False
                if not here:
                    self.release()
                    raise TapeError("A tape is left in the thread or task in which it was opened.")
                observer = RECORDING.get().observer
                if observer is not None and kind is None:
                    for step, _ in self._recorder.history.steps():
                        step.observe(observer)
            self._peak.note()
            for field in self._recorder.end(look=kind is None):
                self.release()
                self._recorder.changed(field)
            if kind is not None:
                self.release()
            elif self.loss is not None:
                wrong = loss_not_finite(self.loss, self._recorder)
                if wrong is not None:
                    self.release()
                    raise wrong
                self.backward(self.loss)
        except Exception as raised:
            shorten(raised)
            raise

    def __repr__(self) -> str:
        return f"<tape {self._phase}: {', '.join(self.summary().splitlines()[:2])}>"

    def _repr_html_(self) -> str:
        return html_block(f"tape, {self._phase}", html_lines(self.summary().splitlines()))

    @property
    def _phase(self) -> str:
        return "open" if self._open else "done" if self._done else "recorded"

    def __len__(self) -> int:
        run_pending()
        return len(self._recorder.history)

    @property
    def nbytes(self) -> int:
        """Bytes of old values that are kept in addition to the fields' own memory."""
        run_pending()
        return self._recorder.history.nbytes

    @property
    def peak_nbytes(self) -> int:
        """The most bytes of old values that were kept at any time."""
        run_pending()
        return max(self._peak.most, self._peak.now if self._open else 0)

    @property
    def recomputed(self) -> int:
        """The number of launches and writes that `backward` has run again."""
        return self._recorder.history.recomputed

    @property
    def written(self) -> list[Field]:
        """The fields that recorded launches and writes from Python have changed."""
        run_pending()
        return list(self._recorder.written.values())

    @prompt_text
    def summary(self) -> str:
        """Return a few lines on the recording, its memory and the launches that ran again.

        Before `backward` these are the records and the old values at present; after it the first
        line has the cost of the gradient: "4,002 launches, 64 kB of old values held at most, 1.4
        runs of the forward", where launches that ran again count as parts of a run.
        """
        run_pending()
        runs = self._forward_runs if self._done else None
        return summary(self._recorder.counts, self._recorder.history, self.peak_nbytes, runs)

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
        trace = self._trace or Trace(self._recorder.history.steps())
        title = f"{counted(self._recorder.counts.launches, 'launch', 'launches')}, old values of "
        draw(trace, self._times, f"{title}{as_text(self.peak_nbytes)} at the most", path)

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
        self._recorder.check_holds()
        if self._done:
            raise TapeError(
                "backward() has run on this tape; record the launches again, "
                "or call the first one with keep=True."
            )
        checked = self._checked(self.loss if seeds is None else seeds)
        kept = retained_fields(retain)
        if self._times is not None:
            self._trace = Trace(self._recorder.history.steps())
        meet_backward(step for step, _ in self._recorder.history.steps())
        finished = False
        with TAPES.turn.whole():
            outer = TAPES.pass_of
            self._peak.begin()
            try:
                # Where another pass has left gradients since the tape was opened, this one adds.
                accumulate = self.accumulate or TAPES.replays != self._replays
                TAPES.replays += 1
                progress = progress or self.progress
                assert self._computed is not None
                running = BackwardPass(self._recorder, accumulate, self.reduce, progress)
                self._report = running.run(self._computed, checked, kept, keep=keep)
                finished = True
            finally:
                TAPES.pass_of = outer
                TAPES.replays += 1  # for tapes that other threads have opened meanwhile
                self._peak.note(self.nbytes)
                if self._recorder.history.recomputed:
                    steps = max(1, len(self._recorder.history))
                    self._forward_runs = 1.0 + self._recorder.history.recomputed / steps
                if not (keep and finished):
                    self.release()
        if self._report is not None and self._report.findings:
            warn_user(GradientWarning(text_of(self._report)))

    def _checked(
        self, seeds: ArrayLike | Mapping[ArrayLike, Seed] | None
    ) -> Mapping[ArrayLike, Seed]:
        """Return the adjoints that a pass begins with.

        Raises:
            TapeError: They are of the wrong kind, or no launch wrote an output.
        """
        try:
            checked = checked_seeds(seeds, self._recorder.written)
        except TapeError as error:
            if self._diagnosis is None:
                raise
            self._report = why_nothing(seeds, self._diagnosis, accumulate=self.accumulate)
            self.release()
            texts = filter(None, (str(error), text_of(self._report)))
            raise TapeError("\n\n".join(texts)) from None
        if isinstance(seeds, ArrayLike):
            check_dependence(seeds, self._recorder, is_rank=self.reduce is not None)
        return checked

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
        return computed.of(field, is_met=field.base.storage in self._recorder.met.touched)

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

    def release(self) -> None:
        """Release all old values; the tape cannot be replayed any more."""
        if self._entered and not self._done:
            TAPES.holders.discard(self._token)
        self._done = True
        self._recorder.history.release()
        if self._diagnosis is not None:
            self._diagnosis.steps.clear()

    def __del__(self, ends: Callable[[], bool] = sys.is_finalizing) -> None:
        # Names of modules are gone while the interpreter ends; arguments may have been wrong.
        if not ends() and getattr(self, "_entered", False) and not self._done:
            self.release()
