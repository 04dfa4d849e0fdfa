"""Random programs on tapes with and without limits; `tests/tape_programs.py` runs more of them."""

from __future__ import annotations

import numpy as np
import pytest

from difftile.substrate import memory, pool
from difftile.substrate.packing import Packed
from tests.tape_programs import differ, draw, run


@pytest.mark.parametrize(
    "first",
    [*range(0, 200, 50), *(pytest.param(n, marks=pytest.mark.slow) for n in range(200, 500, 50))],
)
def test_random_programs_have_the_gradients_of_the_reference(first: int) -> None:
    said: list[str] = []
    assert not run(range(first, first + 50), said.append), "\n".join(said)


def test_old_values_may_be_packed_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def pack_whole(array: np.ndarray) -> Packed:
        return Packed(tuple(slice(0, size) for size in array.shape), array.copy())

    monkeypatch.setattr(memory, "pack", pack_whole)
    monkeypatch.setattr(pool, "_WORTH_PACKING", 0)
    said: list[str] = []
    assert not run(range(70000, 70040), said.append), "\n".join(said)


def test_random_programs_have_the_gradients_of_differences() -> None:
    drawn = [(program, repr(program)) for program in map(draw, range(60))]
    smooth = [p for p, text in drawn if "branch" not in text and "Cut" not in text]
    for program in smooth[:12]:
        found, wanted = differ(program)
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-7)


def test_snapshots_for_later_passes_give_way_where_there_is_no_room_for_them() -> None:
    said: list[str] = []
    assert not run(range(54153, 54154), said.append), "\n".join(said)


def test_copies_of_what_others_may_write_count_for_the_limit() -> None:
    said: list[str] = []
    assert not run(range(221, 222), said.append, shared=True), "\n".join(said)
