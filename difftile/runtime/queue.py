"""Launches that repeat wait in a queue, and run together as one program.

In a loop over `dt.steps` launches wait from the first one on. Elsewhere a launch that continues a
repetition waits, once the launches of a period have followed each other twice and have taken as
long, one by one, as compiling a program for many periods is expected to take. They run when Python
looks at memory (`fields/pending`), before a launch that cannot wait, or when there are many;
outside of loops also before a launch that breaks the repetition.
"""

from __future__ import annotations

import atexit
import os
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from threading import get_ident
from typing import Any, TypeAlias

import numpy as np

from difftile.compile.arguments import Arguments, CallArgs
from difftile.compile.specialisation import Specialisation
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.pending import PENDING, WholeFieldWrites, run_pending
from difftile.fields.recording import RECORDING, Recording
from difftile.ir.types import FLOATS, Scalar, numpy_dtype
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.run import Run
from difftile.launch.shortcut import Repeated
from difftile.records import dataclass
from difftile.runtime.perform_run import launch_one, perform_fused
from difftile.substrate import LOCK, current_session

_LONGEST = 64  # launches of a period
MOST_BODIES = 8  # of a pattern: fields may swap roles among so many steps
_MOST = 4096  # launches that wait
_MOST_IN_LOOPS = 2**16
FEWEST = 3  # periods that run together; fewer are launched one by one
_PATIENCE = 8  # times that fewer have waited, before a period is given up
LONE = 24  # bodies that repeat none, before launches wait no more
_PAUSE = 512  # bodies, until they wait again; twice as many the next time
_FEW = 32  # steps of a loop that is part of the body of the one around it
# Of a launch [s]: off and on a tape, on the host and on a device.
_SECONDS = {(True, False): 3e-6, (True, True): 1.2e-5, (False, False): 3e-5, (False, True): 2e-4}
_COMPILING = 0.3  # [s], at least
_SOON, _LATER = 1 << 10, 1 << 20  # launches, until one that was refused is looked at again

Noted: TypeAlias = tuple[PreparedLaunch, Arguments]
"""A launch with its arguments."""


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


@dataclass(slots=True, eq=False)
class WaitingLoop:
    """A loop whose launches wait from the first one on.

    Args:
        recording: The recording state in which it began, and in which its launches are called.
        thread: Its thread.
        writes: Writes whole fields by launches.
        outer: The loop around it.

    Attributes:
        ended: Whether the loop has ended.
        interrupted: Whether something has run since it began, be it a launch that could not wait.
        lone: The bodies since the last pattern.
        misses: The launches that were not expected, since patterns were looked for.
        idle: The bodies that still have to pass until launches wait again.
        pause: How many will have to the next time.
        repeats_none: None of the bodies that wait repeats a pattern, as was found before they run.
    """

    recording: Recording
    thread: int
    writes: WholeFieldWrites
    outer: WaitingLoop | None
    ended: bool = False
    interrupted: bool = False
    lone: int = 0
    misses: int = 0
    idle: int = 0
    pause: int = _PAUSE
    repeats_none: bool = False

    def is_here(self) -> bool:
        """Tell whether the caller is in the body of the loop."""
        return RECORDING.get() is self.recording and get_ident() == self.thread

    def fill(self, target: ArrayLike, value: object) -> bool:
        """Set every element to one value by a launch of the body; return whether that was done."""
        return self.is_here() and self.writes.fill(target, value)

    def copy(self, target: ArrayLike, source: ArrayLike) -> bool:
        """Copy a field that fits by a launch of the body; return whether that was done."""
        return self.is_here() and self.writes.copy(target, source)


