"""A gradient that is known, computed on one architecture; `difftile doctor` runs this by itself.

It ends the process where Taichi does, which is why it has one of its own.
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

# Numbers whose eighth powers single precision holds exactly: the gradient has one right value.
_START = (0.5, 1.0, 1.5, -2.0)


@kernel
def square(x):
    """Square in place: the adjoint needs what each launch has overwritten."""
    for i in x:
        x[i] = x[i] * x[i]


@kernel
def total(x, loss):
    """Add up."""
    for i in x:
        loss[None] += x[i]


def main(arch: str) -> None:
    """Print the outcome as a line of JSON: `seconds` and `cache`, or the `error`."""
    started = time.perf_counter()
    try:
        # Without the cache on disk, so that the compiler is tested as well.
        init(arch, offline_cache=False)
        error = _wrong_gradient()
    except DifftileError as refused:
        error = str(refused)
    seconds = time.perf_counter() - started
    found = {"error": error} if error else {"seconds": seconds, "cache": str(cache_folder())}
    print(f"\n{json.dumps(found)}", flush=True)


def _wrong_gradient() -> str:
    """Return what is wrong with d/dx sum(x^8) = 8 x^7 of three squarings; '' if nothing is."""
    x, loss = from_numpy(_START, dtype=F32, grad=True), zeros((), F32, grad=True)
    with Tape(loss):
        for _ in range(3):
            square(x)
        total(x, loss)
    found = x.grad.to_numpy().tolist()
    wanted = [8.0 * number**7 for number in _START]
    return "" if found == wanted else f"the gradient is wrong: {found}, not {wanted}"
