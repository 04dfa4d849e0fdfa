"""Runs as fused programs: found or made for their kernels, and bound to memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from math import prod
from typing import Any

from difftile.compile.adjoint_plan import AdjointPlan
from difftile.compile.specialisation import Specialisation
from difftile.diagnostics import counted
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.fusion.period import (
    FieldMemory,
    FixedNumber,
    Gradient,
    NumberTable,
    Own,
    Period,
    PeriodLayout,
    PeriodStage,
    Slab,
    Slot,
    Unfusible,
    Unwritten,
)
from difftile.fusion.program import FusedProgram
from difftile.ir.nodes import Array, Block, Program, Var
from difftile.ir.types import (
    I32,
    MAX_ELEMENTS,
    FieldType,
    Type,
    nbytes_of,
    numpy_dtype,
    scalar_of,
    shape_of,
)
from difftile.ir.walk import size_of
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.run import Run
from difftile.passes.sequence import SequenceRow, copy_from_row, copy_into_row
from difftile.records import dataclass
from difftile.substrate import (
    Buffer,
    CompiledProgram,
    KeptResults,
    batch_of,
    current_session,
    kept_for_programs,
)

# Of a period: compiling more than that takes longer than launches of such large kernels take, and
# as each form of a run is compiled by itself, minutes.
_MOST_STATEMENTS = 5_000

Plans = Sequence[Sequence[AdjointPlan]]


class FusedKernels:
    """The fused programs of a period of kernels.

    Args:
        period: The period.
        kept: What is kept of them on disk.
    """

    def __init__(self, period: Period, kept: KeptResults) -> None:
        self.period, self._kept = period, kept

    @cached_property
    def plain(self) -> FusedProgram:
        """The launches."""
        make = partial(self.period.forward, recorded=False)
        return FusedProgram(make, self._kept, "plain", reverse=False)

    @cached_property
    def recorded(self) -> FusedProgram:
        """The launches, which save the contents that the adjoint reads."""
        if not self.period.saved:
            return self.plain
        make = partial(self.period.forward, recorded=True)
        return FusedProgram(make, self._kept, "recorded", reverse=False)

    @cached_property
    def adjoint(self) -> FusedProgram:
        """The adjoint."""
        return FusedProgram(self.period.adjoint, self._kept, "adjoint", reverse=True)

    @cached_property
    def _row_copies(self) -> dict[tuple[Type, int, bool], CompiledProgram]:
        return {}

    def copy_row(self, slab: Buffer, row: int, other: Buffer, *, into: bool) -> None:
        """Copy a row of a slab into another buffer, or that into the row."""
        of = (other.element, len(other.shape), into)
        compiled = self._row_copies.get(of)
        if compiled is None:
            key = ("row", *of)
            program = self._kept.get((*key, "form"), lambda: _row_copy(*of))
            compiled = self._row_copies[of] = CompiledProgram(program, kept=self._kept, key=key)
        compiled.launch([slab, other, row])


def _row_copy(element: Type, ndim: int, into: bool) -> Program:
    rows = Array("rows", FieldType(element, ndim + 1))
    field, at = Array("field", FieldType(element, ndim)), Var("row", I32)
    row = SequenceRow(rows, at)
    body = copy_into_row(field, row) if into else copy_from_row(row, field)
    return Program("copy_row", (rows, field, at), Block(body))


def _kept(
    codes: Sequence[Specialisation], plans: Sequence[AdjointPlan], layout: PeriodLayout
) -> KeptResults:
    """Return what is kept of a period on disk, under all that its programs follow from."""
    graded = [sorted(plan.code.position[a] for a in plan.request.wanted) for plan in plans]
    constant = [plan.request.constant for plan in plans]
    names = [code.name for code in codes]
    return kept_for_programs([code.kept for code in codes], (names, graded, constant, layout))


def _kernels(run: Run, plans: Plans | None, layout: PeriodLayout) -> FusedKernels:
    """Return the fused programs of a run, which are kept with its first kernel.

    Raises:
        Unfusible: The run cannot be fused.
    """
    codes = tuple(launch.code for launch in run.launches)
    if any(code.wishes for code in codes):
        raise Unfusible("kernel.schedule() sets how its loops run")
    planned = None if plans is None else tuple(plan for each in plans for plan in each)
    key = (codes[1:], planned, layout)
    known = codes[0].fusions
    found = known.get(key)
    if found is None:
        try:
            parts = _parts(run, plans)
            _check_size(parts)
            period = Period(parts, layout)
            _ = period.saved  # refused here if it must be
            found = FusedKernels(period, _kept(codes, planned or (), layout))
        except Unfusible as reason:
            found = str(reason)  # not the error, which would keep the tape alive
        known[key] = found
    if isinstance(found, str):
        raise Unfusible(found)
    return found


def _parts(run: Run, plans: Plans | None) -> list[PeriodStage]:
    parts: list[PeriodStage] = []
    for k, launch in enumerate(run.launches):
        for stage in launch.code.stages:
            plan = None if plans is None else plans[k][stage.number]
            parts.append(PeriodStage(k, launch.code, stage, plan))
    return parts


def _check_size(parts: Sequence[PeriodStage]) -> None:
    """Check that compiling a period is worth its while.

    Raises:
        Unfusible: It is too large.
    """
    statements = sum(size_of(part.stage.program) for part in parts)
    if statements > _MOST_STATEMENTS:
        raise Unfusible(f"compiling {statements:,} statements takes longer than it saves")


@dataclass(slots=True, eq=False)
class FusedRun:
    """A run bound to its fields.

    Args:
        run: The run.
        fields: The fields, by their numbers in the layout.
        kernels: The fused programs.
    """

    run: Run
    fields: list[Field]
    kernels: FusedKernels

    @staticmethod
    def of(run: Run, plans: Plans | None) -> FusedRun:
        """Return a run with its programs.

        Args:
            run: The run.
            plans: How the stages of each launch are recorded; None if they are not.

        Raises:
            Unfusible: The run has no fused program.
        """
        fields, layout = _layout(run)
        return FusedRun(run, fields, _kernels(run, plans, layout))

    @property
    def written(self) -> list[Field]:
        """The fields that the run writes."""
        return [self.fields[number] for number in sorted(self.kernels.period.written)]

    @property
    def kept(self) -> list[Field]:
        """The fields that the adjoint reads and the run does not write."""
        return [self.fields[number] for number in self.kernels.period.kept]

    def slab_nbytes(self) -> int:
        """Return the bytes of the slabs of a recorded run."""
        return sum(
            nbytes_of(self.fields[slab.number].element, self._slab_shape(slab, more))
            for slab, more in self.kernels.period.saved.items()
        )

    @property
    def most_periods(self) -> int:
        """The most periods for which no slab has more numbers than an array may have."""
        found = MAX_ELEMENTS
        for slab, more in self.kernels.period.saved.items():
            field = self.fields[slab.number]
            numbers = prod((*field.shape, *shape_of(field.element)))
            found = min(found, MAX_ELEMENTS // numbers - more)
        return found

    def _slab_shape(self, slab: Slab, more: int) -> tuple[int, ...]:
        return (self.run.count + more, *self.fields[slab.number].shape)

    def launch(self) -> None:
        """Run the launches; fields leave memory that a tape needs."""
        self._make_writable()
        self._launch(self.kernels.plain, {}, {}, None)

    def _make_writable(self) -> None:
        for field in self.written:
            if field.storage.memory.pins:
                field.storage.renew(copy=True)

    def record(self) -> dict[Slab, Buffer]:
        """Run the launches and return their slabs; fields leave memory that a tape needs."""
        self._make_writable()
        allocate = current_session().pool.allocate
        saved = self.kernels.period.saved
        slabs = {
            slab: allocate(self.fields[slab.number].element, self._slab_shape(slab, more))
            for slab, more in saved.items()
        }
        self._launch(self.kernels.recorded, slabs, {}, None)
        for slab, more in saved.items():
            if more:  # the contents at the end
                memory = self.fields[slab.number].buffer
                self.kernels.copy_row(slabs[slab], self.run.count, memory, into=True)
        return slabs

    def row(self, slab: Buffer, of: Slab, period: int) -> Buffer:
        """Return a copy of one row of a slab."""
        field = self.fields[of.number]
        found = current_session().pool.allocate(field.element, field.shape)
        self.kernels.copy_row(slab, period, found, into=False)
        return found

    def reverse(
        self,
        slabs: Mapping[Slab, Buffer],
        kept: Sequence[Buffer],
        gradient: Callable[[Field], Field],
    ) -> None:
        """Run the adjoint.

        Args:
            slabs: The contents that the launches have saved.
            kept: The contents of the fields `kept` at the run.
            gradient: Returns the gradient of a field.
        """
        contents = dict(zip(self.kernels.period.kept, kept, strict=True))
        self._launch(self.kernels.adjoint, slabs, contents, gradient)

    def _launch(
        self,
        fused: FusedProgram,
        slabs: Mapping[Slab, Buffer],
        kept: Mapping[int, Buffer],
        gradient: Callable[[Field], Field] | None,
    ) -> None:
        allocate = current_session().pool.allocate
        taken: list[Buffer] = []

        def take(element: Type, shape: tuple[int, ...]) -> Buffer:
            buffer = allocate(element, shape)
            taken.append(buffer)
            return buffer

        def argument(slot: Slot) -> Any:
            match slot:
                case FieldMemory(number):
                    return self.fields[number].buffer
                case Unwritten(number):
                    field = self.fields[number]
                    buffer = kept[number].unpacked()
                    return buffer if buffer.shape == field.shape else buffer.under(field.shape)
                case Gradient(number):
                    assert gradient is not None
                    return gradient(self.fields[number]).buffer
                case Slab():
                    return slabs[slot].unpacked()
                case FixedNumber(launch, position):
                    return self.run.values[launch][position]
                case Own(element, like):
                    return take(element, () if like is None else self.fields[like].shape)
                case NumberTable(launch, position):
                    numbers = self.run.varying[launch, position]
                    param = self.run.launches[launch].code.params[position]
                    assert isinstance(param, Var)
                    scalar = scalar_of(param.type)
                    buffer = take(scalar, (len(numbers),))
                    buffer.write(numbers.astype(numpy_dtype(scalar)))
                    return buffer

        with batch_of(current_session().batches):
            fused.launch(argument, 0, self.run.count)
        several = counted(len(self.run.launches), "launch", "launches")
        for launch in self.run.launches:
            launch.fused = f"{fused.form}, {counted(self.run.count, 'period')} of {several}"
        for buffer in taken:
            buffer.free()


def _layout(run: Run) -> tuple[list[Field], PeriodLayout]:
    """Return the fields of a run in the order of their numbers, and their layout.

    Raises:
        Unfusible: A field is there in two shapes.
    """
    fields: list[Field] = []
    known: dict[Storage, int] = {}
    numbers: list[tuple[int | None, ...]] = []
    for launch, values in zip(run.launches, run.values, strict=True):
        _check(launch)
        own: list[int | None] = []
        for value in values:
            if not isinstance(value, Field):
                own.append(None)
                continue
            number = known.setdefault(value.storage, len(fields))
            if number == len(fields):
                fields.append(value)
            elif fields[number].shape != value.shape:
                raise Unfusible(f"{value!r} is also there in the shape {fields[number].shape}")
            elif value.has_grads:  # of several fields over one memory it has the gradient
                fields[number] = value
            own.append(number)
        numbers.append(tuple(own))
    # A device starts a task to work out the bounds of a loop, unless they are literals.
    fixed = not current_session().on_host
    classes: dict[int, int] = {}
    extents = tuple(
        tuple(size if fixed else classes.setdefault(size, len(classes)) for size in field.shape)
        for field in fields
    )
    return fields, PeriodLayout(tuple(numbers), extents, tuple(sorted(run.varying)), fixed)


def _check(launch: PreparedLaunch) -> None:
    """Check that a launch may be part of a larger program.

    Raises:
        Unfusible: The launch may not be.
    """
    name = launch.code.name
    if launch.session.debug:
        raise Unfusible("debug mode checks each launch")
    if any(field.storage.memory.is_shared for field in launch.fields):
        raise Unfusible(f"kernel '{name}' uses memory that arrays of others share")
    if launch.derived:
        raise Unfusible(f"kernel '{name}' reads memory that follows from other fields")
    if launch.code.result is not None:
        raise Unfusible(f"kernel '{name}' returns a number to Python")
    if launch.code.rules:
        raise Unfusible(f"kernel '{name}' has a rule of its own")
