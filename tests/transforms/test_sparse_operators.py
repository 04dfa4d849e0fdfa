"""Operators of SciPy from derivatives, and sparse Jacobians as its matrices."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.linearization.directions import Directions
from difftile.passes.batch import Unbatchable

sparse: Any = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
linalg: Any = pytest.importorskip("scipy.sparse.linalg", reason="SciPy is not installed")


@dt.kernel
def chain(x, k, y):
    for i in y:
        y[i] = k[0] * x[i] ** 2 + ti.sin(x[(i + 1) % x.shape[0]]) * k[1]


@dt.kernel
def spin(p, k, q):
    for i in p:
        q[i] = p[i] * k[None] + ti.Vector([p[i].y, p[i].x * p[i].y])


@dt.kernel
def bowl(x, total):
    for i in x:
        total[None] += (x[i] - 1.0) ** 4 + x[i] * x[(i + 1) % x.shape[0]] + x[i] ** 2 * 3.0


@dt.kernel
def step(x):
    for i in x:
        x[i] += 0.1 * ti.sin(x[i])


def chained(x: Any, k: Any) -> Any:
    y = dt.zeros_like(x)
    chain(x, k, y)
    step(y)
    return y


def energy(x: Any) -> Any:
    total = dt.zeros((), dtype=x.dtype)
    bowl(x, total)
    return total


def spun(tree: Any, k: Any) -> Any:
    """Fields in mappings, of vectors, and a part of a field and a repeated one as results."""
    q, y = dt.zeros_like(tree["p"]), dt.zeros_like(tree["x"])
    spin(tree["p"], k, q)
    chain(tree["x"], tree["x"], y)
    return {"q": q, "rest": [y[1:], y]}


X, K = np.random.default_rng(0).uniform(-1.0, 1.0, 7), np.array([0.7, -1.3])


def test_an_operator_is_the_jacobian() -> None:
    op = dt.linear_operator(chained, X, K)
    blocks = dt.jacfwd(chained, (0, 1))(X, K)
    jacobian = np.concatenate(blocks, axis=1)
    assert isinstance(op, linalg.LinearOperator)
    assert (op.shape, op.dtype) == ((7, 9), np.float64)
    np.testing.assert_allclose(op.value, chained(dt.from_numpy(X), dt.from_numpy(K)).to_numpy())
    rng = np.random.default_rng(1)
    v, w = rng.normal(size=(9, 5)), rng.normal(size=(7, 5))
    exact: dict[str, Any] = {"rtol": 1e-13, "atol": 1e-13}
    np.testing.assert_allclose(op @ v, jacobian @ v, **exact)
    np.testing.assert_allclose(op @ v[:, 0], jacobian @ v[:, 0], **exact)
    np.testing.assert_allclose(op @ v[:, :1], jacobian @ v[:, :1], **exact)
    np.testing.assert_allclose(op.H @ w, jacobian.T @ w, **exact)
    np.testing.assert_allclose(op.T @ w[:, 0], jacobian.T @ w[:, 0], **exact)
    np.testing.assert_allclose(op.rmatmat(w), jacobian.T @ w, **exact)
    np.testing.assert_allclose(op @ (v + 1j * v[::-1]), jacobian @ (v + 1j * v[::-1]), **exact)
    np.testing.assert_allclose(op.rmatvec(1j * w[:, 0]), 1j * jacobian.T @ w[:, 0], **exact)
    np.testing.assert_allclose((2 * op.T @ op) @ v, 2 * jacobian.T @ jacobian @ v, **exact)
    few = dt.linear_operator(chained, X, K, chunk=2)
    np.testing.assert_allclose(few @ v, jacobian @ v, **exact)
    first = dt.linear_operator(chained, dt.from_numpy(X), K, argnums=1)
    np.testing.assert_allclose(first @ np.eye(2), blocks[1], **exact)


def test_an_operator_stays_at_its_point() -> None:
    x, k = dt.from_numpy(X), dt.from_numpy(K)
    constant = dt.from_numpy(X)

    def scaled(x: Any) -> Any:
        return chained(x, constant)

    op, captured = dt.linear_operator(chained, x, k), dt.linear_operator(scaled, x)
    found, again = op @ np.ones(9), captured @ np.ones(7)
    x.fill(3.0)
    constant.fill(9.0)
    assert (x.to_numpy() == 3.0).all() and (constant.to_numpy() == 9.0).all()
    np.testing.assert_array_equal(op @ np.ones(9), found)
    np.testing.assert_array_equal(captured @ np.ones(7), again)
    assert (x.to_numpy() == 3.0).all() and (constant.to_numpy() == 9.0).all()


def test_nested_arguments_and_results_in_order() -> None:
    p = np.random.default_rng(2).uniform(-1, 1, (3, 2))
    tree = {"x": dt.from_numpy(X), "p": dt.from_numpy(p, dt.vec(2, ti.f64))}
    op = dt.linear_operator(spun, tree, 0.5)
    assert op.shape == (6 + 6 + 7, 7 + 6 + 1)
    names = ("x", "p")
    rows = dt.jacfwd(spun, (0, 1))(tree, 0.5)
    expected = [
        [*(np.reshape(blocks[0][k], (n, tree[k].to_numpy().size)) for k in names),
         np.reshape(blocks[1], (n, 1))]
        for blocks, n in ((rows["q"], 6), (rows["rest"][0], 6), (rows["rest"][1], 7))
    ]  # fmt: skip
    np.testing.assert_allclose(op @ np.eye(14), np.block(expected), atol=1e-13)
    np.testing.assert_allclose(op.H @ np.eye(19), np.block(expected).T, atol=1e-13)
    v = np.arange(14.0)
    back, scale = op.inputs.unravel(v)
    assert list(back) == ["x", "p"] and scale == 13.0
    assert isinstance(back["p"], dt.Field) and back["p"].element == tree["p"].element
    np.testing.assert_array_equal(back["p"].to_numpy(), v[7:13].reshape(3, 2))
    np.testing.assert_array_equal(op.inputs.ravel((back, scale)), v)
    result = op.outputs.unravel(np.arange(19.0))
    np.testing.assert_array_equal(result["rest"][1].to_numpy(), np.arange(12.0, 19.0))
    np.testing.assert_array_equal(op.outputs.ravel(result), np.arange(19.0))
    np.testing.assert_array_equal(op.outputs.ravel(op.value)[:6], op.value["q"].to_numpy().ravel())


def test_a_single_argument_needs_no_tuple() -> None:
    op = dt.linear_operator(chained, X.astype(np.float32), dt.from_numpy(K), argnums=0)
    assert op.dtype == np.float32
    back = op.inputs.unravel(np.ones(7))
    assert back.dtype == np.float32 and back.shape == (7,)
    np.testing.assert_array_equal(op.inputs.ravel(back), np.ones(7))
    assert op.outputs.unravel(np.ones((7, 1))).shape == (7,)


@pytest.mark.parametrize(("dtype", "tol"), [(ti.f32, 2e-5), (ti.f64, 1e-12)])
def test_an_operator_of_the_hessian(dtype: Any, tol: float) -> None:
    x = dt.from_numpy(X, dtype)
    op = dt.hessian_operator(energy, x)
    expected = dt.hessian(energy)(x)
    assert op.dtype == (np.float32 if dtype == ti.f32 else np.float64)
    assert op.H is op and op.T is op
    np.testing.assert_allclose(op @ np.eye(7), expected, rtol=tol, atol=tol)
    np.testing.assert_allclose(op.rmatvec(np.ones(7)), expected.sum(0), rtol=tol, atol=20 * tol)
    np.testing.assert_allclose(op.value.to_numpy(), energy(x).to_numpy())
    largest, vectors = linalg.eigsh(op, k=2)
    np.testing.assert_allclose(largest, np.linalg.eigvalsh(expected)[-2:], rtol=100 * tol)
    assert vectors.shape == (7, 2)


def test_solvers_of_scipy_take_operators() -> None:
    fixed = dt.linear_operator(lambda x: chained(x, dt.from_numpy(K)), X)
    jacobian = fixed @ np.eye(7)
    b = np.arange(7.0)
    for solve in (linalg.gmres, linalg.bicgstab):
        found, info = solve(fixed, b, rtol=1e-10)
        assert info == 0
        np.testing.assert_allclose(jacobian @ found, b, atol=1e-7)
    curved = dt.hessian_operator(energy, X)
    found, info = linalg.cg(curved, b, rtol=1e-12)
    np.testing.assert_allclose(dt.hessian(energy)(X) @ found, b, atol=1e-9)
    tall = dt.linear_operator(chained, X, K)
    block = tall @ np.eye(9)
    least = linalg.lsqr(tall, b, atol=1e-13, btol=1e-13)[0]
    np.testing.assert_allclose(least, np.linalg.lstsq(block, b, rcond=None)[0], atol=1e-8)
    np.testing.assert_allclose(
        np.sort(linalg.svds(tall, k=3, random_state=0)[1]),
        np.sort(np.linalg.svd(block, compute_uv=False))[-3:],
        rtol=1e-8,
    )


def test_columns_that_cannot_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the bounds of loops depended on what varies."""
    refused: list[int] = []

    def refuse(self: Directions, width: int) -> None:
        refused.append(width)
        raise Unbatchable

    monkeypatch.setattr(Directions, "__init__", refuse)
    op, curved = dt.linear_operator(chained, X, K), dt.hessian_operator(energy, X)
    found = op @ np.eye(9), op.H @ np.eye(7), curved @ np.eye(7)
    assert refused == [9, 7, 7]
    monkeypatch.undo()
    np.testing.assert_allclose(found[0], op @ np.eye(9), atol=1e-13)
    np.testing.assert_allclose(found[1], found[0].T, atol=1e-13)
    np.testing.assert_allclose(found[2], curved @ np.eye(7), atol=1e-13)


