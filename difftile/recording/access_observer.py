"""Observers of code of which a tape sees only the arguments.

A field with a gradient that such code touches and that is none of its arguments would have a wrong
gradient without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Container

from difftile.fields.field import Field, Storage
from difftile.fields.recording import RECORDING, AccessObserver, Recording


class RefusingObserver(AccessObserver):
    """Raises where certain memory is touched.

    Args:
        storages: The memory.
        refuse: Raises an error, given a field and the kind of access: 'reads' or 'writes'.
    """

    def __init__(self, storages: Container[Storage], refuse: Callable[[Field, str], None]) -> None:
        self._storages = storages
        self._refuse = refuse

    def read(self, field: Field) -> None:
        """Refuse to read."""
        if field.storage in self._storages:
            self._refuse(field, "reads")

    def wrote(self, field: Field) -> None:
        """Refuse to write."""
        if field.storage in self._storages:
            self._refuse(field, "writes")


def observed_by(observer: AccessObserver) -> Recording:
    """Return a context in which an observer hears of accesses."""
    now = RECORDING.get()
    return Recording(now.recorder, constant=now.constant, observer=observer)
