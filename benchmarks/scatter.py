"""Sums into shared elements: atomics, a copy for each thread, one thread, and what difftile takes.

Each row is a kernel, forward or backward, whose iterations add to elements that they share. It runs
under each `dt.init(scatter=...)`, in sessions that take turns; the figures are milliseconds, the
medians of all turns. "auto" is to take at most 1.15 of the time of the best strategy. What it took
stands after it: the strategy, or several where loops differ.
"""

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.kernel_rows.cases import gather, matvec, p2g, scatter
from difftile.arguments import Parser, positive_float, positive_int
from tests.harness import ways_of_scattering

STRATEGIES = ("auto", "atomics", "copies", "serial")
TARGET = 1.15
vec3 = ti.math.vec3


@dt.kernel
def histogram(x, y):
    for i in x:
        y[int(x[i] * y.shape[0])] += x[i]


@dt.kernel
def nbody(x, mass, force):
    for i in x:
        total = vec3(0.0)
        for j in range(x.shape[0]):
            d = x[j] - x[i]
            r2 = d.dot(d) + 1e-2
            total += mass[j] / (r2 * ti.sqrt(r2)) * d
        force[i] = total


@dt.kernel
def p2g_3d(x, v, momentum, mass):
    n = mass.shape[0]
    for p in x:
        base = ti.cast(x[p] * n - 0.5, ti.i32)
        f = x[p] * n - ti.cast(base, ti.f32)
        w = [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]
        for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
            weight = w[i].x * w[j].y * w[k].z
            momentum[base + ti.Vector([i, j, k])] += weight * v[p]
            mass[base + ti.Vector([i, j, k])] += weight


@dt.kernel
def look(texture, at, out):
    for i in at:
        out[i] = texture.sample(at[i])


@dataclass(frozen=True)
class Row:
    """A kernel with its fields, in one session.

    Attributes:
        launch: Launches the kernel.
        outputs: The fields that it writes or adds to.
        inputs: The fields with gradients.
        ways: The rows to show: "forward", "backward" or both.
    """

    launch: Callable[[], None]
    outputs: tuple[Any, ...]
    inputs: tuple[Any, ...]
    ways: tuple[str, ...] = ("forward", "backward")


def floats(*shape: int, dtype: Any = ti.f32, low: float = 0.05, high: float = 0.95) -> Any:
    rng = np.random.default_rng(1)
    inner = () if dtype is ti.f32 else dtype.get_shape()
    values = rng.uniform(low, high, (*shape, *inner)).astype(np.float32)
    return dt.from_numpy(values, dtype=dtype, grad=True)


def places(n: int, m: int) -> Any:
    return dt.from_numpy(np.random.default_rng(2).integers(0, m, n, np.int32))


def make_p2g(scale: float) -> Row:
    n, side = round(8192 * scale), round(128 * scale**0.5)
    inputs = (
        floats(n, dtype=dt.vec(2), low=0.1, high=0.9),
        floats(n, dtype=dt.vec(2)),
        floats(n, dtype=dt.mat(2, 2)),
        floats(n),
    )
    outputs = (
        dt.zeros((side, side), dtype=dt.vec(2), grad=True),
        dt.zeros((side, side), grad=True),
    )
    return Row(lambda: p2g(*inputs, *outputs), outputs, inputs)


def make_p2g_3d(scale: float) -> Row:
    n, side = round(100_000 * scale), round(64 * scale ** (1 / 3))
    inputs = (floats(n, dtype=dt.vec(3), low=0.1, high=0.9), floats(n, dtype=dt.vec(3)))
    outputs = (
        dt.zeros((side,) * 3, dtype=dt.vec(3), grad=True),
        dt.zeros((side,) * 3, grad=True),
    )
    return Row(lambda: p2g_3d(*inputs, *outputs), outputs, inputs)


def make_gather(scale: float) -> Row:
    n = round(2**20 * scale)
    x, index, y = floats(n), places(n, n), dt.zeros(n, grad=True)
    return Row(lambda: gather(x, index, y), (y,), (x,), ("backward",))


def make_gather_few(scale: float) -> Row:
    n = round(2**20 * scale)
    x, index, y = floats(1024), places(n, 1024), dt.zeros(n, grad=True)
    return Row(lambda: gather(x, index, y), (y,), (x,), ("backward",))


def make_scatter(scale: float) -> Row:
    n = round(2**20 * scale)
    x, index, y = floats(n), places(n, n), dt.zeros(n, grad=True)
    return Row(lambda: scatter(x, index, y), (y,), (x,))


def make_histogram(scale: float) -> Row:
    x, y = floats(round(2**20 * scale)), dt.zeros(256, grad=True)
    return Row(lambda: histogram(x, y), (y,), (x,))


