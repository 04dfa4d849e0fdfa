"""One substrate in a process of its own, which measures the rows that it is asked for."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any, Protocol, cast

import numpy as np

Figures = dict[str, float]  # seconds by name
Arrays = Mapping[str, np.ndarray]
LAUNCHES = 200  # of a turn: short enough to run undisturbed by other programs


class Row(Protocol):
    """One line, or a few, of the table."""

    def turn(self) -> Figures:
        """Run once; return the seconds of each part."""
        ...

    def results(self) -> Arrays:
        """Return what the last turn computed."""
        ...


def serve(connection: Connection, substrate: str, arch: str, threads: int, quick: bool) -> None:
    """Start the substrate; answer names of rows, with "" for another turn of the row before."""
    os.environ["DIFFTILE_SUBSTRATE"] = substrate
    if arch == "cpu" and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    rows = importlib.import_module("benchmarks.substrate_rows.rows")  # loads the compiler
    row: Row | None = None
    while (name := connection.recv()) is not None:
        try:
            if name:
                row = None  # its memory is free for the next one
                row = cast(Row, rows.make(name, arch, threads, quick))
                figures = compiled(row.turn)
                connection.send((figures, {k: np.array(v) for k, v in row.results().items()}))
            elif row is not None:
                connection.send((row.turn(), {}))
        except Exception as error:  # the parent prints it and goes on with the next row
            row = None
            connection.send((f"{type(error).__name__}: {error}", {}))


def compiled(turn: Callable[[], Figures]) -> Figures:
    """Return the seconds by which a first turn takes longer than the second, of this process."""
    seconds: list[float] = []
    for _ in range(2):
        started = time.process_time()
        turn()
        seconds.append(time.process_time() - started)
    return {"compile": max(0.0, seconds[0] - seconds[1])}


def each(call: Callable[[], object], sync: Callable[[], Any]) -> float:
    """Return the seconds of one of many calls, to the end of all that they started."""
    sync()
    started = time.perf_counter()
    for _ in range(LAUNCHES):
        call()
    sync()
    return (time.perf_counter() - started) / LAUNCHES
