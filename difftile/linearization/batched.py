"""Many directions at once: gradients or tangents with one axis more, in one launch each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.compile.arguments import Arguments, field_at
from difftile.compile.stage import Batched, TangentOnly
from difftile.fields.field import Field, Storage, make
from difftile.fields.window import Window
from difftile.ir.derived import Bar, Dot, Role, Same
from difftile.ir.nodes import Array
from difftile.launch.binding import Binding, Environment, Fixed, Slot, Temporary
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.linearization.pullback import Active, Pullback
from difftile.passes.batch import Unbatchable
from difftile.recording.opaque import Opaque
from difftile.recording.records import HostCopy, HostWrite, LaunchRecord, Record
from difftile.recording.replay import AdjointEnvironment
from difftile.recording.steps import Launch, field_of
from difftile.substrate import silence, unpin


def pull_many(
    stretch: Pullback, output: Field, seeds: npt.NDArray[Any], wrt: Iterable[Field]
) -> dict[Field, npt.NDArray[Any]]:
    """Return many cotangents of what fields held before the function.

    Args:
        stretch: The launches.
        output: The field that has cotangents.
        seeds: Those, one behind the other along the first axis.
        wrt: The fields whose cotangents are wanted.

    Raises:
        Unbatchable: A step has to be reversed for each of them.
    """
    fields = [one.origin for one in wrt]
    records = stretch.records(fields)
    if not all(isinstance(record, (LaunchRecord, HostWrite, HostCopy)) for record in records):
        raise Unbatchable
    replay = _Many(len(seeds))
    replay.gradient(output).buffer.write(np.asarray(seeds))
    for record in reversed(records):
        replay.reverse(record)
    return {one: replay.gradient(one).to_numpy() for one in fields}


def push_many(
    stretch: Pullback,
    one: Field,
    tangents: npt.NDArray[Any],
    outputs: Iterable[Field],
) -> dict[Field, npt.NDArray[Any]]:
    """Return many tangents of what fields hold after the function.

    Args:
        stretch: The launches.
        one: The field that varies.
        tangents: Those of what it held before, one behind the other along the first axis.
        outputs: The fields whose tangents are wanted.

    Raises:
        Unbatchable: A step has to be run again for each of them.
    """
    stretch.check_writes(frozenset((one.origin,)))
    dots = _Many(len(tangents))
    active = Active(frozenset((one.origin,)))
    dots.gradient(one).buffer.write(np.asarray(tangents))
    with stretch.from_start(), silence():
        for step, constant in stretch.steps:
            if isinstance(step, Launch):
                dots.push(step, active, constant=constant)
                continue
            if isinstance(step, Opaque):
                if any(use.field.storage in active.storages for use in step.uses):
                    raise Unbatchable
                stretch.again(step)
                continue
            stretch.again(step)
            if isinstance(step, HostCopy) and step.source.base in active:
                active.storages.add(step.target.base.storage)
                dots.copy(step)
            elif field_of(step).storage in active.storages:
                where = step.where if isinstance(step, HostWrite) else step.target.window
                dots.take(field_of(step), where)
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

    def reverse(self, record: Record) -> None:
        """Run the adjoint of one record."""
        match record:
            case LaunchRecord():
                self._launch(record)
            case HostWrite(field=field, where=where):
                self.take(field, where)
            case HostCopy(target, source):
                taken = self.take(target.base, target.window)
                self._change(source.base, source.window, taken)
            case _:
                raise Unbatchable

    def take(self, field: Field, where: tuple[int, ...] | Window | None) -> list[npt.NDArray[Any]]:
        found: list[npt.NDArray[Any]] = []

        def take(array: npt.NDArray[Any]) -> None:
            for each in array:
                part = where.of(each) if isinstance(where, Window) else each[where or ...]
                found.append(np.array(part))
                if isinstance(where, Window):
                    part[...] = 0.0
                else:
                    each[where or ...] = 0.0

        self.gradient(field).buffer.change(take)
        return found

    def copy(self, step: HostCopy) -> None:
        """Copy tangents as Python has copied the fields."""
        source, target = step.source, step.target
        values = self.gradient(source.base).buffer.array()
        parts = [v if source.window is None else source.window.of(v) for v in values]
        given = [np.array(part) for part in parts]
        self.take(target.base, target.window)
        self._change(target.base, target.window, given)

    def push(self, step: Launch, active: Active, *, constant: bool) -> None:
        """Run a kernel, and push the tangents of its fields through it."""
        call, values = step.call, step.values
        grads = active.along(call, values)
        if not any(grads):
            call.run(values)
            return
        if constant:
            raise Unbatchable
        code = call.code
        active.storages |= {field_at(values, k).storage for k in code.writes if grads[k]}
        wanted = code.arrays(grads)
        for stage in code.stages:
            tangents = stage.code(Batched(TangentOnly(wanted)))
            code.check_passing(stage, wanted, values)
            if tangents is None:
                raise Unbatchable
            env = _ManyTangents(self, call, values)
            held = [field_at(values, k).storage.buffer for k in code.stage_writes[stage.number]]
            for buffer in held:  # the tangents read the contents from before the stage as well
                buffer.pins += 1
            binding = Binding(tangents, env)
            try:
                call.stages[stage.number].run(values)
                binding.launch(values)
            finally:
                unpin(*held)

    def _change(self, field: Field, where: Window | None, taken: list[npt.NDArray[Any]]) -> None:
        def add(array: npt.NDArray[Any]) -> None:
            for each, values in zip(array, taken, strict=True):
                if where is None:
                    np.add(each, values, out=each)
                else:
                    where.add(each, values)

        self.gradient(field).buffer.change(add)

    def _launch(self, record: LaunchRecord) -> None:
        adjoint = record.plan.stage.code(Batched(record.plan.request))
        assert adjoint is not None
        Binding(adjoint, _ManyGradients(self, record)).launch(record.values, record.kept)

    def lane(self, field: Field) -> Slot:
        """Return the slot of the gradients or tangents of a field."""
        return Fixed(self.gradient(field).buffer)

    def scratch(self, param: Array, shape: tuple[int, ...]) -> Slot:
        """Return the slot of a program's own memory, with an axis for directions if it has one."""
        lead = (self.width,) if param.type.ndim > len(shape) else ()
        return Temporary(param.type.element, (*lead, *shape))


class _ManyGradients(AdjointEnvironment):
    """Gradients with an axis more, and contents among the buffers of a record."""

    def __init__(self, many: _Many, record: LaunchRecord) -> None:
        super().__init__(record, many.gradient)
        self._many = many

    def lane(self, of: Role) -> Slot | None:
        return self._many.lane(self.field(of.array)) if isinstance(of, Bar) else None

    def width(self) -> Slot:
        return Fixed(self._many.width)

    def scratch(self, param: Array, like: Array | None) -> Slot:
        return self._many.scratch(param, () if like is None else self.field(like).shape)


class _ManyTangents(Environment):
    """Tangents with an axis more, and contents that fields had when this was made."""

    def __init__(self, many: _Many, call: PreparedLaunch, values: Arguments) -> None:
        super().__init__(call.code, values)
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

    def width(self) -> Slot:
        return Fixed(self._many.width)

    def scratch(self, param: Array, like: Array | None) -> Slot:
        return self._many.scratch(param, () if like is None else self.field(like).shape)
