"""`dt.steps` and `dt.repeat`: a step of a simulation, many times.

Python runs the body for a few steps, until its launches repeat; the rest is a run. The run is sound
because the body gets step numbers as expressions, reads no fields, and finds the same state of
Python as one period before. Where that is not so, Python runs all steps.
"""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from types import CodeType
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from difftile.compile.methods import BoundMethod
from difftile.diagnostics import LaunchError, StepsError
from difftile.fields.exchange import as_integer
from difftile.fields.field import Field
from difftile.fields.recording import RECORDING, Recording
from difftile.fields.step_expression import STEP
from difftile.fields.step_number import Moment, StepNumber
from difftile.launch.prepared_launch import NumberSlot
from difftile.launch.run import Run
from difftile.runtime.body_trace import Trace, TracedLaunch
from difftile.runtime.perform_run import perform_run
from difftile.runtime.python_state import State, state_of_call, state_of_frame
from difftile.substrate import current_session
from difftile.tracebacks import boundary, shorten

_LONGEST = 8
"""The most steps of a period: fields may swap roles among so many."""
_PATIENCE = 24
"""The steps after which a body that does not repeat itself is left to Python."""
_FEW = 32
"""The steps of an inner loop that are steps of the period of the outer one."""

_MOST = 64
"""The most launches of a period: a program of more takes long to compile."""

_AT_ONCE = 2**16
"""The most periods of a run; their numbers are in memory at once."""

Body: TypeAlias = list[TracedLaunch]


class Steps:
    """The numbers of the steps of a loop; see `steps`."""

    def __init__(self, numbers: range) -> None:
        self._numbers = numbers

    def __repr__(self) -> str:
        return f"dt.steps{repr(self._numbers).removeprefix('range')}"

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[int]:
        frame = sys._getframe(1)
        if not _opens_loop(frame.f_code, frame.f_lasti) or frame.f_code.co_flags & _SUSPENDED:
            return iter(self._numbers)
        return _Loop(self._numbers)


_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@lru_cache(1024)
def _opens_loop(code: CodeType, last: int) -> bool:
    """Tell whether code at some instruction opens a 'for' loop over an object itself.

    Then only the loop holds the iterator, unlike in `zip` or a comprehension: no other object
    counts its steps, and it is freed when the loop ends, however it ends.
    """
    # In front of a long body the second instruction has a prefix.
    listed = [one for one in dis.get_instructions(code) if one.opname != "EXTENDED_ARG"]
    found = [(one.opname, two.opname) for one, two in pairwise(listed) if one.offset == last]
    return found == [("GET_ITER", "FOR_ITER")]


class _Loop:
    """The iterator of a 'for' loop."""

    def __init__(self, numbers: range) -> None:
        self._driver = _Driver(numbers)

    def __iter__(self) -> _Loop:
        return self

    def __next__(self) -> int:
        frame = sys._getframe(1)
        try:
            return self._driver.advance(lambda: state_of_frame(frame))
        except Exception as error:
            shorten(error)
            raise

    def __del__(self) -> None:  # the loop has ended, be it by 'break', 'return' or an error
        self._driver.leave()