def test_operators_refuse_what_they_cannot_do() -> None:
    op = dt.linear_operator(chained, X, K)
    with pytest.raises(ValueError, match="dimension mismatch"):
        op.matvec(np.ones(7))
    with pytest.raises(dt.LaunchError, match="the arguments has 9 real numbers"):
        op.inputs.unravel(np.ones(8))
    with pytest.raises(dt.LaunchError, match="complex128"):
        op.outputs.unravel(np.ones(7) * 1j)
    with pytest.raises(dt.FieldError, match=r"has the shape \(2,\), and \(3,\) is given"):
        op.inputs.ravel((X, np.ones(3)))
    with pytest.raises(dt.LaunchError, match="2 arguments"):
        op.inputs.ravel((X,))
    with pytest.raises(dt.LaunchError, match="one number; chained returns a field"):
        dt.hessian_operator(chained, X, K)
    with pytest.raises(dt.LaunchError, match=r"None; dt\.linear_operator takes fields"):
        dt.linear_operator(lambda x: None, X)
    loss = dt.zeros((), grad=True)
    with dt.Tape():
        with pytest.raises(dt.LaunchError, match="linear_operator is not recorded by the tape"):
            op.matvec(np.ones(9))
        with pytest.raises(dt.LaunchError, match="hessian_operator is not recorded by the tape"):
            dt.hessian_operator(energy, X)
        loss.fill(0.0)


