"""The way of an argument from the call of a kernel to the compiler: `python -m tests.walk`.

A stay is a function of the library that runs between the call and the launch, and a climb a call
of a function in a package that the caller's package may not import: a callback.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import difftile as dt
from tests.layers import ALLOWED

_ROOT = str(Path(dt.__file__).parent) + "/"


class Walk(NamedTuple):
    """The functions that a call goes through, the files that they are in, and its climbs."""

    stays: int
    files: int
    climbs: int


def walk(call: Callable[[], object]) -> Walk:
    """Return the walk of a call."""
    stays: set[tuple[str, str]] = set()
    climbs = 0

    def note(frame: Any, event: str, _: object) -> None:
        nonlocal climbs
        here = _file_of(frame)
        if event != "call" or here is None:
            return
        if not frame.f_code.co_name.startswith("<"):  # a part of the function around it
            stays.add((here, f"{frame.f_code.co_name} {frame.f_code.co_firstlineno}"))
        caller = _file_of(frame.f_back)
        if caller is not None:
            own, below = _package(caller), _package(here)
            climbs += own != below and below not in ALLOWED[own]

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return Walk(len(stays), len({file for file, _ in stays}), climbs)


def _file_of(frame: Any) -> str | None:
    name = "" if frame is None else frame.f_code.co_filename
    return name.removeprefix(_ROOT) if name.startswith(_ROOT) else None


def _package(file: str) -> str:
    return file.partition("/")[0].removesuffix(".py")


@dt.kernel
def scaled(x, y, factor):
    for i in x:
        y[i] = factor * x[i]


def walks() -> dict[str, Walk]:
    """Return the walks of calls of a kernel that is compiled for their types."""
    x, y = dt.ones(4), dt.zeros(4)
    arrays = [np.ones(4, np.float32) for _ in range(3)]
    for _ in range(3):
        scaled(x, y, 2.0)
        scaled(arrays[0], y, 2.0)
    found: dict[str, Walk] = {}
    other = dt.ones(4)
    found["another field"] = walk(lambda: scaled(other, y, 2.0))
    scaled(other, y, 2.0)
    found["the same field"] = walk(lambda: scaled(other, y, 3.0))
    found["another array"] = walk(lambda: scaled(arrays[1], y, 2.0))
    found["the same array"] = walk(lambda: scaled(arrays[1], y, 3.0))
    return found


def main() -> None:
    """Print the walks."""
    dt.init(arch="cpu")
    print(f"{'a call with':24}{'stays':>8}{'files':>8}{'climbs':>8}")
    for name, one in walks().items():
        print(f"{name:24}{one.stays:8}{one.files:8}{one.climbs:8}")


if __name__ == "__main__":
    main()