class Queue:
    """The launches of the process that wait.

    Attributes:
        waiting: The launches; in loops None stands between bodies.
    """

    def __init__(self) -> None:
        self.waiting: list[Noted | None] = []
        # The latest launches, by identity: only waiting launches keep their fields alive.
        self._trail: list[int] = []
        self._codes: deque[Specialisation] = deque(maxlen=_LONGEST)  # at its end
        self._period = 0  # of their end; 0 without a repetition
        self._matched = 0  # launches that have continued it
        self._repetition: Repetition | None = None
        self._of = 0  # the recording of the latest launches, by identity
        self._thread = 0  # of the latest launches
        self._recording: Recording | None = None  # while launches wait
        self._most = _MOST  # launches that wait
        # The kernels of the last period that waits, and their launches, in the order expected;
        # and with a test of calls.
        self._expected: deque[tuple[object, PreparedLaunch]] = deque()
        self._cycle: tuple[tuple[object, PreparedLaunch, Repeated | None], ...] = ()
        self._at = -1  # the next one of these; -1 if none is expected
        self._is_running = False
        self._loop: WaitingLoop | None = None
        self._of_loop: WaitingLoop | None = None  # the loop of the launches that wait

    # Loops

    def is_part(self, count: int) -> bool:
        """Tell whether a loop of so many steps is part of the body of the one around it."""
        return self._loop is not None and count <= _FEW and self._loop.is_here()

    def begin(self, count: int, writes: WholeFieldWrites) -> WaitingLoop | None:
        """Begin a loop of so many steps; return None where launches do not wait for its sake."""
        recording, outer = RECORDING.get(), self._loop
        recorder = recording.recorder
        if self.is_part(count):
            return None
        if PENDING.is_off or recording.observer is not None or current_session().debug:
            return None
        if recorder is not None and not recorder.takes_runs:
            return None
        with LOCK:
            run_pending()
            self._follow(recording)
            loop = WaitingLoop(recording, get_ident(), writes, outer)
            self._enter(loop)
            PENDING.run = self.run  # hears of what happens before the first launch as well
        return loop

    def _enter(self, loop: WaitingLoop | None) -> None:
        while loop is not None and loop.ended:
            loop = loop.outer
        self._loop = PENDING.loop = None if loop is not None and loop.idle else loop

    def next_body(self, loop: WaitingLoop) -> None:
        """Hear that the next body of a loop begins."""
        if loop.idle:
            loop.idle -= 1
            if not loop.idle:
                with LOCK:
                    run_pending()
                    self._enter(loop)
        elif loop.misses >= LONE:
            self._look(loop)
        elif self.waiting and self.waiting[-1] is not None:
            self.waiting.append(None)

    def _look(self, loop: WaitingLoop) -> None:
        """Let launches of a loop wait no more, for some steps, if its bodies do not repeat."""
        with LOCK:
            loop.misses = 0
            if not any(length for _, length in _patterns(self.waiting)):
                loop.repeats_none = True
                run_pending()
                loop.repeats_none = False
                self._rest(loop)

    def _rest(self, loop: WaitingLoop) -> None:
        """Let launches of a loop wait no more, for some steps."""
        loop.lone, loop.idle, loop.pause = 0, loop.pause, 2 * loop.pause
        self._enter(loop)

    def end(self, loop: WaitingLoop) -> None:
        """End a loop."""
        with LOCK:
            loop.ended = True
            if self._loop is loop:
                self._enter(loop)

    def withdraw(self) -> None:
        """Forget the launches that wait."""
        with LOCK:
            self._take()
            self._recording, PENDING.run = None, None

    def _take(self) -> list[Noted | None]:
        """Return the launches that wait, which wait no more."""
        self._settle()
        taken = self.waiting[:]
        self.waiting.clear()
        self._expected.clear()
        return taken

    def _settle(self) -> None:
        """Expect no launch by the shortcut; note the launches that took it in the trail."""
        at, self._at = self._at, -1  # at once
        for _ in range(at):
            self._trail.append(self._trail[-self._period])
            self._codes.append(self._expected[0][1].code)
            self._expected.rotate(-1)

    # Launches

    def takes(self, kernel: object, args: CallArgs) -> bool:
        """Note a call of a kernel, with all arguments, if it is expected; return whether it waits.

        A shortcut for `offer`, without a search and without a lock: Python changes threads, and
        handles signals, only after calls and jumps. So nothing happens between the last test and
        the end of `append`, and code that takes the waiting launches sets `_at` before.
        """
        at, cycle = self._at, self._cycle
        if at < 0:
            return False
        expected, launch, repeated = cycle[at]
        if (
            expected is not kernel
            or RECORDING.get() is not self._recording
            or get_ident() != self._thread
        ):
            return False
        values = launch.repeated(args, launch.session) if repeated is None else repeated(args)
        if values is None:
            return False
        noted = launch, values
        waiting = self.waiting
        after = at + 1 if at + 1 < len(cycle) else 0
        if self._at != at or self._cycle is not cycle:
            return False
        self._at = after
        waiting.append(noted)
        if not after and len(waiting) >= self._most:
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
                self._follow(recording)
                loop = self._loop if self._loop is not None and self._loop.is_here() else None
                if loop is None:
                    waits = self._continues(launch, recording)
                else:
                    waits = self._waits_in(loop, launch, recording)
                if not waits:
                    run_pending()
                    if loop is None:
                        self._refused(launch)
                    else:
                        loop.interrupted = True
                    return False
                if loop is None:
                    launch.refusals = 0
                self._recording, self._of_loop = recording, loop
                self._most = _MOST if loop is None else _MOST_IN_LOOPS
                PENDING.run = self.run  # before there is something to be run
                self.waiting.append((launch, values))
                self._expect(kernel, launch)
            except BaseException:
                self._break_off()
                raise
            return True

    def _expect(self, kernel: object, launch: PreparedLaunch) -> None:
        """Expect a launch again after a period."""
        if launch.code.streams or launch.suspect is not None:
            self._expected.clear()  # each call draws, or looks whether indices leave a shape
            return
        self._expected.append((kernel, launch))
        if len(self._expected) > self._period:
            self._expected.popleft()
        if len(self._expected) == self._period > 0:
            self._cycle = tuple((kernel, one, one.shortcut()) for kernel, one in self._expected)
            self._at = 0

    def _follow(self, recording: Recording) -> None:
        """Forget the repetition of another recording or thread."""
        if self._of != id(recording) or self._thread != get_ident():
            run_pending()
            self._of, self._thread = id(recording), get_ident()
            self._trail, self._period, self._matched = [], 0, 0
            self._repetition, self._at = None, -1

    def _extend(self, launch: PreparedLaunch) -> bool:
        """Note a launch in the trail; return whether it continues the repetition."""
        this = id(launch)
        self._settle()
        trail, period = self._trail, self._period
        continues = period > 0 and trail[-period] == this
        if continues:
            self._matched += 1
        else:
            self._period, self._matched = _distance(trail, this), 0
        trail.append(this)
        self._codes.append(launch.code)
        if len(trail) > 4 * _LONGEST:
            del trail[: 2 * _LONGEST]
        return continues

    def _waits_in(self, loop: WaitingLoop, launch: PreparedLaunch, recording: Recording) -> bool:
        """Tell whether a launch of the body of a loop waits."""
        if not self._extend(launch):
            self._expected.clear()
            loop.misses += 1
        return _may_wait(launch, recording)

    def _continues(self, launch: PreparedLaunch, recording: Recording) -> bool:
        """Tell whether a launch is the next one of a repetition, and may wait."""
        if launch.code.calls <= max(PENDING.hot, launch.again):  # it waits only in loops
            return False
        if not self._extend(launch):
            run_pending()
            self._repetition = None
        trail, period = self._trail, self._period
        if not period or self._matched < period:
            return False
        codes = tuple(self._codes)[-period:-1] if self._repetition is None and PENDING.hot else None
        if codes is not None and not _pays(launch, codes, recording):
            return False  # before the fields are looked at: there may be many
        if not _may_wait(launch, recording):
            return False
        if self._repetition is None:
            self._repetition = _repetition_of(launch, tuple(trail[-period:]))
        return not self._repetition.refused

    def _break_off(self) -> None:
        """End the repetition after Ctrl+C: the launch that was to be noted may be missing."""
        self._period, self._at = 0, -1
        self._expected.clear()

    def _refused(self, launch: PreparedLaunch) -> None:
        """Offer a launch that never waits more rarely."""
        launch.refusals += 1
        if launch.refusals > 4 * _LONGEST and PENDING.hot:
            given_up = self._repetition is not None and self._repetition.refused
            launch.again, launch.refusals = launch.code.calls + (_LATER if given_up else _SOON), 0

    def run(self) -> None:
        """Run the launches that wait, under the recording under which they were called."""
        with LOCK:
            waiting = self._take()
            repetition, recording, self._recording = self._repetition, self._recording, None
            loop, self._of_loop = self._of_loop, None
            if self._loop is not None:
                self._loop.interrupted = True
            if recording is None:  # another thread was faster, or they are running
                if not self._is_running:
                    PENDING.run = None
                return
            token, self._is_running = RECORDING.set(recording), True
            try:
                if loop is not None:
                    self._run_bodies(loop, waiting)
                else:
                    assert repetition is not None
                    _run([one for one in waiting if one is not None], repetition)
            finally:
                RECORDING.reset(token)
                self._is_running = False
                if self._recording is None:  # not before: until then other threads wait
                    PENDING.run = None

    def _run_bodies(self, loop: WaitingLoop, waiting: Sequence[Noted | None]) -> None:
        """Run the launches of bodies; repeated ones run as programs."""
        alone = [one for one in waiting if one is not None], 0
        for launches, length in [alone] if loop.repeats_none else _patterns(waiting):
            if length and perform_fused(_as_run(launches, length)) is None:
                loop.lone = 0
                continue
            for launch, values in launches:
                launch_one(launch, values)
            loop.lone += 1
            if loop.lone >= LONE and not loop.idle:
                self._rest(loop)


