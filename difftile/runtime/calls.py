"""What a call of a kernel does besides its launch: wrappers, chosen when the launch is prepared."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol, TypeAlias

from difftile.compile.arguments import Arguments, CallArgs, CallKwargs
from difftile.fields.pending import PENDING, run_pending
from difftile.fields.recording import Recording
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.stale_halos import follow_halos
from difftile.recording.perform import perform
from difftile.recording.steps import Launch
from difftile.runtime.number_flow import returned
from difftile.runtime.perform_run import check_not_missed
from difftile.runtime.queue import QUEUE
from difftile.runtime.ruled_launch import RuledLaunch
from difftile.substrate import LOCK, raise_first


class RuledKernel(Protocol):
    """A kernel that may have rules."""

    def ruled(
        self,
        word: str,
        launch: PreparedLaunch,
        values: Arguments,
        args: CallArgs,
        kwargs: CallKwargs,
    ) -> RuledLaunch:
        """Return a launch whose derivative is computed by a rule."""
        ...


Perform: TypeAlias = Callable[
    [RuledKernel, PreparedLaunch, Arguments, Recording, CallArgs, CallKwargs], Any
]
"""Performs a call, with its launch, the values of its parameters, and its own arguments."""

Wrapper: TypeAlias = Callable[[Perform], Perform]


def performer(launch: PreparedLaunch, rules: frozenset[str]) -> Perform:
    """Return what performs the calls of a launch, of a kernel with some rules.

    Launches with the same concerns have the same one, which holds none of their fields.
    """
    wrappers = tuple([wrap for concerns, wrap in _WRAPPERS if concerns(launch)])
    first = _run_by_rule if "backward" in rules else _run if rules else _run_or_wait
    return _wrapped(first, wrappers)


@cache
def _wrapped(first: Perform, wrappers: tuple[Wrapper, ...]) -> Perform:
    for wrap in wrappers:
        first = wrap(first)
    return first


# The launch itself


def _run_or_wait(
    kernel: RuledKernel,
    launch: PreparedLaunch,
    values: Arguments,
    recording: Recording,
    args: CallArgs,
    kwargs: CallKwargs,
) -> None:
    """Run the launch, unless it waits to run together with others."""
    code = launch.code
    calls = code.calls = code.calls + 1
    may_wait = (calls > PENDING.hot and calls > launch.again) or PENDING.loop is not None
    if not (may_wait and QUEUE.offer(kernel, launch, values, recording)):
        _run(kernel, launch, values, recording, args, kwargs)


def _run(
    kernel: RuledKernel,
    launch: PreparedLaunch,
    values: Arguments,
    recording: Recording,
    args: CallArgs,
    kwargs: CallKwargs,
) -> None:
    """Run the launch, and let the recorder or an observer hear of it."""
    run = PENDING.run  # once: another thread may be done with them at any moment
    if run is not None:
        run()
    recorder = recording.recorder
    if recorder is None:
        if recording.observer is not None:
            Launch(launch, values, []).observe(recording.observer)
        if Recording.open or recording.observer is not None:
            check_not_missed(kernel, recording, launch, values)
        launch.run(values)
    else:
        if len(Recording.open) > 1:
            check_not_missed(kernel, recording, launch, values)
        recorder.launch(launch, values)


def _run_by_rule(
    kernel: RuledKernel,
    launch: PreparedLaunch,
    values: Arguments,
    recording: Recording,
    args: CallArgs,
    kwargs: CallKwargs,
) -> None:
    """Run the launch; on a tape a rule computes its derivative."""
    if recording.recorder is None:
        _run(kernel, launch, values, recording, args, kwargs)
    else:
        run_pending()
        perform(kernel.ruled("backward", launch, values, args, kwargs))


# What comes before and after it


def _returning(inner: Perform) -> Perform:
    def call(kernel: RuledKernel, launch: PreparedLaunch, values: Arguments, *more: Any) -> Any:
        inner(kernel, launch, values, *more)
        return returned(launch, values)

    return call


def _reporting(inner: Perform) -> Perform:
    def call(kernel: RuledKernel, launch: PreparedLaunch, values: Arguments, *more: Any) -> None:
        inner(kernel, launch, values, *more)
        raise_first()
        follow_halos(launch, values)

    return call


def _after(prepare: Callable[[PreparedLaunch, Arguments], object]) -> Wrapper:
    """Return the wrapper that prepares a launch, and then goes on."""

    def wrap(inner: Perform) -> Perform:
        def call(kernel: RuledKernel, launch: PreparedLaunch, values: Arguments, *more: Any) -> Any:
            prepare(launch, values)
            return inner(kernel, launch, values, *more)

        return call

    return wrap


def _refresh(launch: PreparedLaunch, values: Arguments) -> None:
    for one in launch.derived:
        one.refresh()


def _locking(inner: Perform) -> Perform:
    def call(kernel: RuledKernel, launch: PreparedLaunch, values: Arguments, *more: Any) -> Any:
        with LOCK:
            return inner(kernel, launch, values, *more)

    return call


_WRAPPERS: tuple[tuple[Callable[[PreparedLaunch], bool], Wrapper], ...] = (
    (lambda launch: launch.session.debug, _reporting),
    (lambda launch: launch.code.result is not None, _returning),
    (lambda launch: launch.code.streams > 0, _after(PreparedLaunch.draw_anew)),
    (lambda launch: bool(launch.derived), _after(_refresh)),
    (lambda launch: launch.exclusive, _locking),
    (lambda launch: launch.suspect is not None, _after(PreparedLaunch.check_if_suspect)),
)
"""The concerns that a launch may have, from the innermost to the outermost."""
