"""Launching the tangent programs of a kernel's stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from difftile.fields.field import Field
from difftile.ir.nodes import Array
from difftile.launch.specialisation import Specialisation, arguments, make_writable


def push_tangents(code: Specialisation, values: list[Any], dots: Mapping[int, Field]) -> None:
    """Launch a kernel and push tangents of its fields through the launch.

    Args:
        code: The kernel.
        values: The values of its parameters.
        dots: The memory of the tangents, by position of the parameter; it holds those from before
            the launch, and then those from after it.
    """
    wanted = frozenset(p for k in dots if isinstance(p := code.params[k], Array))
    for launch in code.launches:
        compiled, of = launch.stage.tangent(wanted)
        for array in launch.stage.written:
            make_writable(values[code.position[array]])
        fields = [
            dots[code.position[of[p]]]
            if isinstance(p, Array) and p in of
            else values[code.position[p]]
            for p in compiled.params
        ]
        compiled.launch(arguments(range(len(fields)), fields))
