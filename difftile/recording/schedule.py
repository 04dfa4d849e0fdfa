"""Where to take snapshots so that a run of known length is recomputed as seldom as possible.

The binomial schedule: with s snapshots besides the first one, and no step run forward more than
r times, C(s + r, r) steps can be reversed, and no schedule does better. (Griewank and Walther,
Algorithm 799: Revolve, 2000.) Here the last stretch of a run is recorded whole instead of one step:
the unit that the schedule counts is such a stretch.
"""

from __future__ import annotations

from math import ceil, comb

from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class ReverseSchedule:
    """The schedule for reversing a run of launches.

    Args:
        snapshots: Before which launches to take a snapshot, counted from the start of the run.
        recorded_from: The launch from which on to record.
        repeats: How often a launch is run again at most.
    """

    snapshots: tuple[int, ...]
    recorded_from: int
    repeats: int


def make_schedule(launches: int, room: float, snapshot: float, record: float) -> ReverseSchedule:
    """Return where to take snapshots in a run, so that the fewest launches are repeated.

    Args:
        launches: Length of the run, 1 or more.
        room: Memory that is free [bytes].
        snapshot: Memory of one snapshot [bytes].
        record: Memory that recording one launch takes on average [bytes].
    """
    repeats, slots, stretch = _cheapest(launches, room, snapshot, record)
    units = ceil(launches / stretch)
    places: list[int] = []
    at = 0
    while units > 1 and slots > 0:
        fewest = units - comb(slots - 1 + repeats, repeats)
        least = comb(slots + repeats - 2, repeats - 2) if repeats >= 2 else 1
        step = max(1, min(max(fewest, least), units - 1))
        # The stretches are counted from the end, so that the last one is a full one.
        units -= step
        slots -= 1
        at = launches - units * stretch
        places.append(at)
    return ReverseSchedule(tuple(places[:-1]), at, repeats)


def _cheapest(launches: int, room: float, snapshot: float, record: float) -> tuple[int, int, int]:
    """Return repeats, snapshots and the length of a stretch for the fewest launches in all.

    The place where recording begins needs no snapshot, so there is one slot more than snapshots.
    """
    most = max(0, int(min(room / snapshot if snapshot else launches, launches)))
    found: tuple[float, int, int, int] | None = None
    for slots in _spread(most):
        left = room - slots * snapshot
        stretch = max(1, int(min(left / record if record else launches, launches)))
        if left < record and slots:
            break
        units = ceil(launches / stretch)
        repeats = 1
        while comb(slots + 1 + repeats, repeats) < units:
            repeats += 1
        # Griewank and Walther, theorem 6.1, in units of a stretch.
        steps = (repeats + 1) * units - comb(slots + 1 + repeats, repeats - 1)
        option = (steps * stretch, repeats, slots + 1, stretch)
        found = option if found is None or option < found else found
    assert found is not None
    return found[1:]


def _spread(most: int) -> list[int]:
    """Return numbers from 0 to `most`: all of the small ones, fewer of the large ones."""
    numbers = {0, most}
    number = 1
    while number < most:
        numbers.add(number)
        number = max(number + 1, number * 21 // 20)
    return sorted(numbers)
