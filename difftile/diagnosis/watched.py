"""The observer through which a diagnosed tape tells the diagnosis of its steps and records."""

from __future__ import annotations

from collections.abc import Callable

from difftile.diagnosis.diagnosis import Diagnosis
from difftile.recording.opaque import Opaque, OpaqueRecord
from difftile.recording.replay import Replay
from difftile.recording.steps import Launch, LaunchRecord, StepRecord, TapeStep
from difftile.recording.write import Write


class DiagnosisObserver:
    """Tells a diagnosis of the steps of a tape before and after they run, and of their adjoints."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        self._diagnosis = diagnosis

    def before(self, step: TapeStep) -> Callable[[], None] | None:
        """Announce a step that is about to run; return a callback for its end, if needed."""
        diagnosis = self._diagnosis
        match step:
            case Launch(launch, values, plans):
                held = diagnosis.before_launch(launch, values, plans)
                return lambda: diagnosis.after_launch(launch, values, plans, held)
            case Opaque():
                contents = diagnosis.before_opaque(step)
                return lambda: diagnosis.after_opaque(step, contents)
            case Write(field, where, source):
                diagnosis.steps.append(Write(field, where, source))
            case _:
                raise NotImplementedError(step)
        return None

    def reverse(self, replay: Replay, record: StepRecord) -> None:
        """Run the adjoint of one record."""
        match record:
            case LaunchRecord(plan) if plan.adjoint is not None:
                self._diagnosis.gradients.reverse(replay, record)
            case OpaqueRecord():
                self._diagnosis.gradients.reverse_opaque(replay, record)
            case _:
                replay.reverse(record)
