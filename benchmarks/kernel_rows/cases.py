"""The kernels of `benchmarks.kernels` in difftile, with their arguments and their targets."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isqrt
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.peers import kernels_taichi as peers


@dt.kernel
def elementwise(x, y):
    for i in x:
        y[i] = ti.sin(x[i]) * ti.exp(-x[i]) + ti.sqrt(x[i] * x[i] + 1.0)


@dt.kernel
def multiply_adds(x, y):
    for i in x:
        u = x[i]
        total = u
        for _ in ti.static(range(20)):
            total = total * u + 0.25
        y[i] = total


@dt.kernel
def map_(x, y):
    for i in x:
        y[i] = ti.sin(x[i]) * x[i] + 0.5 * x[i] * x[i]


@dt.kernel
def stencil(x, y):
    n, m = x.shape[0], x.shape[1]
    for i, j in ti.ndrange((1, n - 1), (1, m - 1)):
        around = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]
        y[i, j] = x[i, j] + 0.2 * (around - 4.0 * x[i, j])


@dt.kernel
def transpose(x, y):
    for i, j in y:
        y[i, j] = x[j, i] * x[j, i]


@dt.kernel
def gather(x, index, y):
    for i in y:
        y[i] = x[index[i]] * x[index[i]]


@dt.kernel
def scatter(x, index, y):
    for i in x:
        y[index[i]] += x[i] * x[i]


@dt.kernel
def sum_(x, y):
    for i in x:
        y[None] += x[i] * x[i]


@dt.kernel
def matvec(a, x, y):
    for i in y:
        total = 0.0
        for j in range(x.shape[0]):
            total += a[i, j] * x[j]
        y[i] = total


@dt.kernel
def compositing(alpha, colour, y):
    for i, j in y:
        total, t = 0.0, 1.0
        for k in range(alpha.shape[2]):
            total += t * alpha[i, j, k] * colour[i, j, k]
            t *= 1.0 - alpha[i, j, k]
        y[i, j] = total


@dt.func
def weights_of(f):
    return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]


@dt.kernel
def p2g(x, v, c, stress, momentum, mass):
    inv_dx = ti.cast(mass.shape[0], ti.f32)
    dx = 1.0 / inv_dx
    for p in x:
        base = ti.cast(x[p] * inv_dx - 0.5, ti.i32)
        f = x[p] * inv_dx - ti.cast(base, ti.f32)
        w = weights_of(f)
        affine = c[p] + stress[p] * ti.Matrix([[1.0, 0.0], [0.0, 1.0]])
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = ti.Vector([i, j])
            way = (ti.cast(offset, ti.f32) - f) * dx
            weight = w[i].x * w[j].y
            momentum[base + offset] += weight * (v[p] + affine @ way)
            mass[base + offset] += weight


@dt.kernel
def g2p(x, velocity, v, c):
    inv_dx = ti.cast(velocity.shape[0], ti.f32)
    for p in x:
        base = ti.cast(x[p] * inv_dx - 0.5, ti.i32)
        f = x[p] * inv_dx - ti.cast(base, ti.f32)
        w = weights_of(f)
        new_v = ti.Vector([0.0, 0.0])
        new_c = ti.Matrix([[0.0, 0.0], [0.0, 0.0]])
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = ti.Vector([i, j])
            way = ti.cast(offset, ti.f32) - f
            weight = w[i].x * w[j].y
            g = velocity[base + offset]
            new_v += weight * g
            new_c += 4.0 * weight * inv_dx * g.outer_product(way)
        v[p] = new_v
        c[p] = new_c


@dt.kernel
def n_body(x, mass, y):
    for i in x:
        total = ti.Vector([0.0, 0.0, 0.0])
        for j in range(x.shape[0]):
            d = x[j] - x[i]
            near = 1.0 / ti.sqrt(d.dot(d) + 0.01)
            total += mass[j] * near * near * near * d
        y[i] = total


@dt.kernel
def texture(texels, uv, y):
    rows, columns = texels.shape[0], texels.shape[1]
    for i in y:
        p = ti.Vector([uv[i].y * rows, uv[i].x * columns]) - 0.5
        low = ti.floor(p)
        f = p - low
        first = ti.cast(low, ti.i32)
        a = ti.max(0, ti.min(first, ti.Vector([rows - 1, columns - 1])))
        b = ti.max(0, ti.min(first + 1, ti.Vector([rows - 1, columns - 1])))
        upper = (1.0 - f.y) * texels[a] + f.y * texels[a.x, b.y]
        lower = (1.0 - f.y) * texels[b.x, a.y] + f.y * texels[b]
        y[i] = (1.0 - f.x) * upper + f.x * lower


@dataclass(frozen=True)
class Target:
    """The largest acceptable ratio of one time to another, or the longest acceptable time.

    Attributes:
        mine: The name of the time.
        other: The name of the time that divides it; empty for milliseconds on one thread, at the
            full size.
        most: The largest acceptable value.
    """

    mine: str
    other: str
    most: float


@dataclass(frozen=True)
class Case:
    """A kernel with its arguments.

    Attributes:
        kernel: The kernel of difftile; it takes inputs, constants and outputs, in this order.
        peer: Makes the peer in plain Taichi from fields in the same order.
        inputs: Differentiable fields by name.
        outputs: Shapes of the fields that the kernel writes or adds to, by name.
        constants: Fields without gradients by name.
        elements: Shapes of the elements that are vectors or matrices, by name of the field.
        written: The part of the outputs that the kernel writes; peers over arrays return only it.
        sizes: Numbers that peers over arrays cannot see in their arguments.
        target: The largest acceptable ratio of backward to Taichi's own autodiff.
        targets: Further ones.
    """

    kernel: Any
    peer: Callable[..., peers.Peer]
    inputs: dict[str, np.ndarray]
    outputs: dict[str, tuple[int, ...]]
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    elements: dict[str, tuple[int, ...]] = field(default_factory=dict)
    written: tuple[slice, ...] = ()
    sizes: dict[str, int] = field(default_factory=dict)
    target: float = 1.0
    targets: tuple[Target, ...] = ()

    def shape_of(self, name: str) -> tuple[int, ...]:
        """Return the shape of an output as an array, with the axes of its elements."""
        return (*self.outputs[name], *self.elements.get(name, ()))


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def uniform(low: float, high: float, *shape: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(low, high, shape).astype(np.float32)


def random_index(n: int) -> np.ndarray:
    return np.random.default_rng(2).integers(0, n, n, np.int32)


def side(n: int, scale: float, multiple: int = 1) -> int:
    """Return the side of a square whose area is scaled."""
    return max(isqrt(round(scale * n * n)) // multiple, 1) * multiple


def make_elementwise(scale: float) -> Case:
    n = round(scale * 2**20)
    targets = Target("forward", "NumPy forward", 0.4), Target("forward", "", 2.5)
    inputs = {"x": normal(n)}
    return Case(elementwise, peers.make_elementwise, inputs, {"y": (n,)}, targets=targets)


def make_multiply_adds(scale: float) -> Case:
    n = round(scale * 2**20)
    inputs, targets = {"x": uniform(-1.0, 1.0, n)}, (Target("forward", "", 3.0),)
    return Case(multiply_adds, peers.make_multiply_adds, inputs, {"y": (n,)}, targets=targets)


def make_map(scale: float) -> Case:
    n = round(scale * 2**21)
    targets = (Target("backward", "forward", 1.6),)
    return Case(map_, peers.make_map, {"x": normal(n)}, {"y": (n,)}, targets=targets)


def make_stencil(scale: float) -> Case:
    n, inner = side(1024, scale), slice(1, -1)
    return Case(
        stencil,
        peers.make_stencil,
        {"x": normal(n, n)},
        {"y": (n, n)},
        written=(inner, inner),
        target=0.15,
        targets=(
            Target("forward", "torch forward", 1.5),
            Target("backward", "torch backward", 1.5),
        ),
    )


def make_transpose(scale: float) -> Case:
    n = side(2048, scale)
    return Case(transpose, peers.make_transpose, {"x": normal(n, n)}, {"y": (n, n)})


def make_gather(scale: float) -> Case:
    n = round(scale * 2**20)
    index = {"index": random_index(n)}
    return Case(gather, peers.make_gather, {"x": normal(n)}, {"y": (n,)}, index)


def make_scatter(scale: float) -> Case:
    n = round(scale * 2**20)
    index = {"index": random_index(n)}
    return Case(scatter, peers.make_scatter, {"x": normal(n)}, {"y": (n,)}, index)


def make_sum(scale: float) -> Case:
    n = round(scale * 2**22)
    return Case(sum_, peers.make_sum, {"x": normal(n)}, {"y": ()}, target=0.5)


def make_matvec(scale: float) -> Case:
    n = side(1024, scale, multiple=16)
    inputs = {"a": normal(n, n), "x": normal(n)}
    return Case(matvec, peers.make_matvec, inputs, {"y": (n,)}, target=0.3)


def make_compositing(scale: float) -> Case:
    n, layers = side(512, scale), 64
    inputs = {
        "alpha": uniform(0.0, 0.2, n, n, layers),
        "colour": normal(n, n, layers),
    }
    return Case(compositing, peers.make_compositing, inputs, {"y": (n, n)}, target=0.5)


def make_p2g(scale: float) -> Case:
    n, n_grid = round(scale * 8192), side(128, scale)
    inputs = {
        "x": uniform(0.1, 0.9, n, 2),
        "v": normal(n, 2),
        "c": normal(n, 2, 2),
        "stress": normal(n),
    }
    outputs = {"momentum": (n_grid, n_grid), "mass": (n_grid, n_grid)}
    elements = {"x": (2,), "v": (2,), "c": (2, 2), "momentum": (2,)}
    return Case(
        p2g,
        lambda *f: peers.make_p2g(n_grid, *f),
        inputs,
        outputs,
        elements=elements,
        sizes={"n": n_grid},
    )


def make_g2p(scale: float) -> Case:
    n, n_grid = round(scale * 8192), side(128, scale)
    inputs = {"x": uniform(0.1, 0.9, n, 2), "velocity": normal(n_grid, n_grid, 2)}
    elements = {"x": (2,), "velocity": (2,), "v": (2,), "c": (2, 2)}
    return Case(
        g2p,
        lambda *f: peers.make_g2p(n_grid, *f),
        inputs,
        {"v": (n,), "c": (n,)},
        elements=elements,
    )


def make_n_body(scale: float) -> Case:
    n = side(64, scale) ** 2
    return Case(
        n_body,
        peers.make_n_body,
        {"x": normal(n, 3)},
        {"y": (n,)},
        {"mass": uniform(0.5, 1.5, n)},
        {"x": (3,), "y": (3,)},
        targets=(Target("backward", "forward", 3.0),),
    )


def make_texture(scale: float) -> Case:
    n, lookups = side(512, scale), round(scale * 2**18)
    inputs, constants = {"texels": normal(n, n, 3)}, {"uv": uniform(0.0, 1.0, lookups, 2)}
    elements = {"texels": (3,), "uv": (2,), "y": (3,)}
    return Case(texture, peers.make_texture, inputs, {"y": (lookups,)}, constants, elements)


CASES: dict[str, Callable[[float], Case]] = {
    "elementwise": make_elementwise,
    "multiply-adds": make_multiply_adds,
    "map": make_map,
    "stencil": make_stencil,
    "transpose": make_transpose,
    "gather": make_gather,
    "scatter-add": make_scatter,
    "sum": make_sum,
    "matvec": make_matvec,
    "compositing": make_compositing,
    "p2g": make_p2g,
    "g2p": make_g2p,
    "n-body": make_n_body,
    "texture": make_texture,
}
