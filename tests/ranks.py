"""Ranks for tests: processes that are started once, and run functions together.

    results = ranks(4).run(function, *arguments)      # a list with the result of each rank

A function is a top-level one of an importable module; it is called on all ranks, after `dt.init` on
one thread and in double precision. Fewer ranks are the first of the same processes.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from functools import cache
from multiprocessing.connection import Client, Connection, Listener, wait
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

import pytest

import difftile as dt
from difftile.ranks import choice, start
from difftile.substrate import calibration
from difftile.substrate import compile as compiling
from difftile.tracebacks import set_traceback
from tests.recorded import compiles_now, install_as_handed_on

ROOT = Path(__file__).parents[1]
PATIENCE = 120.0  # for a function, compiling included [s]
_STEP = 0.5  # the part of it that a step of ranks may take, so that the error names the step
_LONGEST = 600.0  # for such a step in any test [s]
_OTHERS = 5.0  # for the errors of others after the first one [s]
_START = 240.0  # for the start of the processes [s]
_USUAL = 4  # processes
_LAST = 4000  # characters of the output that an error shows
_ADDRESS, _KEY = "DIFFTILE_TEST_ADDRESS", "DIFFTILE_TEST_KEY"


class RanksFailed(AssertionError):
    """A function failed on some ranks, or one of them ended or did not answer."""


class _Processes:
    """Processes that an engine connects, started at their first use.

    Args:
        number: How many.
        engine: "torch" (gloo) or "mpi".
    """

    def __init__(self, number: int, engine: str) -> None:
        self._number, self._engine = number, engine
        self._connections: list[Connection] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._output: IO[bytes] | None = None
        atexit.register(self.stop)

    def run(self, size: int, engine: str, task: Any, patience: float) -> list[Any]:
        """Run a task on the first ranks; return their results."""
        if not self._connections:
            self._start()
        open_ = {self._connections[rank]: rank for rank in range(size)}
        results: dict[int, Any] = {}
        failures: list[str] = []
        until = time.monotonic() + patience
        for one, rank in open_.items():
            try:
                one.send((size, engine, *task))
            except OSError:
                failures.append(f"rank {rank} has ended before")
        while open_:
            ready = wait(list(open_), max(0.0, until - time.monotonic()))
            if not ready:
                failures.append(f"no answer of ranks {sorted(open_.values())}")
                break
            for one in ready:
                rank = open_.pop(one)
                try:
                    failed, results[rank] = one.recv()
                except (EOFError, OSError):
                    failed, results[rank] = True, "the process has ended"
                if failed:
                    failures.append(f"rank {rank}: {results[rank]}")
            if failures:
                until = min(until, time.monotonic() + _OTHERS)
        if failures:
            shown = self._last_output()
            self.stop()
            raise RanksFailed("\n".join([*failures, *shown]))
        return [results[rank] for rank in range(size)]

    def _start(self) -> None:
        key = secrets.token_hex(16)
        self._output = tempfile.TemporaryFile()
        with Listener(("127.0.0.1", 0), authkey=key.encode(), backlog=self._number) as listener:
            host, port = listener.address
            common = {
                **os.environ,
                _ADDRESS: f"{host}:{port}",
                _KEY: key,
                "OMP_NUM_THREADS": "1",
                "DIFFTILE_RANKS": self._engine,
            }
            command = [sys.executable, "-m", "tests.ranks"]
            if self._engine == "mpi":
                self._popen([str(mpiexec()), "-n", str(self._number), *command], common)
            else:
                for own in places(self._number):
                    self._popen(command, {**common, **own})
            socket_ = listener._listener._socket  # to notice that nobody comes
            socket_.settimeout(1.0)
            come: list[Connection] = []
            until = time.monotonic() + _START
            while len(come) < self._number:
                try:
                    come.append(listener.accept())
                except TimeoutError:
                    self._check_start(until)
        found: dict[int, Connection] = {}
        while len(found) < self._number:  # each says its rank once it has found the others
            for one in wait([one for one in come if one not in found.values()], 1.0):
                try:
                    found[one.recv()] = one
                except EOFError:
                    until = 0.0
            self._check_start(until)
        self._connections = [found[rank] for rank in range(self._number)]

    def _check_start(self, until: float) -> None:
        if time.monotonic() > until or any(one.poll() for one in self._processes):
            shown = self._last_output()
            self.stop()
            raise RanksFailed("\n".join(["the ranks did not start", *shown]))

    def _popen(self, command: list[str], environment: dict[str, str]) -> None:
        self._processes.append(
            subprocess.Popen(
                command,
                env=environment,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.STDOUT,
            )
        )

    def _last_output(self) -> list[str]:
        assert self._output is not None
        self._output.seek(0)
        text = self._output.read().decode(errors="replace").strip()
        return ["the ranks printed:", text[-_LAST:]] if text else []

    def stop(self) -> None:
        """End the processes, which end by themselves when their connection does."""
        for one in self._connections:
            one.close()
        for process in self._processes:
            if self._engine == "mpi":
                process.terminate()  # so that mpiexec ends its own
            else:
                process.kill()
        for process in self._processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._output is not None:
            self._output.close()
        self._connections, self._processes, self._output = [], [], None


@cache
def _processes(number: int, engine: str) -> _Processes:
    return _Processes(number, engine)


class Ranks:
    """Some ranks.

    Args:
        size: How many.
        engine: "torch" (gloo), "mpi", or for one rank "alone".
    """

    def __init__(self, size: int, engine: str) -> None:
        self.size, self.engine = size, engine

    def run(
        self, function: Callable[..., Any], *arguments: Any, patience: float = PATIENCE
    ) -> list[Any]:
        """Call a function on all ranks; return their results.

        Raises:
            RanksFailed: A rank failed; the processes are ended, and start anew for the next test.
        """
        # The name by which pytest knows a module is not always one by which it can be imported.
        file = Path(function.__code__.co_filename).relative_to(ROOT).with_suffix("")
        place = ".".join(file.parts), function.__qualname__
        task = *place, arguments, _STEP * patience, compiles_now()
        connected = "torch" if self.engine == "alone" else self.engine
        processes = _processes(max(_USUAL, self.size), connected)
        return processes.run(self.size, self.engine, task, patience)


def ranks(size: int, engine: str = "torch") -> Ranks:
    """Return ranks, or skip the test where they cannot be had."""
    missing = absent("torch" if engine == "alone" else engine)
    if missing:
        pytest.skip(f"ranks need {missing}, not installed here")
    return Ranks(size, engine)


@cache
def absent(engine: str) -> str:
    """Return the names of the packages that an engine lacks; "" if it is there."""
    if engine == "torch":
        torch = importlib.util.find_spec("torch") is not None
        return (
            "" if torch and importlib.import_module("torch.distributed").is_available() else engine
        )
    lacking = [] if importlib.util.find_spec("mpi4py") else ["mpi4py"]
    return " and ".join([*lacking, *([] if mpiexec() else ["mpiexec"])])


def mpiexec() -> str | None:
    """Return the path of mpiexec: the one installed beside Python, or another."""
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def places(size: int) -> list[dict[str, str]]:
    """Return the variables of torchrun for each of some processes on this host."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    return [
        {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(size),
            "LOCAL_WORLD_SIZE": str(size),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
        }
        for rank in range(size)
    ]


