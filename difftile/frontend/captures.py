"""Names from outside a kernel: found while lowering, and looked up again at each launch.

A captured float is passed at run time, so it is never stale. A compiled kernel is specialised on
captured integers, bools, texts, functions and types; a captured field is passed like a parameter.
Only the elements of a container that the kernel uses are looked up.
"""

from __future__ import annotations

import builtins
from collections.abc import Hashable, Mapping
from dataclasses import replace
from types import FunctionType, MethodType
from typing import Any, cast

import numpy as np

from difftile.ir.nodes import Array, Var
from difftile.ir.types import Scalar
from difftile.ops.vocabulary import PythonFunction, StructMeaning, is_lambda
from difftile.records import dataclass


class Missing:
    """The value of a name that no longer exists."""


MISSING = Missing()
_NONE: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Path:
    """The way to a captured object, so that each launch can look there again.

    Args:
        function: The function whose globals and closure hold the first name.
        steps: The name, then attribute names and subscripts, each marked.
    """

    function: PythonFunction
    steps: tuple[tuple[str, Any], ...]

    def then(self, kind: str, key: Any) -> Path:
        """Return the path one step further."""
        return replace(self, steps=(*self.steps, (kind, key)))

    @property
    def identifier(self) -> str:
        """The path as a name for generated code: `gravity`, `scene_mass`, `weights_0`."""
        first, *_ = self.steps
        words = [str(key) for kind, key in self.steps if kind == "item"]
        last = next(key for kind, key in reversed(self.steps) if kind != "item")
        name = "_".join([str(last if words else self.steps[-1][1]), *words])
        return name if name.isidentifier() else str(first[1])


@dataclass(frozen=True, slots=True)
class Capture:
    """Something a kernel takes from outside.

    Args:
        path: Where it is found.
        param: The parameter it is passed in; None if the kernel is specialised on it.
        key: The key of the specialisation, when `param` is None.
        same_as: The array of the parameter that was this same field.
    """

    path: Path
    param: Array | Var | None
    key: Hashable = None
    same_as: Array | None = None


class WiderField(Exception):
    """A captured field has wider floats than the type that literals were given.

    Attributes:
        scalar: Its float type: lowering has to begin again with literals of this one.
    """

    def __init__(self, scalar: Scalar) -> None:
        super().__init__(scalar)
        self.scalar = scalar


class SameObject:
    """A key that is equal to one object only; the object stays alive, so its id stays its own."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameObject) and self.value is other.value


def look_up(path: Path, arguments: Mapping[str, Any] = _NONE) -> Any:
    """Return the object a path leads to now, or MISSING, given the arguments of a launch."""
    value: Any = MISSING
    for kind, key in path.steps:
        if kind == "name":
            value = _by_name(path, key)
        elif kind == "argument":
            value = arguments.get(key, MISSING)
        elif kind == "default":
            value = default_values(path.function).get(key, MISSING)
        elif kind == "attribute":
            value = getattr(value, key, MISSING)
        elif kind == "meaning":
            value = key(value)
        else:
            try:
                value = len(value) if kind == "length" else value[key]
            except (LookupError, TypeError):
                value = MISSING
        if value is MISSING:
            return MISSING
    return value


def _by_name(path: Path, name: str) -> Any:
    function = path.function
    free = function.__code__.co_freevars
    if name in free and function.__closure__ is not None:
        try:
            return function.__closure__[free.index(name)].cell_contents
        except ValueError:  # an empty cell
            return MISSING
    if name in function.__globals__:
        return function.__globals__[name]
    return getattr(builtins, name, MISSING)


def default_values(function: PythonFunction) -> dict[str, Any]:
    """Return the default of each parameter that has one."""
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    # From the end; other libraries set more defaults than the code has parameters.
    values = dict(zip(reversed(names), reversed(defaults), strict=False))
    return values | (function.__kwdefaults__ or {})


def key_of(value: Any) -> Hashable:
    """Return the key by which a kernel is specialised on an object."""
    if isinstance(value, (bool, int, float, str, type(None))):
        return (type(value).__name__, value)
    if isinstance(value, StructMeaning):
        return value
    if isinstance(value, FunctionType) and is_lambda(value):
        if not (value.__closure__ or value.__defaults__ or value.__kwdefaults__):
            # Its code is all there is to it: evaluated again it is the same function.
            return ("lambda", SameObject(value.__code__), SameObject(value.__globals__))
        return SameObject(value)
    if isinstance(value, MethodType):  # a new object at each access
        return ("method", SameObject(value.__func__))
    if isinstance(value, np.generic):
        return key_of(plain(value))
    if isinstance(value, tuple):
        return tuple(key_of(part) for part in cast(tuple[Any, ...], value))
    return SameObject(value)


def plain(value: Any, path: Path | None = None) -> Any:
    """Return a number of NumPy, or one with a derivative, as a plain one; all else as it is.

    Args:
        value: The object.
        path: Where a kernel takes it from, if it does.
    """
    if isinstance(value, np.generic):
        return cast(Any, value).item()
    if not hasattr(type(value), "_is_difftile_number"):
        return value
    if path is None:
        return float(value)
    what = f"the number '{path.identifier}' that a kernel takes from outside"
    return float(value.taken(what, "pass it to the kernel as an argument"))
