"""The self-test of a backend for `difftile doctor`: a gradient that is known exactly.

The test runs in a process of its own, which Taichi may crash.
"""

# A kernel has parameters without types, which strict mode would report.
# pyright: basic

from __future__ import annotations

import json
import time

from difftile.diagnostics import DifftileError
from difftile.fields.create import from_numpy, zeros
from difftile.ir.types import F32
from difftile.launch.start import init
from difftile.runtime.kernel import kernel
from difftile.runtime.tape import Tape
from difftile.substrate import cache_folder

# Single precision holds their eighth powers exactly, so that the gradient is exact.
_START = (0.5, 1.0, 1.5, -2.0)


@kernel
def square(x):
    """Square in place, so that the adjoint needs overwritten values."""
    for i in x:
        x[i] = x[i] * x[i]


@kernel
def total(x, loss):
    """Add up."""
    for i in x:
        loss[None] += x[i]


def main(arch: str) -> None:
    """Print the outcome as a line of JSON: `seconds` and `cache`, or `error`."""
    started = time.perf_counter()
    try:
        # Without the cache on disk, so that the test covers the compiler.
        init(arch, offline_cache=False)
        x, loss = from_numpy(_START, dtype=F32, grad=True), zeros((), F32, grad=True)
        with Tape(loss):
            for _ in range(3):
                square(x)
            total(x, loss)
        gradient = x.grad.to_numpy().tolist()
        expected = [8.0 * number**7 for number in _START]  # of the sum of x^8
        error = ""
        if gradient != expected:
            error = f"the gradient is wrong: {gradient}, not {expected}"
    except DifftileError as refused:
        error = str(refused)
    seconds = time.perf_counter() - started
    found = {"error": error} if error else {"seconds": seconds, "cache": str(cache_folder())}
    print(f"\n{json.dumps(found)}", flush=True)
