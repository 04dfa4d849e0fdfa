"""Coordinates of a gradient: the entries of several fields in one vector."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.ir.types import shape_of

Vector = npt.NDArray[np.float64]
_LEAST_SCALE = 0.1  # of an entry, relative to the scale of its field


@dataclass(frozen=True, slots=True, eq=False)
class CoordinateBlock:
    """The entries of a field, or of a part of one.

    Args:
        name: The name of the field.
        values: The field or the part.
        entries: The position of each entry in the flat memory of the field.
        places: The position of each entry among the entries of `values`.
    """

    name: str
    values: ArrayLike
    entries: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]

    def index(self, entry: int) -> tuple[int, ...]:
        """Return the index of an entry, followed by the index of its component."""
        inner = shape_of(self.values.element)
        rest, index = int(self.places[entry]), list[int]()
        for size in reversed((*self.values.shape, *inner)):
            rest, own = divmod(rest, size)
            index.append(own)
        return tuple(reversed(index))

    def place(self, entry: int) -> str:
        """Return an entry as code: `x[3]`, `v[0, 2][1]`, `k[None]`."""
        index, ndim = self.index(entry), len(self.values.shape)
        text = f"{self.name}[{', '.join(map(str, index[:ndim])) or 'None'}]"
        inner = index[ndim:]
        return f"{text}[{', '.join(map(str, inner))}]" if inner else text


def block_of(
    name: str, values: ArrayLike, taken: dict[int, npt.NDArray[np.bool_]]
) -> CoordinateBlock:
    """Return a block; entries in other blocks are left out.

    Args:
        name: The name of the field.
        values: The field or part.
        taken: Masks of the entries in other blocks, by the identity of their storage.
    """
    base = values.base
    inner = shape_of(base.element)
    size = base.size * int(np.prod(inner, dtype=np.int64))
    own = np.arange(size, dtype=np.int64).reshape((*base.shape, *inner))
    picked = own if values.window is None else values.window.of(own)
    entries, places = np.unique(picked, return_index=True)
    met = taken.setdefault(id(base.storage), np.zeros(size, np.bool_))
    new = ~met[entries]
    met[entries] = True
    return CoordinateBlock(name, values, entries[new], places[new])


class Coordinates:
    """The entries of some blocks, one block after the other."""

    def __init__(self, blocks: Iterable[CoordinateBlock]) -> None:
        self.blocks = [block for block in blocks if block.entries.size]
        sizes = [block.entries.size for block in self.blocks]
        self.starts = np.concatenate(([0], np.cumsum(sizes))).astype(int)
        self.size = int(self.starts[-1])

    def parts(self) -> Iterable[tuple[CoordinateBlock, slice[int, int, None]]]:
        """Yield the blocks with their slices of the vector."""
        for block, start, stop in zip(self.blocks, self.starts, self.starts[1:], strict=False):
            yield block, slice(int(start), int(stop))

    def owner(self, entry: int) -> tuple[CoordinateBlock, int]:
        """Return the block of an entry, and the entry's number in it."""
        k = int(np.searchsorted(self.starts, entry, side="right")) - 1
        return self.blocks[k], entry - int(self.starts[k])

    def read(self) -> Vector:
        """Return the contents."""
        return self._gather(lambda block: block.values.base)

    def gradient(self) -> Vector:
        """Return the gradients."""
        return self._gather(lambda block: block.values.base.grad)

    def _gather(self, pick: Callable[[CoordinateBlock], Field]) -> Vector:
        parts = [pick(block).to_numpy().ravel()[block.entries] for block in self.blocks]
        return np.concatenate(parts).astype(np.float64) if parts else np.zeros(0)

    def write(self, vector: Vector) -> None:
        """Set the contents; tapes do not notice."""
        self._scatter(vector, lambda block: block.values.base)

    def write_gradient(self, vector: Vector) -> None:
        """Set the gradients with respect to the contents before a launch."""
        self._scatter(vector, lambda block: block.values.base.grad)

    def _scatter(self, vector: Vector, pick: Callable[[CoordinateBlock], Field]) -> None:
        for block, where in self.parts():

            def change(
                array: npt.NDArray[np.generic], block: CoordinateBlock = block, where: slice = where
            ) -> None:
                array.reshape(-1)[block.entries] = vector[where]

            pick(block).storage.buffer.change(change)

    def scales(self, vector: Vector) -> Vector:
        """Return the scale of a change of each entry; 0 for a non-finite entry."""
        finite = np.isfinite(vector)
        scales = np.abs(np.where(finite, vector, 0.0))
        for _, where in self.parts():
            sizes = scales[where][finite[where]]
            typical = float(np.sqrt(np.mean(sizes**2))) if sizes.size else 0.0
            scales[where] = np.maximum(scales[where], _LEAST_SCALE * typical) if typical else 1.0
        return np.where(finite, scales, 0.0)
