"""Launching stages with the tangents of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from difftile.compile.arguments import Arguments, field_at
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import Stage
from difftile.fields.field import Field
from difftile.ir.derived import Dot, Same, part_of
from difftile.ir.nodes import Array
from difftile.launch.binding import Binding, LaunchEnvironment, Live, Slot

Tangents: TypeAlias = Mapping[int, Mapping[int, Field]]
"""The parts of hyper-dual numbers but their values (`part_of`), each by position of the field."""


class _WithTangents(LaunchEnvironment):
    """Tangents of fields, by part and position; they are updated in place as the fields are."""

    def __init__(self, code: Specialisation, values: Arguments, dots: Tangents) -> None:
        super().__init__(code, values)
        self._dots = dots

    def dot(self, role: Dot) -> Slot:
        of, part = part_of(role)
        assert isinstance(of, Same)
        return Live(self._dots[part][self.code.position[of.param]])


def push_tangents(code: Specialisation, values: Arguments, dots: Mapping[int, Field]) -> None:
    """Launch a kernel and push tangents of its fields through the launch.

    Args:
        code: The kernel.
        values: Its arguments.
        dots: The tangents by position of the field: from before the launch, and updated to the
            tangents after it.
    """
    for stage in code.stages:
        push_stage(code, stage, values, {1: dots})


def push_stage(code: Specialisation, stage: Stage, values: Arguments, dots: Tangents) -> None:
    """Launch one stage of a kernel and push tangents along one or several directions."""
    wanted = frozenset(p for k in dots[1] if isinstance(p := code.params[k], Array))
    levels = max(dots).bit_length()
    tangent = stage.code(
        stage.with_tangents(
            None, levels, lambda role: isinstance(role, Same) and role.param in wanted, wanted
        )
    )
    assert tangent is not None
    code.check_passing(stage, wanted, values)
    for array in stage.written:
        k = code.position[array]
        make_writable(field_at(values, k))
        for each in dots.values():
            if k in each:
                make_writable(each[k])
    Binding(tangent, _WithTangents(code, values, dots)).launch(values)


def make_writable(target: Field) -> None:
    """Move a field whose contents a record still needs, so that it can be written."""
    if target.storage.buffer.pins:
        target.storage.renew(copy=True)
