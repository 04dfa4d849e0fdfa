"""Ranks for tests: processes that are started once, and run functions together.

    results = ranks(4).run(function, *arguments)      # a list with the result of each rank

A function is a top-level one of an importable module; it is called on all ranks, after `dt.init` on
one thread and in double precision.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import inspect
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from functools import cache
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

import pytest

import difftile as dt
from difftile.ranks import current
from difftile.tracebacks import set_traceback

ROOT = Path(__file__).parents[1]
PATIENCE = 120.0  # for a function, compiling included [s]
_ADDRESS, _KEY = "DIFFTILE_TEST_ADDRESS", "DIFFTILE_TEST_KEY"


class RanksFailed(AssertionError):
    """A function failed on some ranks, or one of them ended or did not answer."""


class Ranks:
    """Some processes, connected by an engine.

    Args:
        size: How many.
        engine: "torch" (gloo) or "mpi".
    """

    def __init__(self, size: int, engine: str) -> None:
        self.size, self.engine = size, engine
        self._connections: list[Connection] = []
        self._processes: list[subprocess.Popen[bytes]] = []

    def run(self, function: Callable[..., Any], *arguments: Any, patience: float = PATIENCE) -> Any:
        """Call a function on all ranks; return their results.

        Raises:
            RanksFailed: A rank failed; the others are ended as well, and start anew.
        """
        if not self._connections:
            self._start()
        task = _module(function), function.__qualname__, arguments
        results: list[Any] = []
        failures: list[str] = []
        try:
            for one in self._connections:
                one.send(task)
            until = time.monotonic() + patience
            for rank, one in enumerate(self._connections):
                if failures:
                    until = min(until, time.monotonic() + 5.0)
                if not one.poll(max(0.0, until - time.monotonic())):
                    failures.append(f"rank {rank} does not answer")
                    continue
                failed, value = one.recv()
                failures += [f"rank {rank}: {value}"] if failed else []
                results.append(value)
        except (EOFError, OSError) as error:
            failures.append(f"a rank has ended: {error!r}")
        if failures:
            self.stop()
            raise RanksFailed("\n".join(failures))
        return results

    def _start(self) -> None:
        key = secrets.token_hex(16)
        with Listener(("127.0.0.1", 0), authkey=key.encode()) as listener:
            host, port = listener.address
            common = {
                **os.environ,
                _ADDRESS: f"{host}:{port}",
                _KEY: key,
                "OMP_NUM_THREADS": "1",
                "DIFFTILE_RANKS": self.engine,
            }
            command = [sys.executable, "-m", "tests.ranks"]
            if self.engine == "mpi":
                command = [str(_mpiexec()), "-n", str(self.size), *command]
                self._processes = [subprocess.Popen(command, env=common, cwd=ROOT)]
            else:
                with socket.create_server(("127.0.0.1", 0)) as free:
                    master = str(free.getsockname()[1])
                for rank in range(self.size):
                    own = {
                        "RANK": str(rank),
                        "LOCAL_RANK": str(rank),
                        "WORLD_SIZE": str(self.size),
                        "LOCAL_WORLD_SIZE": str(self.size),
                        "MASTER_ADDR": "127.0.0.1",
                        "MASTER_PORT": master,
                    }
                    started = subprocess.Popen(command, env={**common, **own}, cwd=ROOT)
                    self._processes.append(started)
            accepted = [listener.accept() for _ in range(self.size)]
            found = {connection.recv(): connection for connection in accepted}
        self._connections = [found[rank] for rank in range(self.size)]

    def stop(self) -> None:
        """End the processes."""
        for one in self._connections:
            one.close()
        for process in self._processes:
            process.kill()
            process.wait()
        self._connections, self._processes = [], []


@cache
def ranks(size: int, engine: str = "torch") -> Ranks:
    """Return ranks that are started at their first use, or skip the test where there are none."""
    if engine == "torch" and importlib.util.find_spec("torch") is None:
        pytest.skip("ranks need torch, which is not installed")
    if engine == "mpi" and (importlib.util.find_spec("mpi4py") is None or _mpiexec() is None):
        pytest.skip("ranks need mpi4py and mpiexec, which are not installed")
    made = Ranks(size, engine)
    atexit.register(made.stop)
    return made


def _module(function: Callable[..., Any]) -> str:
    """Return the module of a function, which pytest may have imported under another name."""
    file = Path(inspect.unwrap(function).__code__.co_filename).resolve()
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def _mpiexec() -> str | None:
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def main() -> None:
    """Answer tasks until the connection ends."""
    host, _, port = os.environ[_ADDRESS].partition(":")
    connection = Client((host, int(port)), authkey=os.environ[_KEY].encode())
    dt.init(default_fp="f64", cpu_max_num_threads=1)
    set_traceback("full")
    connection.send(current().rank)
    while True:
        try:
            module, name, arguments = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        try:
            function: Any = importlib.import_module(module)
            for part in name.split("."):
                function = getattr(function, part)
            answer = False, function(*arguments)
        except BaseException:  # sent to the test
            answer = True, traceback.format_exc()
        connection.send(answer)


if __name__ == "__main__":
    main()
