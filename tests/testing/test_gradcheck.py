"""`dt.gradcheck`: right gradients pass, and wrong ones are found and named."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.testing.gradcheck_report import Verdict

# Kernels that several tests share, so that each is compiled once.


@dt.kernel
def poly(a: float, b: float, c: float, x, y):
    for i in x:
        y[i] = a * x[i] * x[i] + b * x[i] + c


@dt.kernel
def step(x, v, k, h: float):
    for i in x:
        v[i] -= h * k[None] * ti.sin(x[i])
        x[i] += h * v[i]


@dt.kernel
def energy(x, loss):
    for i in x:
        loss[None] += 0.5 * x[i] * x[i]


def make(n: int = 4, dtype: Any = ti.f32) -> dict[str, Any]:
    """Return the fields of a small simulation."""
    return {
        "x": dt.from_numpy(np.linspace(0.5, 2.0, n), dtype=dtype, grad=True),
        "v": dt.zeros(n, dtype, grad=True),
        "k": dt.full((), 0.8, dtype, grad=True),
        "loss": dt.zeros((), dtype, grad=True),
    }


def simulation(fields: dict[str, Any], steps: int = 100) -> Any:
    """Return a function of launches over some fields."""
    x, v, k, loss = fields.values()

    def simulate() -> dt.Field:
        v.fill(0.0)
        loss.fill(0.0)
        for _ in range(steps):
            step(x, v, k, 0.05)
        energy(x, loss)
        return loss

    return simulate


def wrong(report: dt.GradCheck) -> list[str]:
    """Return the places that a report calls wrong."""
    return [p.place for p in report.probes if p.verdict is Verdict.WRONG and p.field]


def masked(report: dt.GradCheck) -> str:
    """Return the text of a report without the size of rounding errors."""
    return re.sub(r"\d\.?\d*e[-+]\d\d", "~", str(report))


# Passing checks, and unchanged state


def test_a_polynomial_passes() -> None:  # FD2
    x = dt.from_numpy(np.array([1.0, 2.0, 3.0, 4.0], np.float32), grad=True)
    y = dt.zeros(4, grad=True)
    report = dt.gradcheck(poly, (2.0, 8.0, -1.0, x, y))
    assert report
    assert report.passed
    assert report.raise_if_failed() is report
    assert [p.place for p in report.probes if p.field] == ["x[0]", "x[1]", "x[2]", "x[3]"]
    assert report.skipped == {"a": "number", "b": "number", "c": "number"}
    assert all(p.difference < 1e-9 for p in report.probes)


def test_fields_stay_as_they_were() -> None:
    fields = make()
    simulate = simulation(fields, 3)
    simulate()
    other = dt.ones(3, grad=True)
    other.grad.fill(3.0)
    fields["x"].grad.fill(7.0)
    fields["x"].grad_in = dt.zeros_like(fields["x"], grad=False)  # and buffers of their own
    before = {name: (f.to_numpy(), f.grad.to_numpy(), f.dtype) for name, f in fields.items()}
    gradients = [(f.grad_in, f.grad_out) for f in fields.values()]
    buffers = [f.storage.buffer for f in fields.values()]
    assert dt.gradcheck(simulate)
    for name, field in fields.items():
        contents, gradient, dtype = before[name]
        np.testing.assert_array_equal(field.to_numpy(), contents)
        np.testing.assert_array_equal(field.grad.to_numpy(), gradient)
        assert field.dtype is dtype
    assert [(f.grad_in, f.grad_out) for f in fields.values()] == gradients
    assert [f.storage.buffer for f in fields.values()] == buffers
    assert other.grad.to_numpy().tolist() == [3, 3, 3]
    simulate()  # in single precision again


def test_fields_stay_as_they_were_after_an_error() -> None:
    x = dt.ones(3, grad=True)

    def broken() -> None:
        x.fill(2.0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        dt.gradcheck(broken, x)
    assert x.to_numpy().tolist() == [1, 1, 1]
    assert x.dtype is ti.f32
    assert dt.ones(2).dtype is ti.f32


def test_a_pending_tape_is_not_disturbed() -> None:
    fields = make()
    simulate = simulation(fields, 3)
    with dt.Tape() as tape:
        simulate()
    expected = fields["x"].to_numpy()
    assert dt.gradcheck(simulate, [fields["k"]])
    tape.backward(fields["loss"])
    np.testing.assert_array_equal(fields["x"].to_numpy(), expected)
    assert fields["k"].grad[None] != 0


# Whole tapes


@pytest.mark.parametrize("memory", [None, "2kB"])
def test_a_whole_tape_of_a_hundred_launches(memory: str | None) -> None:
    fields = make()
    report = dt.gradcheck(simulation(fields), memory=memory)
    assert report
    assert {p.field for p in report.probes if p.field} == {"x", "v", "k"}
    assert report.outputs == ("loss",)
    only = dt.gradcheck(simulation(fields, 5), [fields["k"]], outputs=fields["x"])
    assert only
    assert [p.place for p in only.probes if p.field] == ["k[None]"]
    assert only.outputs == ("x",)


def test_fields_are_passed_to_a_function_that_takes_them() -> None:
    @dt.kernel
    def move(a, b):
        for i in a:
            b[i] += a[i] * a[i] * b[i]

    def twice(x, scale, out):
        out.copy_from(x)
        temporary = dt.ones(3, ti.f32, grad=True)
        temporary[1] = scale
        move(x, temporary)
        move(temporary, out)
        out[0] = 1.0

    x, out = dt.full(3, 0.7, grad=True), dt.zeros(3, grad=True)
    assert dt.gradcheck(twice, (x, 2.0, out))
    assert dt.gradcheck(twice, {"x": x, "scale": 2.0, "out": out}, outputs="out")
    assert dt.gradcheck(dt.checkpoint(twice), (x, 2.0, out))


def test_arrays_and_integers() -> None:
    @dt.kernel
    def pick(x, ids, weight, y):
        for i in ids:
            y[i] = weight[None] * x[ids[i]] ** 3

    x = np.array([0.5, -1.0, 2.0], np.float32)
    ids = np.array([2, 0, 2], np.int32)
    weight = dt.full((), 2.0)
    report = dt.gradcheck(pick, (x, ids, weight, np.zeros(3)))
    assert report
    assert report.skipped == {"ids": "integers", "weight": "no gradient"}
    report = dt.gradcheck(pick, (dt.from_numpy(x), dt.from_numpy(ids), weight, dt.zeros(3)))
    assert {p.field for p in report.probes} == {"", "x", "weight"}  # none has one: all are given
    assert not weight.has_grads


def test_captured_fields_and_objects() -> None:
    @dt.data_oriented
    class Spring:
        def __init__(self) -> None:
            self.k = dt.full((), 2.0, grad=True)
            self.rest = dt.ones(3)

        @dt.kernel
        def pull(self, x, f):
            for i in x:
                f[i] = -self.k[None] * (x[i] - self.rest[i] * gravity[None].y) ** 2

    gravity = dt.full((), (0.5, -9.8), ti.math.vec2, grad=True)
    spring = Spring()
    report = dt.gradcheck(spring.pull, (dt.full(3, 0.2, grad=True), dt.zeros(3, grad=True)))
    assert report
    assert {p.field for p in report.probes} == {"", "x", "k", "gravity"}
    zero = next(p for p in report.probes if p.place == "gravity[None][0]")
    assert zero.analytic == zero.numeric == 0
    assert spring.k.dtype is ti.f32


def test_views_and_other_shapes() -> None:
    @dt.kernel
    def square(a, b):
        for i in a:
            b[i] = a[i] * a[i] * a[0]

    x, y = dt.full((2, 3), 0.5, grad=True), dt.zeros(3, grad=True)
    report = dt.gradcheck(square, (x[1, :], y))
    assert report
    assert [p.place for p in report.probes if p.field] == ["a[0]", "a[1]", "a[2]"]
    report = dt.gradcheck(square, (x.view(6)[::2], y))
    assert report

    @dt.kernel
    def multiply(a, b, c):
        for i in a:
            c[None] += a[i] * b[i] * b[i]

    total = dt.zeros((), grad=True)
    report = dt.gradcheck(multiply, (x[0, :2], x[0, 1:], total))  # they share an element
    assert report
    assert [p.place for p in report.probes if p.field] == ["a[0]", "a[1]", "b[1]"]
    report = dt.gradcheck(square, (x[0, :1].broadcast_to(3), y))
    assert [p.place for p in report.probes if p.field] == ["a[0]"]


def test_structs_vectors_and_one_element() -> None:
    particle = ti.types.struct(pos=ti.math.vec2, m=ti.f32, tag=ti.i32)

    @dt.kernel
    def weigh(p, out):
        for i in p:
            out[None] += p[i].m * p[i].pos.norm_sqr() * p[i].tag

    p = dt.field(particle, 2, grad=True)
    p.fill({"pos": (0.3, 0.4), "m": 2.0, "tag": 1})
    out = dt.zeros((), grad=True)
    report = dt.gradcheck(weigh, (p, out))
    assert report
    assert report.skipped == {"p.tag": "integers"}
    places = [probe.place for probe in report.probes if probe.field]
    assert places == [f"p.pos[{i}][{c}]" for i in (0, 1) for c in (0, 1)] + ["p.m[0]", "p.m[1]"]
    one = next(probe for probe in report.probes if probe.place == "p.pos[1][0]")
    assert one.index == (1, 0)
    assert one.analytic == pytest.approx(2 * 2.0 * 0.3)


def test_funcs_are_mapped() -> None:
    @dt.func
    def bend(a, b, n):
        return ti.Vector([a * b.x, ti.sin(b.y)]), a**n

    a, b = dt.full(3, 0.3, grad=True), dt.full((), (0.5, -0.2), ti.math.vec2, grad=True)
    report = dt.gradcheck(bend, (a, b, 3))
    assert report
    assert report.outputs == ("result_0", "result_1")
    assert report.skipped == {"n": "number"}
    assert dt.gradcheck(bend, {"a": a, "b": b, "n": 2}, outputs="result_1")


def test_random_numbers_are_the_same_in_each_run() -> None:
    @dt.kernel
    def noisy(x, y):
        for i in x:
            y[i] = x[i] + ti.exp(x[i]) * dt.randn()

    @dt.kernel
    def draw(y):
        for i in y:
            y[i] = dt.rand()

    x, y, z = dt.full(5, 0.5, grad=True), dt.zeros(5, grad=True), dt.zeros(5)
    dt.init(arch="cpu", seed=3)
    x, y, z = dt.full(5, 0.5, grad=True), dt.zeros(5, grad=True), dt.zeros(5)
    draw(z)
    draw(z)
    expected = z.to_numpy()
    dt.init(arch="cpu", seed=3)
    x, y, z = dt.full(5, 0.5, grad=True), dt.zeros(5, grad=True), dt.zeros(5)
    draw(z)
    assert dt.gradcheck(noisy, (x, y))
    draw(z)  # takes the numbers that it would have taken
    np.testing.assert_array_equal(z.to_numpy(), expected)
    dt.init(arch="cpu")


def test_solvers_and_host_operations() -> None:
    @dt.kernel
    def iterate(y, out, p):
        for i in y:
            out[i] = 0.5 * ti.cos(y[i]) + p[i]

    @dt.custom_op
    def waves(src, dst) -> None:
        dst.from_numpy(np.sin(src.to_numpy()))  # seen by no launch

    @waves.backward
    def _(src, dst):
        src.grad_out.from_numpy(np.cos(src.to_numpy()) * dst.grad_in.to_numpy())

    start, loss = dt.full(3, 0.3, ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)
    p, y = dt.zeros(3, ti.f64, grad=True), dt.zeros(3, ti.f64, grad=True)

    def solve() -> dt.Field:
        loss.fill(0.0)
        y.fill(0.0)
        waves(start, p)
        dt.fixed_point(iterate, y, args=(p,), diff="solution", tol=1e-13)
        energy(y, loss)
        return loss

    report = dt.gradcheck(solve)
    assert report
    assert {probe.field for probe in report.probes} >= {"", "start"}


def test_what_is_approximate_is_said() -> None:
    @dt.kernel
    def cut(x, loss):
        for i in x:
            loss[None] += dt.straight_through(ti.floor, x[i]) * x[i]

    report = dt.gradcheck(cut, (np.array([0.3, 1.6]), np.zeros(())))
    assert not report
    expected = "The derivative of 'straight_through' is approximate by design."
    assert report.notes == (expected,)

    @dt.kernel
    def stop(x, loss):
        for i in x:
            loss[None] += dt.stop_grad(x[i] * x[i]) + x[i]

    report = dt.gradcheck(stop, (np.array([3.0]), np.zeros(())))
    assert report.probes[-1].analytic == 1
    assert report.probes[-1].numeric == pytest.approx(7)
    (note,) = report.notes
    assert note.startswith("'stop_grad' holds a value constant that the differences vary.")
    assert "loss[None] += dt.stop_grad(x[i] * x[i]) + x[i]" in note


# Wrong gradients are found


def test_a_gradient_cut_by_a_field_without_one() -> None:
    fields = make()
    fields["v"] = dt.zeros(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is in the report
        report = dt.gradcheck(simulation(fields, 3))
    assert not report
    assert "k[None]" in wrong(report)
    (note,) = report.notes
    assert "field 'v' has none and is read again" in note
    assert "v[i] -= h" in note
    with pytest.raises(dt.GradientMismatch, match="gradcheck of 'simulate'"):
        dt.gradcheck(simulation(fields, 3), strict=True)


def test_a_gradient_that_passes_through_python() -> None:
    x, y = dt.full(2, 0.7, grad=True), dt.zeros(2, grad=True)

    def through(x, y):
        poly(x[1], 0.0, 1.0, x, y)

    assert dt.gradcheck(through, (x, y))

    def cut(x, y):
        poly(float(x[1]), 0.0, 1.0, x, y)

    report = dt.gradcheck(cut, (x, y))
    assert wrong(report) == ["x[1]"]
    assert report.worst is not None
    assert report.worst.place == "x[1]"


def test_the_one_wrong_entry_of_many_is_found() -> None:
    x, y = dt.from_numpy(np.linspace(0.5, 2, 30_000), grad=True), dt.zeros(30_000, grad=True)

    def cut(x, y):
        poly(0.5, 2.0, 1.0, x, y)
        value = float(x[23_456])
        y[23_456] = value * value

    report = dt.gradcheck(cut, (x, y), entries=4)
    assert wrong(report) == ["x[23456]"]
    assert len(report.probes) == 4 + 4 + 1


def test_the_largest_gradients_are_among_the_entries() -> None:
    values = np.full((50, 40), 0.1)
    values[31, 7] = 3.0

    @dt.kernel
    def cube(x, loss):
        for i, j in x:
            loss[None] += x[i, j] ** 3

    found = dt.gradcheck(cube, (values, np.zeros(())), entries=6)
    assert found
    assert "x[31, 7]" in [p.place for p in found.probes]
    assert sum(p.field == "x" for p in found.probes) == 6


# Kinks


@dt.kernel
def kinked(x, y):
    for i in x:
        y[i] = abs(x[i]) + ti.math.clamp(x[i], 0.0, 1.0)


def test_kinks_are_no_faults() -> None:
    report = dt.gradcheck(kinked, (np.array([-0.5, 0.0, 0.5]), np.zeros(3)))
    assert report
    by_place = {p.place: p for p in report.probes}
    assert by_place["x[0]"].verdict is Verdict.RIGHT
    assert by_place["x[1]"].verdict is Verdict.KINK
    assert sorted(abs(side / by_place["x[2]"].analytic) for side in by_place["x[1]"].sides)
    assert by_place["direction 1"].verdict is Verdict.KINK
    assert "kink nearby: " in str(report)


def test_a_kink_whose_mean_slope_is_given_is_right() -> None:
    @dt.kernel
    def size(x, y):
        y[None] = abs(x[None])

    (probe,) = dt.gradcheck(size, (np.zeros(()), np.zeros(())), directions=0).probes
    assert probe.verdict is Verdict.RIGHT
    assert probe.kink
    assert probe.sides == (-1.0, 1.0)


def test_an_edge_and_a_jump() -> None:
    @dt.kernel
    def edges(x, y):
        y[None] = ti.sqrt(x[0]) + ti.floor(x[1]) * x[1]

    report = dt.gradcheck(edges, (np.array([0.0, 2.0]), np.zeros(())), directions=0)
    assert [p.verdict for p in report.probes] == [Verdict.EDGE, Verdict.KINK]
    assert not report  # nothing was verified
    assert report.worst is report.probes[0]


def test_single_precision_inside_is_not_called_wrong() -> None:
    @dt.kernel
    def rounded(x, y):
        for i in x:
            y[i] = ti.sin(1e3 * ti.cast(x[i], ti.f32))

    report = dt.gradcheck(rounded, (np.linspace(0.3, 0.7, 9), np.zeros(9)), entries=9)
    assert {p.verdict for p in report.probes} <= {Verdict.RIGHT, Verdict.UNCERTAIN}


# Reports


def test_the_text_of_a_report() -> None:
    x, y = dt.full(2, 0.5, grad=True), dt.zeros((), grad=True)

    @dt.kernel
    def add(x, n: int, y):
        for i in x:
            y[None] += n * x[i]

    def through(x, n, y):
        y.fill(0.0)
        add(x, n, y)
        y[None] = float(y[None]) + 1.5 * float(x[0])

    text = masked(dt.gradcheck(through, (x, 2, y), directions=0))
    assert text.splitlines()[:8] == [
        "gradcheck of 'through': 2 of 2 derivatives wrong",
        "  of y with respect to x",
        "        analytic  numeric  its error  difference",
        "  x[0]  0         3.5      ~      ~     wrong",
        "  x[1]  0         2        ~      ~     wrong",
        "  Probed: x (2 entries).",
        "  Skipped: n (number).",
        "  Note: The gradient is cut: a number converted to a plain one depends on "
        "<field f64 (), grad>.",
    ]


def test_right_entries_are_shown_by_field() -> None:
    fields = make(2, ti.f64)
    text = masked(dt.gradcheck(simulation(fields, 2), directions=1))
    assert text.splitlines()[:2] == [
        "gradcheck of 'simulate': passed",
        "  of loss with respect to v, x, k",
    ]


# Errors


def refused(*args: Any, **kwargs: Any) -> str:
    with pytest.raises(dt.DifftileError) as caught:
        dt.gradcheck(*args, **kwargs)
    return str(caught.value)


def test_what_cannot_be_checked_is_refused() -> None:
    x, y = dt.full(2, 0.5, grad=True), dt.zeros(2, grad=True)
    numbers = iter(range(100))

    def varies(x, y):
        poly(1.0, float(next(numbers)), 0.0, x, y)

    def with_a_tape(x, y):
        with dt.Tape():
            poly(1.0, 2.0, 0.0, x, y)

    assert "which must open no tape and not call backward() itself: A tape is open" in refused(
        with_a_tape, (x, y)
    )
    with dt.Tape():
        assert "after the 'with' block" in refused(poly, (1.0, 2.0, 3.0, x, y))
    assert "has no argument 'z'" in refused(poly, (1.0, 2.0, 3.0, x, y), outputs="z")
    assert "gives different results when it runs again" in refused(varies, (x, y))
    assert "through which no gradient flows" in refused(lambda x: 3.0, (x,))
    assert "writes no field with a gradient" in refused(lambda x: None, (x,))
    assert "not finite" in refused(poly, (1.0, 2.0, float("nan"), x, y))
    assert "missing a required argument" in refused(poly, (1.0, 2.0))
    assert "takes a kernel, a func or a function" in refused(3, (x,))
