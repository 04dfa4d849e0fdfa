"""Sums into one element and into locals."""

import taichi as ti

import difftile as dt
from tests.harness import array, floats, program


@program(x=array([1, 2, 3]), loss=floats(), gradients={"x": [2, 4, 6]}, seeds={"loss": 1})
def sum_of_squares(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


@program(x=floats(4, 5), loss=floats())
def sum_over_two_axes(x, loss):
    for i, j in x:
        loss[None] += x[i, j] * x[i, j] * (i - j)


@program(x=floats(3, 4, 2), loss=floats())
def sum_over_three_axes(x, loss):
    for i, j, k in x:
        loss[None] -= ti.sin(x[i, j, k])


@program(x=floats(4, 5), loss=floats())
def sum_in_a_nested_loop(x, loss):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            loss[None] += x[i, j] * x[i, j]


@program(x=floats(4, 5), loss=floats())
def sum_of_row_products(x, loss):
    for i in range(x.shape[0]):
        p = 1.0
        for j in range(x.shape[1]):
            p *= x[i, j]
        loss[None] += p


@program(x=floats(7), loss=floats())
def local_sum_then_nonlinear(x, loss):
    s = 0.0
    for i in x:
        s += x[i] * x[i]
    loss[None] = s * s + ti.sqrt(s)


@program(x=floats(7), y=floats(7))
def normalised_by_local_sum(x, y):
    s = 0.1
    for i in x:
        s += ti.exp(x[i])
    for i in x:
        y[i] = ti.exp(x[i]) / s


@program(x=floats(6), loss=floats())
def two_local_sums(x, loss):
    mean = 0.0
    for i in x:
        mean += x[i]
    mean /= x.shape[0]
    variance = 0.0
    for i in x:
        variance += (x[i] - mean) * (x[i] - mean)
    loss[None] = variance / x.shape[0] + mean


@program(x=floats(5, element=(3,)), loss=floats())
def local_vector_sum(x, loss):
    centre = ti.Vector([0.0, 0.0, 0.0])
    for i in x:
        centre += x[i]
    loss[None] = centre.norm()


@program(x=floats(5, element=(3,)), total=floats(element=(3,)))
def vector_sum(x, total):
    for i in x:
        total[None] += x[i] * x[i].norm()


@program(x=floats(5, element=(2, 2)), total=floats(element=(2, 2)))
def matrix_sum(x, total):
    for i in x:
        total[None] += x[i] @ x[i]


@program(x=floats(8), bins=floats(3))
def histogram(x, bins):
    for i in x:
        bins[i % 3] += x[i] * x[i]


@program(x=floats(8), loss=floats())
def sum_under_a_condition(x, loss):
    for i in x:
        if x[i] > 0:
            loss[None] += x[i] * x[i]
        else:
            loss[None] -= x[i]


@program(x=floats(8), loss=floats())
def atomic_functions(x, loss):
    for i in x:
        ti.atomic_add(loss[None], x[i] * x[i])
        ti.atomic_sub(loss[None], 0.5 * x[i])


@program(x=floats(4), y=floats(4), loss=floats(2))
def two_sums_in_one_loop(x, y, loss):
    for i in x:
        loss[0] += x[i] * y[i]
        loss[1] += x[i] - y[i] * y[i]


@program(a=floats(), x=floats(64), loss=floats())
def shared_scalar(a, x, loss):
    for i in x:
        loss[None] += a[None] * x[i] * x[i]


@program(x=floats(5), loss=floats(), launches=3)
def added_over_launches(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]
    for i in x:
        x[i] = x[i] * x[i]


@program(x=floats(6), loss=floats())
def serial_sum(x, loss):
    s = 0.0
    ti.loop_config(serialize=True)
    for i in range(x.shape[0]):
        s = s * x[i] + 0.5
    loss[None] = s


@program(x=floats(6), count=floats(), loss=floats())
def count_and_sum(x, count, loss):
    n = 0
    s = 0.0
    for i in x:
        if x[i] > 0:
            n += 1
            s += x[i]
    count[None] = n
    loss[None] = s / (n + 1)


@program(
    x=array([0.5, -1, 0.25]),
    t=array(0),
    expected={"t": 0.75},
    gradients={"x": [-1.5, -0.375, -1]},
    seeds={"t": 1},
)
def product_of_the_rest(x, t):
    """A local that is more than added to puts the iterations in order."""
    rest = 1.0
    for i in x:
        rest *= 1 - x[i]
    t[None] = rest


@program(x=floats(6), c=floats(6), y=floats(6), out=floats(2))
def light_through_layers(x, c, y, out):
    """What a local carries is read, and set on one side of a branch; a total stays parallel."""
    through, colour, best, count = 1.0, 0.0, -9.0, 0
    for i in x:
        a = ti.math.clamp(x[i] * x[i], 0.0, 0.9)
        colour += through * a * c[i]
        y[i] = through
        through = through * (1 - a)
        if c[i] > best:
            best = c[i]
            count += 1
        if through < 1e-3:
            break
    total = 0.0
    for i in x:
        total += y[i] * best
    out[0] = colour + through
    out[1] = total * count


@ti.dataclass
class Total:
    sum: ti.f64
    last: ti.f64

    @dt.func
    def add(self, a):
        self.sum += a * self.last
        self.last = ti.sin(a)


@dt.func
def halve(s: ti.template(), by):
    s = 0.5 * s + by * by


@program(x=floats(3, 4), n=floats(), v=floats(3, element=(2,)))
def locals_of_any_kind_in_order(x, n, v):
    """Vectors, structs with methods, tuples, and locals that a func changes."""
    p, q, s = ti.Vector([1.0, 0.5]), Total(0.5, 1.0), 0.3
    for i, j in x:
        p[j % 2] += 0.3 * x[i, j] * p.x
        q.add(x[i, j])
        halve(s, x[i, j])
    t = (p.x, p.y)
    for i in v:
        t = (t[1], t[0] * v[i].y)
    n[None] += p.norm_sqr() * q.sum * q.last + s * t[0]
