"""Calls: rows of the ops table, methods, special forms, and funcs."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import MethodType, ModuleType
from typing import Any

from difftile.diagnostics import CallMismatch, TypeMismatch, did_you_mean
from difftile.frontend.atomic_calls import ATOMICS
from difftile.frontend.captures import look_up
from difftile.frontend.changes import method_of
from difftile.frontend.construct import (
    bit_cast_call,
    cast_call,
    columns_call,
    construct,
    make_type,
    matrix_call,
    rows_call,
    type_of,
    vector_call,
)
from difftile.frontend.context import Context
from difftile.frontend.convert import (
    apply,
    counted_arguments,
    floats,
    positional,
    spread,
)
from difftile.frontend.derivatives import compared_call, derivative_call, derivative_of
from difftile.frontend.field_views import size_of
from difftile.frontend.foreign import instead, spelled
from difftile.frontend.indexing import attribute_of
from difftile.frontend.inline import Argument, inline
from difftile.frontend.items import (
    FieldRef,
    FieldShape,
    Item,
    Record,
    Static,
    Tuple,
    Unbound,
    describe,
    field_of,
    is_number,
    is_tuple,
)
from difftile.frontend.local_arrays import local_array
from difftile.frontend.marked_values import exact, stop_grad
from difftile.frontend.matrix_calls import (
    constant_like,
    constant_matrix,
    decomposition,
    diagonal_call,
    eig_call,
    eye_call,
    unit_call,
)
from difftile.frontend.name_lookup import parts_of
from difftile.frontend.operators import power_call
from difftile.frontend.random_calls import rand, randint, randn
from difftile.frontend.ranges import cells_of, unrolled
from difftile.frontend.ruled_calls import ruled_call
from difftile.frontend.struct_calls import class_call, free_struct, struct_call
from difftile.frontend.vector_methods import method_call, truth_call
from difftile.ir.nodes import Const, Value, Var
from difftile.ir.types import I32, scalar_of, shape_of
from difftile.ops.composites import COMPOSITES
from difftile.ops.table import OPS
from difftile.ops.vocabulary import (
    ClassName,
    Compared,
    DerivativeOf,
    FuncMeaning,
    HostOnly,
    OpName,
    Special,
    StructName,
    TypeName,
)

_MANY = 1 << 16
_ROUNDINGS = ("round", "floor", "ceil")  # these take the type of the result too


def call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower a call."""
    owner: Item | None = None
    if isinstance(node.func, ast.Attribute):
        owner = cx.expr(node.func.value)
        if isinstance(owner, (FieldRef, FieldShape, Tuple, Unbound)):
            return attribute_of(cx, node.func, owner)  # raises: these have no methods
        if isinstance(owner, Record) and node.func.attr not in owner.names:
            func = method_of(cx, owner, node.func.attr)
            if func is not None:
                return _call_func(cx, node, func, (node.func.value, owner))
            value = dict(owner.methods).get(node.func.attr)
            if value is None:
                return attribute_of(cx, node.func, owner)  # raises: there is none of that name
            raise _not_callable(cx, node, instead(value))
        if not isinstance(owner, (Static, Record)):
            return method_call(cx, node, node.func, cx.value(owner), name)
        with cx.at(node.func):
            target = attribute_of(cx, node.func, owner)
    else:
        target = cx.expr(node.func)
    if not isinstance(target, Static):
        raise CallMismatch(cx.span(node.func), f"{describe(target)} is not a function.")
    match cx.meaning(target):
        case OpName(op):
            return _op(cx, _by_position(cx, node, target.value), target.value, op, name)
        case Special(special):
            return _SPECIAL[special](cx, node, name)
        case TypeName(type_):
            return construct(cx, node, cx.float_type if type_ is None else type_, name)
        case StructName(struct):
            return struct_call(cx, node, struct, name)
        case ClassName() as made:
            return class_call(cx, node, made)
        case FuncMeaning(bound=True) as func:
            # The object that a method belongs to is the first argument of its function.
            of = "__self__" if isinstance(target.value, MethodType) else "instance"
            instance, where = getattr(target.value, of), node.func
            if not isinstance(owner, Static) or owner.value is not instance:
                path = None if target.path is None else target.path.then("attribute", of)
                owner = Static(instance, path)
            elif isinstance(where, ast.Attribute):
                where = where.value
            return _call_func(cx, node, func, (where, owner))
        case FuncMeaning() as func:
            return _call_func(cx, node, func, None)
        case DerivativeOf() as derivative:
            return derivative_call(cx, node, derivative)
        case Compared(function):
            return compared_call(cx, node, function)
        case HostOnly(hint):
            raise _not_callable(cx, node, spelled(_written(node, target)[1]) or hint)
        case _:
            hint = instead(target.value, *_written(node, target))
            raise _not_callable(cx, node, hint)


