"""The elements that a write into a small part of a kept buffer overwrote.

Instead of moving a field because some record still needs its contents, the tape keeps the elements
that are overwritten. In reverse they go back in when the write has been passed, and once the replay
is over those from after the write are put in again.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Protocol, TypeAlias

from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.records import dataclass
from difftile.substrate import Box, Buffer, unpin

Pick: TypeAlias = Callable[[HostArray], HostArray]
"""A function that picks a part of an array, as a view."""


class _Part(Protocol):
    """A part of a buffer; copies of its contents are arrays, or buffers of a device."""

    def take(self) -> Any:
        """Return a copy of the contents."""
        ...

    def put(self, values: Any) -> None:
        """Set the contents."""
        ...

    def drop(self, values: Any) -> None:
        """Give the memory of a copy back."""
        ...


class Patch:
    """A part of a pinned buffer, and its contents from before a write.

    Args:
        buffer: The buffer, which this keeps from being given away.
        part: The part.
        before: The contents from before the write.

    Attributes:
        buffer: See above.
        nbytes: The bytes that are kept.
        undone: Whether they are restored, or Ctrl+C came while they were.
    """

    __slots__ = ("_after", "_before", "_part", "buffer", "nbytes", "undone")

    def __init__(self, buffer: Buffer, part: _Part, before: Any) -> None:
        buffer.pins += 1
        self.buffer, self._part = buffer, part
        self.nbytes: int = before.nbytes
        self._before: Any = before
        self._after: Any = None
        self.undone = False

    def undo(self) -> None:
        """Restore the contents from before the write."""
        self._after = self._part.take()
        self.undone = True  # first: Ctrl+C may come before the end
        self.buffer.zeros = False
        self._part.put(self._before)

    def redo(self) -> None:
        """Restore the contents from after the write."""
        after = self._after
        self.buffer.zeros = False
        self._part.put(after)
        self.undone, self._after = False, None
        self._part.drop(after)

    def release(self) -> None:
        """Release the buffer."""
        before, self._before = self._before, None
        if before is not None:
            self._part.drop(before)
        unpin(self.buffer)


def patch_of(field: Field, part: Pick | Box) -> Patch | None:
    """Return a patch of a part of a field, or None where it would not save memory.

    Args:
        field: The field, about to be written.
        part: A box, or a function that picks a part of an array of the field's shape; memory of
            devices takes boxes only.
    """
    buffer = field.storage.buffer
    if buffer.device is not None:
        return None if callable(part) else _patch_on_device(buffer, part)
    whole = buffer.view
    assert whole is not None
    whole = whole.reshape((*field.shape, *whole.shape[len(buffer.shape) :]))
    pick = part if callable(part) else _box(part)
    picked = pick(whole)
    if picked.nbytes * 2 > buffer.nbytes:
        return None
    return Patch(buffer, _HostPart(picked), picked.copy())


def _box(ends: Box) -> Pick:
    return lambda whole: whole[(*(slice(*one) for one in ends), ...)]


def _patch_on_device(buffer: Buffer, box: Box) -> Patch | None:
    size = prod(max(stop - start, 0) for start, stop in box)
    if not size or size * 2 > prod(buffer.shape):
        return None
    before = buffer.box(box)
    return None if before is None else Patch(buffer, _DevicePart(buffer, box), before)


@dataclass(frozen=True, slots=True)
class _HostPart:
    """A part of memory of the host, as a view."""

    view: HostArray

    def take(self) -> HostArray:
        return self.view.copy()

    def put(self, values: HostArray) -> None:
        self.view[...] = values

    def drop(self, values: HostArray) -> None:
        pass


@dataclass(frozen=True, slots=True)
class _DevicePart:
    """A box of memory of a device."""

    buffer: Buffer
    box: Box

    def take(self) -> Buffer:
        found = self.buffer.box(self.box)
        assert found is not None, "it took few calls before"
        return found

    def put(self, values: Buffer) -> None:
        self.buffer.set_box(self.box, values)

    def drop(self, values: Buffer) -> None:
        values.free()
