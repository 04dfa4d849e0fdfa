"""What a diagnosed tape puts in the way of its launches and records, so that it hears of them."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from difftile.compile.adjoint_plan import AdjointPlan
from difftile.diagnosis.diagnosis import Diagnosis
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.window import Window
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.history import History
from difftile.recording.opaque import Opaque, OpaqueRecord
from difftile.recording.records import HostCopy, HostWrite, LaunchRecord, Record
from difftile.recording.replay import Replay


class WatchedHistory:
    """A history that the diagnosis hears of: what a tape records into."""

    def __init__(self, history: History, diagnosis: Diagnosis) -> None:
        self._history = history
        self._diagnosis = diagnosis

    def launch(self, call: PreparedLaunch, values: list[Any], plans: list[AdjointPlan]) -> None:
        """Run a kernel and remember it."""
        before = self._diagnosis.before_launch(call, values, plans)
        self._history.launch(call, values, plans)
        self._diagnosis.after_launch(call, values, plans, before)

    def opaque(self, opaque: Opaque) -> Any:
        """Run a step whose inside is not seen and remember it; return what it saved."""
        before = self._diagnosis.before_opaque(opaque)
        saved = self._history.opaque(opaque)
        self._diagnosis.after_opaque(opaque, before)
        return saved

    def host_write(
        self, field: Field, where: tuple[int, ...] | Window | None, values: npt.NDArray[Any]
    ) -> bool:
        """Remember a write that is about to happen."""
        self._diagnosis.steps.append(HostWrite(field, where, None))
        return self._history.host_write(field, where, values)

    def host_copy(self, target: ArrayLike, source: ArrayLike) -> None:
        """Remember a copy from Python that is about to happen."""
        self._diagnosis.steps.append(HostCopy(target, source))
        self._history.host_copy(target, source)


class WatchedReplay:
    """A replay that the diagnosis hears of."""

    def __init__(self, replay: Replay, diagnosis: Diagnosis) -> None:
        self._replay = replay
        self._diagnosis = diagnosis

    def reverse(self, record: Record) -> None:
        """Run the adjoint of one record."""
        match record:
            case LaunchRecord(plan) if plan.adjoint is not None:
                self._diagnosis.gradients.reverse(self._replay, record)
            case OpaqueRecord():
                self._diagnosis.gradients.reverse_opaque(self._replay, record)
            case _:
                self._replay.reverse(record)
