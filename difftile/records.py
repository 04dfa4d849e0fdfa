"""Dataclasses whose methods are compiled when they are first looked up.

`dataclasses.dataclass` compiles up to six functions for each class when its module is imported,
which was half of the time to import this library: some 300 classes are loaded by every program, and
most are not used by it. The classes made here have the same methods, fields and signatures.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, repr=True):
        """Make a class a dataclass, as `dataclasses.dataclass` does.

        Only the keywords that this library needs are known, and default factories of arguments.
        """

        def decorated(cls):
            return _completed(cls, frozen, slots, eq, repr)

        return decorated if cls is None else decorated(cls)


class _Late:
    """A method that takes its own place in its class when it is first looked up."""

    def __init__(self, owner: type, name: str, compiled: Callable[[type], Any]) -> None:
        self._owner = owner
        self._name = name
        self._compiled = compiled

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        method = self._compiled(self._owner)
        method.__qualname__ = f"{self._owner.__qualname__}.{self._name}"
        setattr(self._owner, self._name, method)
        return method.__get__(instance, owner)


def _completed(cls: type, frozen: bool, slots: bool, eq: bool, repr_: bool) -> type:
    given = vars(cls).keys()
    cls.__doc__ = cls.__doc__ or cls.__name__  # not from a signature, which takes long
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    made.__dataclass_params__.frozen = frozen
    late: dict[str, Callable[[type], Any]] = {"__init__": _init}
    ready: dict[str, Any] = {}
    if repr_:
        ready["__repr__"] = _repr
    if eq:
        late["__eq__"] = _eq
        if frozen:
            late["__hash__"] = _hash
        else:
            ready["__hash__"] = None
    if frozen:
        ready |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        if slots:
            ready |= {"__getstate__": _state, "__setstate__": _restore}
    for name, method in ready.items():
        if name not in given:
            setattr(made, name, method)
    for name, compiled in late.items():
        if name not in given:
            setattr(made, name, _Late(made, name, compiled))
    return made


def _init(cls: Any) -> Any:
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    arguments, body = ["self"], ["pass"]
    for one in fields(cls):
        value = one.name
        if one.default_factory is not MISSING:
            names[f"_new_{one.name}"] = one.default_factory
            value = f"_new_{one.name}()"
            if one.init:
                arguments.append(f"{one.name}=_missing")
                value = f"{value} if {one.name} is _missing else {one.name}"
        elif one.default is not MISSING:
            names[f"_default_{one.name}"] = one.default
            value = f"_default_{one.name}"
            if one.init:
                arguments.append(f"{one.name}={value}")
                value = one.name
        elif one.init:
            arguments.append(one.name)
        else:
            continue
        if cls.__dataclass_params__.frozen:
            body.append(f"_set(self, {one.name!r}, {value})")
        else:
            body.append(f"self.{one.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    return _function("__init__", arguments, body, names)


def _eq(cls: Any) -> Any:
    compared = [one for one in fields(cls) if one.compare]
    body = [
        "if other.__class__ is self.__class__:",
        f"    return {_values('self', compared)} == {_values('other', compared)}",
        "return NotImplemented",
    ]
    return _function("__eq__", ["self", "other"], body, {})


def _hash(cls: Any) -> Any:
    hashed = [one for one in fields(cls) if (one.compare if one.hash is None else one.hash)]
    return _function("__hash__", ["self"], [f"return hash({_values('self', hashed)})"], {})


def _values(of: str, wanted: Iterable[Field[Any]]) -> str:
    return "(" + "".join(f"{of}.{one.name}," for one in wanted) + ")"


def _function(
    name: str, arguments: Sequence[str], body: Sequence[str], names: dict[str, Any]
) -> Any:
    lines = "\n ".join(body)
    exec(f"def {name}({', '.join(arguments)}):\n {lines}", names)
    return names[name]


# The rest is the same for all classes.


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


# Without these, the default would set attributes of a frozen object when it is copied.


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)
