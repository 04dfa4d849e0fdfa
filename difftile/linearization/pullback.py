"""A stretch of launches at fixed contents, differentiated as often as wanted and in private.

What a function launches is remembered as steps and as the contents of the fields it found
(a snapshot, which copies nothing). Cotangents are pulled back through records of those steps, made
once for each set of fields that they are wanted for; tangents are pushed through the steps run
again. Which fields carry derivatives follows from the fields asked for and not from gradient
buffers, and those of the user are neither read nor written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy.typing as npt

from difftile.compile.adjoint_plan import make_plans
from difftile.diagnostics import TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field, Storage
from difftile.fields.recording import RECORDING, Recorder, Recording
from difftile.fields.tracked import HostRead, reads_in
from difftile.fields.window import Window
from difftile.ir.types import is_float
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.tangents import make_writable, push_tangents
from difftile.recording.host_reads import computed_by_python, warn_of_number
from difftile.recording.opaque import Opaque, OpaqueRecord, OpaqueStep, Use
from difftile.recording.records import HostCopy, HostWrite, LaunchRecord, Record, record_stage
from difftile.recording.replay import Replay
from difftile.recording.replayed_fields import tangents_after
from difftile.recording.seeds import add_seed
from difftile.recording.snapshots import Snapshot, Snapshots
from difftile.recording.steps import Launch, Run, Step, field_of, storages_of
from difftile.recording.tapes import TAPES
from difftile.recording.work_fields import copied, zeros_of
from difftile.substrate import silence


@dataclass(slots=True)
class _Linear:
    """The records of the steps for cotangents of some fields, and the memory of cotangents."""

    records: list[Record]
    replay: Replay


@dataclass(slots=True)
class Active:
    """The memory of what varies with some fields, as steps go on.

    A field without gradient whose memory another living field with one shares is detached, and
    taken for a constant unless it is asked for itself.
    """

    wanted: Collection[Field]
    storages: set[Storage] = field(init=False)

    def __post_init__(self) -> None:
        self.storages = {one.storage for one in self.wanted}

    def __contains__(self, one: Field) -> bool:
        if one.storage not in self.storages:
            return False
        twin = None if one.storage.graded is None else one.storage.graded()
        detached = twin is not None and twin.has_grads and not one.has_grads
        return not detached or one.origin in self.wanted

    def along(self, call: PreparedLaunch, values: list[Any]) -> tuple[bool, ...]:
        """Return which parameters of a launch carry derivatives: all written ones if any does."""
        fields = [v if isinstance(v, Field) and is_float(v.element) else None for v in values]
        if not any(one is not None and one in self for one in fields):
            return (False,) * len(values)
        writes = frozenset(call.code.writes)
        return tuple(
            one is not None and (k in writes or one in self) for k, one in enumerate(fields)
        )

    def follow(self, step: Step) -> None:
        """Add the memory that varies after a step."""
        match step:
            case Launch(call, values):
                grads = self.along(call, values)
                self.storages |= {values[k].storage for k in call.code.writes if grads[k]}
            case HostCopy(target, source):
                if source.base in self:
                    self.storages.add(target.base.storage)
            case Opaque(uses=uses):
                if any(use.reads and use.field in self for use in uses):
                    self.storages |= {use.field.storage for use in uses if use.writes}
            case HostWrite(field=field, where=where):
                if where is None:
                    self.storages.discard(field.storage)


class Pullback(Recorder):
    """The launches that a function makes at the contents that fields have now.

    The function runs once, on no tape; fields hold afterwards what it left in them.

    Args:
        function: Launches kernels and writes fields from Python.
        of_tape: A record of a tape holds this, which is used in reverse there and nowhere else.
    """

    def __init__(self, function: Callable[[], object], *, of_tape: bool = False) -> None:
        # A tape writes small parts of kept memory in place, and back in reverse, where it alone
        # keeps any.
        self._counted = not of_tape
        TAPES.live += self._counted
        self.steps: list[tuple[Step, bool]] = []
        self._reads: dict[int, dict[HostRead, Field]] = {}  # by the number of steps before them
        self._touched: dict[Storage, Field] = {}
        self._identity = object()
        self._linear: dict[frozenset[Field], _Linear] = {}
        self._snapshots = Snapshots()
        self._snapshots.take(0)
        self._start = self._snapshots.taken[0]
        self._run = Run(self._snapshots, lambda needed: None, None)
        try:
            with Recording(self, observer=RECORDING.get().observer):
                function()
        except BaseException:
            self.release()
            raise

    def misses(self, storage: Storage) -> bool:
        """Tell whether a write from another thread into this memory would falsify the record."""
        return storage in self._touched

    # What the function does

    def launch(self, call: PreparedLaunch, values: list[Any]) -> None:
        """Run a kernel and remember it."""
        plans = make_plans(call.code, (False,) * len(values))
        step = Launch(call, values, plans)
        self._run.launch(step, 0)
        self._remember(step)
        for value in values:
            if isinstance(value, Field):
                self._touch(value)

    def host_read(self, field: Field, where: tuple[int, ...] | Window | None) -> HostRead | None:
        """Remember a read from Python: which fields vary is known only when they are asked for."""
        if not is_float(field.element):
            return None
        read = HostRead(self._identity, repr(field))
        self._reads.setdefault(len(self.steps), {})[read] = field
        return read

    def host_write(
        self, field: Field, where: tuple[int, ...] | Window | None, values: npt.NDArray[Any]
    ) -> bool:
        """Remember a write from Python that is about to happen."""
        step = HostWrite(field, where, values.copy())
        self._run.announce(step, 0)
        self._remember(step)
        self._touch(field)
        return False

    def host_copy(self, target: ArrayLike, source: ArrayLike) -> None:
        """Remember a copy from Python that is about to happen."""
        if RECORDING.get().constant:
            self.host_write(target.base, target.window, source.to_numpy())
            return
        step = HostCopy(target, source)
        self._run.announce(step, 0)
        self._remember(step)
        self._touch(target.base)
        self._touch(source.base)

    def opaque(self, step: OpaqueStep) -> Any:
        """Run a step whose inside is not seen, remember it, and return what it saved."""
        opaque = Opaque(step, step.uses, constant=RECORDING.get().constant)
        saved = self._run.opaque(opaque, 0)
        self._remember(opaque)
        for use in opaque.uses:
            self._touch(use.field)
        return saved

    def _remember(self, step: Step) -> None:
        self.steps.append((step, RECORDING.get().constant))

    def _touch(self, field: Field) -> None:
        if field.storage not in self._touched or field.has_grads:
            self._touched[field.storage] = field.origin

    @property
    def fields(self) -> list[Field]:
        """The fields that the steps read or write, those that belong to kernels left out.

        Of fields that share their memory it is one with a gradient, if there is one.
        """
        hidden = {
            temp.storage
            for step, _ in self.steps
            if isinstance(step, Launch)
            for temp in step.call.code.temps
        }
        return [one for storage, one in self._touched.items() if storage not in hidden]

    @property
    def written(self) -> list[Field]:
        """Those of the fields that the steps write."""
        written = {storage for step, _ in self.steps for storage in storages_of(step)}
        return [one for one in self.fields if one.storage in written]

    @property
    def found(self) -> list[Field]:
        """Those of the fields that the steps read, or change in part, as they found them."""
        return [one for one in self.fields if one.storage in self._start.held]

    # Contents

    def rewind(self) -> None:
        """Let the fields hold again what they held before the function.

        Those that it overwrote whole before it read them keep what it left.
        """
        self._start.restore()

    def again(self, step: Step) -> None:
        """Run a step once more, at what fields hold now."""
        self._run.again(step, 0)

    @contextmanager
    def from_start(self) -> Generator[None]:
        """Let the fields hold what they held before, and after the block what they hold now."""
        now = Snapshot(0)
        for storage in self._touched:
            now.hold(storage)
        try:
            self._start.restore()
            yield
        finally:
            now.restore()
            now.release()

    # Derivatives

    def check_writes(self, wanted: frozenset[Field]) -> None:
        """Check that nothing that Python wrote was computed from what varies with some fields.

        Raises:
            TapeError: It was.
        """
        if not self._reads:
            return
        active = Active(wanted)
        varying: set[HostRead] = set()
        for position, (step, constant) in enumerate(self.steps):
            reads = self._reads.get(position, {})
            varying |= {read for read, field in reads.items() if field in active}
            if constant:
                continue
            match step:
                case HostWrite(field, values=values) if is_float(field.element):
                    if found := varying & reads_in(values):
                        raise computed_by_python(field, found)
                case Launch(call, values):
                    for k in call.tracked:
                        if found := varying & values[k].reads:
                            warn_of_number(call, k, found, stacklevel=6)
                case _:
                    pass
            active.follow(step)

    def pull(self, seeds: Mapping[ArrayLike, Any], wrt: Iterable[Field]) -> dict[Field, Field]:
        """Return the cotangents of what fields held before the function.

        Args:
            seeds: For each output the cotangent of what it held after the function: a field, an
                array of its shape, or a number for all elements.
            wrt: The fields whose cotangents are wanted.

        Returns:
            For each of `wrt` a field with its cotangent, good until the next call for the same
            fields.

        Raises:
            NotDifferentiable: A launch has no adjoint.
            LaunchError: A host operation has no backward.
        """
        wanted = frozenset(one.origin for one in wrt)
        linear = self._linear_in(wanted)
        replay = linear.replay
        replay.clear()
        for output, seed in seeds.items():
            add_seed(replay.gradient(output.base), output, seed)
        for record in reversed(linear.records):
            replay.reverse(record)
        return {one: replay.gradient(one) for one in wanted}

    def records(self, wrt: Iterable[Field]) -> Sequence[Record]:
        """Return what reverses the steps for the cotangents of some fields, in their order.

        Raises:
            NotDifferentiable: A launch has no adjoint.
        """
        return self._linear_in(frozenset(one.origin for one in wrt)).records

    def _linear_in(self, wanted: frozenset[Field]) -> _Linear:
        linear = self._linear.get(wanted)
        if linear is None:
            self.check_writes(wanted)
            replay = Replay((), accumulate=False, private=True)
            linear = self._linear[wanted] = _Linear(self._record(wanted), replay)
        return linear

    def push(
        self, tangents: Mapping[Field, npt.NDArray[Any]], outputs: Iterable[Field]
    ) -> dict[Field, npt.NDArray[Any]]:
        """Return the tangents of what fields hold after the function.

        Args:
            tangents: For each input the tangent of what it held before, an array of its shape.
            outputs: The fields whose tangents are wanted.

        Raises:
            TapeError: A host operation without a forward rule reads a field that varies.
        """
        dots = Tangents(frozenset(one.origin for one in tangents))
        self.check_writes(frozenset(one.origin for one in tangents))
        for one, values in tangents.items():
            dots.of(one).buffer.write(values)
        with self.from_start(), silence():
            for step, constant in self.steps:
                if isinstance(step, Launch):
                    dots.launch(step, constant=constant)
                    continue
                if isinstance(step, Opaque):
                    dots.opaque(step)
                    continue
                self.again(step)
                dots.wrote(step)
        return {one: dots.of(one).to_numpy() for one in outputs}

    def release(self) -> None:
        """Let go of all contents; no derivatives are to be had any more."""
        for linear in self._linear.values():
            for record in linear.records:
                if isinstance(record, (LaunchRecord, OpaqueRecord)):
                    record.release()
        self._linear = {}
        self.steps = []
        self._reads = {}
        self._snapshots.release()
        TAPES.live -= self._counted
        self._counted = False

    def __del__(self) -> None:
        if TAPES is not None:  # pyright: ignore[reportUnnecessaryComparison] - the interpreter ends
            self.release()

    def _record(self, wanted: frozenset[Field]) -> list[Record]:
        """Run the steps again and return records for the cotangents of some fields."""
        active = Active(wanted)
        records: list[Record] = []
        with self.from_start(), silence():
            for step, constant in self.steps:
                records += self._record_step(step, active, constant=constant)
        return records

    def _record_step(self, step: Step, active: Active, *, constant: bool) -> Sequence[Record]:
        if isinstance(step, Launch):
            call, values = step.call, step.values
            grads = active.along(call, values)
            active.storages |= {values[k].storage for k in call.code.writes if grads[k]}
            return _record_launch(step, grads, constant=constant)
        if isinstance(step, Opaque):
            return _record_opaque(step, active)
        self.again(step)
        if isinstance(step, HostCopy) and step.source.base in active:
            active.storages.add(step.target.base.storage)
            return [step]
        return [_as_constants(step)] if field_of(step).storage in active.storages else []


class Tangents:
    """The tangents of fields as steps go on.

    Writing constants does to tangents what it does to cotangents: it leaves zero where it writes.
    """

    def __init__(self, wanted: frozenset[Field]) -> None:
        self.active = Active(wanted)
        self._zeroing = Replay((), accumulate=False, private=True)

    def of(self, one: Field) -> Field:
        """Return the memory of a field's tangent, which is zero to begin with."""
        return self._zeroing.gradient(one)

    def launch(self, step: Launch, *, constant: bool) -> None:
        """Run a kernel and push tangents through it."""
        call, values = step.call, step.values
        grads = self.active.along(call, values)
        if not any(grads):
            call.run(values)
            return
        if constant:
            for record in _record_launch(step, grads, constant=True):
                self._zeroing.reverse(record)
                record.release()
            return
        self.active.storages |= {values[k].storage for k in call.code.writes if grads[k]}
        dots = {k: self.of(values[k]) for k, has in enumerate(grads) if has}
        push_tangents(call.code, values, dots)

    def opaque(self, opaque: Opaque) -> Any:
        """Run a step whose inside is not seen and push tangents through it; return what it saved.

        Raises:
            TapeError: It reads what varies, and does not say how tangents pass.
        """
        if opaque.constant or not any(u.reads and u.field in self.active for u in opaque.uses):
            saved, record = replace(opaque, uses=_varying(opaque, self.active)).run(record=True)
            if record is not None:
                self._zeroing.reverse(record)
                record.release()
            return saved
        step = opaque.step.forward()
        if step is None:
            raise self.unseen(opaque)
        one = replace(opaque, step=step, uses=_varying(opaque, self.active))
        saved, record = one.run(record=True)
        self.active.storages |= {use.field.storage for use in one.uses if use.writes}
        if record is not None:
            try:
                after = tangents_after(record, lambda field: copied(self.of(field)))
            finally:
                record.release()
            for use, dot in after.items():
                target = self.of(use.field.origin)
                make_writable(target)
                target.buffer.copy_from(dot.buffer)
        return saved

    def refuse(self, opaque: Opaque) -> None:
        """Refuse a step whose inside is not seen.

        Raises:
            TapeError: It reads a field that varies, or writes into one.
        """
        if any(use.field.storage in self.active.storages for use in opaque.uses):
            raise self.unseen(opaque)

    def unseen(self, opaque: Opaque) -> TapeError:
        """Return the error of a step that tangents do not pass."""
        return TapeError(
            f"Tangents are not pushed through {opaque.step.name}, and they are needed here: "
            "write it with kernels alone."
        )

    def wrote(self, step: HostWrite | HostCopy) -> None:
        """Push tangents through a write from Python."""
        if isinstance(step, HostCopy) and step.source.base in self.active:
            target, source = step.target, step.source
            self.active.storages.add(target.base.storage)
            values = self.of(source.base).buffer.array()
            values = values if source.window is None else source.window.of(values)
            if target.window is None:
                self.of(target.base).buffer.write(values)
            else:
                target.window.assign(self.of(target.base).buffer, values.copy())
        elif field_of(step).storage in self.active.storages:
            self._zeroing.reverse(_as_constants(step))

    def as_record(self, step: HostWrite | HostCopy) -> HostWrite | HostCopy:
        """Return what reverses a write from Python, which has been run."""
        if isinstance(step, HostCopy) and step.source.base in self.active:
            return step
        return _as_constants(step)


