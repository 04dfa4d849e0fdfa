"""The dispatcher of the four events that a recorder hears of: each becomes a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from difftile.compile.adjoint_plan import AdjointPlan, make_plans
from difftile.compile.arguments import Arguments
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.recording import RECORDING, Recorder, Where
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.opaque import Opaque, OpaqueStep
from difftile.recording.steps import HostCopy, HostWrite, Launch, TapeStep


class StepRecorder(Recorder, ABC):
    """A recorder that hears of launches, host writes, host copies and opaque steps as steps."""

    @abstractmethod
    def record(self, step: TapeStep) -> object:
        """Record a step, and run it unless Python itself is about to write.

        Returns:
            The result of an opaque step; of a write, whether it may happen in the field's memory
            although records need the contents.
        """

    def plans(self, launch: PreparedLaunch) -> list[AdjointPlan]:
        """Return how the stages of a launch are recorded: by default without derivatives."""
        return make_plans(launch.code, (False,) * len(launch.values))

    def launch(self, launch: PreparedLaunch, values: Arguments) -> None:
        """Run a kernel and record it."""
        self.record(Launch(launch, values, self.plans(launch)))

    def host_write(self, field: Field, where: Where, values: HostArray) -> bool:
        """Record a write from Python that is about to happen."""
        return bool(self.record(HostWrite(field, where, values)))

    def host_copy(self, target: ArrayLike, source: ArrayLike) -> None:
        """Record a copy from Python that is about to happen; a constant one as a write."""
        if RECORDING.get().constant:
            self.host_write(target.base, target.window, source.to_numpy())
        else:
            self.record(HostCopy(target, source))

    def opaque(self, step: OpaqueStep) -> Any:
        """Run and record a step whose inside is not seen; return its result."""
        return self.record(Opaque(step, step.uses, constant=RECORDING.get().constant))
