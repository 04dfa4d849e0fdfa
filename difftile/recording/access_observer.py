"""Looking on while code runs of which a tape sees only the arguments.

A field with a gradient that such code touches and that is none of its arguments would have a wrong
gradient without a word.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Generator, Iterable
from contextlib import contextmanager
from typing import Any

from difftile.fields.field import Field, Storage
from difftile.fields.recording import OPEN_IN, Outlook
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.opaque import Opaque, OpaqueRecord
from difftile.recording.records import HostCopy, HostWrite, LaunchRecord, Record
from difftile.recording.steps import Launch, Step


class Refusing(Outlook):
    """Raises where certain memory is touched in this thread.

    Args:
        storages: The memory.
        refuse: Raises an error, given a field and what happens to it: 'reads' or 'writes'.
    """

    def __init__(self, storages: Container[Storage], refuse: Callable[[Field, str], None]) -> None:
        self._storages = storages
        self._refuse = refuse
        self._thread = threading.get_ident()

    def read(self, field: Field) -> None:
        """Refuse to read."""
        self._touched(field, "reads")

    def wrote(self, field: Field) -> None:
        """Refuse to write."""
        self._touched(field, "writes")

    def _touched(self, field: Field, what: str) -> None:
        if field.storage in self._storages and threading.get_ident() == self._thread:
            self._refuse(field, what)


@contextmanager
def looking(outlook: Outlook) -> Generator[None]:
    """Let something look on inside a block."""
    before, OPEN_IN.outlook = OPEN_IN.outlook, outlook
    try:
        yield
    finally:
        OPEN_IN.outlook = before


def look_at(outlook: Outlook, call: PreparedLaunch, values: list[Any]) -> None:
    """Say what a launch is going to touch."""
    code = call.code
    for k in sorted({code.position[a] for stage in code.stages for a in stage.loaded}):
        if values[k] not in code.temps:
            outlook.read(values[k])
    for k in code.writes:
        if values[k] not in code.temps:
            outlook.wrote(values[k])


def look_back(outlook: Outlook, steps: Iterable[Record | Step]) -> None:
    """Say what was touched on a tape."""
    for step in steps:
        match step:
            case LaunchRecord() | Launch():
                look_at(outlook, step.call, step.values)
            case HostCopy(target, source):
                outlook.read(source.base)
                outlook.wrote(target.base)
            case HostWrite(field=field):
                outlook.wrote(field)
            case Opaque(uses=uses) | OpaqueRecord(opaque=Opaque(uses=uses)):
                for use in uses:
                    if use.reads:
                        outlook.read(use.field)
                    if use.writes:
                        outlook.wrote(use.field)
