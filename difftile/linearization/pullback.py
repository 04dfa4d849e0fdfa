"""A stretch of launches at fixed contents, differentiated as often as wanted and in private.

What a function launches is remembered as steps and as the contents of the fields it found
(a snapshot, which copies nothing). Cotangents are pulled back through records of those steps, made
once for each set of fields that they are wanted for; tangents are pushed through the steps run
again. Which fields carry derivatives follows from the fields asked for and not from gradient
buffers, and those of the user are neither read nor written.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from difftile.compile.adjoint_plan import make_plans
from difftile.compile.arguments import field_at
from difftile.diagnostics import TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, Storage
from difftile.fields.recording import RECORDING, Recording, Where
from difftile.fields.tracked import HostRead, reads_in
from difftile.ir.types import is_float
from difftile.launch.tangents import make_writable, push_tangents
from difftile.recording.host_reads import computed_by_python, warn_of_number
from difftile.recording.opaque import Opaque, Use
from difftile.recording.recorder import StepRecorder
from difftile.recording.replay import Replay
from difftile.recording.replayed_fields import tangents_after
from difftile.recording.run import Run
from difftile.recording.seeds import Seed, add_seed
from difftile.recording.snapshots import Snapshot, Snapshots
from difftile.recording.steps import (
    HostCopy,
    HostStep,
    HostWrite,
    Launch,
    StepRecord,
    TapeStep,
)
from difftile.recording.tapes import TAPES
from difftile.recording.work_fields import copied, zeros_of
from difftile.substrate import silence


@dataclass(slots=True)
class Active:
    """The memory that varies with some fields, as steps go on.

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

    def along(self, step: Launch) -> tuple[bool, ...]:
        """Return which parameters of a launch carry derivatives: all written ones if any does."""
        fields = [v if isinstance(v, Field) and is_float(v.element) else None for v in step.values]
        if not any(one is not None and one in self for one in fields):
            return (False,) * len(fields)
        writes = frozenset(step.prepared.code.writes)
        return tuple(
            one is not None and (k in writes or one in self) for k, one in enumerate(fields)
        )

    def launched(self, step: Launch) -> tuple[bool, ...]:
        """Return which parameters carry derivatives, and add the memory that varies after it."""
        grads = self.along(step)
        code, values = step.prepared.code, step.values
        self.storages |= {field_at(values, k).storage for k in code.writes if grads[k]}
        return grads

    def wrote(self, step: HostStep) -> HostStep | None:
        """Return how a write from Python changes derivatives; add the memory that varies after it.

        Returns:
            A copy of a field that varies, else a write of constants into one that varies.
        """
        if isinstance(step, HostCopy) and step.source.base in self:
            self.storages.add(step.field.storage)
            return step
        varied = step.field.storage in self.storages
        return HostWrite(step.field, step.where) if varied else None

    def follow(self, step: TapeStep) -> None:
        """Add the memory that varies after a step, and leave out what holds constants."""
        match step:
            case Launch():
                self.launched(step)
            case Opaque(uses=uses):
                if any(use.reads and use.field in self for use in uses):
                    self.storages |= {use.field.storage for use in uses if use.writes}
            case HostWrite(field=field, where=None):
                self.storages.discard(field.storage)
            case HostStep():
                self.wrote(step)
            case _:
                raise NotImplementedError(step)


class Sweep(ABC):
    """A pass over the steps of a stretch, run again, with derivatives for some fields.

    Args:
        wanted: The fields.
    """

    def __init__(self, wanted: Collection[Field]) -> None:
        self.active = Active(wanted)

    def over(self, stretch: Pullback) -> None:
        """Run the steps from the contents that the fields had before the function."""
        with stretch.from_start(), silence():
            for step, constant in stretch.steps:
                match step:
                    case Launch():
                        self.launch(step, constant=constant)
                    case Opaque():
                        self.opaque(step)
                    case HostStep():
                        stretch.again(step)
                        self.wrote(step)
                    case _:
                        raise NotImplementedError(step)

    @abstractmethod
    def launch(self, step: Launch, *, constant: bool) -> None:
        """Run a kernel with derivatives."""

    @abstractmethod
    def opaque(self, opaque: Opaque) -> object:
        """Run an opaque step with derivatives; return its result."""

    def wrote(self, step: HostStep) -> None:
        """Pass derivatives through a write from Python."""
        passed = self.active.wrote(step)
        if passed is not None:
            self.host(passed)

    @abstractmethod
    def host(self, step: HostStep) -> None:
        """Pass derivatives through a write of constants or a copy of values that vary."""


