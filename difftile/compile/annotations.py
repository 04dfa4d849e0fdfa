"""Annotations of parameters: their types, and the roles `dt.In`, `dt.Out`, `dt.InOut`."""

from __future__ import annotations

from typing import Any, TypeAlias

from difftile.diagnostics import LaunchError, brief
from difftile.fields.array_like import ArrayLike
from difftile.ir.types import (
    BOOL,
    FLOATS,
    Matrix,
    Scalar,
    Struct,
    Vector,
    integer_limits,
    scalar_of,
)
from difftile.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class FieldOf:
    """The kind of a parameter that takes a field: `x: ti.types.ndarray(ti.math.vec3, ndim=1)`.

    Args:
        dtype: The type of the elements that an array of another library has.
    """

    dtype: Any


Kind: TypeAlias = str | Scalar | Vector | Matrix | Struct | FieldOf
"""What a parameter takes: 'float', 'template', 'field', '' for anything, or a type.

A type of numbers is one of integers: floats have the float type of the kernel."""


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


def kind_of_number(scalar: Scalar) -> Kind:
    """Return the kind of a parameter, or of a member of a struct, that is declared as a number."""
    if scalar in FLOATS:
        return "float"
    return "" if scalar == BOOL else scalar


def check_element(kernel: object, name: str, kind: Kind, field: ArrayLike) -> None:
    """Check that a parameter has room for each integer of a field that is read as a number.

    Args:
        kernel: The kernel, for errors.
        name: The parameter, as it is written.
        kind: Its kind.
        field: The field.

    Raises:
        LaunchError: The field has a wider type.
    """
    element = scalar_of(field.element)
    if not isinstance(kind, Scalar) or element in (*FLOATS, BOOL):
        return
    (low, high), (least, most) = integer_limits(kind), integer_limits(element)
    if least < low or most > high:
        raise LaunchError(
            f"{kernel!r}: '{name}' is a ti.{kind}, and {brief(field)} may hold other integers; "
            f"annotate it as ti.{element}."
        )
