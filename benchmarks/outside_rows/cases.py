"""The programs of `tests/outside` at sizes that their projects time, in difftile.

A case has inputs in NumPy, which the peers are given as well, and a call that computes the value,
where the program has one, and its derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
import taichi as ti

import difftile as dt
from tests.outside import bundle, gmm, hand, kmeans, lattice, llsq, lse, lstm, ode

GAMMA, FREEDOM = 1.0, 0  # of the prior of `gmm`


@dataclass(frozen=True)
class Case:
    """A program.

    Attributes:
        size: What is known of its size.
        inputs: The arguments of the peers' programs.
        run: Computes the results, as fields, arrays or numbers.
    """

    size: str
    inputs: tuple[Any, ...]
    run: Callable[[], tuple[Any, ...]]


def of_gmm(rng: np.random.Generator) -> Case:
    n, d, k = 1000, 10, 25
    at = [rng.standard_normal(shape) for shape in (k, (k, d))]
    at.append(0.3 * rng.standard_normal((k, d * (d + 1) // 2)))
    x = rng.standard_normal((n, d))
    run = dt.value_and_grad(gmm.log_likelihood, argnums=(0, 1, 2))
    fields = [*map(dt.from_numpy, (*at, x))]

    def both() -> tuple[Any, ...]:
        value, gradients = run(*fields, GAMMA, FREEDOM)
        return value, *gradients

    constant = gmm.constant(n, d, k, GAMMA, FREEDOM)
    return Case(f"{n} points, d = {d}, k = {k}", (*at, x, GAMMA, FREEDOM, constant), both)


def of_ba(rng: np.random.Generator) -> Case:
    cameras, points, p = 49, 7776, 31843
    camera = rng.uniform(0.5, 1.5, (cameras, bundle.CAMERA)) * np.array(
        [0.2, 0.2, 0.2, 1.0, 1.0, -30.0, 200.0, 1.0, 1.0, 0.05, 0.05]
    )
    x = rng.standard_normal((points, 3))
    w, features = rng.random(p), 100 * rng.standard_normal((p, 2))
    seen = np.stack([np.arange(p) % cameras, np.arange(p) % points], 1).astype(np.int32)
    z = dt.from_numpy(np.concatenate([camera.ravel(), x.ravel(), w]))
    rows, columns = bundle.pattern(seen, cameras, points)
    pattern = scipy.sparse.csr_matrix((np.ones(rows.size), (rows, columns)))
    of_seen, of_features = dt.from_numpy(seen), dt.from_numpy(features)
    jacobian = dt.sparse_jacobian(
        lambda z: bundle.errors(z, of_seen, of_features, cameras, points), pattern
    )
    size = f"{cameras} cameras, {points} points, {p} observations"
    return Case(size, (camera, x, w, features, seen), lambda: (jacobian(z).data,))


def of_hand(rng: np.random.Generator) -> Case:
    bones, vertices, points = 22, 544, 192
    parent = np.array([-1, *(0 if b % 4 == 1 else b - 1 for b in range(1, bones))], np.int32)
    knuckle = (np.arange(bones) % 4 == 2) & (np.arange(bones) < 21)
    bends = knuckle | np.roll(knuckle, 1) | np.roll(knuckle, 2)
    both = bends.astype(int) + knuckle
    first = np.where(bends, 6 + np.cumsum(both) - both, -1).astype(np.int32)
    spread = np.where(knuckle, first + 1, -1).astype(np.int32)
    frames = [np.linalg.qr(rng.standard_normal((bones, 3, 3)))[0] for _ in range(2)]
    origins = [0.1 * rng.standard_normal((bones, 3)) for _ in range(2)]
    x, weight = rng.standard_normal((vertices, 3)), rng.random((bones, vertices))
    weight *= rng.random((bones, vertices)) < 0.15
    measured, which = rng.standard_normal((points, 3)), rng.integers(0, vertices, points)
    theta = rng.standard_normal(hand.ANGLES)
    matrix, vector = dt.mat(3, 3, ti.f64), dt.vec(3, ti.f64)
    model = hand.Model(
        *map(dt.from_numpy, (parent, first, spread)),
        *(dt.from_numpy(of, dtype=matrix if of.ndim == 3 else vector)
          for pair in zip(frames, origins, strict=True) for of in pair),
        dt.from_numpy(x, dtype=vector),
        dt.from_numpy(weight),
    )  # fmt: skip
    field, of_which = dt.from_numpy(measured, dtype=vector), dt.from_numpy(which.astype(np.int32))
    jacobian = dt.jacfwd(lambda theta: hand.simple_errors(theta, model, field, of_which))
    bent = dt.from_numpy(theta)
    known = (parent, first, spread, *frames, *origins, x, weight, measured, which)
    return Case(f"simple, {points} points", (theta, *known), lambda: (jacobian(bent),))


def of_lstm(rng: np.random.Generator) -> Case:
    layers, characters, units = 2, 1024, 14
    weights, ends = rng.random((layers, 2, 4, units)), rng.random((3, units))
    state = rng.random((layers, 2, units))
    sequence = rng.integers(0, 2, (characters, units)).astype(float)
    run = dt.value_and_grad(lstm.loss, argnums=(0, 1))
    inputs = (weights, ends, state, sequence)
    fields = [*map(dt.from_numpy, inputs)]

    def both() -> tuple[Any, ...]:
        value, gradients = run(*fields)
        return value, *gradients

    return Case(f"{layers} layers, {characters} characters", inputs, both)


def of_kmeans(rng: np.random.Generator) -> Case:
    n, k, d = 10_000, 100, 8
    points = rng.random((n, d))
    centres = points[-k:].copy()
    fields = [dt.from_numpy(of) for of in (centres, points)]
    return Case(
        f"{n} points, k = {k}, d = {d}", (centres, points), lambda: kmeans.direction(*fields)
    )


def of_lse(rng: np.random.Generator) -> Case:
    x = rng.random(320_000)
    run, field = dt.value_and_grad(lse.value), dt.from_numpy(x)
    return Case(f"n = {x.size}", (x,), lambda: run(field))


def of_llsq(rng: np.random.Generator) -> Case:
    n, x = 4096, rng.random(128)
    run, field = dt.value_and_grad(llsq.value), dt.from_numpy(x)
    return Case(f"n = {n}, m = {x.size}", (x, n), lambda: run(field, n))


def of_ode(rng: np.random.Generator) -> Case:
    n, steps = 1000, 100
    x, last = 20 * (0.5 + rng.random(n)), np.zeros(n)
    last[100] = 1.0
    field, seed = dt.from_numpy(x), dt.from_numpy(last)

    def both() -> tuple[Any, ...]:
        y, pull = dt.vjp(lambda x: ode.solution(x, steps), field)
        return y, *pull(seed)

    return Case(f"n = {n}, {steps} steps", (x, last, steps), both)


def of_lattice(rng: np.random.Generator) -> Case:
    side, steps = 128, 10
    f = lattice.WEIGHTS[:, None, None] * rng.uniform(0.9, 1.1, (9, side, side))
    run, field = dt.value_and_grad(lattice.squared_density), dt.from_numpy(f)
    constants = (lattice.VELOCITIES, lattice.WEIGHTS, lattice.OMEGA, steps)
    return Case(f"{side} x {side}, {steps} steps", (f, *constants), lambda: run(field, steps))


CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    "gmm": of_gmm,
    "ba": of_ba,
    "lstm": of_lstm,
    "hand": of_hand,
    "kmeans": of_kmeans,
    "lse": of_lse,
    "llsq": of_llsq,
    "ode": of_ode,
    "lattice": of_lattice,
}
