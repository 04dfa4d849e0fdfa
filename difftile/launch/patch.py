"""The elements that a write into a small part of a kept buffer overwrote.

Instead of moving a field because some record still needs its contents, the tape keeps the elements
that are overwritten. In reverse they go back in when the write has been passed, and once the replay
is over they are exchanged again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.records import dataclass
from difftile.substrate import Buffer, unpin

Part: TypeAlias = Callable[[HostArray], HostArray]
"""A function that picks a part of an array, as a view."""


@dataclass(slots=True)
class Patch:
    """A part of a pinned buffer, and its contents at another time.

    Args:
        buffer: The buffer, which this keeps from being given away.
        part: The part, as a view of the buffer's memory.
        values: The contents from before the write; while these are restored, the contents from
            after it.
        undone: Whether the contents from before the write are restored.
    """

    buffer: Buffer
    part: HostArray
    values: HostArray
    undone: bool = False

    def exchange(self) -> None:
        """Exchange the present contents of the part with the kept ones."""
        self.buffer.zeros = False
        now = self.part.copy()
        # No calls from here on, so that no signal comes in between.
        self.part[...] = self.values
        self.values = now
        self.undone = not self.undone

    def release(self) -> None:
        """Release the buffer."""
        unpin(self.buffer)


def patch_of(field: Field, pick: Part) -> Patch | None:
    """Return a patch of a part of a field, or None where it would not save memory.

    Args:
        field: The field, about to be written.
        pick: Picks the part of an array of the field's shape.
    """
    buffer = field.storage.buffer
    if buffer.view is None:
        return None  # memory of the device is copied whole
    part = pick(buffer.view.reshape((*field.shape, *buffer.view.shape[len(buffer.shape) :])))
    if part.nbytes * 2 > buffer.nbytes:
        return None
    buffer.pins += 1
    return Patch(buffer, part, part.copy())


def box_of(ends: tuple[tuple[int, int], ...]) -> Part:
    """Return a function that picks a box, given first and last index along each dimension."""
    return lambda whole: whole[(*(slice(low, high + 1) for low, high in ends), ...)]
