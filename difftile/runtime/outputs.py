"""What takes the results of a func that Python calls, and what Python gets of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from difftile.diagnostics import LaunchError
from difftile.fields.field import Field, make
from difftile.fields.structs import StructField
from difftile.frontend.mapping import Form
from difftile.ir.types import Struct, Type, is_float, shape_of

KINDS: dict[object, str] = {
    **{kind: kind for kind in ("field", "numpy", "torch")},
    Field: "field",
}


def fields_for(form: Form, shape: tuple[int, ...], graded: bool) -> Any:
    """Return fields for what a func returns, with gradients if something that it takes has one."""
    if form is None:
        return None
    if isinstance(form, tuple):
        return tuple(_field_for(part, shape, graded) for part in form)
    return _field_for(form, shape, graded)


def _field_for(type_: Type | Struct, shape: tuple[int, ...], graded: bool) -> Field | StructField:
    if isinstance(type_, Struct):
        members = {name: _field_for(one, shape, graded) for name, one in type_.members}
        return StructField(members, type_.methods)
    made = make(type_, shape)
    return made.with_grads() if graded and is_float(type_) else made


def _as_numbers(part: Field | StructField) -> Any:
    """Return the one element of a field as a Python number, an array, or a dict of those."""
    if isinstance(part, StructField):
        return {name: _as_numbers(one) for name, one in part.members.items()}
    return part.to_numpy() if shape_of(part.element) else part[None]


def _as_tensor(part: Field | StructField) -> Any:
    if isinstance(part, StructField):
        return {name: _as_tensor(one) for name, one in part.members.items()}
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise LaunchError('return_type("torch") needs torch, which is not installed.') from None
    return torch.from_numpy(part.to_numpy())


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "number": _as_numbers,
    "numpy": lambda part: part.to_numpy(),
    "torch": _as_tensor,
}
