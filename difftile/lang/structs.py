"""Structs that Python makes, and their types: `ti.types.struct(pos=ti.math.vec3, m=ti.f32)`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from types import FunctionType, MethodType
from typing import Any, Protocol, TypeGuard, cast

from difftile.diagnostics import LaunchError, UnknownName, brief, did_you_mean
from difftile.ir.types import Struct as StructOfTypes
from difftile.ir.types import Type
from difftile.lang.compounds import fitted
from difftile.lang.dialects import has_structs, loaded
from difftile.lang.type_objects import value_type, without
from difftile.lang.values import Matrix, OfPython

_METHODS = "__struct_methods"


class Struct(metaclass=OfPython):
    """A struct with members by name, and the methods of its type.

    Args:
        members: The members, as a dict.
        named: The members by name.

    Raises:
        LaunchError: There are no members, or a name is no name of Python.
    """

    __slots__ = ("_members", "_methods")
    _members: dict[str, Any]
    _methods: dict[str, Any]

    def __init__(self, members: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        found = {**(members or {}), **named}
        methods = found.pop(_METHODS, {})
        if not found:
            raise LaunchError("a struct has its members by name: ti.Struct(a=1.0).")
        for name in found:
            if not isinstance(name, str) or not name.isidentifier():
                raise LaunchError(f"a member has a name of Python, not {brief(name)}.")
        object.__setattr__(self, "_members", {n: _member(v) for n, v in found.items()})
        object.__setattr__(self, "_methods", dict(methods))

    @property
    def keys(self) -> list[str]:
        """The names of the members."""
        return list(self._members)

    @property
    def members(self) -> list[Any]:
        """The members."""
        return list(self._members.values())

    @property
    def entries(self) -> dict[str, Any]:
        """The members by name."""
        return dict(self._members)

    @property
    def methods(self) -> dict[str, Any]:
        """The methods by name."""
        return dict(self._methods)

    @property
    def items(self) -> Any:
        """The pairs of names and members."""
        return self._members.items()

    def to_dict(self) -> dict[str, Any]:
        """Return the members by name, including members of nested structs."""
        return {n: v.to_dict() if isinstance(v, Struct) else v for n, v in self._members.items()}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._members:
            return self._members[name]
        if name in self._methods:
            return MethodType(self._methods[name], self)
        raise self._missing(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._members:
            raise self._missing(name)
        self._members[name] = _member(value)

    def _missing(self, name: str) -> UnknownName:
        known = [*self._members, *self._methods]
        hint = did_you_mean(name, known) or f"it has {', '.join(known)}."
        return UnknownName(f"A struct has no member '{name}'; {hint}", name="")

    def __getitem__(self, name: str) -> Any:
        return self._members[name]

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, name, value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self._members, *self._methods]

    def __repr__(self) -> str:
        return f"ti.Struct({', '.join(f'{n}={v!r}' for n, v in self._members.items())})"

    def __reduce__(self) -> Any:
        return Struct, ({**self._members, _METHODS: self._methods},)


def _member(value: Any) -> Any:
    """Return a member: lists of numbers are vectors, and dicts structs."""
    if isinstance(value, Mapping):
        return Struct(cast("Mapping[str, Any]", value))
    if isinstance(value, (list, tuple)):
        return Matrix(value)
    return value


class StructTypeLike(Protocol):
    """A type of structs, of ours or of a dialect."""

    members: Any
    methods: Any


class StructType:
    """A type of structs; calling it makes one.

    Args:
        members: The type of each member.
        methods: The methods by name.
    """

    __slots__ = ("members", "methods")

    def __init__(self, members: Mapping[str, Any], methods: Mapping[str, Any]) -> None:
        self.members = dict(members)
        self.methods = dict(methods)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Return a struct of the members, by place or by name; those left out are zero.

        Raises:
            LaunchError: A member is given twice, is unknown, or does not fit its type.
        """
        names = list(self.members)
        if len(args) == 1 and isinstance(args[0], Mapping) and not named:
            args, named = (), dict(cast("Mapping[str, Any]", args[0]))
        if len(args) > len(names):
            raise LaunchError(f"{self!r} has {len(names)} members, not {len(args)}.")
        given = dict(zip(names, args, strict=False))
        for name, value in named.items():
            if name in given:
                raise LaunchError(f"{self!r} is given '{name}' twice.")
            if name not in self.members:
                hint = did_you_mean(name, names) or f"its members are {', '.join(names)}."
                raise LaunchError(f"{self!r} has no member '{name}'; {hint}")
            given[name] = value
        made = {
            name: _fitting(given.get(name, _NONE), type_, name)
            for name, type_ in self.members.items()
        }
        return Struct(made, **{_METHODS: self.methods})

    def __getattr__(self, name: str) -> Any:
        raise without("A type of structs", name)

    def __repr__(self) -> str:
        return f"ti.types.struct({', '.join(f'{n}={t}' for n, t in self.members.items())})"


