"""Observers of code of which a tape sees only the arguments.

If such code touches a field with a gradient that is not one of its arguments, the gradient is wrong
without a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Container

from difftile.fields.field import Field
from difftile.fields.recording import RECORDING, AccessObserver, Recording
from difftile.fields.storage import Storage


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


class _Both(AccessObserver):
    """Two observers: a step inside another is seen by both."""

    def __init__(self, outer: AccessObserver, inner: AccessObserver) -> None:
        self._each = outer, inner

    def read(self, field: Field) -> None:
        """Tell both."""
        for one in self._each:
            one.read(field)

    def wrote(self, field: Field) -> None:
        """Tell both."""
        for one in self._each:
            one.wrote(field)


def observed_by(observer: AccessObserver) -> Recording:
    """Return a context in which an observer is notified of accesses, besides one around it."""
    now = RECORDING.get()
    both = observer if now.observer is None else _Both(now.observer, observer)
    return Recording(now.recorder, constant=now.constant, observer=both)
