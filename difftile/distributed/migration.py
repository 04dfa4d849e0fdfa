"""The steps of a migration: which rows move, and the way of their values to other ranks.

The first step leaves integers in fields, from which kernels take and place rows, and from which the
second step knows how many go where. All of them follow from the contents of fields, so a tape may
run any part of a migration again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError, counted
from difftile.distributed.domain import Domain
from difftile.distributed.messaging import Part, Posted
from difftile.distributed.moves import MoveFields, MoveSearch
from difftile.ranks import current
from difftile.recording.opaque import OpaqueRecord, OpaqueStep
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.uses import Use
from difftile.substrate import Buffer


class FindMoves(OpaqueStep):
    """Finds which rows move, by the positions; integers, so no gradient passes.

    Args:
        domain: The division of space.
        position: The positions, shape (capacity,).
        count: The number of rows in use, which becomes the number after the migration.
        into: Takes the moves.
        room: The most rows that may leave a rank, or arrive there, at once.
    """

    is_contained = True
    communicates = True

    def __init__(
        self, domain: Domain, position: dt.Field, count: dt.Field, into: MoveFields, room: int
    ) -> None:
        self._domain, self._position, self._count, self._into = domain, position, count, into
        self._room = room
        engine = current()
        self._search = MoveSearch(domain, position, count, engine.rank, engine.size)
        written = (into.taken, into.places, into.peers, into.ends)
        uses = [Use(position, True, False, name="position"), Use(count, True, True, name="count")]
        super().__init__(
            "migration", [*uses, *(Use(one, False, True, name="moves") for one in written)]
        )

    def run(self) -> None:
        """Find the moves.

        Raises:
            FieldError: A position is outside the grid, or a rank has no room; on all ranks.
        """
        engine, into = current(), self._into
        rank, size = engine.rank, engine.size
        *others, own, outside = self._search.count_rows().tolist()
        before, leaving = own + sum(others) + outside, sum(others)
        # A row a rank: how many rows go to each, how many are outside, where the first of them is.
        axes = len(self._domain.cells)
        table = np.zeros((size, size + 1 + axes))
        table[rank, :size] = [*others[:rank], own, *others[rank:]]
        if outside:
            table[rank, size] = outside
            table[rank, size + 1 :] = self._first_outside(before)
        engine.all_reduce(table).wait("the migration of particles")
        self._check(table)
        moving = table[:, :size].astype(np.int64)
        after = int(moving[:, rank].sum())
        moving[rank, rank] = 0
        arriving = int(moving[:, rank].sum())
        _write(into.peers, np.stack((moving[rank], moving[:, rank])))
        ends = [leaving, arriving, after, max(before, after), leaving, arriving]
        _write(into.ends, np.array(ends))
        for one in (into.taken, into.places):  # the same contents in each run
            one.fresh_if_pinned(keep=False).fill(0)
        self._search.list_rows(before, after, leaving, into)
        _write(self._count, np.array(after))

    def _first_outside(self, count: int) -> npt.NDArray[np.float64]:
        positions = self._position.to_numpy()[:count]
        _, inside = self._domain.owners_of(positions)
        first = positions[~inside][0].reshape(-1).astype(np.float64)
        return np.nan_to_num(first, nan=np.inf)

    def _check(self, table: npt.NDArray[np.float64]) -> None:
        size, capacity = len(table), self._position.shape[0]
        for rank in np.flatnonzero(table[:, size]):
            place = ", ".join(f"{x:g}" for x in table[rank, size + 1 :])
            raise FieldError(
                f"Rank {rank} has {counted(int(table[rank, size]), 'particle')} outside the grid, "
                f"{self._domain}, the first of them at ({place})."
            )
        after, moving = table[:, :size].sum(axis=0), table[:, :size] * (1 - np.eye(size))
        check_capacity(after, capacity)
        for word, sums in (("leave", moving.sum(axis=1)), ("arrive at", moving.sum(axis=0))):
            for rank in np.flatnonzero(sums > self._room):
                raise FieldError(
                    f"{int(sums[rank])} particles {word} rank {rank} at once, and there is room "
                    f"for {self._room}: 'moving' of dist.Particles."
                )

    def reverse(self, then: ReverseContext, saved: None) -> None:
        """Let no gradient pass."""

    def derivative(self, at: Sequence[ReverseContext], saved: None) -> bool:
        """Let no gradient pass."""
        return True

    def push(self, at: Sequence[ReverseContext], saved: None) -> bool:
        """Let no tangent pass."""
        return True


class TransferRows(OpaqueStep):
    """Sends rows to other ranks; linear, so gradients go back along the same ways.

    Args:
        sources: The rows that are sent, in the order of ranks.
        targets: Fields like these for the rows that are received, in the order of ranks.
        peers: How many go to each rank, and come from each; shape (2, ranks).
    """

    is_contained = True
    communicates = True

    def __init__(
        self, sources: Sequence[dt.Field], targets: Sequence[dt.Field], peers: dt.Field
    ) -> None:
        self._sources, self._targets, self._peers = tuple(sources), tuple(targets), peers
        super().__init__(
            "transfer of particles",
            [
                Use(peers, True, False, name="peers"),
                *(Use(one, True, False, name="rows to send") for one in sources),
                *(Use(one, False, True, name="received rows") for one in targets),
            ],
        )

    def run(self) -> npt.NDArray[np.int32]:
        """Send and receive; return how many rows went where."""
        peers = self._peers.to_numpy()
        targets = [one.fresh_if_pinned(keep=False) for one in self._targets]
        _send([one.buffer for one in self._sources], targets, peers, "the migration of particles")
        return peers

    def reverse_in_place(
        self, record: OpaqueRecord, gradient: Callable[[dt.Field], dt.Field]
    ) -> bool:
        """Send the gradients back, and clear them here.

        The gradients of rows that have left are zero before: these rows are only sent.
        """
        peers: Any = record.saved
        pairs = [
            (gradient(source).buffer, gradient(target).buffer)
            for source, target in zip(self._sources, self._targets, strict=True)
            if target.has_grads
        ]
        _send([b for _, b in pairs], [a for a, _ in pairs], peers[::-1], _BACK, clears=False)
        for _, one in pairs:
            one.clear(((0, int(peers[1].sum())), *((0, size) for size in one.shape[1:])))
        return True

    def reverse(self, then: ReverseContext, saved: npt.NDArray[np.int32]) -> None:
        """Send the gradients back."""
        before, after = self._derivatives(then)
        _send(after, before, saved[::-1], _BACK)

    def derivative(self, at: Sequence[ReverseContext], saved: npt.NDArray[np.int32]) -> bool:
        """Send the gradients back, and their tangents."""
        for one in at:
            self.reverse(one, saved)
        return True

    def _derivatives(self, then: ReverseContext) -> tuple[list[Buffer], list[Buffer]]:
        """Return the derivatives of the sources and of their targets, as far as they have some."""
        pairs = [
            (then[source].grad_out, then[target].grad_in)
            for source, target in zip(self._sources, self._targets, strict=True)
        ]
        found = [(a.buffer, b.buffer) for a, b in pairs if a is not None and b is not None]
        return [a for a, _ in found], [b for _, b in found]

    def push(self, at: Sequence[ReverseContext], saved: npt.NDArray[np.int32]) -> bool:
        """Send tangents."""
        for one in at:
            _send(*self._derivatives(one), saved, "the tangents of the migration of particles")
        return True


def _send(
    sources: Sequence[Buffer],
    targets: Sequence[Buffer],
    peers: npt.NDArray[np.int32],
    what: str,
    *,
    clears: bool = True,
) -> None:
    """Send rows of all sources to other ranks, and receive rows of the targets."""
    sends, receives = (_parts(counts) for counts in peers)
    Posted(sources, sends, targets, receives, clears=clears).wait(what)


def _parts(counts: npt.NDArray[np.int32]) -> list[Part]:
    """Return the parts of rows in the order of ranks."""
    ends = np.cumsum(counts)
    return [
        Part(int(peer), int(ends[peer] - counts[peer]), int(ends[peer]))
        for peer in np.flatnonzero(counts)
    ]


def _write(field: dt.Field, values: npt.NDArray[Any]) -> None:
    """Write integers into the first elements of a field."""
    whole = np.zeros(field.shape, np.int32)
    whole[tuple(map(slice, values.shape))] = values
    field.fresh_if_pinned(keep=False).write(whole)


def check_capacity(counts: npt.NDArray[Any], capacity: int) -> None:
    """Check that each rank has room for its particles.

    Args:
        counts: How many each rank is to have.
        capacity: How many rows each has.

    Raises:
        FieldError: One has fewer rows.
    """
    for rank in np.flatnonzero(counts > capacity):
        raise FieldError(
            f"Rank {rank} would have {int(counts[rank])} particles, and has a capacity of "
            f"{capacity}. Make the fields of the particles larger."
        )


# Kernels


_BACK = "the way back of the migration of particles"


@dt.kernel
def wrap(x: Any, count: Any, low: Any, length: Any) -> None:
    """Bring positions into a ring of some length; 0 is no ring."""
    for p in range(count[None]):
        side = ti.select(length > 0.0, length, 1.0)
        turns = ti.floor((x[p] - low) / side)
        shifted = x[p] - length * turns
        shifted = ti.select(shifted < low, shifted + length, shifted)
        x[p] = ti.select(shifted >= low + side, shifted - length, shifted)


@dt.kernel
def take(ends: Any, taken: Any, rows: Any, sent: Any) -> None:
    """Copy the rows that move."""
    for i in range(ends[0]):
        sent[i] = rows[taken[i]]


@dt.kernel
def place(
    ends: Any,
    places: Any,
    received: Any,
    sent: Any,
    rows: Any,
    nothing: Any,
) -> None:
    """Put the rows that have moved into their places, and clear the rows that are not in use."""
    for i in range(ends[5]):
        rows[dt.unique(places[i])] = received[i]
    for i in range(ends[1] - ends[5]):
        rows[dt.unique(places[ends[5] + i])] = sent[ends[4] + i]
    for i in range(ends[2], ends[3]):
        rows[i] = nothing[0]
