"""Observation of the fields that a function uses, on copies."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy.typing as npt

from difftile.diagnostics import Label, render
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field, Storage
from difftile.fields.recording import AccessObserver, Recorder, Recording
from difftile.fields.window import Window
from difftile.ir.nodes import Let, Ruled
from difftile.ir.walk import arrays_loaded, walk
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.passes.inline_primals import inline_primals
from difftile.recording.opaque import Opaque, OpaqueStep
from difftile.testing.shadow_fields import ShadowField, ShadowFields


class Watch(Recorder, AccessObserver):
    """A recorder that runs launches and steps on copies, made when a field is first used.

    Attributes:
        notes: Notes on derivatives that intentionally differ from the values.
        touched: All storages that were read or written, also by Python and inside of steps.
        used: The storages whose contents affected values.
    """

    def __init__(self, shadows: ShadowFields) -> None:
        self.notes: dict[str, None] = {}
        self.touched: set[Storage] = set()
        self.used: set[Storage] = set()
        self._shadows = shadows

    def launch(self, call: PreparedLaunch, values: list[Any]) -> None:
        """Run a launch."""
        params = call.code.params[: len(call.code.params) - len(call.code.temps)]
        fields = {
            k: value for k, value in enumerate(values[: len(params)]) if isinstance(value, Field)
        }
        self._shadows.take((params[k].name, field) for k, field in fields.items())
        code = call.code
        loaded = {code.position[a] for stage in code.stages for a in stage.loaded}
        bodies = [inline_primals(stage.program).body for stage in code.stages]  # without rules
        used = {array for body in bodies for array in arrays_loaded(body)}
        for k, field in fields.items():
            self.touched.add(field.storage)
            one = self._shadows.of(field)
            one.name = one.name or params[k].name
            one.read |= k in loaded
            if code.params[k] in used:
                self.used.add(field.storage)
            one.written |= k in call.code.writes
        for stage in call.code.stages:
            for stmt in walk(stage.program.body):
                if isinstance(stmt, Ruled):
                    rules = (stmt.backward, stmt.forward)
                    if any(rule.approximate for rule in rules if rule is not None):
                        self._note_approximate(f"'{stmt.name}'")
                elif isinstance(stmt, Let) and stmt.op == "stop_grad":
                    labels = [] if stmt.span is None else [Label(stmt.span, "constant here")]
                    title = "'stop_grad' holds a value constant that the differences vary."
                    self.notes[render(title, labels, (), None)] = None
        call.run(values)

    def misses(self, storage: Storage) -> bool:
        """Tell that nothing is recorded."""
        return False

    def read(self, field: Field) -> None:
        """Note a read by Python or a step."""
        self.used.add(field.storage)
        self.touched.add(field.storage)

    def wrote(self, field: Field) -> None:
        """Note a write by Python or a step."""
        self.touched.add(field.storage)

    def host_write(
        self, field: Field, where: tuple[int, ...] | Window | None, values: npt.NDArray[Any]
    ) -> bool:
        """Note a write by Python."""
        self._met(field).written = True
        return False

    def host_copy(self, target: ArrayLike, source: ArrayLike) -> None:
        """Note a copy by Python."""
        self._met(source.base).read = True
        self.used.add(source.base.storage)
        self._met(target.base).written = True

    def opaque(self, step: OpaqueStep) -> Any:
        """Run a step."""
        self._shadows.take((use.name, use.field) for use in step.uses)
        if step.approximate:
            self._note_approximate(step.name)
        opaque = Opaque(step, step.uses, constant=False)
        saved, _ = opaque.run(record=False)
        for use in opaque.uses:  # which now tell the written fields
            self.touched.add(use.field.storage)
            one = self._shadows.of(use.field)
            one.read |= use.reads
            if use.reads and not use.passes:
                self.used.add(use.field.storage)
            one.written |= bool(use.writes)
        return saved

    def _note_approximate(self, name: str) -> None:
        self.notes[f"The derivative of {name} is approximate by design."] = None

    def _met(self, field: Field) -> ShadowField:
        self.touched.add(field.storage)
        self._shadows.take([("", field)])
        return self._shadows.of(field)


@contextmanager
def watching(shadows: ShadowFields) -> Generator[Watch]:
    """Replace all fields that are used inside the block by copies."""
    watch = Watch(shadows)
    with Recording(watch, observer=watch):
        yield watch
