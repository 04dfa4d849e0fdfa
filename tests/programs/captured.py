"""Functions, numbers, types and containers from outside the kernel."""

import math

import taichi as ti

import difftile as dt
from tests.harness import floats, program

GRAVITY = 9.81
COUNT = 3
WEIGHTS = (0.25, 0.5, 0.25)
OFFSETS = ((-1, 0), (0, 1), (1, 0))
real3 = ti.types.vector(3, ti.f32)


class Material:
    stiffness = 2.5
    steps = 4


@dt.func
def energy(x):
    return Material.stiffness * x * x


@program(x=floats(4), y=floats(4))
def a_float(x, y):
    for i in x:
        y[i] = GRAVITY * x[i] * x[i] + math.pi * x[i]


@program(x=floats(4), y=floats(4))
def an_integer(x, y):
    for i in x:
        s = x[i]
        for _ in range(COUNT):
            s = s * s
        y[i] = s + COUNT


@program(x=floats(4), y=floats(4))
def attributes(x, y):
    for i in x:
        s = x[i]
        for _ in range(Material.steps):
            s = 0.1 * energy(s)
        y[i] = s


@program(x=floats(4, 3), y=floats(4, 3))
def a_tuple_of_tuples(x, y):
    for i, j in ti.ndrange((1, 3), (0, 2)):
        for di, dj in ti.static(OFFSETS):
            y[i, j] += x[i + di, j + dj] * x[i, j]


@program(x=floats(4), y=floats(4, element=(3,)))
def types(x, y):
    for i in x:
        v = real3(x[i], 1, x[i] * x[i])
        y[i] = v * ti.cast(i, float) + ti.f64(x[i])


@program(x=floats(4), y=floats(4))
def constants_of_libraries(x, y):
    for i in x:
        y[i] = math.sin(x[i] * math.tau) + math.e * x[i] + ti.math.pi


@program(x=floats(5), y=floats(5))
def a_tuple(x, y):
    for i in range(1, 4):
        s = 0.0
        for k in ti.static(range(3)):
            s += WEIGHTS[k] * x[i + k - 1] * x[i]
        y[i] = s
