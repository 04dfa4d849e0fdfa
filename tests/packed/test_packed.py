"""`dt.packed`: symmetric systems in arrays of a thread, beside NumPy and differences."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti

WORLDS = 3
rng = np.random.default_rng(11)


def of(values: Any, dtype: Any = ti.f64) -> Any:
    return dt.from_numpy(np.asarray(values), dtype=dtype, grad=True)


@cache
def kernel(n: int, *, tree: bool) -> Any:
    """Return a kernel of one world: x with A x = b, y = A x, and d = log det A, where A = a^2."""
    entries = n * (n + 1) // 2

    @dt.kernel
    def run(a, b, parent, x, y, d):
        A, F = dt.local(entries), dt.local(entries)
        r, s, p = dt.local(n), dt.local(n), dt.local(n)
        for e in range(entries):
            A[e] = a[e] * a[e]
        for i in range(n):
            r[i] = ti.sin(b[i])
        if ti.static(tree):
            dt.packed.factor(A, F, n, parent)
            dt.packed.solve(F, r, s, n, parent)
            dt.packed.multiply(A, s, p, n, parent)
        else:
            dt.packed.factor(A, F, n)
            dt.packed.solve(F, r, s, n)
            dt.packed.multiply(A, s, p, n)
        for i in range(n):
            x[i] = s[i]
            y[i] = p[i] * r[i]
            d[None] += ti.log(F[i * (i + 1) // 2 + i])

    return dt.batch(run, WORLDS, shared="parent")


def model(n: int, *, tree: bool) -> tuple[Any, Any, Any, Any]:
    """Return random matrices as roots of packed entries, their places, b and the tree."""
    parent = np.array([-1, *(int(rng.integers(-1, i)) for i in range(1, n))], np.int32)
    filled = np.ones((n, n), bool)
    if tree:
        filled[:] = False
        for i in range(n):
            j = i
            while j >= 0:
                filled[i, j] = True
                j = parent[j]
    entries = rng.uniform(0.1, 1, (WORLDS, n, n)) + 2 * n * np.eye(n)
    rows, columns = np.tril_indices(n)
    used = filled[rows, columns]
    a = np.sqrt(entries[:, rows, columns]) * used
    return a, used, rng.normal(size=(WORLDS, n)), parent


def whole(a: Any, n: int) -> Any:
    """Return the matrices of which `a` are the roots of the packed entries."""
    A = np.zeros((len(a), n, n), a.dtype)
    A[(slice(None), *np.tril_indices(n))] = a**2
    return A + np.tril(A, -1).transpose(0, 2, 1)


def value(a: Any, b: Any, n: int) -> tuple[Any, Any, Any]:
    A, r = whole(a, n), np.sin(b)
    x = np.linalg.solve(A, r[..., None])[..., 0]
    return x, r**2, np.log(np.linalg.det(A))


def run(a: Any, b: Any, parent: Any, n: int, *, tree: bool) -> list[Any]:
    dtype = a.dtype
    found = [
        dt.zeros(shape, dtype=dtype, grad=True) for shape in ((WORLDS, n), (WORLDS, n), WORLDS)
    ]
    kernel(n, tree=tree)(a, b, parent, *found)
    return found


@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize("n", [1, 6])
def test_values_and_derivatives(n: int, tree: bool) -> None:
    a, used, b, parent = model(n, tree=tree)
    at, chain = (of(a), of(b)), dt.from_numpy(parent)
    wanted = value(a, b, n)
    for found, right in zip(run(*at, chain, n, tree=tree), wanted, strict=True):
        np.testing.assert_allclose(found.to_numpy(), right, rtol=1e-12)

    def outputs(a: Any, b: Any) -> tuple[Any, ...]:
        return tuple(run(a, b, chain, n, tree=tree))

    way = rng.normal(size=a.shape) * used, rng.normal(size=b.shape)
    moved = value(a + 1e-30j * way[0], b + 1e-30j * way[1], n)
    _, tangents = dt.jvp(outputs, at, tuple(map(of, way)))
    seeds = [rng.normal(size=np.shape(one)) for one in wanted]
    _, pull = dt.vjp(outputs, *at)
    gradients = pull(tuple(map(of, seeds)))
    slope = 0.0
    for tangent, seed, one in zip(tangents, seeds, moved, strict=True):
        np.testing.assert_allclose(tangent.to_numpy(), one.imag / 1e-30, rtol=1e-11, atol=1e-12)
        slope += np.sum(seed * one.imag / 1e-30)
    total = sum(np.sum(w * g.to_numpy()) for w, g in zip(way, gradients, strict=True))
    np.testing.assert_allclose(total, slope, rtol=1e-11)


def test_second_derivatives() -> None:
    n = 3
    a, _, b, parent = model(n, tree=False)
    chain, way = dt.from_numpy(parent), rng.normal(size=a.shape)

    def energy(a: Any) -> Any:
        x, _, d = run(a, of(b), chain, n, tree=False)
        return _sum_of_squares(x, d)

    bent = dt.hvp(energy, of(a), of(way)).to_numpy()
    ends = [dt.grad(energy)(of(a + e * way)).to_numpy() for e in (1e-4, -1e-4)]
    np.testing.assert_allclose(bent, (ends[0] - ends[1]) / 2e-4, rtol=1e-6, atol=1e-8)


@dt.kernel
def add_squares(x, d, total):
    for i, j in x:
        total[None] += x[i, j] ** 2
    for i in d:
        total[None] += d[i]


def _sum_of_squares(x: Any, d: Any) -> Any:
    total = dt.zeros((), dtype=ti.f64, grad=True)
    add_squares(x, d, total)
    return total


@pytest.mark.slow
def test_single_precision_and_a_matrix_of_64_rows() -> None:
    """The same loops: the program has as many statements as for six rows."""
    n = 64
    a, _, b, parent = model(n, tree=True)
    found = run(of(a, ti.f32), of(b, ti.f32), dt.from_numpy(parent), n, tree=True)
    np.testing.assert_allclose(found[0].to_numpy(), value(a, b, n)[0], rtol=2e-5, atol=1e-6)
    sizes = [len(kernel(m, tree=True).source().splitlines()) for m in (6, n)]
    assert sizes[0] == sizes[1]
