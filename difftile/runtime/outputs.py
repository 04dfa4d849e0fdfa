"""The fields that take the results of a func which Python calls, and their conversions."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeAlias

from difftile.diagnostics import LaunchError
from difftile.fields.array_kinds import Make
from difftile.fields.field import Field, make
from difftile.fields.numbers import Number
from difftile.fields.split import Split
from difftile.fields.structs import Member, StructField
from difftile.frontend.mapping import Form
from difftile.ir.types import Struct, Type, is_float, shape_of

KINDS: dict[object, str] = {
    **{kind: kind for kind in ("field", "numpy", "torch")},
    Field: "field",
}


Result: TypeAlias = "Member | tuple[Member, ...] | None"
"""The fields of the results of a func: one, several, or none."""
Converted: TypeAlias = Any
"""The contents of a field for Python: a number, an array, a tensor, or a dict of those."""


def fields_for(form: Form, shape: tuple[int, ...], graded: bool, split: Split | None) -> Result:
    """Return fields for the results of a func.

    Args:
        form: The types of the results.
        shape: The shape of the call.
        graded: Whether they have gradients, as one of the arguments has one.
        split: How they are divided among ranks, as the arguments are.
    """
    if form is None:
        return None
    if isinstance(form, tuple):
        return tuple(_field_for(part, shape, graded, split) for part in form)
    return _field_for(form, shape, graded, split)


def _field_for(
    type_: Type | Struct, shape: tuple[int, ...], graded: bool, split: Split | None
) -> Member:
    if isinstance(type_, Struct):
        members = {name: _field_for(one, shape, graded, split) for name, one in type_.members}
        return StructField(members, type_.methods)
    made = make(type_, shape)
    made.storage.split = split
    return made.with_grads() if graded and is_float(type_) else made


def _as_numbers(part: Member) -> Converted:
    """Return the one element of a field as a Python number, an array, or a dict of these."""
    if isinstance(part, StructField):
        return {name: _as_numbers(one) for name, one in part.members.items()}
    if shape_of(part.element):
        return part.to_numpy()
    number = part[None]
    if isinstance(number, Number):
        number.origin.cell = part.base  # has no other writer
    return number


def _as_tensor(part: Member) -> Converted:
    if isinstance(part, StructField):
        return {name: _as_tensor(one) for name, one in part.members.items()}
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise LaunchError('return_type("torch") needs torch, which is not installed.') from None
    return torch.from_numpy(part.to_numpy())


def as_arrays(like: Make) -> Callable[[Member], Converted]:
    """Return a conversion into arrays of a library, in dicts for structs."""

    def convert(part: Member) -> Converted:
        if isinstance(part, StructField):
            return {name: convert(one) for name, one in part.members.items()}
        return like(part.to_numpy())

    return convert


CONVERSIONS: dict[str, Callable[[Member], Converted]] = {
    "number": _as_numbers,
    "numpy": lambda part: part.to_numpy(),
    "torch": _as_tensor,
}
