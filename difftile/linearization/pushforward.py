"""Tangents carried along while a function runs: no old values are kept."""

from __future__ import annotations

from collections.abc import Mapping

from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, Storage
from difftile.fields.recording import RECORDING
from difftile.linearization.private_recorder import PrivateRecorder
from difftile.linearization.sweep import warn_of_arrays
from difftile.linearization.tangents import Tangents
from difftile.recording.opaque import Opaque
from difftile.recording.steps import HostStep, Launch, TapeStep


class Pushforward(PrivateRecorder):
    """A recorder that runs the launches of a function and pushes tangents of fields through them.

    Args:
        tangents: For each field that varies the tangent of its present contents.
    """

    def __init__(self, tangents: Mapping[Field, HostArray]) -> None:
        self._dots = Tangents(frozenset(one.origin for one in tangents))
        super().__init__(self._dots.active)
        for one, values in tangents.items():
            self._dots.of(one).buffer.write(values)

    def tangent(self, one: Field) -> Field:
        """Return the tangent of the present contents of a field."""
        return self._dots.of(one)

    def misses(self, storage: Storage) -> bool:
        """Tell whether a write from another thread into this memory would falsify the tangents."""
        return storage in self.active.storages

    def record(self, step: TapeStep) -> object:
        """Push tangents through a step; run it, unless Python itself is about to write."""
        match step:
            case Launch():
                constant = RECORDING.get().constant
                self._dots.launch(step, constant=constant)
                if not constant:
                    warn_of_arrays(step, self.active)
            case Opaque():
                return self._dots.opaque(step)
            case HostStep():
                self._dots.wrote(step)
            case _:
                raise NotImplementedError(step)
        return None
