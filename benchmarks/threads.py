"""Where threads pay: launches of growing size on one thread, on all, and as difftile chooses.

Each kernel is launched on more and more elements, in code for one thread and in code for all of
them; which of the two runs is decided by an estimate of the work (`difftile/schedule/work.py`).
The figures are the microseconds of a launch that follows others at once, in the fastest tenth of
the rounds, turn by turn; the chosen variant is to take at most 1.15 of the time of the better one.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from difftile.arguments import Parser, positive_int
from tests.harness import choices_of_threads, many_threads

TARGET = 1.15
SIZES = [4**k for k in range(4, 12)]
ROUND = 300e-6  # seconds of a round of launches

vec3 = ti.math.vec3


@dt.kernel
def saxpy(x, y):
    for i in x:
        y[i] += 2.0 * x[i]


@dt.kernel
def map_(x, y):
    for i in x:
        y[i] = ti.sin(x[i]) * x[i] + 0.5 * x[i] * x[i]


@dt.kernel
def calls(x, y):
    for i in x:
        y[i] = dt.erf(x[i]) + ti.pow(ti.abs(x[i]) + 1.0, x[i])


@dt.kernel
def polynomial(x, y):
    for i in x:
        value = 0.0
        for _ in range(16):
            value = value * x[i] + 0.5
        y[i] = value


@dt.kernel
def stencil(x, y):
    for i, j in ti.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
        around = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]
        y[i, j] = x[i, j] + 0.2 * (around - 4.0 * x[i, j])


@dt.kernel
def sum_(x, y):
    for i in x:
        y[0] += x[i] * x[i]


@dt.kernel
def matvec(a, x, y):
    for i in y:
        total = 0.0
        for j in range(x.shape[0]):
            total += a[i, j] * x[j]
        y[i] = total


@dt.kernel
def gather(x, index, y):
    for i in y:
        y[i] = x[index[i]] * x[index[i]]


@dt.kernel
def normalised(x, y):
    for i in x:
        y[i] = x[i] / ti.sqrt(x[i].dot(x[i]) + 1.0)


@dt.kernel
def pairs(x, y):
    for i in x:
        force = vec3(0.0)
        for j in range(x.shape[0]):
            d = x[j] - x[i]
            force += d / (d.dot(d) + 0.1) ** 1.5
        y[i] = force


def line(n: int) -> tuple[Any, ...]:
    return floats(n), dt.zeros(n)


def square(n: int) -> tuple[Any, ...]:
    side = isqrt(n)
    return floats(side, side), dt.zeros((side, side))


def rows(n: int) -> tuple[Any, ...]:
    side = isqrt(n)
    return floats(side, side), floats(side), dt.zeros(side)


def indexed(n: int) -> tuple[Any, ...]:
    index = np.random.default_rng(1).permutation(n).astype(np.int32)
    return floats(n), dt.from_numpy(index), dt.zeros(n)


def vectors(n: int) -> tuple[Any, ...]:
    return floats(n, 3, dtype=vec3), dt.zeros(n, dtype=vec3)


def floats(*shape: int, dtype: Any = ti.f32) -> Any:
    return dt.from_numpy(
        np.random.default_rng(0).normal(size=shape).astype(np.float32), dtype=dtype
    )


CASES: dict[str, tuple[Any, Callable[[int], tuple[Any, ...]]]] = {
    "saxpy": (saxpy, line),
    "map": (map_, line),
    "calls": (calls, line),
    "polynomial": (polynomial, line),
    "stencil": (stencil, square),
    "sum": (sum_, line),
    "matvec": (matvec, rows),
    "gather": (gather, indexed),
    "normalised": (normalised, vectors),
    "pairs": (pairs, lambda n: vectors(isqrt(n))),
}


@dataclass(frozen=True)
class Figures:
    """Seconds of a launch.

    Attributes:
        alone: On one thread.
        shared: On all threads.
        threads: The launch is given to all threads.
    """

    alone: float
    shared: float
    threads: bool

    @property
    def ratio(self) -> float:
        """What was chosen, to the better one."""
        chosen = self.shared if self.threads else self.alone
        return chosen / min(self.alone, self.shared)


def measured(kernel: Any, args: Sequence[Any], rounds: int) -> Figures:
    """Launch both variants turn by turn."""
    variants: list[Any] = []
    for many in (False, True):
        variants.append(dt.kernel(kernel.function))
        with many_threads(many):
            variants[-1](*args)
    with choices_of_threads() as threads:
        dt.kernel(kernel.function)(*args)
    launches = max(1, int(ROUND / min(timed(one, args, 3) for one in variants)))
    times = [[timed(one, args, launches) for one in variants] for _ in range(rounds)]
    alone, shared = np.quantile(times, 0.1, axis=0)
    return Figures(float(alone), float(shared), threads[-1])


def timed(kernel: Any, args: Sequence[Any], launches: int) -> float:
    """Return the seconds of a launch."""
    started = time.perf_counter()
    for _ in range(launches):
        kernel(*args)
    return (time.perf_counter() - started) / launches


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table, and whether all choices meet the target."""
    parser = Parser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument(
        "--threads", type=positive_int, help="number of threads; default: one per core"
    )
    parser.add_argument("--rounds", type=positive_int, default=31, help="default: %(default)s")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="KERNEL")
    options = parser.parse_args(argv)
    more = {} if options.threads is None else {"cpu_max_num_threads": options.threads}
    dt.init(arch="cpu", offline_cache=False, **more)
    print(f"microseconds of a launch, f32: on one thread / on {options.threads or os.cpu_count()}")
    print(f"{'':12}" + "".join(f"{n:>20,}" for n in SIZES))
    missed = count = 0
    for name in options.only:
        kernel, make = CASES[name]
        texts: list[str] = []
        for n in SIZES:
            found = measured(kernel, make(n), options.rounds)
            mark = " !"[found.ratio > TARGET]
            missed += found.ratio > TARGET
            count += 1
            times = [f"{1e6 * seconds:.4g}" for seconds in (found.alone, found.shared)]
            times[found.threads] = f"[{times[found.threads]}]"
            texts.append(f"{' / '.join(times) + mark:>20}")
        print(f"{name:12}" + "".join(texts), flush=True)
    print(f"[ ] is the choice; {count - missed} of {count} take at most {TARGET} of the better one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
