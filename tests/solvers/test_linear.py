"""Linear systems whose matrix is a kernel, and derivatives of their solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt
from tests.solvers.oracles import differences, number


@dt.kernel
def poisson(v, out, k):
    """-div k grad v on a grid whose border is held at zero; k is given on cells."""
    for i, j in v:
        for axis in ti.static(range(2)):
            for side in ti.static((-1, 1)):
                di = side if axis == 0 else 0
                dj = side if axis == 1 else 0
                a, b = i + di, j + dj
                inside = 0 <= a < v.shape[0] and 0 <= b < v.shape[1]
                other = v[a, b] if inside else 0.0
                between = 0.5 * (k[i, j] + k[a, b]) if inside else k[i, j]
                out[i, j] += between * (v[i, j] - other)


@dt.kernel
def diagonal(r, out, k):
    for i, j in r:
        out[i, j] = r[i, j] / (4.0 * k[i, j])


@dt.kernel
def drift(v, out, m, c):
    """A matrix of blocks that is not symmetric."""
    n = v.shape[0]
    for i in v:
        out[i] = m[i] @ v[i] + c[None] * v[(i + 1) % n]


@dt.kernel
def weigh(x, w, loss):
    for i in ti.grouped(x):
        loss[None] += w[i].dot(ti.sin(x[i]))


@dt.kernel
def weigh_grid(x, w, loss):
    for i in ti.grouped(x):
        loss[None] += w[i] * ti.sin(x[i])


def grid(dtype: Any, n: int = 9) -> dict[str, dt.Field]:
    rng = np.random.default_rng(0)
    kind = np.float64 if dtype == ti.f64 else np.float32
    draw = lambda low: dt.from_numpy(rng.uniform(low, 2.0, (n, n + 2)).astype(kind), grad=True)  # noqa: E731
    x = dt.zeros((n, n + 2), dtype, grad=True)
    loss = dt.zeros((), dtype, grad=True)
    return {"k": draw(0.5), "b": draw(-2.0), "w": draw(-2.0), "x": x, "loss": loss}


def matrix_of(k: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the matrix of `poisson` by rows, and zeros to begin with."""
    n, m = k.shape
    a = np.zeros((n, m, n, m))
    for i, j in np.ndindex(n, m):
        for p, q in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
            inside = 0 <= p < n and 0 <= q < m
            between = 0.5 * (k[i, j] + k[p, q]) if inside else k[i, j]
            a[i, j, i, j] += between
            if inside:
                a[i, j, p, q] -= between
    return a.reshape(n * m, n * m)


def reference(f: dict[str, dt.Field]) -> dict[str, npt.NDArray[Any]]:
    """Return the solution and the gradients by b and k from the dense adjoint."""
    k, b, w = (f[name].to_numpy().astype(float) for name in ("k", "b", "w"))
    a = matrix_of(k)
    x = np.linalg.solve(a, b.ravel())
    bar = np.linalg.solve(a.T, w.ravel() * np.cos(x))
    slopes = np.zeros_like(k)
    for index in np.ndindex(k.shape):
        unit = np.zeros_like(k)
        unit[index] = 1.0
        slopes[index] = -bar @ matrix_of(unit) @ x
    return {"x": x.reshape(k.shape), "b": bar.reshape(k.shape), "k": slopes}


@pytest.mark.parametrize("dtype", [ti.f64, ti.f32])
@pytest.mark.parametrize("near", [None, diagonal])
def test_poisson_agrees_with_the_dense_adjoint(dtype: Any, near: Any) -> None:
    f = grid(dtype)
    with dt.Tape(f["loss"]):
        result = dt.linear_solve(poisson, f["b"], f["x"], args=(f["k"],), precondition=near)
        weigh_grid(f["x"], f["w"], f["loss"])
    assert result.converged and result.target == "solution" and 5 < result.iterations < 60
    expected = reference(f)
    rtol, atol = (1e-8, 1e-9) if dtype == ti.f64 else (1e-3, 2e-4)
    np.testing.assert_allclose(f["x"].to_numpy(), expected["x"], rtol=rtol, atol=atol)
    for name in ("b", "k"):
        np.testing.assert_allclose(f[name].grad.to_numpy(), expected[name], rtol=rtol, atol=atol)


@dt.kernel
def stiffen(k, x):
    for i in ti.grouped(k):
        k[i] += 0.1 * x[i] * x[i]