def make_nbody(scale: float) -> Row:
    n = round(4096 * scale**0.5)
    x, mass = floats(n, dtype=dt.vec(3)), floats(n)
    force = dt.zeros(n, dtype=dt.vec(3), grad=True)
    return Row(lambda: nbody(x, mass, force), (force,), (x, mass))


def make_matvec(scale: float) -> Row:
    n = round(1024 * scale**0.5)
    a, x, y = floats(n, n), floats(n), dt.zeros(n, grad=True)
    return Row(lambda: matvec(a, x, y), (y,), (a, x), ("backward",))


def make_texture(scale: float) -> Row:
    n, size = round(2**18 * scale), round(512 * scale**0.5)
    texels = np.random.default_rng(3).random((size, size, 4), np.float32)
    data = dt.from_numpy(texels, dtype=dt.vec(4), grad=True)
    texture = dt.Texture(data)
    at, out = floats(n, dtype=dt.vec(2)), dt.zeros(n, dtype=dt.vec(4), grad=True)
    return Row(lambda: look(texture, at, out), (out,), (data, at), ("backward",))


ROWS: dict[str, Callable[[float], Row]] = {
    "p2g": make_p2g,
    "p2g 3-D": make_p2g_3d,
    "gather": make_gather,
    "gather of 1024": make_gather_few,
    "scatter-add": make_scatter,
    "histogram": make_histogram,
    "n-body": make_nbody,
    "matvec": make_matvec,
    "texture": make_texture,
}


def measured(row: Row, runs: int) -> dict[str, float]:
    """Return the milliseconds of a launch and of its reverse."""
    seeds = {one: np.ones_like(one.to_numpy()) for one in row.outputs}
    forward, backward = [], []
    for _ in range(runs + 1):
        for one in row.outputs:
            one.fill(0.0)
        forward.append(timed(row.launch))
        if "backward" in row.ways:
            dt.zero_grads()
            end = dt.zeros((), grad=True)
            with dt.Tape() as tape:
                row.launch()
                end[None] = 0.0
            for one, seed in seeds.items():
                one.grad.from_numpy(seed)
            for one in row.inputs:
                one.grad.fill(0.0)
            with warnings.catch_warnings():  # about a seed that no field depends on
                warnings.simplefilter("ignore", dt.GradientCut)
                backward.append(timed(lambda tape=tape, end=end: tape.backward(end)))
    found = {"forward": forward, "backward": backward}
    return {way: median(found[way][1:]) for way in row.ways}


def timed(run: Callable[[], Any]) -> float:
    started = time.perf_counter()
    run()
    return 1e3 * (time.perf_counter() - started)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a row of "auto" misses the target."""
    parser = Parser("python -m benchmarks.scatter", __doc__ or "")
    parser.add_argument("--threads", type=positive_int, default=None, help="threads of the CPU")
    parser.add_argument("--scale", type=positive_float, default=1.0, help="of the sizes")
    parser.add_argument("--turns", type=positive_int, default=3, help="sessions of each strategy")
    parser.add_argument("--runs", type=positive_int, default=7, help="runs in each session")
    parser.add_argument("--only", nargs="+", choices=list(ROWS), help="rows to measure")
    options = parser.parse_args(argv)
    threads = {} if options.threads is None else {"cpu_max_num_threads": options.threads}
    times: dict[tuple[str, str, str], list[float]] = {}
    took: dict[tuple[str, str], str] = {}
    for _ in range(options.turns):
        for strategy in STRATEGIES:
            dt.init(scatter=strategy, **threads)
            for name in options.only or ROWS:
                row = ROWS[name](options.scale)
                with ways_of_scattering() as forward:
                    row.launch()
                with ways_of_scattering() as backward:
                    for way, time_ in measured(row, options.runs).items():
                        times.setdefault((name, way, strategy), []).append(time_)
                if strategy == "auto":
                    took[name, "forward"] = " and ".join(sorted(forward))
                    took[name, "backward"] = " and ".join(sorted(backward))
    return report(options.only or list(ROWS), times, took)


def report(
    names: Sequence[str],
    times: dict[tuple[str, str, str], list[float]],
    took: dict[tuple[str, str], str],
) -> int:
    """Print the table; return 1 if a row misses the target."""
    print(f"{'':16} {'':9}" + "".join(f"{name:>10}" for name in STRATEGIES) + "   auto/best")
    missed = 0
    for name in names:
        for way in ("forward", "backward"):
            if (name, way, "auto") not in times:
                continue
            found = {s: median(times[name, way, s]) for s in STRATEGIES}
            ratio = found["auto"] / min(found[s] for s in STRATEGIES if s != "auto")
            line = "".join(f"{found[s]:10.3f}" for s in STRATEGIES)
            mark = "<=" if ratio <= TARGET else "> "
            missed += ratio > TARGET
            print(f"{name:16} {way:9}{line}   {ratio:5.2f} {mark} {TARGET}  {took[name, way]}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