class Pullback(StepRecorder):
    """The launches that a function makes at the contents that fields have now.

    The function runs once, on no tape; fields keep the contents that it leaves.

    Args:
        function: Launches kernels and writes fields from Python.
        of_tape: A record of a tape holds this, which is used in reverse there and nowhere else.
    """

    def __init__(self, function: Callable[[], object], *, of_tape: bool = False) -> None:
        # A tape writes small parts of kept memory in place, and back in reverse, where it alone
        # keeps any.
        self._token = object()
        if not of_tape:
            TAPES.holders.add(self._token)
        self.steps: list[tuple[TapeStep, bool]] = []
        self._reads: dict[int, dict[HostRead, Field]] = {}  # by the number of steps before them
        self._touched: dict[Storage, Field] = {}
        self._identity = object()
        self._linear: dict[frozenset[Field], tuple[Sequence[StepRecord], Replay]] = {}
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

    def record(self, step: TapeStep) -> object:
        """Run a step and remember it."""
        step = step.lasting()
        result = self._run.first(step, 0)
        self.steps.append((step, RECORDING.get().constant))
        for one in step.fields:
            if one.storage not in self._touched or one.has_grads:
                self._touched[one.storage] = one.origin
        return result

    def host_read(self, field: Field, where: Where) -> HostRead | None:
        """Remember a read from Python: which fields vary is known only when they are asked for."""
        if not is_float(field.element):
            return None
        read = HostRead(self._identity, repr(field))
        self._reads.setdefault(len(self.steps), {})[read] = field
        return read

    @property
    def fields(self) -> list[Field]:
        """The fields that the steps read or write, those that belong to kernels left out.

        Of fields that share their memory it is one with a gradient, if there is one.
        """
        hidden = {field.storage for step, _ in self.steps for field in step.hidden}
        return [one for storage, one in self._touched.items() if storage not in hidden]

    @property
    def written(self) -> list[Field]:
        """Those of the fields that the steps write."""
        written = {field.storage for step, _ in self.steps for field in step.writes}
        return [one for one in self.fields if one.storage in written]

    @property
    def found(self) -> list[Field]:
        """Those of the fields that the steps read, or change in part, as they found them."""
        return [one for one in self.fields if one.storage in self._start.held]

    # Contents

    def rewind(self) -> None:
        """Restore the contents that the fields had before the function.

        Those that it overwrote whole before it read them keep what it left.
        """
        self._start.restore()

    def again(self, step: TapeStep) -> None:
        """Run a step once more, at the present contents of the fields."""
        self._run.again(step, 0)

    @contextmanager
    def from_start(self) -> Generator[None]:
        """Restore the contents from before the function, and after the block the present ones."""
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
            before = self._reads.get(position, {})
            varying |= {read for read, field in before.items() if field in active}
            if constant:
                continue
            match step:
                case HostWrite(field, values=values) if is_float(field.element):
                    if reads := varying & reads_in(values):
                        raise computed_by_python(field, reads)
                case Launch(launch, values):
                    for k in launch.tracked:
                        if reads := varying & reads_in(values[k]):
                            warn_of_number(launch, k, reads, stacklevel=6)
                case _:
                    pass
            active.follow(step)

    def pull(self, seeds: Mapping[ArrayLike, Seed], wrt: Iterable[Field]) -> dict[Field, Field]:
        """Return the cotangents of the fields' contents before the function.

        Args:
            seeds: For each output the cotangent of its contents after the function: a field, an
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
        records, replay = self._linear_in(wanted)
        replay.clear()
        for output, seed in seeds.items():
            add_seed(replay.gradient(output.base), output, seed)
        for record in reversed(records):
            replay.reverse(record)
        return {one: replay.gradient(one) for one in wanted}

    def records(self, wrt: Iterable[Field]) -> Sequence[StepRecord]:
        """Return the records of the steps for the cotangents of some fields, in order.

        Raises:
            NotDifferentiable: A launch has no adjoint.
        """
        return self._linear_in(frozenset(one.origin for one in wrt))[0]

    def _linear_in(self, wanted: frozenset[Field]) -> tuple[Sequence[StepRecord], Replay]:
        """Return the records for cotangents of some fields, and the memory of cotangents."""
        linear = self._linear.get(wanted)
        if linear is None:
            self.check_writes(wanted)
            recording = _AdjointRecording(wanted)
            recording.over(self)
            replay = Replay((), accumulate=False, private=True)
            linear = self._linear[wanted] = recording.records, replay
        return linear

    def push(
        self, tangents: Mapping[Field, HostArray], outputs: Iterable[Field]
    ) -> dict[Field, HostArray]:
        """Return the tangents of the fields' contents after the function.

        Args:
            tangents: For each input the tangent of its contents before, an array of its shape.
            outputs: The fields whose tangents are wanted.

        Raises:
            TapeError: A host operation without a forward rule reads a field that varies.
        """
        dots = Tangents(frozenset(one.origin for one in tangents))
        self.check_writes(frozenset(one.origin for one in tangents))
        for one, values in tangents.items():
            dots.of(one).buffer.write(values)
        dots.over(self)
        return {one: dots.of(one).to_numpy() for one in outputs}

    def release(self) -> None:
        """Let go of all contents; no derivatives are to be had any more."""
        for records, _ in self._linear.values():
            for record in records:
                record.release()
        self._linear = {}
        self.steps = []
        self._reads = {}
        self._snapshots.release()
        TAPES.holders.discard(self._token)

    def __del__(self) -> None:
        if TAPES is not None:  # pyright: ignore[reportUnnecessaryComparison] - the interpreter ends
            self.release()


class _AdjointRecording(Sweep):
    """Records the steps for the cotangents of some fields."""

    def __init__(self, wanted: Collection[Field]) -> None:
        super().__init__(wanted)
        self.records: list[StepRecord] = []

    def launch(self, step: Launch, *, constant: bool) -> None:
        self.records += _record_launch(step, self.active.launched(step), constant=constant)

    def opaque(self, opaque: Opaque) -> None:
        uses = _varying(opaque, self.active)
        self.active.storages |= {use.field.storage for use in uses if use.field.has_grads}
        replace(opaque, uses=uses).run(self.records)

    def host(self, step: HostStep) -> None:
        self.records.append(step)


class Tangents(Sweep):
    """The tangents of fields as steps go on.

    Writing constants leaves zero in tangents, as it does in cotangents.
    """

    def __init__(self, wanted: frozenset[Field]) -> None:
        super().__init__(wanted)
        self._zeroing = Replay((), accumulate=False, private=True)

    def of(self, one: Field) -> Field:
        """Return the memory of a field's tangent, which is zero to begin with."""
        return self._zeroing.gradient(one)

    def launch(self, step: Launch, *, constant: bool) -> None:
        """Run a kernel and push tangents through it."""
        grads = self.active.along(step)
        if not any(grads):
            step.prepared.run(step.values)
        elif constant:
            for record in _record_launch(step, grads, constant=True):
                self._zeroing.reverse(record)
                record.release()
        else:
            self.active.launched(step)
            dots = {k: self.of(field_at(step.values, k)) for k, has in enumerate(grads) if has}
            push_tangents(step.prepared.code, step.values, dots)

    def opaque(self, opaque: Opaque) -> object:
        """Run a step whose inside is not seen and push tangents through it; return its result.

        Raises:
            TapeError: The step reads fields that vary, and has no rule for tangents.
        """
        if opaque.constant or not any(u.reads and u.field in self.active for u in opaque.uses):
            unvarying = replace(opaque, uses=_varying(opaque, self.active))
            saved, record = unvarying.execute(record=True)
            if record is not None:
                self._zeroing.reverse(record)
                record.release()
            return saved
        step = opaque.step.forward()
        if step is None:
            raise self.unseen(opaque)
        pushing = replace(opaque, step=step, uses=_varying(opaque, self.active))
        saved, record = pushing.execute(record=True)
        self.active.storages |= {use.field.storage for use in pushing.uses if use.writes}
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

    def unseen(self, opaque: Opaque) -> TapeError:
        """Return the error of a step that tangents do not pass."""
        return TapeError(
            f"Tangents are not pushed through {opaque.step.name}, and they are needed here: "
            "write it with kernels alone."
        )

    def host(self, step: HostStep) -> None:
        """Push tangents through a write from Python."""
        step.push(self._zeroing)


def _record_launch(step: Launch, grads: tuple[bool, ...], *, constant: bool) -> list[StepRecord]:
    """Launch a kernel and return its records for some fields with derivatives."""
    plans = make_plans(step.prepared.code, grads, constant=constant)
    for plan in plans:
        if plan.ownership is not None:
            plan.ownership.check(step.values)
    records: list[StepRecord] = []
    Launch(step.prepared, step.values, plans).run(records)
    return records


def _varying(opaque: Opaque, active: Active) -> tuple[Use, ...]:
    """Return the uses of a step, with gradients only for the fields that vary."""
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
