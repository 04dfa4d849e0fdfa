"""Launches and opaque steps as a tape runs them under `diagnose`: values, kinks, names of fields.

A tape without diagnosis does none of this. With it, a `DiagnosisObserver` notifies a `Diagnosis` of
each step and record. The contents of fields are compared before and after each launch. Where a
number stops being finite, the launch runs once more on copies, in a sandbox, to find the statement.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from difftile.ad.activity import active_values
from difftile.compile.adjoint_plan import AdjointPlan
from difftile.compile.arguments import Arguments, field_at
from difftile.diagnosis.gradients import GradientWatch
from difftile.diagnosis.influence import ObservedLaunch, ObservedStep
from difftile.diagnosis.not_finite import NotFinite, Numbers, first_not_finite
from difftile.diagnosis.report import Tie
from difftile.diagnosis.sandbox import Contents, Sandbox, copies
from difftile.diagnosis.search import FaultSearch
from difftile.diagnostics import Span, located
from difftile.fields.field import Field
from difftile.fields.recording import RECORDING
from difftile.fields.storage import Storage
from difftile.ir.nodes import Array, Ruled
from difftile.ir.walk import rules, walk
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.passes.instrument import Counted, counted_kinks
from difftile.recording.opaque import Opaque
from difftile.schedule.finish import finish
from difftile.schedule.target import Target

_BLOCKS = 256

Held: TypeAlias = dict[int, Numbers]
"""The contents of fields, by their positions in the arguments of a launch."""


class Diagnosis:
    """Observations on one tape.

    Args:
        wanted: The fields whose gradients are requested; empty for fields that launches read first.

    Attributes:
        steps: All that ran.
        launches: The number of launches.
        names: The names of fields, as the first kernel calls them.
        graded: The fields with gradients that launches and opaque steps use.
        inputs: The graded fields that are read before they are written.
        constant: A loss that depends on no field with a gradient.
        value: The first value that is not finite.
        gradients: The watch over the backward pass.
    """

    def __init__(self, wanted: tuple[Field, ...]) -> None:
        self.wanted = wanted
        self.steps: list[ObservedStep] = []
        self.launches = 0
        self.names: dict[Storage, str] = {}
        self.graded: dict[Storage, Field] = {}
        self.inputs: dict[Storage, Field] = {}
        self.constant: Field | None = None
        self.value: NotFinite | None = None
        self._read_by_python: dict[Storage, Field] = {}
        self._numbers: dict[int, int] = {}  # of launches, by the identity of their arguments
        self._written: set[Storage] = set()
        self._kinks: dict[tuple[int, frozenset[Array]], Counted] = {}
        self._hits: dict[tuple[str, Span | None], int] = {}
        self._sandbox = Sandbox()
        self._search = FaultSearch(self._sandbox)
        self.gradients = GradientWatch(self.name, self._numbers, self._search)

    def name(self, field: Field) -> str:
        """Return the name that the first kernel gives a field; the second of a name is `x#2`."""
        name = self.names.get(field.storage)
        if name is None:
            return repr(field)
        alike = [storage for storage, other in self.names.items() if other == name]
        number = alike.index(field.storage) + 1
        return name if number == 1 else f"{name}#{number}"

    @property
    def ties(self) -> tuple[Tie, ...]:
        """The kinks that launches hit, those hit most often first."""
        ties = (Tie(op, span, hits) for (op, span), hits in self._hits.items() if hits)
        return tuple(sorted(ties, key=lambda tie: -tie.hits))

    @property
    def kernels(self) -> list[str]:
        """The kernel of each launch."""
        return [step.call.code.name for step in self.steps if isinstance(step, ObservedLaunch)]

    @property
    def approximate(self) -> tuple[str, ...]:
        """The steps and rules that are declared to be approximate derivatives."""
        found: dict[str, None] = {}
        plans: set[AdjointPlan] = set()
        for step in self.steps:
            if isinstance(step, Opaque) and step.flows and step.step.approximate:
                found[step.step.name] = None
            for plan in step.plans if isinstance(step, ObservedLaunch) else ():
                if plan in plans:
                    continue
                plans.add(plan)
                for stmt in walk(plan.stage.program.body):
                    if isinstance(stmt, Ruled) and any(rule.approximate for rule in rules(stmt)):
                        found[f"'{stmt.name}', {located(stmt.span)}"] = None
        return tuple(found)

    @property
    def plain(self) -> tuple[str, ...]:
        """The fields without a gradient from which values with one were computed."""
        found: dict[str, None] = {}
        for step in self.steps:
            if not isinstance(step, ObservedLaunch):
                continue
            for plan in step.plans:
                for k in (*plan.ungraded[0], *plan.ungraded[1]):
                    field = field_at(step.values, k)
                    if field.storage not in self._written:
                        found[self.name(field)] = None
        return tuple(found)

    def host_read(self, field: Field) -> None:
        """Note that Python reads a field."""
        if field.has_grads:
            self._read_by_python[field.storage] = field.origin

    @property
    def only_python_reads(self) -> dict[Storage, Field]:
        """The fields that Python reads, and no launch or opaque step touches."""
        read = self._read_by_python.items()
        return {storage: field for storage, field in read if storage not in self.graded}

    def before_launch(
        self, call: PreparedLaunch, values: Arguments, plans: list[AdjointPlan]
    ) -> Held:
        """Note a launch that is about to happen; return the contents of the fields it writes."""
        hidden = {field.storage for field in call.code.temps}
        graded: set[Array] = set()
        for param, value in zip(call.code.params, values, strict=True):
            if not (isinstance(param, Array) and isinstance(value, Field)):
                continue
            if value.has_grads:
                graded.add(param)
            if value.storage not in hidden:
                self.names.setdefault(value.storage, param.name)
                if value.has_grads:
                    self.graded[value.storage] = value.origin
        constant = RECORDING.get().constant
        self.steps.append(ObservedLaunch(call, values, plans, frozenset(graded), constant))
        self.launches += 1
        self._numbers[id(values)] = self.launches
        for plan in plans:
            for k in plan.loads:
                field, array = field_at(values, k), call.code.params[k]
                early = field.storage not in self._written and array not in plan.stage.loaded_late
                if early and field.has_grads and field.storage not in hidden:
                    self.inputs[field.storage] = field.origin
            self._written |= {field_at(values, k).storage for k in plan.writes}
        return {k: field_at(values, k).buffer.read() for k in call.code.writes}

    def after_launch(
        self, call: PreparedLaunch, values: Arguments, plans: list[AdjointPlan], before: Held
    ) -> None:
        """Examine the fields that a launch has written, and count the kinks that it hit."""
        before, became = self._became_bad(call, values, plans, before)
        counted = [self._counted(plan, values) for plan in plans]
        last = len(plans) if became else max((k + 1 for k, c in enumerate(counted) if c), default=0)
        contents = _contents(call, values, before)
        for plan, kinks in zip(plans[:last], counted, strict=False):
            program = plan.stage.primal.code.program
            if became and self.value is None:
                found = self._search.origin(program, contents, plan.stage.written, ())
                if found is not None:
                    array, index, origin = found
                    field = field_at(values, call.code.position[array])
                    number, held = self._numbers[id(values)], field.buffer.array()[index]
                    name = self.name(field)
                    self.value = NotFinite(number, call.code.name, name, index, held, origin)
            if kinks is None:
                self._sandbox.run(program, contents)
                continue
            self._sandbox.run(kinks.program, contents)
            for cell, key in kinks.cells.items():
                self._hits[key] = self._hits.get(key, 0) + int(contents.pop(cell)[()])

    def _became_bad(
        self, call: PreparedLaunch, values: Arguments, plans: list[AdjointPlan], before: Held
    ) -> tuple[Held, bool]:
        """Tell whether a launch has made a number that is not finite from finite ones.

        A field that it writes may hold such numbers from an earlier run. To see whether they stayed
        or were computed again, the launch runs in the sandbox with zeros in their place.

        Returns:
            The earlier contents of the fields that it writes, with the zeros, and the answer.
        """
        if self.value is not None:
            return before, False
        after = {k: field_at(values, k).buffer.array() for k in before}
        if any(first_not_finite(after[k], held) is not None for k, held in before.items()):
            return before, True
        stale = [k for k, held in before.items() if first_not_finite(held) is not None]
        if all(first_not_finite(after[k]) is None for k in stale):
            return before, False
        cleaned = dict(before)
        for k in stale:
            cleaned[k] = np.where(np.isfinite(before[k]), before[k], 0).astype(before[k].dtype)
        contents = copies(_contents(call, values, cleaned))
        for plan in plans:
            self._sandbox.run(plan.stage.primal.code.program, contents)
        again = any(first_not_finite(contents[call.code.params[k]]) is not None for k in stale)
        return (cleaned, True) if again else (before, False)

    def _counted(self, plan: AdjointPlan, values: Arguments) -> Counted | None:
        """Return the stage's code that counts kinks, or None where no kink carries a derivative."""
        program, position = plan.stage.program, plan.code.position
        graded = frozenset(a for a in plan.stage.loaded if field_at(values, position[a]).has_grads)
        key = (id(program), graded)
        found = self._kinks.get(key)
        if found is None:
            kinks = counted_kinks(program, active_values(program, graded))
            finished = finish(kinks.program, Target(blocks=_BLOCKS))
            cells = {cell: key for cell, key in kinks.cells.items() if cell in finished.temps}
            found = self._kinks[key] = Counted(finished, cells)
        return found if found.cells else None

    def before_opaque(self, opaque: Opaque) -> dict[Storage, Numbers]:
        """Note an opaque step that is about to happen; return the contents of its fields."""
        self.steps.append(opaque)
        self._numbers[id(opaque)] = self.launches
        for use in opaque.uses:
            field = use.field
            self.names.setdefault(field.storage, use.name)
            if field.has_grads:
                self.graded[field.storage] = field.origin
                if use.reads and field.storage not in self._written:
                    self.inputs[field.storage] = field.origin
        return {use.field.storage: use.field.storage.buffer.read() for use in opaque.uses}

    def after_opaque(self, opaque: Opaque, before: dict[Storage, Numbers]) -> None:
        """Examine the fields that an opaque step has written."""
        for field in opaque.writes:
            self._written.add(field.storage)
            values = field.storage.buffer.array()
            whole = any(use.overwrites for use in opaque.uses if use.field is field)
            index = first_not_finite(values, None if whole else before[field.storage])
            if self.value is None and index is not None:
                number, name = self._numbers[id(opaque)], self.name(field)
                step = opaque.step.name
                self.value = NotFinite(number, step, name, index, values[index], opaque=True)


def _contents(call: PreparedLaunch, values: Arguments, before: Held) -> Contents:
    """Return the contents of a launch's parameters before it ran."""
    return {
        p: before.get(k, v.buffer.array()) if isinstance(v, Field) else v
        for k, (p, v) in enumerate(zip(call.code.params, values, strict=True))
    }
