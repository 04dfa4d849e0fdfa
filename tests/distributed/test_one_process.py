"""What ranks do by themselves, and to their messages: in one process, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.distributed.accumulation import add_to, take_out
from difftile.distributed.migration import place
from difftile.distributed.transfer import Part, begin
from difftile.ranks.alone import Alone, Done
from difftile.ranks.numbers import carried
from difftile.substrate import current_session
from tests.slow_network import connected


@pytest.fixture(autouse=True)
def as_python() -> None:
    if current_session().compiles:
        dt.init(arch="python")


@dt.kernel
def weigh(x: Any, w: Any, loss: Any) -> None:
    for i in x:
        loss[None] += w[i] * x[i] ** 3


def test_cells_go_to_their_owners_once() -> None:
    values = np.arange(1.0, 9.0)
    field, messages = dt.from_numpy(values), dt.zeros((3, 2), ti.f64)
    cells, owners = dt.from_numpy(np.int32([7, 0, 4])), dt.from_numpy(np.int32([2, 3, 3]))
    expected = values.copy()
    np.add.at(expected, [2, 3, 3], values[[7, 0, 4]])
    expected[[7, 0, 4]] = 0.0
    for _ in range(2):  # the second time the halo has nothing to give
        take_out(messages, 1, cells, field)
        add_to(field, owners, messages, 1)
        np.testing.assert_array_equal(field.to_numpy(), expected)
    assert not messages.to_numpy()[:, 0].any()


@pytest.mark.parametrize(("before", "arriving", "leaving"), [(6, 1, 4), (4, 3, 1), (5, 2, 2)])
def test_rows_that_are_not_in_use_are_empty(before: int, arriving: int, leaving: int) -> None:
    rows = dt.from_numpy(np.where(np.arange(9) < before, 10.0 + np.arange(9), 0.0))
    after = before + arriving - leaving
    # The first rows leave; the last ones fill what then is free.
    free = [*range(min(leaving, after)), *range(before, after)]
    last = [*range(max(leaving, after), before)]
    ends = [leaving, arriving + len(last), after, max(before, after), leaving, arriving]
    sent = [*range(leaving), *last]
    place(
        dt.from_numpy(np.int32(ends)),
        dt.from_numpy(np.int32([*free, 0])),
        dt.from_numpy(-1.0 - np.arange(arriving)),
        dt.from_numpy(10.0 + np.array(sent)),
        rows,
        dt.zeros(1, ti.f64),
    )
    found = rows.to_numpy()
    kept = [10.0 + k for k in range(leaving, before)]
    assert sorted(found[:after]) == sorted([*(-1.0 - np.arange(arriving)), *kept])
    assert not found[after:].any()


def test_gradients_and_their_tangents_come_back_in_order() -> None:
    values = np.array([0.5, -1.0, 2.0])
    w = dt.from_numpy(np.array([1.0, 2.0, 3.0]))
    received = dt.zeros(3, ti.f64, grad=True)

    def energy(x: dt.Field) -> dt.Field:
        loss = dt.zeros((), ti.f64, grad=True)
        begin(x, [Part(0, 0, 3)], received, [Part(0, 0, 3)], "the copy")()
        weigh(received, w, loss)
        return loss

    x = dt.from_numpy(values, grad=True)
    direction = np.array([1.0, 10.0, -1.0])
    curved = dt.hvp(energy, x, direction).to_numpy()
    np.testing.assert_allclose(curved, 6.0 * w.to_numpy() * values * direction, rtol=1e-14)
    (slope,) = (dt.grad(energy)(x),)
    np.testing.assert_allclose(slope.to_numpy(), 3.0 * w.to_numpy() * values**2, rtol=1e-14)


class Other(Alone):
    """Another rank, which uses all of some parameters, with the gradient 0.5."""

    size = 2

    def __init__(self, parameters: int) -> None:
        super().__init__(0.0)
        self._parameters = parameters

    def all_reduce(self, array: Any, op: str = "sum", *, agreed: bool = False) -> Done:
        """Add what the other rank has."""
        if agreed:
            array += 0.5
        else:
            array[:2] *= 2
            array[2 : 2 + self._parameters] += 1
        return Done()


@pytest.mark.parametrize("bucket", [1, "25MB"])
def test_a_rank_that_leaves_a_parameter_out_adds_zeros(bucket: Any) -> None:
    x, y = (dt.from_numpy(np.array([1.0, 2.0]), grad=True) for _ in range(2))
    ones, loss = dt.ones(2, ti.f64), dt.zeros((), ti.f64, grad=True)
    gradients = dist.Gradients([x, y], bucket=bucket)
    gradients.compared = True
    with dt.Tape(loss):
        weigh(x, ones, loss)
        weigh(y, ones, loss)
    old = y.grad.to_numpy()
    with connected(Other(2)), dt.Tape(loss, reduce=gradients):
        weigh(x, ones, loss)
    assert x.grad.to_numpy().tolist() == [3.5, 12.5]
    assert y.grad.to_numpy().tolist() == [0.5, 0.5] and old.tolist() == [3.0, 12.0]


NAMES = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("op", ["sum", "max", "min"])
@pytest.mark.parametrize("name", NAMES)
def test_whole_numbers_of_ranks_combine_as_those_of_python(name: str, op: str) -> None:
    limits = np.iinfo(name)
    pairs = [(limits.min, limits.max), (limits.max, 0), (1, limits.max - 1), (3, 4)]
    ours, theirs = (np.array(side, name) for side in zip(*pairs, strict=True))
    found, put_back = carried(ours, op)
    other, _ = carried(theirs, op)
    combine = {"sum": np.add, "max": np.maximum, "min": np.minimum}[op]
    combine(found, other, out=found)
    put_back()
    of = {"sum": sum, "max": max, "min": min}[op]
    assert [int(one) for one in ours] == [of(pair) for pair in pairs]
