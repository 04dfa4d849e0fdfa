"""Calls: rows of the ops table, casts, vector constructors, methods, and funcs, which are inlined."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from difftile.diagnostics import (
    CallMismatch,
    KernelError,
    TypeMismatch,
    UndefinedAttribute,
    UnsupportedSyntax,
)
from difftile.frontend.context import Context, Env, describe
from difftile.frontend.convert import apply, as_items, assignable, common, filled, floats
from difftile.frontend.items import Element, FieldRef, Item, Several, Static
from difftile.frontend.returns import lower_body
from difftile.frontend.source import source_of
from difftile.ir.build import element_type
from difftile.ir.nodes import Const, Value, Var
from difftile.ir.types import (
    BOOL,
    FLOATS,
    I32,
    Matrix,
    Scalar,
    Type,
    Vector,
    scalar_of,
    shape_of,
    with_scalar,
)
from difftile.ops.vocabulary import FuncMeaning, OpName, Special, TypeName

_METHODS: dict[str, tuple[str, int]] = {  # name -> (op, arguments besides the receiver)
    "dot": ("dot", 1),
    "cross": ("cross", 1),
    "outer_product": ("outer", 1),
    "norm": ("norm", 0),
    "norm_sqr": ("norm_sqr", 0),
    "normalized": ("normalized", 0),
    "sum": ("sum", 0),
    "transpose": ("transpose", 0),
    "trace": ("trace", 0),
    "determinant": ("determinant", 0),
    "inverse": ("inverse", 0),
}
_MAX_INLINE_DEPTH = 64


def call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower a call."""
    if isinstance(node.func, ast.Attribute):
        owner = cx.expr(node.func.value)
        if not isinstance(owner, Static):
            return _method(cx, node, owner, node.func.attr, name)
    target = cx.expr(node.func)
    if not isinstance(target, Static):
        raise CallMismatch(cx.span(node.func), f"{describe(target)} is not a function.")
    meaning = cx.meanings(target.value)
    match meaning:
        case OpName(op):
            items = [cx.operand(argument) for argument in _positional(cx, node)]
            _require_count(cx, node, op, items)
            if all(isinstance(i, Static) for i in items) and callable(target.value):
                folded = _folded(op, items)
                if folded is not None:
                    return folded
            return apply(cx, op, items, name)
        case Special(special):
            return _SPECIAL[special](cx, node, name)
        case TypeName(type_):
            return _construct(cx, node, cx.float_type if type_ is None else type_, name)
        case FuncMeaning(function):
            return inline(cx, node, function)
        case _:
            shown = getattr(target.value, "__qualname__", str(target.value))
            module = getattr(target.value, "__module__", "") or ""
            is_user_function = callable(target.value) and not module.startswith(("taichi", "math"))
            hint = (
                f"decorate '{shown}' with '@dt.func'."
                if is_user_function
                else "it is not part of the kernel language yet."
            )
            raise CallMismatch(
                cx.span(node.func), f"'{ast.unparse(node.func)}' cannot be called in a kernel.", hint
            )


def _folded(op: str, items: list[Item]) -> Static | None:
    """Evaluate min and max of literals, so that they can be used under `ti.static`."""
    values: list[Any] = [item.value for item in items if isinstance(item, Static)]
    if op in ("min", "max") and all(isinstance(v, (int, float)) for v in values):
        return Static(min(values) if op == "min" else max(values))
    return None


def _positional(cx: Context, node: ast.Call) -> list[ast.expr]:
    if node.keywords:
        raise CallMismatch(
            cx.span(node.keywords[0]), f"'{ast.unparse(node.func)}' takes no keyword arguments."
        )
    return node.args


_ARITY = {"max": (2, 99), "min": (2, 99), "select": (3, 3), "clamp": (3, 3), "mix": (3, 3)}
_TWO = ("pow", "atan2", "mod", "fmod", "dot", "cross", "distance", "step", "outer")


def _require_count(cx: Context, node: ast.Call, op: str, items: list[Item]) -> None:
    low, high = _ARITY.get(op, (2, 2) if op in _TWO else (1, 1))
    if not low <= len(items) <= high:
        wanted = f"at least {low}" if high == 99 else str(low)
        plural = "" if wanted == "1" else "s"
        raise CallMismatch(
            cx.span(node),
            f"'{ast.unparse(node.func)}' takes {wanted} argument{plural}, not {len(items)}.",
        )