def is_struct_type(value: object) -> TypeGuard[StructTypeLike]:
    """Tell whether an object is a type of structs, of ours or of a dialect."""
    return isinstance(value, StructType) or any(
        isinstance(value, one.struct_type) for one in loaded()
    )


def struct_values(value: Any) -> dict[str, Any] | None:
    """Return the members of a struct made in Python by name; None for other objects."""
    if isinstance(value, Struct) or has_structs(cast("type[Any]", type(value))):
        return dict(value.entries)
    return None


def methods_of(value: Any) -> tuple[tuple[str, Any], ...]:
    """Return the methods of a struct type, or of a struct made in Python, by name."""
    methods: dict[str, Any] = getattr(value, "_Struct__methods", None) or value.methods
    return tuple(methods.items())


def member_types(value: StructTypeLike) -> dict[str, Any]:
    """Return the type of each member of a struct type."""
    return dict(value.members)


def struct_of(value: StructTypeLike) -> StructOfTypes:
    """Return a type of structs as one of the representation."""
    members: list[tuple[str, Type | StructOfTypes]] = []
    for name, type_ in value.members.items():
        found = struct_of(type_) if is_struct_type(type_) else value_type(type_)
        assert found is not None, f"{name}: {type_}"
        members.append((name, found))
    return StructOfTypes(tuple(members), methods_of(value))


_NONE: Any = object()


def _fitting(value: Any, type_: Any, name: str) -> Any:
    """Return a value as a member of a type; a float member is as wide as its value."""
    if is_struct_type(type_):
        own = StructType(type_.members, type_.methods)
        if value is _NONE:
            return own()
        given = dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else None
        members = struct_values(value) if given is None else given
        if members is None:
            raise LaunchError(
                f"'{name}' is a struct of {', '.join(type_.members)}, not {brief(value)}."
            )
        return own(**members)
    found = value_type(type_)
    assert found is not None
    return fitted(0 if value is _NONE else value, found, name)


def struct(**members: Any) -> StructType:
    """Return the type of structs with some members: `ti.types.struct(pos=ti.math.vec3, m=ti.f32)`.

    Args:
        members: The type of each member; `__struct_methods` is a dict of methods.

    Raises:
        LaunchError: There are no members, or one has no type.
    """
    methods: dict[str, Any] = members.pop(_METHODS, {})
    return _struct_type(members, methods)


def _struct_type(members: Mapping[str, Any], methods: Mapping[str, Any]) -> StructType:
    if not members:
        raise LaunchError("a type of structs has its members by name: ti.types.struct(a=ti.f32).")
    for name, type_ in members.items():
        if value_type(type_) is None and not is_struct_type(type_):
            raise LaunchError(
                f"'{name}' has a type such as ti.f32 or ti.math.vec3, not {brief(type_)}."
            )
    return StructType(members, methods)


def dataclass(cls: type) -> StructType:
    """Return the type of structs with the annotated members and the functions of a class.

    Raises:
        LaunchError: There are no members, or one has no type.
    """
    members = inspect.get_annotations(cls, eval_str=True)
    methods = {
        name: one
        for name, one in vars(cls).items()
        if not name.startswith("__") and (isinstance(one, FunctionType) or callable(one))
    }
    return _struct_type(members, methods)
