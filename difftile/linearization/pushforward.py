"""Tangents carried beside the fields while a function runs: nothing is kept of what it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field, Storage
from difftile.fields.recording import RECORDING, Recorder
from difftile.fields.tracked import HostRead, reads_in
from difftile.fields.window import Window
from difftile.ir.types import is_float
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.linearization.pullback import Tangents
from difftile.recording.host_reads import computed_by_python
from difftile.recording.opaque import Opaque, OpaqueStep
from difftile.recording.records import HostCopy, HostWrite
from difftile.recording.steps import Launch


class Pushforward(Recorder):
    """Runs what a function launches, and pushes tangents of fields through it.

    Args:
        tangents: For each field that varies the tangent of what it holds now.
    """

    def __init__(self, tangents: Mapping[Field, npt.NDArray[Any]]) -> None:
        self._identity = object()
        self._dots = Tangents(frozenset(one.origin for one in tangents))
        for one, values in tangents.items():
            self._dots.of(one).buffer.write(values)

    def tangent(self, one: Field) -> Field:
        """Return the tangent of what a field holds now."""
        return self._dots.of(one)

    def misses(self, storage: Storage) -> bool:
        """Tell whether a write from another thread into this memory would falsify the tangents."""
        return storage in self._dots.active.storages

    def launch(self, call: PreparedLaunch, values: list[Any]) -> None:
        """Run a kernel and push tangents through it."""
        self._dots.launch(Launch(call, values, []), constant=RECORDING.get().constant)

    def host_read(self, field: Field, where: tuple[int, ...] | Window | None) -> HostRead | None:
        """Return what remembers a read of what varies from Python."""
        varies = field in self._dots.active and is_float(field.element)
        return HostRead(self._identity, repr(field)) if varies else None

    def host_write(
        self, field: Field, where: tuple[int, ...] | Window | None, values: npt.NDArray[Any]
    ) -> bool:
        """Set the tangent of what Python is about to write to zero.

        Raises:
            TapeError: What it writes was computed from what varies.
        """
        reads = [read for read in reads_in(values) if read.recorder is self._identity]
        if reads and is_float(field.element) and not RECORDING.get().constant:
            raise computed_by_python(field, reads)
        self._dots.wrote(HostWrite(field, where, None))
        return False

    def host_copy(self, target: ArrayLike, source: ArrayLike) -> None:
        """Copy the tangent of what Python is about to copy."""
        constant = HostWrite(target.base, target.window, None)
        self._dots.wrote(constant if RECORDING.get().constant else HostCopy(target, source))

    def opaque(self, step: OpaqueStep) -> Any:
        """Run a step whose inside is not seen, with tangents; return what it saved."""
        return self._dots.opaque(Opaque(step, step.uses, constant=RECORDING.get().constant))
