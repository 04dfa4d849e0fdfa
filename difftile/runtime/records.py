"""What a tape remembers of a launch or of a write from Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from difftile.fields.field import Field
from difftile.runtime.call import Call
from difftile.runtime.plan import StagePlan
from difftile.substrate.memory import Buffer


@dataclass(slots=True)
class LaunchRecord:
    """One launch of a stage.

    Args:
        plan: What was recorded of it, and how its adjoint is called.
        call: The launch, which later ones with the same fields share.
        values: The fields and numbers of the launch.
        kept: The pinned buffers, in the order of `plan.reads` and then `plan.reads_after`.
    """

    plan: StagePlan
    call: Call
    values: list[Any]
    kept: list[Buffer]


@dataclass(slots=True)
class HostWrite:
    """Python set one element of a field, or with None all of it, to constants."""

    field: Field
    index: tuple[int, ...] | None


@dataclass(slots=True)
class HostCopy:
    """Python copied one field into another."""

    target: Field
    source: Field


Record: TypeAlias = LaunchRecord | HostWrite | HostCopy


def written_by(record: Record) -> list[Field]:
    """Return the fields that a record changed."""
    match record:
        case LaunchRecord(plan=plan, values=values):
            return [values[k] for k in plan.writes]
        case HostWrite(field=field) | HostCopy(target=field):
            return [field]
