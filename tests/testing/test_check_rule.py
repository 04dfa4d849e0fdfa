"""`dt.check_rule`: right rules pass, and wrong ones are found, with the reason."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.testing.gradcheck_report import Verdict
from difftile.testing.samples import draw_samples

HERE = Path(__file__).name


@dt.func
def safe_divide(n, d):  # E5 of the reference texts: the rule is another function for d < 0
    return n / max(d, 1e-8)


@safe_divide.backward
def _(n, d, d_out):
    d_n = ti.math.clamp(d_out / (d + 1e-8), -1e6, 1e6)
    d_d = ti.math.clamp(-d_out * n / ((d + 1e-8) * (d + 1e-8)), -1e6, 1e6)
    return d_n, d_d


@dt.func
def sine(x):  # E3: the rule forgets to multiply by d_out
    return ti.sin(x)


@sine.backward
def _(x, d_out):
    return (ti.sin(x + 1e-6) - ti.sin(x - 1e-6)) / 2e-6


def line_of(rule: Any) -> int:
    """Return the line of a 'def' in this file."""
    return rule.function.__code__.co_firstlineno + 1  # after the decorator


def test_a_rule_that_differs_for_one_sign_is_found() -> None:  # NS1
    report = dt.check_rule(safe_divide)
    assert not report
    assert report.label is not None
    assert report.label.span.line == line_of(safe_divide.rules.backward)
    text = str(report).splitlines()
    assert text[0] == "check_rule of func 'safe_divide': wrong"
    assert text[1].endswith(f'{HERE}", line {report.label.span.line}')
    assert text[3].endswith("its backward rule")
    assert "samples: at all 100 with d < 0" in text[4]
    found = next(one for one in report.wrong if one.signs["d"] == "< 0" and one.by == "n")
    assert found.arguments == {"n": "1", "d": "-1"}
    d_out = float(found.d_out)
    assert found.analytic == pytest.approx(d_out / (-1 + 1e-8))
    assert found.numeric == pytest.approx(1e8 * d_out)
    assert text[6].split() == [
        *("n", "=", "1,", "d", "=", "-1", found.d_out, "n"),
        f"{found.analytic:.8g}",
        f"{found.numeric:.8g}",
    ]


def test_a_rule_that_ignores_the_adjoint_is_found() -> None:  # CD4
    report = dt.check_rule(sine)
    assert not report
    assert len(report.wrong) == len(report.comparisons) == 400
    assert report.faults[0] == (
        "The rule is not zero for d_out = 0: at x = 1, by x: rule 0.540302, should be 0."
    )
    assert report.faults[1] == "The rule does not depend on d_out; multiply its result by d_out."
    assert report.faults[2].startswith(
        "The rule is not linear in d_out: at x = 1, by x: rule(2 a + 3 b)"
    )
    with pytest.raises(dt.GradientMismatch, match="not zero for d_out = 0"):
        dt.check_rule(sine, strict=True)
    with pytest.raises(dt.GradientMismatch):
        report.raise_if_failed()


def test_gradcheck_fails_where_a_rule_is_wrong() -> None:  # FD2
    @dt.kernel
    def three(x, y):
        for i in x:
            y[i] = 3 * sine(x[i])

    x, y = dt.full(4, 0.5, grad=True), dt.zeros(4, grad=True)
    report = dt.gradcheck(three, (x, y))
    assert not report
    assert sum(p.verdict is Verdict.WRONG for p in report.probes if p.field) == 4


# Rules that are right


def test_right_rules_pass() -> None:
    @dt.func
    def scaled(v, s, k):
        return v * ti.exp(s) * k

    @scaled.backward
    def _(v, s, k, d_out):
        return d_out * ti.exp(s) * k, d_out.dot(v) * ti.exp(s) * k

    @scaled.forward
    def _(v, s, k, v_dot, s_dot):
        return (v_dot + v * s_dot) * ti.exp(s) * k

    report = dt.check_rule(scaled, np.array([1.0, 2.0, 3.0]), 0.5, 2, samples=40)
    assert report.raise_if_failed()
    assert report.comparisons[0].arguments == {"v": "(1, 2, 3)", "s": "0.5"}
    assert {one.by for one in report.comparisons} == {"v[0]", "v[1]", "v[2]", "s"}
    assert str(report).splitlines()[0].endswith("320 of 320 derivatives verified")


def test_a_matrix_and_several_results() -> None:
    @dt.func
    def forms(m, v):
        return v.dot(m @ v), m.trace()

    @forms.backward
    def _(m, v, d_out):
        eye = ti.Matrix([[1.0, 0.0], [0.0, 1.0]])
        d_m = v.outer_product(v) * d_out[0] + eye * d_out[1]
        return d_m, (m + m.transpose()) @ v * d_out[0]

    report = dt.check_rule(forms, np.eye(2), np.ones(2), samples=20)
    assert report
    assert report.comparisons[0].arguments["m"] == "((1, 0), (0, 1))"
    assert {one.by for one in report.comparisons} >= {"m[0, 1]", "v[1]"}


def test_kinks_and_domains_are_no_faults() -> None:
    @dt.func
    def root(x):
        return ti.sqrt(x) + abs(x - 1.0)

    @root.backward
    def _(x, d_out):
        return d_out * ((0.5 / ti.sqrt(x) if x > 0 else 0.0) + (1.0 if x > 1 else -1.0))

    assert dt.check_rule(root)  # values are NaN for half of the samples, and a kink is at 1
    report = dt.check_rule(root, domain={"x": (0.0, 2.0)}, samples=50)
    assert report
    found = {one.arguments["x"]: one.verdict for one in report.comparisons}
    assert found["0"] is Verdict.EDGE


def test_a_rule_that_is_not_finite_is_found() -> None:
    @dt.func
    def ratio(x):
        return ti.sin(x) / x if x != 0 else 1.0

    @ratio.backward
    def _(x, d_out):
        return d_out * (ti.cos(x) / x - ti.sin(x) / (x * x))

    report = dt.check_rule(ratio, atol=1e-4)
    assert {one.arguments["x"] for one in report.wrong} == {"0"}
    assert math.isnan(report.wrong[0].analytic)


def test_a_forward_rule_that_disagrees_is_found() -> None:
    @dt.func
    def square(x):
        return x * x

    @square.backward
    def _(x, d_out):
        return 2 * x * d_out

    @square.forward
    def _(x, x_dot):
        return x * x_dot

    report = dt.check_rule(square)
    assert not report
    assert not report.wrong
    (fault,) = report.faults
    assert fault.startswith("The forward rule disagrees at ")
    assert "at x = 1 it gives " in fault


def test_approximate_rules_are_reported_as_such() -> None:
    report = dt.check_rule(dt.straight_through, ti.floor, 1.5)
    assert report
    assert report.approximate
    assert report.wrong
    text = str(report)
    assert text.startswith("check_rule of func 'straight_through': approximate by design")
    assert "it differs by up to 100%." in text
    soft = dt.surrogate(ti.floor, ti.sin)
    assert dt.check_rule(soft).approximate
    assert dt.check_rule(dt.finite_difference(ti.floor)).approximate


def test_a_substitute_is_checked() -> None:
    @dt.func
    def shifted(x):
        return ti.cast(ti.floor(x * 0.0), ti.i32) + 3 * x * x

    @dt.func
    def other(x):
        return 2 * x * x

    dt.register_substitute(shifted, other)
    report = dt.check_rule(shifted)
    assert not report
    one = report.wrong[0]
    assert one.numeric / one.analytic == pytest.approx(1.5)


# Rules that write gradients of fields, and host operations


def test_a_rule_that_writes_gradients_of_fields() -> None:
    @dt.func
    def load(buf, i, s):
        return buf[i] * s

    @load.backward
    def _(buf, i, s, d_out):
        buf.grad_out[i] += factor * d_out * s
        return d_out * buf[i]

    factor = 1.0
    buf = dt.from_numpy(np.array([1.0, 2.0, 3.0, 4.0]), grad=True)
    assert dt.check_rule(load, buf, 2)
    factor = 2.0
    report = dt.check_rule(load, buf, 2)
    assert not report
    assert report.wrong[0].by == "buf[2]"
    assert report.wrong[0].analytic == pytest.approx(2 * report.wrong[0].numeric)
    assert buf.grad.to_numpy().tolist() == [0, 0, 0, 0]


def test_custom_ops() -> None:
    factor = 2.0

    @dt.custom_op
    def double(src: dt.In, dst: dt.Out) -> None:
        dst.from_numpy(2.0 * np.cumsum(src.to_numpy()))

    @double.backward
    def _(src, dst):
        seeds = dst.grad_in.to_numpy()
        src.grad_out.from_numpy(factor * np.cumsum(seeds[::-1])[::-1])

    src, dst = dt.ones(5, grad=True), dt.zeros(5, grad=True)
    assert dt.check_rule(double, src, dst)
    assert dt.gradcheck(double, (src, dst))
    factor = 1.0
    report = dt.check_rule(double, src, dst)
    assert not report
    assert report.wrong[0].by == "src[0]"
    assert "def _(src, dst):" in str(report)
    assert src.to_numpy().tolist() == [1] * 5


def test_kernels() -> None:
    @dt.kernel
    def square(x, y):
        for i in x:
            y[i] = x[i] * x[i]

    @square.backward
    def _(x, y):
        for i in x:
            x.grad_out[i] += factor * x[i] * y.grad_in[i]

    factor = 2.0
    x, y = dt.full(4, 0.5, grad=True), dt.zeros(4, grad=True)
    assert dt.check_rule(square, x, y)
    factor = 10.0
    report = dt.check_rule(square, x, y)
    assert not report
    assert report.wrong[0].by == "x[0]"
    assert report.wrong[0].analytic == pytest.approx(5 * report.wrong[0].numeric)
    assert "def _(x, y):" in str(report)


def test_a_kernel_rule_that_ignores_the_adjoint_is_found() -> None:
    @dt.kernel
    def wave(x, y):
        for i in x:
            y[i] = ti.sin(x[i])

    @wave.backward
    def _(x, y):
        for i in x:
            x.grad_out[i] += ti.cos(x[i])

    report = dt.check_rule(wave, dt.full(2, 0.5, grad=True), dt.zeros(2, grad=True))
    assert report.faults[:2] == (
        "The rule is not zero for d_out = 0: by x[0]: rule 0.877583, should be 0.",
        "The rule does not depend on d_out; multiply its result by d_out.",
    )


# Errors, and samples


def test_what_cannot_be_checked_is_refused() -> None:
    @dt.func
    def plain(x):
        return x

    @dt.func
    def first(v):
        return v[0]

    @first.backward
    def _(v, d_out):
        return d_out * ti.Vector([1.0, 0.0])

    @dt.kernel
    def launch(x):
        for i in x:
            x[i] += 1.0

    with pytest.raises(dt.LaunchError, match="has no rule"):
        dt.check_rule(plain)
    with pytest.raises(dt.LaunchError, match="has no rule"):
        dt.check_rule(launch, dt.zeros(3, grad=True))
    with pytest.raises(dt.LaunchError, match=r"does not take numbers for v; give an example"):
        dt.check_rule(first)
    with pytest.raises(dt.LaunchError, match="takes only x; pass no more"):
        dt.check_rule(sine, 1.0, 2.0)
    with dt.Tape(), pytest.raises(dt.TapeError, match="after the 'with' block"):
        dt.check_rule(sine)


def test_samples_have_all_signs_and_magnitudes() -> None:
    rng = np.random.default_rng(0)
    given = {"b": np.array([1.0, 2.0])}
    drawn = draw_samples({"a": (), "b": (2,)}, 200, given, {"a": (0.0, 3.0)}, rng)
    assert drawn["a"].shape == (200,)
    assert drawn["b"].shape == (200, 2)
    assert drawn["a"].min() == 0
    assert drawn["a"].max() == 3
    sizes = np.abs(drawn["b"][drawn["b"] != 0])
    assert sizes.min() < 1e-6
    assert sizes.max() > 1e2
    signs = np.sign(draw_samples({"a": (), "c": ()}, 4, {}, {}, rng)["a"])
    assert signs.tolist() == [1, 1, -1, -1]
