"""The fields of a grid: which of their cells a rank owns, and the exchange of the others.

An exchange is three steps of the tape: launches pack the cells that others need into messages, a
transfer sends and receives these, and launches unpack them into the halo.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import FieldError
from difftile.distributed.accumulation import add_to, take_out
from difftile.distributed.boxes import Layout
from difftile.distributed.messages import MessageSide, pack, unpack, unpack_part
from difftile.distributed.transfer import Part, begin, transfer
from difftile.fields.field import make
from difftile.fields.recording import may_vary
from difftile.fields.split import Split
from difftile.ir.types import Type
from difftile.ranks import Message, current


class GridSplit(Split):
    """The division of the fields of a grid.

    Args:
        layout: The grid.
        rank: This rank.
    """

    def __init__(self, layout: Layout, rank: int) -> None:
        self.layout = layout
        box = layout.own(rank)
        pairs = list(zip(box, layout.halo, strict=True))
        super().__init__(
            tuple(stop - start + 2 * width for (start, stop), width in pairs),
            tuple(slice(width, width + stop - start) for (start, stop), width in pairs),
            math.prod(layout.shape),
        )
        self.origin = tuple(start - width for (start, _), width in pairs)
        self.halos = [tuple(slice(*one) for one in self.local(b)) for b in layout.halos(rank)]
        sends = [
            (other, self.local(piece.owned))
            for other in range(layout.count)
            for piece in layout.pieces(other)
            if piece.owner == rank
        ]
        receives = [(piece.owner, self.local(piece.at)) for piece in layout.pieces(rank)]
        receives.sort(key=lambda one: one[0])
        self._sends, self._receives = (MessageSide(one, len(box)) for one in (sends, receives))
        self._free: dict[tuple[Type, int, bool], list[tuple[dt.Field, dt.Field]]] = {}  # messages

    def local(self, box: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        """Return a box in the indices of this rank's fields."""
        return tuple(
            (start - first, stop - first)
            for (start, stop), first in zip(box, self.origin, strict=True)
        )

    # Exchange

    def exchange(self, fields: Sequence[dt.Field]) -> None:
        """Fill the halos of fields; a step of the tape. All ranks call it alike."""
        for some in self._alike(fields):
            with self._messages(some) as (of_owned, of_halo):
                self._pack(some, of_owned)
                transfer(*self._ways(of_owned, of_halo), self._named("exchange", some))
                self._unpack(some, of_halo)

    @contextmanager
    def exchanging(self, fields: Sequence[dt.Field]) -> Generator[None]:
        """Fill the halos at the end of a block from the contents at its beginning."""
        with ExitStack() as stack:
            begun: list[tuple[list[dt.Field], dt.Field, Callable[[], None]]] = []
            for some in self._alike(fields):
                of_owned, of_halo = stack.enter_context(self._messages(some))
                self._pack(some, of_owned)
                way = self._ways(of_owned, of_halo)
                begun.append((some, of_halo, begin(*way, self._named("exchange", some))))
            yield
            for some, of_halo, finish in begun:
                finish()
                self._unpack(some, of_halo)

    def accumulate(self, fields: Sequence[dt.Field]) -> None:
        """Add the halos of fields to their owners and clear them; steps of the tape."""
        for some in self._alike(fields):
            with self._messages(some) as (of_owned, of_halo):
                for column, one in enumerate(some):
                    take_out(of_halo, column, self._receives.cells, one)
                parts = self._receives.parts, self._sends.parts
                name = self._named("accumulation", some)
                transfer(of_halo, parts[0], of_owned, parts[1], name)
                for column, one in enumerate(some):
                    add_to(one, self._sends.cells, of_owned, column)

    def _alike(self, fields: Sequence[dt.Field]) -> list[list[dt.Field]]:
        """Return fields by element type; none if no rank has a halo to fill."""
        if self._sends.cells is None or self._receives.cells is None:
            return []
        found: dict[Type, list[dt.Field]] = {}
        for one in fields:
            found.setdefault(one.element, []).append(one)
        return list(found.values())

    @contextmanager
    def _messages(self, fields: Sequence[dt.Field]) -> Generator[tuple[dt.Field, dt.Field]]:
        """Hold memory for messages inside the block: of owned cells, and of cells of the halo.

        The fields have shape (cells, columns), with a column for each field that is exchanged.
        """
        element, columns = fields[0].element, len(fields)
        varies = fields[0].numpy_dtype.kind == "f" and any(map(may_vary, fields))
        free = self._free.setdefault((element, columns, varies), [])
        if free:
            found = free.pop()
        else:
            with dt.scratch():
                first, second = (
                    make(element, (one.size, columns)) for one in (self._sends, self._receives)
                )
                found = (first.with_grads(), second.with_grads()) if varies else (first, second)
        try:
            yield found
        finally:
            free.append(found)

    def _ways(
        self, of_owned: dt.Field, of_halo: dt.Field
    ) -> tuple[dt.Field, tuple[Part, ...], dt.Field, tuple[Part, ...]]:
        """Return messages and their parts, as `transfer` takes them."""
        return of_owned, self._sends.parts, of_halo, self._receives.parts

    def _pack(self, fields: Sequence[dt.Field], messages: dt.Field) -> None:
        """Gather the cells that other ranks need."""
        for column, one in enumerate(fields):
            pack(messages, column, self._sends.cells, one)

    def _unpack(self, fields: Sequence[dt.Field], messages: dt.Field) -> None:
        """Fill the halos."""
        for column, one in enumerate(fields):
            if not one.storage.memory.pins:
                unpack(one, self._receives.cells, messages, column)
                continue
            # A tape needs the contents. It keeps the small boxes that are overwritten, where a
            # scatter would leave it no choice but to copy the field.
            for box, positions in self._boxes:
                unpack_part(one[box], positions, messages, column)

    @cached_property
    def _boxes(self) -> list[tuple[tuple[slice, ...], dt.Field]]:
        """Boxes that are the halo, and where their cells are in the messages."""
        ends = [[(one.start, one.stop) for one in box] for box in self.halos]
        return [(b, self._receives.positions(e)) for b, e in zip(self.halos, ends, strict=True)]

    def _named(self, what: str, fields: Sequence[dt.Field]) -> str:
        """Return an exchange or accumulation of fields in words, the same ones on all ranks."""
        which = f"{len(fields)} fields" if fields[1:] else "a field"
        return f"the {what} of {which} of {fields[0].element} on a grid of {self.layout.shape}"

    # Whole arrays

    def from_global(self, field: dt.Field, values: npt.ArrayLike) -> None:
        """Set a field, its halo included, from an array of the whole grid."""
        given, layout = np.asarray(values), self.layout
        wanted = (*layout.shape, *field.element_shape)
        if given.shape != wanted:
            raise FieldError(
                f"{field!r} is set from an array of the whole grid, shape {wanted}, not "
                f"{given.shape}."
            )
        target: list[slice] = []
        for axis, (size, first) in enumerate(zip(layout.shape, self.origin, strict=True)):
            start, stop = first, first + self.shape[axis]
            if not layout.periodic[axis]:
                start, stop = max(start, 0), min(stop, size)
            target.append(slice(start - first, stop - first))
            given = np.take(given, np.arange(start, stop) % size, axis=axis)
        field[tuple(target)].from_numpy(given)

    def to_global(self, field: dt.Field, root: int | None = None) -> npt.NDArray[Any] | None:
        """Return the contents of the whole grid, on one rank or on all."""
        engine, layout = current(), self.layout
        mine = np.ascontiguousarray(field.inner.to_numpy())
        inner = field.element_shape
        boxes = [tuple(slice(*one) for one in layout.own(rank)) for rank in range(layout.count)]
        receives: list[npt.NDArray[Any]] = []
        if root is None or root == engine.rank:
            receives = [
                np.empty((*(one.stop - one.start for one in box), *inner), mine.dtype)
                for box in boxes
            ]
        engine.exchange(
            [Message(one, mine) for one in range(layout.count) if root is None or one == root],
            [Message(rank, array) for rank, array in enumerate(receives)],
        ).wait(f"the gathering of {field.named()}")
        if not receives:
            return None
        whole = np.empty((*layout.shape, *inner), mine.dtype)
        for box, array in zip(boxes, receives, strict=True):
            whole[box] = array
        return whole
