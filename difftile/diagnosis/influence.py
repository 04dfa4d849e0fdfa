"""Why a gradient is zero: the influence of a field's contents on everything that a tape ran."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TypeAlias

from difftile.ad.missing_gradients import NOTHING, Cut, Flow, Passage, follow
from difftile.compile.adjoint_plan import AdjointPlan
from difftile.compile.arguments import Arguments, field_at
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.fields.window import Window
from difftile.ir.nodes import Array, Store
from difftile.ir.walk import walk
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.opaque import Opaque
from difftile.recording.write import Write
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class ObservedLaunch:
    """A launch as it ran.

    Args:
        call: The launch.
        values: The values of its parameters.
        plans: Its stages.
        graded: Its parameters that had gradients.
        constant: Whether it ran under `no_grad`.
    """

    call: PreparedLaunch
    values: Arguments
    plans: list[AdjointPlan]
    graded: frozenset[Array]
    constant: bool


ObservedStep: TypeAlias = ObservedLaunch | Write | Opaque


@dataclass(frozen=True, slots=True)
class SmoothPassage:
    """A launch through which contents vary smoothly.

    Args:
        read: The memory of the fields that it reads and that vary.
        written: The memory of the fields that it writes and that vary.
        masks: Where the slope can be 0.
    """

    read: set[Storage]
    written: set[Storage]
    masks: tuple[Cut, ...]


@dataclass(slots=True)
class Influence:
    """The influence of a field's contents at the start.

    Args:
        outputs: How the outputs depend on them.
        read: A launch or a copy read the field before it was overwritten.
        lost: Where the field was overwritten, or values computed from it.
        replaced: Where Python overwrote a part of the field, or of values computed from it.
        passages: The launches that vary smoothly with it, by their numbers.
    """

    outputs: Flow = NOTHING
    read: bool = False
    lost: dict[Cut, None] = field(default_factory=dict[Cut, None])
    replaced: dict[Cut, None] = field(default_factory=dict[Cut, None])
    passages: dict[int, SmoothPassage] = field(default_factory=dict[int, SmoothPassage])


class InfluenceAnalysis:
    """Follows the contents of fields through the steps of a tape.

    Args:
        steps: All that ran.
        name: Returns the name of a field.
    """

    def __init__(self, steps: Sequence[ObservedStep], name: Callable[[Field], str]) -> None:
        self._steps = steps
        self._name = name
        self._passages: dict[object, Passage] = {}

    def of(self, source: Storage, outputs: Iterable[Storage]) -> Influence:
        """Return the influence of a field's contents at the start on outputs at the end."""
        state = _Propagation(source, self._name, self._passages)
        state.through(self._steps)
        for output in outputs:
            state.influence.outputs |= state.flows.get(output, NOTHING)
        return state.influence


