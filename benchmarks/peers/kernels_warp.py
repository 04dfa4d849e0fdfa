"""Kernels of `benchmarks.gpu` in Warp. To import the module is to import Warp.

`KERNELS` has for each of them what makes its launch, from the arrays of its arguments.
"""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.gpu_rows.mpm import GRAVITY, LEAST_MASS

wp: Any = importlib.import_module("warp")
wp.config.quiet = True  # of older versions
wp.config.log_level = 30  # warnings

STEEP = wp.constant(4.0)
ADDED, LEAST = wp.constant(GRAVITY), wp.constant(LEAST_MASS)


@dataclass(frozen=True)
class Launch:
    """The launches of a kernel.

    Attributes:
        run: Launches them.
        inner: Further arrays with gradients.
    """

    run: Callable[[], None]
    inner: Sequence[Any] = ()

    def __call__(self) -> None:
        self.run()

    def clear_gradients(self) -> None:
        for one in self.inner:
            one.grad.zero_()


def make_array(values: np.ndarray, element: tuple[int, ...], device: str, grad: bool = True) -> Any:
    """Return an array of numbers, vectors or matrices."""
    types = {(): wp.int32 if values.dtype == np.int32 else wp.float32}
    types |= {(2,): wp.vec2, (3,): wp.vec3, (4,): wp.vec4, (3, 3): wp.mat33}
    return wp.array(values, dtype=types[element], device=device, requires_grad=grad)


@wp.kernel
def map_(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.sin(x[i]) * x[i] + 0.5 * x[i] * x[i]


@wp.kernel
def stencil(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    a, b = wp.tid()
    i, j = a + 1, b + 1
    around = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]
    y[i, j] = x[i, j] + 0.2 * (around - 4.0 * x[i, j])


@wp.kernel
def gather(x: wp.array(dtype=float), index: wp.array(dtype=int), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[index[i]] * x[index[i]]


@wp.kernel
def scatter(x: wp.array(dtype=float), index: wp.array(dtype=int), y: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(y, index[i], x[i] * x[i])


@wp.kernel
def sum_(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(y, 0, x[i] * x[i])


@wp.kernel
def matvec(a: wp.array2d(dtype=float), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)  # noqa: UP018 - a variable that changes, to Warp
    for j in range(x.shape[0]):
        total += a[i, j] * x[j]
    y[i] = total


@wp.kernel
def n_body(x: wp.array(dtype=wp.vec3), mass: wp.array(dtype=float), y: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    total = wp.vec3()
    for j in range(x.shape[0]):
        d = x[j] - x[i]
        near = 1.0 / wp.sqrt(wp.dot(d, d) + 0.01)
        total += mass[j] * near * near * near * d
    y[i] = total


@wp.func
def weights_of(f: wp.vec3):
    a = wp.vec3(1.5, 1.5, 1.5) - f
    b = f - wp.vec3(1.0, 1.0, 1.0)
    c = f - wp.vec3(0.5, 0.5, 0.5)
    inner = wp.vec3(0.75, 0.75, 0.75) - wp.cw_mul(b, b)
    first, last = 0.5 * wp.cw_mul(a, a), 0.5 * wp.cw_mul(c, c)
    return wp.mat33(
        first[0], first[1], first[2], inner[0], inner[1], inner[2], last[0], last[1], last[2]
    )  # fmt: skip


@wp.kernel
def spread(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    c: wp.array(dtype=wp.mat33),
    stress: wp.array(dtype=float),
    n: float,
    momentum: wp.array3d(dtype=wp.vec3),
    mass: wp.array3d(dtype=float),
):
    p = wp.tid()
    place = n * x[p]
    a = int(place[0] - 0.5)
    b = int(place[1] - 0.5)
    d = int(place[2] - 0.5)
    f = place - wp.vec3(float(a), float(b), float(d))
    w = weights_of(f)
    affine = c[p] + stress[p] * wp.identity(3, dtype=float)
    for i in range(3):
        for j in range(3):
            for k in range(3):
                way = (wp.vec3(float(i), float(j), float(k)) - f) / n
                weight = w[i, 0] * w[j, 1] * w[k, 2]
                wp.atomic_add(momentum, a + i, b + j, d + k, weight * (v[p] + affine * way))
                wp.atomic_add(mass, a + i, b + j, d + k, weight)


@wp.kernel
def move(
    momentum: wp.array3d(dtype=wp.vec3),
    mass: wp.array3d(dtype=float),
    velocity: wp.array3d(dtype=wp.vec3),
):
    i, j, k = wp.tid()
    v = momentum[i, j, k] / (mass[i, j, k] + LEAST)
    velocity[i, j, k] = v - wp.vec3(0.0, ADDED, 0.0)


@wp.kernel
def collect(
    x: wp.array(dtype=wp.vec3),
    velocity: wp.array3d(dtype=wp.vec3),
    n: float,
    new_v: wp.array(dtype=wp.vec3),
    new_c: wp.array(dtype=wp.mat33),
):
    p = wp.tid()
    place = n * x[p]
    a = int(place[0] - 0.5)
    b = int(place[1] - 0.5)
    d = int(place[2] - 0.5)
    f = place - wp.vec3(float(a), float(b), float(d))
    w = weights_of(f)
    v = wp.vec3()
    c = wp.mat33()
    for i in range(3):
        for j in range(3):
            for k in range(3):
                way = wp.vec3(float(i), float(j), float(k)) - f
                g = w[i, 0] * w[j, 1] * w[k, 2] * velocity[a + i, b + j, d + k]
                v += g
                c += STEEP * n * wp.outer(g, way)
    new_v[p] = v
    new_c[p] = c


def make(kernel: Any, *arrays: Any, device: str) -> Launch:
    """Return the launch of one kernel over all elements of its first array."""
    dim = arrays[0].shape
    return Launch(lambda: wp.launch(kernel, dim=dim, inputs=arrays, device=device))


def make_stencil(x: Any, y: Any, device: str) -> Launch:
    n, m = x.shape
    return Launch(lambda: wp.launch(stencil, dim=(n - 2, m - 2), inputs=[x, y], device=device))


def make_matvec(a: Any, x: Any, y: Any, device: str) -> Launch:
    return Launch(lambda: wp.launch(matvec, dim=y.shape, inputs=[a, x, y], device=device))


def make_mpm(
    x: Any, v: Any, c: Any, stress: Any, new_v: Any, new_c: Any, device: str, n: int
) -> Launch:
    momentum, mass, velocity = (
        wp.zeros((n, n, n), dtype=dtype, device=device, requires_grad=True)
        for dtype in (wp.vec3, float, wp.vec3)
    )

    def run() -> None:
        momentum.zero_()
        mass.zero_()
        for kernel, dim, inputs in (
            (spread, len(x), [x, v, c, stress, float(n), momentum, mass]),
            (move, mass.shape, [momentum, mass, velocity]),
            (collect, len(x), [x, velocity, float(n), new_v, new_c]),
        ):
            wp.launch(kernel, dim=dim, inputs=inputs, device=device)

    return Launch(run, (momentum, mass, velocity))


KERNELS: dict[str, Callable[..., Launch]] = {
    "map": partial(make, map_),
    "stencil": make_stencil,
    "gather": partial(make, gather),
    "scatter-add": partial(make, scatter),
    "sum": partial(make, sum_),
    "matvec": make_matvec,
    "n-body": partial(make, n_body),
    "mpm": make_mpm,
}
