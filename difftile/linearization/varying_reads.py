"""Values that Python reads from memory that varies."""

from __future__ import annotations

from collections.abc import Iterable

from difftile.compile.arguments import Arguments, field_at
from difftile.fields.field import Field
from difftile.fields.numbers import HostRead, Reads, TakenConstant
from difftile.fields.recording import Where
from difftile.ir.types import is_float
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.linearization.active import Active
from difftile.recording.host_reads import result_of
from difftile.recording.recorder import StepRecorder


class VaryingReads(StepRecorder):
    """A recorder that knows what varies, and follows what Python reads of it.

    Args:
        wanted: The fields that vary to begin with.

    Attributes:
        active: The memory that varies, as steps go on.
    """

    def __init__(self, wanted: Iterable[Field]) -> None:
        self.active = Active(frozenset(one.origin for one in wanted))
        self._identity = object()
        self._returned: dict[str, HostRead] = {}

    def host_read(self, field: Field, where: Where) -> HostRead | None:
        """Return a read from Python of a field that varies."""
        return HostRead(self._identity, repr(field)) if self._varies(field) else None

    def result(self, launch: PreparedLaunch, values: Arguments, position: int) -> HostRead | None:
        """Return a read of a result of a launch that varies."""
        name = launch.code.name
        read = self._returned.setdefault(name, HostRead(self._identity, result_of(name)))
        return read if self._varies(field_at(values, position)) else None

    def _varies(self, field: Field) -> bool:
        return field in self.active and is_float(field.element)

    def varying(self, reads: Iterable[HostRead]) -> list[HostRead]:
        """Return the reads of fields that vary."""
        return [read for read in reads if read.recorder is self._identity]

    def takes_constant(self, number: TakenConstant, reads: Reads) -> None:
        """Warn that a number which varies is taken for a constant."""
        if varying := self.varying(reads):
            number.warn(varying)

    def follows(self, launch: PreparedLaunch, position: int) -> bool:
        """Tell that derivatives pass to results of launches."""
        return True
