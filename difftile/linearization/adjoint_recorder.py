"""A recorder that keeps what a backward pass reads while the function runs for the first time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from difftile.compile.adjoint_plan import AdjointPlan, make_plans
from difftile.compile.arguments import Arguments, field_at
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, Storage
from difftile.fields.recording import RECORDING, Where
from difftile.fields.tracked import HostRead, Reads, reads_in
from difftile.ir.types import is_float
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.run import Run
from difftile.linearization.sweep import Active, varying_uses
from difftile.recording.host_reads import ConstantNumber, computed_by_python, result_of
from difftile.recording.opaque import Opaque
from difftile.recording.recorder import StepRecorder
from difftile.recording.replay import Replay
from difftile.recording.runs import MOST_OF_A_PART, RunStep, fused_step
from difftile.recording.seeds import Seed, add_seed
from difftile.recording.steps import HostStep, Launch, StepRecord, TapeStep
from difftile.recording.tapes import TAPES


class AdjointRecorder(StepRecorder):
    """Records the steps of a function for the cotangents of fields that are known beforehand.

    A `Pullback` learns later which cotangents are wanted, and runs its steps twice for that.

    Args:
        wanted: The fields whose cotangents are wanted.

    Attributes:
        records: The records of the steps.
        touched: The memory that the steps read or write.
    """

    is_private = True
    takes_runs = True

    def __init__(self, wanted: Collection[Field]) -> None:
        self.records: list[StepRecord] = []
        self.touched: set[Storage] = set()
        self._active = Active(wanted)
        self._plans: dict[tuple[PreparedLaunch, int, bool], list[AdjointPlan]] = {}
        self._identity = object()
        self._returned: dict[str, HostRead] = {}
        self._token = object()
        TAPES.holders.add(self._token)

    def misses(self, storage: Storage) -> bool:
        """Tell whether a write from another thread into this memory would falsify the records."""
        return storage in self.touched

    def plans(self, launch: PreparedLaunch) -> list[AdjointPlan]:
        """Return how the stages of a launch are recorded, as things stand."""
        constant, active = RECORDING.get().constant, self._active
        key = launch, len(active.storages), constant  # no memory leaves those that vary
        plans = self._plans.get(key)
        if plans is None:
            step = Launch(launch, launch.values, [])
            self.touched |= {one.storage for one in step.fields}
            grads = active.along(step) if constant else active.launched(step)
            plans = self._plans[key] = make_plans(launch.code, grads, constant=constant)
        return plans

    def run(self, run: Run) -> str | None:
        """Run launches as one program and record that; return why it is not possible, or None."""
        planned, varying = self._planned(run), {j for j, _ in run.varying}
        step = fused_step(run, planned)
        if isinstance(step, str):
            return step
        for j, plans in enumerate(planned):
            owned = [plan.ownership for plan in plans if plan.ownership is not None]
            for t in range(run.count if j in varying else 1) if owned else ():
                for one in owned:
                    one.check(run.values_at(j, t))
        self._record(step)
        return None

    def _planned(self, run: Run) -> list[list[AdjointPlan]]:
        """Return how the launches of a period are recorded, with all that varies in some period."""
        while True:
            varying = len(self._active.storages)
            planned = [self.plans(launch) for launch in run.launches]
            if len(self._active.storages) == varying:
                return planned

    def record(self, step: TapeStep) -> object:
        """Run a step and record it, unless Python itself is about to write."""
        match step:
            case RunStep():
                for part in step.parts(MOST_OF_A_PART, fused=True):
                    part.run(self.records)
            case Launch():
                for plan in step.plans:
                    if plan.ownership is not None:
                        plan.ownership.check(step.values)
                step.run(self.records)
            case Opaque():
                return self._opaque(step)
            case HostStep():
                self.touched |= {one.storage for one in step.fields}
                passed = self._active.wrote(step)
                if passed is not None:
                    self.records.append(passed)
            case _:
                raise NotImplementedError(step)
        return None

    def _opaque(self, opaque: Opaque) -> object:
        uses = varying_uses(opaque, self._active)
        step = replace(opaque, uses=uses)
        result = step.run(self.records)
        self.touched |= {use.field.storage for use in step.uses}
        written = (use for use in step.uses if use.writes and use.field.has_grads)
        self._active.storages |= {use.field.storage for use in written}
        return result

    def host_read(self, field: Field, where: Where) -> HostRead | None:
        """Return a read from Python of a field that varies."""
        varies = field in self._active and is_float(field.element)
        return HostRead(self._identity, repr(field)) if varies else None

    def result(self, launch: PreparedLaunch, values: Arguments, position: int) -> HostRead | None:
        """Return a read of a result of a launch that varies."""
        field = field_at(values, position)
        varies = field in self._active and is_float(field.element)
        name = launch.code.name
        read = self._returned.setdefault(name, HostRead(self._identity, result_of(name)))
        return read if varies else None

    def varying(self, reads: Iterable[HostRead]) -> list[HostRead]:
        """Return those of some reads that are of fields that vary."""
        return [read for read in reads if read.recorder is self._identity]

    def takes_constant(self, number: ConstantNumber, reads: Reads) -> None:
        """Warn that a number which varies is taken for a constant."""
        if varying := self.varying(reads):
            number.warn(varying)

    def carries_into(self, field: Field) -> bool:
        """Tell whether derivatives pass to numbers that Python writes into a field."""
        return is_float(field.element)

    def follows(self, launch: PreparedLaunch, position: int) -> bool:
        """Tell that derivatives pass to results of launches."""
        return True

    def host_write(self, field: Field, where: Where, values: HostArray) -> bool:
        """Record a write from Python that is about to happen.

        Raises:
            TapeError: The values were computed from fields that vary.
        """
        reads = self.varying(reads_in(values))
        if reads and is_float(field.element) and not RECORDING.get().constant:
            raise computed_by_python(field, reads)
        return super().host_write(field, where, values)

    def pull(self, seeds: Mapping[ArrayLike, Seed]) -> Callable[[Field], Field]:
        """Pull cotangents back; return a function that returns those of fields before the steps.

        Args:
            seeds: For each output the cotangent of its contents after the steps: a field, an array
                of its shape, or a number for all elements.
        """
        replay = Replay((), accumulate=False, private=True)
        for output, seed in seeds.items():
            add_seed(replay.gradient(output.base), output, seed)
        for record in reversed(self.records):
            replay.reverse(record)
        return replay.gradient

    def release(self) -> None:
        """Let go of all contents."""
        records, self.records = self.records, []
        for record in records:
            record.release()
        TAPES.holders.discard(self._token)

    def __del__(self) -> None:
        if TAPES is not None:  # pyright: ignore[reportUnnecessaryComparison] - the interpreter ends
            self.release()
