"""Runs of launches: performed one launch after the other."""

from __future__ import annotations

from difftile.compile.arguments import Arguments, field_at
from difftile.diagnostics import LaunchError
from difftile.fields.recording import RECORDING, Recording
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.run import Run
from difftile.substrate import LOCK, raise_first


def perform_run(run: Run) -> None:
    """Launch all periods of a run; on an open tape they are recorded.

    Raises:
        IndexOutOfRange: An index would leave a shape; the launches before have run.
        LaunchError: A tape of another thread would miss a launch.
    """
    for t in range(run.count):
        for j, launch in enumerate(run.launches):
            _perform(launch, run.values_at(j, t))


def _perform(launch: PreparedLaunch, values: Arguments) -> None:
    """Launch once, as a call of the kernel does when its arguments are known."""
    recording = RECORDING.get()
    recorder = recording.recorder
    if launch.suspect is not None and launch.suspect(values):
        launch.check(values)
    if launch.exclusive:
        LOCK.acquire()
    try:
        for one in launch.derived:
            one.refresh()
        if launch.code.streams:
            launch.draw_anew(values)
        if len(Recording.open) > (recorder is not None):
            _check_not_missed(recording, launch, values)
        if recorder is None:
            launch.run(values)
        else:
            recorder.launch(launch, values)
        if launch.session.debug:
            raise_first()
    finally:
        if launch.exclusive:
            LOCK.release()


def _check_not_missed(recording: Recording, launch: PreparedLaunch, values: Arguments) -> None:
    if recording.is_missed(field_at(values, k).storage for k in launch.code.writes):
        raise LaunchError(
            f"Kernel '{launch.code.name}' is launched while a tape that has recorded a field which "
            "it writes is open in another thread or task, and would miss it. Write the field from "
            "one thread, or after the 'with' block."
        )
