"""Running an opaque step: on the open tape, if there is one."""

from __future__ import annotations

from typing import Any

from difftile.fields.recording import RECORDING, Recording
from difftile.recording.meeting import meet
from difftile.recording.opaque import Opaque, OpaqueStep, watched


def perform(step: OpaqueStep) -> Any:
    """Run a step, on the open tape if there is one, and return its result.

    Raises:
        LaunchError: The step writes a field that is declared to be read only.
        RankError: In a debug session, another rank is at another step.
    """
    recording = RECORDING.get()
    if recording.trace is not None:
        recording.trace.give_up(f"{step.title} runs in a step")
        recorder, constant, observer = recording.recorder, recording.constant, recording.observer
        with Recording(recorder, constant=constant, observer=observer):  # the step may read fields
            return perform(step)
    tape = recording.recorder
    if tape is not None:
        return tape.opaque(step)
    if step.communicates:
        meet(step.title, Opaque(step, step.uses, constant=True).signature)
    if step.is_contained:
        return step.run()
    with watched(step.title, step.uses) as writes:
        saved = step.run()
        writes.uses()
    return saved
