"""Start difftile again and again, and print how much memory one start more takes [MB]."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import difftile as dt

_FIRST, _MORE = 3, 20


@dt.kernel
def step(x, y, loss):
    for i in x:
        y[i] = x[i] * x[i]
    for i in x:
        loss[None] += y[i]


@dt.kernel
def sum_of(x):
    total = 0.0
    for i in x:
        total += x[i]
    return total


@dt.func
def twice(a):
    return 2.0 * a


def resident() -> float:
    """Return the memory of this process [MB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def main() -> None:
    """Make fields of a new size, launch, differentiate and call a func after each start."""
    held = before = 0.0
    for n in range(_FIRST + _MORE):
        dt.init(debug=n % 5 == 0)
        x, y = dt.ones(5000, grad=True), dt.zeros(5000, grad=True)
        loss = dt.zeros((), grad=True)
        with dt.Tape(loss):
            step(x, y, loss)
        twice(x)
        sum_of(x)
        if n == _FIRST:
            gc.collect()
            before = resident()
    gc.collect()
    held = resident() - before
    print(held / _MORE)


if __name__ == "__main__":
    sys.exit(main())
