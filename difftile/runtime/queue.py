"""Launches that repeat wait in a queue, and run together as one program.

A launch that continues a repetition is noted instead of being run, once the launches of a period
have followed each other twice. The notes run when Python looks at memory (`fields/pending`), when a
launch breaks the repetition, or when there are many. Compiling a program for many periods takes
much longer than a launch: launches are noted only when the launches of the period, one by one, have
taken as long as compiling is expected to take.
"""

from __future__ import annotations

import atexit
import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from threading import get_ident
from typing import Any

import numpy as np

from difftile.compile.arguments import Arguments, CallArgs
from difftile.fields.field import Field
from difftile.fields.pending import PENDING, run_pending
from difftile.fields.recording import RECORDING, Recording
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.run import Run
from difftile.runtime.perform_run import launch_one, perform_fused
from difftile.runtime.tape import Tape
from difftile.substrate import LOCK

_LONGEST = 64  # launches of a period
_MOST = 4096  # launches that wait
_FEWEST = 3  # periods that run together; fewer are launched one by one
_PATIENCE = 8  # times that fewer have waited, before a period is given up
# Of a launch [s]: off and on a tape, on the host and on a device.
_SECONDS = {(True, False): 3e-6, (True, True): 1.2e-5, (False, False): 3e-5, (False, True): 2e-4}
_COMPILING = 0.3  # [s], at least
_SOON, _LATER = 1 << 10, 1 << 20  # launches, until one that was refused is looked at again


@dataclass(slots=True, eq=False)
class Repetition:
    """A period of launches that have repeated.

    Args:
        length: The number of launches.
        refused: Why they are not fused; empty if they may be.
        short: How often too few periods waited to be run together, one time after the other.
    """

    length: int
    refused: str = ""
    short: int = 0


class Queue:
    """The launches of the process that wait."""

    def __init__(self) -> None:
        # The latest launches, by identity: only waiting launches keep their fields alive.
        self._trail: list[int] = []
        self._period = 0  # of their end; 0 without a repetition
        self._matched = 0  # launches that have continued it
        self._repetition: Repetition | None = None
        self._of: tuple[int, int] = (0, 0)  # the recording, by identity, and the thread
        self._recording: Recording | None = None  # while launches wait
        self._waiting: list[tuple[PreparedLaunch, Arguments]] = []
        # The kernels of the last period that waits, and their launches, in the order expected.
        self._expected: deque[tuple[object, PreparedLaunch]] = deque()
        self._noted = 0  # launches that were as expected, and are not in the trail

    def takes(self, kernel: object, args: CallArgs) -> bool:
        """Note a call of a kernel, with all arguments, if it is expected; return whether it waits.

        A shortcut for `offer`, without a search.
        """
        with LOCK:
            if not self._expected or len(self._expected) != self._period:
                return False
            expected, launch = self._expected[0]
            if expected is not kernel or RECORDING.get() is not self._recording:
                return False
            if launch.suspect is not None or get_ident() != self._of[1]:
                return False
            values = launch.repeated(args, launch.session)
            if values is None:
                return False
            try:
                self._expected.rotate(-1)
                self._waiting.append((launch, values))
                self._noted += 1
            except BaseException:
                self._break_off()
                raise
            if len(self._waiting) >= _MOST:
                self.run()
            return True

    def offer(
        self, kernel: object, launch: PreparedLaunch, values: Arguments, recording: Recording
    ) -> bool:
        """Note a launch of a kernel that is about to run; return whether it waits.

        Where it does not, all launches before it have run.
        """
        with LOCK:  # other threads offer launches as well
            try:
                if not self._continues(launch, recording):
                    run_pending()
                    self._refused(launch)
                    return False
                launch.refusals = 0
                self._recording = recording
                PENDING.run = self.run  # before there is something to be run
                self._waiting.append((launch, values))
                if launch.code.streams:
                    self._expected.clear()  # each call draws
                else:
                    self._expected.append((kernel, launch))
                if len(self._expected) > self._period:
                    self._expected.popleft()
            except BaseException:
                self._break_off()
                raise
            if len(self._waiting) >= _MOST:
                self.run()
            return True

    def _continues(self, launch: PreparedLaunch, recording: Recording) -> bool:
        """Tell whether a launch is the next one of a repetition, and may wait."""
        if self._of != (of := (id(recording), get_ident())):
            run_pending()
            self._of, self._trail, self._period, self._matched = of, [], 0, 0
            self._repetition, self._noted = None, 0
        trail, period, this = self._trail, self._period, id(launch)
        for _ in range(self._noted % period if period else 0):
            trail.append(trail[-period])
        self._matched, self._noted = self._matched + self._noted, 0
        if period and trail[-period] == this:
            self._matched += 1
        else:
            run_pending()
            self._repetition, self._matched = None, 0
            self._period = period = _distance(trail, this)
        trail.append(this)
        if len(trail) > 4 * _LONGEST:
            del trail[: 2 * _LONGEST]
        if not period or self._matched < period:
            return False
        if self._repetition is None and PENDING.hot and not _pays(launch, period, recording):
            return False  # before the fields are looked at: there may be many
        if not _may_wait(launch, recording):
            return False
        if self._repetition is None:
            self._repetition = _repetition_of(launch, tuple(trail[-period:]))
        return not self._repetition.refused

    def _break_off(self) -> None:
        """End the repetition after Ctrl+C: the launch that was to be noted may be missing."""
        self._period = 0
        self._expected.clear()

    def _refused(self, launch: PreparedLaunch) -> None:
        """Offer a launch that never waits more rarely."""
        launch.refusals += 1
        if launch.refusals > 4 * _LONGEST and PENDING.hot:
            given_up = self._repetition is not None and self._repetition.refused
            launch.again, launch.refusals = launch.calls + (_LATER if given_up else _SOON), 0

    def run(self) -> None:
        """Run the launches that wait, under the recording under which they were called."""
        with LOCK:
            waiting, self._waiting = self._waiting, []
            self._expected.clear()
            repetition, recording, self._recording = self._repetition, self._recording, None
            if not waiting:  # another thread was faster, or they are running
                return
            assert repetition is not None and recording is not None
            token = RECORDING.set(recording)
            try:
                _run(waiting, repetition)
            finally:
                RECORDING.reset(token)
                if not self._waiting:  # not before: until then other threads wait for the lock
                    PENDING.run = None