def _method(cx: Context, node: ast.Call, owner: Item, method: str, name: str) -> Item:
    if isinstance(owner, FieldRef):
        raise UndefinedAttribute(
            cx.span(node.func), f"Field '{owner.array.name}'", method, ("shape",)
        )
    receiver = cx.value(owner)
    if method == "cast":
        (target,) = _types(cx, node, _positional(cx, node))
        return cx.b.cast(receiver, scalar_of(target), name)
    known = _METHODS.get(method)
    if known is None or not shape_of(receiver.type):
        raise UndefinedAttribute(
            cx.span(node.func), f"A value of type {receiver.type}", method, (*_METHODS, "cast")
        )
    op, count = known
    arguments = _positional(cx, node)
    if len(arguments) != count:
        raise CallMismatch(
            cx.span(node), f"'{method}' takes {count} arguments, not {len(arguments)}."
        )
    return apply(cx, op, [receiver, *(cx.operand(a) for a in arguments)], name)


# Types as functions


def _types(cx: Context, node: ast.Call, nodes: list[ast.expr]) -> list[Type]:
    types: list[Type] = []
    for one in nodes:
        item = cx.expr(one)
        meaning = cx.meanings(item.value) if isinstance(item, Static) else None
        if not isinstance(meaning, TypeName):
            raise TypeMismatch(cx.span(one), "a type is wanted here, such as 'ti.f32'.")
        types.append(cx.float_type if meaning.type is None else meaning.type)
    return types


def _construct(cx: Context, node: ast.Call, type_: Type, name: str) -> Item:
    """Lower `ti.f32(x)`, `vec3(...)`, `mat2(...)`."""
    items = [cx.operand(argument) for argument in _positional(cx, node)]
    if isinstance(type_, Scalar):
        if len(items) != 1:
            raise CallMismatch(cx.span(node), f"a cast takes 1 argument, not {len(items)}.")
        return _cast(cx, items[0], type_, name)
    # As in Taichi, the number type of `ti.math.vec3` follows what it is built from.
    scalar = type_.scalar
    if scalar in FLOATS:
        scalar = _widest(cx, items)
    values = [cx.b.cast(cx.value(item, scalar), scalar) for item in items]
    parts = [part for value in values for part in _parts(cx, value)]
    target = with_scalar(type_, scalar)
    size = len(_cells(target))
    if len(values) == 1 and not shape_of(values[0].type):
        return filled(cx, values[0], target)
    if len(parts) != size:
        raise CallMismatch(cx.span(node), f"{target} is built from {size} numbers, not {len(parts)}.")
    if isinstance(target, Matrix):
        return cx.b.matrix((target.n, target.m), tuple(parts), name)
    return cx.call("vec", *parts, name=name)


def _widest(cx: Context, items: list[Item]) -> Scalar:
    floats_given = [
        scalar_of(i.type)
        for i in items
        if isinstance(i, (Var, Const)) and scalar_of(i.type) in FLOATS
    ]
    return max(floats_given, key=FLOATS.index) if floats_given else cx.float_type


def _cells(type_: Type) -> list[tuple[int, ...]]:
    shape = shape_of(type_)
    if len(shape) == 1:
        return [(i,) for i in range(shape[0])]
    return [(i, j) for i in range(shape[0]) for j in range(shape[1])]


def _parts(cx: Context, value: Value) -> list[Value]:
    if not shape_of(value.type):
        return [value]
    return [
        cx.call("extract", value, *(Const(i, I32) for i in cell)) for cell in _cells(value.type)
    ]


def _cast(cx: Context, item: Item, scalar: Scalar, name: str) -> Item:
    if isinstance(item, Static) and isinstance(item.value, (int, float)):
        number = float(item.value) if scalar in FLOATS else int(item.value)
        return Const(number, scalar)
    value = cx.value(item)
    if scalar == BOOL and scalar_of(value.type) != BOOL:
        return cx.call("ne", value, *common(cx, [Static(0), value])[:1])
    return cx.b.cast(value, scalar, name)


def _cast_call(cx: Context, node: ast.Call, name: str) -> Item:
    arguments = _positional(cx, node)
    if len(arguments) != 2:
        raise CallMismatch(cx.span(node), "'ti.cast' takes a value and a type.")
    (target,) = _types(cx, node, arguments[1:])
    return _cast(cx, cx.operand(arguments[0]), scalar_of(target), name)


def _list_items(cx: Context, node: ast.expr) -> list[ast.expr]:
    if not isinstance(node, (ast.List, ast.Tuple)):
        raise UnsupportedSyntax(
            cx.span(node), "a vector of a computed list", "write its components: '[a, b]'."
        )
    return node.elts


