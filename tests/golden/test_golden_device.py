"""The source for a device with 132 multiprocessors; `pytest --update-golden` rewrites it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.schedule.grids import Grids
from tests.device_arrays import device_arrays, threads_alone

FILE = Path(__file__).parent / "on_a_device.txt"
ON_AN_H200 = Grids.on(132)


def maps(x, y):
    for i in x:
        y[i] = ti.sin(x[i]) * x[i]


def smooths(x, y):
    for i, j in ti.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
        y[i, j] = x[i, j] + 0.2 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


def sums(x, y):
    for i, j in x:
        y[None] += x[i, j] ** 2


def walks_along_rows(x, y):
    for i in range(x.shape[0]):
        last = 0.0
        for j in range(x.shape[1]):
            last = 0.5 * last + x[i, j]
            y[i, j] = last


def repeats(x, y):
    for i, j in ti.ndrange(3, 7):
        y[i, j] = x[i, j + 1]


def field(*shape: int) -> dt.Field:
    return dt.from_numpy(np.ones(shape, np.float32), grad=True)


CASES: dict[Callable[..., None], Callable[[], tuple[Any, ...]]] = {
    maps: lambda: (field(9), field(9)),
    smooths: lambda: (field(5, 6), field(5, 6)),
    sums: lambda: (field(5, 6), field()),
    walks_along_rows: lambda: (field(5, 20), field(5, 20)),
    repeats: lambda: (field(5, 9), field(5, 9)),
}


def test_source_for_a_device(request: pytest.FixtureRequest) -> None:
    texts: list[str] = []
    with threads_alone(), device_arrays(warps=True, grids=ON_AN_H200):
        for function, make in CASES.items():
            kernel = dt.kernel(function)
            kernel(*make())
            for which in ("forward", "adjoint"):
                text = re.sub(r" *# \d+$", "", kernel.source(which).rstrip(), flags=re.MULTILINE)
                texts.append(f"==== {function.__name__}, {which}\n{text}\n")
    found = "\n".join(texts)
    if request.config.getoption("--update-golden"):
        FILE.write_text(found)
    assert found == FILE.read_text()
