"""Launching the tangent programs of a kernel's stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from difftile.compile.specialisation import Specialisation, arguments, make_writable
from difftile.compile.stage import Stage
from difftile.fields.field import Field
from difftile.ir.nodes import Array


def push_tangents(code: Specialisation, values: list[Any], dots: Mapping[int, Field]) -> None:
    """Launch a kernel and push tangents of its fields through the launch.

    Args:
        code: The kernel.
        values: The values of its parameters.
        dots: The memory of the tangents, by position of the parameter; it holds those from before
            the launch, and then those from after it.
    """
    for launch in code.launches:
        push_stage(code, launch.stage, values, dots)


def push_stage(
    code: Specialisation, stage: Stage, values: list[Any], dots: Mapping[int, Field]
) -> None:
    """Launch one stage of a kernel and push tangents; see `push_tangents`."""
    wanted = frozenset(p for k in dots if isinstance(p := code.params[k], Array))
    tangent = stage.tangent(wanted)
    code.check_passing(stage, wanted, values)
    for array in stage.written:
        k = code.position[array]
        make_writable(values[k])
        if k in dots:
            make_writable(dots[k])
    fields = [
        dots[code.position[tangent.of[p]]]
        if isinstance(p, Array) and p in tangent.of
        else values[code.position[p]]
        for p in tangent.code.params
    ]
    tangent.code.launch(arguments(range(len(fields)), fields))
