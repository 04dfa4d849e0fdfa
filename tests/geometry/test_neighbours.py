"""Neighbours beside brute force, published energies and differences; small sets, run as Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.geometry import Neighbours, neighbours
from tests.geometry.nist import ENERGY, POSITIONS, SIDE, VIRIAL


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@dt.kernel
def found(grid, x, group, inside, met):
    for i in x:
        for j in grid.around(x[i], group[i]):
            met[i, j] += 1
            if grid.is_near(x[i], x[j]):
                inside[i, j] += 1


@dt.kernel
def lennard_jones(grid, x, scale, energy):
    for i in x:
        for j in grid.around(x[i]):
            if grid.is_near(x[i], x[j]) and i < j:
                d = scale[None] * grid.displacement(x[i], x[j])
                s = 1 / d.norm_sqr() ** 3
                energy[None] += 4 * (s * s - s)


@dt.kernel
def soft(grid, x, energy):
    for i in x:
        for j in grid.around(x[i]):
            if grid.is_near(x[i], x[j]) and i != j:
                q = grid.displacement(x[i], x[j]).norm() / grid.radius
                energy[None] += 0.5 * (1 - q) ** 3


@dt.kernel
def drift(x, v, h: float):
    for i in x:
        x[i] += h * v[i]


def distances(x: np.ndarray, box: Sequence[float] | None) -> np.ndarray:
    """Return the distances of all pairs, to the nearest image in a box."""
    with np.errstate(invalid="ignore"):
        d = x[None] - x[:, None]
        for a, length in enumerate(box or ()):
            if length:
                d[..., a] -= length * np.round(d[..., a] / length)
    return np.linalg.norm(d, axis=-1)


def positions(n: int, d: int, seed: int = 0, spread: float = 1.0) -> np.ndarray:
    return spread * np.random.default_rng(seed).random((n, d))


def field(x: np.ndarray, grad: bool = False) -> dt.Field:
    return dt.from_numpy(x, dtype=dt.vec(x.shape[1], ti.f64), grad=grad)


@pytest.mark.parametrize("box", [None, "cube", "one axis", "two cells", "one cell"])
@pytest.mark.parametrize("d", [2, 3])
def test_points_within_the_radius_are_found_once_and_no_point_twice(d: int, box: Any) -> None:
    radius = 0.15
    lengths: dict[Any, Sequence[float] | None] = {
        None: None,
        "cube": [1.0] * d,
        "one axis": [1.0, *[0.0] * (d - 1)],
        "two cells": [0.31] * d,
        "one cell": [2 * radius] * d,
    }
    # Some lie outside of a box, and some have no position.
    x = positions(40, d, spread=1.6) - 0.3
    x[3], x[4, 1], x[5] = np.nan, np.inf, 1e7
    group = np.random.default_rng(1).integers(-1, 3, len(x)).astype(np.int32)
    grid = Neighbours(radius, box=lengths[box], groups=2)
    grid.update(field(x), dt.from_numpy(group))
    inside, met = (dt.zeros((len(x), len(x)), ti.i32) for _ in range(2))
    found(grid, field(x), dt.from_numpy(group), inside, met)
    seen = (group[:, None] == group[None]) & (group >= 0) & (group < 2)
    np.testing.assert_array_equal(inside.to_numpy(), (distances(x, lengths[box]) < radius) & seen)
    assert met.to_numpy().max() == 1
    assert not met.to_numpy()[~seen].any()


def test_far_points_do_not_make_cells_wide() -> None:
    """One that flies off leaves the cells of the others as they are."""
    x = positions(200, 2)
    x[0] = 1e5
    grid = Neighbours(0.02)
    grid.update(field(x))
    met = dt.zeros((200, 200), ti.i32)
    found(grid, field(x), dt.zeros(200, ti.i32), dt.zeros((200, 200), ti.i32), met)
    assert met.to_numpy().sum() < 2000


def test_the_energy_and_virial_of_a_published_configuration() -> None:
    """The virial is minus the derivative by the scale of all distances."""
    x, scale = field(POSITIONS, grad=True), dt.full((), 1.0, ti.f64, grad=True)
    energy = dt.zeros((), ti.f64, grad=True)
    grid = Neighbours(3.0, box=[SIDE] * 3)
    grid.update(x)
    with dt.Tape(energy):
        lennard_jones(grid, x, scale, energy)
    assert abs(energy[None] - ENERGY) < 1e-11
    assert abs(-scale.grad[None] - VIRIAL) < 5e-4
    assert np.abs(x.grad.to_numpy().sum(0)).max() < 1e-10


def test_the_gradient_of_positions_is_that_of_differences() -> None:
    x = field(positions(12, 2, 3), grad=True)
    energy = dt.zeros((), ti.f64, grad=True)
    grid = Neighbours(0.4, box=[1.0, 0.0])
    grid.update(x)

    def value(x: dt.Field) -> dt.Field:
        soft(grid, x, energy)
        return energy

    dt.gradcheck(value, [x])


def test_a_tape_keeps_the_grids_of_its_launches() -> None:
    """The gradient of a run in which points change their cells is that of differences."""
    start, v = positions(10, 2, 5), field(2 * positions(10, 2, 6) - 1, grad=True)
    x, energy = field(start, grad=True), dt.zeros((), ti.f64, grad=True)

    def run() -> int:
        grid, new = Neighbours(0.3, skin=0.05), 0
        for _ in range(4):
            drift(x, v, 0.1)
            new += grid.update(x)
            soft(grid, x, energy)
        return new

    def value(at: np.ndarray) -> float:
        x.from_numpy(start)
        v.from_numpy(at)
        energy.fill(0.0)
        with dt.no_grad():
            run()
        return energy[None]

    with dt.Tape(energy):
        assert run() == 4
    found, at, step = v.grad.to_numpy(), v.to_numpy(), 1e-6
    for i, a in ((0, 0), (4, 1), (9, 0)):
        move = np.zeros_like(at)
        move[i, a] = step
        slope = (value(at + move) - value(at - move)) / (2 * step)
        assert abs(slope - found[i, a]) < 1e-6


def test_the_grid_is_new_when_a_point_has_moved_by_half_of_the_skin() -> None:
    x = positions(20, 3)
    grid = Neighbours(0.2, skin=0.1)
    assert grid.update(field(x))
    assert not grid.update(field(x))
    x[7, 1] += 0.049
    assert not grid.update(field(x))
    x[7, 1] += 0.002
    assert grid.update(field(x))
    x[0] = np.nan
    assert grid.update(field(x))
    assert grid.update(field(x[:10]))


@pytest.mark.parametrize("n", [0, 1, 30])
@pytest.mark.parametrize("half", [False, True])
def test_lists_beside_brute_force(n: int, half: bool) -> None:
    x = positions(n, 2, 8)
    grid = Neighbours(0.2, skin=0.02, box=[1.0, 1.0])
    grid.update(field(x))
    near = distances(x, [1.0, 1.0]) < 0.22
    np.fill_diagonal(near, False)
    expected = np.nonzero(np.triu(near) if half else near)
    first, second = grid.lists(half=half, ordered=True).pairs()
    np.testing.assert_array_equal(first.to_numpy(), expected[0])
    np.testing.assert_array_equal(second.to_numpy(), expected[1])
    lists = grid.lists(half=half)
    assert len(lists) == len(expected[0])
    first, second = (one.to_numpy() for one in lists.pairs())
    by_both = np.lexsort((second, first))
    np.testing.assert_array_equal(second[by_both], expected[1])


@dt.kernel
def listed(lists, x, y):
    for i in x:
        for j in lists.of(i):
            y[i] += (x[i] - x[j]).norm_sqr()


def test_loops_over_lists_have_derivatives() -> None:
    x, y = field(positions(8, 2), grad=True), dt.zeros(8, ti.f64, grad=True)
    grid = Neighbours(0.5)
    grid.update(x)
    lists = grid.lists()

    def value(x: dt.Field) -> dt.Field:
        listed(lists, x, y)
        return y

    dt.gradcheck(value, [x])


def test_the_order_in_a_cell_does_not_depend_on_threads() -> None:
    cell = dt.from_numpy(np.array([1, 0, 1, 1, -1, 0], np.int32))
    starts = dt.from_numpy(np.array([0, 2, 5], np.int32))
    for first, second in (([1, 5], [0, 2, 3]), ([5, 1], [3, 0, 2])):
        place = dt.from_numpy(np.array([*first, *second, 0], np.int32))
        order = dt.zeros(6, ti.i32)
        neighbours._in_order(cell, starts, place, order)
        assert order.to_numpy()[:5].tolist() == [1, 5, 0, 2, 3]


def test_the_memory_of_a_grid() -> None:
    """An index for each point, a place for each cell and one more, and the positions."""
    grid = Neighbours(0.1, groups=3)
    grid.update(field(positions(500, 3)))
    cells = 3 * int(np.prod(grid._size.to_numpy()))
    assert cells <= 1000
    assert grid.nbytes == 4 * 500 + 4 * (cells + 1) + 24 * 500


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Neighbours(0.0), "the radius is a positive length, not 0.0"),
        (lambda: Neighbours(1.0, skin=-1.0), "the skin is 0 or a length, not -1.0"),
        (lambda: Neighbours(1.0, groups=0), "at least one group, not 0"),
        (lambda: Neighbours(1.0, box=[1.9, 4.0]), "a periodic box is at least 2 long"),
        (lambda: Neighbours(1.0).update(dt.zeros(3)), "vectors of 2 or 3 components"),
        (
            lambda: Neighbours(1.0, box=[2.0, 2.0]).update(field(positions(3, 3))),
            "the box has 2 axes, and positions have 3",
        ),
        (lambda: Neighbours(1.0).update(field(positions(3, 3)), dt.zeros(2)), "groups are a field"),
        (lambda: Neighbours(1.0).lists(), "call 'update' first"),
    ],
)
def test_wrong_arguments_are_refused(make: Any, message: str) -> None:
    with pytest.raises(dt.FieldError, match=message):
        make()
