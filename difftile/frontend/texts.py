"""Text in kernels: `print`, and the messages of `assert`, with f-strings."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from difftile.diagnostics import CallMismatch, TypeMismatch, UnsupportedSyntax
from difftile.frontend.context import Context
from difftile.frontend.convert import condition, spread
from difftile.frontend.items import (
    FieldRef,
    FieldShape,
    Item,
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

# The format options common to Python and C: alignment, sign, zeros, width, precision, kind.
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
        item = cx.operand(keyword.value)
        if not isinstance(item, Static) or not isinstance(item.value, str | None):
            what = "expected a text that is known while compiling."
            raise TypeMismatch(cx.span(keyword.value), what, describe(item))
        depend(cx, item)
        if item.value is not None:
            options[keyword.arg] = item.value
    parts: list[Text] = []
    for position, (where, item) in enumerate(_arguments(cx, node.args)):
        if position:
            parts.append(options["sep"])
        parts += _shown(cx, where, item, "")
    joined: list[Text] = []  # with neighbouring texts put together
    for part in (*parts, options["end"]):
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        elif part != "":
            joined.append(part)
    cx.b.append(Print(tuple(joined), cx.b.span))


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
    message = ""
    values: list[Value] = []
    with cx.b.region() as stmts:
        for where, item in () if node.msg is None else _arguments(cx, [node.msg]):
            for part in _shown(cx, where, item, ""):
                if isinstance(part, str):
                    message += part.replace("%", "%%")
                else:
                    usual = "g" if scalar_of(part.value.type) in FLOATS else "d"
                    message += f"%{part.form or usual}"
                    values.append(part.value)
        failure = AssertionFailed(ast.unparse(node.test), message)
        cx.b.append(Fail(failure, tuple(values), cx.span(node.test)))
    cx.b.append(If(cx.call("not", cond), Block(tuple(stmts)), Block(()), (), cx.b.span))


def _arguments(cx: Context, nodes: Sequence[ast.expr]) -> list[tuple[ast.expr, Item | list[Text]]]:
    """Lower arguments; `*values` are spread, and f-strings become texts and values."""
    found: list[tuple[ast.expr, Item | list[Text]]] = []
    for node in nodes:
        if not isinstance(node, ast.JoinedStr):
            found += spread(cx, [node])
            continue
        parts: list[Text] = []
        for piece in node.values:
            if isinstance(piece, ast.Constant):
                parts.append(str(piece.value))
            elif isinstance(piece, ast.FormattedValue):
                # Before Python 3.12 the parts of an f-string have no places of their own.
                for _, item in _arguments(cx, [piece.value]):
                    parts += _shown(cx, node, item, _spec(cx, node, piece))
        found.append((node, parts))
    return found


def _spec(cx: Context, node: ast.JoinedStr, piece: ast.FormattedValue) -> str:
    """Return the format of a value in an f-string."""
    spec = piece.format_spec
    texts = spec.values if isinstance(spec, ast.JoinedStr) else []
    if not all(isinstance(text, ast.Constant) for text in texts):
        raise UnsupportedSyntax(
            cx.span(node), "a format that is computed", "write its width as a literal."
        )
    return "".join(str(text.value) for text in texts if isinstance(text, ast.Constant))


# Values


def _shown(cx: Context, node: ast.expr, item: Item | list[Text], spec: str) -> list[Text]:
    """Return how an item is shown: texts, and values with their format."""
    match item:
        case list():
            return item
        case Static(None | str() | bool() | int() | float() as value):
            depend(cx, item)
            try:
                return [format(value, spec)]
            except (ValueError, TypeError) as error:
                reason = str(error)
                raise TypeMismatch(cx.span(node), f"{reason[:1].lower()}{reason[1:]}.") from None
        case Tuple() | FieldShape() | Static(tuple() | list()):
            parts = [_shown(cx, node, part, spec) for part in parts_of(cx, item) or ()]
            return _bracketed(parts, "()" if len(parts) != 1 else ("(", ",)"))
        case Var() | Const():
            with cx.at(node):
                form = _form(cx, node, spec, scalar_of(item.type))
                return _components(cx, item, form, ())
        case _:
            hint = "print numbers and text; print the rest from Python."
            if isinstance(item, FieldRef):
                hint = f"print one element: '{element_text(item)}'; or all of it from Python."
            what = f"{describe(item)} cannot be shown in a kernel."
            raise TypeMismatch(cx.span(node), what, hint=hint)


def _bracketed(parts: Sequence[list[Text]], brackets: Sequence[str]) -> list[Text]:
    found: list[Text] = [brackets[0]]
    for position, part in enumerate(parts):
        found += [", ", *part] if position else part
    return [*found, brackets[1]]


def _components(cx: Context, value: Value, form: str, index: tuple[int, ...]) -> list[Text]:
    """Return the components of a value that begin with an index, in types that C prints."""
    shape = shape_of(value.type)
    if len(index) < len(shape):
        size = shape[len(index)]
        parts = [_components(cx, value, form, (*index, k)) for k in range(size)]
        return _bracketed(parts, "[]")
    number = cx.call("extract", value, *(Const(k, I32) for k in index)) if index else value
    scalar = scalar_of(number.type)
    is_narrow = scalar == BOOL or scalar.name in _NARROW
    if form.endswith("x"):
        scalar = U32 if scalar == I32 or is_narrow else scalar
    elif scalar == F16 or is_narrow:
        scalar = F32 if scalar == F16 else I32
    return [Shown(cx.b.cast(number, scalar), form)]


def _form(cx: Context, node: ast.expr, spec: str, scalar: Scalar) -> str:
    """Return a Python format as one of C.

    Raises:
        TypeMismatch: C has no such format for this type of number.
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
