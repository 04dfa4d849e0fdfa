"""Additions of values that begin with a minus sign."""

import taichi as ti

from tests.harness import floats, ints, program


@program(x=floats(5), v=floats(5), index=ints([3, 0, 4, 1, 2]), a=floats())
def negative_sum_added(x, v, index, a):
    for i in x:
        v[index[i]] += -x[i] * x[i] - ti.sin(x[i])
        c = x[index[i]]
        a[None] += -(c + x[i]) * c


@program(x=floats(5), y=floats(5), z=floats(5), n=ints([0, 0, 0, 0, 0]))
def negative_remainder_added(x, y, z, n):
    for i in x:
        y[i] += (-x[i]) % 0.7
        z[4 - i] += (-x[i]) % 0.7
        n[i] += -i // 2
        n[i] += -i % 3
