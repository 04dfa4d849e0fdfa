"""Expressions: names, operators, indexing, attributes, conditionals."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from difftile.diagnostics import KernelError, TypeMismatch, UndefinedAttribute
from difftile.frontend.calls import call
from difftile.frontend.context import Context, ExpressionHandler, describe
from difftile.frontend.convert import apply, common, filled, floats, truth
from difftile.frontend.items import Element, FieldRef, Item, Path, Several, Shape, Static
from difftile.frontend.joins import branch
from difftile.ir.nodes import Array, Const, Let, Size, Value, Var
from difftile.ir.types import BOOL, FLOATS, I32, Matrix, Vector, scalar_of, shape_of

_BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("div", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.Pow: ("pow", operator.pow),
    ast.MatMult: ("matmul", operator.matmul),
    ast.BitAnd: ("bit_and", operator.and_),
    ast.BitOr: ("bit_or", operator.or_),
    ast.BitXor: ("bit_xor", operator.xor),
    ast.LShift: ("shl", operator.lshift),
    ast.RShift: ("shr", operator.rshift),
}
_COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
}
_LARGEST_EXPANDED_POWER = 16
_COMPONENTS = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}


def _constant(cx: Context, node: ast.Constant, name: str) -> Item:
    if isinstance(node.value, (bool, int, float)) or node.value is None:
        return Static(node.value)
    if isinstance(node.value, str):
        raise KernelError(
            "Unsupported Python syntax: text.", cx.span(node), hint="kernels work on numbers."
        )
    raise KernelError(
        f"Unsupported Python syntax: {type(node.value).__name__} literal.",
        cx.span(node),
        "not part of the kernel language",
    )


def _name(cx: Context, node: ast.Name, name: str) -> Item:
    return cx.lookup(node)


def _tuple(cx: Context, node: ast.Tuple, name: str) -> Item:
    return Several(tuple(cx.operand(element) for element in node.elts))


# Operators


def _is_number(item: Item) -> bool:
    return isinstance(item, Static) and isinstance(item.value, (bool, int, float))


def _binary(cx: Context, node: ast.BinOp, name: str) -> Item:
    left, right = cx.operand(node.left), cx.operand(node.right)
    return binary(cx, type(node.op), left, right, name)


def binary(
    cx: Context, kind: type[ast.operator], left: Item, right: Item, name: str = ""
) -> Item:
    """Return `left op right`."""
    op, python = _BINARY[kind]
    if isinstance(left, Static) and isinstance(right, Static):
        if not (_is_number(left) and _is_number(right)):
            wrong = right if _is_number(left) else left
            raise TypeMismatch(cx.b.span, f"a number is wanted here, not {describe(wrong)}.")
        try:
            return Static(python(left.value, right.value))
        except (ArithmeticError, TypeError, ValueError) as error:
            raise TypeMismatch(cx.b.span, f"{error}.") from None
    if op == "div":
        return cx.call("div", *floats(cx, [left, right]), name=name)
    if op == "pow":
        return power(cx, left, right, name)
    values = common(cx, [left, right])
    if op == "floordiv" and scalar_of(values[0].type) in FLOATS:
        return cx.call("floor", cx.call("div", *values), name=name)
    return cx.call(op, *values, name=name)


def power(cx: Context, base: Item, exponent: Item, name: str = "") -> Value:
    """Return base ** exponent; a literal whole exponent becomes products."""
    if isinstance(exponent, Static) and isinstance(exponent.value, (int, float)):
        whole = int(exponent.value)
        if whole == exponent.value and abs(whole) <= _LARGEST_EXPANDED_POWER:
            value = cx.value(base)
            if isinstance(exponent.value, float) or whole < 0:
                (value,) = floats(cx, [value])
            positive = _repeated(cx, value, abs(whole), name)
            if whole >= 0:
                return positive
            return cx.call("div", Const(1.0, scalar_of(value.type)), positive, name=name)
    values = common(cx, [base, exponent])
    if scalar_of(values[0].type) not in FLOATS:
        raise TypeMismatch(
            cx.b.span,
            "an integer to a power known only at run time.",
            hint="cast the base to a float, or use a literal exponent.",
        )
    return cx.call("pow", *values, name=name)


def _repeated(cx: Context, value: Value, times: int, name: str) -> Value:
    """Return value ** times by squaring."""
    if times == 0:
        one = Const(1.0 if scalar_of(value.type) in FLOATS else 1, scalar_of(value.type))
        return filled(cx, one, value.type) if shape_of(value.type) else one
    if times == 1:
        return value
    half = _repeated(cx, value, times // 2, "")
    squared = cx.call("mul", half, half, name=name if times % 2 == 0 else "")
    return squared if times % 2 == 0 else cx.call("mul", squared, value, name=name)


def _unary(cx: Context, node: ast.UnaryOp, name: str) -> Item:
    item = cx.expr(node.operand)
    if isinstance(item, Static) and _is_number(item):
        value = item.value
        folded = {
            ast.USub: lambda: -value,
            ast.UAdd: lambda: +value,
            ast.Not: lambda: not value,
            ast.Invert: lambda: ~value,
        }
        return Static(folded[type(node.op)]())
    value = cx.value(item)
    match node.op:
        case ast.Not():
            return cx.call("not", truth(cx, value), name=name)
        case ast.Invert():
            return cx.call("invert", value, name=name)
        case ast.USub():
            return cx.call("neg", *common(cx, [value]), name=name)
        case _:
            return value


def _compare(cx: Context, node: ast.Compare, name: str) -> Item:
    items = [cx.operand(node.left)]
    result: Item | None = None
    for kind, comparator in zip(node.ops, node.comparators, strict=True):
        items.append(cx.operand(comparator))
        one = _comparison(cx, node, kind, items[-2], items[-1])
        result = one if result is None else _both(cx, result, one)
    assert result is not None
    return result


def _comparison(cx: Context, node: ast.Compare, kind: ast.cmpop, left: Item, right: Item) -> Item:
    known = _COMPARE.get(type(kind))
    if known is None:
        if isinstance(left, Static) and isinstance(right, Static):
            same = left.value is right.value
            if isinstance(kind, (ast.Is, ast.IsNot)):
                return Static(same == isinstance(kind, ast.Is))
        word = {ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}[type(kind)]
        raise KernelError(
            f"Unsupported Python syntax: '{word}'.",
            cx.span(node),
            "not part of the kernel language",
            hint="compare with '==' and '!='.",
        )
    op, python = known
    if isinstance(left, Static) and isinstance(right, Static):
        return Static(python(left.value, right.value))
    return cx.call(op, *common(cx, [left, right]))


def _both(cx: Context, left: Item, right: Item) -> Item:
    if isinstance(left, Static) and isinstance(right, Static):
        return Static(left.value and right.value)
    return cx.call("and", truth(cx, cx.value(left)), truth(cx, cx.value(right)))


def _logic(cx: Context, node: ast.BoolOp, name: str) -> Item:
    """Lower 'and' and 'or'; the right side runs only if the left does not decide."""
    is_and = isinstance(node.op, ast.And)
    left = cx.operand(node.values[0])
    for right in node.values[1:]:
        left = _logic_pair(cx, is_and, left, right)
    return left


def _logic_pair(cx: Context, is_and: bool, left: Item, right: ast.expr) -> Item:
    if isinstance(left, Static):
        decided = bool(left.value) != is_and
        return left if decided else cx.operand(right)
    first = truth(cx, cx.value(left))
    with cx.b.region() as stmts:
        second = truth(cx, cx.number(right))
    if all(isinstance(stmt, (Let, Size)) for stmt in stmts):
        for stmt in stmts:
            cx.b.append(stmt)
        return cx.call("and" if is_and else "or", first, second)
    known = Const(not is_and, BOOL)
    sides = ((stmts, second), ([], known)) if is_and else (([], known), (stmts, second))
    return branch(cx, first, *sides)


def _conditional(cx: Context, node: ast.IfExp, name: str) -> Item:
    test = cx.expr(node.test)
    if isinstance(test, Static):
        return cx.expr(node.body if test.value else node.orelse, name)
    cond = truth(cx, cx.value(test))
    with cx.b.region() as then:
        first = cx.expr(node.body)
        first_value = None if isinstance(first, Static) else cx.value(first)
    with cx.b.region() as orelse:
        second = cx.expr(node.orelse)
        second_value = None if isinstance(second, Static) else cx.value(second)
    # A literal on one side takes the type of the other; casts belong into the branch.
    like = first_value if first_value is not None else second_value
    type_ = None if like is None else like.type
    sides = [
        first_value if first_value is not None else cx.value(first, type_),
        second_value if second_value is not None else cx.value(second, type_),
    ]
    target = common_type(cx, sides)
    blocks: list[tuple[list[Any], Value]] = []
    for stmts, value in zip((then, orelse), sides, strict=True):
        with cx.b.region() as casts:
            blocks.append(([], cx.b.cast(value, target)))
        blocks[-1] = ([*stmts, *casts], blocks[-1][1])
    return branch(cx, cond, *blocks, name=name)


def common_type(cx: Context, values: list[Value]) -> Any:
    """Return the number type that two branches agree on."""
    with cx.b.region():
        return scalar_of(common(cx, list(values))[0].type) if _differ(values) else scalar_of(
            values[0].type
        )


def _differ(values: list[Value]) -> bool:
    return scalar_of(values[0].type) != scalar_of(values[1].type)


# Indexing and attributes


def index_of(cx: Context, node: ast.expr, array: Array) -> tuple[Value, ...]:
    """Return the index values of `array[node]`; a vector index is spread."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    index: list[Value] = []
    for part in parts:
        item = cx.expr(part)
        if isinstance(item, Static) and item.value is None and len(parts) == 1:
            continue
        if isinstance(item, Several):
            index += [_index(cx, part, one) for one in item.items]
            continue
        value = cx.value(item)
        if isinstance(value.type, Vector):
            with cx.at(part):
                index += [
                    _index(cx, part, cx.call("extract", value, Const(k, I32)))
                    for k in range(value.type.n)
                ]
        else:
            index.append(_index(cx, part, value))
    if len(index) != array.type.ndim:
        wanted = "None" if array.type.ndim == 0 else f"{array.type.ndim} of them"
        raise TypeMismatch(
            cx.span(node),
            f"'{array.name}' has {array.type.ndim} dimensions and is given {len(index)} indices.",
            f"write {wanted}",
        )
    return tuple(index)


