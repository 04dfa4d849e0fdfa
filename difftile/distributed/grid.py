"""`dist.Grid`: fields split among ranks, each with a halo of its neighbours' cells."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

import difftile as dt
from difftile.diagnostics import FieldError, RankError, brief
from difftile.distributed.boxes import Layout, divided
from difftile.distributed.grid_split import GridSplit
from difftile.fields.exchange import Shape, as_integer, as_shape
from difftile.fields.halos import to_exchange
from difftile.ranks import current
from difftile.ranks.collect import compare
from difftile.tracebacks import boundaries

_AXES = 3


@boundaries("__init__", "field", "exchange", "exchanging", "accumulate")
class Grid:
    """A grid of cells split into boxes, one for each rank.

    Fields of the grid have, on each rank, the cells that it owns and a halo on both sides of every
    axis, which takes copies of other ranks' cells in an exchange. Kernels see plain fields. Cells
    of the halo that are outside of the domain, along axes that are not periodic, stay as they are:
    zero, or the boundary values that kernels write there.

    All ranks make the same grids and exchange the same fields, in the same order.

    Args:
        shape: Cells of the whole grid along each axis, one to three.
        ranks: Boxes along each axis, as many as ranks in total; None for those with the least
            surface. Sizes that are not divisible lead to boxes that differ by one cell.
        halo: Width of the halo [cells], for all axes or for each; it may be wider than the
            neighbours' boxes.
        periodic: Whether the last cell has the first one as its neighbour, for all axes or for
            each.

    Attributes:
        shape: Cells of the whole grid along each axis.
        ranks: Boxes along each axis.
        halo: Width of the halo along each axis.
        periodic: Whether each axis is closed.

    Raises:
        FieldError: An argument is not valid, or some rank would own no cells.
        RankError: The boxes are not as many as the ranks, or ranks make different grids.
    """

    def __init__(
        self,
        shape: Shape,
        ranks: Sequence[int] | int | None = None,
        *,
        halo: int | Sequence[int] = 1,
        periodic: bool | Sequence[bool] = False,
    ) -> None:
        self.shape = as_shape(shape)
        if not 1 <= len(self.shape) <= _AXES or 0 in self.shape:
            raise FieldError(
                f"A grid has one to three axes with cells along each, not {brief(shape)}."
            )
        engine = current()
        self.halo = self._for_axes(halo, "halo", "a number of cells, 0 or more")
        self.periodic = tuple(map(bool, self._for_axes(periodic, "periodic", "True or False")))
        self.ranks = _boxes(self.shape, ranks, engine.size, self.periodic)
        self._layout = Layout(self.shape, self.ranks, self.halo, self.periodic)
        self._rank = engine.rank
        _check_alike(self._layout)
        self._split = GridSplit(self._layout, self._rank)

    @property
    def local_shape(self) -> tuple[int, ...]:
        """The shape of this rank's fields, with the halo on both sides of each axis."""
        return self._split.shape

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """The cells that this rank owns along each axis."""
        return tuple(one.stop - one.start for one in self._split.owned)

    @property
    def origin(self) -> tuple[int, ...]:
        """The index in the whole grid of element 0 of this rank's fields, along each axis.

        Negative where the halo is outside of the domain, or in a periodic image.
        """
        return self._split.origin

    def __repr__(self) -> str:
        boxes = " x ".join(map(str, self.ranks))
        return f"<grid {self.shape} on {boxes} ranks, halo {self.halo}, here {self.local_shape}>"

    def field(self, dtype: Any, *, grad: bool = False) -> Any:
        """Return a field of zeros over the cells of this rank and their halo.

        Args:
            dtype: Element type, as for `dt.field`; a struct type for a field of structs.
            grad: Attach a gradient buffer.

        Raises:
            FieldError: Fields cannot have the type, or integers are asked for a gradient.
        """
        made = cast("dt.Field | dt.StructField", dt.field(dtype, self.local_shape, grad=grad))
        for one in _opened(made):
            one.storage.split = self._split
            if one.grad_out is not None:
                one.grad_out.storage.split = self._split
        return made

    def exchange(self, *fields: dt.Field | dt.StructField) -> None:
        """Fill the halos of fields from the cells of their owners; a step of the tape.

        Every rank calls this for the same fields in the same order. Fields of one element type go
        in one message to each neighbour. The gradient of a cell in a halo is added to the cell's
        own, on the rank that owns it.

        Args:
            fields: Fields of the grid, or of structs.

        Raises:
            FieldError: A value is no field of this grid, or is given twice.
            RankError: Another rank failed, or did not answer.
        """
        self._split.exchange(to_exchange(self._leaves(fields, "exchange")))

    @contextmanager
    def exchanging(self, *fields: dt.Field | dt.StructField) -> Generator[None]:
        """Exchange fields while the launches of a block run.

            with grid.exchanging(u):
                advance(u, v, *grid.interior)  # reads no halo
            for box in grid.rim:
                advance(u, v, *box)

        Messages leave at the beginning of the block; at its end they are in the halos, so these
        hold the values from the beginning. Inside the block the halos are out of date.

        Args:
            fields: Fields of the grid, or of structs.

        Raises:
            FieldError: A value is no field of this grid, or is given twice.
            RankError: Another rank failed, or did not answer.
        """
        with self._split.exchanging(to_exchange(self._leaves(fields, "exchanging"))):
            yield

    def accumulate(self, *fields: dt.Field | dt.StructField) -> None:
        """Add the halos of fields to the cells of their owners and clear them; a step of the tape.

        The transpose of an exchange, for kernels that add to cells of the halo, as particles near a
        border do. Cells of the halo outside of the domain stay as they are. Every rank calls this
        for the same fields in the same order. The gradient of a cell at its owner becomes the
        gradient of each of its copies in halos.

        Args:
            fields: Fields of the grid, or of structs.

        Raises:
            FieldError: A value is no field of this grid, or is given twice.
            RankError: Another rank failed, or did not answer.
        """
        self._split.accumulate(self._leaves(fields, "accumulate"))

    @property
    def interior(self) -> tuple[tuple[int, int], ...]:
        """The own cells that are at least a halo's width from cells of other ranks.

        A start and a stop along each axis, as local indices; a kernel that reads neighbours as far
        as the halo is wide needs no exchange there. May be empty.
        """
        return self._split.local(self._layout.interior(self._rank))

    @property
    def rim(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Boxes of the own cells that are not in the interior, as local indices."""
        return tuple(self._split.local(box) for box in self._layout.rim(self._rank))

    def _leaves(self, fields: Sequence[dt.Field | dt.StructField], name: str) -> list[dt.Field]:
        """Return the fields that a method is given, structs member by member.

        Raises:
            FieldError: A value is no field of this grid, or is given twice.
        """
        found = [leaf for one in fields for leaf in _opened(one)]
        for one in found:
            self._check(one)
        if len({one.storage for one in found}) < len(found):
            raise FieldError(f"{name}() was given a field twice.")
        return found

    def _check(self, field: object) -> None:
        if not isinstance(field, dt.Field):
            raise FieldError(
                f"A grid takes whole fields, made by grid.field(), not {brief(field)}."
            )
        if field.shape != self.local_shape:
            raise FieldError(
                f"{field!r} is no field of this grid, whose fields have shape {self.local_shape} "
                "on this rank. Make it by grid.field()."
            )

    def _for_axes(self, given: Any, name: str, what: str) -> tuple[int, ...]:
        """Return a number for each axis.

        Raises:
            FieldError: The value is not one, nor one for each axis.
        """
        many = isinstance(given, (tuple, list))
        parts = cast("Sequence[object]", given) if many else [given] * len(self.shape)
        numbers = [
            int(cast(bool, n)) if isinstance(n, (bool, np.bool_)) else as_integer(n) for n in parts
        ]
        found = [one for one in numbers if one is not None and one >= 0]
        if not len(found) == len(parts) == len(self.shape):
            raise FieldError(
                f"'{name}' is {what}, or one for each axis of {self.shape}, not {brief(given)}."
            )
        return tuple(found)


def _check_alike(layout: Layout) -> None:
    """Check that all ranks make the same grid.

    Raises:
        RankError: They do not.
    """
    own = f"{layout.shape}, ranks {layout.ranks}, halo {layout.halo}, periodic {layout.periodic}"
    different = compare(own, "making a grid")
    if different is not None:
        rank, here, first = different
        raise RankError(
            f"Ranks make different grids: rank 0 one of shape {first}; rank {rank} one of shape "
            f"{here}. All ranks make the same grids, in the same order."
        )


def _opened(field: dt.Field | dt.StructField) -> list[dt.Field]:
    """Return a field, or the fields of its members."""
    return [leaf for _, leaf in field.fields()] if isinstance(field, dt.StructField) else [field]


def _boxes(
    shape: tuple[int, ...],
    ranks: Sequence[int] | int | None,
    size: int,
    periodic: Sequence[bool],
) -> tuple[int, ...]:
    """Return the boxes along each axis.

    Args:
        shape: Cells along each axis.
        ranks: The boxes that the user asks for, or None.
        size: The number of ranks.
        periodic: Whether each axis is closed.

    Raises:
        FieldError: Some rank would own no cells.
        RankError: The boxes are not as many as the ranks.
    """
    if ranks is None:
        found = divided(shape, size, periodic)
        if found is None:
            raise FieldError(
                f"A grid of shape {shape} cannot be divided among {size} ranks: each way has more "
                "ranks than cells along some axis. Start fewer ranks."
            )
        return found
    found = as_shape(ranks)
    if len(found) != len(shape) or 0 in found:
        raise FieldError(
            f"'ranks' has a number of boxes for each axis of {shape}, 1 or more, not "
            f"{brief(ranks)}."
        )
    if math.prod(found) != size:
        raise RankError(
            f"A grid with ranks={found} needs {math.prod(found)} ranks, and there "
            f"{'is 1' if size == 1 else f'are {size}'}. Leave 'ranks' out to divide it among those "
            "that there are."
        )
    for axis, (count, cells) in enumerate(zip(found, shape, strict=True)):
        if count > cells:
            raise FieldError(
                f"Along axis {axis} there are {count} ranks for {cells} cells, and each rank owns "
                "one or more. Start fewer ranks, or divide another axis."
            )
    return found
