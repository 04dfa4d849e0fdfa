"""Items: the things that an expression of a kernel can stand for while it is lowered."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from types import ModuleType
from typing import Any, TypeAlias

from difftile.frontend.captures import Path
from difftile.ir.nodes import Array, Const, Value, Var
from difftile.ir.views import ViewKind
from difftile.records import dataclass

_CONTAINERS: tuple[type, ...] = (list, dict, set)


@dataclass(frozen=True, slots=True, eq=False)
class Static:
    """A Python object known while compiling: a number, a type, a function, a module ..."""

    value: Any
    path: Path | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ViewBounds:
    """The elements of a field that a view stands for.

    Args:
        kind: How its axes run along the axes of the field.
        starts: The first index along each axis of the field; None for a whole axis.
        sizes: The elements along each axis of the view; None for a whole axis of the field.
    """

    kind: ViewKind
    starts: tuple[Value | None, ...]
    sizes: tuple[Value | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FieldRef:
    """A field, or a view of one, to be indexed."""

    array: Array
    view: ViewBounds | None = None

    @property
    def ndim(self) -> int:
        """The number of indices."""
        return self.array.type.ndim if self.view is None else self.view.kind.ndim


@dataclass(frozen=True, slots=True, eq=False)
class FieldShape:
    """`x.shape` of a field."""

    field: FieldRef


@dataclass(frozen=True, slots=True, eq=False)
class Tuple:
    """A tuple or list of items."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A struct: an item for each member; the members of a struct field are fields.

    Args:
        names: The members.
        items: The item of each member.
        methods: Name and function of each method.
    """

    names: tuple[str, ...]
    items: tuple[Item, ...]
    methods: tuple[tuple[str, Any], ...] = ()

    def with_items(self, items: Sequence[Item]) -> Record:
        """Return a struct of the same type with other members."""
        return replace(self, items=tuple(items))


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Some components of a vector or matrix.

    Args:
        axes: For each axis of the vector or matrix the positions that are picked.
        kept: Whether the axis is one of the picked components too: a slice keeps it, an index
            does not.
    """

    axes: tuple[tuple[Value, ...], ...]
    kept: tuple[bool, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """() for one component, (n,) for a vector, (n, m) for a matrix."""
        return tuple(len(a) for a, kept in zip(self.axes, self.kept, strict=True) if kept)

    @property
    def cells(self) -> list[tuple[Value, ...]]:
        """The position of each component, row after row."""
        return list(product(*self.axes))


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """Where an element of a field stands.

    Args:
        array: The field.
        index: The index, in the axes of the whole field.
        repeated: Other indices of the view that was indexed stand for the same element.
    """

    array: Array
    index: tuple[Value, ...]
    repeated: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """Where a value stands in a local.

    Args:
        name: The local.
        members: The way through nested structs, outermost first.
        item: The value there.
    """

    name: ast.Name
    members: tuple[int, ...]
    item: Item


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """An element of a field or the value of a local, or components of either, not yet read.

    An expression gives places in fields only, so that components are picked before the load.

    Args:
        at: The element or local.
        components: The components that are meant; None for all of it.
    """

    at: Element | Local
    components: Components | None = None

    @property
    def is_single(self) -> bool:
        """Whether this is a whole element or one component, which one statement changes."""
        return self.components is None or not self.components.shape


@dataclass(frozen=True, slots=True, eq=False)
class Unbound:
    """A name whose binding ended with a block, with the reason and a hint."""

    reason: str
    hint: str | None = None


Item: TypeAlias = Var | Const | Static | FieldRef | FieldShape | Tuple | Record | Place | Unbound


def is_number(item: Item) -> bool:
    """Tell whether an item is a number known while compiling."""
    return isinstance(item, Static) and isinstance(item.value, (bool, int, float))


def is_tuple(item: Item) -> bool:
    """Tell whether an item is a tuple or list, made here or outside."""
    return isinstance(item, Tuple) or (
        isinstance(item, Static) and isinstance(item.value, (tuple, list))
    )


def leaves(item: Item) -> tuple[Item, ...]:
    """Return the innermost items of a struct or tuple, or the item itself."""
    if isinstance(item, (Tuple, Record)):
        return tuple(leaf for part in item.items for leaf in leaves(part))
    return (item,)


def leaf_names(name: str, item: Item) -> list[str]:
    """Return a name for each leaf of a struct or tuple: 'q.pos', 't.0'; a dot marks them."""
    if isinstance(item, (Tuple, Record)):
        keys = item.names if isinstance(item, Record) else range(len(item.items))
        parts = zip(keys, item.items, strict=True)
        return [leaf for key, part in parts for leaf in leaf_names(f"{name}.{key}", part)]
    return [name]


def regrown(item: Item, new: Iterator[Item]) -> Item:
    """Return a struct or tuple with other leaves, taken one after the other."""
    if isinstance(item, Tuple):
        return Tuple(tuple(regrown(part, new) for part in item.items))
    if isinstance(item, Record):
        return item.with_items([regrown(part, new) for part in item.items])
    return next(new)


def mapped(item: Item, change: Callable[[Item], Item]) -> Item:
    """Return a struct or tuple with each leaf changed."""
    return regrown(item, map(change, leaves(item)))


def is_alike(first: Item, second: Item) -> bool:
    """Tell whether two items are tuples or structs of the same form, or neither."""
    match first, second:
        case Tuple(ones), Tuple(others):
            return len(ones) == len(others) and all(map(is_alike, ones, others))
        case Record(names, ones), Record(other_names, others):
            return names == other_names and all(map(is_alike, ones, others))
        case _:
            return not any(isinstance(item, (Tuple, Record)) for item in (first, second))


def in_memory(item: Item | None) -> bool:
    """Tell whether an item is an element of a field, or a part or struct of such elements."""
    if item is None:
        return False
    return all(isinstance(leaf, Place) and isinstance(leaf.at, Element) for leaf in leaves(item))


def field_of(item: Item) -> FieldRef | None:
    """Return a field; of a field of structs, the field of its first member."""
    fields = [leaf for leaf in leaves(item) if isinstance(leaf, FieldRef)]
    return fields[0] if fields and len(fields) == len(leaves(item)) else None


def is_same(first: Item, second: Item) -> bool:
    """Tell whether two items stand for one thing, whatever values they have at run time."""
    match first, second:
        case (Tuple(), Tuple()) | (Record(), Record()):
            pairs = zip(leaves(first), leaves(second), strict=False)
            return is_alike(first, second) and all(is_same(a, b) for a, b in pairs)
        case (Static(), Static()):
            same_number = is_number(first) and first.value == second.value
            return type(first.value) is type(second.value) and (
                first.value is second.value or same_number  # pyrefly: ignore[unknown-attribute-access]
            )
        case (FieldRef(), FieldRef()):
            return first.array is second.array and first.view is second.view
        case (FieldShape(), FieldShape()):
            return is_same(first.field, second.field)
        case _:
            return first is second


def describe(item: Item) -> str:
    """Name an item in the user's words."""
    match item:
        case Var(_, type_) | Const(_, type_):
            return f"a value of type {type_}"
        case Static(None | bool() | int() | float() | range() as value):
            return str(value)
        case Static(str()):
            return "text"
        case Static(ModuleType() as value):
            return f"the module '{value.__name__}'"
        case Static(type() as value):
            return f"the type '{value.__name__}'"
        case Static(value) if not isinstance(value, tuple):
            if callable(value) and hasattr(value, "__name__"):
                return f"the function '{value.__name__}'"
            kind = type(value).__name__
            is_container = isinstance(value, _CONTAINERS)
            return f"a Python {kind}" if is_container else f"a Python object of type '{kind}'"
        case Static() | Tuple():
            return "a tuple"
        case FieldRef(array):
            kind = "field" if array.size is None else "array"
            return f"the {kind} '{array.name}'"
        case FieldShape(field):
            return f"the shape of '{field.array.name}'"
        case Record():
            field = field_of(item)
            return "a struct" if field is None else f"the field '{field.array.name.split('.')[0]}'"
        case Place(at):
            if isinstance(at, Local):
                return describe(at.item)
            part = "" if item.is_single else "a part of "
            return f"{part}an element of '{at.array.name}'"
        case Unbound():
            return "a name without a value"


def element_text(field: FieldRef) -> str:
    """Return how an element of a field is written: 'x[None]', 'x[i]', 'x[i, j]' ..."""
    ndim = field.ndim
    letters = ", ".join("ijklmnop"[:ndim]) if ndim <= 8 else "I"
    return f"{field.array.name}[{letters or None}]"
