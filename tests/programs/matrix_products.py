"""Products with matrices in fields: adjoints that every iteration adds to every element of."""

import taichi as ti

from tests.harness import floats, program


@program(a=floats(3, 70), x=floats(70), y=floats(3))
def matrix_times_vector(a, x, y):
    for i in y:
        total = 0.0
        for j in range(x.shape[0]):
            total += a[i, j] * x[j]
        y[i] = total


@program(a=floats(70, 3), x=floats(3), y=floats(70))
def tall_matrix_times_vector(a, x, y):
    for i in y:
        total = 0.0
        for j in range(x.shape[0]):
            total += ti.sin(a[i, j]) * x[j]
        y[i] += total * total


@program(a=floats(37, 5), x=floats(5), y=floats(37))
def all_pairs_at_once(a, x, y):
    for i, j in a:
        y[i] += a[i, j] * x[j]


@program(w=floats(4, 66), b=floats(4), x=floats(3, 66), y=floats(3, 4))
def layer_over_a_batch(w, b, x, y):
    for n, o in y:
        total = b[o]
        for i in range(w.shape[1]):
            total += w[o, i] * x[n, i]
        y[n, o] = ti.tanh(total)


@program(a=floats(4, 9), x=floats(11), y=floats(4), n=7)
def shifted_columns_under_a_condition(a, x, y, n: int):
    for i in y:
        for j in range(1, n):
            if a[i, j] > 0.0:
                y[i] += a[i, j] * x[j + 2] * x[j + 2]


@program(a=floats(4, 40, element=(2, 2)), x=floats(40, element=(2,)), y=floats(4, element=(2,)))
def matrices_times_vectors(a, x, y):
    for i in y:
        for j in range(x.shape[0]):
            y[i] += a[i, j] @ x[j]


@program(x=floats(6), y=floats(6), loss=floats())
def pairwise_energy(x, y, loss):
    for i in x:
        for j in range(y.shape[0]):
            loss[None] += (x[i] - y[j]) ** 2
