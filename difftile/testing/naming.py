"""Names of the fields that a function can reach, as its author writes them: `o.a`, `L[0]`.

The names are only for reports: a field that is not found here is checked like any other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.rows import Rows
from difftile.fields.storage import Storage
from difftile.fields.structs import StructField
from difftile.frontend.captures import default_values

Named = tuple[str, Any]

_MOST = 20_000  # objects; the names of further ones are not found
_PLAIN = (str, bytes, int, float, complex, type(None), np.ndarray, np.generic, BuiltinFunctionType)
_LIBRARY = "difftile"  # its objects show only public attributes
_FOREIGN = frozenset(
    ("builtins", "numpy", "taichi", "quadrants", "typing", "collections", "abc", "functools")
)


class FieldNames:
    """The names of fields, and of the objects that hold them.

    Args:
        roots: The objects to start from, by name; '' for a function, whose variables have names of
            their own.
    """

    def __init__(self, roots: Iterable[Named]) -> None:
        self._by_object: dict[int, str] = {}
        self._by_storage: dict[Storage, str] = {}
        self._found: list[
            Any
        ] = []  # kept alive, since identities are unique only among living objects
        for name, value in _reached(roots):
            self._found.append(value)
            if name:
                self._by_object.setdefault(id(value), name)
                if isinstance(value, Field):
                    self._by_storage.setdefault(value.storage, name)

    def of(self, value: Any) -> str:
        """Return the name of an object, or of the field that it is a view of, or ''."""
        name = self._by_object.get(id(value), "")
        if name or not isinstance(value, ArrayLike):
            return name
        base = self._by_storage.get(value.base.storage, "")
        return f"{base} (part)" if base and value.window is not None else base


def fields_in(name: str, value: Any) -> Iterator[tuple[str, ArrayLike]]:
    """Yield the fields that an object holds, with their names, each once."""
    for found, one in _reached([(name, value)]):
        if isinstance(one, ArrayLike):
            yield found, one


def _reached(roots: Iterable[Named]) -> Iterator[Named]:
    """Yield the objects that roots lead to, nearest first."""
    queue, seen = deque(roots), set[int]()
    while queue and len(seen) < _MOST:
        name, value = queue.popleft()
        if id(value) in seen or isinstance(value, _PLAIN):
            continue
        seen.add(id(value))
        yield name, value
        look = next((look for kind, look in _KINDS.items() if isinstance(value, kind)), _of_object)
        queue.extend(look(name, value))


def _of_function(name: str, value: FunctionType) -> Iterator[Named]:
    """Yield the variables that a function, or one nested in it, takes from outside."""
    if _home(value) in (_LIBRARY, *_FOREIGN):
        return
    code, names = value.__code__, dict.fromkeys(_names_in(value.__code__))
    variables = {one: value.__globals__[one] for one in names if one in value.__globals__}
    for variable, cell in zip(code.co_freevars, value.__closure__ or (), strict=True):
        with suppress(ValueError):  # not assigned yet
            variables[variable] = cell.cell_contents
    yield from variables.items()
    for variable, one in variables.items():
        if isinstance(one, ModuleType):
            held = vars(one)
            yield from ((f"{variable}.{n}", held[n]) for n in names if n in held)
    yield from default_values(value).items()
    yield name, getattr(value, "__wrapped__", None)


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _of_object(name: str, value: Any) -> Iterator[Named]:
    """Yield the attributes of an object; only public ones of an object of the library."""
    kind = value if isinstance(value, type) else type(value)
    home = _home(kind)
    if home in _FOREIGN:
        return
    attributes = list(getattr(value, "__dict__", {}).items())
    for base in kind.__mro__:
        if _home(base) in _FOREIGN:
            continue
        slots = vars(base).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else tuple(slots):
            with suppress(AttributeError):  # not assigned yet
                attributes.append((slot, object.__getattribute__(value, slot)))
        if base is not value:
            attributes += vars(base).items()
    for attribute, one in attributes:
        if attribute == "function" and isinstance(one, FunctionType):  # of a kernel or func
            yield "", one
        elif not attribute.startswith("__" if home != _LIBRARY else "_"):
            yield f"{name or 'self'}.{attribute}", one
    if callable(value) and home != _LIBRARY:
        yield "", vars(kind).get("__call__")


def _home(value: Any) -> str:
    """Return the package that a class or function comes from."""
    return str(getattr(value, "__module__", "")).partition(".")[0]


def _items(name: str, value: Mapping[Any, Any]) -> Iterable[Named]:
    return [(f"{name}[{key!r}]", one) for key, one in value.items()]


def _members(name: str, value: Iterable[tuple[str, Any]]) -> Iterable[Named]:
    return [(f"{name}.{member}", one) for member, one in value]


def _elements(name: str, value: Iterable[Any]) -> Iterable[Named]:
    return [(f"{name}[{k}]", one) for k, one in enumerate(value) if not isinstance(one, _PLAIN)]


# The contents of objects by name; `_of_object` serves all other types.
_KINDS: dict[type, Callable[[str, Any], Iterable[Named]]] = {
    ArrayLike: lambda name, value: (),
    StructField: lambda name, value: _members(name, value.members.items()),
    Rows: lambda name, value: _members(name, value.items()),
    Mapping: _items,
    list: _elements,
    tuple: _elements,
    partial: lambda name, f: [(name, f.func), ("args", f.args), *f.keywords.items()],
    MethodType: lambda name, value: [(name or "self", value.__self__), ("", value.__func__)],
    FunctionType: _of_function,
    ModuleType: lambda name, value: (),
}
