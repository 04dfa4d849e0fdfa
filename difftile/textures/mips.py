"""Levels of a texture: each has half as many texels along each axis as the one before."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti


def level_shapes(shape: tuple[int, ...], box: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the shape of each level, down to one texel.

    Args:
        shape: The shape of level 0.
        box: The number of texels along each axis that become one: 2, or 1 where levels keep the
            axis.
    """
    longest = max(n for n, of in zip(shape, box, strict=True) if of == 2)
    return [
        tuple(max(1, n >> level) if of == 2 else n for n, of in zip(shape, box, strict=True))
        for level in range(longest.bit_length())
    ]


@dt.kernel
def halve(fine, coarse, box: ti.template(), weight: float):
    """Average boxes of texels; where a size is odd the last texel is left out."""
    for at in ti.grouped(coarse):
        total = ti.zero(coarse[at])
        for k in ti.static(ti.grouped(ti.ndrange(*box))):
            axes = ti.static(range(len(box)))
            index = [min(box[a] * at[a] + k[a], fine.shape[a] - 1) for a in axes]
            total += fine[ti.Vector(index)]
        coarse[at] = weight * total


@dt.kernel
def pack(level, chain, first: int):
    """Copy a level into the chain, from an element on."""
    for at in ti.grouped(level):
        place = 0
        for a in ti.static(range(len(level.shape))):
            place = place * level.shape[a] + at[a]
        chain[first + place] = level[at]


@dt.func
def kept_lod(texture, lod):
    """Return a level of detail clamped to the existing levels; NaN counts as 0."""
    if ti.static(texture.mip == "off"):
        return 0.0
    return ti.math.clamp(0.0 if math.isnan(lod) else lod, 0.0, texture.offsets.shape[0] - 1.0)


class Levels:
    """The levels of a texture, each in a field, and all of them in one field, the chain.

    They are derived from the data: filled again before they are read, with gradients to the data.

    Args:
        data: Level 0.
        box: See `level_shapes`.
    """

    def __init__(self, data: dt.Field, box: tuple[int, ...]) -> None:
        shapes = level_shapes(data.shape, box)
        self.fields = [data]
        for shape in shapes[1:]:
            self.fields.append(self._next(self.fields[-1], shape, box))
        counts = [math.prod(shape) for shape in shapes]
        first = np.cumsum([0, *counts[:-1]])
        self.offsets = dt.from_numpy(first.astype(np.int32))

        def fill(chain: Any) -> None:
            for level, start in zip(self.fields, first, strict=True):
                pack(level, chain, int(start))

        self.chain = dt.DerivedField(data.dtype, (sum(counts),), [data], fill)

    def _next(self, fine: dt.Field, shape: tuple[int, ...], box: tuple[int, ...]) -> dt.Field:
        weight = 1 / math.prod(box)

        def fill(coarse: Any) -> None:
            halve(fine, coarse, box, weight)

        return dt.DerivedField(fine.dtype, shape, [self.fields[0]], fill)
