"""Loops inside a thread: carried locals at several lengths."""

import taichi as ti

from tests.harness import array, floats, program


@program(x=floats(3, low=0.1, high=0.9), y=floats(3), n=8)
def transmittance(x, y, n: int):
    for i in x:
        t = 1.0
        for _ in range(n):
            t *= 1 - x[i]
        y[i] = t


@program(x=floats(3), y=floats(3), n=40)
def nonlinear_carry(x, y, n: int):
    for i in x:
        s = 1.0
        t = 0.0
        for j in range(n):
            s = ti.sin(s * x[i]) + 0.1
            if s > 0.4:
                s *= 0.5
            t += s * j
        y[i] = t


@program(x=floats(2), y=floats(2), n=0)
def no_iterations(x, y, n: int):
    for i in x:
        s = x[i]
        for _ in range(n):
            s = s * s
        y[i] = s * s


@program(
    a=array([1.0]),
    b=array([2.0]),
    expected={"a": [1.88052], "b": [0.58482]},
    gradients={"a": [0.259073], "b": [2.335806]},
)
def swap(a, b):
    for i in a:
        p = a[i]
        q = b[i]
        for _ in range(5):
            old = p
            p = p + 0.1 * q
            q = q - 0.1 * old
        a[i] = p
        b[i] = q


@program(x=floats(4, 5), w=floats(5), y=floats(4))
def matvec(x, w, y):
    for i in y:
        s = 0.0
        for j in range(w.shape[0]):
            s += x[i, j] * w[j]
        y[i] = s


@program(x=floats(3, low=0.5, high=1.2), y=floats(3), n=5, m=7)
def nested(x, y, n: int, m: int):
    for i in x:
        s = x[i]
        for j in range(n):
            t = 1.0
            for k in range(m):
                t = t * (0.3 + 0.1 * s) + 0.01 * (j + k)
            s = ti.sin(s + t)
        y[i] = s
