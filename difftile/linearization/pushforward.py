"""Tangents carried beside the fields while a function runs: no old values are kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from difftile.compile.arguments import Arguments, field_at
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, Storage
from difftile.fields.recording import RECORDING, Where
from difftile.fields.tracked import HostRead, Reads, reads_in
from difftile.ir.types import is_float
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.linearization.tangents import Tangents
from difftile.recording.host_reads import ConstantNumber, computed_by_python, result_of
from difftile.recording.opaque import Opaque
from difftile.recording.recorder import StepRecorder
from difftile.recording.steps import HostStep, Launch, TapeStep


class Pushforward(StepRecorder):
    """A recorder that runs the launches of a function and pushes tangents of fields through them.

    Args:
        tangents: For each field that varies the tangent of its present contents.
    """

    is_private = True

    def __init__(self, tangents: Mapping[Field, HostArray]) -> None:
        self._identity = object()
        self._returned: dict[str, HostRead] = {}
        self._dots = Tangents(frozenset(one.origin for one in tangents))
        for one, values in tangents.items():
            self._dots.of(one).buffer.write(values)

    def tangent(self, one: Field) -> Field:
        """Return the tangent of the present contents of a field."""
        return self._dots.of(one)

    def misses(self, storage: Storage) -> bool:
        """Tell whether a write from another thread into this memory would falsify the tangents."""
        return storage in self._dots.active.storages

    def host_read(self, field: Field, where: Where) -> HostRead | None:
        """Return a read from Python of a field that varies."""
        varies = field in self._dots.active and is_float(field.element)
        return HostRead(self._identity, repr(field)) if varies else None

    def result(self, launch: PreparedLaunch, values: Arguments, position: int) -> HostRead | None:
        """Return a read of a result of a launch that varies."""
        field = field_at(values, position)
        varies = field in self._dots.active and is_float(field.element)
        name = launch.code.name
        read = self._returned.setdefault(name, HostRead(self._identity, result_of(name)))
        return read if varies else None

    def varying(self, reads: Iterable[HostRead]) -> list[HostRead]:
        """Return those of some reads that are of fields that vary."""
        return [read for read in reads if read.recorder is self._identity]

    def takes_constant(self, number: ConstantNumber, reads: Reads) -> None:
        """Warn that a number which varies is taken for a constant."""
        if varying := self.varying(reads):
            number.warn(varying)

    def carries_into(self, field: Field) -> bool:
        """Tell whether derivatives pass to numbers that Python writes into a field."""
        return is_float(field.element)

    def follows(self, launch: PreparedLaunch, position: int) -> bool:
        """Tell that tangents pass to results of launches."""
        return True

    def host_write(self, field: Field, where: Where, values: HostArray) -> bool:
        """Set the tangent of elements that Python is about to write to zero.

        Raises:
            TapeError: The values were computed from fields that vary.
        """
        reads = self.varying(reads_in(values))
        if reads and is_float(field.element) and not RECORDING.get().constant:
            raise computed_by_python(field, reads)
        return super().host_write(field, where, values)

    def record(self, step: TapeStep) -> object:
        """Push tangents through a step; run it, unless Python itself is about to write."""
        match step:
            case Launch():
                self._dots.launch(step, constant=RECORDING.get().constant)
            case Opaque():
                return self._dots.opaque(step)
            case HostStep():
                self._dots.wrote(step)
            case _:
                raise NotImplementedError(step)
        return None
