"""Rules that differ from the derivative of the body, so that one sees which of them is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt


def floats(*values: float) -> Any:
    return dt.from_numpy(np.array(values, np.float64), grad=True)


def outs(n: Any) -> Any:
    return dt.zeros(n, dtype=ti.f64, grad=True)


def gradients(launch, y, *fields, seed=1.0):
    """Return the gradients of some fields for a launch on a tape."""
    with dt.Tape() as tape:
        launch()
    tape.backward({y: np.full(y.shape, seed)})
    found = [field.grad.to_numpy().copy() for field in fields]
    dt.zero_grads((y, *fields))
    return found


# Funcs


@dt.func
def smoothstep(x):
    t = min(max(x, 0.0), 1.0)
    return t * t * (3 - 2 * t)


@dt.func
def activation(i, x):
    return smoothstep(x[i])


@activation.backward
def _(i, x, dy):
    inside = x[i] > 0 and x[i] < 1
    x.grad_out[i] += (6 * x[i] * (1 - x[i]) if inside else 0.0) * dy


def test_a_rule_reaches_the_storage_of_a_field():  # CD6
    @dt.kernel
    def run(x, y):
        for i in x:
            y[i] = activation(i, x)

    x, y = floats(-0.5, 0, 0.25, 0.5, 1, 1.5), outs(6)
    (found,) = gradients(lambda: run(x, y), y, x)
    np.testing.assert_allclose(y.to_numpy(), [0, 0, 0.15625, 0.5, 1, 1])
    np.testing.assert_allclose(found, [0, 0, 1.125, 1.5, 0, 0])


def test_a_body_with_a_rule_is_not_differentiated():
    @dt.func
    def square(x):
        return x * x

    @square.backward
    def _(x, d_out):
        return 10 * x * d_out

    @dt.kernel
    def run(x, y):
        for i in x:
            y[i] = 3 * square(x[i]) + x[i]

    x, y = floats(1, 2), outs(2)
    (found,) = gradients(lambda: run(x, y), y, x)
    np.testing.assert_allclose(found, [31, 61])
    # The tangent follows from the backward rule, not from the body.
    x.grad.fill(1.0)
    run.fwds(x, y)
    np.testing.assert_allclose(y.grad.to_numpy(), [31, 61])


def test_rules_for_funcs_that_one_cannot_edit():  # CD7
    @ti.func
    def opaque(x):
        return 3 * x * x + 100

    @dt.func
    def reference(x):
        return 3 * x * x

    @dt.kernel
    def run(x, y):
        for i in x:
            y[i] = opaque(x[i]) + x[i]

    x, y = floats(3), outs(1)
    dt.register_substitute(opaque, reference)
    (found,) = gradients(lambda: run(x, y), y, x)
    assert (y[0], float(found[0])) == (130, 19)
    dt.register_backward(opaque, lambda x, d_out: 5 * d_out)
    (found,) = gradients(lambda: run(x, y), y, x)
    assert found == 6, "kernels are compiled again when a func is given another rule"
    dt.register_forward(opaque, lambda x, x_dot: 7 * x_dot)
    x.grad.fill(1.0)
    run.fwds(x, y)
    assert y.grad.to_numpy() == 8


def test_a_forward_rule():  # CD9
    @dt.func
    def sine(x):
        return ti.sin(x)

    @sine.forward
    def _(x, x_dot):
        return ti.cos(x) * x_dot

    @dt.kernel
    def run(x, y):
        for i in x:
            y[i] = sine(x[i])

    x, y = floats(0.5), outs(1)
    x.grad.fill(2.0)
    run.fwds(x, y)
    assert y.grad.to_numpy() == pytest.approx(1.755165, abs=1e-6)
    dt.zero_grads((x, y))
    (found,) = gradients(lambda: run(x, y), y, x, seed=2.0)
    assert found == pytest.approx(1.755165, abs=1e-6)


def test_the_adjoint_clipped_inside_a_rule():  # MX1, NS2
    @dt.func
    def inner(x):
        return x**3 + 1

    @dt.func
    def outer(x):
        return inner(x)

    @outer.backward
    def _(x, d_out):
        return dt.bwd_diff(inner)(x, min(max(d_out, -1.0), 1.0))

    @dt.kernel
    def run(x, y):
        for i in x:
            y[i] = 10 * outer(x[i])

    x, y = floats(2), outs(1)
    assert gradients(lambda: run(x, y), y, x) == [12]


def test_stores_of_a_func_with_a_rule():
    @dt.func
    def put(buf, i, v):
        buf[i] = v * v

    @put.backward
    def _(buf, i, v):
        return 5 * v * buf.grad_in[i]

    @dt.kernel
    def run(v, y):
        for i in v:
            put(y, 2 * i, v[i])

    v, y = floats(1, 2), outs(4)
    y.fill(7.0)
    with dt.Tape() as tape:
        run(v, y)
    tape.backward({y: np.array([1.0, 2.0, 3.0, 4.0])}, retain=[y])
    np.testing.assert_allclose(y.to_numpy(), [1, 7, 4, 7])
    np.testing.assert_allclose(v.grad.to_numpy(), [5, 30])


def test_rules_of_methods():
    @dt.data_oriented
    class Spring:
        def __init__(self, k):
            self.k = dt.full((), k, dtype=ti.f64).with_grads()

        @dt.func
        def force(self, x):
            return -self.k[None] * x

        @force.backward
        def _(self, x, d_out):
            self.k.grad_out[None] += 100 * d_out * x
            return -10 * self.k[None] * d_out

        @dt.kernel
        def run(self, x, y):
            for i in x:
                y[i] = self.force(x[i])

    spring, x, y = Spring(2.0), floats(1, 2), outs(2)
    found, k = gradients(lambda: spring.run(x, y), y, x, spring.k)
    np.testing.assert_allclose(found, [-20, -20])
    np.testing.assert_allclose(k, 300)


def test_a_rule_that_is_given_twice():
    @dt.func
    def f(x):
        return x

    @f.backward
    def _(x, d_out):
        return d_out

    with pytest.raises(dt.LaunchError, match="has a backward rule already"):
        f.backward(lambda x, d_out: d_out)
    with pytest.raises(dt.LaunchError, match="a rule is a function, not 3"):
        f.forward(3)
    with pytest.raises(dt.LaunchError, match="is called in kernels and rules"):
        dt.bwd_diff(f)(1.0, 2.0)


# Kernels


@dt.kernel
def squares(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@squares.backward
@dt.kernel
def _(x, y):
    for i in x:
        x.grad_out[i] += 10 * x[i] * y.grad_in[i]


@squares.forward
def _(x, y):
    for i in x:
        y.grad_in[i] = 20 * x[i] * x.grad_out[i]


def test_a_rule_of_a_kernel():  # CD8
    x, y = floats(1, 2), outs(2)
    (found,) = gradients(lambda: squares(x, y), y, x)
    np.testing.assert_allclose(found, [10, 20])
    y.grad.fill(1.0)
    squares.bwds(x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), [10, 20])
    x.grad.fill(1.0)
    squares.fwds(x, y)
    np.testing.assert_allclose(y.grad.to_numpy(), [20, 40])


@pytest.mark.parametrize("options", [{}, {"snapshots": 3}, {"memory": 4000}])
def test_old_values_that_a_rule_reads(options):
    x, y, total = floats(*range(1, 41)), outs(40), outs(())

    @dt.kernel
    def grow(x, y):
        for i in x:
            x[i] = x[i] + 0.5 * y[i]

    @dt.kernel
    def add(x, total):
        for i in x:
            total[None] += x[i]

    start = x.to_numpy()
    with dt.Tape(total, **options):
        for _ in range(6):
            squares(x, y)
            grow(x, y)
        add(x, total)
    expected, value = np.ones(40), start.copy()
    for _ in range(6):
        expected *= 1 + 5 * value
        value = value + 0.5 * value * value
    np.testing.assert_allclose(x.to_numpy(), value)
    np.testing.assert_allclose(x.grad.to_numpy(), expected)


def test_a_rule_of_a_kernel_in_place():
    @dt.kernel
    def double_first(x, n: int):
        for i in range(n):
            x[i] = 2 * x[i] * x[i]

    @double_first.backward
    def _(x, n: int):
        for i in range(n):
            x.grad_out[i] += 100 * x[i] * x.grad_in[i]

    x = floats(1, 2, 3, 4)
    with dt.Tape() as tape:
        double_first(x, 2)
    tape.backward({x: np.array([1.0, 2.0, 3.0, 4.0])})
    np.testing.assert_allclose(x.to_numpy(), [2, 8, 3, 4])
    # Gradients of elements that the kernel did not store pass through.
    np.testing.assert_allclose(x.grad.to_numpy(), [100, 400, 3, 4])
    x.from_numpy(np.array([1.0, 2.0, 3.0, 4.0]))
    x.grad.fill(1.0)
    double_first.bwds(x, 2)
    np.testing.assert_allclose(x.grad.to_numpy(), [100, 200, 1, 1])


def test_a_rule_of_a_kernel_that_adds():
    weights = floats(2, 3)

    @dt.kernel
    def scatter(x, at, y):
        for i in x:
            y[at[i]] += weights[i] * x[i]

    @scatter.backward(approx=True)
    def _(x, at, y):
        for i in x:
            x.grad_out[i] += 10 * weights[i] * y.grad_in[at[i]]
            weights.grad_out[i] += 100 * x[i] * y.grad_in[at[i]]

    x, y, at = floats(1, 5), outs(3), dt.from_numpy(np.array([2, 0], np.int32))
    y.fill(1.0)
    with dt.Tape() as tape:
        scatter(x, at, y)
    tape.backward({y: np.array([1.0, 2.0, 3.0])}, retain=[y])
    np.testing.assert_allclose(y.to_numpy(), [16, 1, 3])
    np.testing.assert_allclose(x.grad.to_numpy(), [60, 30])
    np.testing.assert_allclose(weights.grad.to_numpy(), [300, 500])
    np.testing.assert_allclose(y.grad.to_numpy(), [1, 2, 3])


def test_what_a_kernel_with_a_rule_leaves_in_a_field_without_gradient_is_not_read():
    @dt.kernel
    def count(x, y, hits):
        for i in x:
            y[i] = x[i] * x[i]
            hits[0] += x[i]

    @count.backward
    def _(x, y, hits):
        for i in x:
            x.grad_out[i] += 2 * x[i] * y.grad_in[i]

    @dt.kernel
    def scale(hits, y):
        for i in y:
            y[i] *= hits[0]

    x, y, hits = floats(1, 2), outs(2), dt.zeros(1, dtype=ti.f64)
    with dt.Tape() as tape:
        for _ in range(2):
            count(x, y, hits)
    tape.backward({y: np.ones(2)})
    np.testing.assert_allclose(x.grad.to_numpy(), [2, 4])
    with pytest.warns(dt.GradientCut, match="'hits' has none and is read again"), dt.Tape():
        count(x, y, hits)
        scale(hits, y)
    with dt.Tape():
        count(dt.ones(2, dtype=ti.f64), y, hits)
        scale(hits, y)


def test_rules_of_kernels_on_views_and_structs():
    x, y = floats(1, 2, 3, 4), outs(4)
    with dt.Tape() as tape:
        squares(x[::2], y[1:3])
    tape.backward({y: np.array([1.0, 2.0, 3.0, 4.0])})
    np.testing.assert_allclose(y.to_numpy(), [0, 1, 9, 0])
    np.testing.assert_allclose(x.grad.to_numpy(), [20, 0, 90, 0])


def test_rules_of_kernels_that_do_not_fit():
    @dt.kernel
    def copy(x, y):
        for i in x:
            y[i] = x[i]

    with pytest.raises(
        dt.LaunchError, match=r"has other parameters(?s:.)*takes \(x, z\)(?s:.)*def _\(x, y\)"
    ):

        @copy.backward
        def _(x, z):
            pass

    @copy.backward
    def _(x, y):
        for i in x:
            x.grad_out[i] += x.grad_in[i]

    x, y = floats(1, 2), outs(2)
    with (
        pytest.raises(dt.LaunchError, match=r"'x.grad_in'.*the kernel does not write it"),
        dt.Tape(),
    ):
        copy(x, y)


def test_a_rule_of_a_kernel_with_sums_and_captured_numbers():
    scale = 3.0

    @dt.kernel
    def mean(x, y):
        total = 0.0
        for i in x:
            total += x[i]
        y[None] = total / x.shape[0]

    @mean.backward
    def _(x, y):
        count = 0.0
        for i in x:
            count += 1.0
        for i in x:
            x.grad_out[i] += scale * y.grad_in[None] / count

    x, y = floats(1, 2, 3, 4), outs(())
    (found,) = gradients(lambda: mean(x, y), y, x)
    np.testing.assert_allclose(found, np.full(4, 0.75))
    assert y[None] == 2.5


def test_a_forward_rule_reads_tangents_of_fields():
    @dt.func
    def load(buf, i):
        return buf[i]

    @load.forward
    def _(buf, i):
        return 3 * buf.grad_out[i]

    @dt.kernel
    def run(x, y):
        for i in x:
            y[i] = load(x, i) + x[i]

    x, y = floats(1, 2), outs(2)
    x.grad.from_numpy(np.array([1.0, 0.5]))
    run.fwds(x, y)
    np.testing.assert_allclose(y.grad.to_numpy(), [4, 2])
    dt.zero_grads((x, y))
    with pytest.raises(dt.KernelError, match="has only a forward rule, which reads the tangent"):
        gradients(lambda: run(x, y), y, x)


# Contents before and after a call


@dt.func
def store_exp(buf, i, x):
    buf[i] = ti.exp(x)


@store_exp.backward
def _(buf, i, x):
    return buf.grad_in[i] * buf[i]


@dt.func
def store_exp_by_name(buf, i, x):
    buf[i] = ti.exp(x)


@store_exp_by_name.backward
def _(buf, i, x):
    return buf.grad_in[i] * buf.after[i] + 0.0 * buf.before[i]


@dt.func
def grow(buf, i, x):
    buf[i] = ti.exp(x) * buf[i]


@grow.backward
def _(buf, i, x):
    return buf.grad_in[i] * (buf.after[i] + 0.5 * ti.exp(x) * (buf[i] - buf.before[i]))


@dt.func
def grow_by_old(buf, i, x):
    buf[i] = ti.exp(x) * buf[i]


@grow_by_old.backward
def _(buf, i, x):
    return buf.grad_in[i] * ti.exp(x) * buf[i]


FUNCS = [store_exp, store_exp_by_name, grow, grow_by_old]


def in_parallel(f):
    @dt.kernel
    def run(x, buf):
        for i in x:
            f(buf, i, x[i])

    return run


def in_order(f):
    @dt.kernel
    def run(x, buf):
        ti.loop_config(serialize=True)
        for i in x:
            f(buf, i, x[i])

    return run


def in_two_loops(f):
    @dt.kernel
    def run(x, buf):
        for i in range(2):
            for k in range(2):
                f(buf, 2 * i + k, x[2 * i + k])

    return run


def before_another_stage(f):
    @dt.kernel
    def run(x, buf):
        for i in x:
            f(buf, i, x[i])
        for i in x:
            buf[i] = 2.0 * buf[i] + 1.0

    return run


def after_another_stage(f):
    @dt.kernel
    def run(x, buf):
        for i in x:
            buf[i] = 2.0 * buf[i] * buf[i]
        for i in x:
            f(buf, i, 2.0 * x[i])

    return run


def two_calls(f):
    @dt.kernel
    def run(x, buf):
        for i in range(2):
            f(buf, 2 * i, x[i])
            f(buf, 2 * i + 1, x[i + 2])

    return run


@pytest.mark.parametrize(
    "around",
    [in_parallel, in_order, in_two_loops, before_another_stage, after_another_stage, two_calls],
)
def test_rules_of_funcs_read_what_was_found_and_what_was_left(around):
    for f in FUNCS:
        kernel = around(f)
        x, buf = floats(0.1, 0.2, -0.3, 0.4), floats(3, -4, 5, 6)
        # The func has no gradient for the values it overwrites: only by `x`.
        report = dt.gradcheck(lambda: kernel(x, buf), x, outputs=buf)  # noqa: B023
        assert report, f"{f}: {report}"
        found = []
        for limits in ({}, {"memory": "10kB"}, {"snapshots": 8}):
            x, buf = floats(0.1, 0.2, -0.3, 0.4), floats(3, -4, 5, 6)
            with dt.Tape(**limits) as tape:
                for _ in range(3):
                    kernel(x, buf)
                    buf.fill(7.0)
                kernel(x, buf)
            tape.backward({buf: 1.0})
            found.append(x.grad.to_numpy())
        np.testing.assert_allclose(found, [found[0]] * 3)


def test_rules_of_kernels_read_what_was_found_and_what_was_left():
    @dt.kernel
    def run(x, buf):
        for i in x:
            buf[i] = ti.exp(x[i]) * buf[i]

    @run.backward
    @dt.kernel
    def _(x, buf):
        for i in x:
            x.grad_out[i] += buf.grad_in[i] * buf.after[i]
            buf.grad_out[i] += buf.grad_in[i] * buf.after[i] / buf.before[i]
            buf.grad_out[i] += buf[i] - buf.before[i]

    @dt.kernel
    def fresh(x, buf):
        for i in x:
            buf[i] = ti.exp(x[i])

    @fresh.backward
    @dt.kernel
    def _(x, buf):
        for i in x:
            x.grad_out[i] += buf.grad_in[i] * (0.5 * (buf[i] + buf.after[i]) + 0.0 * buf.before[i])

    for kernel in (run, fresh):
        x, buf = floats(0.1, 0.2), floats(3, 4)
        dt.gradcheck(kernel, (x, buf), strict=True)
        dt.check_rule(kernel, x, buf, strict=True)
        found = []
        for limits in ({}, {"memory": "10kB"}, {"snapshots": 3}):
            x, buf = floats(0.1, 0.2), floats(3, 4)
            with dt.Tape(**limits) as tape:
                for _ in range(5):
                    kernel(x, buf)
            tape.backward({buf: 1.0})
            found.append([x.grad.to_numpy(), buf.grad.to_numpy()])
        factors = np.exp(5 * np.array([0.1, 0.2])) if kernel is run else np.zeros(2)
        np.testing.assert_allclose(found, [found[0]] * 3)
        np.testing.assert_allclose(found[0][1], factors)
        buf.grad.fill(1.0)
        x.grad.clear()
        held = buf.to_numpy()
        kernel.bwds(x, buf)
        left = np.exp(x.to_numpy()) * (held if kernel is run else 1.0)
        np.testing.assert_allclose(x.grad.to_numpy(), left)


def test_fields_of_structs_are_read_before_and_after():
    @dt.func
    def store(p, i, x):
        p[i].pos = ti.exp(x)

    @store.backward
    def _(p, i, x):
        return p.grad_in[i].pos * p.after[i].pos + 0.0 * p.before[i].pos

    @dt.kernel
    def run(x, p):
        for i in x:
            store(p, i, x[i])

    p = dt.field(ti.types.struct(pos=ti.f64, n=ti.i32), 2, grad=True)
    x = floats(0.1, 0.2)
    with dt.Tape() as tape:
        run(x, p)
    tape.backward({p.pos: 1.0})
    np.testing.assert_allclose(x.grad.to_numpy(), np.exp([0.1, 0.2]))


def test_results_of_a_run_before_hide_nothing():
    @dt.func
    def wrong(buf, i, x):
        buf[i] = ti.exp(x)

    @wrong.backward
    def _(buf, i, x):
        return buf.grad_in[i] * buf.before[i]

    @dt.kernel
    def by_func(x, buf):
        for i in x:
            wrong(buf, i, x[i])

    @dt.kernel
    def alone(x, buf):
        for i in x:
            buf[i] = ti.exp(x[i])

    @alone.backward
    @dt.kernel
    def _(x, buf):
        for i in x:
            x.grad_out[i] += buf.grad_in[i] * buf.before[i]

    x, buf = floats(0.1, 0.2), floats(0, 0)
    for kernel in (by_func, alone):
        kernel(x, buf)
        held = buf.to_numpy()
        assert not dt.gradcheck(kernel, (x, buf))
        np.testing.assert_array_equal(buf.to_numpy(), held)
    assert not dt.check_rule(alone, x, buf)
    assert not dt.check_rule(wrong, buf, 0, 0.1)
    assert dt.check_rule(store_exp, buf, 1, 0.1)
    assert dt.check_rule(grow, floats(2, 3), 1, domain={"x": (-1.0, 1.0)}).label is not None


# Rules on the gradients of a backward pass themselves


@dt.kernel
def some_squares(x, y, n: int):
    for i in range(n):
        y[i] = x[i] * x[i]


@some_squares.backward
@dt.kernel
def _(x, y, n: int):
    for i in range(n):
        x.grad_out[i] += 3.0 * x[i] * y[i] * y.grad_in[i]


@dt.kernel
def grown(x, y):
    for i in x:
        y[i] += x[i]


@grown.backward
@dt.kernel
def _(x, y):
    for i in x:
        x.grad_out[i] += 5.0 * y.grad_in[i]


@dt.kernel
def halved(x, y):
    for i in x:
        y[i] = 0.5 * x[i]


@halved.backward
@dt.kernel
def _(x, y):
    for i in x:
        x.grad_out[i] += 2.0 * y.grad_in[i]


@pytest.mark.parametrize("case", ["plain", "accumulated", "apart", "constant", "one"])
def test_a_rule_in_place_gives_the_gradients_of_one_that_works_apart(case, monkeypatch):
    def found():
        x, y, z = floats(1, 2, 3, 4), floats(5, 6, 7, 8), floats(1, -1, 2, -2)
        if case == "constant":
            x = x.detach()
        if case == "apart":
            y = y.detach().with_grads(grad_in=dt.zeros(4, ti.f64), grad_out=dt.zeros(4, ti.f64))
        if case == "one":  # a gradient that two fields share
            z = z.detach().with_grads(grad_in=x.grad, grad_out=x.grad)
        with dt.Tape(accumulate=case == "accumulated") as tape:
            some_squares(x, y, 3)  # one element of y passes
            grown(x, z)
            halved(z, y)
            some_squares(y, z, 2)
        tape.backward({z: np.arange(1.0, 5.0), y: 2.0})
        fields = (y, z) if case == "constant" else (x, y, z)
        return [one.grad_out.to_numpy().copy() for one in fields]

    in_place = found()
    never = lambda step, record, gradient: False  # noqa: E731
    monkeypatch.setattr("difftile.runtime.ruled_launch.RuledLaunch.reverse_in_place", never)
    for one, other in zip(in_place, found(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_rule_copies_no_gradients(monkeypatch):
    x, y = floats(1, 2, 3), floats(4, 5, 6)
    copied = []
    for name in ("copy_from", "add"):
        monkeypatch.setattr(f"difftile.substrate.Buffer.{name}", lambda *args: copied.append(args))
    (found,) = gradients(lambda: some_squares(x, y, 2), y, x)
    np.testing.assert_array_equal(found, [3.0, 24.0, 0.0])
    assert not copied


@dt.func
def quotient(x):
    return max(1.0 / x, 0.25)


@dt.kernel
def quotients(x, y):
    for i in x:
        y[i] = quotient(x[i])


@quotients.backward
@dt.kernel
def _(x, y):
    for i in x:
        x.grad_out[i] += dt.bwd_diff(quotient)(x[i], y.grad_in[i])


def test_the_transpose_of_a_rule_made_of_derivatives():
    x, y = floats(-1.0, 0.5, 1.0, 3.0), outs(4)
    x.grad.from_numpy(np.array([1.0, 2.0, -1.0, 0.5]))
    quotients.fwds(x, y)
    at = x.to_numpy()
    slope = np.where(at > 0.0, -1.0, 0.0) / at**2
    np.testing.assert_allclose(y.grad.to_numpy(), slope * x.grad.to_numpy(), rtol=1e-14)


def test_a_rule_tells_fields_apart_that_its_func_writes() -> None:
    """Given one field twice, a rule could not say which contents it reads."""

    @dt.func
    def shift(x, y):
        for i in range(2):
            y[i] = 2.0 * x[i]

    @shift.backward
    def _(x, y):
        for i in range(2):
            x.grad_out[i] += 2.0 * y.grad_in[i] + 0.0 * y[i]

    @dt.kernel
    def both(x, y):
        for _ in range(1):
            shift(x, y)

    x = dt.from_numpy(np.ones(2), grad=True)
    y = dt.zeros_like(x)
    both(x, y)
    with pytest.raises(dt.KernelError) as raised:
        both(x, x)
    assert (
        "'shift' has a rule, and writes a field that is two of its arguments, 'x' and 'y'."
        in str(raised.value)
    )
    assert "'x.before' or 'x.after'" in str(raised.value)


def test_the_rule_of_a_func_stands_for_those_of_the_funcs_that_it_calls() -> None:
    @dt.func
    def inner(x, y):
        for i in range(2):
            y[i] = x[i]

    @inner.backward
    def _(x, y):
        for i in range(2):
            x.grad_out[i] += 100.0 * y.grad_in[i]

    @dt.func
    def outer(x, y):
        inner(x, y)
        for i in range(2):
            y[i + 2] = x[i]

    @outer.backward
    def _(x, y):
        for i in range(2):
            x.grad_out[i] += 3.0 * y.grad_in[i]

    @dt.kernel
    def twice(x, y):
        outer(x, y)
        outer(x, y)

    x, y = dt.from_numpy(np.ones(2), grad=True), dt.zeros(4, dtype=ti.f64, grad=True)
    with dt.Tape() as tape:
        twice(x, y)
    tape.backward({y: np.ones(4)})
    np.testing.assert_array_equal(x.grad.to_numpy(), [3.0, 3.0])  # y is stored anew
    assert not y.grad.to_numpy().any()


def test_a_rule_that_adds_to_the_gradient_of_a_field_that_its_kernel_overwrites() -> None:
    @dt.kernel
    def move(x, z):
        for i in x:
            z[i] = 3.0 * x[i]
            x[i] = 0.0

    @move.backward
    def _(x, z):
        for i in x:
            x.grad_out[i] += 3.0 * z.grad_in[i]

    x, z = floats(1, 2), outs(2)
    (found,) = gradients(lambda: move(x, z), z, x, seed=2.0)
    np.testing.assert_array_equal(found, [6, 6])


def test_a_rule_reads_the_field_that_a_name_stands_for_at_the_launch() -> None:
    weights = floats(0, 0)

    @dt.kernel
    def same(x, y):
        for i in x:
            y[i] = x[i]

    @same.backward
    def _(x, y):
        for i in x:
            x.grad_out[i] += weights[i] * y.grad_in[i]

    x, y = floats(1, 2), outs(2)
    for numbers in ((1, 2), (10, 20)):
        weights = floats(*numbers)
        (found,) = gradients(lambda: same(x, y), y, x)
        np.testing.assert_array_equal(found, numbers)
