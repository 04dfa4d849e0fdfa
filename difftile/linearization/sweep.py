"""Derivatives of steps, in any mode: tangents along some directions, cotangents, or both.

A sweep is a recorder: it runs the steps of a function, or of a remembered stretch (`over`), and
carries the parts of hyper-dual numbers along (`ir.derived.part_of`). With one direction these are
tangents, with two of them tangents of tangents. With the adjoint it records the steps, with the
tangents of what they read, and `pull` goes back through the records: so tangents of cotangents are
forward over reverse, and with n directions derivatives of order n + 1. Every second derivative has
this form, mixed ones by symmetry (Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter
5). A mode asks stages for programs, `Tangent(wanted, Adjoint(wanted))`, and steps for their rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from difftile.compile.adjoint_plan import AdjointPlan, make_plans
from difftile.compile.arguments import Arguments, field_at
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.numbers import HostRead
from difftile.fields.recording import RECORDING, Where
from difftile.fields.storage import Storage
from difftile.ir.types import is_float
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.run import Run
from difftile.launch.tangents import make_writable
from difftile.linearization import rules
from difftile.linearization.active import varying_uses, warn_of_arrays
from difftile.linearization.directions import Directions
from difftile.linearization.rules import (
    Gradient,
    TangentStepRecord,
    push_step,
    recorded_step,
    run_step,
)
from difftile.linearization.stages import Memory, StageRecord, pushed, tangents_of
from difftile.linearization.transposed import ReadInPython
from difftile.linearization.varying_reads import VaryingReads
from difftile.recording.opaque import Opaque, OpaqueRecord, OpaqueStep
from difftile.recording.passes import begin_pass
from difftile.recording.replay import Replay
from difftile.recording.runs import MOST_OF_A_PART, RunStep, fused_step
from difftile.recording.seeds import Seed, add_seed
from difftile.recording.steps import Launch, LaunchRecord, StepRecord, TapeStep
from difftile.recording.tapes import TAPES
from difftile.recording.work_fields import copied
from difftile.recording.write import Write, adding
from difftile.records import dataclass
from difftile.substrate import silence

if TYPE_CHECKING:
    from difftile.linearization.pullback import Pullback

SweepRecord: TypeAlias = StageRecord | TangentStepRecord | StepRecord
Seeds: TypeAlias = Mapping[ArrayLike, Seed]
Moves: TypeAlias = Sequence[Mapping[Field, HostArray]]


@dataclass(frozen=True, slots=True)
class Mode:
    """The derivatives that a sweep computes.

    Args:
        levels: The number of directions for tangents of tangents.
        adjoint: Whether steps are recorded, for cotangents and their tangents.
        width: The number of tangents that go together, which differ in the direction; None for one
            by one. Only with one level.
    """

    levels: int = 0
    adjoint: bool = False
    width: int | None = None

    def __post_init__(self) -> None:
        if self.width is not None and self.levels != 1:
            raise ValueError(f"{self.width} tangents that go together, along {self.levels} levels")

    @property
    def parts(self) -> range:
        """The parts of hyper-dual numbers, of which 0 is the value."""
        return range(1 << self.levels)

    def memory(self, part: int) -> Memory:
        """Return memory for a part of cotangents or of contents."""
        if part and self.width is not None:
            return Directions(self.width)
        return Replay((), accumulate=False, private=True)


ADJOINT = Mode(adjoint=True)
TANGENT = Mode(levels=1)


class Sweep(VaryingReads):
    """Runs steps with derivatives for some fields.

    Args:
        wanted: The fields that vary.
        mode: The derivatives.

    Attributes:
        records: The records of the steps, with an adjoint.
        touched: The memory that launches, writes and recorded steps read or write.
    """

    is_private = True

    def __init__(self, wanted: Iterable[Field], mode: Mode) -> None:
        super().__init__(wanted)
        self._token = object()
        self.records: list[SweepRecord] = []
        self.mode = mode
        self.takes_runs = mode == ADJOINT
        self.touched: set[Storage] = set()
        self._parts = [mode.memory(part) for part in mode.parts]
        self._plans: dict[tuple[PreparedLaunch, int, bool], list[AdjointPlan]] = {}
        if mode.adjoint:
            TAPES.holders.add(self._token)

    # Tangents and cotangents

    def part(self, part: int, one: Field) -> Field:
        """Return the memory of a part of the present contents of a field, zero to begin with."""
        return self._parts[part].gradient(one)

    def move(self, tangents: Moves) -> None:
        """Set the tangents of some fields, by part; there is nothing for part 0."""
        for part, each in enumerate(tangents):
            for one, values in each.items():
                self.part(part, one).buffer.write(np.asarray(values))

    def pull(
        self, seeds: Sequence[Seeds], bars: Sequence[Memory] | None = None
    ) -> Sequence[Memory]:
        """Pull cotangents back to before the steps; return their memory, by part.

        Args:
            seeds: For each output the cotangent of its contents after the steps, by part: a field,
                an array of its shape, or a number for all elements.
            bars: The memory, which may have contents, for the cotangents along many directions too.
        """
        begin_pass()
        bars = bars or [self.mode.memory(part) for part in self.mode.parts]
        for memory, each in zip(bars, seeds, strict=False):
            for output, seed in each.items():
                if isinstance(memory, Directions):
                    memory.change(output.base, adding(output.window, np.asarray(seed)))
                else:
                    add_seed(memory.gradient(output.base), output, seed)
        for record in reversed(self.records):
            self._reverse(record, bars)
        return bars

    def _reverse(self, record: SweepRecord, bars: Sequence[Memory]) -> None:
        """Run the adjoint of one record."""
        match record:
            case StageRecord():
                record.reverse(bars)
            case TangentStepRecord():
                for direction, gradients in enumerate(_directions(bars)):
                    record.reverse(gradients, direction)
            case _:  # linear in the cotangents
                for memory in bars:
                    record.reverse(memory)

    def release(self) -> None:
        """Release all contents."""
        records, self.records = self.records, []
        for record in records:
            record.release()
        TAPES.holders.discard(self._token)

    def __del__(self) -> None:
        if TAPES is not None:  # the interpreter ends
            self.release()

    @property
    def recorded(self) -> list[StepRecord]:
        """The records of a mode without tangents."""
        return self.records  # pyrefly: ignore[bad-return]

    # Steps

    def over(self, stretch: Pullback) -> None:
        """Run the steps of a stretch from the contents that the fields had before the function."""
        with stretch.from_start(), silence():
            for step, constant in stretch.steps:
                match step:
                    case Launch():
                        self._launch(step, constant=constant)
                    case Opaque():
                        self._opaque(step)
                    case Write():
                        stretch.again(step)
                        self._wrote(step)
                    case _:
                        raise NotImplementedError(step)

    def record(self, step: TapeStep) -> object:
        """Run a step with derivatives."""
        match step:
            case RunStep():
                for part in step.parts(MOST_OF_A_PART, fused=True):
                    part.run(self.recorded)
            case Launch():
                constant = RECORDING.get().constant
                self._launch(step, constant=constant)
                if not constant:
                    warn_of_arrays(step, self.active)
            case Opaque():
                return self._opaque(step)
            case Write():
                step.run(None)
                self._wrote(step)
            case _:
                raise NotImplementedError(step)
        return None

    def _launch(self, step: Launch, *, constant: bool) -> None:
        """Run a kernel with derivatives."""
        if not self.mode.levels:
            plans = self._planned(step.prepared, constant=constant)
            planned = step if step.plans is plans else replace(step, plans=plans)
            planned.check()
            planned.run(self.recorded)
            return
        grads = self.active.along(step, constant=constant)
        if not any(grads):
            step.prepared.run(step.values)
        elif constant:
            self._clear(step, grads)
        else:
            self.active.launched(step)
            self._push(step, grads)

    def _push(self, step: Launch, grads: tuple[bool, ...]) -> None:
        """Push tangents through a kernel, stage by stage."""
        if not self.mode.adjoint:
            for stage in step.prepared.code.stages:
                pushed(step, stage, grads, self._parts)
            return
        along = tangents_of(step, grads, self._parts)
        for plan in make_plans(step.prepared.code, grads):
            dual = StageRecord(LaunchRecord(plan, step, []), [])
            try:
                dual.pin(plan.reads, along)
                pushed(step, plan.stage, grads, self._parts)
                dual.pin(plan.reads_after, along)
            except BaseException:
                dual.release()
                raise
            if plan.adjoint is None:
                dual.release()
            else:
                self.records.append(dual)

    def _clear(self, step: Launch, grads: tuple[bool, ...]) -> None:
        """Run a kernel whose results are constants, which leaves zero in their derivatives."""
        planned = replace(step, plans=make_plans(step.prepared.code, grads, constant=True))
        planned.check()
        records: list[StepRecord] = []
        planned.run(records)
        for memory in self._parts[1:]:
            for k in step.prepared.code.writes:
                if grads[k]:
                    make_writable(memory.gradient(field_at(step.values, k)))
            for record in records:
                record.reverse(memory)
        self._keep(*records)

    def _keep(self, *records: SweepRecord) -> None:
        """Keep records for the way back, if there is one."""
        if self.mode.adjoint:
            self.records += records
        else:
            for record in records:
                record.release()

    def _opaque(self, opaque: Opaque) -> object:
        """Run an opaque step with derivatives; return its result.

        Raises:
            TapeError: The step reads fields that vary, and its derivative is not known.
        """
        if not self.mode.levels:
            step = replace(opaque, uses=varying_uses(opaque, self.active))
            result = step.run(self.recorded)
            self.active.check_updates(opaque, step.uses)
            self.touched |= {use.field.storage for use in step.uses}
            written = (use for use in step.uses if use.writes and use.field.has_grads)
            self.active.storages |= {use.field.storage for use in written}
            return result
        result, record = run_step(opaque, self.active, inside)
        if record is not None:
            self._pushed(record, opaque.step)
        return result

    def _pushed(self, record: OpaqueRecord, step: OpaqueStep) -> None:
        """Push tangents through a run of an opaque step."""
        directions = _directions(self._parts)
        if self.mode.adjoint:
            self.records.append(recorded_step(record, step, directions, inside))
            return
        try:
            for dots in directions:
                push_step(record, step, dots, inside)
        finally:
            record.release()

    def _wrote(self, step: Write) -> None:
        """Pass derivatives through a write from Python."""
        self.touched |= {one.storage for one in step.fields}
        passed = self.active.wrote(step)
        if passed is None:
            return
        for memory in self._parts[1:]:
            make_writable(memory.gradient(passed.field))
            passed.push(memory)
        self._keep(passed)

    # Launches that are recorded without tangents

    def plans(self, launch: PreparedLaunch) -> list[AdjointPlan]:
        """Return how the stages of a launch are recorded, as things stand."""
        if self.mode.levels:
            return super().plans(launch)
        return self._planned(launch, constant=RECORDING.get().constant)

    def _planned(self, launch: PreparedLaunch, *, constant: bool) -> list[AdjointPlan]:
        active = self.active
        key = launch, len(active.storages), constant  # varying memory is only ever added
        plans = self._plans.get(key)
        if plans is None:
            step = Launch(launch, launch.values, [])
            self.touched |= {one.storage for one in step.fields}
            grads = active.along(step, constant=True) if constant else active.launched(step)
            plans = self._plans[key] = make_plans(launch.code, grads, constant=constant)
        return plans

    def may_wait(self, launch: PreparedLaunch) -> bool:
        """Tell whether a launch can be recorded later without a difference."""
        return self.takes_runs and not any(plan.ownership for plan in self.plans(launch))

    def run(self, run: Run) -> str | None:
        """Run launches as one program and record that; return why it is not possible, or None."""
        step = fused_step(run, self._plans_of(run))
        if isinstance(step, str):
            return step
        step.check()
        self._record(step)
        return None

    def _plans_of(self, run: Run) -> list[list[AdjointPlan]]:
        """Return how the launches of a period are recorded, with all that varies in some period."""
        while True:
            varying = len(self.active.storages)
            planned = [self.plans(launch) for launch in run.launches]
            if len(self.active.storages) == varying:
                return planned

    # What the recorder hears besides steps

    def misses(self, storage: Storage) -> bool:
        """Tell whether a write from another thread into this memory would falsify derivatives."""
        return storage in (self.active.storages if self.mode.levels else self.touched)

    def carries_into(self, field: Field) -> bool:
        """Tell whether derivatives pass to numbers that Python writes into a field."""
        return is_float(field.element)


class RuleSweep(Sweep):
    """A sweep through the launches of a rule, which Python must not read from."""

    def host_read(self, field: Field, where: Where) -> HostRead | None:
        """Refuse a read of a field that varies."""
        if super().host_read(field, where) is not None:
            raise ReadInPython
        return None

    def result(self, launch: PreparedLaunch, values: Arguments, position: int) -> HostRead | None:
        """Refuse a result of a launch that varies."""
        if super().result(launch, values, position) is not None:
            raise ReadInPython
        return None

    def host_add(self, target: ArrayLike, values: HostArray) -> None:
        """Allow adding constants, which leaves tangents unchanged; a transpose knows none."""
        if self.mode.adjoint:
            super().host_add(target, values)


def inside(wanted: Iterable[Field], levels: int, adjoint: bool) -> Sweep:
    """Return a sweep through the launches of a rule."""
    return RuleSweep(wanted, Mode(levels, adjoint))


def forward_of(step: OpaqueStep) -> OpaqueStep:
    """Return a step as one whose `reverse` pushes tangents."""
    return rules.forward_of(step, inside)


def _directions(parts: Sequence[Memory]) -> Iterator[list[Gradient]]:
    """Yield, for each direction, functions that return the parts of a field to work on.

    Where the tangents of several directions belong to one value, each direction starts from the
    same values, and the last one changes them.
    """
    last = parts[-1]
    if not isinstance(last, Directions):
        yield [memory.gradient for memory in parts]
        return
    for k, dots in enumerate(last.each()):
        value = parts[0].gradient
        yield [value if k == last.width - 1 else _copies(value), dots]


def _copies(gradient: Callable[[Field], Field]) -> Gradient:
    """Return a function that returns copies of gradients, of each field one."""
    work: dict[Storage, Field] = {}

    def copy(field: Field) -> Field:
        if field.storage not in work:
            work[field.storage] = copied(gradient(field.origin))
        return work[field.storage].under(field.shape)

    return copy
