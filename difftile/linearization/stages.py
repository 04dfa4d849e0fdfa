"""Stages of launches with the parts of hyper-dual numbers, on the way forward and in reverse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from difftile.compile.arguments import field_at
from difftile.compile.stage import Batched, Stage, Tangent, TangentOnly
from difftile.fields.field import Field
from difftile.ir.derived import After, Bar, Before, Dot, Role, Same, part_of
from difftile.ir.nodes import Array, Var
from difftile.launch.binding import Binding, Fixed, Slot
from difftile.launch.tangents import Tangents, make_writable, push_stage
from difftile.linearization.directions import Directions, WideEnvironment
from difftile.recording.replay import AdjointEnvironment, Replay
from difftile.recording.steps import Launch, LaunchRecord
from difftile.recording.work_fields import copied
from difftile.records import dataclass
from difftile.substrate import Buffer, keep, unpin

Memory: TypeAlias = Replay | Directions
"""The gradients or tangents of fields, along one direction or many."""


def pushed(step: Launch, stage: Stage, grads: tuple[bool, ...], parts: Sequence[Memory]) -> None:
    """Launch one stage of a kernel, and push tangents.

    Args:
        step: The launch.
        stage: The stage.
        grads: Which parameters have tangents.
        parts: The memory of each part of hyper-dual numbers; part 0 is not used.

    Raises:
        Race: Derivatives would pass through stores of different iterations that meet.
        Unbatchable: Loops have bounds that differ between directions.
    """
    if isinstance(parts[-1], Directions):
        _push_many(step, stage, grads, parts[-1])
    else:
        push_stage(step.prepared.code, stage, step.values, tangents_of(step, grads, parts))


def tangents_of(step: Launch, grads: tuple[bool, ...], parts: Sequence[Memory]) -> Tangents:
    """Return the memory of the tangents of a launch's fields."""
    carried = [k for k, has in enumerate(grads) if has]
    return {
        part: {k: memory.gradient(field_at(step.values, k)) for k in carried}
        for part, memory in enumerate(parts)
        if part
    }


def _push_many(step: Launch, stage: Stage, grads: tuple[bool, ...], dots: Directions) -> None:
    prepared, values, code = step.prepared, step.values, step.prepared.code
    wanted = code.arrays(grads)
    tangents = stage.code(Batched(TangentOnly(wanted)))
    code.check_passing(stage, wanted, values)
    writes = code.stage_writes[stage.number]
    for k in writes:
        if grads[k]:
            make_writable(dots.lanes(field_at(values, k)))
    if tangents is None:  # they need values that the stage overwrites again and again
        both = stage.code(Batched(Tangent(wanted)))
        assert both is not None
        Binding(both, _ManyTangents(step, dots, {})).launch(values)
        prepared.stages[stage.number].run(values)
        return
    # The tangents read the contents from before the stage as well.
    held = {k: keep(field_at(values, k).storage) for k in writes}
    binding = Binding(tangents, _ManyTangents(step, dots, held))
    try:
        prepared.stages[stage.number].run(values)
        binding.launch(values)
    finally:
        unpin(*held.values())


