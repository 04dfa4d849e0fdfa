"""What is checked before a tape goes backward."""

from __future__ import annotations

import math
from typing import Any

from difftile.diagnosis.diagnosis import Diagnosis
from difftile.diagnosis.findings import report_of, values_not_finite
from difftile.diagnosis.report import Report
from difftile.diagnostics import GradientCut, LossNotFinite, render
from difftile.fields.array_like import ArrayLike
from difftile.recording.replay import Replay
from difftile.runtime.tape_recorder import TapeRecorder
from difftile.user_line import warn_user


def loss_not_finite(loss: ArrayLike, recorder: TapeRecorder) -> LossNotFinite | None:
    """Return the error of a loss that is infinite or NaN; None for any other."""
    value = float(loss.to_numpy().item())
    if math.isfinite(value):
        return None
    found = None if recorder.diagnosis is None else values_not_finite(recorder.diagnosis)
    return LossNotFinite(
        f"The loss is {value}, so no gradient was computed"
        + (f"; {recorder.last_writer} wrote it." if recorder.last_writer else ".")
        + ("" if found is None else f"\n\n{found.text}")
    )


def check_dependence(loss: ArrayLike, recorder: TapeRecorder, *, is_rank: bool) -> None:
    """Warn of a constant loss, unless the diagnosis will say so.

    Args:
        loss: The loss.
        recorder: What was recorded.
        is_rank: Whether other ranks may have launched something where this one has not.
    """
    steps = [step for step, _ in recorder.history.steps()]
    constant = not any(step.passes_to({loss.base.storage}) for step in reversed(steps))
    if recorder.diagnosis is not None:
        recorder.diagnosis.constant = loss.base if constant else None
    elif constant and not recorder.cuts.told and (not is_rank or recorder.counts.launches):
        title = (
            f"All gradients are zero: the loss {loss!r} depends smoothly on no field with a "
            "gradient."
        )
        hint = "dt.Tape(loss, diagnose=True) looks for the reason."
        warn_user(GradientCut(render(title, (), (), hint)))


def why_nothing(seeds: object, diagnosis: Diagnosis, *, accumulate: bool) -> Report:
    """Return the findings on a recording that has no derivative."""
    fields: Any = (seeds,) if isinstance(seeds, ArrayLike) else seeds
    outputs = [one.base.storage for one in fields or () if isinstance(one, ArrayLike)]
    return report_of(diagnosis, Replay((), accumulate), outputs)


def text_of(report: Report) -> str:
    """Return the findings of a report in words."""
    return "\n\n".join(finding.text for finding in report.findings)
