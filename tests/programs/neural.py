"""Layers and losses of small networks, as plain loops."""

import taichi as ti

from tests.harness import array, floats, program


@program(
    w=array([[1, 2, 3], [4, 5, 6]]),
    b=array([0.5, -0.5]),
    x=array([1, 2, 3]),
    y=floats(2),
    expected={"y": [14.5, 31.5]},
    gradients={"w": [[1, 2, 3], [10, 20, 30]], "b": [1, 10], "x": [41, 52, 63]},
    seeds={"y": [1, 10]},
)
def linear_layer(w, b, x, y):
    for i in y:
        s = b[i]
        for j in range(x.shape[0]):
            s += w[i, j] * x[j]
        y[i] = s


@program(
    x=array([1, 2, 3, 4]),
    a=array(2),
    b=array(8),
    c=array(-1),
    y=floats(4),
    expected={"y": [9, 23, 41, 63]},
    gradients={"x": [12, 16, 20, 24], "a": 30, "b": 10, "c": 4},
    seeds={"y": 1},
)
def polynomial(x, a, b, c, y):
    for i in x:
        y[i] = a[None] * x[i] * x[i] + b[None] * x[i] + c[None]


@program(
    x=floats(3, 4),
    w1=floats(5, 4),
    w2=floats(5),
    hidden=floats(3, 5),
    target=floats(3),
    loss=floats(),
)
def two_layers(x, w1, w2, hidden, target, loss):
    for i, j in hidden:
        s = 0.0
        for k in range(x.shape[1]):
            s += w1[j, k] * x[i, k]
        hidden[i, j] = ti.tanh(s)
    for i in target:
        s = 0.0
        for j in range(hidden.shape[1]):
            s += w2[j] * hidden[i, j]
        d = s - target[i]
        loss[None] += d * d


@program(x=floats(6), loss=floats())
def softmax_cross_entropy(x, loss):
    s = 0.0
    for i in x:
        s += ti.exp(x[i])
    loss[None] = ti.log(s) - x[2]


@program(x=floats(3, 4), y=floats(3, 4))
def softmax_of_rows(x, y):
    for i in range(x.shape[0]):
        top = x[i, 0]
        for j in range(1, x.shape[1]):
            top = ti.max(top, x[i, j])
        s = 0.0
        for j in range(x.shape[1]):
            s += ti.exp(x[i, j] - top)
        for j in range(x.shape[1]):
            y[i, j] = ti.exp(x[i, j] - top) / s


@program(x=floats(5), y=floats(5))
def sigmoid_chain(x, y):
    for i in x:
        s = x[i]
        for _ in range(20):
            s = 1 / (1 + ti.exp(-s))
        y[i] = s


@program(a=floats(3, 4), b=floats(4, 2), c=floats(3, 2))
def matrix_product(a, b, c):
    for i, j in c:
        for k in range(a.shape[1]):
            c[i, j] += a[i, k] * b[k, j]
