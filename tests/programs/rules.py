"""Funcs with rules of their own, right ones: they agree with the derivative of the body."""

import taichi as ti

import difftile as dt
from tests.harness import array, floats, ints, program

Ball = ti.types.struct(pos=ti.math.vec2, r=ti.f32, n=ti.i32)


@dt.func
def sine(x):
    return ti.sin(x)


@sine.backward
def _(x, d_out):
    return d_out * ti.cos(x)


@dt.func
def hypotenuse(a, b):
    return ti.sqrt(a * a + b * b)


@hypotenuse.backward
def _(a, b, d_out):
    h = hypotenuse(a, b)  # itself, inside its own rule
    return d_out * a / h, d_out * b / h


@hypotenuse.forward
def _(a, b, a_dot, b_dot):
    return (a * a_dot + b * b_dot) / ti.sqrt(a * a + b * b)


@dt.func
def scaled(v, s, k):
    return v * s * k


@scaled.backward
def _(v, s, k, d_out):
    return d_out * s * k, d_out.dot(v) * k


@dt.func
def only_forward(v, m):
    return m @ v


@only_forward.forward
def _(v, m, v_dot, m_dot):
    return m_dot @ v + m @ v_dot


@program(x=array([0.5, -1.0]), y=floats(2), gradients={"x": [2.632748, 1.620907]}, seeds={"y": 1})
def opaque_sine(x, y):  # CD1
    for i in x:
        y[i] = 3 * sine(x[i])


@program(x=floats(4), w=floats(), y=floats(4))
def rules_in_branches_and_loops(x, w, y):
    for i in x:
        s = x[i]
        for k in range(5):
            if k % 2 == 0:
                s = sine(s * w[None]) + s
            else:
                s = hypotenuse(s, x[i]) * 0.5
        y[i] = s if x[i] > 0 else sine(s) * s


@program(v=floats(3, element=(3,)), s=floats(3), k=ints([1, 2, 3]), y=floats(3, element=(3,)))
def vectors_and_integers(v, s, k, y):
    for i in v:
        y[i] = scaled(v[i], s[i], k[i]) + scaled(v[i], 2.0, 1) + scaled(v[i] * s[i], 3, k[i])


@program(v=floats(3, element=(2,)), m=floats(3, element=(2, 2)), y=floats(3, element=(2,)))
def the_other_direction_follows(v, m, y):
    for i in v:
        w = only_forward(v[i], m[i])
        y[i] = only_forward(w, m[i] @ m[i]) * sine(w.sum())


@dt.func
def load(buf, i):
    return buf[i]


@load.backward
def _(buf, i, d_out):
    buf.grad_out[i] += d_out


@dt.func
def twice_there(buf, i, s):
    return load(buf, i) * s + load(buf, i + 1)


@program(
    buf=array([3, 5]),
    s=array([1, 2, 3, 4, 5, 6]),
    out=floats(6),
    expected={"out": [3, 10, 9, 20, 15, 30]},
    gradients={"buf": [9, 12], "s": [3, 5, 3, 5, 3, 5]},
    seeds={"out": 1},
)
def loads_with_a_rule(buf, s, out):  # BA1, CD5
    for i in out:
        out[i] = load(buf, i % 2) * s[i]


@program(buf=floats(5), s=floats(4), out=floats(4))
def rules_below_rules(buf, s, out):
    for i in out:
        out[i] = sine(twice_there(buf, i, s[i])) * s[i]


@dt.func
def sum_near(buf, i, scale):
    total = 0.0
    for k in range(3):
        total += buf[i + k].dot(buf[i]) * scale
    return total


@sum_near.backward
def _(buf, i, scale, d_out):
    d_scale = 0.0
    for k in range(3):
        buf.grad_out[i + k] += d_out * scale * buf[i]
        ti.atomic_add(buf.grad_out[i], d_out * scale * buf[i + k])
        d_scale += d_out * buf[i + k].dot(buf[i])
    return d_scale


@program(buf=floats(6, element=(2,)), s=floats(4), y=floats(4))
def loops_that_add_to_gradients(buf, s, y):
    for i in y:
        y[i] = sum_near(buf, i, s[i]) * s[i]


@dt.func
def composite(colour, alpha, background):
    c, t = 0.0, 1.0
    for k in range(alpha.shape[0]):
        c += t * alpha[k] * colour[k]
        t *= 1.0 - alpha[k]
    return c + t * background


@composite.backward
def _(colour, alpha, background, d_out):
    # The transmittance of each layer is made again from that of the next: nothing is kept.
    t = 1.0
    for k in range(alpha.shape[0]):
        t *= 1.0 - alpha[k]
    d_background = d_out * t
    behind = background
    for j in range(alpha.shape[0]):
        k = alpha.shape[0] - 1 - j
        t /= 1.0 - alpha[k]
        colour.grad_out[k] += d_out * t * alpha[k]
        alpha.grad_out[k] += d_out * t * (colour[k] - behind)
        behind = alpha[k] * colour[k] + (1.0 - alpha[k]) * behind
    return d_background


