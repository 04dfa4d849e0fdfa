"""Races that sizes and numbers decide, decided once for each set of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from difftile.ir.nodes import Array, Var
from difftile.passes.conflicts import PossibleConflict

_MOST = 4096  # sets of sizes and numbers that are remembered


class Ownership:
    """The sizes and numbers of launches whose parallel iterations would meet.

    Args:
        doubts: Accesses that may meet.
        position: The position of each parameter of the kernel in the values of a launch.
    """

    def __init__(
        self, doubts: Sequence[PossibleConflict], position: Mapping[Array | Var, int]
    ) -> None:
        self._doubts = doubts
        leaves = dict.fromkeys(leaf for doubt in doubts for leaf in doubt.leaves)
        self._sizes = [
            (leaf, position[leaf[0]], leaf[1]) for leaf in leaves if isinstance(leaf, tuple)
        ]
        self._numbers = [(leaf, position[leaf]) for leaf in leaves if isinstance(leaf, Var)]
        self._settled: set[tuple[int, ...]] = set()

    @property
    def by_numbers(self) -> bool:
        """Whether numbers decide, and not only shapes."""
        return bool(self._numbers)

    def check(self, values: Sequence[Any]) -> None:
        """Check the values of a launch.

        Raises:
            Race: Two iterations touch one element, or are not known not to.
        """
        key = (
            *[values[k].shape[axis] for _, k, axis in self._sizes],
            *[int(values[k]) for _, k in self._numbers],
        )
        if key in self._settled:
            return
        leaves = (*(one[0] for one in self._sizes), *(one[0] for one in self._numbers))
        known = dict(zip(leaves, key, strict=True))
        for doubt in self._doubts:
            meeting = doubt.meeting(known)
            if meeting is not None:
                raise doubt.race(meeting)
        if len(self._settled) == _MOST:
            self._settled.clear()
        self._settled.add(key)


def ownership(
    doubts: Sequence[PossibleConflict], position: Mapping[Array | Var, int]
) -> Ownership | None:
    """Return the check of launches; None without doubts."""
    return Ownership(doubts, position) if doubts else None