# Sparse Jacobians

SQUARE = np.random.default_rng(1).uniform(-1, 1, (5, 6))


@dt.kernel
def neighbours(x, y):
    n, m = x.shape[0], x.shape[1]
    for i, j in x:
        y[i, j] = x[i, j] * x[(i + 1) % n, j] - ti.sin(x[i, (j + 1) % m])


def stencil(x: Any) -> Any:
    y = dt.zeros_like(x)
    neighbours(x, y)
    return y


def test_sparse_jacobians_have_the_format_of_the_pattern() -> None:
    expected = dt.jacfwd(stencil)(SQUARE).reshape(30, 30)
    for make in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        found = dt.sparse_jacobian(stencil, make(expected != 0))(SQUARE)
        assert type(found) is make
        np.testing.assert_allclose(found.toarray(), expected, atol=1e-14)
    for pattern in (expected != 0, np.nonzero(expected)):
        found = dt.sparse_jacobian(stencil, pattern, format="csr", chunk=2)(SQUARE)
        assert type(found) is sparse.csr_matrix and found.has_canonical_format
        np.testing.assert_allclose(found.toarray(), expected, atol=1e-14)


def test_a_pattern_is_found_and_used_again() -> None:
    found = dt.sparse_jacobian(stencil)(SQUARE)
    assert found.format == "csr" and found.nnz == 90
    expected = dt.jacfwd(stencil)(SQUARE).reshape(30, 30)
    np.testing.assert_array_equal(found.toarray(), expected)
    other = SQUARE[::-1].copy()
    again = dt.sparse_jacobian(stencil, found)
    found.data[:] = 0.0  # stored entries count, and a later change does not
    found.indices[:] = 0
    np.testing.assert_allclose(
        again(other).toarray(), dt.jacfwd(stencil)(other).reshape(30, 30), atol=1e-14
    )


