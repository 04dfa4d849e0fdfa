"""Observers of code of which a tape sees only the arguments.

A field with a gradient that such code touches and that is none of its arguments would have a wrong
gradient without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any

from difftile.fields.field import Field, Storage
from difftile.fields.recording import RECORDING, AccessObserver, Recording
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.opaque import Opaque, OpaqueRecord
from difftile.recording.records import HostCopy, HostWrite, LaunchRecord, Record
from difftile.recording.steps import Launch, Step


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


def observe_launch(observer: AccessObserver, call: PreparedLaunch, values: list[Any]) -> None:
    """Tell an observer of the fields that a launch reads and writes."""
    code = call.code
    for k in sorted({code.position[a] for stage in code.stages for a in stage.loaded}):
        if values[k] not in code.temps:
            observer.read(values[k])
    for k in code.writes:
        if values[k] not in code.temps:
            observer.wrote(values[k])


def observe_steps(observer: AccessObserver, steps: Iterable[Record | Step]) -> None:
    """Tell an observer of the fields that the steps of a tape read and wrote."""
    for step in steps:
        match step:
            case LaunchRecord() | Launch():
                observe_launch(observer, step.call, step.values)
            case HostCopy(target, source):
                observer.read(source.base)
                observer.wrote(target.base)
            case HostWrite(field=field):
                observer.wrote(field)
            case Opaque(uses=uses) | OpaqueRecord(opaque=Opaque(uses=uses)):
                for use in uses:
                    if use.reads:
                        observer.read(use.field)
                    if use.writes:
                        observer.wrote(use.field)
