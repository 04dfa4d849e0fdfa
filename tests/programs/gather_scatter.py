"""Reads and additions at indices that are data."""

import taichi as ti

import difftile as dt
from tests.harness import array, floats, ints, program


@program(
    buf=array([3, 5]),
    s=array([1, 2, 3, 4, 5, 6]),
    out=floats(6),
    expected={"out": [3, 10, 9, 20, 15, 30]},
    gradients={"buf": [9, 12], "s": [3, 5, 3, 5, 3, 5]},
    seeds={"out": 1},
)
def shared_reads(buf, s, out):
    for i in s:
        out[i] = buf[i % 2] * s[i]


@program(
    x=array([4, 5, 6]),
    y=floats(3),
    expected={"y": [8, 10, 12]},
    gradients={"x": [2, 4, 6]},
    seeds={"y": [1, 2, 3]},
)
def store_reads_the_seed(x, y):
    for i in x:
        y[i] = 2 * x[i]


@program(x=array([3]), y=floats(1), expected={"y": [9]}, gradients={"x": [6]}, seeds={"y": 1})
def two_reads_of_one_element(x, y):
    for i in x:
        a = x[i]
        b = x[0]
        y[i] = a * b


@program(x=floats(5), index=ints([3, 0, 0, 4, 2]), y=floats(5))
def gather(x, index, y):
    for i in y:
        y[i] = x[index[i]] * x[i]


@program(x=floats(6), index=ints([1, 0, 0, 2, 1, 0]), y=floats(3))
def scatter_add(x, index, y):
    for i in x:
        y[index[i]] += x[i] * x[i]


@program(x=floats(4), index=ints([2, 0, 3, 1]), y=floats(4))
def permuted_store(x, index, y):
    for i in x:
        y[dt.unique(index[i])] = x[i] * x[i]


@program(x=floats(4), index=ints([2, 0, 3, 1]))
def permuted_in_place(x, index):
    for i in index:
        k = dt.unique(index[i])
        x[k] = x[k] * x[k]


@program(
    x=floats(4, element=(2,)),
    springs=ints([[0, 1], [1, 2], [2, 3], [0, 2]], (2,)),
    f=floats(4, element=(2,)),
)
def springs_of_a_mesh(x, springs, f):
    for s in springs:
        a, b = springs[s][0], springs[s][1]
        d = x[b] - x[a]
        force = (d.norm() - 0.5) * d.normalized()
        f[a] += force
        f[b] -= force


@program(x=floats(2, 3), y=floats(6), shape=ints([2, 3]))
def flat_indices(x, y, shape):
    for k in y:
        i = k // 3
        j = k % 3
        y[k] = x[i, j] * x[shape[0] - 1 - i, j]


@program(x=floats(8, low=0.0, high=7.0), table=floats(9), y=floats(8))
def linear_look_up(x, table, y):
    for i in x:
        k = int(ti.floor(x[i]))
        t = x[i] - k
        y[i] = (1 - t) * table[k] + t * table[k + 1]


@program(
    p=floats(5, element=(2,), low=0.6, high=2.4),
    mass=floats(5),
    grid=floats(4, 4),
    velocity=floats(4, 4, element=(2,)),
)
def particles_to_grid(p, mass, grid, velocity):
    for i in p:
        base = ti.cast(p[i] - 0.5, ti.i32)
        fx = p[i] - base
        w = (0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2)
        for a, b in ti.static(ti.ndrange(2, 2)):
            weight = w[a].x * w[b].y
            cell = base + ti.Vector([a, b])
            grid[cell] += weight * mass[i]
            velocity[cell] += weight * mass[i] * p[i]


@program(
    p=floats(7, element=(2,), low=0.6, high=2.4),
    velocity=floats(4, 4, element=(2,)),
    new=floats(7, element=(2,)),
    spin=floats(7, element=(2, 2)),
)
def grid_to_particles(p, velocity, new, spin):
    for i in p:
        base = ti.cast(p[i] - 0.5, ti.i32)
        fx = p[i] - base
        w = (0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2)
        total, turn = ti.Vector([0.0, 0.0]), ti.Matrix([[0.0, 0.0], [0.0, 0.0]])
        for a, b in ti.static(ti.ndrange(2, 2)):
            offset = ti.Vector([a, b])
            g = w[a].x * w[b].y * velocity[base + offset]
            total += g
            turn += g.outer_product(offset - fx)
        new[i] = total
        spin[i] = turn


@program(x=floats(5), start=ints([0, 2, 2, 5]), y=floats(3))
def ragged_rows(x, start, y):
    for i in y:
        s = 1.0
        for j in range(start[i], start[i + 1]):
            s *= x[j]
        y[i] = s


@program(x=floats(6), y=floats(6))
def bit_reversal(x, y):
    for i in range(4):
        j = ((i & 1) << 1) | (i >> 1)
        y[j] = x[i] * x[i ^ 1]
