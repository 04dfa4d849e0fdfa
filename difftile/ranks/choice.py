"""The engine of this process, chosen by what has launched it."""

from __future__ import annotations

import atexit
import os
import socket
import sys
import zlib
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from difftile.diagnostics import RankError
from difftile.ranks.engine import Engine
from difftile.ranks.failures import end_together, limit_exit
from difftile.ranks.launchers import VARIABLE, place
from difftile.ranks.mpi_engine import MpiEngine
from difftile.ranks.single_rank import SingleRank
from difftile.ranks.torch_engine import TorchEngine
from difftile.ranks.warned import Warned
from difftile.ranks.watch import Watch
from difftile.records import dataclass

TIMEOUT = 300.0  # [s]


@dataclass(frozen=True, slots=True)
class Known:
    """An engine that there is.

    Args:
        make: Connects this process, with the time after which it stops waiting for others [s].
        package: What it needs, as an import.
        extra: The extra of difftile that installs that.
        launcher: How its ranks are started.
    """

    make: Callable[[float], Engine]
    package: str
    extra: str
    launcher: str


ENGINES = {
    "alone": Known(SingleRank, "", "", "python program.py"),
    "torch": Known(TorchEngine, "torch", "torch", "torchrun --nproc-per-node=4 program.py"),
    "mpi": Known(MpiEngine, "mpi4py", "mpi", "mpiexec -n 4 python program.py"),
}
_DESCRIBED = {
    "alone": "has worked alone",
    "torch": "is connected by torch",
    "mpi": "is connected by MPI",
}
_ADDRESS = 256  # bytes that tell where rank 0 is


class _Chosen:
    """The engine of the process, and whether the program has asked for it by name."""

    engine: ClassVar[Engine | None] = None
    warned: ClassVar[Warned | None] = None
    by_name: ClassVar[bool] = False


def start(backend: str | None = None, timeout: float | None = None) -> Engine:
    """Connect this process with the others; each of them calls this, or none does.

    `dist.start` explains the arguments and errors.
    """
    if timeout is not None and not timeout > 0:
        raise RankError(f"timeout is a time in seconds, not {timeout!r}.")
    if _Chosen.engine is not None:
        if backend is not None and backend != _Chosen.engine.name:
            raise RankError(
                f"This process {_DESCRIBED[_Chosen.engine.name]} already: call dist.start() before "
                "anything that asks for ranks."
            )
        if timeout is not None:
            _Chosen.engine.waiting.timeout = timeout
        return current()
    name = backend or os.environ.get(VARIABLE) or _engine_at_hand()
    if name not in ENGINES:
        source = "" if backend else f" The environment variable {VARIABLE} says so."
        known = ", ".join(map(repr, ENGINES))
        raise RankError(f"The engine of ranks is one of {known}, not {name!r}.{source}")
    chosen = ENGINES[name]
    try:
        engine = chosen.make(TIMEOUT if timeout is None else timeout)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != chosen.package:
            raise
        raise RankError(_missing(name, chosen)) from None
    _Chosen.engine, _Chosen.by_name = engine, bool(backend or os.environ.get(VARIABLE))
    if engine.size > 1:
        _join(engine)
    atexit.register(_stop, engine)
    return engine


def current() -> Engine:
    """Return the engine of this process; it is started where it is not.

    Raises:
        RankError: As `start`; or the program has started processes of torch or MPI after it has
            used difftile alone.
    """
    engine = _Chosen.engine
    if engine is None:
        return start()
    if engine.size == 1 and not _Chosen.by_name and _existing() is not None:
        raise RankError(
            "This process has worked alone, and then joined others by torch or MPI: join them "
            "before anything that asks for ranks, or call dist.start('alone')."
        )
    return engine


def agree(number: float, op: str = "sum") -> float:
    """Return the sum, the largest or the smallest of a number of each rank, on all ranks."""
    engine = current()
    if engine.size == 1:
        return float(number)
    array = np.array([number], np.float64)
    engine.all_reduce(array, op).wait("an agreement")
    return float(array[0])


def _engine_at_hand() -> str:
    here = place()
    found = _existing()
    if found is not None:
        return found
    return "alone" if here is None or here.size == 1 else here.engine


def _existing() -> str | None:
    """Return the engine by which the program has connected several processes already."""
    torch: Any = sys.modules.get("torch.distributed")
    if torch is not None and torch.is_available() and torch.is_initialized():
        return "torch" if torch.get_world_size() > 1 else None
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
        return "mpi" if mpi.COMM_WORLD.Get_size() > 1 else None
    return None


def _missing(name: str, engine: Known) -> str:
    here = place()
    told = f"{here.launcher} has started {here.size} processes. " if here else ""
    return (
        f"{told}The engine '{name}', which connects ranks, needs {engine.package}, which is not "
        f"installed: pip install 'difftile[{engine.extra}]'"
    )


def _join(engine: Engine) -> None:
    """Let ranks hear of each other's failures."""
    waiting = engine.waiting
    watch = Watch(engine.rank, engine.size, waiting.whereabouts)
    hosts = np.zeros(engine.size, np.int64)
    hosts[engine.rank] = zlib.crc32(socket.gethostname().encode())
    engine.all_reduce(hosts).wait("the start")
    address = np.zeros(_ADDRESS, np.uint8)
    if engine.rank == 0:
        known = "127.0.0.1" if (hosts == hosts[0]).all() else engine.host or socket.getfqdn()
        port, token = watch.open(known)
        text = f"{known} {port} {token}".encode()
        address[: len(text)] = np.frombuffer(text, np.uint8)
    engine.all_reduce(address).wait("the start")
    if engine.rank != 0:
        known, port, token = address.tobytes().rstrip(b"\0").decode().split()
        watch.join(known, int(port), token)
    watch.start()
    waiting.watch = watch
    _Chosen.warned = Warned(watch)
    end_together(waiting, engine.abort)


def _stop(engine: Engine) -> None:
    """End the connection at the end of the process."""
    watch = engine.waiting.watch
    if _Chosen.warned is not None:
        _Chosen.warned.show()
    if watch is not None and watch.failure is not None:
        limit_exit()  # the others take no part in it
        return
    if watch is not None:
        watch.leave(engine.waiting.joined)
    engine.stop()
    if watch is not None:
        watch.close()