class _Propagation:
    """The contents of one field on their way through the steps.

    Attributes:
        flows: How the contents of memory depend on the source; memory that does not is left out.
    """

    def __init__(
        self, source: Storage, name: Callable[[Field], str], passages: dict[object, Passage]
    ) -> None:
        self.influence = Influence()
        self.flows = {source: Flow(True)}
        self._source = source
        self._name = name
        self._passages = passages

    def through(self, steps: Sequence[ObservedStep]) -> None:
        """Follow the contents through all steps."""
        number = 0
        for step in steps:
            match step:
                case ObservedLaunch():
                    number += 1
                    self._launch(step, number)
                case Write(target, where, None):
                    if target.storage in self.flows:
                        self._host_write(target, where, number)
                case Write(target, where, source):
                    assert source is not None
                    self._copy(target, source.base, whole=where is None)
                case Opaque():
                    self._opaque(step)

    def _assign(self, storage: Storage, flow: Flow, *, whole: bool, reason: str) -> None:
        """Note that memory is overwritten, in whole or in part, by contents that depend so."""
        held = self.flows.pop(storage, NOTHING)
        if not whole:
            flow |= held
        if flow:
            self.flows[storage] = flow
        elif held:
            self.influence.lost[Cut(None, reason)] = None

    def _host_write(
        self, target: Field, where: tuple[int, ...] | Window | None, number: int
    ) -> None:
        when = f"after launch {number}" if number else "before the first launch"
        name = self._name(target)
        size = math.prod(where.shape) if isinstance(where, Window) else 1
        if where is None or size == target.size:
            reason = f"Python overwrites '{name}' {when}"
            self._assign(target.storage, NOTHING, whole=True, reason=reason)
        else:
            cut = Cut(None, f"Python overwrites elements of '{name}' {when}")
            self.influence.replaced[cut] = None

    def _copy(self, target: Field, origin: Field, *, whole: bool) -> None:
        flow = self.flows.get(origin.storage, NOTHING)
        self.influence.read |= bool(flow) and origin.storage is self._source
        if not target.has_grads:
            flow = flow.cut(Cut(None, "a copy in Python goes into a field without a gradient"))
        reason = f"a copy in Python overwrites '{self._name(target)}'"
        self._assign(target.storage, flow, whole=whole, reason=reason)

    def _opaque(self, opaque: Opaque) -> None:
        """Pass an opaque step: everything that it writes depends on everything that it reads."""
        read = [use.field.storage for use in opaque.uses if use.reads]
        total = NOTHING
        for storage in read:
            total |= self.flows.get(storage, NOTHING)
        self.influence.read |= self._source in read and bool(self.flows.get(self._source))
        step = opaque.step.name
        if opaque.constant:
            total = total.cut(Cut(None, f"{step} is run under dt.no_grad()"))
        for use in opaque.uses:
            if use.writes:
                flow = total
                if not use.field.has_grads:
                    reason = f"{step} writes '{use.name}', which has no gradient"
                    flow = flow.cut(Cut(None, reason))
                reason = f"{step} overwrites '{use.name}'"
                self._assign(use.field.storage, flow, whole=use.overwrites, reason=reason)

    def _launch(self, launch: ObservedLaunch, number: int) -> None:
        code, flows, influence = launch.call.code, self.flows, self.influence
        storage_of = {
            p: field_at(launch.values, k).storage
            for p, k in code.position.items()
            if isinstance(p, Array)
        }
        for hidden in code.temps:
            flows.pop(hidden.storage, None)
        smooth = SmoothPassage(set(), set(), ())
        masks: dict[Cut, None] = {}
        for plan in launch.plans:
            stage = plan.stage
            touched = stage.loaded | stage.written
            held = {a: flow for a in touched if (flow := flows.get(storage_of[a], NOTHING))}
            if not held:
                continue
            loaded = [a for a in held if a in stage.loaded]
            influence.read |= any(storage_of[a] is self._source for a in loaded)
            smooth.read.update(storage_of[a] for a in loaded if held[a].smooth)
            passage = self._passage(launch, plan, held)
            for array in stage.written:
                flow = passage.flows.get(array, NOTHING)
                if flow:
                    flows[storage_of[array]] = flow
                    if flow.smooth:
                        smooth.written.add(storage_of[array])
                else:
                    flows.pop(storage_of[array], None)
            influence.lost |= dict.fromkeys(passage.lost)
            masks |= dict.fromkeys(passage.masks)
            for cell in () if code.result is None else code.result.cells:
                if cell in passage.flows:
                    stmts = (s for s in walk(stage.program.body) if isinstance(s, Store))
                    span = next((s.span for s in stmts if s.array is cell), None)
                    reason = "returned to Python here, where 'float' or 'math' ends its gradient"
                    influence.lost[Cut(span, reason)] = None
        if smooth.read and smooth.written:
            passage = SmoothPassage(smooth.read, smooth.written, tuple(masks))
            influence.passages[number] = passage

    def _passage(
        self, launch: ObservedLaunch, plan: AdjointPlan, held: dict[Array, Flow]
    ) -> Passage:
        stage = launch.call.stages[plan.stage.number]
        overwritten = frozenset(
            array for k in stage.overwritten if isinstance(array := plan.code.params[k], Array)
        )
        key = (id(plan), launch.graded, overwritten, frozenset(held.items()))
        found = self._passages.get(key)
        if found is None:
            found = self._passages[key] = follow(
                plan.stage.program, held, launch.graded, overwritten, constant=launch.constant
            )
        return found
