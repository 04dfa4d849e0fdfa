"""Transfers between particles and a grid over the unit square or cube.

MLS-MPM (Hu et al., "A moving least squares material point method", SIGGRAPH 2018) with quadratic
B-splines: a particle shares with the three nodes along each axis that are nearest to it.
"""

import taichi as ti

import difftile as dt

WALL = 3  # nodes from the border of the grid to the walls


@dt.func
def nodes_around(x, n):
    """The first node around a place, the way from it to there [cells], and the weights of three."""
    base = ti.cast(x * n - 0.5, ti.i32)
    f = x * n - base
    return base, f, [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]


@dt.func
def weight_of(w, at):
    """The weight of the node that is so many steps along each axis from the first one."""
    weight = 1.0
    for axis in ti.static(range(len(at))):
        weight *= w[at[axis]][axis]
    return weight


@dt.func
def spread(grid_v, grid_m, n, x, mass, v, affine):
    """Add momentum and mass of a particle to the nodes around it.

    `affine` is the change of the momentum per cell.
    """
    base, f, w = nodes_around(x, n)
    momentum = mass * v - affine @ f
    for at in ti.static(ti.ndrange(*[3] * x.n)):
        offset, weight = ti.Vector(at), weight_of(w, at)
        grid_v[base + offset] += weight * (momentum + affine @ offset)
        grid_m[base + offset] += weight * mass


@dt.func
def collect(grid_v, n, x):
    """The velocity at a place and its gradient there, from the nodes around."""
    base, f, w = nodes_around(x, n)
    v, B = ti.zero(x), ti.zero(x).outer_product(x)
    for at in ti.static(ti.ndrange(*[3] * x.n)):
        offset = ti.Vector(at)
        g = weight_of(w, at) * grid_v[base + offset]
        v += g
        B += g.outer_product(offset)
    return v, 4.0 * n * (B - v.outer_product(f))
