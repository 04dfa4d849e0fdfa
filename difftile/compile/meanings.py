"""The meanings of Python objects in a kernel: Taichi's names, fields, funcs."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from functools import lru_cache
from types import FunctionType, MethodType
from typing import Any, cast

from difftile.compile import language_functions as language
from difftile.compile.func import Func
from difftile.compile.generated import rand, randint, randn
from difftile.compile.rules import bwd_diff, fwd_diff, with_foreign_rules
from difftile.compile.surrogates import BLENDED, SurrogateIf
from difftile.fields.field import Field
from difftile.fields.structs import StructField
from difftile.fields.view import View
from difftile.lang.meanings import meaning_of as language_meaning
from difftile.ops.table import NAMED, OPS
from difftile.ops.vocabulary import (
    ClassName,
    Compared,
    DerivativeOf,
    FieldMeaning,
    FuncMeaning,
    Meaning,
    OpName,
    Refused,
    Special,
    StructMeaning,
    ViewMeaning,
    is_lambda,
)


def _function(name: str) -> object:
    """Return the function of Python of a name such as `dt.erf`: as a rule the meaning itself."""
    return getattr(language, name.removeprefix("dt."), None) or OPS[NAMED[name]].numpy


_SPECIAL = (
    *(rand, randn, randint),
    *(bwd_diff, fwd_diff),
    *(language.logsumexp, language.solve_triangular, language.stop_grad),
    language.exact,
)
_OWN: dict[object, Meaning] = {
    **{_function(name): OpName(op) for name, op in NAMED.items() if name.startswith("dt.")},
    **{one: Special(one.__name__) for one in _SPECIAL},
}


def meaning_of(value: object) -> Meaning | None:
    """Return the meaning of an object, or None if it is just an object."""
    if isinstance(value, Field):
        return field_meaning(value)
    if isinstance(value, View):
        return ViewMeaning(field_meaning(value.base), value.kind)
    if isinstance(value, StructField):
        return StructMeaning(tuple(value.members), value.methods)
    if isinstance(value, MethodType):
        function = meaning_of(value.__func__)
        return replace(function, bound=True) if isinstance(function, FuncMeaning) else function
    if isinstance(value, Func):
        return FuncMeaning(value.function, rules=value.rules)
    if isinstance(value, DerivativeOf):
        return value
    if isinstance(value, SurrogateIf):
        return Compared(BLENDED)
    own = _OWN.get(value) if isinstance(value, FunctionType) else None
    if own is not None:
        return own
    if isinstance(value, FunctionType) and is_lambda(value):
        return FuncMeaning(value)  # a lambda cannot be decorated
    kernel = getattr(value, "_is_difftile_kernel", False)
    if kernel:
        return Refused("A kernel", "kernels are launched from Python; make it a '@dt.func'.")
    meaning = language_meaning(value)
    if meaning is None and isinstance(value, type):
        return _class_meaning(value)
    return with_foreign_rules(meaning) if isinstance(meaning, FuncMeaning) else meaning


@lru_cache(256)
def names_of_class(type_: type) -> tuple[str, ...] | None:
    """Return the members of a dataclass of Python; None for other types.

    Those of difftile are objects of their own kinds, but for `struct_of_fields`.
    """
    ours = type_.__module__.partition(".")[0] == "difftile"
    if not dataclasses.is_dataclass(type_) or (ours and not hasattr(type_, "struct_of_fields")):
        return None
    return tuple(one.name for one in dataclasses.fields(type_))


@lru_cache(256)
def methods_of_class(type_: type) -> tuple[tuple[str, Any], ...]:
    """Return the funcs among the methods of a class, by name."""
    every = {name: one for base in reversed(type_.__mro__) for name, one in vars(base).items()}
    return tuple(
        (name, one) for name, one in every.items() if isinstance(meaning_of(one), FuncMeaning)
    )


@lru_cache(256)
def _class_meaning(type_: type) -> ClassName | None:
    """Return the meaning of a dataclass of Python; None for other types."""
    members = names_of_class(type_)
    if members is None:
        return None
    fields, cls, reason = dataclasses.fields(type_), cast("Any", type_), ""
    if hasattr(type_, "__post_init__"):
        reason = "it has '__post_init__'"
    elif cls.__init__.__code__.co_filename != "<string>":  # `dataclass` has written all others
        reason = "it has an '__init__' of its own"
    elif not all(one.init for one in fields):
        reason = "'__init__' does not take all of its members"
    defaults = tuple(
        (one.name, one.default) for one in fields if one.default is not dataclasses.MISSING
    )
    return ClassName(members, defaults, methods_of_class(type_), reason)


def field_meaning(field: Field) -> FieldMeaning:
    """Return the meaning of a field: its memory under its shape."""
    memory = id(field.storage)
    return FieldMeaning(field.type, (memory, field.shape), memory)