def main() -> None:
    """Answer tasks until the connection ends."""
    host, _, port = os.environ[_ADDRESS].partition(":")
    connection = Client((host, int(port)), authkey=os.environ[_KEY].encode())
    tasks: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_hear, args=(connection, tasks), daemon=True).start()
    compiling.costs_on = lambda *_: calibration.DEFAULT
    record = install_as_handed_on()
    dt.init(default_fp="f64", cpu_max_num_threads=1)
    set_traceback("full")
    world = start(timeout=_LONGEST)
    world.side_channel()
    engines = {(world.size, world.name): world, (1, "alone"): choice.SingleRank(_STEP * PATIENCE)}
    for size in range(1, world.size):  # on all processes, as torch wants it
        engines[size, world.name] = _first_ranks(size, world)
    connection.send(world.rank)
    while True:
        size, engine, module, name, arguments, timeout, record.compiles = tasks.get()
        record.test += 1
        try:
            _use(engines[size, engine])
            engines[size, engine].waiting.timeout = timeout
            function: Any = importlib.import_module(module)
            for part in name.split("."):
                function = getattr(function, part)
            answer = False, function(*arguments)
        except BaseException:  # sent to the test
            answer = True, traceback.format_exc()
        try:
            connection.send(answer)
        except Exception:  # a result that cannot be pickled
            connection.send((True, traceback.format_exc()))


def _hear(connection: Connection, tasks: SimpleQueue[Any]) -> None:
    """Take tasks, and end the process with the connection, whatever it does."""
    while True:
        try:
            tasks.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)


def _first_ranks(size: int, world: Any) -> Any:
    """Return an engine of the first ranks; None on the others."""
    first = list(range(size))
    if world.name == "torch":
        make_group = importlib.import_module("torch.distributed").new_group
        group, side_channel = make_group(first), make_group(first)  # made by all processes
    else:
        MPI = importlib.import_module("mpi4py.MPI")
        group = MPI.COMM_WORLD.Create(MPI.COMM_WORLD.Get_group().Incl(first))
        side_channel = None  # copied from the group by its members
    if world.rank >= size:
        return None
    make: Any = choice.ENGINES[world.name].make
    made = make(_STEP * PATIENCE, group)
    made.waiting.watch = world.waiting.watch
    if side_channel is not None:
        made._side_channel = make(_STEP * PATIENCE, side_channel)
        made._side_channel.waiting = made.waiting
    return made


def _use(engine: Any) -> None:
    choice._Chosen.engine, choice._Chosen.by_name = engine, True


if __name__ == "__main__":
    main()
