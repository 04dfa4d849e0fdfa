"""`return` from loops of funcs, jumps out of unrolled loops and of loops over several indices."""

import taichi as ti

import difftile as dt
from tests.harness import array, floats, program


@dt.func
def first_large(x, n, limit):
    """Return the first large term of a table, from two loops deep; an integer among floats."""
    for k in range(n):
        for j in range(3):
            v = x * k + 0.1 * j
            if v > limit:
                return v * v
    return 0


@dt.func
def escape(x):
    """Return a vector and a count from an endless loop, inside `if` inside `if`."""
    u = ti.Vector([x, 0.5])
    k = 0
    while True:
        u = ti.Vector([u[0] * u[0] - u[1] * u[1] + 0.3, 2 * u[0] * u[1] + x])
        k += 1
        if u.norm() > 2:
            if u[0] > 0:
                return u, k
            return u * 2.0, -k
        elif k >= 12:
            return ti.Vector([u[0], 1.0]), 0


@dt.func
def walk(x, out, i):
    """Leave by a bare `return`, which ends the stores too."""
    for k in range(5):
        if x * k > 2:
            return
        out[i] += x * x * k


@program(x=array([0.3, 1.2, 2.7]), y=floats(3), u=floats(3, element=(2,)), z=floats(3), smooth=True)
def returns_from_loops(x, y, u, z):
    for i in x:
        v = first_large(x[i], 5, 1.5)
        y[i] = v + first_large(v, 2, 0.7)
        p, k = escape(0.4 * x[i])
        u[i] = p * (k + 2)
        walk(x[i], z, i)


@dt.func
def classify(x):
    for k in ti.static(range(4)):
        if x > k:
            if ti.static(k == 2):
                break
            if x < k + 0.5:
                return x * (k + 1)
    return -x * x


@program(
    x=array([0.3, 1.2, 2.7, 0.9]),
    y=floats(4),
    expected={"y": [0.3, 1.2 * 2, -2.7 * 2.7, -0.81]},
    gradients={"x": [1, 2, -5.4, -1.8]},
    seeds={"y": 1},
)
def return_from_an_unrolled_loop(x, y):
    for i in x:
        y[i] = classify(x[i])


@program(x=array([0.3, 1.2, 0.7]), z=floats(3))
def jumps_out_of_two_axes_and_unrolled_loops(x, z):
    for i in x:
        s = 0.0
        for p, q in ti.ndrange(4, (1, 5)):
            if (p + q) % 2 == 0:
                continue
            s += p * q * x[i] * x[i]
            if s > 3:
                break
        t = 1.0
        for k in ti.static(range(5)):
            if t > 2:
                break
            if x[i] < 0.2 * k:
                continue
            t = t * (1 + x[i]) + 0.1 * k
        for k in ti.static(range(3)):
            if ti.static(k == 1):
                continue
            t += k * s
        z[i] = s * t


@program(x=floats(3, 4), y=floats())
def break_of_a_loop_over_a_field(x, y):
    s = 0.0
    ti.loop_config(serialize=True)
    for i, j in x:
        s += x[i, j] * x[i, j]
        if s > 4:
            break
    y[None] = s * s


@program(x=array([1, 2, 3]), expected={"x": [2, 4, 6]}, gradients={"x": [2, 2, 2]})
def return_at_the_top(x):
    for i in x:
        x[i] = 2 * x[i]
    if ti.static(True):
        return
    for i in x:
        x[i] = 0


@program(
    x=array([1, 2, 3]),
    y=array([0, 0, 0]),
    loss=floats(),
    n=0,
    expected={"y": [0, 0, 0]},
    gradients={"x": [0, 0, 0]},
)
def a_kernel_that_has_nothing_to_do(x, y, loss, n: int):
    if n == 0:
        return
    for i in x:
        y[i] = x[i] * x[i]
        loss[None] += y[i]


@program(x=floats(6), y=floats(6), at=floats(6), loss=floats(), flag=array(0.5), n=3, m=0)
def a_kernel_with_several_returns(x, y, at, loss, flag, n: int, m: int):
    """Loops after a `return` stay parallel; bounds and code between them run only if reached."""
    if n < 0:
        return
    elif n == 0:
        k = 1.0
        return
    else:
        k = 0.5 * n
    scale = ti.sin(flag[None]) * k
    total = 0.0
    for i in x:
        y[i] += scale * x[i]
        total += y[i] * y[i]
    if m > 0:
        if total < 100.0:
            return
    last = total * x[n - 1]
    for r in ti.static(range(2)):
        for i in range(n // (m + 1)):
            if x[i] < -0.5:
                continue
            x[i] = x[i] * ti.cos(last) + r + 0.1 * dt.rand()
        if n == 7 + r:
            return
    count = 0
    while count < 4:
        last = ti.sin(last) * total
        count += 1
        if last > 50.0:
            loss[None] = last
            return
    ti.loop_config(serialize=True)
    for i in range(1, n + 3):
        if at[i] > 5.0:
            return
        loss[None] += last * at[i] + x[i]
    for i in x:
        at[i] = x[i] * x[i] + loss[None]
    if flag[None] > 0.0:
        return
    for i in x:
        x[i] = 0.0


@program(x=floats(4), n=2, m=5, y=floats(4))
def a_return_that_bounds_depend_on(x, n: int, m: int, y):
    """Where the kernel returns, nothing after it runs: neither a division nor a read outside."""
    k = m - 5
    if k == 0:
        y[0] = x[0] * x[0]
        return
    step = n // k
    for i in range(x.shape[0] // k, step):
        y[i] = x[i * step]
    y[10 * n] = x[m]