def _run(waiting: list[tuple[PreparedLaunch, Arguments]], repetition: Repetition) -> None:
    """Run launches that repeat a period, which may begin anywhere."""
    period = repetition.length
    count = len(waiting) // period
    rest = waiting
    if count >= _FEWEST:
        rest = waiting[count * period :]
        run = _as_run(waiting[: count * period], period)
        reason = perform_fused(run)
        repetition.short = 0
        if reason is not None:
            repetition.refused = reason
            rest = waiting
    else:
        repetition.short += 1
        if repetition.short >= _PATIENCE:
            repetition.refused = "Python looks at memory after every few launches"
    for launch, values in rest:
        launch_one(launch, values)


def _as_run(waiting: Sequence[tuple[PreparedLaunch, Arguments]], period: int) -> Run:
    """Return launches of whole periods as a run."""
    launches = tuple(launch for launch, _ in waiting[:period])
    values = tuple(values for _, values in waiting[:period])
    count = len(waiting) // period
    varying: dict[tuple[int, int], Any] = {}
    for k, first in enumerate(values):
        each = [values for _, values in waiting[k::period]]
        zeros = [n for n in first if isinstance(n, float) and not n]  # of two signs, and equal
        if not zeros and all(values == first for values in each):
            continue
        for position, number in enumerate(first):
            if isinstance(number, Field):
                continue
            numbers: list[Any] = [values[position] for values in each]
            if numbers.count(number) < count or (not number and len(set(map(repr, numbers))) > 1):
                varying[k, position] = np.array(numbers)
    return Run(launches, values, count, varying)


def _distance(trail: Sequence[int], launch: int) -> int:
    """Return how many launches ago the same launch ran; 0 if too many."""
    for distance, one in enumerate(reversed(trail[-_LONGEST:]), 1):
        if one == launch:
            return distance
    return 0


def _repetition_of(launch: PreparedLaunch, period: tuple[int, ...]) -> Repetition:
    """Return the repetition of a period that ends with a launch."""
    known: dict[tuple[int, ...], Repetition] = launch.repetitions
    found = known.get(period)
    if found is None:
        found = known[period] = Repetition(len(period))
    return found


def _may_wait(launch: PreparedLaunch, recording: Recording) -> bool:
    """Tell whether a launch may run later without a visible difference."""
    if launch.code.result is not None or launch.derived or launch.session.debug:
        return False
    if any(field.storage.memory.is_shared for field in launch.fields()):
        return False
    recorder = recording.recorder
    if recording.constant or recording.observer is not None or recording.hidden:
        return False
    if len(Recording.open) > (recorder is not None):
        return False
    return recorder is None or (isinstance(recorder, Tape) and recorder.may_wait(launch))


def _pays(launch: PreparedLaunch, period: int, recording: Recording) -> bool:
    """Tell whether the launches of a period have taken as long as compiling is expected to take."""
    each = _SECONDS[launch.session.on_host, recording.recorder is not None]
    compiled = [one.seconds for stage in launch.code.stages for one in stage.compiled]
    return launch.calls * each >= max(_COMPILING / period, sum(compiled))


QUEUE = Queue()
atexit.register(run_pending)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=run_pending)
