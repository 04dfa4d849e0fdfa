"""Which elements of an array a view picks: the arithmetic of slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.exchange import as_integer, in_range, index_number, wrong_count
from difftile.ir.views import AxisMap, ViewKind
from difftile.records import dataclass
from difftile.substrate import Buffer


@dataclass(frozen=True, slots=True)
class Window:
    """A part of an array, as NumPy's basic indexing picks it.

    Args:
        base: The shape of the array.
        starts: The first index along each axis of the array.
        steps: The step along each axis of the array.
        axes: The axis of the view that runs along each axis of the array; None for one index.
        shape: The shape of the view; an axis that `axes` does not name repeats elements.
    """

    base: tuple[int, ...]
    starts: tuple[int, ...]
    steps: tuple[int, ...]
    axes: tuple[int | None, ...]
    shape: tuple[int, ...]

    @property
    def kind(self) -> ViewKind:
        """The kind of view, for which kernels are compiled."""
        maps = [
            AxisMap(
                axis, step, size == 1 if axis is None else step == 1 and self.shape[axis] == size
            )
            for axis, step, size in zip(self.axes, self.steps, self.base, strict=True)
        ]
        return ViewKind(tuple(maps), len(self.shape))

    @property
    def numbers(self) -> tuple[int, ...]:
        """The arguments of kernels: starts and then sizes, without the whole axes."""
        kind = self.kind
        starts = [s for s, one in zip(self.starts, kind.axes, strict=True) if not one.whole]
        sizes = [size for axis, size in enumerate(self.shape) if axis not in kind.whole]
        return (*starts, *sizes)

    @property
    def repeats(self) -> bool:
        """Whether an element of the array occurs more than once."""
        return len({*self.axes} - {None}) < len(self.shape)

    @property
    def is_empty(self) -> bool:
        """Whether the view has no elements."""
        return 0 in self.shape

    def of(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the part of an array of shape `base`; its memory is shared."""
        if self.is_empty:
            return np.empty((*self.shape, *array.shape[len(self.base) :]), array.dtype)
        index: list[int | slice[Any, Any, Any]] = []
        for start, step, axis in zip(self.starts, self.steps, self.axes, strict=True):
            stop = start if axis is None else start + step * self.shape[axis]
            index.append(start if axis is None else slice(start, None if stop < 0 else stop, step))
        picked = array[(*index, ...)]  # never a copy, even of one element
        inner = array.shape[len(self.base) :]
        runs = [axis for axis in self.axes if axis is not None]
        if runs != sorted(runs):
            rest = range(len(runs), picked.ndim)
            picked = picked.transpose(*np.argsort(runs).tolist(), *rest)
        missing = [axis for axis in range(len(self.shape)) if axis not in self.axes]
        picked = np.expand_dims(picked, tuple(missing))
        return np.broadcast_to(picked, (*self.shape, *inner)) if missing else picked

    def assign(self, buffer: Buffer, values: npt.ArrayLike) -> None:
        """Set the part of a buffer of shape `base`."""

        def change(array: npt.NDArray[Any]) -> None:
            self.of(array)[...] = values

        buffer.change(change)

    def add(self, array: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Add to the part of an array; an element that occurs more than once takes all."""
        missing = tuple(axis for axis in range(len(self.shape)) if axis not in self.axes)
        places = {axis: k for k, axis in enumerate(sorted({*self.axes} - {None}, key=_number))}
        once = Window(
            self.base,
            self.starts,
            self.steps,
            tuple(None if axis is None else places[axis] for axis in self.axes),
            tuple(self.shape[axis] for axis in places if axis is not None),
        )
        part = once.of(array)
        part += values.sum(axis=missing)

    def place(self, index: tuple[int, ...]) -> tuple[int, ...]:
        """Return where an element is in the array, from its index in the view."""
        return tuple(
            start if axis is None else start + step * index[axis]
            for start, step, axis in zip(self.starts, self.steps, self.axes, strict=True)
        )

    def sliced(self, owner: object, index: object) -> Window:
        """Return the window that an index with slices picks in this one.

        Args:
            owner: The indexed field, for errors.
            index: The index in brackets.

        Raises:
            FieldError: The index is not valid, or picks no element.
            FieldIndexError: An integer of the index is out of range.
        """
        parts = cast("tuple[object, ...]", index) if isinstance(index, tuple) else (index,)
        dots = [k for k, part in enumerate(parts) if part is Ellipsis]
        if len(dots) == 1:
            rest = (slice(None),) * (len(self.shape) - len(parts) + 1)
            parts = (*parts[: dots[0]], *rest, *parts[dots[0] + 1 :])
        if len(parts) > len(self.shape):
            raise wrong_count(owner, len(self.shape), len(parts))
        parts = (*parts, *(slice(None),) * (len(self.shape) - len(parts)))
        firsts: list[int] = []
        steps: list[int] = []
        kept: dict[int, int] = {}
        shape: list[int] = []
        for axis, (part, size) in enumerate(zip(parts, self.shape, strict=True)):
            if isinstance(part, slice):
                piece = cast("slice[Any, Any, Any]", part)
                picked = range(size)[_checked(owner, piece)]
                firsts.append(picked.start)
                steps.append(picked.step)
                kept[axis] = len(shape)
                shape.append(len(picked))
                continue
            firsts.append(in_range(owner, index_number(owner, part), size))
            steps.append(0)
        return Window(
            self.base,
            tuple(
                start if axis is None else start + step * firsts[axis]
                for start, step, axis in zip(self.starts, self.steps, self.axes, strict=True)
            ),
            tuple(
                0 if axis is None else step * steps[axis]
                for step, axis in zip(self.steps, self.axes, strict=True)
            ),
            tuple(None if axis is None else kept.get(axis) for axis in self.axes),
            tuple(shape),
        )

    def broadcast(self, owner: object, shape: tuple[int, ...]) -> Window:
        """Return the window with new axes in front, and axes of size 1 repeated, as in NumPy.

        Raises:
            FieldError: The shapes do not go together.
        """
        new = len(shape) - len(self.shape)
        if new < 0 or any(
            size not in (1, wanted) for size, wanted in zip(self.shape, shape[new:], strict=True)
        ):
            raise FieldError(f"{owner!r} cannot be broadcast to {shape}.")
        return self.spread(tuple(range(new, len(shape))), shape)

    def transposed(self, owner: object, axes: tuple[object, ...]) -> Window:
        """Return the window with its axes in another order.

        Args:
            owner: The field, for errors.
            axes: The axis that becomes each axis, as a tuple or one by one; none to reverse them.

        Raises:
            FieldError: These are not all axes, each once.
        """
        ndim = len(self.shape)
        first = axes[0] if len(axes) == 1 else axes
        given = cast("Sequence[object]", first) if isinstance(first, (tuple, list)) else (first,)
        order = [as_integer(one) for one in given] if axes else list(range(ndim))[::-1]
        order = [one + ndim if one is not None and one < 0 else one for one in order]
        found = [one for one in order if one is not None]
        if sorted(found) != list(range(ndim)) or len(found) != len(order):
            raise FieldError(
                f"{owner!r} is transposed by all of its {ndim} axes, each once, not by {given!r}."
            )
        places = tuple(found.index(axis) for axis in range(ndim))
        return self.spread(places, tuple(self.shape[axis] for axis in found))

    def spread(self, axes: tuple[int, ...], shape: tuple[int, ...]) -> Window:
        """Return the window with its axes in other places, and repeated along all others.

        Args:
            axes: Where each axis goes; one of size 1 is repeated there.
            shape: The new shape.
        """
        moved = [
            None if axis is None or self.shape[axis] != shape[axes[axis]] else axes[axis]
            for axis in self.axes
        ]
        steps = [0 if axis is None else s for axis, s in zip(moved, self.steps, strict=True)]
        return Window(self.base, self.starts, tuple(steps), tuple(moved), shape)

    def shares(self, other: Window) -> bool:
        """Tell whether some element of the array is in both."""
        if self.is_empty or other.is_empty:
            return False
        return all(_meet(self._along(axis), other._along(axis)) for axis in range(len(self.base)))

    def _along(self, axis: int) -> range:
        start, step, to = self.starts[axis], self.steps[axis], self.axes[axis]
        if to is None:
            return range(start, start + 1)
        ends = sorted((start, start + step * (self.shape[to] - 1)))
        return range(ends[0], ends[1] + 1, abs(step))


def whole(shape: tuple[int, ...]) -> Window:
    """Return the window that is all of an array."""
    ndim = len(shape)
    return Window(shape, (0,) * ndim, (1,) * ndim, tuple(range(ndim)), shape)


def picks_part(index: object, dimensions: int) -> bool:
    """Tell whether an index picks a part instead of one element, as fewer integers than axes do."""
    if type(index) is int:
        return dimensions > 1
    parts = cast("tuple[object, ...]", index) if isinstance(index, tuple) else (index,)
    if any(isinstance(part, slice) or part is Ellipsis for part in parts):
        return True
    return len(parts) < dimensions and not any(part is None for part in parts)


def _number(axis: int | None) -> int:
    return -1 if axis is None else axis


def _checked(owner: object, part: slice[Any, Any, Any]) -> slice[Any, Any, Any]:
    """Return a slice of Python integers.

    Raises:
        FieldError: A bound is no integer, or the step is 0.
    """
    given = (part.start, part.stop, part.step)
    numbers = [None if one is None else as_integer(one) for one in given]
    if any(n is None and one is not None for n, one in zip(numbers, given, strict=True)):
        raise FieldError(f"A slice of {owner!r} is made of integers, not {_written(part)}.")
    if numbers[2] == 0:
        raise FieldError(f"The step of a slice of {owner!r} is not 0.")
    return slice(*numbers)


def _written(part: slice[Any, Any, Any]) -> str:
    """Return a slice as it is written: 1:3, ::2."""
    text = ":".join("" if one is None else str(one) for one in (part.start, part.stop))
    return text if part.step is None else f"{text}:{part.step}"


def _meet(a: range, b: range) -> bool:
    """Tell whether two ascending ranges have an element in common."""
    # The remainders of a's elements by b's step repeat after that many of them.
    first = max(0, -((a[0] - b[0]) // a.step))
    return any(element in b for element in a[first : first + b.step])
