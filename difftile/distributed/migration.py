"""The steps of a migration: which rows move, and the way of their values to other ranks.

The first step computes on the host from the positions; it leaves integers in fields, from which
library kernels take and place rows, and from which the second step knows how many go where. All of
them follow from the contents of fields, so a tape may run any part of a migration again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile.lang as ti
from difftile.compile.func import KernelValue
from difftile.compile.language_functions import unique
from difftile.diagnostics import FieldError, counted
from difftile.distributed.moves import Moves, count_moves, find_moves, owners
from difftile.fields.field import Field
from difftile.ranks import Message, current
from difftile.recording.opaque import OpaqueStep, Use
from difftile.recording.replayed_fields import ReverseContext
from difftile.runtime.kernel import kernel


@dataclass(frozen=True, slots=True)
class Domain:
    """The division of space among ranks.

    Args:
        starts: Along each axis of the grid the first cell of each part, in the order of ranks.
        cells: The number of cells along each axis.
        periodic: Whether each axis is closed to a ring.
        origin: The position of the first cell, for each axis.
        spacing: The side of a cell along each axis.
    """

    starts: tuple[tuple[int, ...], ...]
    cells: tuple[int, ...]
    periodic: tuple[bool, ...]
    origin: tuple[float, ...]
    spacing: tuple[float, ...]

    def cells_of(self, positions: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], Any]:
        """Return the cell of each position, shape (n, axes), and whether it is in the grid."""
        places = positions.reshape(len(positions), len(self.cells)).astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            sizes, places = np.array(self.cells), np.floor((places - self.origin) / self.spacing)
            places = np.where(self.periodic, places - sizes * np.floor(places / sizes), places)
        inside = np.all((places >= 0) & (places < sizes), axis=1)
        return np.where(inside[:, None], places, 0).astype(np.int64), inside

    def owners_of(self, positions: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], Any]:
        """Return the rank of each position, shape (n,), and whether it is in the grid."""
        cells, inside = self.cells_of(positions)
        return owners(cells, self.starts), inside

    def __str__(self) -> str:
        low = np.array(self.origin)
        high = low + np.array(self.cells) * self.spacing
        return " x ".join(f"[{a:g}, {b:g})" for a, b in zip(low, high, strict=True))


@dataclass(frozen=True, slots=True)
class MoveFields:
    """What a migration leaves for the steps after it, in fields of 32-bit integers.

    Args:
        taken: The rows that move; see `Moves`.
        places: The rows that they become.
        peers: How many go to each rank, and come from each, shape (2, ranks).
        ends: The number of rows taken, the number placed, and the first and the last row, the
            latter not included, that are no longer in use.
    """

    taken: Field
    places: Field
    peers: Field
    ends: Field

    def write(self, moves: Moves) -> None:
        """Write the moves."""
        _write(self.taken, moves.taken)
        _write(self.places, moves.places)
        _write(self.peers, np.stack((moves.sends, moves.receives)))
        unused = moves.after, max(moves.before, moves.after)
        _write(self.ends, np.array([len(moves.taken), len(moves.places), *unused]))


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
        engine = current()
        count = int(self._count.buffer.read())
        positions = self._position.buffer.array()[:count]
        owner, inside = self._domain.owners_of(positions)
        outside = np.flatnonzero(~inside)
        axes = len(self._domain.cells)
        # A row a rank: how many rows go to each, how many are outside, where the first of them is.
        table = np.zeros((engine.size, engine.size + 1 + axes))
        table[engine.rank, : engine.size] = count_moves(owner, engine.size)
        if len(outside):
            first = positions[outside[0]].reshape(axes).astype(np.float64)
            table[engine.rank, engine.size] = len(outside)
            table[engine.rank, engine.size + 1 :] = np.nan_to_num(first, nan=np.inf)
        engine.all_reduce(table).wait("the migration of particles")
        self._check(table)
        moves = find_moves(owner, engine.rank, table[:, : engine.size].astype(np.int64))
        self._into.write(moves)
        _write(self._count, np.array(moves.after))

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
        _send(self._sources, self._targets, peers[0], peers[1], "the migration of particles")
        return peers

    def reverse(self, then: ReverseContext, saved: npt.NDArray[np.int32]) -> None:
        """Send the gradients back."""
        self._back(then, saved)

    def second(
        self, then: ReverseContext, dots: ReverseContext, saved: npt.NDArray[np.int32]
    ) -> bool:
        """Send the gradients back, and their tangents."""
        self._back(then, saved)
        self._back(dots, saved)
        return True

    def _back(self, fields: ReverseContext, peers: npt.NDArray[np.int32]) -> None:
        pairs = self._graded(fields)
        _send(
            [bar_in for _, bar_in in pairs],
            [bar_out for bar_out, _ in pairs],
            peers[1],
            peers[0],
            "the way back of the migration of particles",
        )

    def push(self, fields: ReverseContext, peers: npt.NDArray[np.int32]) -> None:
        """Send tangents along."""
        pairs = self._graded(fields)
        _send(
            [before for before, _ in pairs],
            [after for _, after in pairs],
            peers[0],
            peers[1],
            "the tangents of the migration of particles",
        )

    def _graded(self, fields: ReverseContext) -> list[tuple[Field, Field]]:
        """Return the derivatives of each source and of its target, of floats."""
        found: list[tuple[Field, Field]] = []
        for source, target in zip(self._sources, self._targets, strict=True):
            before, after = fields[source].grad_out, fields[target].grad_in
            if before is not None and after is not None:
                found.append((before, after))
        return found

    def forward(self) -> OpaqueStep:
        """Return the same transfer, of tangents."""
        return _TransferTangents(self._sources, self._targets, self._peers)


class _TransferTangents(TransferRows):
    """A transfer whose reverse sends tangents along."""

    def reverse(self, then: ReverseContext, saved: npt.NDArray[np.int32]) -> None:
        """Send tangents."""
        self.push(then, saved)


def _send(
    sources: Sequence[Field],
    targets: Sequence[Field],
    sends: npt.NDArray[np.int32],
    receives: npt.NDArray[np.int32],
    what: str,
) -> None:
    """Send rows of all sources in one message for each rank, and receive those of the targets."""
    engine = current()
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
    rows: KernelValue,
    nothing: KernelValue,
):
    """Put the rows that have moved into their places, and clear those that are not in use."""
    for i in range(ends[1]):
        rows[unique(places[i])] = received[i]
    for i in range(ends[2], ends[3]):
        rows[i] = nothing[0]