def _run(waiting: Sequence[Noted], repetition: Repetition) -> None:
    """Run launches that repeat a period, which may begin anywhere."""
    period = repetition.length
    count = len(waiting) // period
    rest = waiting
    if count >= FEWEST:
        rest = waiting[count * period :]
        reason = perform_fused(_as_run(waiting[: count * period], period))
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


def _patterns(waiting: Sequence[Noted | None]) -> Iterator[tuple[list[Noted], int]]:
    """Yield the launches of bodies that repeat a pattern, and how many the pattern has.

    A body that repeats none follows by itself, with 0.
    """
    kinds = [None if one is None else one[0] for one in waiting]
    end = 0
    for _ in range(MOST_BODIES):  # most often there is one pattern from the beginning to the end
        if None not in kinds[end:]:
            break
        end = kinds.index(None, end) + 1
        count = (len(kinds) + 1) // end
        length = end - kinds[:end].count(None)
        if count >= FEWEST and length <= _LONGEST and kinds[end:] == kinds[:-end]:
            yield [one for one in waiting[: count * end] if one is not None], length
            waiting = waiting[count * end :]
            break
    launches, bounds = list[Noted](), [0]
    for one in (*waiting, None):
        if one is not None:
            launches.append(one)
        elif bounds[-1] < len(launches):
            bounds.append(len(launches))
    ids = [id(launch) for launch, _ in launches]
    names: dict[tuple[int, ...], int] = {}
    bodies = np.array([names.setdefault(tuple(ids[a:b]), len(names)) for a, b in pairwise(bounds)])
    # Where a body differs from that a pattern later, by the length of the pattern.
    breaks = {
        period: np.flatnonzero(bodies[period:] != bodies[:-period]).tolist()
        for period in range(1, min(MOST_BODIES, len(bodies) - 1) + 1)
    }
    at = 0
    while at < len(bodies):
        end, length = at + 1, 0
        for period, where in breaks.items():
            k = bisect_left(where, at)
            broken = where[k] if k < len(where) else len(bodies) - period
            found = at + (broken - at + period) // period * period
            launched = bounds[min(at + period, len(bodies))] - bounds[at]
            if found > end and found - at >= FEWEST * period and launched <= _LONGEST:
                end, length = found, launched
        yield launches[bounds[at] : bounds[end]], length
        at = end


