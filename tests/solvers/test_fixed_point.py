"""Fixed points: the kind of derivative, its correctness, and its report."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.solvers import result as results
from difftile.substrate import current_session
from tests.solvers.oracles import differences, number


@dt.kernel
def cosine(y, out, x):
    out[None] = 0.5 * ti.cos(y[None]) + x[None]


@dt.kernel
def affine(y, out, a, b):
    out[None] = a[None] * y[None] + b[None]


@dt.kernel
def babylonian(y, out, x):
    out[None] = 0.5 * (y[None] + x[None] / y[None])


@dt.kernel
def take(y, loss):
    loss[None] += y[None]


@dt.kernel
def couple(u, p, out_u, out_p, k, m):
    for i in u:
        out_u[i] += 0.4 * ti.sin(m[None] @ u[i]) + k[i] * p[i // 2]
    for i in p:
        p_next = 0.3 * ti.cos(p[i])
        for j in range(2):
            p_next += 0.2 * u[2 * i + j][j] * k[i]
        out_p[i] = p_next


@dt.kernel
def weigh(u, p, w, loss):
    for i in u:
        loss[None] += w[i] * (u[i][0] ** 2 - u[i][1]) + ti.exp(p[i // 2])


def solve_cosine(diff: str | None, start: float | None = None, **options: Any) -> Any:
    """Return the result, the solution and its derivative by x = 0.3; start at x by default."""
    y, x, loss = number(start or 0.0), number(0.3), number(0.0)
    with dt.Tape(loss):
        if start is None:
            y.copy_from(x)
        result = dt.fixed_point(cosine, y, args=(x,), diff=diff, **options)
        take(y, loss)
    return result, y[None], x.grad[None]


def test_cr5_the_solution_is_differentiated() -> None:
    result, y, slope = solve_cosine("solution")
    assert result.converged and result.target == "solution"
    assert y == pytest.approx(0.6866781261, abs=1e-10)
    assert slope == pytest.approx(0.7593096028, abs=1e-10)


CR6 = [(1e-1, 3, 0.786127), (1e-2, 5, 0.763785), (1e-3, 7, 0.759937), (1e-6, 13, 0.7593108)]


@pytest.mark.parametrize(("tol", "iterations", "slope"), CR6)
def test_cr6_the_algorithm_is_differentiated(tol: float, iterations: int, slope: float) -> None:
    result, _, found = solve_cosine("algorithm", tol=0.0, atol=tol)
    assert (result.iterations, result.target) == (iterations, "algorithm")
    assert found == pytest.approx(slope, abs=1e-6)
    result, _, found = solve_cosine("solution", tol=0.0, atol=tol)
    assert (result.iterations, result.target) == (iterations, "solution")
    assert abs(found - 0.7593096028) < 0.15 * tol


def test_cr6_a_warm_start_is_the_wrong_target_for_the_algorithm() -> None:
    start = 0.686678126052
    assert solve_cosine("algorithm", start, max_iter=1)[2] == pytest.approx(1.0, abs=1e-12)
    assert solve_cosine("solution", start, max_iter=1)[2] == pytest.approx(0.7593096028, abs=1e-10)


def test_cr6b_one_solver_has_three_targets_and_names_them() -> None:
    slopes = {}
    for diff in ("solution", "algorithm", "implementation"):
        with pytest.warns(dt.NotConverged, match=f"a tape differentiates the {diff}"):
            result, _, slopes[diff] = solve_cosine(diff, 0.1, max_iter=4)
        assert result.target == diff and f"differentiates the {diff}" in repr(result)

    # The implementation is the compiled kernel, iteration by iteration.
    def executed(x: float) -> float:
        y, x_field = number(0.1), number(x)
        with pytest.warns(dt.NotConverged):
            dt.fixed_point(cosine, y, args=(x_field,), max_iter=4)
        return y[None]

    h = 1e-3
    differences = (8 * (executed(0.3 + h) - executed(0.3 - h))) / (12 * h)
    differences -= (executed(0.3 + 2 * h) - executed(0.3 - 2 * h)) / (12 * h)
    assert slopes["implementation"] == pytest.approx(differences, abs=1e-10)
    assert slopes["algorithm"] == slopes["implementation"]
    assert slopes["solution"] != pytest.approx(slopes["algorithm"], abs=1e-3)


def test_fm1_who_does_not_choose_hears_what_is_differentiated(
    caplog: pytest.LogCaptureFixture,
) -> None:
    results._said.clear()
    for _ in range(2):
        assert solve_cosine(None)[0].target == "solution"
    warned = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.getMessage() for record in warned] == [
        "dt.fixed_point differentiates the solution; diff='algorithm' differentiates the algorithm."
        " Pass diff='solution' to choose it and to silence this message."
    ]
    caplog.set_level(logging.INFO)
    result = solve_cosine("algorithm")[0]
    assert repr(result) in caplog.text and "a tape differentiates the algorithm" in repr(result)


def test_cr8_newton_steps_as_a_fixed_point() -> None:
    for count, slope in enumerate([0.5, 0.361111, 0.353566, 0.353553391, 0.353553391], start=1):
        y, x, loss = number(1.0), number(2.0), number(0.0)
        with dt.Tape(loss):
            dt.fixed_point(babylonian, y, args=(x,), diff="algorithm", max_iter=count, tol=1.0)
            for _ in range(count - 1):
                dt.fixed_point(babylonian, y, args=(x,), diff="algorithm", max_iter=1, tol=1.0)
            take(y, loss)
        assert x.grad[None] == pytest.approx(slope, abs=1e-6)


def test_cr9_a_linear_fixed_point() -> None:
    for diff, expected in (("algorithm", (1.75, 2.0, 1.75)), ("solution", (2.0, 4.0, 2.0))):
        a, b, y, loss = number(0.5), number(1.0), number(0.0), number(0.0)
        with dt.Tape(loss):
            if diff == "algorithm":
                with pytest.warns(dt.NotConverged, match="after 3 iterations, residual 0.25"):
                    dt.fixed_point(affine, y, args=(a, b), diff=diff, max_iter=3)
            else:
                dt.fixed_point(affine, y, args=(a, b), diff=diff)
            take(y, loss)
        assert (y[None], a.grad[None], b.grad[None]) == pytest.approx(expected, abs=1e-8)
        assert y.grad[None] == pytest.approx(0.125 if diff == "algorithm" else 0.0)


# Several fields of several kinds


def fields(dtype: Any = ti.f64) -> dict[str, dt.Field]:
    rng = np.random.default_rng(3)
    kind = np.float64 if dtype == ti.f64 else np.float32
    draw = lambda *shape: rng.uniform(0.2, 0.8, shape).astype(kind)  # noqa: E731
    vector, matrix = ti.types.vector(2, dtype), ti.types.matrix(2, 2, dtype)
    return {
        "k": dt.from_numpy(draw(4), grad=True),
        "m": dt.from_numpy(draw(2, 2), matrix, grad=True),
        "w": dt.from_numpy(draw(4), grad=True),
        "u": dt.zeros(4, vector, grad=True),
        "p": dt.zeros(2, dtype, grad=True),
        "loss": dt.zeros((), dtype, grad=True),
    }


def coupled(f: dict[str, dt.Field], **options: Any) -> Any:
    result = dt.fixed_point(
        couple, (f["u"], f["p"]), args=(f["k"], f["m"]), diff="solution", **options
    )
    weigh(f["u"], f["p"], f["w"], f["loss"])
    return result


def test_several_fields_of_any_element() -> None:
    f = fields()
    with dt.Tape(f["loss"]):
        coupled(f, tol=1e-13)
    found = {name: f[name].grad.to_numpy() for name in ("k", "m", "w")}
    assert not f["u"].grad.to_numpy().any()

    def run() -> float:
        f["loss"].fill(0.0)
        coupled(f, tol=1e-13)
        return f["loss"][None]

    for name, gradient in found.items():
        np.testing.assert_allclose(gradient, differences(run, f[name]), rtol=1e-6, atol=1e-8)
    single = fields(ti.f32)
    with dt.Tape(single["loss"]):
        coupled(single)
    for name, gradient in found.items():
        np.testing.assert_allclose(single[name].grad.to_numpy(), gradient, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"memory": 3000}, {"snapshots": 3}])
def test_in_loops_of_launches_and_within_any_memory(options: Any) -> None:
    def program(f: dict[str, dt.Field]) -> None:
        for _ in range(5):
            coupled(f, tol=1e-13)
            decay(f["k"], f["loss"])

    f = fields()
    with dt.Tape(f["loss"], **options):
        program(f)
    found = {name: f[name].grad.to_numpy() for name in ("m", "w")}
    f = fields()

    def run() -> float:
        k = f["k"].to_numpy()
        for one in ("u", "p", "loss"):
            f[one].fill(0.0)
        program(f)
        f["k"].from_numpy(k)
        return f["loss"][None]

    for name, gradient in found.items():
        np.testing.assert_allclose(gradient, differences(run, f[name]), rtol=1e-6, atol=1e-8)


@dt.kernel
def decay(k, loss):
    for i in k:
        k[i] *= 0.9 + 0.01 * ti.sin(loss[None])


def test_memory_does_not_grow_with_iterations() -> None:
    held = {}
    for tol in (1e-2, 1e-12):
        f = fields()
        before = current_session().pool.kept
        with dt.Tape() as tape:
            count = coupled(f, tol=tol).iterations
        held[count] = (tape.nbytes, tape.peak_nbytes, current_session().pool.kept - before)
        assert len(tape) == 2
        tape.release()
        assert current_session().pool.kept == before
    assert len(held) == 2 and len(set(held.values())) == 1


def test_what_the_function_leaves_elsewhere_has_a_gradient() -> None:
    x, y, loss, side = number(0.3), number(0.0), number(0.0), number(0.0)

    @dt.kernel
    def aside(y, side, x):
        side[None] = y[None] * y[None] * x[None]

    def g(y: dt.Field, out: dt.Field) -> None:
        aside(y, side, x)
        cosine(y, out, x)

    with dt.Tape(loss):
        dt.fixed_point(g, y, diff="solution")
        take(side, loss)
        take(y, loss)
    solution, slope = 0.6866781261, 0.7593096028
    expected = slope + 2 * solution * slope * 0.3 + solution**2
    assert x.grad[None] == pytest.approx(expected, abs=1e-8)


def test_a_function_may_work_in_place() -> None:
    x, y, loss = number(0.3), number(0.0), number(0.0)

    @dt.kernel
    def replace(y):
        y[None] = 0.5 * ti.cos(y[None]) + x[None]

    with dt.Tape(loss):
        dt.fixed_point(replace, y, in_place=True, diff="solution")
        take(y, loss)
    assert x.grad[None] == pytest.approx(0.7593096028, abs=1e-10)


def test_without_a_tape_fields_need_no_gradients() -> None:
    x, y = dt.full((), 0.3, ti.f64), dt.zeros((), ti.f64)
    told = []
    result = dt.fixed_point(cosine, y, args=(x,), progress=lambda *one: told.append(one))
    assert y[None] == pytest.approx(0.6866781261, abs=1e-10)
    assert [count for count, _ in told] == list(range(1, result.iterations + 1))
    assert told[-1][1] == result.residual


def test_an_unknown_without_gradient_cuts_and_that_is_said() -> None:
    x, y, loss = number(0.3), dt.zeros((), ti.f64), number(0.0)
    with pytest.warns(dt.GradientCut, match="field 'x' has none and is read again"):
        with dt.Tape(loss):
            loss.fill(0.0)
            dt.fixed_point(cosine, y, args=(x,), diff="solution")
            take(y, loss)


@dt.kernel
def pull_back(y, out, k):
    for i in y:
        out[i] = 0.5 * ti.cos(k[i] * y[i])


@dt.kernel
def total(y, loss):
    for i in y:
        loss[None] += y[i]


def test_small_writes_afterwards_change_nothing() -> None:
    k, y, loss = dt.full(500, 0.7, ti.f64, grad=True), dt.zeros(500, ti.f64, grad=True), number(0)
    slopes = []
    for later in (False, True):
        y.fill(0.0)
        with dt.Tape(loss):
            dt.fixed_point(pull_back, y, args=(k,), diff="solution")
            total(y, loss)
            if later:
                k[3] = 100.0
                y[5] = -1.0
        slopes.append(k.grad.to_numpy())
    np.testing.assert_allclose(slopes[1], slopes[0], rtol=1e-8)


@dt.kernel
def ruled(y, out, x):
    out[None] = 0.5 * ti.cos(y[None]) + x[None]


@ruled.backward
def _(y, out, x):
    y.grad_out[None] += -0.5 * ti.sin(y[None]) * out.grad_in[None]
    x.grad_out[None] += 2.0 * out.grad_in[None]


@dt.custom_op
def half_cosine(y: dt.In, out: dt.Out):
    out.from_numpy(0.5 * np.cos(y.to_numpy()))


@half_cosine.backward
def _(y, out):
    bar = -0.5 * np.sin(y.to_numpy()) * out.grad_in.to_numpy()
    y.grad_out.from_numpy(y.grad_out.to_numpy() + bar)


@dt.kernel
def add(out, part, x):
    out[None] = part[None] + x[None]


def test_rules_of_the_user_are_followed() -> None:
    x, y, loss, part = number(0.3), number(0.0), number(0.0), dt.zeros((), ti.f64)

    def with_host_op(y: dt.Field, out: dt.Field) -> None:
        half_cosine(y, part)
        add(out, part, x)

    def with_rule(y: dt.Field, out: dt.Field) -> None:
        ruled(y, out, x)

    for g, factor in ((with_host_op, 1.0), (with_rule, 2.0)):
        y.fill(0.0)
        with dt.Tape(loss):
            dt.fixed_point(g, y, diff="solution")
            take(y, loss)
        assert x.grad[None] == pytest.approx(factor * 0.7593096028, abs=1e-9)
    with pytest.raises(dt.TapeError, match="Tangents are not pushed through"):
        dt.root(with_host_op, y)
    dt.root(with_rule, y, strict=True)  # whose tangents are those of the transposed backward
    assert y[None] == pytest.approx(np.arccos(-0.6), abs=1e-9)


def test_on_a_tape_that_goes_back_twice_and_in_a_checkpoint() -> None:
    x, y, loss = number(0.3), number(0.0), number(0.0)

    @dt.checkpoint
    def program() -> None:
        dt.fixed_point(cosine, y, args=(x,), diff="solution")
        take(y, loss)

    with dt.Tape() as tape:
        program()
        dt.fixed_point(cosine, y, args=(x,), diff="solution")
        take(y, loss)
    tape.backward(loss, keep=True)
    assert x.grad[None] == pytest.approx(2 * 0.7593096028, abs=1e-8)
    tape.backward(loss)
    assert x.grad[None] == pytest.approx(4 * 0.7593096028, abs=1e-8)
    with dt.Tape(loss):
        with dt.no_grad():
            dt.fixed_point(cosine, y, args=(x,), diff="solution")
        take(y, loss)
    assert x.grad[None] == 0.0


# Errors and messages


def test_what_does_not_converge_says_so() -> None:
    a, b, y, loss = number(2.0), number(1.0), number(0.0), number(0.0)
    text = (
        r"<dt.fixed_point: NOT converged after 5 iterations, residual 16; a tape differentiates "
        r"the solution>. Allow more iterations, max_iter=..., or a larger tol."
    )
    with pytest.warns(dt.NotConverged, match=text):
        result = dt.fixed_point(affine, y, args=(a, b), max_iter=5)
    assert not result.converged and y[None] == 31.0
    with pytest.raises(dt.SolverError, match="NOT converged after 5 iterations"):
        dt.fixed_point(affine, y, args=(a, b), max_iter=5, strict=True)
    with pytest.warns(dt.NotConverged, match=r"\(its numbers are not finite\)"):
        dt.fixed_point(affine, y, args=(a, b), max_iter=5000)
    a.fill(1.0)
    b.fill(0.0)
    y.fill(1.0)
    with pytest.warns(dt.NotConverged, match="The adjoint of dt.fixed_point did not converge"):
        with dt.Tape(loss):
            assert dt.fixed_point(affine, y, args=(a, b), diff="solution").converged
            take(y, loss)


def test_wrong_arguments_are_refused() -> None:
    y, x = number(0.0), number(0.3)
    with pytest.raises(dt.LaunchError, match="diff is one of solution, algorithm, implementation"):
        dt.fixed_point(cosine, y, args=(x,), diff="unrolled")
    with pytest.raises(dt.LaunchError, match="tol is a number from 0 on, not -1"):
        dt.fixed_point(cosine, y, args=(x,), tol=-1)
    with pytest.raises(dt.LaunchError, match="max_iter is an integer from 1 on, not 0"):
        dt.fixed_point(cosine, y, args=(x,), max_iter=0)
    with pytest.raises(dt.FieldError, match="holds integers"):
        dt.fixed_point(cosine, dt.zeros((), ti.i32), args=(x,))
    with dt.Tape() as tape, pytest.raises(dt.LaunchError, match="the function changes the unknown"):
        dt.fixed_point(lambda y, out: cosine(y, y, x), y, diff="solution")
    tape.release()


def test_a_field_that_only_later_calls_use_is_refused() -> None:
    x, later, y, loss = number(0.3), number(0.3), number(0.0), number(0.0)
    calls: list[int] = []

    def g(y: dt.Field, out: dt.Field) -> None:
        calls.append(1)
        cosine(y, out, x if len(calls) < 4 else later)

    with pytest.raises(dt.LaunchError, match="did not at its first call"), dt.Tape(loss):
        dt.fixed_point(g, y, diff="solution")
        take(y, loss)
