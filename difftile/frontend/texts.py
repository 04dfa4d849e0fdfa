"""Text in kernels: `print`, and the messages of `assert`, with f-strings."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from difftile.diagnostics import CallMismatch, TypeMismatch, UnsupportedSyntax
from difftile.frontend.context import Context
from difftile.frontend.convert import condition, spread
from difftile.frontend.items import (
    FieldRef,
    Item,
    Shape,
    Static,
    Tuple,
    describe,
    element_text,
)
from difftile.frontend.logic import tested
from difftile.frontend.name_lookup import depend, parts_of
from difftile.ir.failures import AssertionFailed
from difftile.ir.nodes import Block, Const, Fail, If, Print, Shown, Text, Value, Var
from difftile.ir.types import BOOL, F16, F32, FLOATS, I32, U32, Scalar, scalar_of, shape_of

# What Python and C both know: alignment, sign, zeros, width, precision, kind.
_SPEC = re.compile(r"(?P<align>[<>])?(?P<flags>[+ ]?0?)(?P<width>\d*)(?P<dot>\.\d+)?(?P<kind>\w?)")
_NARROW = ("i8", "i16", "u8", "u16")


def print_statement(cx: Context, node: ast.Call) -> None:
    """Lower `print(...)`; it is run once a launch, and never by an adjoint."""
    options = {"sep": " ", "end": "\n"}
    for keyword in node.keywords:
        if keyword.arg not in options:
            raise CallMismatch(
                cx.span(keyword),
                f"'print' in a kernel takes 'sep' and 'end', not '{keyword.arg or '**'}'.",
            )
        options[keyword.arg] = _option(cx, keyword.value, options[keyword.arg])
    parts: list[Text] = []
    for position, (where, item) in enumerate(_arguments(cx, node.args)):
        if position:
            parts.append(options["sep"])
        parts += _shown(cx, where, item, "")
    parts.append(options["end"])
    cx.b.append(Print(_joined(parts), cx.b.span))


def assert_statement(cx: Context, node: ast.Assert) -> None:
    """Lower `assert`: a failure that is reported unless the condition holds."""
    test = tested(cx, node.test)
    if isinstance(test, Static):
        depend(cx, test)
        if test.value:
            return
        cond: Value = Const(False, BOOL)
    else:
        cond = condition(cx, node.test, test)
    parts: list[Text] = []
    with cx.b.region() as stmts:
        if node.msg is not None:
            for where, item in _arguments(cx, [node.msg]):
                parts += _shown(cx, where, item, "")
        message = "".join(_percent(part) for part in parts)
        values = tuple(part.value for part in parts if isinstance(part, Shown))
        failure = AssertionFailed(ast.unparse(node.test), message)
        cx.b.append(Fail(failure, values, cx.span(node.test)))
    cx.b.append(If(cx.call("not", cond), Block(tuple(stmts)), Block(()), (), cx.b.span))


def _arguments(cx: Context, nodes: Sequence[ast.expr]) -> list[tuple[ast.expr, Item | list[Text]]]:
    found: list[tuple[ast.expr, Item | list[Text]]] = []
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            found.append((node, _formatted(cx, node)))
        else:
            found += spread(cx, [node])
    return found


def _option(cx: Context, node: ast.expr, default: str) -> str:
    item = cx.operand(node)
    if not isinstance(item, Static) or not isinstance(item.value, str | None):
        raise TypeMismatch(
            cx.span(node), "a text is wanted here, known while compiling.", describe(item)
        )
    depend(cx, item)
    return default if item.value is None else item.value


# f-strings


def _formatted(cx: Context, node: ast.JoinedStr) -> list[Text]:
    parts: list[Text] = []
    for piece in node.values:
        if isinstance(piece, ast.Constant):
            parts.append(str(piece.value))
        elif isinstance(piece, ast.FormattedValue):
            # Before Python 3.12 the parts of an f-string have no places of their own.
            for _, item in _arguments(cx, [piece.value]):
                parts += _shown(cx, node, item, _spec(cx, node, piece))
    return parts


def _spec(cx: Context, node: ast.JoinedStr, piece: ast.FormattedValue) -> str:
    if piece.format_spec is None:
        return ""
    assert isinstance(piece.format_spec, ast.JoinedStr)
    texts = piece.format_spec.values
    if not all(isinstance(text, ast.Constant) for text in texts):
        raise UnsupportedSyntax(
            cx.span(node), "a format that is computed", "write its width as a literal."
        )
    return "".join(str(text.value) for text in texts if isinstance(text, ast.Constant))


# Values


def _shown(cx: Context, node: ast.expr, item: Item | list[Text], spec: str) -> list[Text]:
    """Return how an item is shown: texts, and values with their format."""
    if isinstance(item, list):
        return item
    if isinstance(item, Static) and not isinstance(item.value, (tuple, list)):
        depend(cx, item)
        if not isinstance(item.value, (str, bool, int, float, type(None))):
            raise _cannot(cx, node, item)
        try:
            return [format(item.value, spec)]
        except (ValueError, TypeError) as error:
            reason = str(error)
            raise TypeMismatch(cx.span(node), f"{reason[:1].lower()}{reason[1:]}.") from None
    if isinstance(item, (Tuple, Shape, Static)):
        parts = [_shown(cx, node, part, spec) for part in parts_of(cx, item) or ()]
        return _bracketed(parts, "()" if len(parts) != 1 else ("(", ",)"))
    if not isinstance(item, (Var, Const)):
        raise _cannot(cx, node, item)
    with cx.at(node):
        value = cx.value(item)
        form = _form(cx, node, spec, scalar_of(value.type))
        return _components(value, lambda *index: _one(cx, value, index, form))


def _cannot(cx: Context, node: ast.expr, item: Item) -> TypeMismatch:
    hint = "print numbers and text; print the rest from Python."
    if isinstance(item, FieldRef):
        hint = f"print one element: '{element_text(item)}'; or all of it from Python."
    return TypeMismatch(cx.span(node), f"{describe(item)} cannot be shown in a kernel.", hint=hint)


def _components(value: Value, one: Callable[..., Text]) -> list[Text]:
    match shape_of(value.type):
        case ():
            return [one()]
        case (n,):
            return _bracketed([[one(i)] for i in range(n)], "[]")
        case shape:
            n, m = shape
            rows = [_bracketed([[one(i, j)] for j in range(m)], "[]") for i in range(n)]
            return _bracketed(rows, "[]")


def _bracketed(parts: Sequence[list[Text]], brackets: Sequence[str]) -> list[Text]:
    found: list[Text] = [brackets[0]]
    for position, part in enumerate(parts):
        found += [", ", *part] if position else part
    return [*found, brackets[1]]


def _one(cx: Context, value: Value, index: tuple[int, ...], form: str) -> Shown:
    number = cx.call("extract", value, *(Const(i, I32) for i in index)) if index else value
    wide = _printable(scalar_of(number.type), form)
    return Shown(cx.b.cast(number, wide), form)


def _printable(scalar: Scalar, form: str) -> Scalar:
    if form.endswith("x"):
        return U32 if scalar in (I32, BOOL) or scalar.name in _NARROW else scalar
    if scalar == F16:
        return F32
    return I32 if scalar == BOOL or scalar.name in _NARROW else scalar


def _form(cx: Context, node: ast.expr, spec: str, scalar: Scalar) -> str:
    """Return a Python format as one of C.

    Raises:
        TypeMismatch: There is none for this type of number.
    """
    if not spec:
        return ""
    found = _SPEC.fullmatch(spec)
    floats = scalar in FLOATS
    kind = "" if found is None else found["kind"] or ("g" if floats else "d")
    if found is None or kind not in ("feg" if floats else "dx") or (found["dot"] and not floats):
        instead = "'.3f', '8.2e' or 'g'" if floats else "'d', '5d', '05d' or 'x'"
        raise TypeMismatch(
            cx.span(node), f"no format '{spec}' for {scalar}.", hint=f"write {instead}."
        )
    left = "-" if found["align"] == "<" else ""
    return f"{left}{found['flags']}{found['width']}{found['dot'] or ''}{kind}"


def _percent(part: Text) -> str:
    if isinstance(part, str):
        return part.replace("%", "%%")
    return f"%{part.form or ('g' if scalar_of(part.value.type) in FLOATS else 'd')}"


def _joined(parts: Sequence[Text]) -> tuple[Text, ...]:
    """Return the parts with neighbouring texts put together."""
    found: list[Text] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, str) and isinstance(last, str):
            found[-1] = last + part
        elif part != "":
            found.append(part)
    return tuple(found)
