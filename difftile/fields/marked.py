"""What is known of the contents of gradients, as long as they are not written."""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

from difftile.diagnostics import place
from difftile.fields.storage import Storage
from difftile.records import dataclass

T = TypeVar("T")


class ContentNotes(Generic[T]):
    """Remembers something of memory, until the memory is written."""

    def __init__(self) -> None:
        self._notes: weakref.WeakKeyDictionary[Storage, tuple[object, T]]
        self._notes = weakref.WeakKeyDictionary()

    def note(self, storage: Storage, what: T) -> None:
        """Remember something of the contents as they are now."""
        self._notes[storage] = storage.buffer.contents.version, what

    def get(self, storage: Storage) -> T | None:
        """Return what was noted, or None where there is no note, or a write came after it."""
        note = self._notes.get(storage)
        is_old = note is None or storage.buffer.contents.version is not note[0]
        return None if is_old else note[1]


@dataclass(frozen=True, slots=True)
class Computed:
    """The tape whose backward pass has left a gradient.

    Args:
        file: The file of the line that opens the tape.
        line: Its number.
        is_sum: Whether the pass has added to other numbers.
    """

    file: str
    line: int
    is_sum: bool

    def __str__(self) -> str:
        where = f"of the tape at {place(self.file, self.line).removeprefix('File ')}"
        return f"a sum, the last part {where}" if self.is_sum else where


COMPUTED: ContentNotes[Computed] = ContentNotes()
"""The gradients that tapes have computed."""
