"""Kernels that print and assert: their values and gradients are those without."""

from __future__ import annotations

import taichi as ti

import difftile as dt
from tests.harness import floats, program


@dt.func
def checked_root(a):
    assert a > 0, f"the root of {a}"
    print("root of", a)
    return ti.sqrt(a)


@program(x=floats(4, low=0.2), y=floats(4), v=floats(4, element=(2,)), n=3, launches=2)
def prints_and_asserts(x, y, v, n: int):
    print("start", n)
    for i in x:
        a = x[i]
        for k in range(n):
            a = ti.sin(a) + checked_root(a + 1.0)
            if a > 1.2:
                print(f"a = {a:.2f}", k, v[i])
                continue
            y[i] += a * v[i].x
        assert n == 3, "three"
        x[i] = a * a
        print(i, x[i], end=";")
    print("end", y[0])
    for i in y:
        y[i] *= y[i]
        print(y[i])
