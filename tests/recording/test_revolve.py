"""The schedule of snapshots, against the best there is by exhaustive search."""

from __future__ import annotations

from functools import cache
from math import comb

import pytest

from difftile.recording.schedule import make_schedule


def reverse(launches: int, room: float, snapshot: float, record: float) -> tuple[int, int, float]:
    """Follow the schedule; return all launches run, the most runs of one, and the peak memory."""
    runs = [0] * launches
    ahead, end, peak = [0], launches, 0.0
    while end > 0:
        if ahead[-1] >= end:
            ahead.pop()
            continue
        first = ahead[-1]
        free = room - (len(ahead) - 1) * snapshot
        schedule = make_schedule(end - first, free, snapshot, record)
        for position in range(first, end):
            runs[position] += 1
        ahead += [first + offset for offset in schedule.snapshots]
        start = first + schedule.recorded_from
        peak = max(peak, (len(ahead) - 1) * snapshot + (end - start) * record)
        end = start
    return sum(runs), max(runs), peak


@cache
def fewest(launches: int, slots: int) -> int:
    """Return the fewest launches that reverse a run with snapshots for single launches."""
    if launches <= 1:
        return launches
    if slots == 0:
        return launches * (launches + 1) // 2
    return min(k + fewest(launches - k, slots - 1) + fewest(k, slots) for k in range(1, launches))


@pytest.mark.parametrize("slots", [0, 1, 2, 3, 5, 10])
def test_no_schedule_of_single_launches_runs_fewer(slots: int) -> None:
    for launches in (1, 2, 5, 10, 31, 60):
        total, _, peak = reverse(launches, slots + 1, 1, 1)
        assert total <= fewest(launches, slots)
        assert peak <= slots + 1


def test_what_fits_is_recorded_at_once() -> None:
    assert make_schedule(100, room=100, snapshot=1, record=1).recorded_from == 0
    assert make_schedule(100, room=float("inf"), snapshot=1, record=1).recorded_from == 0
    assert make_schedule(100, room=5, snapshot=1, record=0).recorded_from == 0


@pytest.mark.parametrize("slots", [2, 4, 8])
def test_a_binomial_number_of_launches_repeats_each_no_more_than_promised(slots: int) -> None:
    for repeats in (1, 2, 3):
        launches = comb(slots + repeats, repeats)
        _, most, _ = reverse(launches, slots + 1, 1, 1)
        assert most <= repeats + 1


def test_a_long_run_in_little_memory_stays_cheap() -> None:
    launches = 100_000
    total, _, peak = reverse(launches, launches / 64, 4, 1)
    assert total < 3.2 * launches
    assert peak <= launches / 64
