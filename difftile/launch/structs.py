"""The members of structs among the arguments: of the language, of field elements, dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from difftile.compile.annotations import Kind
from difftile.compile.meanings import methods_of_class, names_of_class
from difftile.compile.methods import is_data_oriented
from difftile.fields.structs import StructElement, values_of
from difftile.ir.types import Struct
from difftile.lang.structs import methods_of, struct_values

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
        names = names_of_class(type(value))
        if names is None or is_data_oriented(value):
            return None
        found = {name: getattr(value, name) for name in names}
        methods = methods_of_class(type(value))
    return found, methods if type_ is None else type_.methods, type_
