"""The dispatcher of the four events of a recorder: each becomes a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

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
from difftile.recording.steps import HostCopy, HostWrite, Launch, TapeStep


class StepRecorder(Recorder, ABC):
    """A recorder that turns launches, host writes, host copies and opaque steps into steps."""

    _shared: SharedFields | None = None

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
        self._record(Launch(launch, values, self.plans(launch)))

    def host_write(self, field: Field, where: Where, values: HostArray) -> bool:
        """Record a write from Python that is about to happen."""
        if where is not None:
            self.look_at((field,))
        stays = bool(self.record(HostWrite(field, where, values)))
        if self._shared:
            self._shared.about_to_write(field, where, values)
        return stays

    def host_copy(self, target: ArrayLike, source: ArrayLike) -> None:
        """Record a copy from Python that is about to happen; a constant one as a write."""
        if RECORDING.get().constant:
            self.host_write(target.base, target.window, source.to_numpy())
        else:
            self.copied(target, source)

    def copied(self, target: ArrayLike, source: ArrayLike) -> None:
        """Record a copy that is not constant and is about to happen."""
        whole = () if target.window is None else (target.base,)
        self.look_at((*whole, source.base))
        self.record(HostCopy(target, source))
        if self._shared:
            self._shared.about_to_copy(target, source)

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
