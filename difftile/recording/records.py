"""What a tape remembers of a launch or of a write from Python."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.compile.adjoint_plan import AdjointPlan
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.window import Window
from difftile.ir.types import shape_of
from difftile.launch.patch import Patch
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.opaque import OpaqueRecord
from difftile.substrate import Buffer, unpin


@dataclass(slots=True)
class LaunchRecord:
    """One launch of a stage.

    Args:
        plan: What was recorded of it, and how its adjoint is called, if there is one.
        call: The launch, which later ones with the same fields share.
        values: The fields and numbers of the launch.
        kept: The pinned buffers, in the order of `plan.reads` and then `plan.reads_after`.
        packing: Whether they may be packed.
    """

    plan: AdjointPlan
    call: PreparedLaunch
    values: list[Any]
    kept: list[Buffer]
    packing: bool = False

    @property
    def buffers(self) -> Iterable[Buffer]:
        """The pinned buffers."""
        return self.kept

    def release(self) -> None:
        """Let go of the old values."""
        if self.kept:
            kept, self.kept = self.kept, []  # first: Ctrl+C must not let go of it twice
            unpin(*kept, packing=self.packing)


@dataclass(slots=True)
class HostWrite:
    """Python set one element of a field, a part of it, or with None all of it, to constants.

    `values` is what it wrote, for a tape that runs its launches again, else None; one element
    stands for a whole field that was filled.
    """

    field: Field
    where: tuple[int, ...] | Window | None
    values: npt.NDArray[Any] | None

    def release(self) -> None:
        """Let go of what was written."""
        self.values = None


@dataclass(slots=True)
class HostCopy:
    """Python copied one field, or a part of one, into another."""

    target: ArrayLike
    source: ArrayLike

    def release(self) -> None:
        """Hold nothing, as ever."""


Record: TypeAlias = LaunchRecord | HostWrite | HostCopy | OpaqueRecord


def record_stage(
    plan: AdjointPlan,
    call: PreparedLaunch,
    values: list[Any],
    *,
    patching: bool = False,
    packing: bool = False,
) -> list[LaunchRecord | Patch]:
    """Launch a stage and return what must be remembered of it, in order.

    Args:
        plan: The stage.
        call: The launch.
        values: The values of its parameters.
        patching: Whether small writes may stay in memory that earlier records need.
        packing: Whether old values may be packed, which takes memory while they are read again.
    """
    kept = [values[k].storage.buffer for k in plan.reads]
    for buffer in kept:
        buffer.pins += 1
        buffer.packing_pins += packing
    patches: dict[int, Patch] = {}
    try:
        call.stages[plan.stage.number].launch(values, patches if patching else None, plan.both)
    except BaseException:
        unpin(*kept, packing=packing)
        for patch in patches.values():
            patch.release()
        raise
    if plan.adjoint is None:
        passing = [LaunchRecord(plan, call, values, [])] if plan.passing_by else []
        return [*patches.values(), *passing]
    for k in plan.reads_after:
        buffer = values[k].storage.buffer
        buffer.pins += 1
        buffer.packing_pins += packing
        kept.append(buffer)
    record = LaunchRecord(plan, call, values, kept, packing)
    if not patches:
        return [record]
    # In reverse, a field that the adjoint reads as it was before is mended before the adjoint runs.
    first = [patch for k, patch in patches.items() if k not in plan.reads]
    last = [patch for k, patch in patches.items() if k in plan.reads]
    return [*first, record, *last]


def write_again(write: HostWrite) -> None:
    """Write from Python what was written once before."""
    field, values = write.field, write.values
    assert values is not None
    buffer = field.fresh_if_pinned(keep=write.where is not None)
    if isinstance(write.where, Window):
        write.where.assign(buffer, values)
    elif write.where is not None:
        buffer.write_at(write.where, values)
    elif values.ndim == 0:
        buffer.fill(values.item())
    else:
        buffer.write(np.broadcast_to(values, (*field.shape, *shape_of(field.element))))


def copy_again(copy: HostCopy) -> None:
    """Copy one field into another as once before."""
    copy.target.write_from(copy.source)


def written_by(record: Record) -> list[Field]:
    """Return the fields that a step changed; of a launch those that any of its stages did."""
    match record:
        case LaunchRecord(call=call, values=values):
            return [values[k] for k in call.code.writes]
        case HostWrite(field=field):
            return [field]
        case HostCopy(target=target):
            return [target.base]
        case OpaqueRecord(opaque=opaque):
            return opaque.written
