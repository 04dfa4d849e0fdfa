"""What a row of `benchmarks.interop` is, and how its sides are timed."""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import difftile as dt

ti: Any = importlib.import_module(os.environ.get("DIFFTILE_SUBSTRATE") or "taichi")

_CUDA = 2  # as DLPack numbers kinds of devices

# Makes that many calls and returns the seconds that they took.
Timed: TypeAlias = Callable[[int], float]


@dataclass(frozen=True)
class Sides:
    """The same work, done in several ways, ready to be called.

    Attributes:
        alone: difftile on fields of its own, or the other library where that is what a bridge
            is added to.
        bridged: The same through the bridge.
        peers: What users of the other library write without difftile's bridge, by name.
    """

    alone: Timed
    bridged: Timed
    peers: Mapping[str, Timed] = field(default_factory=dict[str, Timed])


@dataclass(frozen=True)
class Row:
    """One bridge at one size.

    Attributes:
        title: What is called, in a few words.
        make: Compiles and checks the sides; imports what they need. It raises
            `ModuleNotFoundError` where a library is missing, and `AssertionError` where sides
            compute different values.
        most: The largest acceptable difference of `bridged` from `alone` [us], if there is one.
    """

    title: str
    make: Callable[[], Sides]
    most: float | None = None


def device() -> str:
    """Return the name of the device that fields are on, as PyTorch writes it."""
    return "cuda" if dt.zeros(()).__dlpack_device__()[0] == _CUDA else "cpu"


def wait() -> None:
    """Wait for the work that a device has been given; on the CPU there is none."""
    ti.sync()
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def timed(call: Callable[[], object], before: Callable[[], object] | None = None) -> Timed:
    """Return the clock of a call. On a device the clock stops when the work of all calls is done.

    Args:
        call: What is timed.
        before: Runs ahead of each call, outside of the time: forward ahead of backward.
    """

    def run(calls: int) -> float:
        if before is None:
            started = time.perf_counter()
            for _ in range(calls):
                call()
            wait()
            return time.perf_counter() - started
        spent = 0.0
        for _ in range(calls):
            before()
            wait()
            started = time.perf_counter()
            call()
            wait()
            spent += time.perf_counter() - started
        return spent

    return run
