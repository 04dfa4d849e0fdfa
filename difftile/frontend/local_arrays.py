"""`dt.local`: arrays of a thread."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from difftile.diagnostics import TypeMismatch
from difftile.frontend.context import Context
from difftile.frontend.convert import counted_arguments
from difftile.frontend.items import FieldRef, Item, Static, describe
from difftile.frontend.name_lookup import depend, parts_of
from difftile.frontend.threads import OneThread
from difftile.ir.nodes import Alloc, Array
from difftile.ir.types import BOOL, LARGEST_LOCAL, FieldType, Type, scalar_of, shape_of, with_scalar
from difftile.ops.vocabulary import TypeName


def local_array(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `dt.local(shape, dtype)`, whose arguments are by position.

    Raises:
        TypeMismatch: The shape is not known while compiling, or the array is too large.
    """
    if not cx.scope.axes and not cx.scope.alone:
        raise OneThread
    shape, *given = counted_arguments(cx, node, 1, 2)
    lengths = _lengths(cx, shape)
    element: Type = _element(cx, given[0]) if given else cx.float_type
    count = math.prod((*lengths, *shape_of(element)))
    if count > LARGEST_LOCAL:
        raise TypeMismatch(
            cx.span(node),
            f"an array of a thread has at most {LARGEST_LOCAL:,} components, and this has "
            f"{count:,}.",
            hint="use a field with an axis for the thread.",
        )
    type_ = FieldType(element, len(lengths))
    axes = lengths if len(lengths) > 1 else ()
    array = Array(name or "local", type_, math.prod(lengths), axes=axes)
    cx.b.append(Alloc(array, cx.span(node)))
    return FieldRef(array)


def _lengths(cx: Context, node: ast.expr) -> tuple[int, ...]:
    item = cx.operand(node)
    parts = parts_of(cx, item)
    nodes: Sequence[ast.expr] = [node]
    if parts is not None:
        nodes = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node] * len(parts)
    found: list[int] = []
    for one, part in zip(nodes, (item,) if parts is None else parts, strict=True):
        depend(cx, part)
        value = part.value if isinstance(part, Static) else None
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeMismatch(
                cx.span(one),
                "the shape of an array of a thread is of integers that are known while compiling.",
                describe(part),
                hint="write a literal, an integer from outside the kernel, or an attribute of "
                "'self' of a '@dt.data_oriented' object.",
            )
        if value < 1:
            raise TypeMismatch(
                cx.span(one),
                "an array of a thread has 1 element or more along each axis.",
                f"{value}",
            )
        found.append(value)
    if not found:
        raise TypeMismatch(cx.span(node), "an array of a thread has 1 axis or more.", "no axes")
    return tuple(found)


def _element(cx: Context, node: ast.expr) -> Type:
    item = cx.operand(node)
    depend(cx, item)
    meaning = cx.meaning(item)
    if not isinstance(meaning, TypeName):
        raise TypeMismatch(
            cx.span(node),
            "the elements of an array of a thread are numbers, vectors or matrices.",
            describe(item),
            hint="write a type: 'ti.f32', 'ti.math.vec3', 'ti.types.matrix(3, 3, float)'.",
        )
    type_ = cx.float_type if meaning.type is None else meaning.type
    if scalar_of(type_) == BOOL:
        raise TypeMismatch(
            cx.span(node), "an array of a thread holds numbers.", "bool", hint="use 'ti.i32'."
        )
    return with_scalar(type_, cx.float_type) if meaning.follows else type_
