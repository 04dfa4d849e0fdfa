"""What a tape does under `diagnose`: it watches launches and their adjoints, and draws conclusions.

A tape without diagnosis knows nothing of this. With it, launches go through a `WatchedHistory` and
records through a `WatchedReplay`; both compare what fields and gradients hold before and after, and
where a number stops being finite they run that launch once more, aside, to find the statement.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.ad.activity import active_values
from difftile.compile.adjoint_plan import AdjointPlan
from difftile.diagnosis.origins import Origin
from difftile.diagnosis.reasons import Ran, Step
from difftile.diagnosis.report import Level, Tie
from difftile.diagnosis.sandbox import Contents, Sandbox, copies
from difftile.diagnosis.search import Search
from difftile.diagnostics import Span, located
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field, Storage
from difftile.fields.recording import RECORDING
from difftile.ir.derived import Bar
from difftile.ir.nodes import Array, Load, Ruled
from difftile.ir.walk import array_of, rules, walk
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.passes.instrument import (
    Counted,
    counted_kinks,
)
from difftile.passes.optimise import finish
from difftile.recording.opaque import Opaque, OpaqueRecord
from difftile.recording.records import LaunchRecord
from difftile.recording.replay import Replay

_BLOCKS = 256

TOO_LARGE = 1e8
"""The factor beyond which a gradient counts as exploded, or below its inverse as vanished."""


@dataclass(frozen=True, slots=True)
class NotFinite:
    """The first number that is NaN or infinite.

    Args:
        launch: The launch, from 1; 0 for a seed. For another step the latest launch before it.
        kernel: Its kernel, or what errors call the step.
        field: The field, or the field whose gradient it is, by the name that the kernel gives it.
        index: The element.
        value: What it holds.
        origin: The statement, where it was found.
        opaque: It is a step whose inside is not seen.
    """

    launch: int
    kernel: str
    field: str
    index: tuple[int, ...]
    value: Any
    origin: Origin | None
    opaque: bool = False


@dataclass(frozen=True, slots=True)
class Grown:
    """A gradient that grew or shrank beyond measure.

    Args:
        launch: The launch, from 1.
        kernel: Its kernel.
        field: The field whose gradient it is.
        factor: By how much, in comparison with the seed, or over this launch alone.
        alone: It is over this launch alone.
        span: Where the field is written or read.
        loop: The loop that did it.
    """

    launch: int
    kernel: str
    field: str
    factor: float
    alone: bool
    span: Span | None
    loop: Span | None = None


class Diagnosis:
    """What has been seen of one tape.

    Args:
        wanted: The fields whose gradients are asked for; empty for those that launches read first.
    """

    def __init__(self, wanted: tuple[Field, ...]) -> None:
        self.wanted = wanted
        self.steps: list[Step] = []
        self.launches = 0
        self.names: dict[Storage, str] = {}
        self.graded: dict[Storage, Field] = {}
        self.inputs: dict[Storage, Field] = {}
        self.constant: Field | None = None  # a loss that depends on nothing
        self._read_by_python: dict[Storage, Field] = {}
        self.value: NotFinite | None = None
        self.gradient: NotFinite | None = None
        self.grown: list[Grown] = []
        self.levels: list[Level] = []
        self.alive: dict[int, tuple[dict[Storage, float], dict[Storage, float]]] = {}
        self.seed = 0.0
        self._numbers: dict[int, int] = {}
        self._touched: set[Storage] = set()
        self._kinks: dict[tuple[int, frozenset[Array]], Counted] = {}
        self._hits: dict[tuple[str, Span | None], int] = {}
        self._aside = Sandbox()
        self._search = Search(self._aside)

    def name(self, field: Field) -> str:
        """Return what the first kernel calls a field; the second of a name is `x#2`."""
        name = self.names.get(field.storage)
        if name is None:
            return repr(field)
        alike = [storage for storage, other in self.names.items() if other == name]
        number = alike.index(field.storage) + 1
        return name if number == 1 else f"{name}#{number}"

    @property
    def ties(self) -> tuple[Tie, ...]:
        """The kinks that launches hit."""
        ties = (Tie(op, span, hits) for (op, span), hits in self._hits.items() if hits)
        return tuple(sorted(ties, key=lambda tie: -tie.hits))

    @property
    def kernels(self) -> list[str]:
        """The kernel of each launch."""
        return [step.call.code.name for step in self.steps if isinstance(step, Ran)]

    @property
    def approximate(self) -> tuple[str, ...]:
        """The steps and rules that say of themselves that they are no exact derivative."""
        found: dict[str, None] = {}
        looked_at: set[int] = set()
        for step in self.steps:
            if isinstance(step, Opaque) and step.flows and step.step.approximate:
                found[step.step.name] = None
            for plan in step.plans if isinstance(step, Ran) else ():
                if id(plan) not in looked_at:
                    looked_at.add(id(plan))
                    found |= dict.fromkeys(_approximations(plan))
        return tuple(found)

    def number_of(self, record: LaunchRecord) -> int:
        """Return the number of a recorded launch, from 1."""
        return self._numbers[id(record.values)]

    # Recording

    def host_read(self, field: Field) -> None:
        """Note that Python reads a field."""
        if field.has_grads:
            self._read_by_python[field.storage] = field.origin

    @property
    def only_python_reads(self) -> dict[Storage, Field]:
        """The fields that Python reads, and no launch or other step touches."""
        read = self._read_by_python.items()
        return {storage: field for storage, field in read if storage not in self.graded}

    def before_launch(
        self, call: PreparedLaunch, values: list[Any], plans: list[AdjointPlan]
    ) -> dict[int, npt.NDArray[Any]]:
        """Note a launch that is about to happen; return what the fields hold that it writes."""
        params = zip(call.code.params, values, strict=True)
        graded = frozenset(
            p for p, v in params if isinstance(p, Array) and isinstance(v, Field) and v.has_grads
        )
        self.steps.append(Ran(call, values, plans, graded, RECORDING.get().constant))
        self.launches += 1
        self._numbers[id(values)] = self.launches
        hidden = {field.storage for field in call.code.temps}
        for param, value in zip(call.code.params, values, strict=True):
            if isinstance(value, Field) and value.storage not in hidden:
                self.names.setdefault(value.storage, param.name)
                if value.has_grads:
                    self.graded[value.storage] = value.origin
        for plan in plans:
            stage = plan.stage
            for k in plan.loads:
                field, array = values[k], call.code.params[k]
                early = field.storage not in self._touched and array not in stage.loaded_late
                if early and field.has_grads and field.storage not in hidden:
                    self.inputs[field.storage] = field.origin
            self._touched |= {values[k].storage for k in plan.writes}
        return {k: values[k].buffer.read() for k in call.code.writes}

    def after_launch(
        self,
        call: PreparedLaunch,
        values: list[Any],
        plans: list[AdjointPlan],
        before: dict[int, npt.NDArray[Any]],
    ) -> None:
        """Look at what a launch has written."""
        number = self._numbers[id(values)]
        before, became = self._became_bad(call, values, plans, before)
        counted = [self._counted(plan, values) for plan in plans]
        last = len(plans) if became else max((k + 1 for k, c in enumerate(counted) if c), default=0)
        state = _state(call, values, before)
        for plan, kinks in zip(plans[:last], counted, strict=False):
            program = plan.stage.primal.code.program
            if became and self.value is None:
                written = plan.stage.written
                found = self._search.origin(program, state, written, ())
                if found is not None:
                    array, index, origin = found
                    name = self.name(values[call.code.position[array]])
                    held = values[call.code.position[array]].buffer.array()[index]
                    self.value = NotFinite(number, call.code.name, name, index, held, origin)
            if kinks is None:
                self._aside.run(program, state)
                continue
            self._aside.run(kinks.program, state)
            for cell, key in kinks.cells.items():
                self._hits[key] = self._hits.get(key, 0) + int(state.pop(cell)[()])

    def _became_bad(
        self,
        call: PreparedLaunch,
        values: list[Any],
        plans: list[AdjointPlan],
        before: dict[int, npt.NDArray[Any]],
    ) -> tuple[dict[int, npt.NDArray[Any]], bool]:
        """Tell whether a launch has made a number that is not finite, though all it found were.

        A field that it writes may hold such numbers from a run before. Whether they stayed or were
        made anew is seen by running the launch aside with zeros in their place.

        Returns:
            What the fields that it writes held, with those zeros, and the answer.
        """
        if self.value is not None:
            return before, False
        after = {k: values[k].buffer.array() for k in before}
        stale = {k for k, held in before.items() if _first_bad(held, None) is not None}
        if any(_first_bad(after[k], before[k]) is not None for k in before):
            return before, True
        if not any(_first_bad(after[k], None) is not None for k in stale):
            return before, False
        cleaned = {
            k: np.where(np.isfinite(held), held, 0).astype(held.dtype) if k in stale else held
            for k, held in before.items()
        }
        state = copies(_state(call, values, cleaned))
        for plan in plans:
            self._aside.run(plan.stage.primal.code.program, state)
        made = any(_first_bad(state[call.code.params[k]], None) is not None for k in stale)
        return (cleaned, True) if made else (before, False)

    def _counted(self, plan: AdjointPlan, values: list[Any]) -> Counted | None:
        """Return the stage's code that counts kinks, or None if it has none that matter."""
        program = plan.stage.program
        graded = frozenset(a for a in plan.stage.loaded if values[plan.code.position[a]].has_grads)
        key = (id(program), graded)
        found = self._kinks.get(key)
        if found is None:
            kinks = counted_kinks(program, active_values(program, graded))
            finished = finish(kinks.program, _BLOCKS)
            cells = {cell: key for cell, key in kinks.cells.items() if cell in finished.temps}
            found = self._kinks[key] = Counted(finished, cells)
        return found if found.cells else None

    def before_opaque(self, opaque: Opaque) -> dict[Storage, npt.NDArray[Any]]:
        """Note a step whose inside is not seen, about to happen; return what its fields hold."""
        self.steps.append(opaque)
        self._numbers[id(opaque)] = self.launches
        for use in opaque.uses:
            field = use.field
            self.names.setdefault(field.storage, use.name)
            if field.has_grads:
                self.graded[field.storage] = field.origin
            if use.reads and field.has_grads and field.storage not in self._touched:
                self.inputs[field.storage] = field.origin
        return {use.field.storage: use.field.storage.buffer.read() for use in opaque.uses}

    def after_opaque(self, opaque: Opaque, before: dict[Storage, npt.NDArray[Any]]) -> None:
        """Look at what such a step has written."""
        for field in opaque.written:
            self._touched.add(field.storage)
            values = field.storage.buffer.array()
            whole = any(use.overwrites for use in opaque.uses if use.field is field)
            index = _first_bad(values, None if whole else before[field.storage])
            if self.value is None and index is not None:
                self.value = self._in_opaque(opaque, field, index, values[index])

    def _in_opaque(
        self, opaque: Opaque, field: Field, index: tuple[int, ...], value: Any
    ) -> NotFinite:
        number = self._numbers[id(opaque)]
        name = self.name(field)
        return NotFinite(number, opaque.step.name, name, index, value, None, opaque=True)

    @property
    def plain(self) -> tuple[str, ...]:
        """The fields without gradient that only give values: none is worked out for them."""
        found: dict[str, None] = {}
        for step in self.steps:
            if not isinstance(step, Ran):
                continue
            places = [k for plan in step.plans for k in (*plan.ungraded[0], *plan.ungraded[1])]
            given = (step.values[k] for k in places)
            found |= {self.name(f): None for f in given if f.storage not in self._touched}
        return tuple(found)

    # In reverse

    def check_seeds(self, seeds: Mapping[ArrayLike, Any], replay: Replay) -> None:
        """Look at the adjoints with which the pass begins."""
        self.grown, self.levels, self.alive, self.gradient = [], [], {}, None
        self.seed = 0.0
        for field in seeds:
            gradient = replay.gradient(field.base).buffer.array()
            self.seed = max(self.seed, _largest(gradient))
            index = _first_bad(gradient, None)
            if index is not None and self.gradient is None:
                held = gradient[index]
                self.gradient = NotFinite(0, "", self.name(field.base), index, held, None)

    def reverse(self, replay: Replay, record: LaunchRecord) -> None:
        """Run the adjoint of a launch and look at the gradients before and after it."""
        adjoint = record.plan.adjoint
        assert adjoint is not None
        places = [
            (place, record.plan.code.position[role.array])
            for place, role in enumerate(adjoint.roles)
            if isinstance(role, Bar)
        ]
        args = replay.arguments(record)
        before = {place: args[place].read() for place, _ in places}
        replay.reverse(record)
        after = {place: args[place].array() for place, _ in places}
        values = record.values
        number = self.number_of(record)
        sizes = self.alive.setdefault(number, ({}, {}))
        for place, position in places:
            storage = values[position].storage
            sizes[0][storage] = max(sizes[0].get(storage, 0.0), _largest(before[place]))
            sizes[1][storage] = _largest(after[place])
        contents: Contents = {
            p: before[place] if place in before else _content(args[place])
            for place, p in enumerate(adjoint.code.params)
            if args[place] is not None
        }
        if self.gradient is None:
            for place, position in places:
                index = _first_bad(after[place], before[place])
                if index is not None:
                    name, held = self.name(values[position]), after[place][index]
                    self.gradient = self._not_finite(
                        record,
                        contents,
                        NotFinite(number, record.plan.code.name, name, index, held, None),
                    )
                    break
        if self.gradient is None:
            self._measure(record, contents, places, before, after)

    def reverse_opaque(self, replay: Replay, record: OpaqueRecord) -> None:
        """Run the reverse of a step whose inside is not seen, and look at the gradients."""
        graded = [use.field for use in record.opaque.uses if use.field.has_grads]
        before = [replay.gradient(field).buffer.read() for field in graded]
        replay.reverse(record)
        for field, held in zip(graded, before, strict=True):
            after = replay.gradient(field).buffer.array()
            index = _first_bad(after, held)
            if self.gradient is None and index is not None:
                self.gradient = self._in_opaque(record.opaque, field, index, after[index])

    def _not_finite(self, record: LaunchRecord, contents: Contents, found: NotFinite) -> NotFinite:
        """Return the finding with the statement at fault, if that can be found."""
        adjoint = record.plan.adjoint
        assert adjoint is not None
        program = adjoint.code.program
        bars = {bar: field for field, bar in adjoint.fields(Bar).items()}
        located = self._search.origin(program, contents, bars.keys(), (*bars, *program.temps))
        if located is None:
            return found
        bar, index, origin = located
        field = record.values[record.plan.code.position[bars[bar]]]
        return NotFinite(found.launch, found.kernel, self.name(field), index, found.value, origin)

    def _measure(
        self,
        record: LaunchRecord,
        contents: Contents,
        places: list[tuple[int, int]],
        before: dict[int, npt.NDArray[Any]],
        after: dict[int, npt.NDArray[Any]],
    ) -> None:
        """Note how large the gradients are that an adjoint has added to."""
        values, plan = record.values, record.plan
        came = [before[place] for place, k in places if k in plan.writes]
        began = max(map(_largest, came), default=0.0)
        sizes: dict[int, float] = {}
        for place, k in places:
            if k in plan.loads:
                # To a gradient that passes by, other launches have added what it was before.
                added = after[place] if k in plan.writes else after[place] - before[place]
                sizes[k] = _largest(added)
        if not sizes or not began:
            return
        self.seed = self.seed or began  # what comes in through `grad_in` alone
        most = max(sizes, key=lambda k: sizes[k])
        size = sizes[most]
        number, kernel = self.number_of(record), plan.code.name
        self.levels.append(Level(number, kernel, size, size / began))
        span, name = _written_or_read(plan, most), self.name(values[most])
        if values[most] in plan.code.temps:
            pass
        elif size > TOO_LARGE * began and not any(g.alone for g in self.grown):
            loop = self._loop(record, contents, TOO_LARGE * began)
            self.grown.append(Grown(number, kernel, name, size / began, True, span, loop))
        elif size > TOO_LARGE * self.seed and not any(g.factor > 1 for g in self.grown):
            self.grown.append(Grown(number, kernel, name, size / self.seed, False, span))
        for place, k in places:
            if k in sizes and values[k] not in plan.code.temps:
                self._note_decay(record, contents, k, _largest(after[place]), began)

    def _note_decay(
        self, record: LaunchRecord, contents: Contents, position: int, size: float, began: float
    ) -> None:
        """Note a gradient that has become very small, the first time for each field."""
        plan, name = record.plan, self.name(record.values[position])
        known = any(grown.factor < 1 and grown.field == name for grown in self.grown)
        if known or not 0 < size < self.seed / TOO_LARGE:
            return
        alone = size < began / TOO_LARGE
        loop = self._loop(record, contents, math.inf) if alone else None
        factor = size / (began if alone else self.seed)
        span = _written_or_read(plan, position)
        number = self.number_of(record)
        self.grown.append(Grown(number, plan.code.name, name, factor, alone, span, loop))

    def _loop(self, record: LaunchRecord, contents: Contents, limit: float) -> Span | None:
        adjoint = record.plan.adjoint
        assert adjoint is not None
        least = math.sqrt(TOO_LARGE)
        program, bars = adjoint.code.program, tuple(adjoint.fields(Bar).values())
        return self._search.loop(program, contents, bars, limit, least)


