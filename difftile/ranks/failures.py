"""Ends of ranks: an error on one of them ends all, with its message, and no rank hangs."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any

from difftile.ranks.waiting import PeerFailed, Waiting
from difftile.ranks.watch import end_now

_EXITS = 10  # limit for what a program does at its exit, after an error [s]
_LOOKS = 1.0  # between looks at the steps of a device [s]
_INTERRUPTED = 130  # the exit code of a shell for Ctrl+C


def end_together(waiting: Waiting, abort: Callable[[], None]) -> None:
    """End all ranks when an error ends this one.

    Args:
        waiting: The waits of this rank.
        abort: Ends the others by means of the engine, if it has any; may end this process.
    """
    if hasattr(sys, "ps1") or sys.flags.interactive:
        return  # an error does not end the process
    before = sys.excepthook
    if before.__module__.startswith("torch."):  # which prints the rank as well
        before = sys.__excepthook__

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        show = before if before is not sys.__excepthook__ else None
        try:
            _report(
                waiting, error, lambda: show(kind, error, trace) if show else None, show is None
            )
        finally:
            _end(abort, _INTERRUPTED if issubclass(kind, KeyboardInterrupt) else 1)

    sys.excepthook = hook


def _report(waiting: Waiting, error: BaseException, show: Callable[[], Any], whole: bool) -> None:
    """Print an error, with the rank before each line, and tell the others."""
    name = type(error).__name__
    first = str(error).strip().splitlines()[0] if str(error).strip() else ""
    text = f"{name}: {first}" if first else name
    if isinstance(error, PeerFailed):
        lines = [str(error)]
    elif isinstance(error, KeyboardInterrupt):
        lines = [f"{name} {_last_place(error)}"]
        text = lines[0]
    elif whole:
        lines = "".join(traceback.format_exception(error)).splitlines()
    else:
        lines = [text]
    if waiting.watch is not None:
        waiting.watch.fail(text)
    prefixed = "".join(f"[rank {waiting.rank}] {line}\n" for line in lines)
    sys.stderr.write(prefixed)
    sys.stderr.flush()
    if not whole:
        show()


def _last_place(error: BaseException) -> str:
    entries = traceback.extract_tb(error.__traceback__)
    outside = [one for one in entries if f"{os.sep}difftile{os.sep}" not in one.filename]
    return f"at {outside[-1].filename}, line {outside[-1].lineno}" if outside else ""


def _end(abort: Callable[[], None], code: int) -> None:
    """End this process, with what it does at its exit, but without waiting for other ranks."""
    limit_exit()  # before the abort: MPI's may never return where a rank is at its end
    abort()
    with suppress(BaseException):
        atexit._run_exitfuncs()  # as the interpreter does
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    # The interpreter's own end would free the groups of engines, which wait for other ranks.
    os._exit(code)


@contextmanager
def limited(seconds: float) -> Generator[None]:
    """Let the system end this process if a block takes longer, in calls that nothing interrupts."""
    on_main = threading.current_thread() is threading.main_thread()
    if not (on_main and hasattr(signal, "setitimer")) or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield  # the timer is the program's
        return
    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def limit_exit() -> None:
    """Let the system end this process, if its exit takes too long."""
    on_main = threading.current_thread() is threading.main_thread()
    if on_main and hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, _EXITS)


def guard(waiting: Waiting, late: Callable[[], str | None]) -> None:
    """End this rank when a step on its device takes too long, while the host waits in the driver.

    Args:
        waiting: The waits of this rank.
        late: Returns the step that takes too long, or None.
    """

    def run() -> None:
        while True:
            time.sleep(_LOOKS)
            what = late()
            if what is not None:
                text = waiting.late(what, ())
                if waiting.watch is not None:
                    waiting.watch.fail(text)
                end_now(waiting.rank, text)

    threading.Thread(target=run, name="difftile device", daemon=True).start()
