"""Many directions at once: gradients or tangents with one axis more, in one launch each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.compile.specialisation import (
    Specialisation,
    argument_of,
    arguments,
    make_writable,
    scratch_for,
)
from difftile.compile.stage import ManyCode
from difftile.fields.field import Field, Storage, make
from difftile.fields.window import Window
from difftile.ir.nodes import Array, Var
from difftile.linearization.pullback import Active, Pullback
from difftile.passes.batch import Unbatchable
from difftile.recording.opaque import Opaque
from difftile.recording.records import HostCopy, HostWrite, LaunchRecord, Record
from difftile.recording.replay import Replay
from difftile.recording.steps import Launch, field_of
from difftile.substrate import Buffer, silence, unpin


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
        self._width = width
        self._work: dict[Storage, Field] = {}
        self._single = Replay((), accumulate=False, private=True)

    def gradient(self, field: Field) -> Field:
        """Return the gradients of a field, which are zero to begin with."""
        work = self._work.get(field.storage)
        if work is None:
            work = self._work[field.storage] = make(
                field.element, (self._width, *field.origin.shape)
            )
            work.buffer.fill(0.0)
        return work.under((self._width, *field.shape))

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
        active.storages |= {values[k].storage for k in code.writes if grads[k]}
        wanted = frozenset(
            p for p, has in zip(code.params, grads, strict=True) if has and isinstance(p, Array)
        )
        for launch in code.launches:
            found = launch.stage.many_tangents(wanted)
            code.check_passing(launch.stage, wanted, values)
            if found is None:
                raise Unbatchable
            fields = {p: values[code.position[a]] for p, a in found.before.items()}
            held = [field.storage.buffer for field in fields.values()]
            old = {p: field.storage.buffer.under(field.shape) for p, field in fields.items()}
            for buffer in held:
                buffer.pins += 1
            try:
                for array in launch.stage.written:
                    make_writable(values[code.position[array]])
                launch.stage.forward.launch(arguments(launch.positions, values))
                self._run(found.many, code, values, found.dots, old)
            finally:
                for buffer in held:
                    unpin(buffer)

    def _change(self, field: Field, where: Window | None, taken: list[npt.NDArray[Any]]) -> None:
        def add(array: npt.NDArray[Any]) -> None:
            for each, values in zip(array, taken, strict=True):
                if where is None:
                    np.add(each, values, out=each)
                else:
                    where.add(each, values)

        self.gradient(field).buffer.change(add)

    def _launch(self, record: LaunchRecord) -> None:
        plan, values = record.plan, record.values
        adjoint = plan.adjoint
        assert adjoint is not None
        given: dict[Array | Var, Any] = dict(
            zip(adjoint.code.params, self._single.arguments(record), strict=True)
        )
        self._run(adjoint.many(), plan.code, values, adjoint.bars, given)

    def _run(
        self,
        many: ManyCode,
        code: Specialisation,
        values: list[Any],
        gradients: Mapping[Array, Array],
        given: Mapping[Any, Any],
    ) -> None:
        """Launch a program for all directions.

        Args:
            many: The program.
            code: The kernel.
            values: The values of its parameters.
            gradients: For each gradient or tangent, as it was without the axis, the field.
            given: What other parameters are passed, as far as it is known.
        """
        args: list[Any] = []
        scratch: list[Buffer] = []
        for p in many.code.params:
            if p is many.width:
                args.append(self._width)
            elif isinstance(p, Array) and p in many.of:
                old = many.of[p]
                field = None if old is None else gradients.get(old)
                if field is not None:
                    args.append(self.gradient(values[code.position[field]]).buffer)
                else:
                    scratch.append(scratch_for(p, code, values, (self._width,)))
                    args.append(scratch[-1])
            elif given.get(p) is not None:
                args.append(given[p])
            else:
                args.append(argument_of(values[code.position[p]]))
        many.code.launch(args)
        for buffer in scratch:
            buffer.free()
