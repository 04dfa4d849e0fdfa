"""Snapshots: the contents of fields at places of a run, from which it can be run again."""

from __future__ import annotations

from collections.abc import Iterable

from difftile.fields.pending import run_pending
from difftile.fields.storage import Storage
from difftile.substrate import Buffer, keep, unpin


def kept_bytes(buffers: Iterable[Buffer]) -> int:
    """Return the bytes of those buffers that hold no field's contents any more."""
    return sum(b.held for b in {id(b): b for b in buffers if not b.owners}.values())


class Snapshot:
    """The contents of the fields before the step at a position, as far as a later step reads them.

    Buffers are pinned, not copied: the next write to the field goes to another buffer. Memory that
    others may write is copied.
    """

    __slots__ = ("_marks", "held", "position")

    def __init__(self, position: int) -> None:
        self.position = position
        self.held: dict[Storage, Buffer] = {}
        self._marks: dict[Storage, object] = {}

    def hold(self, storage: Storage) -> None:
        """Keep the present contents of a field."""
        run_pending()
        self.held[storage] = keep(storage)
        self._marks[storage] = storage.memory.contents.mark()

    def restore(self) -> None:
        """Restore the contents of the fields."""
        for storage, buffer in self.held.items():
            storage.restore(buffer, self._marks.get(storage))

    def release(self) -> None:
        """Release the contents."""
        held, self.held = self.held, {}
        unpin(*held.values())


class Snapshots:
    """The snapshots along one run, in order.

    A snapshot is empty when it is taken. A field enters it when a step touches the field for the
    first time afterwards; if that step overwrites the whole of it, no later step reads its
    contents, and it stays out.
    """

    def __init__(self) -> None:
        self.taken: list[Snapshot] = []
        self._touched: dict[Storage, int] = {}

    def take(self, position: int) -> None:
        """Take a snapshot before the step at a position."""
        self.taken.append(Snapshot(position))

    def concerns(self, storage: Storage) -> bool:
        """Tell whether some snapshot has not seen the field touched yet."""
        return bool(self.taken) and self._touched.get(storage, -1) < self.taken[-1].position

    def touch(self, storages: Iterable[Storage], position: int, *, overwritten: bool) -> None:
        """Note that the step at a position is going to read fields, or overwrite them whole."""
        for storage in storages:
            last = self._touched.get(storage, -1)
            self._touched[storage] = position
            for snapshot in reversed(self.taken):
                if snapshot.position <= last:
                    break
                if not overwritten:
                    snapshot.hold(storage)

    def drop(self, *snapshots: Snapshot) -> None:
        """Release some of them."""
        for snapshot in snapshots:
            snapshot.release()
        self.taken = [one for one in self.taken if one not in snapshots]

    def thin(self) -> None:
        """Drop every second snapshot, or the only one; of several the first one stays."""
        for snapshot in self.taken[1::2] or self.taken:
            snapshot.release()
        self.taken = self.taken[::2] if len(self.taken) > 1 else []

    def release(self) -> None:
        """Release all of them."""
        for snapshot in self.taken:
            snapshot.release()
        self.taken = []
