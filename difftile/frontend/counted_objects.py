"""Loops over objects: a struct or object with funcs `count(self)` and `item(self, k)`.

With `part(self, k)` in place of `item`, each part is such an object too, and its items are looped
over in turn.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import ModuleType

from difftile.diagnostics import KernelError, TypeMismatch
from difftile.frontend.changes import assigned, method_of
from difftile.frontend.context import Context
from difftile.frontend.inline import call_with
from difftile.frontend.items import Item, Record, Static, describe, field_of
from difftile.frontend.source import source_of
from difftile.ir.nodes import Value
from difftile.ops.vocabulary import FuncMeaning

_WRITE = "write '@dt.func' above 'def count(self)' and 'def item(self, k)' of its class."


def is_object(cx: Context, item: Item) -> bool:
    """Tell whether an item is a struct or object that could have the funcs that loops call."""
    if isinstance(item, Record):
        return True
    if not isinstance(item, Static) or cx.meaning(item) is not None:
        return False
    value = item.value
    return not isinstance(value, (type, ModuleType)) and hasattr(type(value), "__dict__")


def is_counted(cx: Context, item: Item) -> bool:
    """Tell whether loops go over the items of an object: it has a func `count`.

    The members of a struct may all be fields, and then it looks like a field of structs, whose
    methods belong to its elements: it is an object if it has `item` or `part` too.
    """
    if _method(cx, item, "count") is None:
        return False
    return field_of(item) is None or bool(_ways(cx, item))


def count_of(cx: Context, node: ast.expr, item: Item) -> Value:
    """Return the number of items or parts.

    Raises:
        TypeMismatch: There is no func for them, or there are two; or the number is no integer.
    """
    found = _ways(cx, item)
    if len(found) != 1:
        has = "both 'item' and 'part'" if found else "'count' and no 'item'"
        raise TypeMismatch(cx.span(node), f"{describe(item)} has {has}.", hint=_WRITE)
    return cx.integer(node, _called(cx, node, item, "count", ()), "the count of a loop")


def has_parts(cx: Context, item: Item) -> bool:
    """Tell whether the parts of an object are looped over in turn."""
    return _method(cx, item, "part") is not None


def item_at(cx: Context, node: ast.expr, item: Item, index: Value) -> Item:
    """Return an item of an object.

    Raises:
        KernelError: `item` returns nothing.
    """
    return _called(cx, node, item, "item", (index,))


def part_at(cx: Context, node: ast.expr, item: Item, index: Value) -> Item:
    """Return a part of an object.

    Raises:
        TypeMismatch: It is no object that has items.
    """
    part = _called(cx, node, item, "part", (index,))
    if not is_counted(cx, part):
        what = f"'part' returns {describe(part)}, which cannot be looped over."
        raise TypeMismatch(cx.span(node), what, hint=_WRITE)
    return part


def _ways(cx: Context, item: Item) -> list[str]:
    return [name for name in ("item", "part") if _method(cx, item, name) is not None]


def _method(cx: Context, item: Item, name: str) -> Item | None:
    """Return a func that is a method of a struct or object, or None."""
    if isinstance(item, Record):
        found = method_of(cx, item, name)
        return None if found is None else Static(dict(item.methods)[name])
    if not is_object(cx, item):
        return None
    assert isinstance(item, Static)
    value = getattr(item.value, name, None)
    found = Static(value, None if item.path is None else item.path.then("attribute", name))
    return found if isinstance(cx.meaning(found), FuncMeaning) else None


def _called(cx: Context, node: ast.expr, item: Item, name: str, given: Sequence[Value]) -> Item:
    func = _method(cx, item, name)
    assert func is not None
    meaning = cx.meaning(func)
    assert isinstance(meaning, FuncMeaning)
    source = source_of(meaning.function)
    own = [one.arg for one in source.tree.args.args[:1]]
    if any(one in assigned(source.tree.body) for one in own):
        raise KernelError(
            f"'{name}' of an object that is looped over changes it.",
            cx.span(node),
            hint=f"compute what changes from the index: 'def {name}(self, k)'.",
        )
    before = (item,) if isinstance(item, Record) else ()
    with cx.at(node):
        found = cx.loaded(call_with(cx, node, func, [*before, *given]))
    if isinstance(found, Static) and found.value is None:
        raise KernelError(f"'{name}' returns nothing.", cx.span(node), hint=_WRITE)
    return found
