"""Compile times of large kernels, forward and adjoint: a ray marcher and an unrolled network.

A time is the CPU time of the first launch, and of the first gradient, in a process of its own and
without caches on disk. The marcher sees five shapes that melt into each other, takes its normals
from differences and its shadows from a second march; the network has three layers of eight units,
each of which is written out.
"""

import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from difftile.arguments import Parser

TARGET = 2.0  # [s] of CPU time, forward and adjoint together
STEPS, SHADOW_STEPS = 64, 32
FAR, NEAR, EPS = 10.0, 1e-3, 1e-3
UNITS, LAYERS = 8, 3

vec2: Any = ti.math.vec2
vec3: Any = ti.math.vec3


@dt.func
def smooth_union(a, b, k):
    """Return the distance to two surfaces that melt into one."""
    h = ti.max(k - ti.abs(a - b), 0.0) / k
    return ti.min(a, b) - h * h * k * 0.25


@dt.func
def scene(p, c):
    """Return the distance to a ball, a box, a torus, a rod and the floor."""
    ball = (p - c[0]).norm() - 0.5
    q = ti.abs(p - c[1]) - vec3(0.3, 0.4, 0.3)
    outside = ti.max(q, 0.0)
    box = ti.math.length(outside) + ti.min(ti.max(q.x, ti.max(q.y, q.z)), 0.0) - 0.05
    r = p - c[2]
    torus = vec2(vec2(r.x, r.z).norm() - 0.4, r.y).norm() - 0.12
    s = p - c[3]
    along = ti.min(ti.max(s.y, -0.4), 0.4)
    rod = (s - vec3(0.0, along, 0.0)).norm() - 0.1
    solid = smooth_union(smooth_union(ball, box, 0.2), smooth_union(torus, rod, 0.1), 0.15)
    return ti.min(solid, p.y + 1.0)


@dt.func
def normal(p, c):
    """Return the normal from central differences."""
    x, y, z = vec3(EPS, 0.0, 0.0), vec3(0.0, EPS, 0.0), vec3(0.0, 0.0, EPS)
    return vec3(
        scene(p + x, c) - scene(p - x, c),
        scene(p + y, c) - scene(p - y, c),
        scene(p + z, c) - scene(p - z, c),
    ).normalized()


@dt.func
def march(eye, way, c):
    """Return how far a ray gets."""
    t = 0.0
    for _ in range(STEPS):
        d = scene(eye + t * way, c)
        if d < NEAR or t > FAR:
            break
        t += d
    return t


@dt.func
def shadow(p, light, c):
    """Return the part of the light that arrives, with soft edges."""
    lit, t = 1.0, 0.05
    for _ in range(SHADOW_STEPS):
        d = scene(p + t * light, c)
        lit = ti.min(lit, 8.0 * d / t)
        t += ti.max(d, 0.02)
        if lit < 0.01 or t > 3.0:
            break
    return ti.max(lit, 0.0)


@dt.kernel
def render(image, centres):
    """Shade a picture of the scene."""
    for i, j in image:
        c = [centres[0], centres[1], centres[2], centres[3]]
        n = image.shape[0]
        eye = vec3(0.0, 0.3, -3.0)
        way = vec3((2.0 * j + 1.0) / n - 1.0, 1.0 - (2.0 * i + 1.0) / n, 1.5).normalized()
        t = march(eye, way, c)
        p = eye + t * way
        m = normal(p, c)
        light = vec3(0.5, 0.7, -0.5).normalized()
        diffuse = ti.max(m.dot(light), 0.0) * shadow(p + 0.01 * m, light, c)
        half = (light - way).normalized()
        shine = ti.max(m.dot(half), 0.0) ** 16
        fog = ti.exp(-0.05 * t * t)
        image[i, j] = fog * (0.1 + 0.8 * diffuse + 0.3 * shine) + (1.0 - fog) * 0.5


@dt.func
def unrolled(x, weights, biases):
    """Return the outputs of a network whose layers and units are unrolled."""
    units = x
    for layer in ti.static(range(LAYERS)):
        sums = biases[layer]
        for j in ti.static(range(UNITS)):
            for k in ti.static(range(UNITS)):
                sums[j] += weights[layer][j, k] * units[k]
        for j in ti.static(range(UNITS)):
            units[j] = ti.tanh(sums[j])
    return units


@dt.kernel
def network(inputs, weights, biases, target, loss):
    """Add up the squared errors of the network over a batch."""
    for i in inputs:
        loss[None] += (unrolled(inputs[i], weights, biases) - target[i]).norm_sqr()


@dt.kernel
def doubled(x, loss):
    """Have something small to compile: the first kernel of a process takes longer."""
    for i in x:
        loss[None] += 2.0 * x[i]


def uniform(*shape: int, dtype: Any) -> Any:
    values = np.random.default_rng(1).uniform(-0.5, 0.5, shape).astype(np.float32)
    return dt.from_numpy(values, dtype=dtype, grad=True)


def render_arguments() -> list[Any]:
    return [dt.zeros((8, 8), grad=True), uniform(4, 3, dtype=dt.vec(3))]


def network_arguments() -> list[Any]:
    vector, matrix = dt.vec(UNITS), dt.mat(UNITS, UNITS)
    inputs, target = (uniform(16, UNITS, dtype=vector) for _ in range(2))
    weights = uniform(LAYERS, UNITS, UNITS, dtype=matrix)
    return [inputs, weights, uniform(LAYERS, UNITS, dtype=vector), target, dt.zeros((), grad=True)]


CASES: dict[str, tuple[Any, Callable[[], list[Any]], int]] = {
    "ray marcher": (render, render_arguments, 0),
    "network": (network, network_arguments, -1),
}
"""A kernel, its arguments, and the position of its result among them."""


def measure(name: str) -> tuple[float, float]:
    """Return the seconds of the first launch of a case, and of the first gradient."""
    dt.init(arch="cpu", offline_cache=False)
    gradient(doubled, [dt.ones(4, grad=True), dt.zeros((), grad=True)], 1)
    kernel, arguments, of = CASES[name]
    given = arguments()
    return timed(lambda: kernel(*given)), timed(lambda: gradient(kernel, given, of))


def gradient(kernel: Any, given: list[Any], of: int) -> None:
    with dt.Tape() as tape:
        kernel(*given)
    tape.backward({given[of]: 1.0})


def timed(run: Callable[[], object]) -> float:
    started = time.process_time()
    run()
    return time.process_time() - started


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which does not depend on the figures."""
    parser = Parser("python -m benchmarks.large_kernels", __doc__)
    parser.add_argument("--only", choices=CASES, help="one of the kernels")
    options = parser.parse_args(argv)
    print("seconds of CPU time to compile")
    print(f"{'':12}{'forward':>9}{'adjoint':>9}{'together':>10}")
    for name in [options.only] if options.only else CASES:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            forward, adjoint = pool.apply(measure, (name,))
        whole = forward + adjoint
        met = "<=" if whole <= TARGET else " >"
        print(f"{name:12}{forward:9.2f}{adjoint:9.2f}{whole:10.2f} {met} {TARGET}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
