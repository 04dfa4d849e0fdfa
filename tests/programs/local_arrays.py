"""Arrays of a thread, whose elements are stored and added to at indices known at run time."""

import difftile as dt
from difftile import ti
from tests.harness import floats, ints, program

N = 5


@dt.func
def filled(x, s):
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            x[i, k] = ti.sin(s * (i + 1) + 0.3 * k)


@dt.func
def made(s):
    y = dt.local(4)
    for i in range(4):
        y[i] = s * s + i
    return y


@program(a=floats(3), parent=ints([0, 0, 1, 1, 2]), out=floats(3))
def a_tree(a, parent, out):
    for w in a:
        x = dt.local((N, 3))
        v = dt.local(N, ti.math.vec3)
        filled(x, a[w])
        v[0] = ti.math.vec3(1.0, 2.0, 3.0) * a[w]
        for b in range(1, N):
            p = v[ti.min(parent[b], b - 1)]
            v[b] = p * p.yzx + ti.math.vec3(x[b, 0], x[b, 1], x[b, 2])
            v[b].y += ti.sin(a[w])
        y = made(a[w])
        if a[w] > 0.5:
            y[1] -= 2.0 * y[0]
        out[w] += v[N - 1].x * v[N - 1].x + v[2].y * v[3][2] + y[w % 4] * x[w, w]


@program(a=floats(3, N), parent=ints([0, 0, 1, 1, 2]), out=floats(3))
def sums_to_parents(a, parent, out):
    for w in range(3):
        f = dt.local(N)
        for b in range(N):
            f[b] += a[w, b] * a[w, b]
        for k in range(N - 1):
            b = N - 1 - k
            f[parent[b]] += 0.5 * f[b]
        for b in range(N):
            out[w] += f[b] * f[b]


@program(a=floats(4), out=floats(4))
def overwritten_many_times(a, out):
    for w in a:
        x = dt.local((2, 2))
        x[0, 0] = a[w]
        x[1, 1] = 0.5
        for step in range(4):
            for i in range(2):
                x[i, 1 - i] = ti.sin(x[i, i]) * x[1 - i, i] + a[w]
                x[i, i] *= x[i, 1 - i]
        out[w] = x[0, 0] * x[1, 0] + x[1, 1]


@program(a=floats(4), n=5, out=floats())
def a_new_one_in_each_turn(a, n, out):
    for w in a:
        s = 1.0
        for step in range(n):
            x = dt.local(3)
            for i in range(3):
                x[i] = s * a[w] + i
            x[step % 3] += a[w] * s
            s = ti.tanh(x[0] * x[1] - x[2])
        out[None] += s


@program(a=floats(6), out=floats(6), n=3)
def one_thread(a, out, n):
    x = dt.local(6, float)
    for i in range(6):
        x[i] = a[i] * a[(i + 1) % 6]
    s = 0.0
    for i in range(6):
        s += x[i] * x[5 - i]
    for i in range(n):
        out[i] += x[i] * s


@program(a=floats(3, element=(2, 2)), k=ints([1, 0, 1]), out=floats(3, element=(2, 2)))
def components_at_run_time(a, k, out):
    for w in a:
        m = dt.local((2, 2), ti.types.matrix(2, 2, float))
        n = dt.local(3, int)
        n[k[w]] = 1
        for i, j in ti.ndrange(2, 2):
            m[i, j] = a[w] * (i + 2 * j + 1)
        m[1, n[k[w]]][k[w], 0] += a[w][0, 0] * a[w][1, 1]
        m[0, 1][1, k[w]] = 3.0 * a[w][0, k[w]]
        out[w] = m[1, n[0]] @ m[0, 1] + m[1, 1]


@program(a=floats(40), out=floats(3))
def longer_loops(a, out):
    for w in range(3):
        q = dt.local(40)
        v = 0.5
        x = 0.2
        for t in range(40):
            v += 0.1 * (a[t] - ti.sin(x))
            x += 0.1 * v
            q[t] = x * x
        out[w] = q[39] * q[20 + w]
