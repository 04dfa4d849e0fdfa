"""Powers: of floats, and of integers by whole exponents."""

from __future__ import annotations

import ast

from difftile.frontend.context import Context
from difftile.frontend.convert import common, counted_arguments, filled, floats
from difftile.frontend.items import Item, Static
from difftile.ir.nodes import Const, Value
from difftile.ir.types import FLOATS, is_signed, scalar_of, shape_of

_LARGEST_EXPANDED_POWER = 16


def power_call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.pow(base, exponent)`."""
    base, exponent = (cx.numeric(argument) for argument in counted_arguments(cx, node, 2, 2))
    return power(cx, base, exponent, name)


def power(cx: Context, base: Item, exponent: Item, name: str = "") -> Value:
    """Return base ** exponent; a literal whole exponent becomes products."""
    if isinstance(exponent, Static) and abs(exponent.value) <= _LARGEST_EXPANDED_POWER:
        whole = int(exponent.value)
        if whole == exponent.value:
            value = cx.value(base)
            if isinstance(exponent.value, float) or whole < 0:
                (value,) = floats(cx, [value])
            positive = _repeated(cx, value, abs(whole), name)
            if whole >= 0:
                return positive
            return cx.call("div", Const(1.0, scalar_of(value.type)), positive, name=name)
    negative = isinstance(exponent, Static) and exponent.value < 0
    values = (floats if negative else common)(cx, [base, exponent])
    if scalar_of(values[0].type) in FLOATS:
        return cx.call("pow", *values, name=name)
    return _whole_power(cx, *values, name=name)


def _whole_power(cx: Context, base: Value, exponent: Value, name: str) -> Value:
    """Return base ** exponent of integers; a negative exponent gives 1 / base ** |exponent| cut.

    That is 0, but for a base of 1 or -1. (Taichi takes the sign of the exponent away.)
    """
    scalar = scalar_of(base.type)
    if isinstance(exponent, Const) and exponent.value >= 0:
        return cx.call("ipow", base, exponent, name=name)
    zero, one, minus = (Const(number, scalar) for number in (0, 1, -1))
    forward = cx.call("ipow", base, cx.call("max", exponent, zero))
    if not is_signed(scalar):
        return forward
    odd = cx.call("eq", cx.call("bit_and", exponent, one), one)
    of_minus = cx.call("select", odd, _as(base, minus), _as(base, one))
    otherwise = cx.call("select", cx.call("eq", base, minus), of_minus, _as(base, zero))
    inverse = cx.call("select", cx.call("eq", base, one), _as(base, one), otherwise)
    return cx.call("select", cx.call("lt", exponent, zero), inverse, forward, name=name)


def _as(like: Value, number: Const) -> Const:
    return Const(number.value, like.type)


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
