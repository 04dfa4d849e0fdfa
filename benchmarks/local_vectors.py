"""Locals that are indexed at run time: a histogram of 64 bins and a 6x6 elimination per particle.

Both are compiled by difftile and by plain Taichi and run turn by turn in one process; the compile
times are CPU seconds of the first launch, of the first gradient, and of Taichi's first launch. Then
come the compile times of systems, inverses, factors and determinants of 16x16 matrices.
"""

import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from difftile.arguments import Parser

RATIO = 1.2  # to Taichi's forward
SECONDS = 2.0  # of CPU time to compile with the adjoint
BINS, SAMPLES, SIZE, LARGE = 64, 64, 6, 16
PARTICLES, TURNS = 20_000, 15

matrix, vector = ti.types.matrix(SIZE, SIZE, ti.f32), ti.types.vector(SIZE, ti.f32)


@ti.func
def binned(h: ti.template(), x: ti.template(), w: ti.template(), p):
    """Add the samples of a particle to the bins of a histogram."""
    for i in range(SAMPLES):
        h[int(x[p, i] * BINS) % BINS] += w[i] * x[p, i]


@ti.func
def eliminate(m: ti.template(), r: ti.template()):
    """Solve m @ x = r in place by elimination with partial pivoting."""
    for k in range(SIZE):
        pivot = k
        for i in range(k + 1, SIZE):
            if ti.abs(m[i, k]) > ti.abs(m[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(SIZE):
                t = m[k, j]
                m[k, j] = m[pivot, j]
                m[pivot, j] = t
            t = r[k]
            r[k] = r[pivot]
            r[pivot] = t
        for i in range(k + 1, SIZE):
            f = m[i, k] / m[k, k]
            for j in range(k, SIZE):
                m[i, j] -= f * m[k, j]
            r[i] -= f * r[k]
    for q in range(SIZE):
        k = SIZE - 1 - q
        s = r[k]
        for j in range(k + 1, SIZE):
            s -= m[k, j] * r[j]
        r[k] = s / m[k, k]


@dt.kernel
def histogram(x, w, y):
    for p in y:
        h = ti.Vector([0.0] * BINS)
        binned(h, x, w, p)
        s = 0.0
        for i in range(BINS):
            s += h[i] * h[i]
        y[p] = s


@ti.kernel
def taichis_histogram(
    x: ti.types.ndarray(ti.f32, 2), w: ti.types.ndarray(ti.f32, 1), y: ti.types.ndarray(ti.f32, 1)
):
    for p in range(y.shape[0]):
        h = ti.Vector([0.0] * BINS)
        binned(h, x, w, p)
        s = 0.0
        for i in range(BINS):
            s += h[i] * h[i]
        y[p] = s


@dt.kernel
def elimination(a, b, y):
    for p in y:
        m, r = a[p], b[p]
        eliminate(m, r)
        y[p] = r.dot(r)


@ti.kernel
def taichis_elimination(
    a: ti.types.ndarray(matrix, 1), b: ti.types.ndarray(vector, 1), y: ti.types.ndarray(ti.f32, 1)
):
    for p in range(y.shape[0]):
        m = a[p]
        r = b[p]
        eliminate(m, r)
        y[p] = r.dot(r)


@dt.kernel
def solve(a, b, y):
    for i in y:
        x = dt.solve(a[i], b[i])
        y[i] = x.dot(x)


@dt.kernel
def determinant(a, b, y):
    for i in y:
        y[i] = a[i].determinant() + b[i][0]


@dt.kernel
def inverse(a, b, y):
    for i in y:
        y[i] = dt.inverse(a[i])[1, 2] * b[i][0]


@dt.kernel
def cholesky(a, b, y):
    for i in y:
        low = dt.cholesky(a[i])
        y[i] = low[LARGE - 1, 0] * b[i][0]


def of_particles() -> list[tuple[str, Any, Any, list[np.ndarray], list[tuple[int, ...]]]]:
    """Return the cases: name, kernels, contents and elements of their inputs."""
    rng = np.random.default_rng(1)
    samples, weights = rng.uniform(size=(PARTICLES, SAMPLES)), rng.normal(size=SAMPLES)
    systems, sides = rng.normal(size=(PARTICLES, SIZE, SIZE)), rng.normal(size=(PARTICLES, SIZE))
    return [
        ("histogram", histogram, taichis_histogram, [samples, weights], [(), ()]),
        ("elimination", elimination, taichis_elimination, [systems, sides], [(SIZE,) * 2, (SIZE,)]),
    ]


def ours(values: np.ndarray, element: tuple[int, ...]) -> Any:
    """Return a field with a gradient."""
    types = {0: lambda: ti.f32, 1: dt.vec, 2: dt.mat}
    return dt.from_numpy(values.astype(np.float32), types[len(element)](*element), grad=True)


def theirs(values: np.ndarray, element: tuple[int, ...]) -> Any:
    """Return an array of Taichi."""
    shape = values.shape[: values.ndim - len(element)]
    if len(element) == 2:
        made = ti.Matrix.ndarray(*element, ti.f32, shape)
    else:
        made = ti.Vector.ndarray(*element, ti.f32, shape) if element else ti.ndarray(ti.f32, shape)
    made.from_numpy(values.astype(np.float32))
    return made


def seconds(run: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Return how long a call takes."""
    started = clock()
    run()
    ti.sync()
    return clock() - started


def gradient(kernel: Any, given: list[Any]) -> None:
    """Run a kernel and the adjoint of the sum of its results."""
    with dt.Tape() as tape:
        kernel(*given)
    tape.backward({given[-1]: np.ones(given[-1].shape)})


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which does not depend on the figures."""
    Parser("python -m benchmarks.local_vectors", __doc__).parse_args(argv)
    dt.init(arch="cpu", offline_cache=False)
    one = [dt.ones(4, grad=True), dt.ones(4, grad=True), dt.zeros(4, grad=True)]
    gradient(warmed_up, one)

    print("seconds of CPU time to compile, and milliseconds of a launch over 20,000 particles")
    print(f"{'':14}{'forward':>9}{'adjoint':>9}{'Taichi':>9}{'ms':>9}{'Taichi':>9}{'ratio':>7}")
    for name, kernel, peer, values, elements in of_particles():
        pairs = list(zip(values, elements, strict=True))
        mine = [*(ours(*pair) for pair in pairs), dt.zeros(PARTICLES, grad=True)]
        other = [*(theirs(*pair) for pair in pairs), ti.ndarray(ti.f32, PARTICLES)]
        forward = seconds(lambda kernel=kernel, mine=mine: kernel(*mine))
        adjoint = seconds(lambda kernel=kernel, mine=mine: gradient(kernel, mine))
        taichi = seconds(lambda peer=peer, other=other: peer(*other))
        difference = np.abs(mine[-1].to_numpy() - other[-1].to_numpy())
        assert np.median(difference / (1e-3 + np.abs(other[-1].to_numpy()))) < 1e-3
        turns = [
            (
                seconds(lambda kernel=kernel, mine=mine: kernel(*mine), time.perf_counter),
                seconds(lambda peer=peer, other=other: peer(*other), time.perf_counter),
            )
            for _ in range(TURNS)
        ]
        a, b = (1e3 * median(column) for column in zip(*turns, strict=True))
        ratio = median(x / y for x, y in turns)
        met = "<=" if ratio <= RATIO else " >"
        compiled = f"{forward:9.2f}{adjoint:9.2f}{taichi:9.2f}"
        print(f"{name:14}{compiled}{a:9.2f}{b:9.2f}{ratio:7.2f} {met} {RATIO}", flush=True)

    print(f"\n{LARGE}x{LARGE} matrices, seconds of CPU time to compile")
    rng = np.random.default_rng(2)
    matrices = rng.normal(size=(64, LARGE, LARGE)) + 8 * np.eye(LARGE)
    inputs = [ours(matrices, (LARGE,) * 2), ours(rng.normal(size=(64, LARGE)), (LARGE,))]
    for kernel in (solve, determinant, inverse, cholesky):
        given = [*inputs, dt.zeros(64, grad=True)]
        forward = seconds(lambda kernel=kernel, given=given: kernel(*given))
        adjoint = seconds(lambda kernel=kernel, given=given: gradient(kernel, given))
        met = "<=" if forward + adjoint <= SECONDS else " >"
        name = kernel.__name__
        print(f"{name:14}{forward:9.2f}{adjoint:9.2f} {met} {SECONDS} together", flush=True)
    return 0


@dt.kernel
def warmed_up(x, w, y):
    for i in y:
        y[i] += x[i] * w[i]


if __name__ == "__main__":
    sys.exit(main())
