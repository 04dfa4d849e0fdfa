"""Times of a side: on the wall with synchronisation, and of its kernels on the device."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from typing import Any

from benchmarks.gpu_rows.side import Side

Times = dict[str, float]  # milliseconds by "forward", "record", "backward", "total"
Call = Callable[[], object]
Clock = Callable[[Side, Call], float]


def on_the_wall(side: Side, call: Call) -> float:
    """Return the milliseconds from one synchronisation to the next."""
    side.synchronize()
    started = time.perf_counter()
    call()
    side.synchronize()
    return 1e3 * (time.perf_counter() - started)


def times_of(side: Side, clock: Clock) -> Times:
    """Run a side once; `total` is what a gradient takes, with the values."""
    found = {"forward": clock(side, side.forward)}
    side.clear()
    if not side.in_one:
        found["record"] = clock(side, side.record)
    side.seed()
    backward = clock(side, side.backward)
    if side.in_one:
        return found | {"total": backward}
    return found | {"backward": backward, "total": found["record"] + backward}


def take_turns(sides: list[Side], turns: int) -> dict[str, Times]:
    """Return the medians of the times of sides that run turn by turn."""
    taken = [[times_of(side, on_the_wall) for side in sides] for _ in range(turns)]
    return {
        side.name: {of: median(turn[k][of] for turn in taken) for of in taken[0][k]}
        for k, side in enumerate(sides)
    }


class DeviceClock:
    """The time that kernels, fills and copies take on the device, by torch's profiler.

    It is made before `dt.init`: contexts of CUDA that were made before the profiler first ran are
    invisible to it.

    Attributes:
        works: There is a profiler, and a device.
    """

    def __init__(self) -> None:
        self._torch: Any = import_module("torch") if find_spec("torch") else None
        self.works: bool = bool(self._torch) and self._torch.cuda.is_available()
        if self.works:
            with self._profile():
                self._torch.zeros(3, device="cuda").sum().item()

    def __call__(self, side: Side, call: Call) -> float:
        """Return the milliseconds of a call on the device."""
        side.synchronize()
        with self._profile() as trace:
            call()
            side.synchronize()
            self._torch.cuda.synchronize()
        spent = (event.time_range.elapsed_us() for event in trace.events() if _is_on_device(event))
        return 1e-3 * sum(spent)

    def _profile(self) -> Any:
        profiler = import_module("torch.profiler")
        return profiler.profile(activities=[profiler.ProfilerActivity.CUDA])


def _is_on_device(event: Any) -> bool:
    return event.device_type.name == "CUDA"