@program(
    colour=floats(40, low=0.1, high=0.9),
    alpha=floats(40, low=0.05, high=0.6),
    background=floats(2),
    y=floats(2),
)
def undoing_the_loop(colour, alpha, background, y):  # MX2
    for i in y:
        y[i] = composite(colour, alpha, background[i]) ** 2


@dt.func
def step(c, t, colour, alpha):
    return c + t * alpha * colour, t * (1.0 - alpha)


@dt.func
def composite_by_steps(colour, alpha):
    c, t = 0.0, 1.0
    for k in range(alpha.shape[0]):
        c, t = step(c, t, colour[k], alpha[k])
    return c


@composite_by_steps.backward
def _(colour, alpha, d_out):
    c, t = 0.0, 1.0
    for k in range(alpha.shape[0]):
        c, t = step(c, t, colour[k], alpha[k])
    d_c, d_t = d_out, 0.0
    for j in range(alpha.shape[0]):
        k = alpha.shape[0] - 1 - j
        t /= 1.0 - alpha[k]
        c -= t * alpha[k] * colour[k]
        d_c, d_t, d_colour, d_alpha = dt.bwd_diff(step)(c, t, colour[k], alpha[k], (d_c, d_t))
        colour.grad_out[k] += d_colour
        alpha.grad_out[k] += d_alpha


@program(colour=floats(30, low=0.1, high=0.9), alpha=floats(30, low=0.05, high=0.6), y=floats(2))
def undoing_with_derived_steps(colour, alpha, y):  # MX2
    for i in y:
        y[i] = composite_by_steps(colour, alpha) * (i + 1)


@dt.func
def area(ball):
    return ball.r * ball.r * ball.n + ball.pos.norm_sqr()


@area.backward
def _(ball, d_out):
    return Ball(pos=2 * ball.pos * d_out, r=2 * ball.r * ball.n * d_out, n=0)


@dt.func
def moved(ball, by):
    return Ball(pos=ball.pos + by, r=ball.r * by.x, n=ball.n + 1), by.norm_sqr()


@moved.backward
def _(ball, by, d_out):
    d_ball, d_size = d_out
    d_by = d_ball.pos + ti.Vector([d_ball.r * ball.r, 0.0]) + 2 * by * d_size
    return Ball(pos=d_ball.pos, r=d_ball.r * by.x, n=0), d_by


@program(x=floats(3, element=(2,)), r=floats(3), y=floats(3))
def structs_and_tuples(x, r, y):
    for i in x:
        ball = Ball(pos=x[i], r=r[i], n=2)
        other, size = moved(ball, x[i] * r[i])
        y[i] = area(other) * size + other.r


@dt.func
def energy(p, q, k):
    return k * ((p - q).norm() - 1.0) ** 2


@program(
    p=floats(4, element=(2,)), q=floats(4, element=(2,)), k=floats(), f=floats(4, element=(2,))
)
def forces_from_an_energy(p, q, k, f):
    for i in p:
        d_p, d_q, d_k = dt.bwd_diff(energy)(p[i], q[i] + 3.0, k[None], 1.0)
        f[i] = -d_p + 0.5 * d_q * d_k
        f[i] += dt.fwd_diff(energy)(p[i], q[i] + 3.0, k[None], d_p, d_q, 0.5)


@dt.func
def quartic(x):
    s = x
    for _ in ti.static(range(3)):
        s = s * x
    return s


@dt.func
def quartic_slope(x):
    return dt.bwd_diff(quartic)(x, 1.0)


@program(
    x=array([2.0, -1.0]),
    y=floats(2),
    expected={"y": [12 * 4.0, 12.0]},
    gradients={"x": [48.0, -24.0]},
    seeds={"y": 1},
)
def derivatives_of_derivatives(x, y):
    for i in x:
        y[i] = dt.fwd_diff(quartic_slope)(x[i], 1.0)


@program(x=floats(4, low=-1, high=1), y=floats(4))
def guarded_by_select(x, y):
    for i in x:
        y[i] = ti.select(x[i] > 0.2, hypotenuse(x[i], x[i] * 2.0), sine(x[i]))


@dt.func
def work(x, buf, n):
    s = x
    for k in range(n):
        s = ti.sin(s * buf[k]) + 0.5 * s
    return s * x


@program(x=floats(3), buf=floats(50), y=floats(3))
def slopes_of_long_loops(x, buf, y):
    for i in x:
        y[i] = dt.bwd_diff(work)(x[i], buf, 40 + i, x[i] + 1.0)
