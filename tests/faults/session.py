"""Tests that pytest has collected once, and runs of some of them in child processes.

A child sends, through a connection: ("start", test), then ("end", test, seconds, what failed or "",
extra), and last ("done",). It ends without cleaning up: its folder is removed by its parent.
"""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

# Output is not captured, since children would share the files that it goes to.
OPTIONS = ("-n", "0", "-s", "-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--no-header")


class Plugin:
    """Does something else with the collected tests than to run them all.

    Args:
        do: Takes the session of pytest.
    """

    def __init__(self, do: Callable[[pytest.Session], None]) -> None:
        self._do = do
        self.failure = ""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Replace the loop of pytest."""
        self._do(session)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the first failure of a test."""
        if report.failed and not self.failure:
            lines = str(report.longreprtext).strip().splitlines() or [report.when or ""]
            errors = [line[2:].strip() for line in lines if line.startswith("E  ")]
            self.failure = (errors or lines[-1:])[0][:200] or "failed"

    def take_failure(self) -> str:
        """Return what failed, or the empty string, and forget it."""
        failure, self.failure = self.failure, ""
        return failure


def collect(paths: Sequence[str], options: Sequence[str], plugin: Plugin) -> int:
    """Collect tests, and let the plugin go on in this process; return pytest's exit code."""
    return int(pytest.main([*OPTIONS, *options, *paths], plugins=[plugin]))


def run_items(
    session: pytest.Session,
    plugin: Plugin,
    tests: Iterable[str],
    connection: Connection,
    *,
    stop: bool = True,
    extra: Callable[[], object] = lambda: None,
) -> None:
    """Run tests in their order, and tell what becomes of each.

    Args:
        session: The collected session.
        plugin: Its plugin.
        tests: The tests to run; those that were not collected are left out.
        connection: To whom it is told.
        stop: Whether to stop at the first that fails.
        extra: What else is to be told after each.
    """
    by_name = {item.nodeid: item for item in session.items}
    items = [by_name[name] for name in tests if name in by_name]
    for item, following in zip(items, [*items[1:], None], strict=True):
        connection.send(("start", item.nodeid))
        started = time.perf_counter()
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        failure = plugin.take_failure()
        seconds = time.perf_counter() - started
        connection.send(("end", item.nodeid, seconds, failure, extra()))
        if failure and stop:
            break
    connection.send(("done",))


def fork(run: Callable[[Connection], None], folder: Path) -> tuple[int, Connection]:
    """Run something in a fork that writes its temporary files into a folder.

    Returns:
        The process and what it tells.
    """
    theirs, ours = os.pipe()
    pid = os.fork()
    if pid:
        os.close(ours)
        return pid, Connection(theirs, writable=False)
    status = 1
    try:
        os.close(theirs)
        os.setsid()
        gc.freeze()
        enter(folder)
        run(Connection(ours, readable=False))
        status = 0
    finally:
        os._exit(status)


def enter(folder: Path) -> None:
    """Write temporary files into a folder, and what is printed nowhere."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
