"""What a write into a small part of a kept buffer overwrote.

Instead of moving a field because some record still needs what it held, the tape keeps the elements
that are overwritten. In reverse they go back in when the write has been passed, and once the replay
is over they are exchanged again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from difftile.fields.field import Field
from difftile.substrate import Buffer, unpin


@dataclass(slots=True)
class Patch:
    """A part of a pinned buffer, and what it held at another time.

    Args:
        buffer: The buffer, which this keeps from being given away.
        part: The part, as a view of the buffer's memory.
        values: What the part held before the write; while that is back in place, what it held
            after it.
        undone: Whether that is back in place.
    """

    buffer: Buffer
    part: npt.NDArray[Any]
    values: npt.NDArray[Any]
    undone: bool = False

    def exchange(self) -> None:
        """Exchange what the part holds with what it held."""
        self.buffer.zeros = False
        now = self.part.copy()
        # Nothing is called from here on, so that no signal comes in between.
        self.part[...] = self.values
        self.values = now
        self.undone = not self.undone

    def release(self) -> None:
        """Let go of the buffer."""
        unpin(self.buffer)


def patch_of(field: Field, pick: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Patch | None:
    """Return a patch of a part of a field, or None where it would save nothing.

    Args:
        field: The field, about to be written.
        pick: Returns the part of an array of the field's shape, as a view.
    """
    buffer = field.storage.buffer
    if buffer.view is None:
        return None  # memory of the device is copied whole
    part = pick(buffer.view.reshape((*field.shape, *buffer.view.shape[len(buffer.shape) :])))
    if part.nbytes * 2 > buffer.nbytes:
        return None
    buffer.pins += 1
    return Patch(buffer, part, part.copy())


def box_of(ends: tuple[tuple[int, int], ...]) -> Callable[[npt.NDArray[Any]], npt.NDArray[Any]]:
    """Return what picks a box, given first and last index along each dimension."""
    return lambda whole: whole[(*(slice(low, high + 1) for low, high in ends), ...)]