def _state(
    call: PreparedLaunch, values: list[Any], before: dict[int, npt.NDArray[Any]]
) -> Contents:
    """Return what the parameters of a launch held before it."""
    return {
        p: before.get(k, v.buffer.array()) if isinstance(v, Field) else v
        for k, (p, v) in enumerate(zip(call.code.params, values, strict=True))
    }


def _approximations(plan: AdjointPlan) -> Iterator[str]:
    for stmt in walk(plan.stage.program.body):
        if isinstance(stmt, Ruled) and any(rule.approximate for rule in rules(stmt)):
            yield f"'{stmt.name}', {located(stmt.span)}"


def _content(arg: Any) -> Any:
    return arg.array() if hasattr(arg, "array") else arg


def _largest(values: npt.NDArray[Any]) -> float:
    if not values.size or not np.issubdtype(values.dtype, np.floating):
        return 0.0
    return float(np.max(np.abs(values)))


def _first_bad(values: npt.NDArray[Any], before: npt.NDArray[Any] | None) -> tuple[int, ...] | None:
    """Return the first index at which numbers are not finite, and were before."""
    if not np.issubdtype(values.dtype, np.floating):
        return None
    bad = ~np.isfinite(values)
    if before is not None:
        bad &= np.isfinite(before)
    if not bad.any():
        return None
    return tuple(int(i) for i in np.argwhere(bad)[0])


def _written_or_read(plan: AdjointPlan, position: int) -> Span | None:
    array = plan.code.params[position]
    stmts = [s for s in walk(plan.stage.program.body) if array_of(s) is array]
    stmts.sort(key=lambda stmt: isinstance(stmt, Load))
    return stmts[0].span if stmts else None
