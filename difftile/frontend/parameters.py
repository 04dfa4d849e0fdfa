"""The parameters of a kernel: what each is given, and what that is in its body."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np

from difftile.frontend.captures import Path
from difftile.frontend.context import Context
from difftile.frontend.field_views import element_of, hidden, view_of
from difftile.frontend.items import FieldRef, Item, Record, Static, Tuple
from difftile.ir.nodes import Array, Var
from difftile.ir.types import I32, FieldType, Scalar, Type
from difftile.ir.views import ViewKind
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class SameAs:
    """A parameter that is given the same field as an earlier one, or the same part."""

    name: str


@dataclass(frozen=True, slots=True)
class ViewOf:
    """A parameter that is given a part of a field.

    Args:
        field: The whole field, or the name of the earlier parameter that is given it or a part.
        kind: Which part; None for all of it.
    """

    field: FieldType | str
    kind: ViewKind | None


@dataclass(frozen=True, slots=True)
class StaticArgument:
    """A parameter whose Python value is known while compiling: a function, a template, `self`.

    Args:
        value: The value.
        followed: Its contents are looked up at each launch, like captured objects; otherwise the
            value is part of the specialisation.
    """

    value: object
    followed: bool = False


@dataclass(frozen=True, slots=True)
class NumberIn:
    """A parameter that expects a number and is given a field of shape () that holds it.

    Args:
        field: The field.
        integer: The type of a parameter that is an integer; None for one that takes the float type
            of the kernel.
    """

    field: FieldType | SameAs | ViewOf
    integer: Scalar | None = None


class PythonFloat:
    """A parameter that is given a Python float: it takes the float type of the kernel."""


FLOAT = PythonFloat()


@dataclass(frozen=True, slots=True)
class VectorOf:
    """A parameter that is given the components of a vector or matrix, row after row."""

    shape: tuple[int, ...]
    numbers: tuple[Given, ...]


@dataclass(frozen=True, slots=True)
class StructOf:
    """A parameter that is given a struct, or a field of structs: its members by name."""

    members: tuple[tuple[str, Given], ...]
    methods: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class ThreadIndex:
    """A parameter that is the index of each thread: the body runs for all indices of a box."""

    ndim: int


Given: TypeAlias = (
    FieldType
    | ViewOf
    | Type
    | SameAs
    | NumberIn
    | StaticArgument
    | VectorOf
    | StructOf
    | PythonFloat
    | ThreadIndex
)
Signature: TypeAlias = Mapping[str, Given]


def component_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """Return the names of the components of an argument, row after row: 'v.0', 'm.1.2'."""
    return [".".join((name, *map(str, cell))) for cell in np.ndindex(*shape)]


def as_written(name: str) -> str:
    """Return a parameter, or a part of one, as it is written in Python: 'p.pos', 'm[1, 2]'."""
    return re.sub(r"(\.\d+)+", lambda cell: f"[{cell[0][1:].replace('.', ', ')}]", name)


def numbers_in_fields(name: str, given: Given) -> Iterator[str]:
    """Yield the names of the fields from which a kernel reads numbers of a parameter."""
    match given:
        case NumberIn():
            yield name
        case VectorOf(shape, numbers):
            for key, one in zip(component_names(name, shape), numbers, strict=True):
                yield from numbers_in_fields(key, one)
        case StructOf(members):
            for key, one in members:
                yield from numbers_in_fields(f"{name}.{key}", one)
        case _:
            pass


@dataclass
class Parameters:
    """The parameters of a kernel while they are made.

    Args:
        cx: The context.
        params: The values that a launch passes.
        items: The item of each parameter; members of structs as 'p.pos'.
    """

    cx: Context
    params: list[Array | Var] = field(default_factory=list[Any])
    items: dict[str, Item] = field(default_factory=dict[str, Item])

    def field(self, name: str) -> FieldRef:
        """Return the field that is given for a parameter."""
        item = self.items[name]
        assert isinstance(item, FieldRef)
        return item

    def item(self, name: str, given: Given) -> Item:
        """Return the item of a parameter."""
        made = _ITEMS.get(type(given), _number)(self, name, given)
        self.items.setdefault(name, made)  # the field of a number that is read in one stays
        return made


def _field(made: Parameters, name: str, given: FieldType) -> Item:
    made.params.append(array := Array(name, given))
    return FieldRef(array)


def _same(made: Parameters, name: str, given: SameAs) -> Item:
    return made.items[given.name]


def _view(made: Parameters, name: str, given: ViewOf) -> Item:
    if isinstance(given.field, str):
        array = made.field(given.field).array
    else:
        made.params.append(array := Array(name, given.field))
    if given.kind is None:
        return FieldRef(array)
    numbers = hidden(name, given.kind)
    made.params += numbers
    return FieldRef(array, view_of(given.kind, numbers))


def _number_in(made: Parameters, name: str, given: NumberIn) -> Item:
    _ = made.item(name, given.field)
    cx = made.cx
    found = cx.value(cx.loaded(element_of(cx, made.field(name), ()), name))
    return cx.b.cast(found, given.integer or cx.float_type)


def _thread_index(made: Parameters, name: str, given: ThreadIndex) -> Item:
    sizes = tuple(Var(f"{name}_size{axis}", I32) for axis in range(given.ndim))
    made.params += sizes
    return Tuple(sizes)


def _static(made: Parameters, name: str, given: StaticArgument) -> Item:
    path = Path(made.cx.source.function, (("argument", name),))
    return Static(given.value, path if given.followed else None)


def _vector(made: Parameters, name: str, given: VectorOf) -> Item:
    named = zip(component_names(name, given.shape), given.numbers, strict=True)
    parts = [made.cx.value(made.item(key, one)) for key, one in named]
    return made.cx.b.assembled(given.shape, parts, name)


def _struct(made: Parameters, name: str, given: StructOf) -> Item:
    items = [made.item(f"{name}.{key}", one) for key, one in given.members]
    return Record(tuple(key for key, _ in given.members), tuple(items), given.methods)


def _number(made: Parameters, name: str, given: Type | PythonFloat) -> Item:
    number = Var(name, made.cx.float_type if isinstance(given, PythonFloat) else given)
    made.params.append(number)
    return number


_ITEMS: dict[type, Callable[[Parameters, str, Any], Item]] = {
    FieldType: _field,
    SameAs: _same,
    ViewOf: _view,
    NumberIn: _number_in,
    ThreadIndex: _thread_index,
    StaticArgument: _static,
    VectorOf: _vector,
    StructOf: _struct,
}
"""What is made of each kind of argument; of all others, numbers of their type."""
