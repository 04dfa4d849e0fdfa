"""Launching stages with the tangents of their fields."""

from __future__ import annotations

from collections.abc import Mapping

from difftile.compile.arguments import Arguments, field_at
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import Stage, Tangent
from difftile.fields.field import Field
from difftile.ir.derived import Role, Same
from difftile.ir.nodes import Array
from difftile.launch.binding import Binding, Environment, Live, Slot


class _WithTangents(Environment):
    """Tangents of fields, by position; they are updated in place as the fields are."""

    def __init__(self, code: Specialisation, values: Arguments, dots: Mapping[int, Field]) -> None:
        super().__init__(code, values)
        self._dots = dots

    def dot(self, of: Role) -> Slot:
        assert isinstance(of, Same)
        return Live(self._dots[self.code.position[of.param]])


def push_tangents(code: Specialisation, values: Arguments, dots: Mapping[int, Field]) -> None:
    """Launch a kernel and push tangents of its fields through the launch.

    Args:
        code: The kernel.
        values: Its arguments.
        dots: The tangents by position of the field: from before the launch, and updated to the
            tangents after it.
    """
    for stage in code.stages:
        push_stage(code, stage, values, dots)


def push_stage(
    code: Specialisation, stage: Stage, values: Arguments, dots: Mapping[int, Field]
) -> None:
    """Launch one stage of a kernel and push tangents; see `push_tangents`."""
    wanted = frozenset(p for k in dots if isinstance(p := code.params[k], Array))
    tangent = stage.code(Tangent(wanted))
    assert tangent is not None
    code.check_passing(stage, wanted, values)
    for array in stage.written:
        k = code.position[array]
        make_writable(field_at(values, k))
        if k in dots:
            make_writable(dots[k])
    Binding(tangent, _WithTangents(code, values, dots)).launch(values)


def make_writable(target: Field) -> None:
    """Move a field whose contents a record still needs, so that it can be written."""
    if target.storage.buffer.pins:
        target.storage.renew(copy=True)
