"""The dispatcher of the three events of a recorder: launches, writes and opaque steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from difftile.compile.adjoint_plan import AdjointPlan, make_plans
from difftile.compile.arguments import Arguments
from difftile.diagnostics import TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.recording import RECORDING, Recorder, Where
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.opaque import Opaque, OpaqueStep
from difftile.recording.shared_fields import SharedFields
from difftile.recording.steps import Launch, TapeStep
from difftile.recording.write import Write


class StepRecorder(Recorder, ABC):
    """A recorder that turns launches, writes from Python and opaque steps into steps."""

    _shared: SharedFields | None = None

    @abstractmethod
    def record(self, step: TapeStep) -> object:
        """Run a step and record it; return the result of an opaque step."""

    def plans(self, launch: PreparedLaunch) -> list[AdjointPlan]:
        """Return how the stages of a launch are recorded: by default without derivatives."""
        return make_plans(launch.code, (False,) * len(launch.values))

    def launch(self, launch: PreparedLaunch, values: Arguments) -> None:
        """Run a kernel and record it."""
        self._record(Launch(launch, values, self.plans(launch)))

    def write(self, field: Field, where: Where, given: HostArray | ArrayLike) -> None:
        """Write what Python gives, and record it."""
        if isinstance(given, np.ndarray):
            step = Write(field, where, None, given)
        elif RECORDING.get().constant:
            step = Write(field, where, None, given.to_numpy())
        else:
            step = Write(field, where, given)
            self.look_at(step.reads)
        if where is not None:  # it leaves contents
            self.look_at((field,))
        if self._shared:
            self._shared.writes((field,))
        self.record(step)
        if self._shared:
            self._shared.used((field,))

    def opaque(self, step: OpaqueStep) -> Any:
        """Run and record an opaque step; return its result."""
        return self._record(Opaque(step, step.uses, constant=RECORDING.get().constant))

    # Memory that others may write

    def shares(self, field: Field) -> None:
        """Note that others are given the memory of a field, which they may write from then on."""
        if self.misses(field.storage):
            self.shared_fields().meet(field, others=True)

    def shared_fields(self) -> SharedFields:
        """Return the fields used so far whose memory others may write."""
        if self._shared is None:
            self._shared = SharedFields()
        return self._shared

    def look_at(self, fields: Iterable[Field]) -> None:
        """Check fields that are about to be used for writes by others."""
        fields = tuple(fields)
        for field in fields:
            if field.storage.memory.is_shared:
                self.shared_fields().meet(field)
        if self._shared:
            for field in self._shared.changed(fields):
                self.changed(field)

    def changed(self, field: Field) -> None:
        """Handle a field that others have written since it was used.

        Raises:
            TapeError: Derivatives may pass through the overwritten contents.
        """
        raise TapeError(
            f"{field!r} is in memory that is shared, and the other side wrote there after the tape "
            "had used it: derivatives would pass through what was overwritten. Write it by "
            "x.from_numpy(...) or x.copy_from(...), which are recorded, or before the recording "
            "begins."
        )

    def _record(self, step: TapeStep) -> object:
        """Record a step that runs now."""
        self.look_at(step.fields)
        result = self.record(step)
        if self._shared:
            self._shared.used(step.writes)
        return result
