"""Particles: rows of fields on each rank, which move to the rank that owns their place."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError, brief, counted
from difftile.distributed.domain import Domain
from difftile.distributed.grid import Grid
from difftile.distributed.migration import (
    FindMoves,
    TransferRows,
    check_capacity,
    place,
    take,
    wrap,
)
from difftile.distributed.moves import MoveFields
from difftile.distributed.order import Order
from difftile.fields.exchange import as_array, as_contents, as_integer
from difftile.fields.named_fields import NamedFields
from difftile.fields.rows import rows_of
from difftile.ranks import current
from difftile.recording.perform import perform

_ID = "id"


class Particles(NamedFields):
    """Rows of fields, each on the rank that owns the cell of a grid in which it is.

    Every field has `capacity` rows on a rank, of which the first `count` are in use; the others
    are zero. `particles.x` and `particles["x"]` are the field of that name, always the same one.
    A kernel loops over the rows in use: `for p in range(count[None])`.

    `migrate()` moves rows to the ranks that own their positions. It is a step of an open tape:
    gradients of rows go back the way that the rows have come. The integer field `id` goes with
    each particle and tells which one it is.

    Args:
        grid: The grid whose boxes divide space.
        fields: Fields with one axis, of equal size; that size is the capacity of this rank.
        spacing: The side of a cell, or one for each axis, in the unit of positions.
        position: The name of the positions: vectors with a component for each axis of the grid.
        origin: The position of the first cell's lower corner, or a number for all axes.
        moving: The most particles that may leave a rank, or arrive there, in one migration; the
            memory of messages. By default the capacity.
        named: More fields, by name.

    Raises:
        FieldError: The fields do not fit together or the grid, or ranks have different ones; on
            all ranks.
    """

    def __init__(
        self,
        grid: Grid,
        fields: Mapping[str, dt.Field] | None = None,
        /,
        *,
        spacing: npt.ArrayLike,
        position: str = "x",
        origin: npt.ArrayLike = 0.0,
        moving: int | None = None,
        **named: dt.Field,
    ) -> None:
        self._fields = {**(fields or {}), **named}
        self._grid = grid
        self._position = position
        self._check_fields()
        self._domain = _domain(grid, spacing, origin)
        self._check_position()
        self._moving = self._room(moving)
        self._check_ranks()
        self._fields[_ID] = dt.zeros(self.capacity, ti.i32)
        self._count = dt.zeros((), ti.i32)
        with dt.scratch():
            self._prepare()

    def _prepare(self) -> None:
        """Make the memory and the steps of migrations."""
        engine, room = current(), self._moving
        sent_rows = min(self.capacity, 2 * room)  # with rows that fill the places of others
        rows = self._fields
        self._rows = dt.StructField(rows)
        self._sent = _like(rows, sent_rows)
        self._received = _like(rows, room)
        self._nothing = dt.StructField({n: dt.zeros(1, one.element) for n, one in rows.items()})
        self._moves = MoveFields(
            dt.zeros(sent_rows, ti.i32),
            dt.zeros(room, ti.i32),
            dt.zeros((2, engine.size), ti.i32),
            dt.zeros(6, ti.i32),
        )
        self._find = FindMoves(
            self._domain, self._fields[self._position], self._count, self._moves, room
        )
        sent, received = ([f for _, f in one.fields()] for one in (self._sent, self._received))
        self._transfer = TransferRows(sent, received, self._moves.peers)

    # What they are

    @property
    def capacity(self) -> int:
        """The rows of each field on this rank."""
        return self._fields[self._position].shape[0]

    @property
    def count(self) -> dt.Field:
        """The number of rows in use on this rank: a field of one integer, for kernels."""
        return self._count

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            raise FieldError(
                f"'{name}' cannot be set: the fields of particles stay the same. Write into one: "
                "particles.from_global({...}), or particles.x.fill(0.0)."
            )
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}: {one.element}" for name, one in self._fields.items())
        return f"<particles of {inside}; capacity {self.capacity} on rank {current().rank}>"

    # Migration

    def migrate(self) -> None:
        """Move each particle to the rank that owns the cell in which it is; all ranks call it.

        Positions along periodic axes are first brought into the grid. Rows that stay keep their
        places. Arriving particles fill the places of particles that have left, and then the next
        ones, in the order of the ranks that they come from and of their rows there; the last rows,
        from the last one on, fill places that remain. A particle may go to any rank, however far.

        Gradients, tangents and second derivatives go with the rows. Which rank a particle is on is
        no smooth function of its position, and has no effect on its values.

        Raises:
            FieldError: A particle is outside the grid, or not at a number; or more particles would
                be on a rank than it has rows, or move at once than `moving` says. On all ranks.
            RankError: Another rank failed, or did not answer.
        """
        domain = self._domain
        if any(domain.periodic):
            lengths = domain.lengths
            scalar = not self._fields[self._position].element_shape
            low = domain.origin[0] if scalar else list(domain.origin)
            wrap(self._fields[self._position], self._count, low, lengths[0] if scalar else lengths)
        moves = self._moves
        perform(self._find)
        take(moves.ends, moves.taken, self._rows, self._sent)
        perform(self._transfer)
        place(moves.ends, moves.places, self._received, self._sent, self._rows, self._nothing)

    # Whole arrays

    def from_global(self, values: Mapping[str, npt.ArrayLike]) -> None:
        """Replace all particles; each rank keeps those in its own cells, in the given order.

        Args:
            values: An array of shape (n, ...) by the name of its field, the same on all ranks.
                Fields that are not given become zero. Without `id`, the particles are numbered
                from 0.

        Raises:
            FieldError: A name is unknown, the arrays do not fit, a position is outside the grid,
                or a rank has no room.
        """
        for name in values:
            if name not in self._fields:
                raise FieldError(self._missing(name))
        if self._position not in values:
            raise FieldError(f"{self!r} are given no positions, '{self._position}'.")
        given = {name: as_array(one) for name, one in values.items()}
        positions = given[self._position]
        count = len(positions) if positions.ndim else 0
        given.setdefault(_ID, np.arange(count, dtype=np.int32))
        for name, one in given.items():
            field = self._fields[name]
            wanted = (count, *field.element_shape)
            if one.shape != wanted:
                raise FieldError(
                    f"{self!r}: '{name}' of {counted(count, 'particle')} is an array of shape "
                    f"{wanted}, not {one.shape}."
                )
            given[name] = as_contents(field, field.element, one, wanted)
        owner, inside = self._domain.owners_of(given[self._position])
        if not inside.all():
            first = given[self._position][~inside][0]
            raise FieldError(
                f"Of {counted(count, 'particle')} {(~inside).sum()} are outside the grid, "
                f"{self._domain}, the first of them at {first}."
            )
        counts = np.bincount(owner, minlength=current().size)
        check_capacity(counts, self.capacity)
        own = owner == current().rank
        for name, field in self._fields.items():
            contents = np.zeros((self.capacity, *field.element_shape), field.buffer.array().dtype)
            if name in given:
                contents[: int(own.sum())] = given[name][own]
            field.from_numpy(contents)
        self._count.from_numpy(np.array(own.sum(), np.int32))

    @property
    def name_of_positions(self) -> str:
        """The name of the field of positions."""
        return self._position

    def owned(self, positions: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which of some positions are in the cells of this rank, shape (n,)."""
        owner, inside = self._domain.owners_of(positions)
        return inside & (owner == current().rank)

    def order(self) -> Order:
        """Return which particle each row is now, on all ranks; all ranks call it.

        With it, `order.to_global(particles.v.grad)` is the gradient of the contents that the
        particles had when the order was made, wherever they are afterwards.
        """
        return Order(self._fields[_ID].to_numpy()[: int(self._count.to_numpy())])

    def to_global(self) -> dict[str, npt.NDArray[Any]]:
        """Return the contents of all ranks by name, each in the order of `id`, on each rank.

        All ranks call it.
        """
        order = self.order()
        return {name: order.to_global(field) for name, field in self._fields.items()}

    # Checks

    def _check_fields(self) -> None:
        if not self._fields:
            raise FieldError("Particles are made of fields: dist.Particles(grid, spacing=h, x=x).")
        known: dict[object, str] = {}
        for name, field in self._fields.items():
            if name == _ID or name.startswith("_") or hasattr(type(self), name):
                raise FieldError(f"A field of particles cannot be called '{name}': they have that.")
            if not isinstance(field, dt.Field) or field.origin is not field or field.ndim != 1:
                raise FieldError(
                    f"Particles are made of whole fields with one axis, and '{name}' is {field!r}."
                )
            first = next(iter(self._fields))
            if field.shape != self._fields[first].shape:
                raise FieldError(
                    f"'{name}' has {counted(len(field), 'row')}, and '{first}' has "
                    f"{len(self._fields[first])}: each field has as many rows as the capacity."
                )
            other = known.setdefault(field.storage, name)
            if other != name:
                raise FieldError(f"'{other}' and '{name}' are the same memory.")
            if field.split is not None or rows_of(field) is not None:
                raise FieldError(f"'{name}', {field!r}, belongs to a grid or to rows already.")

    def _check_position(self) -> None:
        axes, name = len(self._domain.cells), self._position
        if name not in self._fields:
            raise FieldError(
                f"The positions, '{name}', are not among the fields {', '.join(self._fields)}; "
                "name them: position='x'."
            )
        field = self._fields[name]
        shapes = {(axes,), ()} if axes == 1 else {(axes,)}
        if field.numpy_dtype.kind != "f" or field.element_shape not in shapes:
            raise FieldError(
                f"The positions, '{name}', are {field.element}; in a grid of "
                f"{counted(axes, 'axis', 'axes')} they are vectors of {axes} floats."
            )

    def _room(self, moving: int | None) -> int:
        if moving is None:
            return self.capacity
        found = as_integer(moving)
        if found is None or found < 1:
            raise FieldError(f"'moving' is a number of particles, 1 or more, not {brief(moving)}.")
        return min(found, self.capacity)

    def _check_ranks(self) -> None:
        """Check that all ranks have made the same.

        Raises:
            FieldError: A rank has other fields, another capacity, or another domain.
        """
        engine = current()
        elements = [(name, str(one.element)) for name, one in self._fields.items()]
        made = f"{elements}, capacity {self.capacity}, moving {self._moving}, {self._domain!r}"
        found = np.zeros(engine.size)
        found[engine.rank] = zlib.crc32(made.encode())
        engine.all_reduce(found).wait("the making of particles")
        for rank in np.flatnonzero(found != found[0]):
            raise FieldError(
                f"Ranks 0 and {rank} make different particles; rank {engine.rank} has {made}. "
                "Names, types, capacity and grid are the same on all ranks."
            )


def _like(fields: Mapping[str, dt.Field], rows: int) -> dt.StructField:
    """Return fields with other rows, and with gradients where there are some."""
    return dt.StructField(
        {n: dt.zeros(rows, one.element, grad=one.has_grads) for n, one in fields.items()}
    )


def _domain(grid: Grid, spacing: npt.ArrayLike, origin: npt.ArrayLike) -> Domain:
    axes = len(grid.shape)
    sides, corner = (
        tuple(np.broadcast_to(np.asarray(one, float), (axes,)).tolist())
        for one in (spacing, origin)
    )
    if not all(0.0 < side < np.inf for side in sides):
        raise FieldError(f"The spacing of the grid is positive, not {spacing}.")
    starts = tuple(
        tuple(size * k // count for k in range(count))
        for size, count in zip(grid.shape, grid.ranks, strict=True)
    )
    return Domain(starts, grid.shape, grid.periodic, corner, sides)