def _vector(cx: Context, node: ast.Call, name: str) -> Item:
    arguments = _positional(cx, node)
    if len(arguments) != 1:
        raise CallMismatch(cx.span(node), "'ti.Vector' takes one list of components.")
    elements = _list_items(cx, arguments[0])
    if elements and isinstance(elements[0], (ast.List, ast.Tuple)):
        return _matrix(cx, node, name)
    values = common(cx, [cx.operand(element) for element in elements])
    return cx.call("vec", *values, name=name)


def _matrix(cx: Context, node: ast.Call, name: str) -> Item:
    arguments = _positional(cx, node)
    if len(arguments) != 1:
        raise CallMismatch(cx.span(node), "'ti.Matrix' takes one list of rows.")
    rows = [_list_items(cx, row) for row in _list_items(cx, arguments[0])]
    if len({len(row) for row in rows}) != 1:
        raise TypeMismatch(cx.span(arguments[0]), "the rows have different lengths.")
    values = common(cx, [cx.operand(element) for row in rows for element in row])
    return cx.b.matrix((len(rows), len(rows[0])), tuple(values), name)


def _constant_matrix(entry: Callable[[int, int], float]) -> Callable[..., Item]:
    """Return the handler of `ti.Matrix.identity(dt, n)`, `.zero(dt, n, m)` and `.one(dt, n, m)`."""

    def handler(cx: Context, node: ast.Call, name: str) -> Item:
        arguments = _positional(cx, node)
        (target,) = _types(cx, node, arguments[:1])
        sizes = [cx.expr(argument) for argument in arguments[1:]]
        shape = [s.value for s in sizes if isinstance(s, Static) and isinstance(s.value, int)]
        if len(shape) != len(sizes) or len(shape) not in (1, 2):
            raise CallMismatch(cx.span(node), "a type and one or two literal sizes are wanted here.")
        scalar = scalar_of(target)
        convert = float if scalar in FLOATS else int
        identity = entry(0, 1) != entry(0, 0)
        if len(shape) == 1 and not identity:
            return Const(convert(entry(0, 0)), Vector(shape[0], scalar))
        n, m = shape[0], shape[-1]
        parts = [Const(convert(entry(i, j)), scalar) for i in range(n) for j in range(m)]
        return cx.b.matrix((n, m), tuple(parts), name)

    return handler


# Functions with a meaning of their own


def _static(cx: Context, node: ast.Call, name: str) -> Item:
    arguments = _positional(cx, node)
    if len(arguments) != 1:
        raise CallMismatch(cx.span(node), "'ti.static' takes one argument.")
    item = cx.expr(arguments[0])
    if as_items(item) is None and not isinstance(item, (Static, FieldRef)):
        raise TypeMismatch(
            cx.span(arguments[0]),
            "'ti.static' of a run-time value.",
            hint="leave 'ti.static' out, or make the value a captured Python integer.",
        )
    return item


def _range(cx: Context, node: ast.Call, name: str) -> Item:
    """`range` as a value: only under `ti.static`; loops handle it themselves."""
    items = [cx.expr(argument) for argument in _positional(cx, node)]
    numbers = [i.value for i in items if isinstance(i, Static) and isinstance(i.value, int)]
    if len(numbers) != len(items):
        raise TypeMismatch(
            cx.span(node),
            "a range with bounds known only at run time cannot be unrolled.",
            hint="leave 'ti.static' out.",
        )
    return Static(range(*numbers))


def _ndrange(cx: Context, node: ast.Call, name: str) -> Item:
    """`ti.ndrange` as a value: the tuples of indices, under `ti.static`."""
    axes: list[range] = []
    for argument in _positional(cx, node):
        parts = as_items(cx.expr(argument))
        item = cx.expr(argument)
        bounds = parts if parts is not None else (item,)
        numbers = [i.value for i in bounds if isinstance(i, Static) and isinstance(i.value, int)]
        if len(numbers) != len(bounds):
            raise TypeMismatch(
                cx.span(argument), "a range with bounds known only at run time cannot be unrolled."
            )
        axes.append(range(*numbers))
    cells: list[tuple[int, ...]] = [()]
    for axis in axes:
        cells = [(*cell, i) for cell in cells for i in axis]
    return Several(tuple(Static(cell) for cell in cells))


def _grouped(cx: Context, node: ast.Call, name: str) -> Item:
    raise CallMismatch(
        cx.span(node), "'ti.grouped' stands in a 'for' only.", "write 'for I in ti.grouped(x):'."
    )


