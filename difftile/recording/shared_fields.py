"""Fields whose memory others may write at any time, as a recorder sees them.

A recorder does not see writes by others, so its record would be wrong. It therefore keeps the
contents of such a field from the last use, and compares.
"""

from __future__ import annotations

from collections.abc import Iterable

from difftile.diagnostics import TapeError
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.substrate import Buffer, keep, unpin


class SharedFields:
    """The shared fields that a recorder has used, and their contents after the last use."""

    def __init__(self) -> None:
        self._held: dict[Storage, Buffer] = {}
        self._written: set[Storage] = set()

    def __bool__(self) -> bool:
        return bool(self._held)

    def __del__(self) -> None:
        if unpin is not None:  # the interpreter ends
            self.release()

    def release(self) -> None:
        """Forget all fields."""
        held, self._held = self._held, {}
        unpin(*held.values())

    def meet(self, field: Field, *, others: bool = False) -> None:
        """Keep the contents of a field before its first use, if others may write it.

        Args:
            field: The field.
            others: Whether others are about to be given its memory.

        Raises:
            TapeError: The field has memory in common with a written one, and would miss the write.
        """
        storage = field.storage
        if storage in self._held or not (others or storage.memory.is_shared):
            return
        for other in self._held:
            if other in self._written and other.memory.meets(storage.memory):
                raise _taken_for_two(storage, other)
        if others:
            self._written.add(storage)
        self._held[storage] = keep(storage)

    def writes(self, fields: Iterable[Field]) -> None:
        """Note the fields that a step is about to write.

        Raises:
            TapeError: A field has memory in common with another one, which would miss the write.
        """
        for storage in {one.storage for one in fields}:
            if storage not in self._held or storage in self._written:
                continue
            for other in self._held:
                if other is not storage and other.memory.meets(storage.memory):
                    raise _taken_for_two(storage, other)
            self._written.add(storage)

    def changed(self, fields: Iterable[Field]) -> list[Field]:
        """Return the given fields that others have written since the last use."""
        found = {one.storage: one for one in fields if one.storage in self._held}
        return [
            one
            for storage, one in found.items()
            if not storage.memory.has_contents_of(self._held[storage])
        ]

    def used(self, fields: Iterable[Field]) -> None:
        """Keep the contents of fields after a step has written them."""
        fields = tuple(fields)
        self.writes(fields)
        for storage in {one.storage for one in fields}:
            held = self._held.get(storage)
            if held is not None:
                self._held[storage] = keep(storage)
                unpin(held)


def _taken_for_two(one: Storage, other: Storage) -> TapeError:
    shown = " and ".join(
        f"a field of {memory.element}, shape {memory.shape},"
        for memory in (one.memory, other.memory)
    )
    return TapeError(
        f"{shown[0].upper()}{shown[1:]} are over the same memory of others, and one of them is "
        "written: a tape would take them for two. Share it once, and take views of that field."
    )
