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
from dataclasses import dataclass
from types import TracebackType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError, GradientCut, Label, TapeError, render
from difftile.fields.field import Field, Storage, make, zero_grads
from difftile.fields.recording import OPEN_TAPE, Recorder
from difftile.ir.types import numpy_dtype, scalar_of, shape_of
from difftile.runtime.call import Call
from difftile.runtime.plan import Source, StagePlan, make_plans
from difftile.substrate.memory import POOL, Buffer


@dataclass(slots=True)
class LaunchRecord:
    """One launch of a stage.

    Args:
        plan: What was recorded of it, and how its adjoint is called.
        call: The launch, which later ones with the same fields share.
        values: The fields and numbers of the launch.
        kept: The pinned buffers, in the order of `plan.reads` and then `plan.reads_after`.
    """

    plan: StagePlan
    call: Call
    values: list[Any]
    kept: list[Buffer]


@dataclass(slots=True)
class HostWrite:
    """Python set one element of a field, or with None all of it, to constants."""

    field: Field
    index: tuple[int, ...] | None


@dataclass(slots=True)
class HostCopy:
    """Python copied one field into another."""

    target: Field
    source: Field


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
        self._records: list[LaunchRecord | HostWrite | HostCopy] = []
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
        fields = [field for record in self._records for field in _written_by(record)]
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
        replay = _Replay(self._written, self.accumulate)
        for field, seed in seeds.items():
            _add_seed(replay.gradient(field), field, seed)
        kept = {field.storage: field for field in retain}
        snapshots: dict[Field, Field] = {}
        for record in reversed(self._records):
            if kept:
                for field in _written_by(record):
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


def _written_by(record: LaunchRecord | HostWrite | HostCopy) -> list[Field]:
    match record:
        case LaunchRecord(plan=plan, values=values):
            return [values[k] for k in plan.writes]
        case HostWrite(field=field) | HostCopy(target=field):
            return [field]


class _Replay:
    """The gradient buffers of one backward pass.

    A field with one shared gradient works in it directly. Where `grad_in` and `grad_out` differ, or
    gradients accumulate over tapes and the field is written, the pass works in a buffer of its own,
    which starts as `grad_in` and is added to `grad_out` at the end.
    """

    def __init__(self, written: set[Storage], accumulate: bool) -> None:
        self.written = written
        self.accumulate = accumulate
        self._work: dict[Storage, tuple[Field, Field]] = {}
        self._templates: dict[tuple[int, int], list[Any]] = {}

    def gradient(self, field: Field) -> Field:
        """Return the gradient that the pass works on."""
        known = self._work.get(field.storage)
        if known is not None:
            return known[1]
        shared = field.grad_in is field.grad_out
        if shared and not (self.accumulate and field.storage in self.written):
            work = field.grad
        else:
            work = make(field.element, field.shape)
            if not shared and field.grad_in is not None:
                work.buffer.copy_from(field.grad_in.buffer)
            else:
                work.buffer.fill(0.0)
        self._work[field.storage] = (field, work)
        return work

    def reverse(self, record: LaunchRecord | HostWrite | HostCopy) -> None:
        """Run the adjoint of one record."""
        match record:
            case LaunchRecord():
                self._launch(record)
            case HostWrite(field, None):
                self.gradient(field).buffer.fill(0.0)
            case HostWrite(field, index):
                assert index is not None
                zero = np.zeros(np.shape(field.buffer.read_at(index)))
                self.gradient(field).buffer.write_at(index, zero)
            case HostCopy(target, source):
                bar = self.gradient(target)
                if source.has_grads:
                    _add(self.gradient(source), bar.buffer.read())
                bar.buffer.fill(0.0)

    def _launch(self, record: LaunchRecord) -> None:
        plan, values = record.plan, record.values
        adjoint = plan.adjoint
        assert adjoint is not None
        args = self._template(record).copy()
        for place, position in plan.numbers:
            args[place] = values[position]
        for place, kept in zip(plan.kept_places, record.kept, strict=True):
            args[place] = kept
        scratch = [POOL.take(element, ()) for element in plan.scratch]
        for place, buffer in zip(plan.scratch_places, scratch, strict=True):
            args[place] = buffer
        adjoint.code.launch(args)
        for buffer in scratch:
            POOL.give(buffer)
        for buffer in record.kept:
            POOL.unpin(buffer)
        record.kept = []

    def _template(self, record: LaunchRecord) -> list[Any]:
        """Return the arguments that all records of a plan and a call have in common."""
        key = (id(record.plan), id(record.call))
        found = self._templates.get(key)
        if found is None:
            found = list[Any]((None,)) * len(record.plan.adjoint_params)
            for place, (source, which) in enumerate(record.plan.adjoint_params):
                if source is Source.GRADIENT:
                    found[place] = self.gradient(record.values[which]).storage.buffer
                elif source is Source.SHAPE:
                    found[place] = record.values[which].storage.buffer
            self._templates[key] = found
        return found

    def finish(self) -> None:
        """Add what was worked out elsewhere to the fields' gradients."""
        for field, work in self._work.values():
            if field.grad_out is not None and work is not field.grad_out:
                _add(field.grad_out, work.buffer.read())


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


def _add(target: Field, values: npt.NDArray[Any]) -> None:
    view = target.buffer.view
    if view is not None:
        view += values
    else:
        target.buffer.write(target.buffer.read() + values)


def _add_seed(gradient: Field, field: Field, seed: Any) -> None:
    """Add a seed to the gradient of an output."""
    if isinstance(seed, Field):
        view = seed.buffer.view
        values = seed.to_numpy() if view is None else view
    else:
        values = np.asarray(seed)
        if values.dtype.kind not in "biuf":
            raise TapeError(f"The seed of {field!r} is no number and no array: {seed!r}.")
    wanted = (*gradient.shape, *shape_of(gradient.element))
    if values.ndim and values.shape != wanted:
        raise FieldError(f"The seed of {field!r} has the shape {values.shape}, not {wanted}.")
    dtype = numpy_dtype(scalar_of(gradient.element))
    _add(gradient, np.broadcast_to(values, wanted).astype(dtype, copy=False))


def copied(field: Field) -> Field:
    """Return a field with a copy of the contents."""
    twin = make(field.element, field.shape)
    twin.buffer.copy_from(field.buffer)
    return twin
