"""Observation of the fields that a function uses, on copies."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from difftile.diagnostics import Label, render
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.recording import AccessObserver, Recording, Where
from difftile.fields.storage import Storage
from difftile.ir.facts import arrays_loaded
from difftile.ir.nodes import Let, Ruled
from difftile.ir.walk import walk
from difftile.passes.inline_primals import inline_primals
from difftile.recording.opaque import Opaque
from difftile.recording.recorder import StepRecorder
from difftile.recording.steps import Launch, TapeStep
from difftile.recording.write import Write
from difftile.testing.shadow_fields import ShadowField, ShadowFields


class ShadowRecorder(StepRecorder, AccessObserver):
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

    def record(self, step: TapeStep) -> object:
        """Note the accesses of a step, and run it on copies."""
        if isinstance(step, Launch):
            self._launch(step)
        elif isinstance(step, Opaque):
            return self._opaque(step)
        else:
            for field in step.reads:
                self._met(field).read = True
                self.used.add(field.storage)
            for field in step.writes:
                self._met(field).written = True
            step.run(None)
        return None

    def write(self, field: Field, where: Where, given: HostArray | ArrayLike) -> None:
        """Note a write by Python, with the field that it copies even if that is constant."""
        copies = isinstance(given, ArrayLike)
        self.record(Write(field, where, given) if copies else Write(field, where, values=given))

    def _launch(self, step: Launch) -> None:
        code, hidden = step.prepared.code, step.hidden
        fields = {
            k: value
            for k, value in enumerate(step.values)
            if isinstance(value, Field) and value not in hidden
        }
        self._shadows.take((code.params[k].name, field) for k, field in fields.items())
        bodies = [inline_primals(stage.program).body for stage in code.stages]  # without rules
        used = {array for body in bodies for array in arrays_loaded(body)}
        reads, writes = set(step.reads), set(step.writes)
        for k, field in fields.items():
            self.touched.add(field.storage)
            shadow = self._shadows.of(field)
            shadow.name = shadow.name or code.params[k].name
            shadow.read |= field in reads
            shadow.written |= field in writes
            if code.params[k] in used:
                self.used.add(field.storage)
        for stage in code.stages:
            for stmt in walk(stage.program.body):
                if isinstance(stmt, Ruled):
                    rules = (stmt.backward, stmt.forward)
                    if any(rule.approximate for rule in rules if rule is not None):
                        self._note_approximate(f"'{stmt.name}'")
                elif isinstance(stmt, Let) and stmt.op == "stop_grad":
                    labels = [] if stmt.span is None else [Label(stmt.span, "constant here")]
                    title = "'stop_grad' holds a value constant that the differences vary."
                    self.notes[render(title, labels, (), None)] = None
        step.prepared.run(step.values)

    def misses(self, storage: Storage) -> bool:
        """Return False: the watch makes no records."""
        return False

    def read(self, field: Field) -> None:
        """Note a read by Python or a step."""
        self.used.add(field.storage)
        self.touched.add(field.storage)

    def wrote(self, field: Field) -> None:
        """Note a write by Python or a step."""
        self.touched.add(field.storage)

    def _opaque(self, opaque: Opaque) -> object:
        self._shadows.take((use.name, use.field) for use in opaque.uses)
        if opaque.step.approximate:
            self._note_approximate(opaque.step.name)
        saved = opaque.run(None)
        for use in opaque.uses:  # which now tell the written fields
            self.touched.add(use.field.storage)
            shadow = self._shadows.of(use.field)
            shadow.read |= use.reads
            if use.reads and not use.passes:
                self.used.add(use.field.storage)
            shadow.written |= bool(use.writes)
        return saved

    def _note_approximate(self, name: str) -> None:
        self.notes[f"The derivative of {name} is approximate by design."] = None

    def _met(self, field: Field) -> ShadowField:
        self.touched.add(field.storage)
        self._shadows.take([("", field)])
        return self._shadows.of(field)


@contextmanager
def watching(shadows: ShadowFields) -> Generator[ShadowRecorder]:
    """Replace all fields that are used inside the block by copies."""
    watch = ShadowRecorder(shadows)
    with Recording(watch, observer=watch):
        yield watch
