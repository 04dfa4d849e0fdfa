"""Grids in one process: layouts of any number of ranks, uses of fields, and what is refused."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.diagnostics import FieldError, RankError
from difftile.distributed.boxes import Layout, divided


@dt.kernel
def smooth(u: Any, v: Any) -> None:
    """Take products of neighbours along a ring."""
    for i in range(1, u.shape[0] - 1):
        v[i] = u[i - 1] * u[i + 1] + u[i]


@dt.kernel
def total(loss: Any, u: Any) -> None:
    """Add the squares."""
    for i in u:
        loss[None] += u[i] * u[i]


def layouts(count: int) -> list[Layout]:
    """Return random layouts of up to 64 ranks."""
    rng = random.Random(5)
    found: list[Layout] = []
    while len(found) < count:
        axes = rng.randint(1, 3)
        ranks = tuple(rng.randint(1, 5) for _ in range(axes))
        if math.prod(ranks) > 64:
            continue
        shape = tuple(rng.randint(one, 9) for one in ranks)
        halo = tuple(rng.randint(0, 4) for _ in ranks)
        found.append(Layout(shape, ranks, halo, tuple(rng.random() < 0.5 for _ in ranks)))
    return found


@pytest.mark.parametrize("layout", layouts(40), ids=str)
def test_pieces_fill_each_halo_once_from_the_owners(layout: Layout) -> None:
    owner = np.full(layout.shape, -1)
    for rank in range(layout.count):
        box = tuple(slice(*one) for one in layout.own(rank))
        assert (owner[box] == -1).all() and owner[box].size
        owner[box] = rank
    assert (owner >= 0).all()
    for rank in range(layout.count):
        own = layout.own(rank)
        first = [low - w for (low, _), w in zip(own, layout.halo, strict=True)]
        shape = [high - low + 2 * w for (low, high), w in zip(own, layout.halo, strict=True)]
        times = np.zeros(shape, int)
        for piece in layout.pieces(rank):
            times[
                tuple(slice(a - f, b - f) for (a, b), f in zip(piece.at, first, strict=True))
            ] += 1
            assert (owner[tuple(slice(*one) for one in piece.owned)] == piece.owner).all()
            for (a, b), (c, d), size in zip(piece.at, piece.owned, layout.shape, strict=True):
                assert (a - c) % size == 0 and b - a == d - c > 0
        expected = np.ones(shape, int)
        for axis, (f, n) in enumerate(zip(first, shape, strict=True)):
            at = np.arange(f, f + n)
            outside = (at < 0) | (at >= layout.shape[axis])
            if not layout.periodic[axis]:
                expected[(slice(None),) * axis + (outside,)] = 0
        middle = tuple(slice(w, n - w) for w, n in zip(layout.halo, shape, strict=True))
        expected[middle] = 0
        assert (times == expected).all()


@pytest.mark.parametrize("layout", layouts(40)[::2], ids=str)
def test_interior_and_rim_are_the_own_cells(layout: Layout) -> None:
    for rank in range(layout.count):
        times = np.zeros(layout.shape, int)
        inside = layout.interior(rank)
        for box in (inside, *layout.rim(rank)):
            times[tuple(slice(*one) for one in box)] += 1
        expected = np.zeros(layout.shape, int)
        expected[tuple(slice(*one) for one in layout.own(rank))] = 1
        assert (times == expected).all()
        if all(a < b for a, b in inside):
            reach = [(a - w, b + w) for (a, b), w in zip(inside, layout.halo, strict=True)]
            for (a, b), (low, high), n, closed in zip(
                reach, layout.own(rank), layout.shape, layout.periodic, strict=True
            ):
                assert a >= low or (low == 0 and not closed)
                assert b <= high or (high == n and not closed)


def test_grids_are_divided_by_the_least_surface() -> None:
    assert divided((96, 96), 4, (False, False)) == (2, 2)
    assert divided((512, 64), 4, (False, False)) == (4, 1)
    assert divided((64, 64, 64), 64, (True, True, True)) == (4, 4, 4)
    assert divided((96, 96), 2, (False, False)) == (2, 1)
    assert divided((5,), 6, (False,)) is None and divided((2, 2), 5, (False, False)) is None


def ring(n: int, *, grad: bool = True) -> Any:
    """Return a field on a ring of cells, exchanged."""
    grid = dist.Grid((n,), halo=1, periodic=True)
    u = grid.field(ti.f64, grad=grad)
    u.from_global(np.arange(1.0, n + 1))
    return u


def loss_of(u: Any) -> Any:
    """Return a number that depends on the halo."""
    loss = dt.zeros((), ti.f64, grad=True)
    v = dt.zeros_like(u, grad=True)
    u.exchange()
    smooth(u, v)
    total(loss, v.inner)
    return loss


def gradient_of_ring(x: np.ndarray) -> np.ndarray:
    """Return the gradient of that by hand."""
    v_bar = 2.0 * (np.roll(x, 1) * np.roll(x, -1) + x)
    return v_bar + np.roll(v_bar * np.roll(x, -1), -1) + np.roll(v_bar * np.roll(x, 1), 1)


def test_a_checkpoint_exchanges_again() -> None:
    u = ring(5)
    start = dt.from_numpy(np.arange(1.0, 6.0), ti.f64, grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    v = dt.zeros_like(u, grad=True)

    @dt.checkpoint
    def step(u: Any, v: Any) -> None:
        u.exchange()
        smooth(u, v)

    with dt.Tape(loss):
        u.inner.copy_from(start)
        step(u, v)
        total(loss, v.inner)
    expected = gradient_of_ring(np.arange(1.0, 6.0))
    np.testing.assert_allclose(start.grad.to_numpy(), expected, rtol=1e-13)


def test_no_gradient_passes_an_exchange_inside_no_grad() -> None:
    u = ring(4)
    start = dt.from_numpy(np.arange(1.0, 5.0), ti.f64, grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        u.inner.copy_from(start)
        with dt.no_grad():
            u.exchange()
        total(loss, u)
    np.testing.assert_allclose(start.grad.to_numpy(), 2.0 * np.arange(1.0, 5.0))


def test_derivatives_as_functions() -> None:
    x = np.arange(1.0, 6.0)
    u = ring(5, grad=False)
    np.testing.assert_allclose(dt.grad(loss_of)(u).inner.to_numpy(), gradient_of_ring(x))
    h = 1e-6
    steps = [gradient_of_ring(x + s * h * np.cos(x)) for s in (1, -1)]
    direction = dt.zeros_like(u)
    direction.inner.from_numpy(np.cos(x))
    product = dt.hvp(loss_of, u, direction)
    np.testing.assert_allclose(product.inner.to_numpy(), (steps[0] - steps[1]) / (2 * h), rtol=1e-7)


def test_exchanges_inside_an_exchange_have_messages_of_their_own() -> None:
    grid = dist.Grid((4,), halo=1, periodic=True)
    u, v = grid.field(ti.f64, grad=True), grid.field(ti.f64, grad=True)
    u.inner.from_numpy(np.arange(4.0))
    v.inner.from_numpy(10.0 + np.arange(4.0))
    with dt.Tape() as tape, grid.exchanging(u):
        v.exchange()
        u.inner.fill(7.0)
    assert u.to_numpy().tolist() == [3.0, 7.0, 7.0, 7.0, 7.0, 0.0]
    assert v.to_numpy().tolist() == [13.0, 10.0, 11.0, 12.0, 13.0, 10.0]
    tape.backward({u: np.arange(6.0), v: np.ones(6)})
    assert u.grad.inner.to_numpy().tolist() == [5.0, 0.0, 0.0, 0.0]
    assert v.grad.inner.to_numpy().tolist() == [2.0, 1.0, 1.0, 2.0]


def test_structs_and_several_types_are_exchanged_at_once() -> None:
    particle = ti.types.struct(x=dt.vec(2, ti.f64), n=ti.i32)
    grid = dist.Grid((3, 2), halo=(1, 2), periodic=(True, False))
    p, u = grid.field(particle, grad=True), grid.field(ti.f32)
    assert p.shape == (5, 6) and p.x.split is u.split and p.x.grad.split is u.split
    x, n = np.arange(12.0).reshape(3, 2, 2), np.arange(6).reshape(3, 2)
    p.x.inner.from_numpy(x)
    p.n.inner.from_numpy(n)
    u.inner.from_numpy(n)
    grid.exchange(p, u)
    wrapped = np.pad(n, ((1, 1), (0, 0)), mode="wrap")
    assert (p.n.to_numpy()[:, 2:-2] == wrapped).all() and (u.to_numpy()[:, 2:-2] == wrapped).all()
    p.n.fill(0)
    p.from_global({"x": x, "n": n})
    assert (p.n.to_numpy()[:, 2:-2] == wrapped).all()
    p.exchange()
    whole = p.to_global()
    assert (whole["x"] == x).all() and (whole["n"] == n).all()


def test_what_is_refused() -> None:
    with pytest.raises(RankError, match=r"needs 4 ranks, and there is 1\. Leave 'ranks' out"):
        dist.Grid((8, 8), ranks=(2, 2))
    with pytest.raises(FieldError, match="one to three axes"):
        dist.Grid((2, 2, 2, 2))
    with pytest.raises(FieldError, match="'halo' is a number of cells, 0 or more, or one for each"):
        dist.Grid((4, 4), halo=(1, 1, 1))
    with pytest.raises(FieldError, match="'halo'"):
        dist.Grid((4, 4), halo=-1)
    with pytest.raises(FieldError, match="'ranks' has a number of boxes for each axis"):
        dist.Grid((4, 4), ranks=(1,))
    grid = dist.Grid((4, 4), halo=1, periodic=True)
    u = grid.field(ti.f32)
    with pytest.raises(FieldError, match="twice"):
        grid.exchange(u, u)
    with pytest.raises(
        FieldError, match=r"no field of this grid, whose fields have shape \(6, 6\)"
    ):
        grid.exchange(dt.zeros((4, 4)))
    with pytest.raises(FieldError, match="whole fields"):
        grid.exchange(u.inner)
    with pytest.raises(FieldError, match="integers"):
        grid.field(ti.i32, grad=True)
    with pytest.raises(
        FieldError, match=r"an array of the whole grid, shape \(4, 4\), not \(6, 6\)"
    ):
        u.from_global(np.zeros((6, 6)))
