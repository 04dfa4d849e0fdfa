"""Products and left shifts in 32 bits that are stored in 64.

In `y[i] = n * n` the product has the type of `n`, and wraps around in it whatever type `y` has.
Types alone cannot tell whether it does, so that only operations are reported whose operands would
have to be small. What has half of the bits in one operand is not: a literal such as that of
`2 * i + 1`, a truth value, an integer cast from a narrower type, and an extent of a field, whose
product with an index is an index as well. Nor are sums, which leave the type by one bit.
"""

from __future__ import annotations

import ast
from contextlib import suppress

from difftile.diagnostics import Label, NarrowProduct, render
from difftile.frontend.context import Context
from difftile.ir.nodes import Const, Let, Value
from difftile.ir.types import I32, I64, U32, U64, Scalar, numpy_dtype, scalar_of

_TERMS = ("add", "sub", "neg", "select", "vec", "mat")  # what a product may be an operand of
_WORDS = {"mul": "product", "ipow": "power", "shl": "shift"}
_NARROW, _WIDE = (I32, U32), (I64, U64)
_SMALL = 16  # bits: half of those of the narrow types
_OPERATORS = (ast.Mult, ast.Pow, ast.LShift)


def warn_of_narrow_product(cx: Context, value: Value, wanted: Scalar, what: str) -> None:
    """Warn if a value that is stored in a wider type is a product in a narrower one.

    Args:
        cx: The context.
        value: The value, before it is cast.
        wanted: The type of the place.
        what: The place in the user's words.
    """
    given = scalar_of(value.type)
    if given not in _NARROW or wanted not in _WIDE:
        return
    let = _product(cx, value)
    if let is None or let.span is None:
        return
    title = f"This {_WORDS[let.op]} is computed in {given}, and {what} holds {wanted}."
    label = Label(let.span, "wraps around beyond 32 bits")
    cx.source.warn(let.span, NarrowProduct(render(title, [label], (), _hint(let, wanted))))


def _product(cx: Context, value: Value) -> Let | None:
    """Return the product that a value is, or that is a term of it."""
    pending, met = [value], set[Value]()
    while pending:
        one = pending.pop()
        let = None if one in met else cx.b.definition(one)
        met.add(one)
        if let is None:
            continue
        if let.op in _TERMS:
            pending += let.args
        elif _may_be_large(cx, let):
            return let
    return None


def _may_be_large(cx: Context, let: Let) -> bool:
    match let.op, let.args:
        case "mul", factors:
            return not any(_is_small(cx, one) for one in factors)
        case "shl", (_, Const(by)):
            return not 0 <= by <= _SMALL
        case _:
            return let.op in _WORDS


def _is_small(cx: Context, factor: Value) -> bool:
    """Tell whether a factor has few bits, or is an extent."""
    if isinstance(factor, Const):
        return abs(int(factor.value)).bit_length() <= _SMALL
    match cx.b.definition(factor):
        case Let(op="cast", args=(arg,)):
            return 8 * numpy_dtype(scalar_of(arg.type)).itemsize <= _SMALL
        case _:
            return cx.b.is_size(factor)


def _hint(let: Let, wanted: Scalar) -> str:
    """Return what to write instead: the same with the first operand cast."""
    assert let.span is not None
    with suppress(SyntaxError):
        match ast.parse(let.span.shown.strip(), mode="eval").body:
            case ast.BinOp(left, op, right) if isinstance(op, _OPERATORS):
                wide = ast.Name(f"ti.cast({ast.unparse(left)}, ti.{wanted})")
                return f"write '{ast.unparse(ast.BinOp(wide, op, right))}'."
            case _:
                pass
    return f"cast an operand before: 'ti.cast(..., ti.{wanted})'."
