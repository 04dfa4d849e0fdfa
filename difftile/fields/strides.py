"""Arrays by their strides, as windows of arrays without gaps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from difftile.fields.window import Window, whole
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Strided:
    """The elements of an array in memory.

    Args:
        address: Where the first element is.
        shape: Elements along each axis.
        strides: The distance between neighbours along each axis [elements].
        itemsize: The bytes of an element.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int

    @property
    def bounds(self) -> tuple[int, int]:
        """Where its lowest element begins and its highest one ends."""
        reach = [s * (n - 1) for n, s in zip(self.shape, self.strides, strict=True)]
        lowest = self.address + self.itemsize * sum(r for r in reach if r < 0)
        highest = self.address + self.itemsize * (1 + sum(r for r in reach if r > 0))
        return lowest, highest

    def grids(
        self, low: int, high: int, *, fill: bool = False
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield arrays without gaps that may have this one as a window: address and shape.

        Args:
            low: Where memory begins that such an array may take.
            high: Where it ends.
            fill: Whether the array takes all of that memory.
        """
        found = sorted(
            {abs(s) for n, s in zip(self.shape, self.strides, strict=True) if s and n > 1},
            reverse=True,
        )
        steps: list[int] = []
        for stride in found:
            common = math.gcd(steps[-1], stride) if steps else stride
            if not steps or common < steps[-1]:
                steps.append(common)
        if not steps or steps[-1] != 1:
            steps.append(1)
        row = steps[0] * self.itemsize
        inner = tuple(a // b for a, b in pairwise(steps))
        if fill:
            if (high - low) % row == 0:
                yield low, ((high - low) // row, *inner)
            return
        first, last = self.bounds
        # Rows that begin where the memory does, or where the array does.
        for start in dict.fromkeys((low + (first - low) // row * row, first)):
            rows = -(-(last - start) // row)
            if start + rows * row <= high:
                yield start, (rows, *inner)

    def window_in(self, address: int, shape: tuple[int, ...]) -> Window | None:
        """Return the window that this is of an array without gaps; None if it is none.

        Args:
            address: Where that array begins.
            shape: Its shape.
        """
        offset, rest = divmod(self.address - address, self.itemsize)
        if rest or not 0 <= offset < math.prod(shape):
            return None
        sizes = strides_of(shape)
        starts: list[int] = []
        for size in sizes:
            start, offset = divmod(offset, size)
            starts.append(start)
        steps = [0] * len(shape)
        axes: list[int | None] = [None] * len(shape)
        given = list(enumerate(zip(self.shape, self.strides, strict=True)))
        for axis, (n, stride) in given:
            if n > 1 and stride and not _place(axis, n, stride, shape, sizes, starts, steps, axes):
                return None
        for axis, (n, _) in given:
            free = [k for k, taken in enumerate(axes) if taken is None]
            if n == 1 and free:
                k = next((k for k in free if shape[k] == 1), free[-1])
                axes[k], steps[k] = axis, 1
        return Window(shape, tuple(starts), tuple(steps), tuple(axes), self.shape)


def _place(
    axis: int,
    n: int,
    stride: int,
    shape: tuple[int, ...],
    sizes: tuple[int, ...],
    starts: Sequence[int],
    steps: list[int],
    axes: list[int | None],
) -> bool:
    """Let an axis run along one of the array; return False if none will do."""
    for k, size in enumerate(sizes):
        if axes[k] is None and stride % size == 0 and shape[k] > 1:
            step = stride // size
            if 0 <= starts[k] + step * (n - 1) < shape[k]:
                axes[k], steps[k] = axis, step
                return True
    return False


def strides_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of an array without gaps."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def strided(address: int, window: Window | None, shape: tuple[int, ...], itemsize: int) -> Strided:
    """Return a part of an array without gaps.

    Args:
        address: Where the array begins.
        window: The part; None for all.
        shape: The shape of the array.
        itemsize: The bytes of an element.
    """
    part = whole(shape) if window is None else window
    strides = [0] * len(part.shape)
    offset = 0
    rows = zip(strides_of(shape), part.starts, part.steps, part.axes, strict=True)
    for size, start, step, axis in rows:
        offset += size * start
        if axis is not None:
            strides[axis] = size * step
    return Strided(address + offset * itemsize, part.shape, tuple(strides), itemsize)
