"""The steps of a migration: which rows move, and the way of their values to other ranks.

The first step leaves integers in fields, from which kernels take and place rows, and from which the
second step knows how many go where. All of them follow from the contents of fields, so a tape may
run any part of a migration again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile.lang as ti
from difftile.compile.func import KernelValue
from difftile.compile.language_functions import unique
from difftile.diagnostics import FieldError, counted
from difftile.distributed.domain import Domain
from difftile.distributed.moves import MoveFields, MoveSearch
from difftile.fields.field import Field
from difftile.ranks import Message, current
from difftile.recording.opaque import OpaqueStep, Use
from difftile.recording.replayed_fields import ReverseContext
from difftile.runtime.kernel import kernel


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
        self, domain: Domain, position: Field, count: Field, into: MoveFields, room: int
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

    def second(self, then: ReverseContext, dots: ReverseContext, saved: None) -> bool:
        """Let no gradient pass."""
        return True

    def forward(self) -> FindMoves:
        """Return the step itself: integers have no tangents."""
        return self


class TransferRows(OpaqueStep):
    """Sends rows to other ranks; linear, so gradients go back along the same ways.

    Args:
        sources: The rows that are sent, in the order of ranks.
        targets: Fields like these for the rows that are received, in the order of ranks.
        peers: How many go to each rank, and come from each; shape (2, ranks).
    """

    is_contained = True
    communicates = True

    def __init__(self, sources: Sequence[Field], targets: Sequence[Field], peers: Field) -> None:
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
        peers = self._peers.buffer.read()
        _send(self._sources, self._targets, peers, "the migration of particles")
        return peers

    def reverse(self, then: ReverseContext, saved: npt.NDArray[np.int32]) -> None:
        """Send the gradients back."""
        before, after = self._derivatives(then)
        _send(after, before, saved[::-1], "the way back of the migration of particles")

    def second(
        self, then: ReverseContext, dots: ReverseContext, saved: npt.NDArray[np.int32]
    ) -> bool:
        """Send the gradients back, and their tangents."""
        self.reverse(then, saved)
        self.reverse(dots, saved)
        return True

    def _derivatives(self, then: ReverseContext) -> tuple[list[Field], list[Field]]:
        """Return the derivatives of the sources and of their targets, as far as they have some."""
        pairs = [
            (then[source].grad_out, then[target].grad_in)
            for source, target in zip(self._sources, self._targets, strict=True)
        ]
        found = [(a, b) for a, b in pairs if a is not None and b is not None]
        return [a for a, _ in found], [b for _, b in found]

    def forward(self) -> OpaqueStep:
        """Return the same transfer, of tangents."""
        return _TransferTangents(self._sources, self._targets, self._peers)


class _TransferTangents(TransferRows):
    """A transfer whose reverse sends tangents along."""

    def reverse(self, then: ReverseContext, saved: npt.NDArray[np.int32]) -> None:
        """Send tangents."""
        _send(*self._derivatives(then), saved, "the tangents of the migration of particles")


def _send(
    sources: Sequence[Field],
    targets: Sequence[Field],
    peers: npt.NDArray[np.int32],
    what: str,
) -> None:
    """Send rows of all sources in one message for each rank, and receive those of the targets."""
    engine, (sends, receives) = current(), peers
    rows = [one.buffer.array() for one in sources]
    width = sum(row_bytes(one) for one in rows)
    out: list[Message] = []
    into: list[Message] = []
    ends = np.cumsum(sends)
    for peer in np.flatnonzero(sends):
        first, last = int(ends[peer] - sends[peer]), int(ends[peer])
        parts = [_bytes(one[first:last]) for one in rows]
        out.append(Message(int(peer), np.concatenate(parts)))
    for peer in np.flatnonzero(receives):
        into.append(Message(int(peer), np.empty(int(receives[peer]) * width, np.uint8)))
    engine.exchange(out, into).wait(what)
    arrived = [one.array for one in into]
    for one in targets:
        size = row_bytes(one.buffer.array())
        counts = [int(n) for n in receives if n]
        parts = [values[: n * size] for values, n in zip(arrived, counts, strict=True)]
        arrived = [values[n * size :] for values, n in zip(arrived, counts, strict=True)]
        _receive(one, parts)


def _receive(target: Field, parts: Sequence[npt.NDArray[np.uint8]]) -> None:
    """Write the bytes of rows into the first rows of a field; the others become zero."""

    def change(array: npt.NDArray[Any]) -> None:
        count = 0
        if parts:
            rows = np.concatenate(parts).view(array.dtype).reshape(-1, *array.shape[1:])
            count = len(rows)
            array[:count] = rows
        array[count:] = 0

    target.fresh_if_pinned(keep=False).change(change)


def _bytes(rows: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(rows).reshape(-1).view(np.uint8)


def row_bytes(array: npt.NDArray[Any]) -> int:
    """Return the bytes of one row."""
    return int(np.prod(array.shape[1:], dtype=int)) * array.dtype.itemsize


def _write(field: Field, values: npt.NDArray[Any]) -> None:
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


@kernel
def wrap(x: KernelValue, count: KernelValue, low: KernelValue, length: KernelValue):
    """Bring positions into a ring of some length; 0 is no ring."""
    for p in range(count[None]):
        side = ti.select(length > 0.0, length, 1.0)
        turns = ti.floor((x[p] - low) / side)
        shifted = x[p] - length * turns
        shifted = ti.select(shifted < low, shifted + length, shifted)
        x[p] = ti.select(shifted >= low + side, shifted - length, shifted)


@kernel
def take(ends: KernelValue, taken: KernelValue, rows: KernelValue, sent: KernelValue):
    """Copy the rows that move."""
    for i in range(ends[0]):
        sent[i] = rows[taken[i]]


@kernel
def place(
    ends: KernelValue,
    places: KernelValue,
    received: KernelValue,
    sent: KernelValue,
    rows: KernelValue,
    nothing: KernelValue,
):
    """Put the rows that have moved into their places, and clear those that are not in use."""
    for i in range(ends[5]):
        rows[unique(places[i])] = received[i]
    for i in range(ends[1] - ends[5]):
        rows[unique(places[ends[5] + i])] = sent[ends[4] + i]
    for i in range(ends[2], ends[3]):
        rows[i] = nothing[0]