def _written(node: ast.Call, target: Static) -> tuple[str, str]:
    """Return the package that a called function is reached through, and its name there."""
    if target.path is None or not isinstance(node.func, ast.Attribute):
        return "", ""
    root = look_up(replace(target.path, steps=target.path.steps[:1]))
    package = root.__name__.partition(".")[0] if isinstance(root, ModuleType) else ""
    return package, node.func.attr


def _not_callable(cx: Context, node: ast.Call, hint: str) -> CallMismatch:
    what = f"'{ast.unparse(node.func)}' cannot be called in a kernel."
    return CallMismatch(cx.span(node.func), what, hint)


def _call_func(cx: Context, node: ast.Call, func: FuncMeaning, receiver: Argument | None) -> Item:
    if func.rules is None:
        return inline(cx, node, func.function, receiver)
    return ruled_call(cx, node, func, func.rules, receiver)


def _op(cx: Context, node: ast.Call, function: Any, op: str, name: str) -> Item:
    if op in _ROUNDINGS and len(node.args) == 2:  # `ti.floor(x, dtype)`
        value, target = node.args
        scalar = scalar_of(type_of(cx, target))
        return cx.b.cast(apply(cx, op, [cx.numeric(value)]), scalar, name)
    high = len(COMPOSITES[op].parameters) if op in COMPOSITES else OPS[op].arity
    low, high = (1, _MANY) if op in ("max", "min") else (high, high)
    # Parameters with a default may be left out.
    given = getattr(function, "__defaults__", None) or ()
    defaults = [Static(value) for value in given if isinstance(value, (int, float))]
    arguments = spread(cx, counted_or_spread(cx, node, low - len(defaults), high))
    if op in ("max", "min") and len(arguments) == 1 and is_tuple(arguments[0][1]):
        ((where, given),) = arguments
        arguments = [(where, part) for part in parts_of(cx, given) or (given,)]
    items: list[Item] = []
    for where, item in arguments:
        with cx.at(where):
            items.append(item if is_number(item) else cx.value(item))
    if defaults:
        items += defaults[len(defaults) - (high - len(items)) :]
    literals = [item.value for item in items if isinstance(item, Static)]
    if op in ("min", "max") and len(literals) == len(items):
        # Known while compiling, so that they can be used under `ti.static`.
        return Static(min(literals) if op == "min" else max(literals))
    return apply(cx, op, items, name)


