"""Derivatives of ops on small vectors and matrices against closed formulas and NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.ir.types import F64, Matrix, Vector
from difftile.ops.table import OPS
from tests.op_programs import Case, row_tangent


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@dt.kernel
def lengths(x, y):
    for i in x:
        y[i] = x[i].norm()


def test_the_length_of_nothing_has_a_gradient_of_zero() -> None:
    x = dt.from_numpy(np.array([[3.0, 4.0], [0.0, 0.0]]), dt.vec(2, ti.f64), grad=True)
    y = dt.zeros(2, ti.f64, grad=True)
    with dt.Tape() as tape:
        lengths(x, y)
    tape.backward({y: 1.0})
    np.testing.assert_allclose(x.grad.to_numpy(), [[0.6, 0.8], [0.0, 0.0]], rtol=1e-15)


@pytest.mark.parametrize(("name", "part"), [("solve_lower", np.tril), ("solve_upper", np.triu)])
def test_tangents_of_triangular_systems_count_only_the_triangle_that_is_read(
    name: str, part: Any
) -> None:
    rng = np.random.default_rng(4)
    a, da, (b, db) = (
        3 * np.eye(3) + rng.normal(size=(3, 3)),
        rng.normal(size=(3, 3)),
        rng.normal(size=(2, 3)),
    )
    case = Case(OPS[name], (Matrix(3, 3, F64), Vector(3, F64)), Vector(3, F64))
    moved = np.linalg.solve(part(a + 1e-30j * da), b + 1e-30j * db)
    np.testing.assert_allclose(row_tangent(case, [a, b], [da, db]), moved.imag / 1e-30, rtol=1e-12)
