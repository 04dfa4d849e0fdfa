"""Runs of launches performed: as fused programs, or one launch after the other."""

from __future__ import annotations

from difftile.compile.arguments import Arguments, field_at
from difftile.diagnostics import LaunchError
from difftile.fields.pending import PENDING, run_pending
from difftile.fields.recording import RECORDING, Recording
from difftile.fusion.fused_run import FusedRun
from difftile.fusion.period import Unfusible
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.run import Run
from difftile.substrate import LOCK, batch_of, current_session, raise_first


def perform_run(run: Run) -> None:
    """Launch all periods of a run; on an open tape they are recorded.

    Raises:
        LaunchError: A tape of another thread would miss a launch.
    """
    run_pending()
    if run.count < 2 or perform_fused(run) is not None:
        with batch_of(current_session().batches):
            for t in range(run.count):
                for j, launch in enumerate(run.launches):
                    launch_one(launch, run.values_at(j, t))


def perform_fused(run: Run) -> str | None:
    """Perform a run as one program; return why that is not possible, or None."""
    reason = _performed(run)
    for launch in run.launches:
        launch.fusion = reason
    return reason


def _performed(run: Run) -> str | None:
    if PENDING.is_off:
        return "dt.init(fuse=False) says so"
    recording = RECORDING.get()
    recorder = recording.recorder
    if recording.observer is not None:
        return "what it accesses is observed"
    with LOCK:
        if len(Recording.open) > (recorder is not None):
            for launch, values in zip(run.launches, run.values, strict=True):
                check_not_missed(f"Kernel '{launch.code.name}'", recording, launch, values)
        if recorder is not None:
            return recorder.run(run)
        try:
            fused = FusedRun.of(run, None)
        except Unfusible as reason:
            return str(reason)
        fused.launch()
    return None


def launch_one(launch: PreparedLaunch, values: Arguments) -> None:
    """Launch once, as a call of the kernel does when its arguments are checked."""
    recording = RECORDING.get()
    recorder = recording.recorder
    if launch.exclusive:
        LOCK.acquire()
    try:
        if len(Recording.open) > (recorder is not None):
            check_not_missed(f"Kernel '{launch.code.name}'", recording, launch, values)
        if recorder is None:
            launch.run(values)
        else:
            recorder.launch(launch, values)
        if launch.session.debug:
            raise_first()
    finally:
        if launch.exclusive:
            LOCK.release()


def check_not_missed(
    kernel: object, recording: Recording, launch: PreparedLaunch, values: Arguments
) -> None:
    """Check that no open tape misses a launch.

    Raises:
        LaunchError: One would; the message begins with the kernel.
    """
    if recording.is_missed(field_at(values, k).storage for k in launch.code.writes):
        where, instead = recording.missed_where
        raise LaunchError(
            f"{kernel} is launched while a tape that has recorded a field which it writes is open "
            f"{where}, and would miss it. Write the field {instead}."
        )