def test_pairs_may_repeat_an_entry() -> None:
    jacobian = dt.jacfwd(stencil)(SQUARE).reshape(30, 30)
    rows, columns = np.nonzero(jacobian)
    rows, columns = np.append(rows[::-1], rows[4]), np.append(columns[::-1], columns[4])
    found = dt.sparse_jacobian(stencil, (rows, columns))(SQUARE)
    np.testing.assert_allclose(found, jacobian[rows, columns], atol=1e-14)
    twice = sparse.coo_matrix((np.ones(len(rows)), (rows, columns)), (30, 30))
    found = dt.sparse_jacobian(stencil, twice)(SQUARE)
    np.testing.assert_allclose(found.toarray(), jacobian, atol=1e-14)


def test_patterns_that_are_none() -> None:
    wrong: list[tuple[Any, str]] = [
        ((np.zeros(3), np.zeros(4)), "a pair of arrays of the same length"),
        (np.ones(5), "an array of shape"),
    ]
    for pattern, message in wrong:
        with pytest.raises(dt.LaunchError, match=message):
            dt.sparse_jacobian(stencil, pattern)
    with pytest.raises(dt.LaunchError, match=r"has the shape \(30, 30\)"):
        dt.sparse_jacobian(stencil, (np.array([30]), np.array([0])))(SQUARE)


def test_a_pattern_meets_arguments_of_several_sizes() -> None:
    diagonal = dt.sparse_jacobian(squares, (np.arange(4), np.arange(4)))
    for n in (4, 6):
        x = np.arange(1.0, n + 1)
        x[4:] = 0.0
        np.testing.assert_array_equal(diagonal(x), 2 * x[:4])
    with pytest.raises(dt.LaunchError, match=r"shape \(3, 3\)"):
        diagonal(np.ones(3))


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


def squares(x: Any) -> Any:
    y = dt.zeros_like(x)
    square(x, y)
    return y


@pytest.mark.parametrize("name", ["linear_operator", "hessian_operator", "sparse_jacobian"])
def test_without_scipy_operators_say_what_to_install(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for module in ("scipy", "scipy.sparse", "scipy.sparse.linalg"):
        monkeypatch.setitem(sys.modules, module, None)
    function: Callable[..., Any] = getattr(dt, name)
    args = () if name == "sparse_jacobian" else (X,)
    with pytest.raises(ImportError, match=rf"dt\.{name} needs SciPy"):
        function(energy, *args)