def _record_launch(step: Launch, grads: tuple[bool, ...], *, constant: bool) -> list[LaunchRecord]:
    """Launch a kernel and return its records for some fields with derivatives."""
    plans = make_plans(step.call.code, grads, constant=constant)
    for plan in plans:
        if plan.ownership is not None:
            plan.ownership.check(step.values)
    stages = [record_stage(plan, step.call, step.values) for plan in plans]
    records = [one for stage in stages for one in stage if isinstance(one, LaunchRecord)]
    return [one for one in records if one.plan.adjoint is not None]


def _record_opaque(opaque: Opaque, active: Active) -> list[OpaqueRecord]:
    """Run a step and return its record with gradients for what varies alone."""
    uses = _varying(opaque, active)
    active.storages |= {use.field.storage for use in uses if use.field.has_grads}
    _, record = replace(opaque, uses=uses).run(record=True)
    return [] if record is None else [record]


def _varying(opaque: Opaque, active: Active) -> tuple[Use, ...]:
    """Return what a step does with fields, with gradients for those that vary alone."""
    grads = {use.field.storage: use.field in active for use in opaque.uses}
    if any(grads[use.field.storage] for use in opaque.uses if use.reads) and not opaque.constant:
        grads |= {use.field.storage: True for use in opaque.uses if use.writes is not False}
    return tuple(
        replace(use, field=_with_or_without(use.field.origin, grads[use.field.storage]))
        for use in opaque.uses
    )


def _with_or_without(one: Field, grad: bool) -> Field:
    """Return a field in the same memory that has a gradient, or has none."""
    bar = zeros_of(one) if grad and is_float(one.element) else None
    return one.over(one.storage, bar, bar)


def _as_constants(step: HostWrite | HostCopy) -> HostWrite:
    """Return a write from Python as one of constants."""
    if isinstance(step, HostWrite):
        return step
    return HostWrite(step.target.base, step.target.window, None)
