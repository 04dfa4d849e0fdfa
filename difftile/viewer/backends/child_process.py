"""A process beside the app's, which draws and shows what the app sends.

The app starts it with its end of a connection. The process ends when the connection does, or when
the app's process has ended, however that came.
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

if sys.platform == "win32":
    Connection: TypeAlias = multiprocessing.connection.PipeConnection
else:
    Connection: TypeAlias = multiprocessing.connection.Connection

_PROTOCOL = 5  # of pickle: arrays are copied once
_PATIENCE = 5.0  # how long the process may take to end [s]
_NICE = 5  # how far it stands back where processors are short
_ORPHANED = 0.5  # between its looks for the app's process [s]


class Ended(Exception):
    """The process has ended; the message says how."""


class ChildProcess:
    """The app's side.

    Args:
        module: What the process runs, whose arguments are the number of its end of the connection
            and the words.
        words: What else it has to know.

    Attributes:
        said: The first thing that it says.
        pid: The number of the process.

    Raises:
        Ended: It does not start, or ends without a word.
    """

    def __init__(self, module: str, *words: object) -> None:
        self._connection, theirs = Pipe()
        self._has_mail = _mail(self._connection)
        number = theirs.fileno()
        command = [sys.executable, "-m", module, str(number), *map(str, words)]
        options: dict[str, Any] = {
            # The same library as here, whatever there is in the folder where the app was started.
            "cwd": Path(__file__).parents[3],
            "env": {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
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
            self.said: Any = self._connection.recv()
        except (EOFError, OSError):
            ending = self._ending()
            self.close()
            raise Ended(ending) from None

    def send(self, message: object) -> None:
        """Send something; that the process has ended is found out by `receive`."""
        try:
            self._connection.send_bytes(pickle.dumps(message, _PROTOCOL))
        except OSError:
            return

    def receive(self) -> list[Any]:
        """Return what has come; never wait for it.

        Raises:
            Ended: There is nothing more to come.
        """
        found: list[Any] = []
        try:
            while self._has_mail():
                found.append(self._connection.recv())
        except (EOFError, OSError):
            if not found:
                raise Ended(self._ending()) from None
        return found

    def close(self) -> None:
        """Have the process end, and wait until it has."""
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
            return "has stopped to answer"
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def join_app(number: str) -> Connection:
    """Be the process that a `Partner` has started; return its end of the connection."""
    _stand_back()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the app gets it too, and closes the connection
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    return Connection(int(number))


def _stand_back() -> None:
    """Leave the processors to the app where they are short."""
    if sys.platform == "win32":
        return
    os.nice(_NICE)
    if sys.platform == "linux":
        # Else a frame wakes this process in the place of the app, until the frame is drawn.
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _mail(connection: Connection) -> Callable[[], bool]:
    """Return what tells whether something has come; `Connection.poll` takes ten times as long."""
    if sys.platform == "win32":
        return connection.poll
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return lambda: bool(poll.poll(0))


def _end_with(parent: int) -> None:
    """End this process soon after its parent, even if others hold on to the connection."""
    while os.getppid() == parent:
        time.sleep(_ORPHANED)
    os._exit(0)
