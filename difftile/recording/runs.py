"""Runs on tapes: a step that launches a fused program, and the record that reverses it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import field

from difftile.compile.adjoint_plan import AdjointPlan
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.fusion.fused_run import FusedRun
from difftile.fusion.period import Slab, Unfusible
from difftile.launch.run import Run
from difftile.recording.steps import (
    Derivatives,
    Launch,
    LaunchRecord,
    StepRecord,
    TapeStep,
)
from difftile.records import dataclass
from difftile.substrate import Buffer, current_session, pack, unpin

MOST_OF_A_PART = 1 << 26  # bytes that a part of a run saves: packed ones need them again
_FEWEST_PERIODS = 4  # of a part; shorter ones are launched one by one


@dataclass(slots=True, eq=False)
class RunStep(TapeStep):
    """A run of launches as one step.

    Args:
        run: The launches.
        plans: How the stages of each launch of a period are recorded.

    Attributes:
        fused: The run bound to its fields.
        period: The launches of the first period.

    Raises:
        Unfusible: The run has no fused program.
    """

    run_: Run
    plans: Sequence[list[AdjointPlan]]
    fused: FusedRun = field(init=False)
    period: list[Launch] = field(init=False)

    def __post_init__(self) -> None:
        run = self.run_
        self.fused = FusedRun.of(run, self.plans)
        launched = zip(run.launches, run.values, self.plans, strict=True)
        self.period = [Launch(launch, values, plans) for launch, values, plans in launched]

    @property
    def title(self) -> str:
        """The kernels, for messages."""
        return names_of(self.run_)

    @property
    def count(self) -> int:
        """The number of launches."""
        return self.run_.count * len(self.run_.launches)

    @property
    def reads(self) -> list[Field]:
        """The fields that the launches read."""
        return _distinct(one for launch in self.period for one in launch.reads)

    @property
    def writes(self) -> list[Field]:
        """The fields that the launches write."""
        return _distinct(one for launch in self.period for one in launch.writes)

    @property
    def hidden(self) -> Collection[Field]:
        """The hidden fields of the kernels."""
        return [one for launch in self.period for one in launch.hidden]

    def accesses(self) -> Iterator[tuple[Field, bool]]:
        """Yield the accesses of one period, which stand for all periods."""
        for launch in self.period:
            yield from launch.accesses()

    def growth(self, leaving: Callable[[Storage], int], *, recording: bool) -> int:
        """Return the bytes of the slabs, and of the buffers that the run must leave."""
        left = sum(leaving(one.storage) for one in self.writes)
        return left + (self.fused.slab_nbytes() if recording else 0)

    def run(self, records: list[StepRecord] | None, *, repeats: bool = False) -> None:
        """Launch the fused program."""
        if records is None:
            self.fused.launch()
            return
        packing = not repeats  # to read packed contents again takes memory that a limit counts
        kept = [one.storage.memory for one in self.fused.kept]
        for buffer in kept:
            buffer.pins += 1
            buffer.packing_pins += packing
        try:
            slabs = self.fused.record()
        except BaseException:
            unpin(*kept, packing=packing)
            raise
        pool = current_session().pool
        for buffer in slabs.values():
            buffer.pins += 1
            buffer.packing_pins += packing
            pool.keep(buffer.held)
        pack(*slabs.values())
        records.append(RunRecord(self, slabs, kept, packing))

    def passes_to(self, outputs: Collection[Storage]) -> bool:
        """Tell whether a launch writes varying values to an output."""
        return any(launch.passes_to(outputs) for launch in self.period)

    def check(self) -> None:
        """Check the launches as `Launch.check` does, equal launches only once."""
        varying = {j for j, _ in self.run_.varying}
        for j, launch in enumerate(self.period):
            if any(plan.ownership is not None for plan in launch.plans):
                for t in range(self.run_.count if j in varying else 1):
                    Launch(launch.prepared, self.run_.values_at(j, t), launch.plans).check()

    def launches(self) -> Iterator[Launch]:
        """Yield the launches one by one."""
        for period in range(self.run_.count):
            for k, plans in enumerate(self.plans):
                yield Launch(self.run_.launches[k], self.run_.values_at(k, period), plans)

    def parts(self, room: float, *, fused: bool = False) -> Iterator[TapeStep]:
        """Yield the run in parts, each of which saves no more than an array may hold.

        Args:
            room: The bytes that each of them may save.
            fused: Whether a part of the fewest periods may save more; else its launches follow one
                by one.
        """
        each = self.fused.slab_nbytes() / self.run_.count
        periods = self.run_.count if room >= each * self.run_.count else int(room // each)
        most = self.fused.most_periods
        periods = min(max(periods, _FEWEST_PERIODS) if fused else periods, most)
        if periods < _FEWEST_PERIODS:
            yield from self.launches()
            return
        if periods >= self.run_.count:
            yield self
            return
        for first in range(0, self.run_.count, periods):
            count = min(periods, self.run_.count - first)
            yield RunStep(self.run_.part(first, count), self.plans)


@dataclass(slots=True, eq=False)
class RunRecord(StepRecord):
    """A run, and the contents that it has saved.

    Args:
        step_: The run.
        slabs: The contents that it has overwritten.
        kept: The pinned buffers of fields that it reads.
        packing: Whether all of them may be packed.
    """

    step_: RunStep
    slabs: dict[Slab, Buffer]
    kept: list[Buffer]
    packing: bool

    @property
    def step(self) -> RunStep:
        """The run."""
        return self.step_

    @property
    def launches(self) -> int:
        """The number of launches."""
        stages = sum(
            plan.adjoint is not None or plan.passing_by
            for plans in self.step_.plans
            for plan in plans
        )
        return self.step_.run_.count * stages

    @property
    def buffers(self) -> Iterable[Buffer]:
        """The pinned buffers and the slabs."""
        return [*self.slabs.values(), *self.kept]

    def reverse(self, gradients: Derivatives) -> None:
        """Run the fused adjoint."""
        gradients.run(self)

    def expanded(self) -> Iterator[LaunchRecord]:
        """Yield the records of the launches, the last one first; each is good until the next."""
        fused, plans = self.step_.fused, self.step_.plans
        period, contents = fused.kernels.period, dict(zip(fused.kept, self.kept, strict=True))
        parts = list(enumerate(period.parts))
        for t in reversed(range(self.step_.run_.count)):
            launches = [
                Launch(launch, self.step_.run_.values_at(k, t), plans[k])
                for k, launch in enumerate(self.step_.run_.launches)
            ]
            for k, part in reversed(parts):
                plan, launch = part.plan, launches[part.launch]
                if plan is None or not (plan.adjoint or plan.passing_by):
                    continue
                taken: list[Buffer] = []
                found: list[Buffer] = []
                for n, position in enumerate(plan.kept if plan.adjoint else ()):
                    place, later = period.contents_at(k, position, after=n >= len(plan.reads))
                    if isinstance(place, Slab):
                        row = fused.row(self.slabs[place].unpacked(), place, t + later)
                        taken.append(row)
                        found.append(row)
                    else:
                        found.append(contents[fused.fields[place.number]])
                yield LaunchRecord(plan, launch, found)
                for row in taken:
                    row.free()

    def release(self) -> None:
        """Release the old values."""
        held, self.slabs, self.kept = [*self.slabs.values(), *self.kept], {}, []
        unpin(*held, packing=self.packing)


def _distinct(fields: Iterable[Field]) -> list[Field]:
    """Return one field for each memory."""
    return list({one.storage: one for one in fields}.values())


def names_of(run: Run) -> str:
    """Return the kernels of a run, for messages."""
    names = dict.fromkeys(launch.code.name for launch in run.launches)
    return ", ".join(f"'{name}'" for name in names)


def fused_step(run: Run, plans: Sequence[list[AdjointPlan]]) -> RunStep | str:
    """Return a run as one step, or why its launches go one by one."""
    try:
        return RunStep(run, plans)
    except Unfusible as reason:
        return str(reason)
