"""Locals whose components change at indices known at run time: copies, swaps, branches, loops."""

import taichi as ti

import difftile as dt
from tests.harness import array, floats, ints, program

N = 6


@program(
    x=array([[1, 2, 3], [4, 5, 6]], (3,)),
    k=ints([2, 0]),
    y=floats(2, element=(3,)),
    z=floats(2),
    expected={"y": [[1, 2, 3], [4, 5, 6]], "z": [9 + 1, 16 + 5]},
    gradients={"x": [[1 + 1, 1, 1 + 6], [1 + 8, 1 + 1, 1]]},
    seeds={"y": 1, "z": 1},
)
def a_copy_stays_as_it_was(x, k, y, z):
    for i in x:
        v = x[i]
        w = v
        w[k[i]] *= w[k[i]]
        y[i] = v
        z[i] = w[k[i]] + v[(k[i] + 1) % 3]


@program(x=floats(3, N), k=ints([1, 4, 0]), y=floats(3))
def both_are_changed(x, k, y):
    for i in range(3):
        v = ti.Vector([x[i, j] for j in range(N)])
        w = v
        for j in range(N):
            v[j] = ti.sin(v[j] * w[(j + k[i]) % N])
            w[(j + 2) % N] += v[j] * 0.5
        y[i] = v.dot(w)


@program(x=floats(3, element=(N,)), y=floats(3, element=(N,)))
def names_trade_places(x, y):
    for i in x:
        old = x[i]
        new = old
        for step in range(5):
            for j in range(N):
                left = old[ti.max(j - 1, 0)]
                new[j] = old[j] + 0.3 * ti.tanh(left - old[j]) * step
            t = old
            old = new
            new = t
        y[i] = old - 0.25 * new


@program(x=floats(4, element=(N,)), k=ints([0, 5, 3, 2]), y=floats(4))
def in_branches(x, k, y):
    for i in x:
        v = x[i]
        before = v[k[i]]
        if before > 0:
            v[k[i]] = before * before
            v[(k[i] + 1) % N] -= v[k[i]]
        elif k[i] > 2:
            v[0] = v[k[i]] * before
        w = v
        if v[0] < v[1]:
            w[k[i]] = 2.0
        y[i] = v.dot(w) * before


@program(x=floats(4, element=(3,)), k=ints([0, 1, 3, 2]), y=floats(4))
def one_side_of_a_branch_is_another_vector(x, k, y):
    for i in x:
        v = x[i]
        w = x[(i + 1) % 4]
        for j in range(4):
            if k[j] < 2:
                v[k[j]] += w[j % 3] * v[2]
            else:
                v = w * 0.5
            w[j % 3] *= 1.1
        y[i] = v.norm_sqr()


@program(x=floats(3, 4, 4), y=floats(3))
def a_determinant_by_elimination(x, y):
    for p in range(3):
        m = ti.Matrix([[x[p, i, j] for j in range(4)] for i in range(4)])
        det = 1.0
        for k in range(4):
            best = k
            for i in range(k + 1, 4):
                if ti.abs(m[i, k]) > ti.abs(m[best, k]):
                    best = i
            if best != k:
                det = -det
                for j in range(4):
                    t = m[k, j]
                    m[k, j] = m[best, j]
                    m[best, j] = t
            det *= m[k, k]
            for i in range(k + 1, 4):
                f = m[i, k] / m[k, k]
                for j in range(k, 4):
                    m[i, j] -= f * m[k, j]
        y[p] = det


@program(x=floats(3, 7), y=floats(3, 7))
def a_sort_by_insertion(x, y):
    for p in range(3):
        v = ti.Vector([x[p, k] for k in range(7)])
        for i in range(1, 7):
            j = i
            while j > 0 and v[j - 1] > v[j]:
                t = v[j]
                v[j] = v[j - 1]
                v[j - 1] = t
                j -= 1
        for i in range(7):
            y[p, i] = v[i] * (i + 1)


@program(x=floats(2, 24), w=floats(24), y=floats(2))
def a_histogram(x, w, y):
    for p in range(2):
        h = ti.Vector([0.0] * 64)
        for i in range(24):
            h[int((x[p, i] + 1.5) * 20) % 64] += w[i] * x[p, i]
        for b in range(1, 64):
            h[b] += 0.5 * h[b - 1] * h[b - 1]
        y[p] = h.dot(h)


@program(x=floats(3, 5), y=floats(3))
def a_table_of_best_sums(x, y):
    for p in range(3):
        best = ti.Vector([0.0] * 9)
        for i in range(5):
            for c in range(8):
                k = 8 - c
                take = best[ti.max(k - i - 1, 0)] + x[p, i] * (1 + x[p, i])
                if k > i and take > best[k]:
                    best[k] = take
        y[p] = best[8] * best[4]


