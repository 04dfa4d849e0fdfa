"""Fields that are updated where they are."""

from tests.harness import array, floats, program


@program(x=array([1, 2, 3, 4]), expected={"x": [1, 4, 9, 16]}, gradients={"x": [2, 4, 6, 8]})
def square(x):
    for i in x:
        x[i] = x[i] * x[i]


@program(x=array([1, 2, 3, 4]), gradients={"x": [2, 2, 2, 2]})
def double(x):
    for i in x:
        x[i] *= 2


@program(x=array([1, 2]), gradients={"x": [6, 6]})
def twice_then_thrice(x):
    for i in x:
        x[i] = x[i] * 2
        x[i] = x[i] * 3


@program(x=floats(5), v=floats(5), k=floats(), h=0.1, launches=7)
def spring(x, v, k, h: float):
    for i in x:
        v[i] -= h * k[None] * x[i] * x[i]
        x[i] += h * v[i]


@program(x=floats(4, low=0.5, high=0.9), launches=20)
def logistic(x):
    for i in x:
        x[i] = 3.2 * x[i] * (1 - x[i])


@program(x=floats(6), y=floats(6), launches=3)
def scratch(x, y):
    for i in x:
        y[i] = x[i] * x[i]
    for i in x:
        x[i] = y[i] * y[i] + 0.5 * x[i]
    for i in y:
        y[i] = 0


@program(x=floats(4), y=floats(4))
def several_stores(x, y):
    for i in x:
        y[i] = 5 * x[i]
        y[i] = 2 * x[i]
