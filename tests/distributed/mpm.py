"""Material points that cross the borders of ranks back and forth, in two and three dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from scenes.mpm import collect, spread

STIFFNESS = (6.0, 12.0)  # of two kinds
WALL = 3  # nodes


@dt.kernel
def to_grid(x, v, C, J, kind, count, momentum, mass, stiffness, origin, n: int, h: float):
    for p in range(count[None]):
        J[p] *= 1.0 + h * C[p].trace()
        weight = 1.0 + 0.5 * kind[p]
        stress = stiffness[kind[p]] * (J[p] - 1.0)
        affine = weight / n * C[p] - 4.0 * n * h * stress * ti.Matrix.identity(ti.f64, x[p].n)
        spread(momentum, mass, n, x[p] - origin / n, weight, v[p], affine)


@dt.kernel
def move_nodes(momentum, mass, origin, n: int, h: float, push: float, walls: int):
    for at in ti.grouped(mass):
        v = momentum[at] * 0.0
        if mass[at] > 0.0:
            v = momentum[at] / mass[at]
            v[0] += h * push
            v[1] -= 0.6 * h * push
        if walls == 1:
            for axis in ti.static(range(at.n)):
                node = at[axis] + ti.cast(origin[axis], ti.i32)
                if (node < WALL and v[axis] < 0.0) or (node > n - WALL and v[axis] > 0.0):
                    v[axis] = 0.0
        momentum[at] = v


@dt.kernel
def to_particles(x, v, C, count, velocity, origin, n: int, h: float):
    for p in range(count[None]):
        v[p], C[p] = collect(velocity, n, x[p] - origin / n)
        x[p] += h * v[p]


@dt.kernel
def measure(x, v, id, count, loss):
    for p in range(count[None]):
        loss[None] += (1.0 + 0.1 * id[p]) * (x[p].norm_sqr() + 0.1 * v[p].sum())


def initial(dim: int, total: int) -> dict[str, Any]:
    rng = np.random.default_rng(dim)
    return {
        "x": 0.3 + 0.4 * rng.random((total, dim)),
        "v": 0.5 * rng.normal(size=(total, dim)),
        "kind": rng.integers(0, 2, total),
        "J": np.ones(total),
    }


def push(t: int) -> float:
    """The acceleration that moves everything forth and back."""
    return 70.0 * np.cos(0.16 * t)


def in_one_process(dim: int, n: int, total: int, steps: int) -> Any:
    """Run with plain fields, with walls; return the loss, the state and gradients."""
    h, vector, start = 0.008, dt.vec(dim, ti.f64), initial(dim, total)
    x, v = (dt.from_numpy(start[name], vector, grad=True) for name in ("x", "v"))
    C = dt.zeros(total, dt.mat(dim, dim, ti.f64), grad=True)
    J, kind = dt.ones(total, ti.f64, grad=True), dt.from_numpy(start["kind"].astype(np.int32))
    count, ids = dt.full((), total, ti.i32), dt.from_numpy(np.arange(total, dtype=np.int32))
    momentum = dt.zeros((n,) * dim, vector, grad=True)
    mass = dt.zeros((n,) * dim, ti.f64, grad=True)
    stiffness = dt.from_numpy(np.array(STIFFNESS), grad=True)
    loss, origin = dt.zeros((), ti.f64, grad=True), [0.0] * dim
    with dt.Tape(loss):
        for t in range(steps):
            momentum.fill(0.0)
            mass.fill(0.0)
            to_grid(x, v, C, J, kind, count, momentum, mass, stiffness, origin, n, h)
            move_nodes(momentum, mass, origin, n, h, push(t), 1)
            to_particles(x, v, C, count, momentum, origin, n, h)
        measure(x, v, ids, count, loss)
    gradients = v.grad.to_numpy(), x.grad.to_numpy(), stiffness.grad.to_numpy()
    return loss.to_numpy().item(), x.to_numpy(), gradients


def on_ranks(
    dim: int, n: int, total: int, steps: int, ranks: Any, walls: bool, limit: int | None = None
) -> Any:
    """Run on all ranks; return the same, and the counts of particles and the steps run again."""
    h, vector = 0.008, dt.vec(dim, ti.f64)
    grid = dist.Grid((n,) * dim, ranks, halo=2, periodic=not walls)
    p = dist.Particles(
        grid,
        spacing=1 / n,
        x=dt.zeros(total, vector, grad=True),
        v=dt.zeros(total, vector, grad=True),
        C=dt.zeros(total, dt.mat(dim, dim, ti.f64), grad=True),
        J=dt.zeros(total, ti.f64, grad=True),
        kind=dt.zeros(total, ti.i32),
    )
    momentum, mass = grid.field(vector, grad=True), grid.field(ti.f64, grad=True)
    stiffness = dt.from_numpy(np.array(STIFFNESS), grad=True)
    loss, origin = dt.zeros((), ti.f64, grad=True), [float(o) for o in grid.origin]
    p.from_global(initial(dim, total))
    order, counts = p.order(), []
    options = {} if limit is None else {"memory": limit}
    with dt.Tape(loss, **options) as tape:
        for t in range(steps):
            momentum.fill(0.0)
            mass.fill(0.0)
            to_grid(p.x, p.v, p.C, p.J, p.kind, p.count, momentum, mass, stiffness, origin, n, h)
            grid.accumulate(momentum, mass)
            move_nodes(momentum, mass, origin, n, h, push(t), int(walls))
            momentum.exchange()
            to_particles(p.x, p.v, p.C, p.count, momentum, origin, n, h)
            p.migrate()
            counts.append(p.count.to_numpy().item())
        measure(p.x, p.v, p.id, p.count, loss)
        dist.sum(loss)
    dist.all_reduce([stiffness])
    gradients = order.to_global(p.v.grad), order.to_global(p.x.grad), stiffness.grad.to_numpy()
    final = p.to_global()
    assert final["id"].tolist() == list(range(total))
    assert final["kind"].tolist() == initial(dim, total)["kind"].tolist()
    return loss.to_numpy().item(), final["x"], gradients, counts, tape.recomputed