def _by_position(cx: Context, node: ast.Call, function: Any) -> ast.Call:
    """Return a call with its named arguments at their positions in the function's signature."""
    if not node.keywords:
        return node
    try:
        names = list(inspect.signature(function).parameters)
    except ValueError:  # some of Python's own
        return node
    given: dict[str, ast.expr] = dict(zip(names, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg not in names or keyword.arg in given:
            raise CallMismatch(
                cx.span(keyword),
                f"'{ast.unparse(node.func)}' takes no argument '{keyword.arg}' here.",
                did_you_mean(keyword.arg or "", names),
            )
        given[keyword.arg] = keyword.value
    ordered = [given[name] for name in names if name in given]
    missing = next((name for name in names if name not in given), None)
    if missing is not None and names.index(missing) < len(ordered):
        raise CallMismatch(
            cx.span(node), f"'{ast.unparse(node.func)}' is missing its argument '{missing}'."
        )
    return ast.copy_location(ast.Call(node.func, ordered, []), node)


def counted_or_spread(cx: Context, node: ast.Call, low: int, high: int) -> Sequence[ast.expr]:
    """Return the arguments of a call, counted unless one is `*values`."""
    if not any(isinstance(argument, ast.Starred) for argument in node.args):
        return counted_arguments(cx, node, low, high)
    found = spread(cx, positional(cx, node))
    if not low <= len(found) <= high:
        what = f"'{ast.unparse(node.func)}' takes {low} arguments, not {len(found)}."
        raise CallMismatch(cx.span(node), what)
    return node.args


# Functions with a meaning of their own


def _static(cx: Context, node: ast.Call, name: str) -> Item:
    arguments = counted_arguments(cx, node, 1, _MANY)
    items: list[Item] = []
    for argument in arguments:
        item = cx.operand(argument)
        if not isinstance(item, (Static, FieldRef, Tuple, FieldShape)):
            raise TypeMismatch(
                cx.span(argument),
                "'ti.static' of something that is known at run time only.",
                describe(item),
                hint="leave 'ti.static' out, or take it from a Python number outside the kernel.",
            )
        items.append(item)
    return items[0] if len(items) == 1 else Tuple(tuple(items))


def _loops_only(what: str, instead: str) -> Callable[..., Item]:
    def handler(cx: Context, node: ast.Call, name: str) -> Item:
        raise CallMismatch(cx.span(node), f"{what}.", f"{instead}.")

    return handler


_GROUPED_LOOPS = _loops_only(
    "'ti.grouped' stands in a 'for' only", "write 'for I in ti.grouped(x):'"
)


def _grouped(cx: Context, node: ast.Call, name: str) -> Item:
    """Return the tuples of an ndrange as vectors, as under `ti.static`; loops have their own."""
    (argument,) = counted_arguments(cx, node, 1, 1)
    if not isinstance(argument, ast.Call) or cx.special(argument) != "ndrange":
        return _GROUPED_LOOPS(cx, node, name)
    cells = cells_of(cx, argument)
    return Tuple(tuple(cx.call("vec", *(Const(k, I32) for k in cell)) for cell in cells))


def _len(cx: Context, node: ast.Call, name: str) -> Item:
    (argument,) = counted_arguments(cx, node, 1, 1)
    item = cx.operand(argument)
    field = field_of(item)
    if field is not None and field.ndim:
        return size_of(cx, field, 0)
    parts = parts_of(cx, item)
    if parts is not None:
        return Static(len(parts))
    if isinstance(item, (Var, Const)) and shape_of(item.type):
        return Static(shape_of(item.type)[0])
    raise TypeMismatch(cx.span(argument), f"{describe(item)} has no length in a kernel.")


def _hypot(cx: Context, node: ast.Call, name: str) -> Item:
    arguments = counted_arguments(cx, node, 1, _MANY)
    values: list[Value] = floats(cx, [cx.numeric(argument) for argument in arguments])
    return apply(cx, "norm", [cx.call("vec", *values)], name)


def _logsumexp(cx: Context, node: ast.Call, name: str) -> Item:
    arguments = spread(cx, counted_or_spread(cx, node, 1, _MANY))
    items = [item for _, item in arguments]
    if len(items) > 1:
        for where, item in arguments:
            with cx.at(where):
                if shape_of(cx.value(item).type):
                    raise TypeMismatch(
                        cx.span(where), "expected one vector, or numbers.", describe(item)
                    )
        items = [cx.call("vec", *floats(cx, items))]
    return apply(cx, "logsumexp", items, name)


def _solve_triangular(cx: Context, node: ast.Call, name: str) -> Item:
    function = cx.expr(node.func)
    assert isinstance(function, Static)
    by_position = _by_position(cx, node, function.value)
    matrix, right, *rest = counted_arguments(cx, by_position, 2, 3)
    lower = cx.operand(rest[0]) if rest else Static(True)
    if not isinstance(lower, Static) or not isinstance(lower.value, bool):
        raise TypeMismatch(
            cx.span(rest[0]), "'lower' is True or False, known while compiling.", describe(lower)
        )
    op = "solve_lower" if lower.value else "solve_upper"
    return apply(cx, op, [cx.numeric(matrix), cx.numeric(right)], name)


def _local(cx: Context, node: ast.Call, name: str) -> Item:
    function = cx.expr(node.func)
    assert isinstance(function, Static)
    return local_array(cx, _by_position(cx, node, function.value), name)


_SPECIAL: dict[str, Callable[[Context, ast.Call, str], Item]] = {
    "power": power_call,
    "cast": cast_call,
    "bit_cast": bit_cast_call,
    "vector": vector_call,
    "matrix": matrix_call,
    "struct": free_struct,
    "make_type": make_type,
    "rows": rows_call,
    "columns": columns_call,
    "zero": constant_matrix(lambda i, j: 0.0),
    "one": constant_matrix(lambda i, j: 1.0),
    "identity": constant_matrix(lambda i, j: float(i == j)),
    "eye": eye_call,
    "diag": diagonal_call,
    "unit": unit_call,
    "svd": decomposition("svd", "msm"),
    "eig": eig_call,
    "sym_eig": decomposition("sym_eig", "vm"),
    "polar": decomposition("polar", "mm"),
    "zero_like": constant_like(0),
    "one_like": constant_like(1),
    "any": truth_call("or"),
    "all": truth_call("and"),
    "static": _static,
    # As values, under `ti.static`; loops have handlers of their own.
    "range": lambda cx, node, name: Static(unrolled(cx, node)),
    "ndrange": lambda cx, node, name: Static(cells_of(cx, node)),
    "grouped": _grouped,
    **ATOMICS,
    "loop_config": _loops_only(
        "'ti.loop_config' gives back no value", "write it on a line of its own before the loop"
    ),
    "print": _loops_only("'print' gives back no value", "write it as a statement of its own"),
    "breakpoint": _loops_only(
        "'breakpoint' gives back no value", "write it as a statement of its own"
    ),
    "len": _len,
    "bwd_diff": derivative_of(forward=False),
    "fwd_diff": derivative_of(forward=True),
    "hypot": _hypot,
    "logsumexp": _logsumexp,
    "solve_triangular": _solve_triangular,
    "stop_grad": stop_grad,
    "exact": exact,
    "rand": rand,
    "randn": randn,
    "randint": randint,
    "local": _local,
}
