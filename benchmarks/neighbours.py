"""Neighbours of points: the grid of cells beside `scipy.spatial.cKDTree`, and Warp's `HashGrid`.

    python -m benchmarks.neighbours [--points 100000] [--arch cpu] [--repeats 5]

Points are drawn in a cube, with about 30 neighbours each. All sides take turns; medians are
printed, in seconds of the clock and of the processor. Warp takes part where it is installed, with
the same sum over neighbours; brute force takes part up to 20,000 points.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti
from difftile.arguments import Parser, positive_int

_NEIGHBOURS = 30
_BRUTE = 20_000


@dt.kernel
def energy(grid, x, e):
    for i in x:
        p, total = x[i], 0.0
        for j in grid.around(p):
            if grid.is_near(p, x[j]) and j != i:
                q = grid.displacement(p, x[j]).norm_sqr() / grid.radius**2
                total += (1.0 - q) ** 2
        e[i] = total


@dt.kernel
def by_force(x, radius: float, e):
    for i in x:
        p, total = x[i], 0.0
        for j in range(x.shape[0]):
            q = (x[j] - p).norm_sqr() / radius**2
            if q < 1.0 and j != i:
                total += (1.0 - q) ** 2
        e[i] = total


def ours(x: dt.Field, radius: float) -> dict[str, Callable[[], Any]]:
    """Return what is measured of difftile; each ends with a read, which waits for the device."""
    grid, n = dt.geometry.Neighbours(radius), x.shape[0]
    e, seed = dt.zeros(n, ti.f32, grad=True), np.ones(n, np.float32)
    grid.update(x)

    def build() -> None:
        grid.rebuild(x)
        _ = grid._order[0]

    def forward() -> None:
        energy(grid, x, e)
        _ = e[0]

    def both() -> None:
        dt.zero_grads((x, e))
        with dt.Tape() as tape:
            energy(grid, x, e)
        tape.backward({e: seed})
        _ = x.grad[0]

    measured: dict[str, Callable[[], Any]] = {
        "new grid": build,
        "sum": forward,
        "sum and gradient": both,
        "lists of pairs, half": lambda: grid.lists(half=True).points[0],
    }
    if n <= _BRUTE:

        def brute() -> None:
            by_force(x, radius, e)
            _ = e[0]

        measured["brute force: sum"] = brute
    return measured


def of_scipy(points: np.ndarray, radius: float) -> dict[str, Callable[[], Any]]:
    """Return what is measured of SciPy, if it is installed."""
    if importlib.util.find_spec("scipy") is None:
        return {}
    from scipy.spatial import KDTree as cKDTree  # noqa: PLC0415 - a peer

    tree = cKDTree(points)
    return {
        "cKDTree: new tree": lambda: cKDTree(points),
        "cKDTree: pairs, half": lambda: tree.query_pairs(radius, output_type="ndarray"),
    }


def of_warp(points: np.ndarray, radius: float, device: str) -> dict[str, Callable[[], Any]]:
    """Return what is measured of Warp, if it is installed."""
    if importlib.util.find_spec("warp") is None:
        return {}
    from benchmarks.peers import neighbours_warp  # noqa: PLC0415 - a peer

    return neighbours_warp.measured(points, radius, device)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = Parser("python -m benchmarks.neighbours", __doc__)
    parser.add_argument("--points", type=positive_int, default=100_000)
    parser.add_argument("--repeats", type=positive_int, default=5)
    parser.add_argument("--arch", default="cpu")
    options = parser.parse_args(argv)
    dt.init(arch=options.arch)
    n = options.points
    radius = (_NEIGHBOURS / (n * 4 / 3 * np.pi)) ** (1 / 3)
    points = np.random.default_rng(0).random((n, 3)).astype(np.float32)
    x = dt.from_numpy(points, dtype=dt.vec(3, ti.f32), grad=True)
    sides = {
        **ours(x, radius),
        **of_scipy(points, radius),
        **of_warp(points, radius, options.arch),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for turn in range(options.repeats + 1):
        for name, run in sides.items():
            clock, processor = time.perf_counter(), time.process_time()
            run()
            if turn:  # the first one compiles
                spent = time.perf_counter() - clock, time.process_time() - processor
                times[name].append(spent)
    print(f"{n:,} points, {options.arch}, medians of {options.repeats} [ms]: clock, processor")
    for name, spent in times.items():
        clock, processor = 1e3 * np.median(spent, axis=0)
        print(f"  {name:24} {clock:9.2f} {processor:9.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
