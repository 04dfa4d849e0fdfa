"""The members of structs among the arguments: of the language, of field elements, dataclasses."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeAlias, cast

from difftile.compile.annotations import Kind
from difftile.compile.meanings import meaning_of
from difftile.compile.methods import is_data_oriented
from difftile.fields.structs import StructElement, values_of
from difftile.ir.types import Struct
from difftile.lang.structs import methods_of, struct_values
from difftile.ops.vocabulary import FuncMeaning

Methods: TypeAlias = tuple[tuple[str, Any], ...]
StructArgument: TypeAlias = tuple[Mapping[str, object], Methods, Struct | None]


def members_of(value: object, kind: Kind) -> StructArgument | None:
    """Return the members of a struct by name, its methods, and its type where that is known.

    Args:
        value: The object; for others than structs the result is None.
        kind: The kind of the parameter. For one that is annotated with a type of structs, a dict
            may be one of these.
    """
    type_ = kind if isinstance(kind, Struct) else None
    found, methods = struct_values(value), ()
    if found is not None:
        methods = methods_of(value)
    elif isinstance(value, StructElement):
        found, struct = values_of(value)
        type_ = struct if type_ is None else type_
    elif type_ is not None and isinstance(value, dict):
        found = cast("dict[str, object]", value)
    else:
        names = _fields_of(type(value))
        if names is None or is_data_oriented(value):
            return None
        found, methods = {name: getattr(value, name) for name in names}, _methods_of(type(value))
    return found, methods if type_ is None else type_.methods, type_


@lru_cache(256)
def _fields_of(type_: type) -> tuple[str, ...] | None:
    """Return the members of a dataclass of Python; None for other types.

    Those of difftile are objects of their own kinds, but for `struct_of_fields`.
    """
    ours = type_.__module__.partition(".")[0] == "difftile"
    if not dataclasses.is_dataclass(type_) or (ours and not hasattr(type_, "struct_of_fields")):
        return None
    return tuple(one.name for one in dataclasses.fields(type_))


@lru_cache(256)
def _methods_of(type_: type) -> Methods:
    """Return the funcs among the methods of a class."""
    every = {name: one for base in reversed(type_.__mro__) for name, one in vars(base).items()}
    return tuple(
        (name, one) for name, one in every.items() if isinstance(meaning_of(one), FuncMeaning)
    )
