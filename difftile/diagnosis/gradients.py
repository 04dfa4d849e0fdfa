"""Gradients as a backward pass computes them: the first that is not finite, and their growth."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from difftile.compile.arguments import field_at
from difftile.diagnosis.not_finite import NotFinite, Numbers, first_not_finite, largest
from difftile.diagnosis.report import Level
from difftile.diagnosis.sandbox import Contents
from difftile.diagnosis.search import FaultSearch
from difftile.diagnostics import Span
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.ir.derived import Bar
from difftile.ir.nodes import Load
from difftile.ir.walk import array_of, walk
from difftile.recording.opaque import OpaqueRecord
from difftile.recording.replay import Replay
from difftile.recording.steps import LaunchRecord
from difftile.records import dataclass

TOO_LARGE = 1e8
"""The factor beyond which a gradient counts as exploded, or below its inverse as vanished."""


@dataclass(frozen=True, slots=True)
class Grown:
    """A gradient that exploded or vanished.

    Args:
        launch: The launch, from 1.
        kernel: Its kernel.
        field: The field whose gradient it is.
        factor: The growth since the seed, or over this launch only.
        in_launch: The growth is over this launch only.
        span: Where the field is written or read.
        loop: The loop that caused it.
    """

    launch: int
    kernel: str
    field: str
    factor: float
    in_launch: bool
    span: Span | None
    loop: Span | None = None


class GradientWatch:
    """Compares gradients before and after each adjoint.

    Args:
        name: Returns the name of a field.
        numbers: The number of each launch and opaque step, by the identity of its arguments or of
            the step.
        search: Finds statements and loops at fault.

    Attributes:
        found: The first gradient that is not finite.
        grown: The gradients that exploded or vanished.
        levels: The size of gradients, launch by launch.
        sizes: For each launch the largest gradient of each field before its adjoint, and after it.
        seed: The largest adjoint that the pass began with.
    """

    def __init__(
        self, name: Callable[[Field], str], numbers: Mapping[int, int], search: FaultSearch
    ) -> None:
        self._name = name
        self._numbers = numbers
        self._search = search
        self.found: NotFinite | None = None
        self.grown: list[Grown] = []
        self.levels: list[Level] = []
        self.sizes: dict[int, tuple[dict[Storage, float], dict[Storage, float]]] = {}
        self.seed = 0.0

    def check_seeds(self, seeds: Mapping[ArrayLike, Any], replay: Replay) -> None:
        """Begin a pass with the adjoints that are its seeds."""
        self.found, self.grown, self.levels, self.sizes, self.seed = None, [], [], {}, 0.0
        for field in seeds:
            gradient = replay.gradient(field.base).buffer.array()
            self.seed = max(self.seed, largest(gradient))
            index = first_not_finite(gradient)
            if index is not None and self.found is None:
                self.found = NotFinite(0, "", self._name(field.base), index, gradient[index])

    def reverse(self, replay: Replay, record: LaunchRecord) -> None:
        """Run the adjoint of a launch and compare the gradients before and after it."""
        plan, adjoint = record.plan, record.plan.adjoint
        assert adjoint is not None
        position = {
            place: plan.code.position[role.array]
            for place, role in enumerate(adjoint.roles)
            if isinstance(role, Bar)
        }
        args = replay.arguments(record)
        before: dict[int, Numbers] = {place: args[place].read() for place in position}
        replay.reverse(record)
        after: dict[int, Numbers] = {place: args[place].array() for place in position}
        number = self._numbers[id(record.values)]
        sizes_before, sizes_after = self.sizes.setdefault(number, ({}, {}))
        for place, k in position.items():
            storage = field_at(record.values, k).storage
            sizes_before[storage] = max(sizes_before.get(storage, 0.0), largest(before[place]))
            sizes_after[storage] = largest(after[place])
        if self.found is not None:
            return
        contents: Contents = {}
        for place, (param, arg) in enumerate(zip(adjoint.code.params, args, strict=True)):
            if arg is not None:
                held = arg.array() if hasattr(arg, "array") else arg
                contents[param] = before.get(place, held)
        for place, k in position.items():
            index = first_not_finite(after[place], before[place])
            if index is not None:
                name = self._name(field_at(record.values, k))
                found = NotFinite(number, plan.code.name, name, index, after[place][index])
                self.found = self._with_origin(record, contents, found)
                return
        self._measure(record, contents, position, before, after)

    def reverse_opaque(self, replay: Replay, record: OpaqueRecord) -> None:
        """Run the reverse of an opaque step and compare the gradients before and after it."""
        opaque = record.opaque
        graded = [use.field for use in opaque.uses if use.field.has_grads]
        before = [replay.gradient(field).buffer.read() for field in graded]
        replay.reverse(record)
        for field, held in zip(graded, before, strict=True):
            after = replay.gradient(field).buffer.array()
            index = first_not_finite(after, held)
            if self.found is None and index is not None:
                number, name = self._numbers[id(opaque)], self._name(field)
                self.found = NotFinite(
                    number, opaque.step.name, name, index, after[index], opaque=True
                )

    def _with_origin(self, record: LaunchRecord, contents: Contents, found: NotFinite) -> NotFinite:
        """Return the finding with the statement at fault, where the search finds it."""
        adjoint = record.plan.adjoint
        assert adjoint is not None
        program = adjoint.code.general.program
        array_of_bar = {bar: array for array, bar in adjoint.fields(Bar).items()}
        bars = (*array_of_bar, *program.temps)
        located = self._search.origin(program, contents, array_of_bar.keys(), bars)
        if located is None:
            return found
        bar, index, origin = located
        field = field_at(record.values, record.plan.code.position[array_of_bar[bar]])
        return replace(found, field=self._name(field), index=index, origin=origin)

    def _measure(
        self,
        record: LaunchRecord,
        contents: Contents,
        position: dict[int, int],
        before: dict[int, Numbers],
        after: dict[int, Numbers],
    ) -> None:
        """Note the size of the gradients to which an adjoint has added.

        Args:
            record: The launch.
            contents: The contents of the adjoint's parameters before it ran.
            position: The position of the field of each gradient among the adjoint's arguments.
            before: These gradients before the adjoint ran.
            after: These gradients after it.
        """
        values, plan = record.values, record.plan
        came = [before[place] for place, k in position.items() if k in plan.writes]
        incoming = max(map(largest, came), default=0.0)
        # Other launches have added to a gradient of a field that this one reads and does not write.
        sizes = {
            k: largest(after[place] if k in plan.writes else after[place] - before[place])
            for place, k in position.items()
            if k in plan.loads
        }
        if not sizes or not incoming:
            return
        self.seed = self.seed or incoming  # a separate `grad_in` may be the only seed
        most = max(sizes, key=lambda k: sizes[k])
        size = sizes[most]
        number, kernel = self._numbers[id(values)], plan.code.name
        self.levels.append(Level(number, kernel, size, size / incoming))

        def note(k: int, factor: float, limit: float | None) -> None:
            """Note a growth; within this launch, where there is a limit to search its loop by."""
            loop = None if limit is None else self._loop(record, contents, limit)
            stmts = [s for s in walk(plan.stage.program.body) if array_of(s) is plan.code.params[k]]
            # A write says more than a read.
            first = min(stmts, key=lambda stmt: isinstance(stmt, Load), default=None)
            span, name = None if first is None else first.span, self._name(field_at(values, k))
            self.grown.append(Grown(number, kernel, name, factor, limit is not None, span, loop))

        if values[most] not in plan.code.temps:
            if size > TOO_LARGE * incoming and not any(g.in_launch for g in self.grown):
                note(most, size / incoming, TOO_LARGE * incoming)
            elif size > TOO_LARGE * self.seed and not any(g.factor > 1 for g in self.grown):
                note(most, size / self.seed, None)
        for place, k in position.items():
            field = field_at(values, k)
            if k not in sizes or field in plan.code.temps:
                continue
            size, name = largest(after[place]), self._name(field)
            known = any(grown.factor < 1 and grown.field == name for grown in self.grown)
            if not known and 0 < size < self.seed / TOO_LARGE:
                if size < incoming / TOO_LARGE:
                    note(k, size / incoming, math.inf)
                else:
                    note(k, size / self.seed, None)

    def _loop(self, record: LaunchRecord, contents: Contents, limit: float) -> Span | None:
        """Return the loop of an adjoint in which gradients grow or shrink most."""
        adjoint = record.plan.adjoint
        assert adjoint is not None
        program, bars = adjoint.code.general.program, tuple(adjoint.fields(Bar).values())
        return self._search.loop(program, contents, bars, limit, least=math.sqrt(TOO_LARGE))
