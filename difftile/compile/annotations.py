"""Annotations of parameters: what they take, and the roles `dt.In`, `dt.Out`, `dt.InOut`."""

from __future__ import annotations

from typing import Any, TypeAlias

from difftile.ir.types import Matrix, Struct, Vector

Kind: TypeAlias = str | Vector | Matrix | Struct
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