@dataclass(slots=True)
class StageRecord:
    """A launch of a stage, and the tangents of its kept buffers.

    Args:
        record: The launch.
        dots: The pinned tangents of each kept buffer by part, empty for constants.
    """

    record: LaunchRecord
    dots: list[dict[int, Buffer]]

    def pin(self, positions: Iterable[int], along: Tangents) -> None:
        """Keep the contents that some fields hold now, and their tangents."""
        for k in positions:
            self.record.kept.append(keep(field_at(self.record.values, k).storage))
            self.dots.append(
                {part: keep(dots[k].storage) for part, dots in along.items() if k in dots}
            )

    def dots_of(self, role: Before | After) -> Mapping[int, Buffer]:
        """Return the tangents of kept contents by part; none if these are constants."""
        plan, position = self.record.plan, self.record.plan.code.position[role.array]
        if isinstance(role, Before):
            return self.dots[plan.reads.index(position)] if position in plan.reads else {}
        after = plan.reads_after
        return self.dots[len(plan.reads) + after.index(position)] if position in after else {}

    def varies(self, role: Role) -> bool:
        """Tell whether a parameter of the adjoint has a tangent that may not be zero."""
        match role:
            case Before() | After():
                return bool(self.dots_of(role))
            case Bar():
                return True
            case _:
                return False

    def release(self) -> None:
        """Release the old values."""
        self.record.release()
        dots, self.dots = self.dots, []
        unpin(*(dot for each in dots for dot in each.values()))

    def reverse(self, bars: Sequence[Memory]) -> None:
        """Run the adjoint with tangents.

        Args:
            bars: The gradients, and their tangents, by part.
        """
        if isinstance(bars[-1], Directions):
            self._reverse_many(bars[0], bars[-1])
            return
        plan, record = self.record.plan, self.record
        levels = (len(bars) - 1).bit_length()
        kept = tuple([bool(each) for each in self.dots])
        tangent = plan.stage.code(plan.stage.with_tangents(plan.request, levels, self.varies, kept))
        assert tangent is not None
        Binding(tangent, _Reverse(self, bars)).launch(record.values, record.kept)

    def _reverse_many(self, bars: Memory, dots: Directions) -> None:
        record, plan = self.record, self.record.plan
        wanted = plan.stage.varying(plan.request, self.varies)
        only = plan.stage.code(Batched(TangentOnly(wanted, plan.request)))
        if only is None:  # the adjoint reads gradients that it changes again and again
            both = plan.stage.code(Batched(Tangent(wanted, plan.request)))
            assert both is not None
            env = _ManyInReverse(self, bars, dots, {})
            Binding(both, env).launch(record.values, record.kept)
            bars.launch(record)
            return
        incoming = [role.array for role in only.roles if isinstance(role, Bar) and role.incoming]
        fields = {array: field_at(record.values, plan.code.position[array]) for array in incoming}
        old = {array: copied(bars.gradient(field)) for array, field in fields.items()}
        bars.launch(record)
        env = _ManyInReverse(self, bars, dots, old)
        Binding(only, env).launch(record.values, record.kept)


class _Reverse(AdjointEnvironment):
    """Adds the tangents of kept contents and of gradients."""

    def __init__(self, dual: StageRecord, bars: Sequence[Memory]) -> None:
        super().__init__(dual.record, bars[0].gradient)
        self._dual = dual
        self._bars = bars

    def dot(self, role: Dot) -> Slot | None:
        """Return the slot of the tangent of a parameter of the adjoint."""
        of, part = part_of(role)
        match of:
            case Before(array) | After(array):
                dot, shape = self._dual.dots_of(of)[part], self._shape(array)
                return Fixed(dot if dot.shape == shape else dot.under(shape))
            case Bar(array):
                return Fixed(self._bars[part].gradient(self.field(array)).buffer)
            case _:
                return None

    def _shape(self, array: Array) -> tuple[int, ...]:
        return self.field(array).shape


class _ManyInReverse(WideEnvironment, _Reverse):
    """Tangents along many directions.

    Args:
        dual: The record.
        bars: The gradients.
        dots: Their tangents.
        old: Gradients from before the adjoint.
    """

    def __init__(
        self, dual: StageRecord, bars: Memory, dots: Directions, old: Mapping[Array, Field]
    ) -> None:
        _Reverse.__init__(self, dual, [bars, dots])
        self.directions = dots.width
        self._old = old
        self._copies = Directions(dots.width)

    def _shape(self, array: Array) -> tuple[int, ...]:
        return self.directions, *self.field(array).shape

    def slot(self, param: Array | Var, role: Role) -> Slot:
        """Return the slot of a parameter."""
        if isinstance(role, Bar) and role.incoming:
            return Fixed(self._old[role.array].under(self.field(role.array).shape).buffer)
        return super().slot(param, role)

    def lane(self, of: Role) -> Slot | None:
        """Return the slot of what differs between directions."""
        match of:
            case Dot():
                return self.dot(of)
            case Bar(array):
                field = self.field(array)
                return self._copies.repeated(field, self._bars[0].gradient(field).buffer)
            case _:
                return None


class _ManyTangents(WideEnvironment):
    """Tangents along many directions, and contents that fields had when this was made.

    Args:
        step: The launch.
        dots: The tangents.
        held: The contents of the fields that the launch writes, by position.
    """

    def __init__(self, step: Launch, dots: Directions, held: Mapping[int, Buffer]) -> None:
        super().__init__(step.prepared.code, step.values)
        self.directions = dots.width
        self._dots = dots
        self._held = held
        self._copies = Directions(dots.width)

    def before(self, array: Array) -> Slot:
        """Return the slot of contents from before the stage."""
        field, held = self.field(array), self._held.get(self.code.position[array])
        return Fixed((held or field.storage.buffer).under(field.shape))

    def lane(self, of: Role) -> Slot | None:
        """Return the slot of what differs between directions."""
        match of:
            case Dot(Same(Array() as array)):
                return Fixed(self._dots.gradient(self.field(array)).buffer)
            case Same(Array() as array):
                return self._copies.repeated(self.field(array), self.field(array).buffer)
            case _:
                return None
