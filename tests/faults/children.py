"""Child processes: shares of work, limits of time and of memory."""

from __future__ import annotations

import os
import shutil
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

MEMORY = 6 * 2**30  # bytes that a child may take
_STARTING = 300.0  # seconds until the first test begins, on a machine that others keep busy


@dataclass
class Outcome:
    """What became of a run of tests.

    Args:
        ran: The tests that ended, with their seconds and what else they told.
        failed: Those that failed, with the reason.
        complete: Whether all tests were run.
    """

    ran: list[tuple[str, float, Any]] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    complete: bool = False


def watch(
    pid: int,
    connection: Connection,
    *,
    limit: Callable[[str], float],
    budget: float,
    memory: int = MEMORY,
) -> Outcome:
    """Listen to a child until it is done or has to be ended.

    Args:
        pid: The child, which leads a group of processes.
        connection: What it tells, as in `tests.faults.session`.
        limit: The seconds that a test may take; one that takes longer has failed.
        budget: The seconds that the child may take.
        memory: The bytes that it may take.
    """
    outcome, current = Outcome(), ""
    begun = time.monotonic()
    deadline = begun + _STARTING
    try:
        while True:
            now = time.monotonic()
            if now > deadline:
                outcome.failed[current or "(start)"] = "took too long"
                break
            if now > begun + budget:
                break
            if _memory(pid) > memory:
                outcome.failed[current or "(start)"] = "took too much memory"
                break
            if not connection.poll(min(1.0, max(0.0, deadline - now))):
                continue
            try:
                kind, *rest = connection.recv()
            except EOFError:
                outcome.failed[current or "(start)"] = "ended its process"
                break
            if kind == "start":
                current = rest[0]
                deadline = time.monotonic() + limit(current)
            elif kind == "end":
                name, seconds, failure, extra = rest
                outcome.ran.append((name, seconds, extra))
                if failure:
                    outcome.failed[name] = failure
                deadline, current = time.monotonic() + _STARTING, ""
            else:
                outcome.complete = kind == "done"
                if kind == "error":
                    outcome.failed["(collection)"] = rest[0]
                break
    finally:
        connection.close()
        end(pid)
    return outcome


def end(pid: int) -> None:
    """End a child and the processes that it has started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _memory(pid: int) -> int:
    """Return the bytes in memory of a process, or 0 where that cannot be told."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def share(
    work: Callable[[Any], Any], items: Sequence[Any], jobs: int, folder: Path
) -> Iterator[tuple[Any, Any]]:
    """Do work in several forks of this process, and yield each item with its result.

    Args:
        work: The work.
        items: What to do it with.
        jobs: The number of forks.
        folder: For temporary files; removed at the end.
    """
    tasks, giver = os.pipe()
    for k in range(len(items)):  # a pipe holds 16,000 of them
        os.write(giver, k.to_bytes(4, "little"))
    os.close(giver)
    workers: dict[Any, int] = {}
    try:
        for number in range(min(jobs, len(items))):
            ours, theirs = Pipe(duplex=False)
            pid = os.fork()
            if pid == 0:
                status = 1
                try:
                    ours.close()
                    os.setpgid(0, 0)
                    while word := os.read(tasks, 4):
                        k = int.from_bytes(word, "little")
                        theirs.send((k, work(items[k])))
                    status = 0
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(status)
            theirs.close()
            workers[ours] = pid
        waiting = set(workers)
        while waiting:
            for one in wait(list(waiting)):
                try:
                    k, result = one.recv()
                    yield items[k], result
                except EOFError:
                    waiting.discard(one)
    finally:
        os.close(tasks)
        for pid in workers.values():
            end(pid)
        shutil.rmtree(folder, ignore_errors=True)
