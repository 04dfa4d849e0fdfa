"""Functions of `ti.math` for shading: reflection, refraction, smooth steps."""

import taichi as ti

from tests.harness import floats, program


@program(v=floats(4, element=(3,)), n=floats(4, element=(3,)), y=floats(4, element=(3,)))
def reflected(v, n, y):
    for i in v:
        y[i] = ti.math.reflect(v[i], ti.math.normalize(n[i]))


@program(v=floats(6, element=(3,)), n=floats(6, element=(3,)), y=floats(6, element=(3,)), eta=0.8)
def refracted(v, n, y, eta: float):
    for i in v:
        y[i] = ti.math.refract(v[i].normalized(), n[i].normalized(), eta)


@program(v=floats(6, element=(3,)), n=floats(6, element=(3,)), y=floats(6, element=(3,)), eta=1.7)
def refracted_or_not(v, n, y, eta: float):
    for i in v:
        y[i] = ti.math.refract(v[i].normalized(), n[i].normalized(), eta)


@program(x=floats(7), y=floats(7), d=floats(7, element=(2,)))
def smooth_and_direction(x, y, d):
    for i in x:
        y[i] = ti.math.smoothstep(-1.0, 1.2, x[i]) * ti.math.mix(x[i], 2.0, 0.3)
        d[i] = ti.math.vdir(x[i] * x[i])
