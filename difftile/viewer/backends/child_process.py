"""A child process of the app that draws and shows the frames that the app sends.

The app starts the process with one end of a connection. The process ends when the connection closes
or when the app's process has ended, for whatever reason.
"""

from __future__ import annotations

import multiprocessing.connection
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Any, TypeAlias

from difftile.substrate import chosen

if sys.platform == "win32":
    Connection: TypeAlias = multiprocessing.connection.PipeConnection
else:
    Connection: TypeAlias = multiprocessing.connection.Connection

_PROTOCOL = 5  # of pickle; copies arrays only once
_PATIENCE = 5.0  # the time that the process may take to end [s]
_NICE = 5  # added to the niceness of the process, so that the app goes first
_ORPHANED = 0.5  # interval of checks that the app's process lives [s]


class Ended(Exception):
    """The process has ended; the message is a predicate such as "ended with exit code 1"."""


class ChildProcess:
    """The process, as the app sees it.

    Args:
        module: The module to run. Its arguments are the file descriptor of the connection, then
            the words.
        words: Further arguments.

    Attributes:
        greeting: The first message of the process.
        pid: The process identifier.

    Raises:
        Ended: The process does not start, or ends without a message.
    """

    def __init__(self, module: str, *words: object) -> None:
        self._connection, theirs = Pipe()
        self._arrived: Callable[[], bool] = self._connection.poll
        if sys.platform != "win32":  # where polling by hand takes a tenth of the time
            poll = select.poll()
            poll.register(self._connection.fileno(), select.POLLIN)
            self._arrived = lambda: bool(poll.poll(0))
        number = theirs.fileno()
        command = [sys.executable, "-m", module, str(number), *map(str, words)]
        options: dict[str, Any] = {
            # The same library as here, whatever the working directory of the app contains.
            "cwd": Path(__file__).parents[3],
            "env": {
                **os.environ,
                "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
                "DIFFTILE_SUBSTRATE": chosen(),  # which `dt.init` may have named
            },
            "stdin": subprocess.DEVNULL,
        }
        if sys.platform == "win32":
            os.set_handle_inheritable(number, True)
            options["startupinfo"] = subprocess.STARTUPINFO(
                lpAttributeList={"handle_list": [number]}
            )
        else:
            options["pass_fds"] = (number,)
        try:
            self._process = subprocess.Popen[Any](command, **options)
        except OSError as error:
            raise Ended(f"{sys.executable} does not start: {error.strerror}") from None
        finally:
            theirs.close()
        self.pid = self._process.pid
        try:
            self.greeting: Any = self._connection.recv()
        except (EOFError, OSError):
            ending = self._ending()
            self.close()
            raise Ended(ending) from None

    def send(self, message: object) -> None:
        """Send a message; `receive` notices if the process has ended."""
        try:
            self._connection.send_bytes(pickle.dumps(message, _PROTOCOL))
        except OSError:
            return

    def receive(self) -> list[Any]:
        """Return the messages that have arrived; never block.

        Raises:
            Ended: The process has ended and all its messages are taken.
        """
        found: list[Any] = []
        try:
            while self._arrived():
                found.append(self._connection.recv())
        except (EOFError, OSError):
            if not found:
                raise Ended(self._ending()) from None
        return found

    def close(self) -> None:
        """End the process and wait for it."""
        self._connection.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ending(self) -> str:
        try:
            code = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            return "stopped responding"
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def join_app(number: str) -> Connection:
    """Set up this process as a `ChildProcess`; return its end of the connection."""
    if sys.platform != "win32":
        os.nice(_NICE)
    if sys.platform == "linux":
        # Otherwise a frame that arrives takes the processor from the app until it is drawn.
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the app gets it too, and closes the connection
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    return Connection(int(number))


def _end_with(parent: int) -> None:
    """End this process soon after its parent, even if other processes hold the connection open."""
    while os.getppid() == parent:
        time.sleep(_ORPHANED)
    os._exit(0)