def _index(cx: Context, node: ast.expr, item: Item) -> Value:
    with cx.at(node):
        value = cx.value(item)
        if scalar_of(value.type) in FLOATS:
            raise TypeMismatch(
                cx.span(node),
                f"an index is an integer, not {value.type}.",
                hint="cast it: 'int(...)' or 'ti.cast(..., ti.i32)'.",
            )
        if isinstance(value, Const) and value.value < 0:
            raise TypeMismatch(
                cx.span(node),
                f"index {value.value} is negative.",
                hint="kernels do not count from the end: write 'x[x.shape[0] - 1]'.",
            )
        return cx.b.cast(value, I32)


def component_index(cx: Context, node: ast.expr, type_: Any) -> tuple[Value, ...]:
    """Return the index of one component of a vector or matrix, checked where it is a literal."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    index = tuple(_index(cx, part, cx.expr(part)) for part in parts)
    shape = shape_of(type_)
    if len(index) != len(shape):
        raise TypeMismatch(
            cx.span(node), f"{type_} has {len(shape)} indices and is given {len(index)}."
        )
    for size, value in zip(shape, index, strict=True):
        if isinstance(value, Const) and value.value >= size:
            raise TypeMismatch(cx.span(node), f"component {value.value} of {type_}.")
    return index


def _subscript(cx: Context, node: ast.Subscript, name: str) -> Item:
    item = cx.expr(node.value)
    match item:
        case FieldRef(array):
            return Element(array, index_of(cx, node.slice, array))
        case Element(array, index):
            element = array.type.element
            if shape_of(element):
                return Element(array, (*index, *component_index(cx, node.slice, element)))
            raise TypeMismatch(
                cx.span(node), f"'{array.name}' holds {element}, which has no components."
            )
        case Var(_, type_) | Const(_, type_):
            if not shape_of(type_):
                raise TypeMismatch(cx.span(node), f"{type_} has no components.")
            if isinstance(type_, Matrix) and not isinstance(node.slice, ast.Tuple):
                return _row(cx, item, component_row(cx, node.slice, type_))
            return cx.call("extract", item, *component_index(cx, node.slice, type_), name=name)
        case Shape(array):
            return cx.b.size(array, _static_index(cx, node.slice, array.type.ndim))
        case Several(items):
            return items[_static_index(cx, node.slice, len(items))]
        case Static(value, path):
            key = cx.expr(node.slice)
            if not isinstance(key, Static):
                raise TypeMismatch(
                    cx.span(node.slice),
                    "a Python object is indexed with a run-time value.",
                    hint="index with a literal or under 'ti.static', or make it a field.",
                )
            try:
                found = value[key.value]
            except (LookupError, TypeError) as error:
                raise TypeMismatch(cx.span(node), f"{error}.") from None
            return cx.captured(found, None if path is None else path.then("item", key.value))
        case _:
            raise TypeMismatch(cx.span(node), f"{describe(item)} cannot be indexed.")


def component_row(cx: Context, node: ast.expr, type_: Matrix) -> Value:
    """Return the index of a row of a matrix."""
    value = _index(cx, node, cx.expr(node))
    if isinstance(value, Const) and value.value >= type_.n:
        raise TypeMismatch(cx.span(node), f"row {value.value} of {type_}.")
    return value


def _row(cx: Context, matrix: Value, row: Value) -> Value:
    m = shape_of(matrix.type)[1]
    parts = (cx.call("extract", matrix, row, Const(j, I32)) for j in range(m))
    return cx.call("vec", *parts)


def _static_index(cx: Context, node: ast.expr, size: int) -> int:
    item = cx.expr(node)
    if not isinstance(item, Static) or not isinstance(item.value, int):
        raise TypeMismatch(cx.span(node), "a literal index is wanted here.")
    if not -size <= item.value < size:
        raise TypeMismatch(cx.span(node), f"index {item.value} of {size} elements.")
    return item.value % size


def swizzle(name: str, size: int) -> tuple[int, ...] | None:
    """Return the components that a swizzle such as `x` or `xyz` names, or None."""
    picks = tuple(_COMPONENTS.get(letter, size) for letter in name)
    return picks if name and all(pick < size for pick in picks) else None


def _attribute(cx: Context, node: ast.Attribute, name: str) -> Item:
    item = cx.expr(node.value)
    match item:
        case FieldRef(array):
            return _field_attribute(cx, node, array)
        case Element(array, index) if isinstance(array.type.element, Vector):
            picks = swizzle(node.attr, array.type.element.n)
            if picks is not None and len(picks) == 1:
                return Element(array, (*index, Const(picks[0], I32)))
            return _picked(cx, node, cx.value(item), name)
        case Static(value, path):
            return _object_attribute(cx, node, value, path)
        case Var() | Const() | Element():
            return _picked(cx, node, cx.value(item), name)
        case _:
            raise UndefinedAttribute(cx.span(node), describe(item), node.attr, ())


def _field_attribute(cx: Context, node: ast.Attribute, array: Array) -> Item:
    if node.attr == "shape":
        return Shape(array)
    if node.attr in ("grad", "grad_in", "grad_out"):
        raise KernelError(
            "Gradients of fields cannot be read in a kernel.",
            cx.span(node),
            hint="pass the gradient as a field of its own: 'kernel(x, x.grad)'.",
        )
    raise UndefinedAttribute(cx.span(node), f"Field '{array.name}'", node.attr, ("shape",))


def _picked(cx: Context, node: ast.Attribute, value: Value, name: str) -> Item:
    type_ = value.type
    if isinstance(type_, Vector):
        picks = swizzle(node.attr, type_.n)
        if picks is not None:
            parts = [cx.call("extract", value, Const(k, I32), name=name) for k in picks]
            return parts[0] if len(parts) == 1 else cx.call("vec", *parts, name=name)
    if isinstance(type_, Matrix) and node.attr in ("n", "m"):
        return Static(getattr(type_, node.attr))
    if isinstance(type_, Vector) and node.attr == "n":
        return Static(type_.n)
    known = ("x", "y", "z", "w")[: type_.n] if isinstance(type_, Vector) else ()
    raise UndefinedAttribute(cx.span(node), f"A value of type {type_}", node.attr, known)


def _object_attribute(cx: Context, node: ast.Attribute, value: Any, path: Path | None) -> Item:
    missing = object()
    found = getattr(value, node.attr, missing)
    if found is missing:
        candidates = [name for name in dir(value) if not name.startswith("_")]
        owner = f"'{getattr(value, '__name__', type(value).__name__)}'"
        guess = UndefinedAttribute(cx.span(node), owner, node.attr, candidates)
        if guess.hint is not None and guess.hint.startswith("known here"):
            raise UndefinedAttribute(cx.span(node), owner, node.attr, ())
        raise guess
    return cx.captured(found, None if path is None else path.then("attribute", node.attr))


EXPRESSIONS: dict[type[ast.expr], ExpressionHandler] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Tuple: _tuple,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _logic,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.Attribute: _attribute,
    ast.Call: call,
}

__all__ = ["EXPRESSIONS", "apply", "binary"]
