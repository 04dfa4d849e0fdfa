"""The state of Python that the body of a loop may depend on, as a value that can be compared.

A step repeats an earlier one if it finds the same state. Fields are compared by identity, since
Python does not see their contents; numbers, texts, containers and objects by value, so that a
counter or a list that grows is noticed. This is not a proof: files, clocks, objects of extension
modules and deeply nested values are not inspected.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any, TypeAlias, cast

import numpy as np

from difftile.compile.methods import BoundMethod
from difftile.fields.array_like import ArrayLike
from difftile.fields.step_number import StepNumber, written_as

State: TypeAlias = object

_DEPTH = 5
_MOST = 500
_MOST_BYTES = 4_096
_LIBRARIES = {"difftile", "taichi", "quadrants", "numpy", "scipy"}


@dataclass(frozen=True, slots=True)
class _Same:
    """An object that is compared by identity, and kept alive so that its id is not reused."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def state_of_frame(frame: FrameType) -> State:
    """Return the state that the code of a frame may depend on: its names and their values."""
    outside, used = frame.f_globals, frame.f_code.co_names
    names: dict[str, object] = {f"global {name}": outside[name] for name in used if name in outside}
    if frame.f_locals is not outside:
        names |= frame.f_locals
    return _Reader().read(names)


def state_of_call(function: object) -> State:
    """Return the state that a function may depend on: its closure, and the names it uses."""
    return _Reader().read(function)


class _Reader:
    """Reads objects as states, each only once and no more than so many."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._kept: list[object] = []

    def read(self, value: Any, depth: int = 0) -> State:
        """Return an object as a state."""
        kind = cast("type[Any]", type(value))
        inside = _INSIDE[kind] if kind in _INSIDE else _inside_of(kind)
        if inside is None:
            return (kind, value)
        if inside in _LEAVES:
            return inside(value)
        if id(value) in self._seen:
            return ("seen", self._seen[id(value)])
        if depth > _DEPTH or len(self._seen) > _MOST:
            return _Same(value)
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)  # so that no other object is given its identity
        return self._parts(value, inside(value), depth + 1)

    def _parts(self, value: object, parts: object, depth: int) -> State:
        if isinstance(parts, dict):
            named = cast("dict[object, object]", parts)
            return (
                type(value),
                [(key if isinstance(key, str) else self.read(key, depth)) for key in named],
                [self.read(one, depth) for one in named.values()],
            )
        if isinstance(parts, list):
            return (type(value), [self.read(one, depth) for one in cast("list[object]", parts)])
        return parts


def _few(value: Any) -> object:
    """Return a container if it is not too large to be compared."""
    if len(value) > _MOST:
        return (_Same(value), len(value))
    return cast("object", value) if isinstance(value, dict) else list(value)


def _of_array(array: Any) -> object:
    if array.nbytes > _MOST_BYTES or array.dtype.hasobject:
        return _Same(array)
    return (array.dtype.str, array.shape, array.tobytes())


def _of_function(function: FunctionType) -> object:
    """Return the code, defaults and closure of a function, and the names of its module it uses."""
    if _is_library(function.__module__):
        return _Same(function)
    code, cells = function.__code__, function.__closure__ or ()
    held = dict(zip(code.co_freevars, map(_content, cells), strict=True))
    outside = function.__globals__
    names = {f"global {name}": outside[name] for name in code.co_names if name in outside}
    return {"code": code, "defaults": function.__defaults__, **held, **names}


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _attributes(value: Any) -> object:
    """Return the attributes of an object of a class of the user."""
    if _is_library(type(value).__module__):
        return _Same(value)
    held = getattr(value, "__dict__", None)
    slots = [name for base in type(value).__mro__ for name in _slots(base)]
    if held is None and not slots:
        return _Same(value)
    found: dict[str, object] = {slot: getattr(value, slot, None) for slot in slots}
    return found | cast("dict[str, object]", held or {})


def _slots(base: type) -> list[str]:
    """Return the names of the slots that a class adds, as attributes."""
    given: Any = base.__dict__.get("__slots__", ())
    names: list[str] = [given] if isinstance(given, str) else list(given)
    own = base.__name__.lstrip("_")
    private = [name.startswith("__") and not name.endswith("__") for name in names]
    return [f"_{own}{n}" if hides else n for n, hides in zip(names, private, strict=True)]


def _is_library(module: object) -> bool:
    """Tell whether a module is a library, which holds no state of a simulation."""
    first = str(module).partition(".")[0]
    return first in _LIBRARIES or first in sys.stdlib_module_names


def _of_field(field: ArrayLike) -> State:
    return _Same(field) if field.window is None else (field.base, field.window)


def _of_number(number: Any) -> State:
    return (
        cast("type[Any]", type(number)),
        repr(number),
    )  # which tells zeros apart, and finds NaN equal to NaN


_KINDS: dict[Any, Callable[[Any], Any] | None] = {
    **dict.fromkeys((bool, int, str, bytes, type(None)), None),
    **dict.fromkeys((float, complex, np.generic), _of_number),
    StepNumber: written_as,
    ArrayLike: _of_field,
    **dict.fromkeys((type, ModuleType, CodeType, BuiltinFunctionType), _Same),
    **dict.fromkeys((list, tuple, deque, set, frozenset, dict), _few),
    np.ndarray: _of_array,
    FunctionType: _of_function,
    MethodType: lambda method: [method.__self__, method.__func__],
    BoundMethod: lambda method: [method.instance, method.unbound],
    functools.partial: lambda call: [call.func, list(call.args), call.keywords],
    Iterator: lambda iterator: (_Same(iterator), operator.length_hint(iterator, -1)),
}
"""How objects of a class are read: as a state, or as the objects inside; None for those that are
states themselves."""
_LEAVES = {_of_number, written_as, _of_field, _Same}
_INSIDE: dict[type[Any], Callable[[Any], Any] | None] = {}


def _inside_of(kind: type[Any]) -> Callable[[Any], Any] | None:
    """Return how objects of some class are read, and remember it."""
    found = next((key for key in _KINDS if issubclass(kind, key)), None)
    _INSIDE[kind] = _attributes if found is None else _KINDS[found]
    return _INSIDE[kind]
