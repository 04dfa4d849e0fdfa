"""Which rows of a rank move where, when particles change their owners.

Pure functions over arrays. Rows that stay keep their places: arrivals take the places of rows that
have left, and the last rows fill those that remain, so the work grows with the rows that move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Moves:
    """The moves of the rows of one rank.

    Rows that fill places on their own rank go the way of a message to itself.

    Args:
        taken: The rows that move, in the order of the ranks that they go to.
        places: The rows that they become, in the order of the ranks that they come from.
        sends: How many go to each rank, shape (ranks,).
        receives: How many come from each rank, shape (ranks,).
        before: The number of rows in use before.
        after: The number of rows in use afterwards.
    """

    taken: Integers
    places: Integers
    sends: Integers
    receives: Integers
    before: int
    after: int


def owners(cells: Integers, starts: Sequence[npt.ArrayLike]) -> npt.NDArray[np.int64]:
    """Return the rank that owns each cell.

    Args:
        cells: Indices of cells of the grid, shape (n, axes).
        starts: Along each axis the first cell of each part.
    """
    parts = [
        np.searchsorted(np.asarray(first), cells[:, axis], side="right") - 1
        for axis, first in enumerate(starts)
    ]
    shape = [np.size(first) for first in starts]
    return np.asarray(np.ravel_multi_index(tuple(parts), shape), np.int64)


def count_moves(owner: Integers, ranks: int) -> Integers:
    """Return how many rows go to each rank, those that stay included, shape (ranks,)."""
    return np.bincount(owner, minlength=ranks)


def find_moves(owner: Integers, rank: int, table: npt.NDArray[Any]) -> Moves:
    """Return the moves of the rows of a rank.

    Args:
        owner: The rank that each row in use goes to, shape (rows,).
        rank: The rank that holds them.
        table: How many rows go from each rank to each, shape (ranks, ranks).
    """
    before, after = len(owner), int(table[:, rank].sum())
    leaving = np.flatnonzero(owner != rank)
    leaving = leaving[np.argsort(owner[leaving], kind="stable")]
    free = np.sort(leaving)
    free = np.concatenate((free[free < after], np.arange(before, after)))
    receives = np.array(table[:, rank], np.int64)
    receives[rank] = 0
    arriving = int(receives.sum())
    stays = np.flatnonzero(owner[after:] == rank) + after  # in places that are given up
    sends = np.array(table[rank], np.int64)
    sends[rank] = receives[rank] = len(stays)
    first = int(sends[:rank].sum())
    taken = np.concatenate((leaving[:first], stays, leaving[first:]))
    first = int(receives[:rank].sum())
    places = np.concatenate((free[:first], free[arriving:], free[first:arriving]))
    return Moves(taken, places, sends, receives, before, after)
