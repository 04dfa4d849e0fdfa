"""Running an opaque step: on the open tape, if there is one."""

from __future__ import annotations

from typing import Any

from difftile.fields.pending import run_pending
from difftile.fields.recording import RECORDING
from difftile.recording.meeting import meet
from difftile.recording.opaque import Opaque, OpaqueStep
from difftile.recording.watching import watched


def perform(step: OpaqueStep) -> Any:
    """Run a step, on the open tape if there is one, and return its result.

    Raises:
        LaunchError: The step writes a field that is declared to be read only.
        RankError: In a debug session, another rank is at another step.
    """
    run_pending()
    tape = RECORDING.get().recorder
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