def _atomic(sign: str) -> Callable[..., Item]:
    def handler(cx: Context, node: ast.Call, name: str) -> Item:
        raise CallMismatch(
            cx.span(node),
            f"the result of 'ti.atomic_{sign}' is not available.",
            "write it as a statement of its own.",
        )

    return handler


def atomic_statement(cx: Context, node: ast.Call, sign: str) -> None:
    """Lower `ti.atomic_add(x[i], v)` and `ti.atomic_sub(x[i], v)` as statements."""
    arguments = _positional(cx, node)
    if len(arguments) != 2:
        raise CallMismatch(cx.span(node), f"'ti.atomic_{sign}' takes an element and a value.")
    target = cx.expr(arguments[0])
    if not isinstance(target, Element):
        raise TypeMismatch(cx.span(arguments[0]), "an element of a field is wanted here.")
    accumulate(cx, target, cx.operand(arguments[1]), negate=sign == "sub")


def accumulate(cx: Context, target: Element, item: Item, *, negate: bool) -> None:
    """Append `target += item`, or `-=`."""
    type_ = element_type(target.array, target.index)
    value = assignable(cx, cx.value(item, type_), type_, f"'{target.array.name}'")
    if negate:
        value = cx.call("neg", value)
    cx.b.accumulate(target.array, target.index, value)


def _len(cx: Context, node: ast.Call, name: str) -> Item:
    (argument,) = _positional(cx, node)
    item = cx.expr(argument)
    parts = as_items(item)
    if parts is not None:
        return Static(len(parts))
    if isinstance(item, (Var, Const)) and shape_of(item.type):
        return Static(shape_of(item.type)[0])
    raise TypeMismatch(cx.span(argument), f"{describe(item)} has no length in a kernel.")


def _hypot(cx: Context, node: ast.Call, name: str) -> Item:
    items = [cx.operand(argument) for argument in _positional(cx, node)]
    return apply(cx, "norm", [cx.call("vec", *floats(cx, items))], name)


_SPECIAL: dict[str, Callable[[Context, ast.Call, str], Item]] = {
    "cast": _cast_call,
    "vector": _vector,
    "matrix": _matrix,
    "zero": _constant_matrix(lambda i, j: 0.0),
    "one": _constant_matrix(lambda i, j: 1.0),
    "identity": _constant_matrix(lambda i, j: float(i == j)),
    "static": _static,
    "range": _range,
    "ndrange": _ndrange,
    "grouped": _grouped,
    "atomic_add": _atomic("add"),
    "atomic_sub": _atomic("sub"),
    "len": _len,
    "hypot": _hypot,
}


# Funcs


def inline(cx: Context, node: ast.Call, function: Any) -> Item:
    """Lower the body of a func in place of its call and return what it returns."""
    source = source_of(function)
    if any(source.function is active.function for active in (*cx.calls, cx.source)):
        raise KernelError(
            f"'{source.name}' calls itself.",
            cx.span(node),
            "recursion",
            hint="write it as a loop; funcs are inlined and cannot recurse.",
        )
    env = _bind(cx, node, source.function, source.tree)
    saved = (cx.source, cx.env, cx.calls, cx.top_level)
    cx.calls = (*cx.calls, cx.source)
    cx.source, cx.env, cx.top_level = source, env, False
    try:
        return lower_body(cx, source.tree.body)
    finally:
        cx.source, cx.env, cx.calls, cx.top_level = saved


def _bind(cx: Context, node: ast.Call, function: Any, tree: ast.FunctionDef) -> Env:
    """Return the bindings of a func's parameters for one call."""
    parameters = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)]
    env: Env = {}
    if len(node.args) > len(parameters):
        raise CallMismatch(
            cx.span(node),
            f"'{tree.name}' takes {len(parameters)} arguments, not {len(node.args)}.",
        )
    for parameter, argument in zip(parameters, node.args, strict=False):
        env[parameter] = cx.operand(argument, parameter)
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg not in parameters or keyword.arg in env:
            raise CallMismatch(
                cx.span(keyword.value),
                f"'{tree.name}' takes no argument '{keyword.arg}' here.",
                f"its parameters are {', '.join(parameters)}.",
            )
        env[keyword.arg] = cx.operand(keyword.value, keyword.arg)
    positional = parameters[: len(tree.args.posonlyargs) + len(tree.args.args)]
    defaults = function.__defaults__ or ()
    given = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
    given |= function.__kwdefaults__ or {}
    for parameter in parameters:
        if parameter in env:
            continue
        if parameter not in given:
            raise CallMismatch(cx.span(node), f"'{tree.name}' is missing its argument '{parameter}'.")
        env[parameter] = Static(given[parameter])
    return env
