"""Steps of a run, the records that reverse them, and launches as steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from difftile.compile.adjoint_plan import AdjointPlan
from difftile.compile.arguments import Arguments, field_at
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.recording import AccessObserver, Where
from difftile.fields.storage import Storage
from difftile.launch.patch import Patch
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.varying_writes import varying_writes
from difftile.records import dataclass
from difftile.substrate import Buffer, keep, unpin

if TYPE_CHECKING:
    from difftile.recording.opaque import OpaqueRecord
    from difftile.recording.runs import RunRecord


class Derivatives(Protocol):
    """The gradients or tangents of fields, of each field one or several at once."""

    def gradient(self, field: Field) -> Field:
        """Return the derivatives of a field; an axis in front stands for several."""
        ...

    def arrays(self, field: Field) -> Iterable[HostArray]:
        """Return the derivatives of a field as arrays, to read them."""
        ...

    def change(self, field: Field, change: Callable[[HostArray], None]) -> None:
        """Let a function change the derivatives of a field, given as arrays."""
        ...

    def drop(self, field: Field, where: Where) -> None:
        """Set the derivatives of a field, a part or an element to zero."""
        ...

    def launch(self, record: LaunchRecord) -> None:
        """Run the adjoint of a launch."""
        ...

    def run(self, record: RunRecord) -> None:
        """Run the adjoint of a run of launches."""
        ...

    def opaque(self, record: OpaqueRecord) -> None:
        """Run the reverse of an opaque step."""
        ...


class TapeStep(ABC):
    """A launch, a write from Python, or an opaque step, which can run again."""

    __slots__ = ()

    @property
    def reads(self) -> Sequence[Field]:
        """The fields that the step reads."""
        return ()

    @property
    @abstractmethod
    def writes(self) -> Sequence[Field]:
        """The fields that the step changes, or may change."""

    @property
    def fields(self) -> Sequence[Field]:
        """All fields of the step."""
        return [*self.writes, *self.reads]

    @property
    def hidden(self) -> Collection[Field]:
        """The fields that belong to a kernel."""
        return ()

    @property
    def count(self) -> int:
        """The number of launches or writes that the step stands for."""
        return 1

    @property
    def communicates(self) -> bool:
        """Whether several ranks run the step together."""
        return False

    @property
    def signature(self) -> str:
        """The step as all ranks call it, if they run it together."""
        return ""

    @property
    def saved_nbytes(self) -> int:
        """The bytes that the latest run saved in addition to the contents of fields."""
        return 0

    @abstractmethod
    def accesses(self) -> Iterator[tuple[Field, bool]]:
        """Yield the fields in the order of accesses, and whether each is overwritten whole."""

    @abstractmethod
    def growth(self, leaving: Callable[[Storage], int], *, recording: bool) -> int:
        """Return the bytes that running the step may add to the old values.

        Args:
            leaving: Returns the bytes of a field's buffer if a write has to leave it.
            recording: Whether records are kept.
        """

    @abstractmethod
    def run(self, records: list[StepRecord] | None, *, repeats: bool = False) -> object:
        """Run the step and add its records, if there is a list for them.

        Args:
            records: The records.
            repeats: Whether the step may run again, and has to lead to the same results.

        Returns:
            The result of an opaque step.
        """

    def passes_to(self, outputs: Collection[Storage]) -> bool:
        """Tell whether values are written to an output that vary smoothly with graded fields.

        The output may still be constant, as these fields may hold constants.
        """
        return False

    def observe(self, observer: AccessObserver) -> None:
        """Tell an observer of the fields that the step reads and writes."""
        for field in self.reads:
            if field not in self.hidden:
                observer.read(field)
        for field in self.writes:
            if field not in self.hidden:
                observer.wrote(field)


class StepRecord(ABC):
    """The record of a step, or of one stage of a launch, by which it is reversed."""

    __slots__ = ()

    @property
    @abstractmethod
    def step(self) -> TapeStep:
        """The step."""

    @property
    def buffers(self) -> Iterable[Buffer]:
        """The pinned buffers."""
        return ()

    @property
    def launches(self) -> int:
        """The number of records that this one stands for."""
        return 1

    @property
    def pinned(self) -> Iterable[Buffer]:
        """The buffers that are kept, including the results of a step."""
        return self.buffers

    @property
    def counted_nbytes(self) -> int:
        """The bytes of old values other than the buffers."""
        return 0

    def count_saved(self) -> None:
        """Count these bytes among the old values of the session."""
        return

    @abstractmethod
    def reverse(self, gradients: Derivatives) -> None:
        """Run the adjoint."""

    def release(self) -> None:
        """Release the old values."""
        return


@dataclass(slots=True, eq=False)
class Launch(TapeStep):
    """A launch of a kernel, all its stages.

    Args:
        prepared: The launch, which later ones with the same fields share.
        values: Its arguments.
        plans: How its stages are recorded.
    """

    prepared: PreparedLaunch
    values: Arguments
    plans: list[AdjointPlan]

    @property
    def reads(self) -> list[Field]:
        """The fields that the stages read."""
        code = self.prepared.code
        loaded = {code.position[array] for stage in code.stages for array in stage.loaded}
        return [field_at(self.values, k) for k in sorted(loaded)]

    @property
    def writes(self) -> list[Field]:
        """The fields that the stages write."""
        return [field_at(self.values, k) for k in self.prepared.code.writes]

    @property
    def fields(self) -> list[Field]:
        """The fields that are passed."""
        return [value for value in self.values if isinstance(value, Field)]

    @property
    def hidden(self) -> Collection[Field]:
        """The hidden fields of the kernel."""
        return self.prepared.code.temps

    def check(self) -> None:
        """Check a launch that is going to be recorded.

        Raises:
            Race: A gradient would have to pass through stores of different iterations that meet.
        """
        for plan in self.plans:
            if plan.ownership is not None:
                plan.ownership.check(self.values)

    def observe(self, observer: AccessObserver) -> None:
        """Tell an observer of the fields that the launch reads and writes."""
        seen = self.prepared.seen
        if seen is None:  # the same for all launches on these fields
            hidden = self.hidden
            reads = tuple([field for field in self.reads if field not in hidden])
            writes = tuple([field for field in self.writes if field not in hidden])
            seen = self.prepared.seen = reads, writes
        for field in seen[0]:
            observer.read(field)
        for field in seen[1]:
            observer.wrote(field)

    def accesses(self) -> Iterator[tuple[Field, bool]]:
        """Yield the accesses of the stages, one stage after the other."""
        for plan in self.plans:
            for k in plan.loads:
                yield field_at(self.values, k), False
            overwritten = self.prepared.stages[plan.stage.number].overwritten
            for k in plan.writes:
                yield field_at(self.values, k), k in overwritten

    def growth(self, leaving: Callable[[Storage], int], *, recording: bool) -> int:
        """Return the bytes of the buffers that the launch must leave because they are kept."""
        growth = 0
        pinned: set[Storage] = set()  # by earlier stages of this launch, which found them or left
        fresh: set[Storage] = set()
        for plan in self.plans:
            for k in plan.writes:
                storage = field_at(self.values, k).storage
                if recording and (k in plan.reads or storage in pinned):
                    growth += storage.memory.nbytes
                elif storage not in fresh:
                    growth += leaving(storage)
                pinned.discard(storage)
                fresh.add(storage)
            stay = (k for k in plan.reads if k not in plan.writes)
            pinned |= {field_at(self.values, k).storage for k in (*stay, *plan.reads_after)}
        return growth

    def run(self, records: list[StepRecord] | None, *, repeats: bool = False) -> None:
        """Launch."""
        for plan in self.plans:
            if records is None:
                self.prepared.stages[plan.stage.number].launch(self.values)
            else:
                record, _ = record_stage(plan, self)
                records += () if record is None else (record,)

    @property
    def has_logs(self) -> bool:
        """Whether an adjoint fills the log of a loop."""
        adjoints = (plan.adjoint for plan in self.plans)
        return any(one is not None and one.lengths is not None for one in adjoints)

    def passes_to(self, outputs: Collection[Storage]) -> bool:
        """Tell whether a stage gives an output values that vary."""
        return any(
            field_at(self.values, k).storage in outputs
            for plan in self.plans
            for k in varying_writes(plan)
        )


@dataclass(slots=True, eq=False)
class LaunchRecord(StepRecord):
    """A launch of one stage.

    Args:
        plan: How it was recorded.
        launch: The whole launch.
        kept: The pinned buffers, in the order of `plan.kept`.
        packing: Whether they may be packed.
    """

    plan: AdjointPlan
    launch: Launch
    kept: list[Buffer]
    packing: bool = False

    @property
    def step(self) -> Launch:
        """The whole launch."""
        return self.launch

    @property
    def values(self) -> Arguments:
        """The arguments of the launch."""
        return self.launch.values

    @property
    def buffers(self) -> Iterable[Buffer]:
        """The pinned buffers."""
        return self.kept

    def reverse(self, gradients: Derivatives) -> None:
        """Run the adjoint, if there is one."""
        if self.plan.adjoint is not None:
            gradients.launch(self)

    def release(self) -> None:
        """Release the old values."""
        if self.kept:
            kept, self.kept = self.kept, []  # first: Ctrl+C must not let go of it twice
            unpin(*kept, packing=self.packing)


def record_stage(
    plan: AdjointPlan,
    launch: Launch,
    *,
    may_patch: Callable[[], bool] | None = None,
    packing: bool = False,
) -> tuple[LaunchRecord | None, Mapping[int, Patch]]:
    """Launch a stage; return its record, and the patches of fields by their positions.

    Args:
        plan: The stage.
        launch: The launch.
        may_patch: Tells whether small writes may stay in memory that earlier records need.
        packing: Whether old values may be packed, which takes memory while they are read again.
    """
    values = launch.values
    # At the positions of a plan are fields; a check of each would slow down every launch.
    fields: Sequence[Field] = values  # pyrefly: ignore[bad-assignment]
    kept: list[Buffer] = []
    try:
        for k in plan.reads:
            kept.append(keep(fields[k].storage, packing=packing))
        stage = launch.prepared.stages[plan.stage.number]
        patches = stage.launch(values, plan.both, may_patch)
    except BaseException:
        unpin(*kept, packing=packing)
        raise
    if plan.adjoint is None:
        return LaunchRecord(plan, launch, []) if plan.passing_by else None, patches
    for k in plan.reads_after:
        kept.append(keep(fields[k].storage, packing=packing))
    return LaunchRecord(plan, launch, kept, packing), patches