@pytest.mark.parametrize("options", [{}, {"memory": 6000}])
def test_in_a_loop_of_launches(options: Any) -> None:
    def program(f: dict[str, dt.Field]) -> None:
        for _ in range(4):
            dt.linear_solve(
                poisson, f["b"], f["x"], args=(f["k"],), precondition=diagonal, tol=1e-13
            )
            stiffen(f["k"], f["x"])
        weigh_grid(f["x"], f["w"], f["loss"])

    f = grid(ti.f64, 3)
    k = f["k"].to_numpy()
    with dt.Tape(f["loss"], **options):
        program(f)
    found = {name: f[name].grad.to_numpy() for name in ("b", "k")}
    for name, gradient in found.items():

        def run() -> float:
            f["loss"].fill(0.0)
            f["x"].fill(0.0)
            start = f["k"].to_numpy()
            program(f)
            f["k"].from_numpy(start)
            return f["loss"][None]

        f["k"].from_numpy(k)
        np.testing.assert_allclose(gradient, differences(run, f[name]), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", ["bicgstab", "gmres", "dense"])
def test_a_matrix_that_is_not_symmetric(method: str) -> None:
    rng = np.random.default_rng(4)
    n = 5
    blocks = rng.uniform(-0.5, 0.5, (n, 3, 3)) + 3 * np.eye(3)
    m = dt.from_numpy(blocks, ti.types.matrix(3, 3, ti.f64), grad=True)
    vector = ti.types.vector(3, ti.f64)
    b = dt.from_numpy(rng.uniform(-1, 1, (n, 3)), vector, grad=True)
    w = dt.from_numpy(rng.uniform(-1, 1, (n, 3)), vector)
    x = dt.from_numpy(rng.uniform(-1, 1, (n, 3)), vector, grad=True)
    c, loss = number(-0.7), number(0.0)

    def program() -> float:
        loss.fill(0.0)
        dt.linear_solve(drift, b, x, args=(m, c), method=method, tol=1e-13)
        weigh(x, w, loss)
        return loss[None]

    with dt.Tape(loss):
        program()
    found = [(one, one.grad.to_numpy()) for one in (m, b, c)]
    assert not x.grad.to_numpy().any()
    dense = np.zeros((n, 3, n, 3))
    for i in range(n):
        dense[i, :, i] = blocks[i]
        dense[i, :, (i + 1) % n] += -0.7 * np.eye(3)
    solution = np.linalg.solve(dense.reshape(3 * n, 3 * n), b.to_numpy().ravel())
    np.testing.assert_allclose(x.to_numpy().ravel(), solution, rtol=1e-11)
    for one, gradient in found:
        slopes = differences(program, one, h=1e-4)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-9)


def test_several_fields_and_a_right_hand_side_that_the_matrix_reads() -> None:
    # [[2 + b0, b0], [1, 3]] (x, y) = (b0, b1), with b0 in the matrix as well.
    b0, b1, x, y, loss = number(0.6), number(-0.4), number(0.0), number(0.0), number(0.0)

    @dt.kernel
    def apply(v0, v1, out0, out1):
        out0[None] = (2.0 + b0[None]) * v0[None] + b0[None] * v1[None]
        out1[None] = v0[None] + 3.0 * v1[None]

    @dt.kernel
    def measure():
        loss[None] = x[None] + 2.0 * y[None]

    def program() -> float:
        dt.linear_solve(apply, (b0, b1), (x, y), method="gmres", tol=1e-14)
        measure()
        return loss[None]

    with dt.Tape(loss):
        program()
    for one, slope in [(one, one.grad[None]) for one in (b0, b1)]:
        assert slope == pytest.approx(differences(program, one), rel=1e-8)


def test_what_does_not_converge_says_so() -> None:
    f = grid(ti.f64)
    with pytest.warns(dt.NotConverged, match="max_iter was reached"):
        result = dt.linear_solve(poisson, f["b"], f["x"], args=(f["k"],), max_iter=3)
    assert result.iterations == 3 and 0 < result.residual < 1
    f["k"].fill(-1.0)
    with pytest.warns(dt.NotConverged, match="is not symmetric positive definite"):
        dt.linear_solve(poisson, f["b"], f["x"], args=(f["k"],))
    f["k"].fill(0.0)
    for method in ("bicgstab", "gmres", "dense"):
        with pytest.raises(dt.SolverError, match="NOT converged"):
            dt.linear_solve(poisson, f["b"], f["x"], args=(f["k"],), method=method, strict=True)


def test_wrong_arguments_are_refused() -> None:
    f = grid(ti.f64)

    @dt.kernel
    def shifted(v, out):
        for i in ti.grouped(v):
            out[i] = v[i] + 1.0

    with pytest.raises(dt.LaunchError, match=r"apply\(0\) is not 0, so apply is not linear"):
        dt.linear_solve(shifted, f["b"], f["x"])
    with pytest.raises(dt.LaunchError, match="b holds 99 numbers and x 1; a matrix that"):
        dt.linear_solve(shifted, f["b"], f["loss"])
    with pytest.raises(dt.LaunchError, match="b and x share their memory"):
        dt.linear_solve(shifted, f["b"], f["b"])
    with pytest.raises(dt.LaunchError, match="method is one of 'cg', 'bicgstab', 'gmres', 'dense'"):
        dt.linear_solve(shifted, f["b"], f["x"], method="lu")


def test_nothing_comes_of_nothing() -> None:
    f = grid(ti.f64)
    f["b"].fill(0.0)
    f["x"].fill(1.0)
    with dt.Tape(f["loss"]):
        assert dt.linear_solve(poisson, f["b"], f["x"], args=(f["k"],)).iterations == 0
        weigh_grid(f["x"], f["w"], f["loss"])
    assert not f["x"].to_numpy().any()
    expected = reference(f)["b"]
    np.testing.assert_allclose(f["b"].grad.to_numpy(), expected, rtol=1e-8, atol=1e-9)


def test_a_cycle_on_which_gmres_stalls_is_solved() -> None:
    """From one end of it to the other it takes as many vectors as there are numbers."""

    @dt.kernel
    def shift(v, out):
        for i in v:
            out[(i + 1) % v.shape[0]] = v[i]

    n = 60
    b, x = dt.from_numpy(np.eye(n)[0]), dt.zeros(n, dtype=ti.f64)
    assert dt.linear_solve(shift, b, x, method="gmres").converged
    np.testing.assert_allclose(x.to_numpy(), np.eye(n)[n - 1], atol=1e-9)
