"""Many directions at once: gradients or tangents with one axis more, in one launch each."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from difftile.compile.arguments import Arguments, field_at
from difftile.compile.stage import Batched, TangentOnly
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, Storage, make
from difftile.fields.recording import Where
from difftile.fields.window import Window
from difftile.ir.derived import Bar, Dot, Logged, Role, Same
from difftile.ir.nodes import Array
from difftile.launch.binding import Binding, Environment, Fixed, Slot, Temporary
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.linearization.pullback import Pullback
from difftile.linearization.sweep import Sweep
from difftile.passes.batch import Unbatchable
from difftile.recording.opaque import Opaque, OpaqueRecord
from difftile.recording.replay import AdjointEnvironment
from difftile.recording.steps import HostStep, Launch, LaunchRecord
from difftile.substrate import unpin


def pull_many(
    stretch: Pullback, output: Field, seeds: HostArray, wrt: Iterable[Field]
) -> dict[Field, HostArray]:
    """Return many cotangents of the fields' contents before the function.

    Args:
        stretch: The launches.
        output: The field that has cotangents.
        seeds: Those, one after the other along the first axis.
        wrt: The fields whose cotangents are wanted.

    Raises:
        Unbatchable: A step has to be reversed for each of them.
    """
    fields = [one.origin for one in wrt]
    records = stretch.records(fields)
    if any(isinstance(record, OpaqueRecord) for record in records):
        raise Unbatchable
    replay = _Many(len(seeds))
    replay.gradient(output).buffer.write(np.asarray(seeds))
    for record in reversed(records):
        record.reverse(replay)
    return {one: replay.gradient(one).to_numpy() for one in fields}


def push_many(
    stretch: Pullback,
    one: Field,
    tangents: HostArray,
    outputs: Iterable[Field],
) -> dict[Field, HostArray]:
    """Return many tangents of the fields' contents after the function.

    Args:
        stretch: The launches.
        one: The field that varies.
        tangents: Those of its contents before, one after the other along the first axis.
        outputs: The fields whose tangents are wanted.

    Raises:
        Unbatchable: A step has to be run again for each of them.
    """
    stretch.check_writes(frozenset((one.origin,)))
    dots = _Many(len(tangents))
    dots.gradient(one).buffer.write(np.asarray(tangents))
    _ManyPush(stretch, frozenset((one.origin,)), dots).over(stretch)
    return {out: dots.gradient(out).to_numpy() for out in outputs}


class _Many:
    """Gradients or tangents with one axis more."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._work: dict[Storage, Field] = {}

    def gradient(self, field: Field) -> Field:
        """Return the gradients of a field, which are zero to begin with."""
        work = self._work.get(field.storage)
        if work is None:
            work = self._work[field.storage] = make(
                field.element, (self.width, *field.origin.shape)
            )
            work.buffer.fill(0.0)
        return work.under((self.width, *field.shape))

    def launch(self, record: LaunchRecord) -> None:
        """Run the adjoint of a launch."""
        adjoint = record.plan.stage.code(Batched(record.plan.request))
        assert adjoint is not None
        Binding(adjoint, _ManyGradients(self, record)).launch(record.values, record.kept)

    def opaque(self, record: OpaqueRecord) -> None:
        """Refuse an opaque step, which takes one direction at a time."""
        raise Unbatchable

    def passes(self, source: ArrayLike) -> bool:
        """Tell that all fields have gradients here."""
        return True

    def read(self, field: Field, window: Window | None) -> HostArray:
        """Return a copy of the gradients of a field or of a part of one."""
        lanes = self.gradient(field).buffer.array()
        return np.array([lane if window is None else window.of(lane) for lane in lanes])

    def take(self, field: Field, where: Where) -> HostArray:
        """Return the gradients of a field, a part or an element, and leave zero there."""
        taken: list[HostArray] = []

        def take(lanes: HostArray) -> None:
            for lane in _each(lanes):
                if isinstance(where, Window):
                    part = where.of(lane)
                    taken.append(np.array(part))
                    part[...] = 0.0
                else:
                    taken.append(np.array(lane[where or ...]))
                    lane[where or ...] = 0.0

        self.gradient(field).buffer.change(take)
        return np.array(taken)

    def add(self, field: Field, window: Window | None, values: HostArray) -> None:
        """Add to the gradients of a field or of a part of one."""

        def add(lanes: HostArray) -> None:
            for lane, added in zip(_each(lanes), values, strict=True):
                if window is None:
                    np.add(lane, added, out=lane)
                else:
                    window.add(lane, added)

        self.gradient(field).buffer.change(add)

    def lane(self, field: Field) -> Slot:
        """Return the slot of the gradients or tangents of a field."""
        return Fixed(self.gradient(field).buffer)


