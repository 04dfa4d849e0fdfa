"""Annotations of parameters: their types, and the roles `dt.In`, `dt.Out`, `dt.InOut`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from difftile.ir.types import Matrix, Struct, Vector


@dataclass(frozen=True, slots=True, eq=False)
class FieldOf:
    """The kind of a parameter that takes a field: `x: ti.types.ndarray(ti.math.vec3, ndim=1)`.

    Args:
        dtype: The type of the elements that an array of another library has.
    """

    dtype: Any


Kind: TypeAlias = str | Vector | Matrix | Struct | FieldOf
"""What a parameter takes: 'float', 'int', 'template', 'field', '' for anything, or a type."""


class Role:
    """The declared role of a field in a kernel, which is checked against the body."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"dt.{self.name}"


In = Role("In")
Out = Role("Out")
InOut = Role("InOut")


def template() -> None:
    """Annotate a parameter that is known while compiling, as `ti.template()` does."""


def role_of(annotation: Any) -> str | None:
    """Return the role that an annotation declares; it may be written as text."""
    if isinstance(annotation, Role):
        return annotation.name
    if isinstance(annotation, str):
        word = annotation.strip().removeprefix("dt.").removeprefix("difftile.")
        return word if word in ("In", "Out", "InOut") else None
    return None
