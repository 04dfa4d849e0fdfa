"""The fields of a grid: which of their cells a rank owns, and the exchange of the others.

An exchange is three steps of the tape: launches pack the cells that others need into messages, a
transfer sends and receives these, and launches unpack them into the halo.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.distributed.accumulation import add_to, take_out
from difftile.distributed.boxes import Layout
from difftile.distributed.messages import Side, pack, unpack
from difftile.distributed.transfer import transfer
from difftile.fields.field import Field, make, scratch
from difftile.fields.recording import may_vary
from difftile.fields.split import Split
from difftile.ir.types import Type, is_float, shape_of
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
        sends = [
            (other, self._local(piece.owned))
            for other in range(layout.count)
            for piece in layout.pieces(other)
            if piece.owner == rank
        ]
        receives = [(piece.owner, self._local(piece.at)) for piece in layout.pieces(rank)]
        receives.sort(key=lambda one: one[0])
        self._sends, self._receives = (Side(one, len(box)) for one in (sends, receives))
        self._messages: dict[tuple[Type, int, bool], tuple[Field, Field]] = {}

    def _local(self, box: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        """Return a box in the indices of this rank's fields."""
        return tuple(
            (start - first, stop - first)
            for (start, stop), first in zip(box, self.origin, strict=True)
        )

    # Exchange

    def exchange(self, fields: Sequence[Field]) -> None:
        """Fill the halos of fields; a step of the tape. All ranks call it alike."""
        for element, some in _alike(fields).items():
            self._exchange(element, some)

    def _exchange(self, element: Type, fields: Sequence[Field]) -> None:
        """Fill the halos of fields of one element type, by one message to each neighbour."""
        sent, received = self._sends.cells, self._receives.cells
        if sent is None or received is None:
            return  # no halo; then no rank has one
        source, target = self._buffers(element, len(fields), any(map(may_vary, fields)))
        for column, one in enumerate(fields):
            pack(source, column, sent, one)
        transfer(
            source, self._sends.parts, target, self._receives.parts, _named("exchange", fields)
        )
        for column, one in enumerate(fields):
            unpack(one, received, target, column)

    def accumulate(self, fields: Sequence[Field]) -> None:
        """Add the halos of fields to their owners and clear them; steps of the tape."""
        for element, some in _alike(fields).items():
            self._accumulate(element, some)

    def _accumulate(self, element: Type, fields: Sequence[Field]) -> None:
        """Add the halos of fields of one element type; the messages go the other way."""
        owned, halo = self._sends, self._receives
        if owned.cells is None or halo.cells is None:
            return
        target, source = self._buffers(element, len(fields), any(map(may_vary, fields)))
        for column, one in enumerate(fields):
            take_out(source, column, halo.cells, one)
        transfer(source, halo.parts, target, owned.parts, _named("accumulation", fields))
        for column, one in enumerate(fields):
            add_to(one, owned.cells, target, column)

    def _buffers(self, element: Type, columns: int, varies: bool) -> tuple[Field, Field]:
        """Return the fields of the messages to send and to receive, shape (cells, columns)."""
        key = element, columns, varies and is_float(element)
        found = self._messages.get(key)
        if found is None:
            with scratch():
                made = [make(element, (one.size, columns)) for one in (self._sends, self._receives)]
                source, target = [one.with_grads() for one in made] if key[2] else made
            found = self._messages[key] = source, target
        return found

    # Whole arrays

    def from_global(self, field: Field, values: npt.ArrayLike) -> None:
        """Set a field, its halo included, from an array of the whole grid."""
        given, layout = np.asarray(values), self.layout
        wanted = (*layout.shape, *shape_of(field.element))
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

    def to_global(self, field: Field, root: int | None = None) -> npt.NDArray[Any] | None:
        """Return the contents of the whole grid, on one rank or on all."""
        engine, layout = current(), self.layout
        mine = np.ascontiguousarray(field.inner.to_numpy())
        inner = shape_of(field.element)
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


def _alike(fields: Sequence[Field]) -> dict[Type, list[Field]]:
    """Return fields by their element type."""
    found: dict[Type, list[Field]] = {}
    for one in fields:
        found.setdefault(one.element, []).append(one)
    return found


def _named(step: str, fields: Sequence[Field]) -> str:
    """Return a step with fields in words, for errors and pictures."""
    first = f"{fields[0].element} {fields[0].shape}"
    many = f"{len(fields)} fields" if fields[1:] else "a field"
    return f"the {step} of {many} of {first}"
