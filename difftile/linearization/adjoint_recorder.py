"""A recorder that keeps values for a backward pass while the function runs for the first time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from difftile.compile.adjoint_plan import AdjointPlan, make_plans
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field, Storage
from difftile.fields.recording import RECORDING
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.run import Run
from difftile.linearization.private_recorder import PrivateRecorder
from difftile.linearization.sweep import Active, varying_uses, warn_of_arrays
from difftile.recording.opaque import Opaque
from difftile.recording.replay import Replay
from difftile.recording.runs import MOST_OF_A_PART, RunStep, fused_step
from difftile.recording.seeds import Seed, add_seed
from difftile.recording.steps import HostStep, Launch, StepRecord, TapeStep
from difftile.recording.tapes import TAPES


class AdjointRecorder(PrivateRecorder):
    """Records the steps of a function for the cotangents of fields that are known beforehand.

    A `Pullback` learns later which cotangents it has to find, and runs its steps twice for that.

    Args:
        wanted: The fields to return cotangents for.

    Attributes:
        records: The records of the steps.
        touched: The memory that the steps read or write.
    """

    takes_runs = True

    def __init__(self, wanted: Collection[Field]) -> None:
        super().__init__(Active(wanted))
        self.records: list[StepRecord] = []
        self.touched: set[Storage] = set()
        self._plans: dict[tuple[PreparedLaunch, int, bool], list[AdjointPlan]] = {}
        self._token = object()
        TAPES.holders.add(self._token)

    def misses(self, storage: Storage) -> bool:
        """Tell whether a write from another thread into this memory would falsify the records."""
        return storage in self.touched

    def plans(self, launch: PreparedLaunch) -> list[AdjointPlan]:
        """Return how the stages of a launch are recorded, as things stand."""
        constant, active = RECORDING.get().constant, self.active
        key = launch, len(active.storages), constant  # varying memory is only ever added
        plans = self._plans.get(key)
        if plans is None:
            step = Launch(launch, launch.values, [])
            self.touched |= {one.storage for one in step.fields}
            grads = active.along(step) if constant else active.launched(step)
            plans = self._plans[key] = make_plans(launch.code, grads, constant=constant)
        return plans

    def may_wait(self, launch: PreparedLaunch) -> bool:
        """Tell whether a launch can be recorded later without a difference."""
        return not any(plan.ownership for plan in self.plans(launch))

    def run(self, run: Run) -> str | None:
        """Run launches as one program and record that; return why it is not possible, or None."""
        step = fused_step(run, self._planned(run))
        if isinstance(step, str):
            return step
        step.check()
        self._record(step)
        return None

    def _planned(self, run: Run) -> list[list[AdjointPlan]]:
        """Return how the launches of a period are recorded, with all that varies in some period."""
        while True:
            varying = len(self.active.storages)
            planned = [self.plans(launch) for launch in run.launches]
            if len(self.active.storages) == varying:
                return planned

    def record(self, step: TapeStep) -> object:
        """Run a step and record it, unless Python itself is about to write."""
        match step:
            case RunStep():
                for part in step.parts(MOST_OF_A_PART, fused=True):
                    part.run(self.records)
            case Launch():
                step.check()
                step.run(self.records)
                if not RECORDING.get().constant:
                    warn_of_arrays(step, self.active)
            case Opaque():
                return self._opaque(step)
            case HostStep():
                self.touched |= {one.storage for one in step.fields}
                passed = self.active.wrote(step)
                if passed is not None:
                    self.records.append(passed)
            case _:
                raise NotImplementedError(step)
        return None

    def _opaque(self, opaque: Opaque) -> object:
        uses = varying_uses(opaque, self.active)
        step = replace(opaque, uses=uses)
        result = step.run(self.records)
        self.touched |= {use.field.storage for use in step.uses}
        written = (use for use in step.uses if use.writes and use.field.has_grads)
        self.active.storages |= {use.field.storage for use in written}
        return result

    def pull(self, seeds: Mapping[ArrayLike, Seed]) -> Callable[[Field], Field]:
        """Pull cotangents back; return a function from fields to cotangents before the steps.

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
        """Release all contents."""
        records, self.records = self.records, []
        for record in records:
            record.release()
        TAPES.holders.discard(self._token)

    def __del__(self) -> None:
        if TAPES is not None:  # the interpreter ends
            self.release()
