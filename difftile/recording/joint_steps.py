"""The steps of a tape that all ranks run together, and their agreements about running them again.

Between two such steps the ranks are independent: they may record different steps, and run them
again as often as their memory demands. Places on different tapes are therefore the same if as many
joint steps lie before them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from zlib import crc32

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import RankError
from difftile.ranks import current
from difftile.recording.schedule import make_schedule
from difftile.records import dataclass


def least(numbers: Sequence[float], what: str) -> npt.NDArray[np.float64]:
    """Return the least of each of some numbers on all ranks.

    Args:
        numbers: The numbers of this rank, equally many on all ranks.
        what: The agreement, for errors.

    Raises:
        RankError: Another rank failed, or did not answer.
    """
    found = np.array(numbers, np.float64)
    engine = current()
    if engine.size > 1:
        engine.all_reduce(found, "min").wait(what)
    return found


class JointSteps:
    """The joint steps on the tape of this rank.

    Attributes:
        positions: Where they are.
        signatures: What kinds of them there are.
    """

    def __init__(self) -> None:
        self.positions: list[int] = []
        self.signatures: set[str] = set()
        self._checksum = 0  # of their signatures, in order

    def __len__(self) -> int:
        return len(self.positions)

    def add(self, position: int, signature: str) -> None:
        """Add a step."""
        self.positions.append(position)
        self.signatures.add(signature)
        self._checksum = crc32(signature.encode(), self._checksum)

    def before(self, position: int) -> int:
        """Return how many joint steps lie before a position."""
        return bisect_left(self.positions, position)

    def is_at(self, position: int) -> bool:
        """Tell whether there is a joint step at a position."""
        k = self.before(position)
        return k < len(self.positions) and self.positions[k] == position

    def agree_on_records(self, kept: bool) -> bool:
        """Return whether all ranks have kept their records.

        Raises:
            RankError: The ranks have recorded different joint steps.
        """
        own = [len(self.positions), self._checksum]
        found = least([*own, *(-n for n in own), kept], "the start of the backward pass")
        if any(found[:2] != -found[2:4]):
            fewest, most = int(found[0]), int(-found[2])
            counts = f"{fewest} on one rank and {most} on another" if fewest < most else f"{most}"
            raise RankError(
                f"The ranks have recorded different exchanges and sums ({counts}). All ranks must "
                "run the same ones in the same order; dt.init(debug=True) finds the first that "
                "differs."
            )
        return bool(found[4])


@dataclass(frozen=True, slots=True)
class Plan:
    """A sweep over joint steps that all ranks run, in numbers of joint steps before a place.

    Args:
        first: Where the sweep starts.
        stop: Where it ends.
        snapshots: Where to take snapshots.
        recorded_from: Where to begin to record.
        narrow: Whether only the last joint step is recorded, and the steps after it are left to
            each rank, as the records of all of them do not fit.
    """

    first: int
    stop: int
    snapshots: tuple[int, ...]
    recorded_from: int
    narrow: bool


def make_plan(first: int, stop: int, slots: float, stretch: float) -> Plan:
    """Return the plan of a sweep.

    Args:
        first: The number of joint steps before its start.
        stop: The number of joint steps before its end, more than `first`.
        slots: The snapshots for which there is room, if nothing else is held.
        stretch: The joint steps, each with the steps after it, for whose records there is room.
    """
    narrow = stretch < 1
    made = make_schedule(stop - first, 1.0, 1 / max(slots, 1e-300), 1 / max(stretch, 1.0))
    snapshots = tuple(first + k for k in made.snapshots)
    recorded_from = first + made.recorded_from
    if narrow and first < recorded_from < stop - 1:
        snapshots = (*snapshots, recorded_from)
    return Plan(first, stop, snapshots, stop - 1 if narrow else recorded_from, narrow)
