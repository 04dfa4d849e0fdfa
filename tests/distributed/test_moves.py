"""Which rows move where: all ranks in one process, against sets of particles."""

from __future__ import annotations

import numpy as np
import pytest

from difftile.distributed.migration import Domain
from difftile.distributed.moves import count_moves, find_moves, owners


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(20))
def test_moved_rows_are_those_that_are_sent_and_none_is_lost(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 12, size) * rng.integers(0, 2, size)
    restless = rng.choice([0.0, 0.2, 1.0])
    rows = [np.arange(100 * rank, 100 * rank + n) for rank, n in enumerate(counts)]
    owner = [
        np.where(rng.random(n) < restless, rng.integers(0, size, n), rank)
        for rank, n in enumerate(counts)
    ]
    table = np.array([count_moves(one, size) for one in owner])
    moves = [find_moves(one, rank, table) for rank, one in enumerate(owner)]
    sent = [np.split(r[m.taken], np.cumsum(m.sends)[:-1]) for r, m in zip(rows, moves, strict=True)]
    for rank, move in enumerate(moves):
        assert move.before == counts[rank]
        assert len(move.taken) == move.sends.sum() <= 2 * (counts[rank] - table[rank, rank])
        arrived = np.concatenate([sent[source][rank] for source in range(size)])
        assert len(arrived) == len(move.places) == move.receives.sum()
        assert [len(sent[source][rank]) for source in range(size)] == move.receives.tolist()
        assert len(np.unique(move.places)) == len(move.places)
        after = np.full(max(move.before, move.after), -1)
        after[: move.before] = rows[rank]
        after[move.places] = arrived
        after = after[: move.after]
        wanted = np.concatenate([r[o == rank] for r, o in zip(rows, owner, strict=True)])
        assert sorted(after) == sorted(wanted)
        # Rows that stay, and are not needed elsewhere, stay in their places.
        stay = np.flatnonzero(owner[rank][: move.after] == rank)
        assert after[stay].tolist() == rows[rank][stay].tolist()
        # Arrivals take ascending places, in the order of ranks and of rows there.
        if size > 1:
            foreign = after // 100 != rank
            others = [s for s in range(size) if s != rank]
            order = np.concatenate([rows[s][owner[s] == rank] for s in others])
            assert after[foreign].tolist() == order.tolist()


def test_cells_are_found_with_their_owners() -> None:
    domain = Domain(((0, 3), (0, 2, 5)), (6, 7), (True, False), (-1.0, 0.0), (0.5, 1.0))
    places = np.array(
        [[-1.0, 0.0], [0.49, 1.99], [0.5, 2.0], [1.99, 6.9], [2.0, 5.0], [-1.01, 4.9]]
    )
    found, inside = domain.owners_of(places)
    assert inside.all()
    assert found.tolist() == [0, 0, 4, 5, 2, 4]
    wrong = np.array([[0.0, -1e-9], [0.0, 7.0], [np.nan, 0.0], [np.inf, 0.0], [0.0, np.nan]])
    assert domain.owners_of(wrong)[1].tolist() == [False] * 5
    assert str(domain) == "[-1, 2) x [0, 7)"


def test_parts_without_cells_own_nothing() -> None:
    cells = np.arange(2)[:, None]
    assert owners(cells, [(0, 0, 1, 1)]).tolist() == [1, 3]
