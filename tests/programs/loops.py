"""Loops inside a thread: carried locals at several lengths, ranges of every form."""

import taichi as ti

from tests.harness import array, floats, ints, program


@program(x=floats(3, low=0.1, high=0.9), y=floats(3), n=8)
def transmittance(x, y, n: int):
    for i in x:
        t = 1.0
        for _ in range(n):
            t *= 1 - x[i]
        y[i] = t


@program(x=floats(2, low=0.01, high=0.1), y=floats(2), n=31)
def transmittance_31(x, y, n: int):
    for i in x:
        t = 1.0
        for _ in range(n):
            t *= 1 - x[i]
        y[i] = t


@program(x=floats(2, low=0.01, high=0.1), y=floats(2), n=64)
def transmittance_64(x, y, n: int):
    for i in x:
        t = 1.0
        for _ in range(n):
            t *= 1 - x[i]
        y[i] = t


@program(x=floats(2, low=0.0001, high=0.001), y=floats(2), n=1000)
def transmittance_1000(x, y, n: int):
    for i in x:
        t = 1.0
        for _ in range(n):
            t *= 1 - x[i]
        y[i] = t


@program(alpha=floats(4, low=0.1, high=0.9), colour=floats(4), y=floats(), seeds={"y": 1})
def composited(alpha, colour, y):
    for _ in range(1):
        t = 1.0
        c = 0.0
        for k in range(alpha.shape[0]):
            c += t * alpha[k] * colour[k]
            t *= 1 - alpha[k]
        y[None] = c + 0.5 * t


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


@program(x=floats(2), y=floats(2), n=-5)
def negative_count(x, y, n: int):
    for i in x:
        s = x[i]
        for _ in range(n):
            s = s * s
        for _ in range(3, 1):
            s = s * s
        y[i] = s * s


@program(x=floats(2, low=0.5, high=0.9), y=floats(2), n=1)
def one_iteration(x, y, n: int):
    for i in x:
        s = x[i]
        for _ in range(n):
            s = s * s
        y[i] = s * s


@program(
    a=array([1.0]),
    b=array([2.0]),
    y=floats(1),
    expected={"a": [1.0], "y": [2.46534]},
    gradients={"a": [0.259073], "b": [2.335806]},
    seeds={"y": 1},
)
def carried_swap(a, b, y):
    for i in a:
        p = a[i]
        q = b[i]
        for _ in range(5):
            old = p
            p = p + 0.1 * q
            q = q - 0.1 * old
        y[i] = p * q


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


@program(x=floats(2, low=0.5, high=1.0), y=floats(2))
def nested_triangle(x, y):
    for i in x:
        s = x[i]
        for j in range(6):
            for k in range(j):
                for m in range(k, j):
                    s = s * x[i] * 0.5 + 0.1 * (m - k)
        y[i] = s


@program(
    x=array([1, 2, 3, 4, 5, 6, 7, 8, 9]),
    y=floats(1),
    r=2,
    expected={"y": [9 + 32 + 75 + 144 + 245]},
    gradients={"x": [0, 0, 6, 16, 30, 48, 70, 0, 0]},
    seeds={"y": 1},
)
def negative_start(x, y, r: int):
    for i in y:
        s = 0.0
        for d in range(-r, r + 1):
            w = d + 3
            s += w * x[4 + d] * x[4 + d]
        y[i] = s


@program(x=floats(11), y=floats(3), first=1, last=11)
def steps(x, y, first: int, last: int):
    for _ in range(1):
        up = 1.0
        for i in range(first, last, 3):
            up = up * x[i] + 0.1 * i
        down = 1.0
        for i in range(last - 1, first, -2):
            down = down * x[i] + 0.1 * i
        back = 1.0
        for i in range(4, -1, -1):
            back = back * 0.7 + x[i] * x[i]
        y[0] = up
        y[1] = down
        y[2] = back


@program(x=floats(11), y=floats(11))
def parallel_steps(x, y):
    for i in range(1, 11, 3):
        y[i] = x[i] * x[i - 1]
    for i in range(8, 0, -3):
        y[i] = x[i] * x[i] * y[i]


@program(x=floats(9), y=floats(9))
def parallel_bounds(x, y):
    for i in range(2, x.shape[0] - 2):
        y[i] = x[i] * x[i]
    for i in range(-1, 2):
        y[i + 1] = x[i + 1] + y[i + 1]


@program(x=floats(4), y=floats(4), n=ints([0, 1, 5, 40]))
def trip_count_from_a_field(x, y, n):
    for i in x:
        s = x[i]
        for _ in range(n[i]):
            s = ti.cos(s) + 0.1 * s * s
        y[i] = s


@program(x=floats(3, low=0.2, high=0.9), y=floats(3))
def integer_carry(x, y):
    for i in x:
        j = i
        s = 1.0
        for k in range(50):
            s = s * 0.9 + x[j] * s * 0.1
            j = (j + k) % 3
        y[i] = s + j


