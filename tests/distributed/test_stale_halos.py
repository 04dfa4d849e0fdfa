"""Under debug, kernels that read halos which were not exchanged are found."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti


@dt.kernel
def mean(u: Any, v: Any) -> None:
    """Take means of neighbours along both axes."""
    for i, j in ti.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@dt.kernel
def wide(u: Any, v: Any) -> None:
    """Take means in part of the halo as well."""
    for i, j in ti.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        v[i, j] = 0.5 * (u[i - 1, j] + u[i + 1, j])


@dt.kernel
def double(u: Any) -> None:
    """Change every element, those of the halo too."""
    for i, j in u:
        u[i, j] *= 2.0


@dt.kernel
def total(u: Any, loss: Any) -> None:
    """Add all elements."""
    for i, j in u:
        loss[None] += u[i, j]


@pytest.fixture
def debug() -> Any:
    """Run in a debug session."""
    dt.init(debug=True)
    yield
    dt.init()


@pytest.mark.usefixtures("debug")
def test_a_kernel_that_reads_an_old_halo_is_reported() -> None:
    grid = dist.Grid((6, 5), halo=1, periodic=(True, False))
    u, v = grid.field(ti.f32), grid.field(ti.f32)
    u.fill(1.0)
    loss = dt.zeros((), ti.f32)
    u.exchange()
    mean(u, v)
    v.exchange()
    mean(v, u)
    with pytest.warns(dt.StaleHalo, match=r"Kernel 'mean' reads the halo of <field f32 \(8, 7\)>"):
        mean(u, v)
    with pytest.warns(dt.StaleHalo, match="'total'"):
        total(v, loss)
    total(v.inner, loss)
    v.fill(0.0)
    mean(v, u)


@pytest.mark.usefixtures("debug")
def test_kernels_that_are_right_are_not_reported() -> None:
    closed = dist.Grid((6, 5), halo=1)  # its halo is the boundary, which nobody exchanges
    u, v = closed.field(ti.f32), closed.field(ti.f32)
    for _ in range(2):
        mean(u, v)
        mean(v, u)
    thick = dist.Grid((6, 5), halo=2, periodic=True)
    a, b = thick.field(ti.f32, grad=True), thick.field(ti.f32, grad=True)
    with dt.Tape() as tape:
        a.exchange()
        wide(a, b)  # two steps for one exchange
        wide(b, a)
        double(a)
    tape.backward({a: a.to_numpy()})
    for _ in range(2):
        u.exchange()
        double(u)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            total(u.inner, dt.zeros((), ti.f32))