def _as_run(waiting: Sequence[Noted], period: int) -> Run:
    """Return launches of whole periods as a run."""
    launches = tuple(launch for launch, _ in waiting[:period])
    values = tuple(given for _, given in waiting[:period])
    count = len(waiting) // period
    varying: dict[tuple[int, int], Any] = {}
    for k, first in enumerate(values):
        each = [given for _, given in waiting[k::period]]
        for position, number in enumerate(first):
            if isinstance(number, Field):
                continue
            numbers: list[Any] = [one[position] for one in each]
            # Zeros of two signs are equal.
            if numbers.count(number) < count or (not number and len(set(map(repr, numbers))) > 1):
                type_ = launches[k].code.params[position].type
                assert isinstance(type_, Scalar)
                # As floats of Python; NumPy makes floats of integers over 2**63 as well.
                dtype = np.float64 if type_ in FLOATS else numpy_dtype(type_)
                varying[k, position] = np.array(numbers, dtype)
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
    if any(field.storage.memory.is_shared for field in launch.fields):
        return False
    recorder = recording.recorder
    if recording.observer is not None or any(one is not recorder for one in recording.hidden):
        return False
    if len(Recording.open) > (recorder is not None):
        return False
    return recorder is None or recorder.may_wait(launch)


def _pays(launch: PreparedLaunch, codes: tuple[Specialisation, ...], recording: Recording) -> bool:
    """Tell whether the period of kernels that begins with a launch is worth compiling.

    It is if it was compiled before, or if launches have taken as long as that is expected to take.
    """
    code = launch.code
    known: dict[Any, object] = code.fusions
    if any(key[0] == codes for key in known):
        return True
    each = _SECONDS[launch.session.on_host, recording.recorder is not None]
    compiled = [one.seconds for stage in code.stages for one in stage.compiled]
    pays = (code.calls - code.spent) * each >= max(_COMPILING / (1 + len(codes)), sum(compiled))
    if pays:
        code.spent = code.calls
    return pays


QUEUE = Queue()
atexit.register(run_pending)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=run_pending)
