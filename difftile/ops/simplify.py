"""Algebraic identities of ops whose argument is a literal or was built just before.

A rule keeps every value, infinities and NaN included, and may lose only the sign of a zero. So
`x - x`, `x / x`, `x == x` and the product of x and a literal 0 stay, if x is a float. The product
with a structural zero goes: such a zero stands for an adjoint or tangent that does not exist.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeAlias, TypeGuard

import numpy as np

from difftile.ir.nodes import Const, Let, Value
from difftile.ir.types import (
    BOOL,
    FLOATS,
    I32,
    Type,
    integer_limits,
    numpy_dtype,
    scalar_of,
    shape_of,
)
from difftile.ops.table import ELEMENTWISE, OPS


class Building(Protocol):
    """The part of a builder that the rules use."""

    def call(self, op: str, *args: Value, name: str = "", type_: Type | None = None) -> Value:
        """Return the value of `op(args)`."""
        ...

    def definition(self, value: Value) -> Let | None:
        """Return the op that defines a value, where it is known."""
        ...


_LARGEST_WRITTEN_OUT = 4  # components of a sum
_LARGEST_REBUILT = 16  # components of a vector of which one is replaced

Rule: TypeAlias = Callable[[Building, tuple[Value, ...], Type], Value | None]


def simplify(b: Building, op: str, args: tuple[Value, ...], type_: Type) -> Value | None:
    """Return a value equal to `op(args)` that needs no new op, or None."""
    literal = _evaluated(op, args, type_)
    if literal is not None:
        return literal
    rule = _RULES.get(op)
    return None if rule is None else rule(b, args, type_)


def _evaluated(op: str, args: tuple[Value, ...], type_: Type) -> Const | None:
    if op not in ELEMENTWISE and op != "cast":
        return None
    if not args or not all(isinstance(arg, Const) for arg in args):
        return None
    consts = [arg for arg in args if isinstance(arg, Const)]
    values = [numpy_dtype(scalar_of(const.type)).type(const.value) for const in consts]
    with np.errstate(all="ignore"):
        try:
            found = numpy_dtype(scalar_of(type_)).type(OPS[op].numpy(*values))
        except (ArithmeticError, ValueError):
            return None
    # An op whose value is not finite stays: Taichi has no literal for the value.
    if not np.isfinite(found):
        return None
    structural = all(const.structural for const in consts)
    return Const(found.item(), type_, structural and not found)


def _is(value: Value, number: float) -> bool:
    return isinstance(value, Const) and value.value == number


def _vanishes(value: Value) -> bool:
    """Tell whether a product with a value is zero, whatever the other factor."""
    if not isinstance(value, Const) or value.value != 0:
        return False
    return value.structural or scalar_of(value.type) not in FLOATS


def _fits(value: Value, type_: Type) -> bool:
    return value.type == type_


def _zero(type_: Type) -> Const:
    return Const(0.0 if scalar_of(type_) in FLOATS else 0, type_, structural=True)


def _made_of(b: Building, op: str, value: Value) -> tuple[Value, ...] | None:
    made = b.definition(value)
    return made.args if made is not None and made.op == op else None


def _components(b: Building, value: Value) -> tuple[Value, ...] | None:
    """Return the scalars that a vector or matrix was built from."""
    if isinstance(value, Const) and shape_of(value.type):
        size = math.prod(shape_of(value.type))
        return (replace(value, type=scalar_of(value.type)),) * size
    made = b.definition(value)
    return made.args if made is not None and made.op in ("vec", "mat") else None


def _built(b: Building, type_: Type, components: tuple[Value, ...]) -> Value:
    return b.call("vec" if len(shape_of(type_)) == 1 else "mat", *components, type_=type_)


def _is_negative(value: Value) -> TypeGuard[Const]:
    """Tell whether a value is a negative literal; the least integer has no opposite."""
    if not isinstance(value, Const) or value.value >= 0:
        return False
    scalar = scalar_of(value.type)
    return scalar in FLOATS or value.value > integer_limits(scalar)[0]


def _add(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    x, y = args
    if _is(x, 0) and _fits(y, type_):
        return y
    if _is(y, 0) and _fits(x, type_):
        return x
    if _is_negative(y):
        return b.call("sub", x, Const(-y.value, y.type))
    negated = _made_of(b, "neg", y)
    if negated is not None:
        return b.call("sub", x, negated[0])
    negated = _made_of(b, "neg", x)
    if negated is not None:
        return b.call("sub", y, negated[0])
    # Adjoints of single components arrive as vectors that are zero elsewhere: join them.
    xs, ys = _components(b, x), _components(b, y)
    if xs is not None and ys is not None and _sparse(xs) and _sparse(ys):
        return _built(b, type_, tuple(b.call("add", p, q) for p, q in zip(xs, ys, strict=True)))
    # The same for components whose index is known at run time only, and for many components.
    for whole, single in ((x, y), (y, x)):
        inserted = _made_of(b, "insert", single)
        if inserted is not None and _is(inserted[0], 0) and _fits(whole, type_):
            *index, part = inserted[1:]
            total = b.call("add", b.call("extract", whole, *index), part)
            return b.call("insert", whole, *index, total)
    return None


def _sparse(components: tuple[Value, ...]) -> bool:
    return any(_is(c, 0) for c in components)


def _sub(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    x, y = args
    if _is(y, 0) and _fits(x, type_):
        return x
    if _is(x, 0) and _fits(y, type_):
        return b.call("neg", y)
    if _is_negative(y):
        return b.call("add", x, Const(-y.value, y.type))
    negated = _made_of(b, "neg", y)
    if negated is not None:
        return b.call("add", x, negated[0])
    return None


def _mul(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    x, y = args
    if _vanishes(x) or _vanishes(y):
        return _zero(type_)
    for one, other in ((x, y), (y, x)):
        if _is(one, 1) and _fits(other, type_):
            return other
        if _is(one, -1) and _fits(other, type_):
            return b.call("neg", other)
    for factor, other, swapped in ((x, y, False), (y, x, True)):
        negated = _made_of(b, "neg", factor)
        if negated is not None:
            pair = (other, negated[0]) if swapped else (negated[0], other)
            return b.call("neg", b.call("mul", *pair))
    return None


def _div(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    x, y = args
    if _is(y, 1) and _fits(x, type_):
        return x
    if _vanishes(x):
        return _zero(type_)
    negated = _made_of(b, "neg", x)
    if negated is not None:
        return b.call("neg", b.call("div", negated[0], y))
    return None


def _neg(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    negated = _made_of(b, "neg", args[0])
    if negated is not None:
        return negated[0]
    difference = _made_of(b, "sub", args[0])
    if difference is not None and all(_fits(d, type_) for d in difference):
        return b.call("sub", difference[1], difference[0])
    return None


def _select(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    cond, x, y = args
    if isinstance(cond, Const):
        taken = x if cond.value else y
        return taken if _fits(taken, type_) else None
    if x == y and _fits(x, type_):
        return x
    return None


def _cast(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    return args[0] if _fits(args[0], type_) else None


def _and(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    for known, other in (args, args[::-1]):
        if isinstance(known, Const) and type_ == BOOL:
            return other if known.value else known
    return None


def _or(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    for known, other in (args, args[::-1]):
        if isinstance(known, Const) and type_ == BOOL:
            return known if known.value else other
    return None


def _position(type_: Type, index: tuple[Value, ...]) -> int | None:
    shape = shape_of(type_)
    flat = 0
    for size, i in zip(shape, index, strict=True):
        if not isinstance(i, Const) or not 0 <= int(i.value) < size:
            return None
        flat = flat * size + int(i.value)
    return flat


def _extract(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    value, *rest = args
    index = tuple(rest)
    at = _position(value.type, index)
    if isinstance(value, Const):
        return replace(value, type=type_)
    inserted = _made_of(b, "insert", value)
    if inserted is not None:
        if inserted[1:-1] == index:
            return inserted[-1]
        if at is not None and _position(value.type, inserted[1:-1]) is not None:
            return b.call("extract", inserted[0], *index)
    parts = _components(b, value)
    return parts[at] if at is not None and parts is not None else None


def _insert(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    value, *index, part = args
    if _made_of(b, "extract", part) == (value, *index):
        return value
    overwritten = _made_of(b, "insert", value)
    if overwritten is not None and overwritten[1:-1] == tuple(index):
        return b.call("insert", overwritten[0], *index, part)
    at = _position(type_, tuple(index))
    if at is None:
        return None
    parts = _components(b, value)
    shape = shape_of(type_)
    if parts is None and math.prod(shape) > _LARGEST_REBUILT:
        return None
    if parts is None:
        where = list(np.ndindex(shape))
        parts = tuple(b.call("extract", value, *(Const(i, I32) for i in index)) for index in where)
    return _built(b, type_, (*parts[:at], part, *parts[at + 1 :]))


def _sum(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    whole = args[0]
    factors = _made_of(b, "mul", whole)
    is_vector = len(shape_of(whole.type)) == 1
    if is_vector and factors is not None and all(_fits(f, whole.type) for f in factors):
        return b.call("dot", *factors)
    parts = _components(b, whole)
    if parts is None or len(parts) > _LARGEST_WRITTEN_OUT:
        return None
    total, *rest = parts
    for part in rest:
        total = b.call("add", total, part)
    return total


def _vec(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    first = args[0]
    if isinstance(first, Const) and all(arg == first for arg in args):
        structural = all(isinstance(arg, Const) and arg.structural for arg in args)
        return Const(first.value, type_, structural)
    # vec(v[0], v[1], ...) of all components of v is v.
    source = _made_of(b, "extract", first)
    if source is None or source[0].type != type_:
        return None
    whole = source[0]
    for at, arg in enumerate(args):
        made = _made_of(b, "extract", arg)
        if made is None or made[0] is not whole or _position(type_, made[1:]) != at:
            return None
    return whole


def _by_component(op: str) -> Rule:
    """Return the rule of atan2, and of ops that are an atan2 in Taichi.

    Taichi 1.7.4 computes these ops of vectors in single precision, whatever their type.
    """

    def rule(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
        if not shape_of(type_):
            return None

        def at(value: Value, cell: tuple[int, ...]) -> Value:
            index = (Const(i, I32) for i in cell)
            return b.call("extract", value, *index) if shape_of(value.type) else value

        cells = list(np.ndindex(shape_of(type_)))
        parts = (b.call(op, *(at(arg, cell) for arg in args)) for cell in cells)
        return _built(b, type_, tuple(parts))

    return rule


def _transpose(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    twice = _made_of(b, "transpose", args[0])
    if twice is not None:
        return twice[0]
    if isinstance(args[0], Const):
        return replace(args[0], type=type_)
    return None


def _bilinear(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    return _zero(type_) if any(map(_vanishes, args)) else None


def _not(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    twice = _made_of(b, "not", args[0])
    return None if twice is None else twice[0]


def _quotient_of_unsigned(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    return b.call("floordiv", *args) if _is_unsigned(type_) else None


def _remainder_of_unsigned(b: Building, args: tuple[Value, ...], type_: Type) -> Value | None:
    # Taichi takes the numbers for signed ones.
    return b.call("mod", *args) if _is_unsigned(type_) else None


def _is_unsigned(type_: Type) -> bool:
    return numpy_dtype(scalar_of(type_)).kind == "u"


_RULES: dict[str, Rule] = {
    "raw_div": _quotient_of_unsigned,
    "raw_mod": _remainder_of_unsigned,
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "select": _select,
    "cast": _cast,
    "and": _and,
    "or": _or,
    "not": _not,
    "extract": _extract,
    "insert": _insert,
    "sum": _sum,
    "vec": _vec,
    "mat": _vec,
    "atan": _by_component("atan"),
    "atan2": _by_component("atan2"),
    "transpose": _transpose,
    "dot": _bilinear,
    "cross": _bilinear,
    "outer": _bilinear,
    "matmul": _bilinear,
}
