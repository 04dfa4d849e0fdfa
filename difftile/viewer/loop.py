"""The loop of a run: events, steps, pictures, pauses and errors."""

from __future__ import annotations

import linecache
import math
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from difftile.tracebacks import shorten
from difftile.viewer.backends.base import Backend
from difftile.viewer.events import Close, Event

SPEEDS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, math.inf)  # steps per picture
_SELDOM = 0.2  # interval of updates of the panel without events [s]
_LATE = 0.25  # the delay of a picture after which its remaining steps are dropped [s]
_WAIT = 1 / 500  # interval of polls of a backend that still shows the last frame [s]
_LIBRARY = Path(__file__).parents[1]


class Course:
    """The state of a run: playing or paused, the number of steps, and the current error.

    Args:
        speed: Steps per picture; infinite for as many as time allows.

    Attributes:
        playing: Whether steps go on by themselves.
        done: Steps since the last reset.
        error: The message of the current error, or None.
        failure: The exception of the current error, or None.
        watched: Whether somebody sees the pictures; otherwise an error ends the run.
    """

    def __init__(self, speed: float) -> None:
        self.playing = True
        self.speed = speed
        self.done = 0
        self.error: str | None = None
        self.failure: Exception | None = None
        self.watched = True
        self.pace = 1  # steps of the last picture at unlimited speed
        self._owed = 0.0

    def toggle(self) -> None:
        """Play or pause; playing clears the error."""
        self.playing = not self.playing
        if self.playing:
            self.forgive()

    def forgive(self) -> None:
        """Clear the error."""
        self.error = self.failure = None

    def change_speed(self, by: int) -> None:
        """Take the next faster (1) or slower (-1) speed.

        Slower than unlimited is below the current pace, which may be less than 32.
        """
        if by < 0 and math.isinf(self.speed):
            self.speed = max((s for s in SPEEDS if s < self.pace), default=SPEEDS[0])
            return
        known = self.speed in SPEEDS  # an infinite speed has no distance from itself
        nearest = self.speed if known else min(SPEEDS, key=lambda speed: abs(speed - self.speed))
        self.speed = SPEEDS[min(max(SPEEDS.index(nearest) + by, 0), len(SPEEDS) - 1)]

    def owed(self) -> int:
        """Return the number of steps before the next picture; one at unlimited speed."""
        self._owed += 1.0 if math.isinf(self.speed) else self.speed
        whole = int(self._owed)
        self._owed -= whole
        return whole

    def attempt(self, action: Callable[[], object]) -> bool:
        """Call user code; return whether it succeeded. An exception pauses the run and is kept."""
        try:
            action()
        except Exception as error:
            shorten(error)
            said = described(error)
            if said != self.error and self.watched:  # drawing may fail in every picture
                traceback.print_exception(type(error), error, error.__traceback__)
            self.error, self.failure = said, error
            self.playing = False
            return False
        return True

    def advance(self, step: Callable[[], object]) -> None:
        """Do a step."""
        if self.attempt(step):
            self.done += 1


def run(
    backend: Backend,
    course: Course,
    *,
    step: Callable[[], object],
    handle: Callable[[Event], None],
    picture: Callable[[bool], None],
    frames: int | None,
    events: Sequence[Event],
    fps: float,
    steady: bool,
) -> None:
    """Run until the backend is closed or the number of pictures is reached.

    Args:
        backend: An open backend.
        course: The state of the run.
        step: Does a step.
        handle: Handles an event.
        picture: Draws and shows a picture; the argument asks for an update of the panel.
        frames: The number of pictures; None for no limit.
        events: Scripted events, each before the picture of its `frame`.
        fps: The largest number of pictures per second.
        steady: Do a fixed number of steps per picture, so that a run is reproducible.
    """
    waiting = sorted(events, key=lambda event: event.frame)
    shown, refreshed, due = 0, -math.inf, backend.time()
    while frames is None or shown < frames:
        arrived = backend.poll()
        while waiting and waiting[0].frame <= shown:
            arrived.append(waiting.pop(0))
        for event in arrived:
            if isinstance(event, Close):
                backend.close()
            else:
                handle(event)
        if backend.closed:
            return
        due = max(due + 1 / fps, backend.time())
        if course.playing:
            if steady or math.isfinite(course.speed):
                for _ in range(course.owed()):
                    if course.playing and (steady or backend.time() < due + _LATE):
                        course.advance(step)
            else:
                before = course.done
                course.advance(step)
                while course.playing and (backend.time() < due or not backend.ready):
                    course.advance(step)
                course.pace = course.done - before
        if not steady:
            time.sleep(max(due - backend.time(), 0.0))
        while not backend.ready:
            time.sleep(_WAIT)
        now = backend.time()
        fresh = steady or bool(arrived) or now - refreshed > _SELDOM
        refreshed = now if fresh else refreshed
        picture(fresh)
        shown += 1
        if course.failure is not None and not course.watched and not waiting:
            return  # neither a person nor a later event can resolve the error


def described(error: Exception) -> str:
    """Return an exception as text: its type, its message, and the line of the user's code."""
    trace = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in trace if not Path(frame.filename).is_relative_to(_LIBRARY)]
    lines = [f"{type(error).__name__}: {error}"]
    if frames:
        last = frames[-1]
        line = linecache.getline(last.filename, last.lineno or 0).strip()
        lines.append(f"in {last.name}, line {last.lineno}: {line}")
    return "\n".join(lines)
