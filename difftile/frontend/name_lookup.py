"""The item of a name: a local, a parameter, or a captured object."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from difftile.diagnostics import KernelError, UndefinedName, did_you_mean
from difftile.frontend.captures import (
    MISSING,
    Capture,
    Path,
    WiderField,
    key_of,
    look_up,
    plain,
)
from difftile.frontend.context import Context
from difftile.frontend.field_views import hidden, size_of, view_of
from difftile.frontend.items import FieldRef, FieldShape, Item, Record, Static, Tuple, Unbound
from difftile.habits import MODULES
from difftile.ir.nodes import Array, Const, Var
from difftile.ir.types import FLOATS, I32, Vector, promote, scalar_of
from difftile.ops.vocabulary import (
    FieldMeaning,
    Library,
    Refused,
    StructMeaning,
    VectorMeaning,
    ViewMeaning,
)

_SEQUENCES: tuple[Any, ...] = (tuple, list, range)


def lookup(cx: Context, node: ast.Name) -> Item:
    """Return the item of a name: a local, a parameter, or something captured."""
    item = cx.env.get(node.id)
    if isinstance(item, Unbound):
        raise UndefinedName(
            cx.span(node),
            node.id,
            item.reason,
            related=cx.note(node.id, "bound here"),
            hint=item.hint,
        )
    if item is not None:
        return item
    function = cx.source.function
    path = Path(function, (("name", node.id),))
    value = look_up(path)
    code = function.__code__
    if node.id in code.co_varnames or node.id in code.co_cellvars:
        outside = "give it another name than the one outside the kernel."
        raise UndefinedName(
            cx.span(node),
            node.id,
            "it is a local, since it is assigned below, and has no value yet",
            hint=None if value is MISSING else outside,
        )
    if value is MISSING:
        known = [*cx.env, *code.co_freevars, *function.__globals__]
        hint = MODULES.get(node.id) or did_you_mean(node.id, known)
        raise UndefinedName(cx.span(node), node.id, hint=hint)
    return captured(cx, value, path)


def captured(cx: Context, value: Any, path: Path | None) -> Item:
    """Return the item of a Python object from outside, and record how to find it again."""
    meaning = cx.meanings(value)
    match meaning:
        case Refused(what, hint):
            raise KernelError(f"{what} cannot be used in a kernel.", cx.b.span, hint=hint)
        case FieldMeaning():
            return _captured_field(cx, meaning, path, path)
        case ViewMeaning():
            return _captured_view(cx, value, meaning, path)
        case Library():
            return Static(value, path)
        case StructMeaning(members, methods):
            if path is not None:  # later launches must find a struct like it
                depend(cx, Static(meaning, path.then("meaning", cx.meanings)))
            steps = (None if path is None else path.then("attribute", name) for name in members)
            pairs = zip(members, steps, strict=True)
            parts = [captured(cx, getattr(value, name), step) for name, step in pairs]
            return Record(members, tuple(parts), methods)
        case VectorMeaning(shape):
            keys = np.ndindex(*shape)
            item = Static(value, path)
            parts = [part_of(cx, item, key if len(shape) > 1 else key[0]) for key in keys]
            return cx.b.assembled(shape, [cx.value(part) for part in parts])
        case _:
            pass
    value = plain(value, path)
    if path is None or _in_library(cx, path):
        return Static(value, path)
    if isinstance(value, float):
        known = cx.outside.captures.get(path)
        if known is not None and isinstance(known.param, Var):
            return known.param
        number = Var(path.identifier, cx.float_type)
        cx.outside.captures[path] = Capture(path, number)
        return number
    item = Static(value, path)
    if meaning is not None or isinstance(value, (bool, int, str, type(None))):
        depend(cx, item)
    return item


def _in_library(cx: Context, path: Path) -> bool:
    """Tell whether a path leads into a library, whose names do not change: `math.pi`, `ti.sin`."""
    root = look_up(Path(path.function, path.steps[:1]))
    is_library = isinstance(root, ModuleType) and isinstance(cx.meanings(root), Library)
    return is_library and len(path.steps) > 1


def depend(cx: Context, item: Item) -> None:
    """Record that the kernel is specialised on an object, if it came from outside."""
    if isinstance(item, Static) and item.path is not None and not _in_library(cx, item.path):
        cx.outside.captures.setdefault(item.path, Capture(item.path, None, key_of(item.value)))


def part_of(cx: Context, item: Static, key: Any) -> Item:
    """Return one element of a Python container."""
    path = None if item.path is None else item.path.then("item", key)
    return captured(cx, item.value[key], path)


def parts_of(cx: Context, item: Item) -> tuple[Item, ...] | None:
    """Return the parts of something that can be unpacked while compiling, or None."""
    if isinstance(item, Tuple):
        return item.items
    if isinstance(item, FieldShape):
        return tuple(size_of(cx, item.field, k) for k in range(item.field.ndim))
    if isinstance(item, Static) and isinstance(item.value, _SEQUENCES):
        size = len(item.value)
        if item.path is not None:
            depend(cx, Static(size, item.path.then("length", "")))
        return tuple(part_of(cx, item, k) for k in range(size))
    return None


def entries_of(cx: Context, item: Item) -> Sequence[Item] | None:
    """Return the parts of a tuple or shape, or the components of a vector, or None."""
    if isinstance(item, (Var, Const)) and isinstance(item.type, Vector):
        return [cx.call("extract", item, Const(k, I32)) for k in range(item.type.n)]
    return parts_of(cx, item)


def _captured_field(
    cx: Context, meaning: FieldMeaning, path: Path | None, named_by: Path | None
) -> FieldRef:
    """Return a field from outside.

    Args:
        cx: The context.
        meaning: The field.
        path: Where it is found.
        named_by: The path that it is named after.
    """
    known = cx.outside.arrays.get(meaning.identity)
    if known is None:
        if path is None or named_by is None:
            raise KernelError(
                "A field inside an argument cannot be followed.",
                cx.b.span,
                hint="pass it as a parameter of its own.",
            )
        if meaning.memory in cx.outside.memories:
            raise KernelError(
                "A field from outside shares its memory with another that the kernel is given.",
                cx.b.span,
                hint="pass both as parameters, under one shape.",
            )
        scalar = scalar_of(meaning.type.element)
        if scalar in FLOATS and promote(scalar, cx.float_type) != cx.float_type:
            raise WiderField(scalar)
        array = Array(named_by.identifier, meaning.type)
        known = FieldRef(array)
        cx.outside.arrays[meaning.identity] = known
        cx.outside.memories.add(meaning.memory)
        cx.outside.captures[path] = Capture(path, array)
    elif path is not None and path not in cx.outside.captures:
        # The same field under a second name: it must stay the same field at later launches.
        key = ("field", meaning.identity)
        cx.outside.captures[path] = Capture(path, None, key, known.array)
    return known


def _captured_view(cx: Context, value: Any, meaning: ViewMeaning, path: Path | None) -> FieldRef:
    """Return a view of a field from outside, with its starts and sizes as captured numbers."""
    known = cx.outside.views.get(path) if path is not None else None
    if known is not None:
        return known
    inner = None if path is None else path.then("attribute", "base")
    field = _captured_field(cx, meaning.base, inner, path)
    assert path is not None
    depend(cx, Static(value.kind, path.then("attribute", "kind")))
    numbers = hidden(path.identifier, meaning.kind)
    for k, number in enumerate(numbers):
        where = path.then("attribute", "numbers").then("item", k)
        cx.outside.captures[where] = Capture(where, number)
    cx.outside.views[path] = FieldRef(field.array, view_of(meaning.kind, numbers))
    return cx.outside.views[path]
