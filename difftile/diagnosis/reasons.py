"""Why a gradient is zero: the way of a field's contents through all that a tape recorded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from difftile.ad.missing_gradients import NOTHING, Cut, Flow, Passage, follow
from difftile.compile.adjoint_plan import AdjointPlan
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field, Storage
from difftile.fields.window import Window
from difftile.ir.nodes import Array, Store
from difftile.ir.walk import walk
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.opaque import Opaque
from difftile.recording.records import HostCopy, HostWrite


@dataclass(frozen=True, slots=True)
class Ran:
    """A launch as it ran.

    Args:
        call: The launch.
        values: The values of its parameters.
        plans: Its stages.
        graded: Its parameters that had gradients.
        constant: It ran under `no_grad`.
    """

    call: PreparedLaunch
    values: list[Any]
    plans: list[AdjointPlan]
    graded: frozenset[Array]
    constant: bool


Step: TypeAlias = Ran | HostWrite | HostCopy | Opaque


@dataclass(slots=True)
class Way:
    """What became of the dependence on what a field held at the start.

    Args:
        target: How the outputs depend on it.
        read: A launch or a copy read the field before it was overwritten.
        lost: Where it was overwritten, or what had been computed from it.
        replaced: Where Python overwrote a part of it, or of what had been computed from it.
        passages: For each launch that varies smoothly with it, by its number: the memory of the
            fields so read and so written, and where the slope can be 0.
    """

    target: Flow = NOTHING
    read: bool = False
    lost: dict[Cut, None] = field(default_factory=dict[Cut, None])
    replaced: dict[Cut, None] = field(default_factory=dict[Cut, None])
    passages: dict[int, tuple[set[Storage], set[Storage], tuple[Cut, ...]]] = field(
        default_factory=dict[int, "tuple[set[Storage], set[Storage], tuple[Cut, ...]]"]
    )


class Ways:
    """Finds the ways through the steps of a tape.

    Args:
        steps: All that it recorded.
        name: Returns what kernels call a field.
    """

    def __init__(self, steps: Sequence[Step], name: Callable[[Field], str]) -> None:
        self._steps = steps
        self._name = name
        self._passages: dict[Any, Passage] = {}

    def of(self, source: Storage, targets: Iterable[Storage]) -> Way:
        """Return the way from what a field held at the start to some outputs at the end."""
        way = Way()
        flows = {source: Flow(True)}
        number = 0
        for step in self._steps:
            match step:
                case Ran():
                    number += 1
                    self._launch(step, number, source, flows, way)
                case HostWrite(target, where):
                    if target.storage in flows:
                        self._host_write(target, where, number, flows, way)
                case HostCopy(target, origin):
                    self._copy(target, origin.base, source, flows, way)
                case Opaque():
                    self._opaque(step, source, flows, way)
        for target in targets:
            way.target |= flows.get(target, NOTHING)
        return way

    def _host_write(
        self,
        target: Field,
        where: tuple[int, ...] | Window | None,
        number: int,
        flows: dict[Storage, Flow],
        way: Way,
    ) -> None:
        when = f"after launch {number}" if number else "before the first launch"
        name = self._name(target)
        size = math.prod(where.shape) if isinstance(where, Window) else 1
        if where is None or size == target.size:
            del flows[target.storage]
            way.lost[Cut(None, f"Python overwrites '{name}' {when}")] = None
        else:
            way.replaced[Cut(None, f"Python overwrites elements of '{name}' {when}")] = None

    def _copy(
        self,
        target: ArrayLike,
        origin: Field,
        source: Storage,
        flows: dict[Storage, Flow],
        way: Way,
    ) -> None:
        flow = flows.get(origin.storage, NOTHING)
        way.read |= bool(flow) and origin.storage is source
        if not target.has_grads:
            flow = flow.cut(Cut(None, "a copy in Python goes into a field without a gradient"))
        storage = target.base.storage
        held = flows.pop(storage, NOTHING)
        if target.window is not None:
            flow |= held
        if flow:
            flows[storage] = flow
        elif held:
            what = f"a copy in Python overwrites '{self._name(target.base)}'"
            way.lost[Cut(None, what)] = None

    def _opaque(
        self, opaque: Opaque, source: Storage, flows: dict[Storage, Flow], way: Way
    ) -> None:
        """Pass a step whose inside is not seen: all that it writes follows from all it reads."""
        read = [use.field.storage for use in opaque.uses if use.reads]
        total = NOTHING
        for storage in read:
            total |= flows.get(storage, NOTHING)
        way.read |= source in read and bool(flows.get(source))
        if opaque.constant:
            total = total.cut(Cut(None, f"{opaque.step.name} is run under dt.no_grad()"))
        for use in opaque.uses:
            if not use.writes:
                continue
            storage = use.field.storage
            flow = total
            if not use.field.has_grads:
                what = f"{opaque.step.name} writes '{use.name}', which has no gradient"
                flow = flow.cut(Cut(None, what))
            held = flows.pop(storage, NOTHING)
            if not use.overwrites:
                flow |= held
            if flow:
                flows[storage] = flow
            elif held:
                way.lost[Cut(None, f"{opaque.step.name} overwrites '{use.name}'")] = None

    def _launch(
        self, ran: Ran, number: int, source: Storage, flows: dict[Storage, Flow], way: Way
    ) -> None:
        smooth_in: set[Storage] = set()
        smooth_out: set[Storage] = set()
        masks: dict[Cut, None] = {}
        for plan in ran.plans:
            storage_of = {
                p: ran.values[k].storage
                for p, k in ran.call.code.position.items()
                if isinstance(p, Array)
            }
            stage = plan.stage
            touched = stage.loaded | stage.written
            held = {a: flow for a in touched if (flow := flows.get(storage_of[a], NOTHING))}
            if not held:
                continue
            way.read |= any(storage_of[a] is source for a in held if a in stage.loaded)
            passage = self._passage(ran, plan, held)
            smooth_in |= {storage_of[a] for a in held if a in stage.loaded and held[a].smooth}
            for array in stage.written:
                flow = passage.flows.get(array, NOTHING)
                if flow:
                    flows[storage_of[array]] = flow
                    if flow.smooth:
                        smooth_out.add(storage_of[array])
                else:
                    flows.pop(storage_of[array], None)
            way.lost |= dict.fromkeys(passage.lost)
            masks |= dict.fromkeys(passage.masks)
            result = ran.call.code.result
            for cell in () if result is None else result.cells:
                if cell in passage.flows:
                    way.lost[_returned(plan, cell)] = None
        for hidden in ran.call.code.temps:
            flows.pop(hidden.storage, None)
        if smooth_in and smooth_out:
            way.passages[number] = smooth_in, smooth_out, tuple(masks)

    def _passage(self, ran: Ran, plan: AdjointPlan, held: dict[Array, Flow]) -> Passage:
        stage = ran.call.stages[plan.stage.number]
        overwritten = frozenset(
            array for k in stage.overwritten if isinstance(array := plan.code.params[k], Array)
        )
        key = (id(plan), ran.graded, overwritten, frozenset(held.items()))
        found = self._passages.get(key)
        if found is None:
            found = self._passages[key] = follow(
                plan.stage.program,
                held,
                ran.graded,
                overwritten,
                constant=ran.constant,
            )
        return found


def _returned(plan: AdjointPlan, cell: Array) -> Cut:
    stores = walk(plan.stage.program.body)
    span = next((s.span for s in stores if isinstance(s, Store) and s.array is cell), None)
    return Cut(span, "returned to Python here, where it is a plain number")
