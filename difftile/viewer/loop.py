"""The course of a run: events, steps, pictures, and what stops it."""

from __future__ import annotations

import linecache
import math
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from difftile.viewer.backends.base import Backend
from difftile.viewer.events import Close, Event

SPEEDS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, math.inf)  # steps a picture
_SELDOM = 0.2  # the panel is drawn anew after so long, if nothing has happened [s]
_LATE = 0.25  # steps stop for a picture that is as late, however many it is due [s]
_WAIT = 1 / 500  # for a backend that still shows the frame before [s]
_LIBRARY = Path(__file__).parents[1]


class Course:
    """Whether steps go on, how many there were, and what went wrong.

    Args:
        speed: Steps a picture; infinite for as many as there is time for.

    Attributes:
        playing: Whether steps go on by themselves.
        done: Steps since the last reset.
        error: What went wrong, in lines; None while nothing has.
        failure: The exception that said so.
        watched: Whether somebody sees the pictures; who does not gets the exception from `run`.
    """

    def __init__(self, speed: float) -> None:
        self.playing = True
        self.speed = speed
        self.done = 0
        self.error: str | None = None
        self.failure: Exception | None = None
        self.watched = True
        self.pace = 1  # steps of the last picture, as fast as it goes
        self._owed = 0.0

    def toggle(self) -> None:
        """Play or pause; going on forgets an error."""
        self.playing = not self.playing
        if self.playing:
            self.forgive()

    def forgive(self) -> None:
        """Forget what went wrong."""
        self.error = self.failure = None

    def change_speed(self, by: int) -> None:
        """Take the next faster (1) or slower (-1) speed.

        Slower than all that there is time for is less than its pace, which may be below 32.
        """
        if by < 0 and math.isinf(self.speed):
            self.speed = max((s for s in SPEEDS if s < self.pace), default=SPEEDS[0])
            return
        place = min(range(len(SPEEDS)), key=lambda k: _gap(SPEEDS[k], self.speed))
        self.speed = SPEEDS[min(max(place + by, 0), len(SPEEDS) - 1)]

    def owed(self) -> int:
        """Return how many steps the next picture is due; as fast as it goes counts as one."""
        self._owed += 1.0 if math.isinf(self.speed) else self.speed
        whole = int(self._owed)
        self._owed -= whole
        return whole

    def attempt(self, action: Callable[[], object]) -> bool:
        """Do something of the user's; an exception is kept to be shown, and pauses."""
        try:
            action()
        except Exception as error:
            said = described(error)
            if said != self.error and self.watched:  # drawing may fail in every picture
                traceback.print_exc()
            self.error, self.failure = said, error
            self.playing = False
            return False
        return True

    def advance(self, step: Callable[[], object]) -> None:
        """Do one step."""
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
    """Run until the backend is closed or there have been enough pictures.

    Args:
        backend: Is open.
        course: What plays.
        step: Does one step.
        handle: Takes an event.
        picture: Draws and shows; told whether something may have changed that is drawn seldom.
        frames: How many pictures; None for no end.
        events: Happen before the picture that they name.
        fps: Most pictures a second.
        steady: Count steps by pictures and not by time, so that a run repeats exactly.
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
            return  # nobody is there, and no event to come, that could do something about it


def described(error: Exception) -> str:
    """Return an exception in lines: its kind and message, and where the user's code raised it."""
    trace = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in trace if not Path(frame.filename).is_relative_to(_LIBRARY)]
    lines = [f"{type(error).__name__}: {error}"]
    if frames:
        last = frames[-1]
        line = linecache.getline(last.filename, last.lineno or 0).strip()
        lines.append(f"in {last.name}, line {last.lineno}: {line}")
    return "\n".join(lines)


def _gap(a: float, b: float) -> float:
    """How far two speeds are from each other; infinite ones are the same."""
    return 0.0 if a == b else abs(a - b)
