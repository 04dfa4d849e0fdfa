"""`SplitRows`: rows in one order over all ranks, each of which owns a stretch of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from itertools import pairwise
from typing import Any, NoReturn, final

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError
from difftile.distributed.transfer import Part, transfer
from difftile.fields.exchange import as_array
from difftile.fields.field import make
from difftile.fields.rows import leave_rows, rows_at
from difftile.ranks import Message, current
from difftile.substrate import current_session


def cuts(total: int) -> list[int]:
    """Return where the rows of each rank start, and their number; shares differ by 1 at most."""
    size = current().size
    return [total * rank // size for rank in range(size + 1)]


@final
class SplitRows(dt.Rows):
    """Rows of which each rank owns a stretch, in one order over all ranks.

    The fields have the rows from `start` to `stop` of `total`. Rows are kept, dropped, repeated and
    put in another order as in one process: each rank calls `take`, `rearrange` and `prune` with the
    same arguments, which are about all rows, and then owns its stretch of the new ones. What
    optimisers and other followers keep for a row moves with it, so all ranks must have the same
    followers, in the same order.

    Args:
        rows: All rows, the same on each rank.
    """

    def __init__(self, rows: dt.Rows) -> None:
        self._total = len(rows)
        self._rank = current().rank
        own = np.arange(*self.stretch, dtype=np.int32)
        taken = copy(rows)
        taken.take(own)
        fields = dict(taken.items())
        for field in fields.values():
            leave_rows(field)
        super().__init__(fields)

    def __repr__(self) -> str:
        start, stop = self.stretch
        return f"<rows {start} to {stop} of {self._total}: {', '.join(self)}>"

    def __copy__(self) -> NoReturn:
        raise FieldError(f"{self!r} belong to several ranks, and are not copied.")

    def __reduce__(self) -> NoReturn:
        raise FieldError(f"{self!r} belong to several ranks, and are not pickled; save collect().")

    @property
    def total(self) -> int:
        """The number of rows of all ranks."""
        return self._total

    @property
    def stretch(self) -> tuple[int, int]:
        """The first row of this rank, and the end of its rows."""
        found = cuts(self._total)
        return found[self._rank], found[self._rank + 1]

    def gathered(self, field: dt.Field) -> dt.Field:
        """Return the values of all rows, on each rank.

        Args:
            field: Values for each row of this rank.
        """
        ways = cuts(self._total)
        target = make(field.element, (self._total, *field.shape[1:]))
        sends = [Part(peer, 0, len(field)) for peer in range(len(ways) - 1)]
        receives = [Part(peer, *stretch) for peer, stretch in enumerate(pairwise(ways))]
        transfer(field, sends, target, receives, "the gathering of rows")
        return target

    def collect(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the values of all rows on rank 0, and none on others.

        Args:
            array: Values for each row of this rank.
        """
        engine, ways = current(), cuts(self._total)
        received: list[npt.NDArray[Any]] = []
        if engine.rank == 0:
            received = [
                np.empty((stop - start, *array.shape[1:]), array.dtype)
                for start, stop in pairwise(ways)
            ]
        engine.exchange(
            [Message(0, np.ascontiguousarray(array))],
            [Message(peer, one) for peer, one in enumerate(received)],
        ).wait("the collection of rows")
        return np.concatenate(received) if received else array[:0]

    # Changes

    def rearrange(self, index: dt.Field, before: dt.Field) -> None:
        """Take the rows of an index; each rank gives the same one.

        Args:
            index: The rows, of all ranks; each exists, which is not checked. 32-bit integers, shape
                (n,).
            before: The row whose state followers give to each; -1 for none. Of the same shape.

        Raises:
            FieldError: These are not two fields of integers of one shape.
            TapeError: A tape is open.
        """
        self._check_rearranged(index, before)
        old, new = cuts(self._total), cuts(len(index))
        rows = _Moves(index.to_numpy(), old, new)
        kept = _Moves(before.to_numpy(), old, new)
        made = {name: rows.moved(field) for name, field in self.items()}
        self._total = len(index)
        self._replace(made, kept.moved)

    def from_numpy(self, values: Mapping[str, npt.ArrayLike]) -> None:
        """Replace all rows by any number of new ones; each rank gives the same ones.

        Args:
            values: For each field an array of shape (rows, ...), by name.

        Raises:
            FieldError: A name is missing or unknown, or the arrays do not fit.
            TapeError: A tape is open.
        """
        given = {name: as_array(array) for name, array in values.items()}
        count, _ = self._as_rows(given)
        before, self._total = self._total, count
        start, stop = self.stretch
        try:
            super().from_numpy({name: array[start:stop] for name, array in given.items()})
        except BaseException:
            self._total = before
            raise

    def append(self, *_: object, **__: object) -> NoReturn:
        """Refuse: new rows would belong to the last rank only."""
        raise FieldError(f"{self!r}: append() is for rows of one process; repeat rows by take().")

    def _count(self) -> int:
        return self._total


@final
class _Moves:
    """The ways of rows between ranks, where an index says which row comes to each place.

    Args:
        index: The rows, -1 for new ones.
        old: The stretches of the ranks before; see `cuts`.
        new: Those afterwards.
    """

    def __init__(self, index: npt.NDArray[Any], old: Sequence[int], new: Sequence[int]) -> None:
        rank = current().rank
        start, stop = old[rank], old[rank + 1]
        wanted = [index[first:end] for first, end in pairwise(new)]
        given = [rows[(rows >= start) & (rows < stop)] - start for rows in wanted]
        self._sent = dt.from_numpy(np.concatenate(given).astype(np.int32), ti.i32)
        self._sends = _parts([len(rows) for rows in given])
        owners = np.searchsorted(np.asarray(old[1:]), wanted[rank], side="right")
        owners[wanted[rank] < 0] = -1
        order = np.argsort(owners, kind="stable")[int(np.count_nonzero(owners < 0)) :]
        places = np.full(len(owners), -1, np.int32)
        places[order] = np.arange(len(order))
        self._places = dt.from_numpy(places, ti.i32)
        self._receives = _parts([int(np.count_nonzero(owners == one)) for one in range(len(given))])
        self._received = len(order)

    def moved(self, field: dt.Field) -> dt.Field:
        """Return the rows of an index of values that are kept for each row, 0 for new ones."""
        arrived = make(field.element, (self._received, *field.shape[1:]))
        sent = rows_at(field, self._sent)
        transfer(sent, self._sends, arrived, self._receives, "the move of rows")
        del sent
        current_session().pool.clear()  # as many rows hardly ever move again
        return rows_at(arrived, self._places)


def _parts(sizes: Sequence[int]) -> list[Part]:
    ends = [0, *np.cumsum(sizes).tolist()]
    return [Part(peer, *ends[peer : peer + 2]) for peer in range(len(sizes))]
