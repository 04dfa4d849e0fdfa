"""The self-test of a device for `difftile doctor`: a gradient that is known exactly.

The test runs in a process of its own, which the compiler may crash.
"""

# A kernel has parameters without types.
# pyrefly: ignore-errors[implicit-any, unknown-variable-type]

from __future__ import annotations

import json
import sys
import time

from difftile.diagnostics import DifftileError
from difftile.fields.create import from_numpy, ones, zeros
from difftile.ir.types import F32
from difftile.launch.start import init
from difftile.runtime.kernel import kernel
from difftile.runtime.tape import Tape
from difftile.substrate import cache_folder

# Single precision holds their eighth powers exactly, so that the gradient is exact.
_START = (0.5, 1.0, 1.5, -2.0)
_LAUNCHES = 200  # over which the time of one is taken


@kernel
def square(x) -> None:
    """Square in place, so that the adjoint needs overwritten values."""
    for i in x:
        x[i] = x[i] * x[i]


@kernel
def total(x, loss) -> None:
    """Add up."""
    for i in x:
        loss[None] += x[i]


def main(substrate: str, arch: str) -> None:
    """Print the outcome as a line of JSON: `first`, `launch` and `cache`, or `error`."""
    try:
        found = outcome(arch)
    except DifftileError as refused:
        found = {"error": str(refused)}
    if substrate not in sys.modules:
        found = {"error": f"the process did not load {substrate}"}
    print(f"\n{json.dumps(found)}", flush=True)


def outcome(arch: str) -> dict[str, object]:
    """Return the times of launches [s] and the folder of compiled kernels, or the `error`."""
    # Without the cache on disk, so that the test covers the compiler, and each launch by itself.
    started = time.perf_counter()
    init(arch, offline_cache=False, fuse=False)
    y = ones(len(_START), dtype=F32)
    square(y)
    y.to_numpy()
    first = time.perf_counter() - started
    x, loss = from_numpy(_START, dtype=F32, grad=True), zeros((), F32, grad=True)
    with Tape(loss):
        for _ in range(3):
            square(x)
        total(x, loss)
    gradient = x.grad.to_numpy().tolist()
    expected = [8.0 * number**7 for number in _START]  # of the sum of x^8
    if gradient != expected:
        return {"error": f"the gradient is wrong: {gradient}, not {expected}"}
    began = time.perf_counter()
    for _ in range(_LAUNCHES):
        square(y)  # of ones, which stay ones
    y.to_numpy()  # waits for the device
    launch = (time.perf_counter() - began) / _LAUNCHES
    return {"first": first, "launch": launch, "cache": str(cache_folder())}