def _each(lanes: HostArray) -> list[HostArray]:
    """Return a view of each lane, also of lanes of one number."""
    return [lanes[k, ...] for k in range(len(lanes))]


class _ManyPush(Sweep):
    """Pushes many tangents of one field through a stretch."""

    def __init__(self, stretch: Pullback, wanted: frozenset[Field], dots: _Many) -> None:
        super().__init__(wanted)
        self._stretch = stretch
        self._dots = dots

    def launch(self, step: Launch, *, constant: bool) -> None:
        prepared, values, code = step.prepared, step.values, step.prepared.code
        if not any(self.active.along(step)):
            prepared.run(values)
            return
        if constant:
            raise Unbatchable
        wanted = code.arrays(self.active.launched(step))
        for stage in code.stages:
            tangents = stage.code(Batched(TangentOnly(wanted)))
            code.check_passing(stage, wanted, values)
            if tangents is None:
                raise Unbatchable
            env = _ManyTangents(self._dots, prepared, values)
            held = [field_at(values, k).storage.buffer for k in code.stage_writes[stage.number]]
            for buffer in held:  # the tangents read the contents from before the stage as well
                buffer.pins += 1
            binding = Binding(tangents, env)
            try:
                prepared.stages[stage.number].run(values)
                binding.launch(values)
            finally:
                unpin(*held)

    def opaque(self, opaque: Opaque) -> None:
        if any(use.field.storage in self.active.storages for use in opaque.uses):
            raise Unbatchable
        self._stretch.again(opaque)

    def host(self, step: HostStep) -> None:
        step.push(self._dots)


class _ManyEnvironment(Environment):
    """Memory with an axis more for the directions."""

    _many: _Many

    def width(self) -> Slot:
        return Fixed(self._many.width)

    def lead(self, param: Array, role: Logged) -> tuple[int, ...]:
        return (self._many.width,) if param.type.ndim > len(role.extents) else ()

    def scratch(self, param: Array, like: Array | None) -> Slot:
        shape = () if like is None else self.field(like).shape
        lead = (self._many.width,) if param.type.ndim > len(shape) else ()
        return Temporary(param.type.element, (*lead, *shape))


class _ManyGradients(_ManyEnvironment, AdjointEnvironment):
    """Gradients with an axis more, and contents among the buffers of a record."""

    def __init__(self, many: _Many, record: LaunchRecord) -> None:
        AdjointEnvironment.__init__(self, record, many.gradient)
        self._many = many

    def lane(self, of: Role) -> Slot | None:
        return self._many.lane(self.field(of.array)) if isinstance(of, Bar) else None


class _ManyTangents(_ManyEnvironment):
    """Tangents with an axis more, and contents that fields had when this was made."""

    def __init__(self, many: _Many, launch: PreparedLaunch, values: Arguments) -> None:
        super().__init__(launch.code, values)
        self._many = many

    def before(self, array: Array) -> Slot:
        field = self.field(array)
        return Fixed(field.storage.buffer.under(field.shape))

    def lane(self, of: Role) -> Slot | None:
        match of:
            case Dot(Same(Array() as array)):
                return self._many.lane(self.field(array))
            case _:
                return None
