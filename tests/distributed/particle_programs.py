"""Programs with particles, which run on any number of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.distributed import Grid, Particles
from difftile.ranks import current

vec2, mat2 = dt.vec(2, ti.f64), dt.mat(2, 2, ti.f64)


def grid_of(shape, ranks, periodic):
    return Grid(shape, ranks, halo=2, periodic=periodic)


def make_particles(ranks, capacity, periodic, **options):
    return Particles(
        grid_of((6, 8), ranks, periodic),
        spacing=(0.5, 0.25),
        origin=(-1.0, 0.0),
        x=dt.zeros(capacity, vec2, grad=True),
        v=dt.zeros(capacity, vec2, grad=True),
        kind=dt.zeros(capacity, ti.i32),
        C=dt.zeros(capacity, mat2, grad=True),
        w=dt.zeros(capacity, ti.f64, grad=True),
        **options,
    )


@dt.kernel
def bounce(x, v, C, w, count, t: int, walls: int):
    """Move, turn and mix, so that each gradient depends on all earlier ones."""
    for p in range(count[None]):
        v[p] += 0.05 * C[p] @ v[p] * ti.cos(1.0 * t) + 0.3 * w[p] * ti.Vector([ti.sin(x[p].y), 0.2])
        x[p] += 0.4 * ti.cos(0.9 * t) * v[p]
        w[p] = 0.9 * w[p] + 0.1 * ti.sin(w[p] * x[p].x)
        if walls == 1:
            x[p] = ti.math.clamp(x[p], ti.Vector([-0.99, 0.01]), ti.Vector([1.99, 1.99]))


@dt.kernel
def measure(x, v, C, w, id, count, loss):
    for p in range(count[None]):
        part = ti.sin(3.0 * x[p].x) * v[p].y + C[p][0, 1] * x[p].y + w[p]
        loss[None] += part * (1.0 + 0.1 * id[p])


def initial(n, seed) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "x": rng.random((n, 2)) * [2.9, 1.9] + [-0.95, 0.05],
        "v": rng.normal(size=(n, 2)),
        "kind": rng.integers(0, 5, n),
        "C": rng.normal(size=(n, 2, 2)),
        "w": rng.normal(size=n),
    }


def wander(ranks, periodic, n, capacity, steps, seed, limit=None):
    """Run; return the loss, the final state, gradients, and how the counts changed."""
    particles = make_particles(ranks, capacity, periodic)
    particles.from_global(initial(n, seed))
    start, loss = particles.order(), dt.zeros((), ti.f64, grad=True)
    counts = []
    p = particles
    with dt.Tape(loss, **({} if limit is None else {"memory": limit})):
        for t in range(steps):
            bounce(p.x, p.v, p.C, p.w, p.count, t, 0 if periodic else 1)
            p.migrate()
            counts.append(p.count.to_numpy().item())
        measure(p.x, p.v, p.C, p.w, p.id, p.count, loss)
    gradients = {name: start.to_global(p[name].grad) for name in ("x", "v", "C", "w")}
    final = p.to_global()
    unused = np.concatenate([one.to_numpy()[counts[-1] :].ravel() for one in p.values()])
    assert not unused.any()
    return loss.to_numpy().item(), final, gradients, counts


def crowd(ranks):
    """All particles visit the last rank and come back."""
    particles = make_particles(ranks, 20, False, moving=20)
    state = initial(20, 0)
    particles.from_global(state)
    counts = [particles.count.to_numpy().item()]
    home = dt.zeros((20,), vec2)
    for places in (None, state["x"]):
        if places is None:
            particles.x.fill((1.9, 1.9))
        else:
            home.from_numpy(places)
            go_home(particles.x, particles.id, particles.count, home)
        particles.migrate()
        counts.append(particles.count.to_numpy().item())
    return counts, particles.to_global()


@dt.kernel
def go_home(x, id, count, home):
    for p in range(count[None]):
        x[p] = home[id[p]]


def failures():
    """Return the messages of what cannot be, on three ranks."""
    ranks, own = (3, 1), current()
    found = []
    particles = make_particles(ranks, 20, False)
    particles.from_global(initial(21, 0))
    particles.x.fill((1.9, 1.9))
    found.append(failure(particles.migrate))
    particles = make_particles(ranks, 20, False, moving=3)
    particles.from_global(initial(20, 0))
    particles.x.fill((1.9, 1.9))
    found.append(failure(particles.migrate))
    particles = make_particles(ranks, 20, False)
    particles.from_global(initial(20, 0))
    if own.rank == 2:
        particles.x[0] = (7.25, 0.5)
    found.append(failure(particles.migrate))
    found.append(failure(lambda: make_particles(ranks, 5 + own.rank, False)))
    particles = make_particles(ranks, 20, True)
    particles.from_global(initial(20, 0))
    if own.rank == 1:
        particles.x[0] = (np.nan, 0.5)
    found.append(failure(particles.migrate))
    return found


def misuse():
    """Return the messages about arguments, alone."""
    grid, x = grid_of((4, 4), (1, 1), False), dt.zeros(3, vec2)
    made = Particles(grid, spacing=0.25, x=x)
    calls = {
        "none": lambda: Particles(grid, spacing=1.0),
        "rows": lambda: Particles(grid, spacing=1.0, x=dt.zeros(3, vec2), m=dt.zeros(2, ti.f64)),
        "name": lambda: Particles(grid, {"count": dt.zeros(3, ti.f64)}, spacing=1.0),
        "axes": lambda: Particles(grid, spacing=1.0, x=dt.zeros((3, 2), vec2)),
        "twice": lambda: Particles(grid, spacing=1.0, x=x, y=x),
        "position": lambda: Particles(grid, spacing=1.0, y=dt.zeros(3, vec2)),
        "vectors": lambda: Particles(grid, spacing=1.0, x=dt.zeros(3, ti.f64)),
        "spacing": lambda: Particles(grid, spacing=0.0, x=dt.zeros(3, vec2)),
        "moving": lambda: Particles(grid, spacing=1.0, moving=0, x=dt.zeros(3, vec2)),
        "unknown": lambda: made.from_global({"x": np.zeros((1, 2)), "vv": np.zeros(1)}),
        "missing": lambda: made.from_global({"id": np.zeros(1, np.int32)}),
        "shape": lambda: made.from_global({"x": np.zeros((1, 3))}),
        "away": lambda: made.from_global({"x": np.array([[0.5, 0.5], [0.5, 1.0]])}),
        "full": lambda: made.from_global({"x": np.zeros((4, 2))}),
    }
    return {name: failure(call) for name, call in calls.items()}


MISUSE = {
    "none": "Particles are made of fields: dist.Particles(grid, spacing=h, x=x).",
    "rows": "'m' has 2 rows, and 'x' has 3: each field has as many rows as the capacity.",
    "name": "A field of particles cannot be called 'count': they have that.",
    "axes": "Particles are made of whole fields with one axis, and 'x' is <field vec2<f64> "
    "(3, 2)>.",
    "twice": "'x' and 'y' are the same memory.",
    "position": "The positions, 'x', are not among the fields y; name them: position='x'.",
    "vectors": "The positions, 'x', are f64; in a grid of 2 axes they are vectors of 2 floats.",
    "spacing": "The spacing of the grid is positive, not 0.0.",
    "moving": "'moving' is a number of particles, 1 or more, not 0.",
    "unknown": "<particles of x: vec2<f64>, id: i32; capacity 3 on rank 0> have no field "
    "'vv'; they have x, id.",
    "missing": "<particles of x: vec2<f64>, id: i32; capacity 3 on rank 0> are given no "
    "positions, 'x'.",
    "shape": "<particles of x: vec2<f64>, id: i32; capacity 3 on rank 0>: 'x' of 1 particle "
    "is an array of shape (1, 2), not (1, 3).",
    "away": "Of 2 particles 1 are outside the grid, [0, 1) x [0, 1), the first of them at "
    "[0.5 1. ].",
    "full": "Rank 0 would have 4 particles, and has a capacity of 3. Make the fields of the "
    "particles larger.",
}


def failure(run):
    """Return the text of the error that a call raises, or nothing."""
    try:
        run()
    except dt.FieldError as error:
        return str(error)
    return ""


def derivatives(ranks, periodic, n, capacity, steps, seed):
    """Return the loss, its tangent, gradient and Hessian-vector product by per-particle numbers.

    The parameter is an array with a number for each particle, by `id`, the same on all ranks. On
    each rank it sets what its own particles hold.
    """
    particles = p = make_particles(ranks, capacity, periodic)
    start, rng = initial(n, seed), np.random.default_rng((seed, 1))
    direction = rng.normal(size=n)
    particles.from_global(start)
    homes = {name: p[name].to_numpy() for name in ("x", "v", "C", "w", "id")}
    count = p.count.to_numpy()

    def loss_of(scale):
        for name, values in homes.items():
            p[name].from_numpy(values)
        p.count.from_numpy(count)
        loss = dt.zeros((), ti.f64, grad=True)
        weigh(p.v, p.w, p.id, p.count, scale)
        for t in range(steps):
            bounce(p.x, p.v, p.C, p.w, p.count, t, 0 if periodic else 1)
            p.migrate()
        measure(p.x, p.v, p.C, p.w, p.id, p.count, loss)
        dist.sum(loss)
        return loss

    scale = dt.from_numpy(1.0 + 0.1 * rng.normal(size=n), grad=True)
    value, tangent = dt.jvp(loss_of, scale, direction)
    gradient, product = dt.grad(loss_of)(scale), dt.hvp(loss_of, scale, direction)
    found = [np.asarray(one.to_numpy(), float) for one in (value, tangent)]
    parts = np.stack([np.asarray(one) for one in (gradient.to_numpy(), _array(product))])
    current().all_reduce(parts).wait("the gradients")
    return found[0].item(), found[1].item(), parts[0], parts[1], direction


def _array(value):
    return value if isinstance(value, np.ndarray) else value.to_numpy()


@dt.kernel
def weigh(v, w, id, count, scale):
    for i in range(count[None]):
        v[i] *= scale[id[i]]
        w[i] += ti.sin(scale[id[i]]) * scale[id[i]]
