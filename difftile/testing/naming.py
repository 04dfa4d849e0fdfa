"""What a function can reach, by the names that its author would write: `o.a`, `rows.means`, `L[0]`.

Names are for reports; a field that nothing here leads to is checked like any other.
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
from difftile.fields.field import Field, Storage
from difftile.fields.rows import Rows
from difftile.fields.structs import StructField

Named = tuple[str, Any]

_MOST = 20_000  # objects; a function that reaches more gets some names less
_PLAIN = (str, bytes, int, float, complex, type(None), np.ndarray, np.generic, BuiltinFunctionType)
_LIBRARY = "difftile"  # its objects keep to themselves what begins with an underscore
_FOREIGN = frozenset(("builtins", "numpy", "taichi", "typing", "collections", "abc", "functools"))


class FieldNames:
    """The names of fields, and of what holds them, as seen from some objects.

    Args:
        roots: The objects, by name; '' for a function, whose variables go by their own names.
    """

    def __init__(self, roots: Iterable[Named]) -> None:
        self._by_object: dict[int, str] = {}
        self._by_storage: dict[Storage, str] = {}
        self._found: list[Any] = []  # kept alive, as identities are only good as long
        for name, value in _reached(roots):
            self._found.append(value)
            if name:
                self._by_object.setdefault(id(value), name)
                if isinstance(value, Field):
                    self._by_storage.setdefault(value.storage, name)

    def of(self, value: Any) -> str:
        """Return the name of an object, or of the field that it is a shape or a part of; or ''."""
        name = self._by_object.get(id(value), "")
        if name or not isinstance(value, ArrayLike):
            return name
        base = self._by_storage.get(value.base.storage, "")
        return f"{base} (part)" if base and value.window is not None else base


def fields_in(name: str, value: Any) -> Iterator[tuple[str, ArrayLike]]:
    """Yield the fields that an object holds, by name, each once."""
    for found, one in _reached([(name, value)]):
        if isinstance(one, ArrayLike):
            yield found, one


def _reached(roots: Iterable[Named]) -> Iterator[Named]:
    """Yield what objects lead to, the nearest first."""
    queue, seen = deque(roots), set[int]()
    while queue and len(seen) < _MOST:
        name, value = queue.popleft()
        if id(value) in seen or isinstance(value, _PLAIN):
            continue
        seen.add(id(value))
        yield name, value
        queue.extend(_inside(name, value))


def _inside(name: str, value: Any) -> Iterable[Named]:
    """Return what an object holds, by name."""
    for kind, look in _KINDS.items():
        if isinstance(value, kind):
            return look(name, value)
    return _of_object(name, value)


def _of_struct(name: str, value: StructField) -> Iterable[Named]:
    return ((f"{name}.{member}", one) for member, one in value.members.items())


def _of_rows(name: str, value: Rows) -> Iterable[Named]:
    return ((f"{name}.{member}", one) for member, one in value.items())


def _of_mapping(name: str, value: Mapping[Any, Any]) -> Iterable[Named]:
    return [(f"{name}[{key!r}]", one) for key, one in value.items()]


def _of_sequence(name: str, value: Iterable[Any]) -> Iterable[Named]:
    return [(f"{name}[{k}]", one) for k, one in enumerate(value) if not isinstance(one, _PLAIN)]


def _of_partial(name: str, value: partial[Any]) -> Iterable[Named]:
    return [(name, value.func), ("args", value.args), *value.keywords.items()]


def _of_method(name: str, value: MethodType) -> Iterable[Named]:
    return [(name or "self", value.__self__), ("", value.__func__)]


def _of_function(name: str, value: FunctionType) -> Iterator[Named]:
    """Yield the variables that a function takes from outside, those of functions inside it too."""
    if _home(value) in (_LIBRARY, *_FOREIGN):
        return
    code, names = value.__code__, dict.fromkeys(_names_in(value.__code__))
    variables = {one: value.__globals__[one] for one in names if one in value.__globals__}
    variables |= _cells(value)
    yield from variables.items()
    for variable, one in variables.items():
        if isinstance(one, ModuleType):
            held = vars(one)
            yield from ((f"{variable}.{n}", held[n]) for n in names if n in held)
    parameters, defaults = code.co_varnames[: code.co_argcount], value.__defaults__ or ()
    yield from zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True)
    yield from (value.__kwdefaults__ or {}).items()
    yield name, getattr(value, "__wrapped__", None)


def _cells(value: FunctionType) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for variable, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        with suppress(ValueError):  # not assigned yet
            found[variable] = cell.cell_contents
    return found


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _nothing(name: str, value: object) -> Iterable[Named]:
    return ()


def _of_object(name: str, value: Any) -> Iterator[Named]:
    """Yield the attributes of an object; of one of the library, those that are public."""
    kind = value if isinstance(value, type) else type(value)
    home = _home(kind)
    if home in _FOREIGN:
        return
    own = name or "self"
    for attribute, one in _attributes(value, kind):
        if attribute == "function" and isinstance(one, FunctionType):  # of a kernel or func
            yield "", one
        elif not attribute.startswith("__" if home != _LIBRARY else "_"):
            yield f"{own}.{attribute}", one
    if callable(value) and home != _LIBRARY:
        yield "", vars(kind).get("__call__")


def _attributes(value: Any, kind: type) -> Iterator[Named]:
    yield from list(getattr(value, "__dict__", {}).items())
    for base in kind.__mro__:
        if _home(base) in _FOREIGN:
            continue
        slots = vars(base).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else tuple(slots):
            with suppress(AttributeError):  # not assigned yet
                yield slot, object.__getattribute__(value, slot)
        if base is not value:
            yield from list(vars(base).items())


def _home(value: Any) -> str:
    """Return the package that a class or function comes from."""
    return str(getattr(value, "__module__", "")).partition(".")[0]


_KINDS: dict[type, Callable[[str, Any], Iterable[Named]]] = {
    ArrayLike: _nothing,
    StructField: _of_struct,
    Rows: _of_rows,
    Mapping: _of_mapping,
    list: _of_sequence,
    tuple: _of_sequence,
    partial: _of_partial,
    MethodType: _of_method,
    FunctionType: _of_function,
    ModuleType: _nothing,
}
