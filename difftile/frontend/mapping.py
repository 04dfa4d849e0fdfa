"""A func as Python calls it: once for each index of a box, on elements of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from difftile.diagnostics import TypeMismatch
from difftile.frontend.assign import put
from difftile.frontend.context import Context
from difftile.frontend.field_views import size_of
from difftile.frontend.indexing import elements
from difftile.frontend.inline import CALLED, call_with, hidden_name
from difftile.frontend.items import (
    FieldRef,
    Item,
    Record,
    Static,
    Tuple,
    describe,
    is_number,
    leaves,
)
from difftile.frontend.random_calls import seeded
from difftile.frontend.source import Source
from difftile.frontend.threads import for_each, index_item
from difftile.ir.nodes import Const, Value, Var
from difftile.ir.types import I32, Struct, Type
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Each:
    """An argument of which each call gets one element; anything but a field is passed as it is."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A field that each call gets as it is, to be indexed there."""


@dataclass(frozen=True, slots=True)
class IndexOf:
    """The index of the call, along some axes of the box; 0 along an axis that is None."""

    axes: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Draw:
    """A random number that the call draws from a seed: uniform in [0, 1), or normal."""

    normal: bool


How: TypeAlias = Each | Whole | IndexOf | Draw
Form: TypeAlias = Type | Struct | tuple[Type | Struct, ...] | None


@dataclass(frozen=True, slots=True)
class Mapped:
    """How the calls of a func get their arguments, and where their results go.

    Args:
        function: The func, an object that has a meaning in kernels.
        arguments: Its arguments by name, and how each call gets them.
        by_name: The arguments that are passed by name only.
        results: The parameters that take its result: one field or struct field, or one for
            each part of a tuple.
        sizes: The parameters that are the sizes of the box, where there is no result to have them.
        ndim: The axes of the box.
    """

    function: Any
    arguments: tuple[tuple[str, How], ...]
    by_name: frozenset[str]
    results: tuple[str, ...]
    sizes: tuple[str, ...]
    ndim: int


def called_from_python(source: Source) -> Source:
    """Return the place of a func's call from Python: its definition, outside of its own body."""
    function = source.function

    def call() -> None:
        """Stand for the caller."""

    call.__name__ = function.__name__ if function.__name__.isidentifier() else "function"
    return replace(source, function=call)


def form_of(cx: Context, mapping: Mapped) -> Form:
    """Lower one call of a func; return the type of its result.

    Raises:
        TypeMismatch: No field holds it.
    """
    with cx.nested():
        indices = [Var("i", I32) for _ in range(mapping.ndim)]
        returned = _call(cx, mapping, indices)
        if isinstance(returned, Tuple):
            return tuple(_element(cx, part) for part in returned.items)
        if isinstance(returned, Static) and returned.value is None:
            return None
        return _element(cx, returned)


def run_mapping(cx: Context, mapping: Mapped) -> None:
    """Lower the calls of a func, and store their results."""
    tree = cx.source.tree
    node = hidden_name(CALLED, tree)
    sizes: Sequence[Value]
    if mapping.sizes:
        sizes = [cx.value(cx.env[name]) for name in mapping.sizes]
    else:
        first = leaves(cx.env[mapping.results[0]])[0]
        assert isinstance(first, FieldRef)
        sizes = [size_of(cx, first, axis) for axis in range(first.ndim)]
    places = [cx.env[name] for name in mapping.results]
    with for_each(cx, sizes, cx.keyword_span(tree)) as indices:
        returned = _call(cx, mapping, indices)
        parts = returned.items if isinstance(returned, Tuple) else (returned,)
        for place, part in zip(places, parts, strict=False):
            put(cx, node, elements(cx, place, indices), part, node, tree)


def _call(cx: Context, mapping: Mapped, indices: Sequence[Value]) -> Item:
    given: dict[str, Item] = {}
    for name, how in mapping.arguments:
        match how:
            case Each() if all(isinstance(leaf, FieldRef) for leaf in leaves(cx.env[name])):
                given[name] = elements(cx, cx.env[name], tuple(indices))
            case Each() | Whole():
                given[name] = cx.env[name]
            case IndexOf(axes):
                at = [Const(0, I32) if axis is None else indices[axis] for axis in axes]
                given[name] = index_item(cx, at, name)
            case Draw(normal):
                given[name] = seeded(cx, cx.value(cx.env[name]), normal=normal, name=name)
    named = {name: given.pop(name) for name in list(given) if name in mapping.by_name}
    tree = cx.source.tree
    with cx.at(tree):
        returned = call_with(cx, tree, Static(mapping.function), [*given.values()], named)
        return cx.loaded(returned)


def _element(cx: Context, item: Item) -> Type | Struct:
    """Return the type of a field that holds such items.

    Raises:
        TypeMismatch: No field holds them.
    """
    if isinstance(item, Record):
        members = zip(item.names, item.items, strict=True)
        return Struct(tuple((name, _element(cx, part)) for name, part in members), item.methods)
    if isinstance(item, (Var, Const)) or is_number(item):
        return cx.value(item).type
    raise TypeMismatch(
        cx.keyword_span(cx.source.tree),
        "a func that Python calls returns numbers, vectors, matrices and structs, "
        "or a tuple of those.",
        describe(item),
    )