class _Driver:
    """The steps of a loop, one after the other or many at once.

    Args:
        numbers: The numbers of the steps.
    """

    def __init__(self, numbers: range) -> None:
        self._numbers = numbers
        self._at = 0  # how many steps are done, or running
        self._moment: Moment | None = None
        self._trace: Trace | None = None
        self._recording: Recording | None = None
        self._bodies: list[Body] = []
        self._states: list[State] = []
        self._expected: list[Body] = []  # the last steps repeat these in turn
        self._is_inner = _is_inner(len(numbers))
        self._traces = not self._is_inner and bool(numbers) and _may_trace()

    def leave(self) -> None:
        """Leave the body of a step."""
        if self._moment is not None:
            self._moment.live = False
        if self._recording is not None and RECORDING.get() is self._recording:
            self._recording.__exit__()
        self._recording = None

    def advance(self, state: Callable[[], State]) -> int:
        """Return the number of the next step that Python runs, when all steps before are done.

        Args:
            state: Returns the state of Python after the last step.

        Raises:
            StopIteration: There is none.
        """
        self.leave()
        trace, self._trace = self._trace, None
        if trace is not None:
            self._note(trace, state)
        if self._at >= len(self._numbers):
            raise StopIteration
        number = self._numbers[self._at]
        self._at += 1
        if not (self._traces or self._is_inner):
            return number
        self._moment = Moment(constant=self._is_inner)
        if self._traces:
            now = RECORDING.get()
            trace = self._trace = Trace(self._moment, now.constant)
            self._recording = Recording(
                now.recorder, constant=now.constant, observer=now.observer, trace=trace
            )
            self._recording.__enter__()
        return cast(int, StepNumber(number, STEP, self._moment))

    def _note(self, trace: Trace, state: Callable[[], State]) -> None:
        """Note the launches of a step, and perform the run that follows from them, if any."""
        if self._expected:
            self._check(trace)
            return
        self._bodies.append(trace.launches)
        if not trace.is_whole:
            self._give_up(trace.reason)
            return
        self._states.append(state())
        if len(self._bodies) > _LONGEST + 1 and not _fields_of(self._bodies[-1:]) <= _fields_of(
            self._bodies[:-1]
        ):
            self._give_up("the steps launch kernels on new fields")
            return
        period = _period(self._bodies, self._states)
        launches = sum(map(len, self._bodies[-max(period, 1) :]))
        if launches > _MOST:
            self._give_up(f"the steps of a period have {launches} launches")
        elif period:
            self._perform(self._bodies[-period:])
        elif len(self._bodies) == _PATIENCE:
            self._give_up("the steps do not repeat each other, in what they launch or in Python")

    def _check(self, trace: Trace) -> None:
        """Check that one of the last steps repeats one of the period.

        Raises:
            StepsError: The step differs.
        """
        body = self._expected.pop(0)
        self._expected.append(body)
        if not (trace.is_whole and _is_same(trace.launches, body)):
            raise StepsError(
                f"Step {self._numbers[self._at - 1]} of dt.steps() does not launch what the steps "
                "of which it is a repetition have launched, so that the steps in between may have "
                "been wrong. Write 'for t in range(n)' where Python changes what it launches."
            )

    def _perform(self, period: list[Body]) -> None:
        """Perform as many steps as are whole periods; Python runs the rest."""
        self._expected = period
        while (count := (len(self._numbers) - self._at) // len(period)) and self._traces:
            count = min(count, _AT_ONCE)
            run = _run(period, self._numbers[self._at :], count)
            if run.count and run.launches:
                perform_run(run)
            self._at += run.count * len(period)
            if run.count < count:
                self._give_up("not all numbers of the steps can be passed")
        self._bodies, self._states = [], []

    def _give_up(self, reason: str) -> None:
        """Leave the steps to Python."""
        for body in self._bodies:
            for one in body:
                one.launch.fusion = reason
        self._traces = False
        self._bodies, self._states, self._expected = [], [], []


def _is_inner(count: int) -> bool:
    """Tell whether a loop stands in the body of another one, and is part of its steps."""
    outer = RECORDING.get().trace
    if not isinstance(outer, Trace) or not outer.is_whole:
        return False
    if count > _FEW:
        outer.give_up(f"a step has a loop of {count} steps")  # rather than a period as long
        return False
    return True


def _may_trace() -> bool:
    """Tell whether launches may run together, with no observer that has to see each one."""
    recording = RECORDING.get()
    recorder = recording.recorder
    takes_runs = recorder is None or recorder.takes_runs
    return takes_runs and recording.observer is None and not current_session().debug


def _fields_of(bodies: Sequence[Body]) -> set[Field]:
    """Return the fields that steps launch kernels on."""
    values = (value for body in bodies for one in body for value in one.values)
    return {value for value in values if isinstance(value, Field)}


def _is_same(one: Body, other: Body) -> bool:
    """Tell whether two steps launch the same."""
    return len(one) == len(other) and all(a.repeats(b) for a, b in zip(one, other, strict=True))


def _period(bodies: Sequence[Body], states: Sequence[State]) -> int:
    """Return after how many steps the last ones have repeated themselves; 0 if they have not."""
    for period in range(1, min(_LONGEST, len(bodies) // 2) + 1):
        last, before = bodies[-period:], bodies[-2 * period : -period]
        if states[-1] == states[-1 - period] and all(map(_is_same, last, before)):
            return period
    return 0


def _run(period: Sequence[Body], numbers: range, count: int) -> Run:
    """Return the run of the steps with given numbers, without final steps that need Python.

    Args:
        period: The launches of the steps of one period.
        numbers: The numbers of the steps from the first one of the run on.
        count: The number of periods.
    """
    launches = [one for body in period for one in body]
    varying: dict[tuple[int, int], NDArray[Any]] = {}
    try:
        for j, (step, one) in enumerate((k, one) for k, body in enumerate(period) for one in body):
            own = numbers[step :: len(period)][:count]
            steps = np.arange(own.start, own.stop, own.step)
            for slot in one.launch.numbers:
                if slot.value in one.numbers:
                    table = one.numbers[slot.value].at(steps)
                    varying[j, slot.value] = _as_wanted(table, slot.wanted)
                    count = min(count, _fitting(varying[j, slot.value], slot))
    except Exception:  # one that Python will raise in the step where it belongs
        count = 0
    varying = {place: table[:count] for place, table in varying.items()}
    values = tuple(one.values for one in launches)
    run = Run(tuple(one.launch for one in launches), values, count, varying)
    return run.part(0, count) if count else run


def _as_wanted(table: NDArray[Any], wanted: type) -> NDArray[Any]:
    """Return the numbers of all steps as a kernel takes them.

    Raises:
        TypeError: The numbers are of another kind.
    """
    if table.dtype.kind not in ("iu" if wanted is int else "iuf"):
        raise TypeError(table.dtype)
    return table.astype(np.int64 if wanted is int else np.float64)


def _fitting(table: NDArray[Any], slot: NumberSlot) -> int:
    """Return how many of the first numbers need no check of the launch they are given to."""
    if slot.wanted is not int:
        return len(table)
    leaving = (table < slot.low) | (table >= slot.high)
    return int(leaving.argmax()) if leaving.any() else len(table)


def steps(*bounds: int) -> Steps:
    """Return the numbers of the steps of a loop, which may run all at once.

    `for t in dt.steps(n):` computes the same as `for t in range(n):` where launches of kernels are
    the only effects of the body. Python runs the first steps, until their launches repeat, perhaps
    with fields that swap roles; the remaining steps follow from these, as one run.

    The number of the step is symbolic: it is passed to kernels as it is or in arithmetic. The body
    neither reads fields nor writes them from Python, apart from `fill`, `clear` and `copy_from`.

    Args:
        bounds: The bounds of a `range`: the number of steps; or start and stop; or start, stop and
            step.

    Raises:
        StepsError: The body needs a Python loop.
        LaunchError: A bound is not an integer.
    """
    found = [as_integer(bound) for bound in bounds]
    given = [one for one in found if one is not None]
    if not 1 <= len(given) == len(bounds) <= 3 or given[2:] == [0]:
        raise LaunchError(
            "dt.steps() takes the number of steps, or the bounds of a range, as integers; not "
            f"dt.steps({', '.join(map(repr, bounds))})."
        )
    return Steps(range(*given))


@boundary
def repeat(step: Callable[..., object], n: int) -> None:
    """Call a function n times, by a loop over `dt.steps(n)`.

    Args:
        step: The function or kernel. It is given the number of the step if it takes an argument.
        n: How often.

    Raises:
        StepsError: The function needs a Python loop.
        LaunchError: `step` is not a function of one argument or none, or `n` is not an integer.
    """
    count = as_integer(n)
    if count is None:
        raise LaunchError(f"dt.repeat() takes the number of steps as an integer, not {n!r}.")
    takes_number = _takes_number(step)
    driver = _Driver(range(count))
    try:
        while True:
            try:
                number = driver.advance(lambda: state_of_call(step))
            except StopIteration:
                return
            if takes_number:
                step(number)
            else:
                step()
    finally:
        driver.leave()


def _takes_number(step: object) -> bool:
    """Tell whether a function takes the number of the step.

    Raises:
        LaunchError: The object is not a function, or has other parameters.
    """
    function = step.unbound if isinstance(step, BoundMethod) else step
    if not callable(function):
        raise LaunchError(f"dt.repeat() takes a function and the number of steps, not {step!r}.")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # one without a signature
        return False
    needed = [
        one
        for one in parameters[isinstance(step, BoundMethod) :]
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    if len(needed) > 1 or any(one.kind is one.KEYWORD_ONLY for one in needed):
        name = getattr(function, "__name__", repr(function))
        raise LaunchError(
            f"dt.repeat() calls a function of the number of the step, or of nothing, and '{name}' "
            f"needs {', '.join(one.name for one in needed)}. Write 'lambda t: ...'."
        )
    return bool(needed)
