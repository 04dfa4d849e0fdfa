"""The engine of this process, chosen by what has launched it."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from importlib import import_module
from typing import ClassVar

import numpy as np

from difftile.diagnostics import RankError
from difftile.ranks.alone import Alone
from difftile.ranks.engine import Engine

TIMEOUT = 300.0  # [s]


ENGINES: dict[str, Callable[[float], Engine]] = {
    "alone": lambda _: Alone(),
    "torch": lambda timeout: import_module("difftile.ranks.torch_engine").TorchEngine(timeout),
    "mpi": lambda timeout: import_module("difftile.ranks.mpi_engine").MpiEngine(timeout),
}
# Variables that launchers set for each process, with the number of processes.
_LAUNCHERS = (
    ("WORLD_SIZE", "torch"),
    ("OMPI_COMM_WORLD_SIZE", "mpi"),
    ("PMI_SIZE", "mpi"),
)


class _Chosen:
    """The engine of the process."""

    engine: ClassVar[Engine | None] = None


def start(backend: str | None = None, timeout: float = TIMEOUT) -> Engine:
    """Connect this process with the others.

    Args:
        backend: "torch", "mpi" or "alone"; by default the environment variable DIFFTILE_RANKS
            decides, or else the launcher: torchrun, mpiexec, or none.
        timeout: The time after which a rank stops waiting for others [s].

    Raises:
        RankError: There is no such engine, or another one runs already.
    """
    name = backend or os.environ.get("DIFFTILE_RANKS") or _launcher()
    if name not in ENGINES:
        known = ", ".join(map(repr, ENGINES))
        raise RankError(f"The engine of ranks is one of {known}, not {name!r}.")
    if _Chosen.engine is not None:
        if _Chosen.engine.name != name:
            raise RankError(f"This process is connected by {_Chosen.engine.name} already.")
        return _Chosen.engine
    engine = _Chosen.engine = ENGINES[name](timeout)
    atexit.register(engine.stop)
    return engine


def current() -> Engine:
    """Return the engine of this process; it is started where it is not."""
    return _Chosen.engine or start()


def agree(number: float, op: str = "sum") -> float:
    """Return the sum, the largest or the smallest of a number of each rank, on all ranks."""
    engine = current()
    if engine.size == 1:
        return float(number)
    array = np.array([number], np.float64)
    engine.all_reduce(array, op).wait("an agreement")
    return float(array[0])


def _launcher() -> str:
    for variable, name in _LAUNCHERS:
        if int(os.environ.get(variable, "1")) > 1:
            return name
    return "alone"