@program(x=floats(2, N), n=260, y=floats(2))
def in_a_long_loop(x, n: int, y):
    for p in range(2):
        v = ti.Vector([x[p, k] for k in range(N)])
        for step in range(n):
            k = step % N
            v[k] = 0.99 * ti.sin(v[k] + 0.1 * v[(k + 1) % N])
        y[p] = v.sum()


@program(x=floats(2, N), n=9, y=floats(2))
def made_anew_in_each_iteration(x, n: int, y):
    for p in range(2):
        s = 0.3
        for step in range(n):
            v = ti.Vector([0.0] * N)
            for k in range(1, N):
                v[k] = v[k - 1] * s + x[p, k]
            s = ti.sin(v[N - 1] * v[step % N])
        y[p] = s


@program(x=floats(3, element=(4,)), k=ints([0, 3, 1]), y=floats(3))
def until_it_is_small(x, k, y):
    for i in x:
        v = x[i]
        steps = 0
        while ti.abs(v[k[i]]) > 0.05 and steps < 30:
            v[k[i]] *= 0.7 * ti.cos(v[(k[i] + steps) % 4])
            steps += 1
            if steps % 5 == 4:
                continue
            v[(k[i] + 1) % 4] += v[k[i]]
        y[i] = v.sum()


@program(x=floats(3, N), y=floats(3))
def left_early(x, y):
    for p in range(3):
        v = ti.Vector([x[p, k] for k in range(N)])
        total = 0.0
        for i in range(N):
            if v[i] < -0.8:
                break
            v[(i + 1) % N] += v[i] * v[i]
            total += v[(2 * i) % N]
        y[p] = total * v[2]


@dt.func
def rotated(v: ti.template(), by):
    first = v[0]
    for k in range(v.n - 1):
        v[k] = v[k + 1] * by
    v[v.n - 1] = first


@dt.func
def with_one_more(v, at):
    v[at] += 1.0
    return v * v


@program(x=floats(3, element=(5,)), k=ints([4, 1, 2]), y=floats(3))
def through_funcs(x, k, y):
    for i in x:
        v = x[i]
        w = with_one_more(v, k[i])
        rotated(v, w[k[i]])
        rotated(w, 0.5)
        y[i] = v.dot(w)


Particle = ti.types.struct(pos=ti.types.vector(3, float), mass=float)


@program(x=floats(3, element=(3,)), k=ints([2, 0, 1]), y=floats(3))
def members_of_structs(x, k, y):
    for i in x:
        p = Particle(pos=x[i], mass=1.5)
        q = p
        for j in range(4):
            p.pos[(k[i] + j) % 3] *= q.pos[j % 3] + p.mass
            q.mass += p.pos[j % 3]
        y[i] = p.pos.dot(q.pos) * q.mass


@program(x=floats(3, 5), y=floats(3))
def integers_and_flags(x, y):
    for p in range(3):
        stack = ti.Vector([0] * 5)
        top = 0
        for i in range(5):
            while top > 0 and x[p, stack[top - 1]] < x[p, i]:
                top -= 1
            stack[top] = i
            top += 1
        total = 0.0
        for k in range(top):
            total += x[p, stack[k]] * x[p, stack[k]]
        y[p] = total


@program(x=floats(5), y=floats(5))
def before_a_parallel_loop(x, y):
    v = ti.Vector([0.0] * 5)
    for _ in range(1):
        pass
    for i in range(5):
        w = v
        w[i] = x[i]
        w[(i + 1) % 5] += w[i] * w[i]
        y[i] = w.sum() + v[i]


@program(x=floats(3, element=(3, 3)), k=ints([0, 2, 1]), y=floats(3))
def rows_and_columns(x, k, y):
    for i in x:
        m = x[i]
        m[k[i], :] = m[(k[i] + 1) % 3, :] * 2.0
        m[:, k[i]] += m[:, (k[i] + 2) % 3] * m[k[i], 1]
        y[i] = m.determinant() + m[k[i], k[i]]


@program(x=floats(3, 20), y=floats(3))
def literal_places_of_a_long_vector(x, y):
    for p in range(3):
        v = ti.Vector([x[p, k] for k in range(20)])
        for j in range(3):
            v[3] = v[3] * v[4]
            v[j] += v[17]
            if v[j] > 0:
                v[19] = v[3] - v[j]
        y[p] = v[19] * v[3] + v.sum()


@program(x=floats(1, 40), n=50, y=floats(1))
def a_long_vector_in_a_long_loop(x, n: int, y):
    for p in range(1):
        v = ti.Vector([x[p, k] for k in range(40)])
        for step in range(n):
            k = (7 * step) % 40
            v[k] = 0.9 * ti.sin(v[k] + 0.3 * v[(k + 11) % 40])
        steps = 0
        while steps < 40 and v[steps] < 1.4:
            v[steps] = v[(steps + 20) % 40] * v[steps]
            steps += 1
        y[p] = v.dot(v)
