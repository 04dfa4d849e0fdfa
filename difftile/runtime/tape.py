"""The tape: it records launches and replays them in reverse.

A record keeps references to the buffers that the adjoint of its launch reads; such a buffer is
pinned, and a later launch that would write into it goes on in another one. Old values are
therefore copied only where they are needed, and not even then where a launch overwrites a field
whole. Fields hold their final values all along.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextvars import Token
from types import TracebackType
from typing import Any, cast

from difftile.diagnostics import GradientCut, Label, TapeError, render
from difftile.fields.field import Field, Storage, zero_grads
from difftile.fields.recording import OPEN_TAPE, Recorder
from difftile.ir.types import shape_of
from difftile.runtime.call import Call
from difftile.runtime.plan import StagePlan, make_plans
from difftile.runtime.records import HostCopy, HostWrite, LaunchRecord, Record, written_by
from difftile.runtime.replay import Replay, add_seed, copied
from difftile.substrate.memory import POOL


class Tape(Recorder):
    """Records the launches of its `with` block and computes gradients.

    Leaving `with dt.Tape(loss):` computes the gradient of `loss` with respect to every field that
    has gradients. `with dt.Tape() as tape:` leaves that to `tape.backward(...)`.

    Args:
        loss: A field of one element.
        accumulate: Add to the gradients that fields have; by default they are set to zero first.

    Raises:
        TapeError: The loss has no gradient, or more than one element.
    """

    def __init__(self, loss: Field | None = None, *, accumulate: bool = False) -> None:
        if loss is not None:
            _check_loss(loss)
        self.loss = loss
        self.accumulate = accumulate
        self._records: list[Record] = []
        self._token: Token[Recorder | None] | None = None
        self._entered = False
        self._done = False
        self._written: set[Storage] = set()
        self._cut: dict[Storage, tuple[str, Any]] = {}

    # Recording

    def __enter__(self) -> Tape:
        if OPEN_TAPE.get() is not None:
            raise TapeError("A tape is open already; tapes are not nested. Leave the first block.")
        if self._entered:
            raise TapeError("This tape has been used; make a new one for each recording.")
        self._entered = True
        if not self.accumulate:
            zero_grads()
        self._token = OPEN_TAPE.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            OPEN_TAPE.reset(self._token)
            self._token = None
        if kind is not None:
            self.release()
        elif self.loss is not None:
            self.backward(self.loss)

    def __repr__(self) -> str:
        state = "open" if self._token is not None else "done" if self._done else "recorded"
        return f"<tape {state}, {len(self._records)} records, {self.nbytes} bytes kept>"

    def __len__(self) -> int:
        return len(self._records)

    @property
    def nbytes(self) -> int:
        """Bytes of old values that the records keep beside the fields' own memory."""
        buffers = {
            id(b): b
            for record in self._records
            if isinstance(record, LaunchRecord)
            for b in record.kept
            if not b.owners
        }
        return sum(b.nbytes for b in buffers.values())

    @property
    def written(self) -> list[Field]:
        """The fields that recorded launches and writes from Python have changed."""
        fields = [field for record in self._records for field in written_by(record)]
        return list({field.storage: field for field in fields}.values())

    def host_write(self, field: Field, index: tuple[int, ...] | None) -> None:
        """Record a write from Python."""
        _check_twin(field)
        if field.has_grads:
            self._records.append(HostWrite(field, index))
            self._written.add(field.storage)

    def host_copy(self, target: Field, source: Field) -> None:
        """Record a copy from Python."""
        _check_twin(target)
        if target.has_grads:
            self._records.append(HostCopy(target, source))
            self._written.add(target.storage)

    def launch(self, call: Call, values: list[Any]) -> None:
        """Run a kernel and record it, stage by stage."""
        for plan in call.plans(make_plans):
            if self._cut or plan.cuts:
                self._report_cuts(plan, values)
            self._run(plan, call, values)

    def _run(self, plan: StagePlan, call: Call, values: list[Any]) -> None:
        for k in plan.writes:
            if values[k].storage.graded is not None:
                _check_twin(values[k])
        kept = [values[k].storage.buffer for k in plan.reads]
        for buffer in kept:
            buffer.pins += 1
        try:
            plan.launch(values)
        except BaseException:
            for buffer in kept:
                POOL.unpin(buffer)
            raise
        if plan.adjoint is not None:
            for k in plan.reads_after:
                buffer = values[k].storage.buffer
                buffer.pins += 1
                kept.append(buffer)
            self._records.append(LaunchRecord(plan, call, values, kept))
            for k in plan.writes:
                self._written.add(values[k].storage)

    def _report_cuts(self, plan: StagePlan, values: list[Any]) -> None:
        """Warn when a value that depends on a wanted field went through one without gradient."""
        early, late = plan.ungraded
        self._warn_of_cuts(early, values)
        for k, name_and_span in plan.cuts.items():
            self._cut[values[k].storage] = name_and_span
        self._warn_of_cuts(late, values)

    def _warn_of_cuts(self, positions: tuple[int, ...], values: list[Any]) -> None:
        for k in positions:
            found = self._cut.pop(values[k].storage, None)
            if found is not None:
                name, span = found
                labels = [] if span is None else [Label(span, "written here, without a gradient")]
                title = f"The gradient is cut: field '{name}' has none and is read again."
                hint = f"make it with grad=True, or {name} = {name}.with_grads()."
                warnings.warn(GradientCut(render(title, labels, (), hint)), stacklevel=5)

    # Replay

    def backward(
        self,
        seeds: Field | Mapping[Field, Any] | None = None,
        *,
        retain: Field | Sequence[Field] = (),
    ) -> None:
        """Replay the launches in reverse and leave gradients in the fields.

        Args:
            seeds: A field of one element, whose adjoint is 1; or for each output its adjoint: a
                field, an array of its shape, or a number for all elements. The tape's loss by
                default.
            retain: Fields that keep the gradient with respect to what was last written into them,
                instead of what they held before the tape.

        Raises:
            TapeError: Nothing was recorded, the tape is open or was used, or no launch wrote an
                output.
        """
        if self._token is not None:
            raise TapeError("The tape is open; call backward() after its 'with' block.")
        if not self._entered:
            raise TapeError("The tape recorded nothing: put the launches into 'with tape:'.")
        if self._done:
            raise TapeError("backward() has run on this tape; record the launches again.")
        seeds = self.loss if seeds is None else seeds
        if seeds is None:
            raise TapeError("backward() needs an output: backward(loss), or backward({y: seed}).")
        if isinstance(seeds, Field):
            _check_loss(seeds)
            seeds = {seeds: 1.0}
        if not _is_seeds(seeds):
            raise TapeError(
                f"backward() takes a field of one element, or {{field: seed}}, not {seeds!r}."
            )
        retain = (retain,) if isinstance(retain, Field) else tuple(retain)
        for field in seeds:
            if field.storage not in self._written:
                raise TapeError(
                    f"No launch on this tape wrote {field!r}, so nothing can be differentiated."
                )
            if not field.has_grads:
                raise TapeError(f"{field!r} has no gradient; make it with grad=True.")
        try:
            self._replay(seeds, retain)
        finally:
            self.release()

    def _replay(self, seeds: Mapping[Field, Any], retain: Sequence[Field]) -> None:
        replay = Replay(self._written, self.accumulate)
        for field, seed in seeds.items():
            add_seed(replay.gradient(field), field, seed)
        kept = {field.storage: field for field in retain}
        snapshots: dict[Field, Field] = {}
        for record in reversed(self._records):
            if kept:
                for field in written_by(record):
                    wanted = kept.pop(field.storage, None)
                    if wanted is not None:
                        snapshots[wanted] = copied(replay.gradient(wanted))
            replay.reverse(record)
        replay.finish()
        for field, snapshot in snapshots.items():
            field.grad.buffer.copy_from(snapshot.buffer)

    def release(self) -> None:
        """Let go of all old values; the tape cannot be replayed any more."""
        for record in self._records:
            if isinstance(record, LaunchRecord):
                for buffer in record.kept:
                    POOL.unpin(buffer)
                record.kept = []
        self._records = []
        self._done = True


def _is_seeds(seeds: object) -> bool:
    return isinstance(seeds, Mapping) and all(
        isinstance(field, Field) for field in cast("Mapping[object, object]", seeds)
    )


def _check_twin(field: Field) -> None:
    """Check that a field to be written is the one whose gradient belongs to its memory.

    Raises:
        TapeError: Another field with the same memory has the gradient, which would not hear of it.
    """
    twin = None if field.storage.graded is None else field.storage.graded()
    if twin is not None and twin is not field and twin.has_grads:
        raise TapeError(
            f"{field!r} shares its memory with {twin!r}, which has a gradient. A write through "
            "the first would be missed by it: write through the field with the gradient."
        )


def _check_loss(loss: Field) -> None:
    if not isinstance(loss, Field):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TapeError(f"A loss is a field of one element, not {loss!r}.")
    if loss.size != 1 or shape_of(loss.element):
        raise TapeError(
            f"A loss is one number, and {loss!r} is more; use backward({{field: seeds}})."
        )
    if not loss.has_grads:
        raise TapeError(f"The loss {loss!r} has no gradient; make it with grad=True.")
