"""Funcs that random kernels call: of every form, some with rules that are wrong on purpose.

A rule that is not the derivative of its func shows whether the rule was used. The hunt
executes this text as plain Python, too.
"""

import taichi as ti

import difftile as dt


@dt.func
def squared(a):
    return a * a


@dt.func
def chosen(a, b=0.5):
    if a > b:
        return ti.tanh(a)
    return ti.sin(b) * a


@dt.func
def both(a, b):
    c = ti.sin(a)
    return c * b, b - c


@dt.func
def first_above(a, low):
    s = 1.0 * a
    for k in range(4):
        s = 0.5 * s + ti.sin(a * (k + 1))
        if s > low:
            return s * s
    return s - low


@dt.func
def halving(a):
    s = 1.0 * a
    steps = 0
    while ti.abs(s) > 0.3 and steps < 5:
        s = 0.6 * s * ti.cos(s)
        steps += 1
    return s + steps


@dt.func
def element(f, i):
    return f[i] * 0.5


@dt.func
def put(f, i, value):
    f[i] = ti.sin(value) + 0.1


@dt.func
def ruled(a):
    return a * a * a


@ruled.backward
def _(a, d_out):
    return d_out * ti.cos(a)


@dt.func
def ruled_pair(a, b):
    return ti.floor(3 * a) * b


@ruled_pair.backward
def _(a, b, d_out):
    return d_out * b, d_out * ti.sin(a * b)


@dt.func
def steep(a, b):
    return ti.tanh(a) * b


@steep.backward
def _(a, b, d_out):
    return 2.0 * b * d_out, d_out


@steep.forward
def _(a, b, a_dot, b_dot):
    return 2.0 * b * a_dot + b_dot


@dt.func
def bump(s: ti.template(), value):
    s += ti.sin(value)


@dt.func
def bump_if(s: ti.template(), value, low):
    if value > low:
        bump(s, value)
    else:
        s = s * 0.5


@dt.func
def slope_of_squared(a, d):
    return dt.bwd_diff(squared)(1.0 * a, 1.0 * d)


@dt.func
def slopes_of_both(a, b, d):
    d_a, d_b = dt.bwd_diff(both)(1.0 * a, 1.0 * b, (1.0 * d, 0.5))
    return d_a * d_b


@dt.func
def push_of_both(a, b, a_dot):
    c_dot, d_dot = dt.fwd_diff(both)(1.0 * a, 1.0 * b, 1.0 * a_dot, 0.3)
    return c_dot * d_dot
