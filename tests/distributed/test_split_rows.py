"""Rows in one order over all ranks: what changes of them do, against rows of one process."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.distributed.split_rows import SplitRows
from difftile.ranks import current
from difftile.training.rows_of_ranks import stretch_of, total_of
from tests.ranks import ranks


def all_rows(count: int) -> dt.Rows:
    rng = np.random.default_rng(count)
    return dt.Rows(
        a=dt.from_numpy(rng.normal(size=(count, 3)), dt.vec(3, ti.f64), grad=True),
        b=dt.from_numpy(rng.normal(size=(count, 2)), grad=True),
        c=dt.from_numpy(np.arange(count, dtype=np.int32)),
    )


def changed(rows: dt.Rows, count: int) -> dict[str, np.ndarray]:
    """Change rows in many ways; return them, the states of two optimisers, and what moved."""
    adams = [dt.optim.Adam([rows.a], lr=0.1), dt.optim.SGD([rows.b], lr=0.1, momentum=0.5)]

    def move() -> None:
        start, stop = stretch_of(rows)
        for name in "ab":
            own = np.random.default_rng(total_of(rows)).normal(size=(total_of(rows), 3))
            own = own if name == "a" else own[:, :2]
            rows[name].grad.from_numpy(own[start:stop])
        for adam in adams:
            adam.step()

    rng = np.random.default_rng(7)
    move()
    rows.take(rng.permutation(count))
    move()
    rows.take(rng.integers(count, size=2 * count + 1))
    move()
    index = rng.integers(2 * count + 1, size=count + 3)
    rows.take(index, rng.random(count + 3) < 0.5)
    rows.prune(np.arange(count + 3) % 3 == 1)
    move()
    rows.take(np.full(5, total_of(rows) - 1), np.zeros(5, bool))
    rows.forget("b")
    move()
    arrays = rows.to_numpy()
    for k, adam in enumerate(adams):
        arrays |= {f"{k}.{name}": a for name, a in adam.state_dict().items() if a.ndim}
    return arrays


def split(count: int) -> Any:
    rows = SplitRows(all_rows(count))
    start, stop = rows.stretch
    assert (rows.c.to_numpy() == np.arange(start, stop)).all()
    everything = rows.gathered(rows.a).to_numpy()
    arrays = changed(rows, count)
    whole = {name: rows.collect(array) for name, array in arrays.items()}
    sizes = rows.total, len(rows)
    rows.from_numpy({name: array[:2] for name, array in all_rows(9).to_numpy().items()})
    return everything, whole, sizes, (rows.total, rows.c.to_numpy().tolist())


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_rows_change_as_those_of_one_process(size: int) -> None:
    for count in (1, 3, 10, 57):  # also fewer than ranks
        results = ranks(size).run(split, count)
        start = all_rows(count).a.to_numpy()
        wanted = changed(all_rows(count), count)
        for everything, _, _, _ in results:
            np.testing.assert_array_equal(everything, start)
        assert results[0][1].keys() == wanted.keys()
        for name, array in results[0][1].items():
            np.testing.assert_array_equal(array, wanted[name], err_msg=name)
        for _, whole, _, _ in results[1:]:
            assert not any(len(array) for array in whole.values())
        totals, owned = zip(*(sizes for _, _, sizes, _ in results), strict=True)
        assert set(totals) == {sum(owned)} == {5}
        assert max(owned) - min(owned) <= 1
        anew = [again for *_, again in results]
        assert {total for total, _ in anew} == {2}
        assert [k for _, own in anew for k in own] == [0, 1]


def refusals() -> list[str]:
    rows = SplitRows(all_rows(5))
    said = []
    for wrong in (
        lambda: rows.append(a=0, b=0, c=0),
        lambda: rows.take([5]),
        lambda: rows.prune(np.zeros(3, bool)),
        lambda: rows.from_numpy({"a": np.zeros((1, 3))}),
        lambda: copy(rows),
    ):
        try:
            wrong()
        except dt.FieldError as error:
            said.append(str(error))
    return [*said, str(current().rank)]


def test_what_split_rows_refuse() -> None:
    first, second = ranks(2).run(refusals)
    assert first[-1] == "0"
    assert second[:-1] == [
        "<rows 2 to 5 of 5: a, b, c>: append() is for rows of one process; repeat rows by take().",
        "<rows 2 to 5 of 5: a, b, c> has no row 5.",
        "<rows 2 to 5 of 5: a, b, c>: mask is booleans of shape (5,), not bool of shape (3,).",
        "<rows 2 to 5 of 5: a, b, c> is given no 'b'; each field takes its rows.",
        "<rows 2 to 5 of 5: a, b, c> belong to several ranks, and are not copied.",
    ]
