"""Which rows move where: all ranks in one process, against sets of particles and NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import prefix_sums, ti
from difftile.distributed import moves
from difftile.distributed.domain import Domain
from difftile.distributed.moves import MoveFields, MoveSearch
from difftile.prefix_sums import Grain

CAPACITY = 60
GRAINS = {
    "as measured": None,
    "alone": Grain(1, 1, 8, 1 << 20, 1 << 30),
    "as on a GPU": Grain(1 << 20, 4, 5, 3, 2),
}


@pytest.fixture(params=GRAINS)
def shared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Share work as is done on one device or another."""
    given = GRAINS[request.param]
    if given is not None:
        for module in (prefix_sums, moves):
            monkeypatch.setattr(module, "grain", lambda: given)
    yield


def line(size: int) -> Domain:
    """Return one cell for each rank."""
    return Domain((tuple(range(size)),), (size,), (False,), (0.0,), (1.0,))


def found_by_kernels(owner: Any, rank: int, size: int, after: int) -> tuple[Any, ...]:
    """Return the counts by destination, the rows taken, their places and the ends."""
    before = len(owner)
    x, count = dt.zeros(CAPACITY, ti.f32), dt.full((), before, ti.i32)
    x[:before].from_numpy(owner + 0.5)
    x[before:].fill(np.nan)
    search = MoveSearch(line(size), x, count, rank, size)
    *others, own, outside = search.count_rows().tolist()
    assert outside == 0
    counts = [*others[:rank], own, *others[rank:]]
    leaving = sum(others)
    into = MoveFields(*(dt.full(n, -1, ti.i32) for n in (CAPACITY, CAPACITY, 1, 6)))
    into.ends[:2].from_numpy(np.array([leaving, after - own], np.int32))
    search.list_rows(before, after, leaving, into)
    return counts, into.taken.to_numpy(), into.places.to_numpy(), into.ends.to_numpy()


def found_by_numpy(owner: Any, rank: int, after: int) -> tuple[Any, Any]:
    """Return the rows taken and their places."""
    before = len(owner)
    leaving = np.flatnonzero(owner != rank)
    taken = leaving[np.argsort(owner[leaving], kind="stable")]
    last = np.flatnonzero(owner[after:] == rank) + after
    free = np.concatenate((leaving[leaving < after], np.arange(before, after)))
    return np.concatenate((taken, last[::-1])), free


@pytest.mark.parametrize("size", [1, 2, 5])
def test_moved_rows_are_those_that_are_sent_and_none_is_lost(shared: None, size: int) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 12, size) * rng.integers(0, 2, size)
        restless = rng.choice([0.0, 0.2, 1.0])
        owners = [
            np.where(rng.random(n) < restless, rng.integers(0, size, n), rank)
            for rank, n in enumerate(counts)
        ]
        check(owners, size)


def check(owners: list[Any], size: int) -> None:
    """Check the moves of all ranks whose rows go to the given ranks."""
    table = np.array([np.bincount(one, minlength=size) for one in owners])
    rows = [np.arange(100 * rank, 100 * rank + len(one)) for rank, one in enumerate(owners)]
    for rank, owner in enumerate(owners):
        before, after = len(owner), int(table[:, rank].sum())
        found, taken, places, ends = found_by_kernels(owner, rank, size, after)
        assert found == table[rank].tolist()
        leave, free = found_by_numpy(owner, rank, after)
        assert taken[: len(leave)].tolist() == leave.tolist() and (taken[len(leave) :] == -1).all()
        assert places[: len(free)].tolist() == free.tolist() and (places[len(free) :] == -1).all()
        assert ends[:2].tolist() == [len(leave), len(free)]
        # What the places hold afterwards: arrivals by rank and row, and then the last rows.
        others = [
            r[o == rank] for s, (r, o) in enumerate(zip(rows, owners, strict=True)) if s != rank
        ]
        arrived = np.concatenate([[], *others])
        gone = int((owner != rank).sum())
        state = np.full(max(before, after), -1.0)
        state[:before] = rows[rank]
        state[free] = np.concatenate((arrived, rows[rank][leave[gone:]]))
        wanted = np.concatenate((*others, rows[rank][owner == rank]))
        assert sorted(state[:after]) == sorted(wanted)
        # Rows that stay, and are not needed elsewhere, stay in their places.
        stay = np.flatnonzero(owner[:after] == rank)
        assert state[stay].tolist() == rows[rank][stay].tolist()


@pytest.mark.parametrize("dtype", [ti.f32, ti.f64, ti.f16])
def test_owners_of_positions(dtype: Any) -> None:
    domain = Domain(((0, 3), (0, 2, 5)), (6, 7), (True, False), (-1.0, 0.0), (0.5, 1.0))
    places = np.array(
        [[-1.0, 0.0], [0.49, 1.99], [0.5, 2.0], [1.99, 6.9], [1.995, 5.0], [-0.5, 4.9]]
    )
    found, inside = domain.owners_of(places)
    assert inside.all()
    assert found.tolist() == [0, 0, 4, 5, 5, 1]
    turned = places + np.array([3.0, 0.0]) * [[1], [0], [2], [0], [-1], [-3]]
    assert domain.owners_of(turned)[0].tolist() == found.tolist()
    wrong = np.array([[0.0, -1e-3], [0.0, 7.0], [np.nan, 0.0], [np.inf, 0.0], [0.0, np.nan]])
    assert domain.owners_of(wrong)[1].tolist() == [False] * 5
    assert str(domain) == "[-1, 2) x [0, 7)"
    # Kernels agree, on positions in the ring, in the type of these.
    rng = np.random.default_rng(0)
    edges = np.stack(np.meshgrid([-1.0, 0.5, 1.5], [0.0, 2.0, 5.0]), -1).reshape(-1, 2)
    near = np.concatenate((edges, *(np.nextafter(edges, edges + s) for s in (1.0, -1.0))))
    near = near[(near[:, 0] >= -1.0) & (near[:, 1] >= 0.0)]
    some = np.concatenate((near, rng.uniform([-1.0, 0.0], [1.99, 6.99], (200, 2)), wrong))
    x = dt.from_numpy(some, dt.vec(2, dtype))
    own = domain.owners_of(x.to_numpy())
    wanted = np.bincount(own[0][own[1]], minlength=6).tolist()
    count = dt.full((), len(some), ti.i32)
    *others, here, outside = MoveSearch(domain, x, count, 4, 6).count_rows().tolist()
    assert [*others[:4], here, *others[4:]] == wanted
    assert outside == (~own[1]).sum() >= 5