@program(x=floats(4), y=floats(4))
def flag_carry(x, y):
    for i in x:
        found = False
        best = 0.0
        for j in range(4):
            if not found and x[j] > 0:
                found = True
                best = x[j] * x[i]
        y[i] = best * best


@program(x=floats(3), y=floats(3))
def vector_carry(x, y):
    for i in x:
        v = ti.Vector([x[i], 1.0, 0.5])
        for _ in range(40):
            v = 0.9 * ti.Vector([v[1], v[2], v[0]]) + 0.1 * v * v
        y[i] = ti.math.dot(v, v)


@program(x=floats(2), y=floats(2))
def matrix_carry(x, y):
    for i in x:
        m = ti.Matrix([[1.0, x[i]], [0.3, 0.2]])
        for k in range(37):
            step = ti.Matrix([[0.5, 0.1 * x[i]], [-0.2, 0.6]])
            m = step @ m + 0.01 * k
        y[i] = ti.math.determinant(m) + m[0, 1]


@program(x=floats(3), y=floats(3))
def two_loops_in_a_row(x, y):
    for i in x:
        s = x[i]
        for _ in range(35):
            s = ti.sin(s)
        t = s * s
        for _ in range(35):
            t = ti.cos(t * x[i])
        y[i] = t * s


@program(x=floats(4), y=floats(4))
def unchanged_carry(x, y):
    for i in x:
        s = x[i]
        t = 2.0
        for j in range(3):
            if j > 5:
                t = 7.0
            s = s * t * 0.3
        y[i] = s * t


@program(x=floats(3), y=floats(3))
def loop_in_a_branch_in_a_loop(x, y):
    for i in x:
        s = x[i]
        for j in range(8):
            if j % 2 == 0:
                for k in range(j):
                    s = ti.sin(s) + 0.01 * k
            elif s > 0.2:
                s = s * s
            else:
                s = s + 0.3
        y[i] = s


@program(x=floats(4), loss=floats())
def sum_in_a_loop_with_a_carry(x, loss):
    for i in x:
        s = x[i]
        for _ in range(40):
            s = ti.sin(s)
            loss[None] += s * s


@program(x=floats(3, 40), y=floats(3, 40))
def stores_in_a_loop_with_a_carry(x, y):
    for i in range(3):
        s = 1.0
        for j in range(40):
            s = ti.sin(s) * x[i, j]
            y[i, j] = s * s


@program(x=floats(6), y=floats(6))
def bounds_from_the_index(x, y):
    for i in x:
        s = 0.0
        for j in range(i, i + 40):
            s = s * 0.9 + x[j % 6] * s * 0.1 + x[i]
        y[i] = s


@program(x=floats(4), y=floats(4))
def names_bound_again(x, y):
    for i in x:
        k = i
        for k in range(3):
            y[i] += x[i] * k
        for j in range(3):
            j = j + 1  # noqa: PLW2901 - this is under test
            y[i] += x[i] * x[i] * j


@program(x=floats(6), y=floats(3))
def blocks_of_a_literal_size(x, y):
    for i in y:
        s = 1.0
        for k in range(2):
            s *= x[2 * i + k]
            x[2 * i + k] = x[2 * i + k] * x[2 * i + k]
        y[i] = s


@program(x=floats(5), y=floats(5))
def carries_with_one_result(x, y):
    for i in x:
        a = x[i]
        b = 0.5
        for k in range(i):
            a = a * b * y[i]
            b = a
        y[i] = a


@program(x=floats(5), y=floats(5))
def stored_each_time_then_read(x, y):
    for i in x:
        s = 0.5
        for _ in range(5):
            s = s * y[i]
            x[i] = s
        x[i] = x[i] * y[i]


@program(x=floats(11), y=floats(11), k=ints([2, 3, -1, -4, 0, 20]), n=11, s=3)
def steps_known_at_run_time(x, y, k, n: int, s: int):
    """A step may be negative, and one of 0 takes no steps."""
    for i in range(1, n, s):
        y[i] *= x[i]
    for i in range(n - 1, -1, -s):
        y[i] += x[i] * x[i]
    for j in k:
        v = x[j]
        for i in range(8 - 2 * j, 1 + 3 * j, k[j]):
            v = ti.sin(v * x[i % 11]) + 0.1 * i
        for i in range(9, 0, k[j]):
            v = v * x[i % 11]
            if v > 2.0:
                break
        y[j] += v


@program(x=floats(4), y=floats(4, low=0.5, high=1.5), expected={}, s=-2)
def a_step_that_the_loop_changes(x, y, s: int):
    """The range is as it was before the loop."""
    for i in x:
        step = s
        for j in range(6, 0, step):
            step += j
            x[i] = x[i] * y[i] + 0.1 * step
