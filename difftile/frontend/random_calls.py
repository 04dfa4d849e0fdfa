"""Random numbers: `dt.rand`, `dt.randn` and `dt.randint`, made from the bits of one op."""

from __future__ import annotations

import ast
import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from difftile.diagnostics import CallMismatch, KernelError, TypeMismatch
from difftile.frontend.construct import type_of
from difftile.frontend.context import Context
from difftile.frontend.convert import counted_arguments
from difftile.frontend.draws import DRAWS
from difftile.frontend.items import Item
from difftile.ir.nodes import Const, Value
from difftile.ir.types import F16, F32, F64, FLOATS, I32, I64, U32, U64, Scalar

_WHOLE = (I32, U32)


def random_words(cx: Context) -> list[Value]:
    """Return four words of bits that no other draw has."""
    if cx.rule is not None:
        raise KernelError(
            f"The rule of '{cx.rule.name}' draws a random number.",
            cx.b.span,
            hint="draw it in the kernel, and pass it as an argument.",
        )
    draws = cx.draws
    number = cx.call("add", cx.value(cx.env[DRAWS]), Const(draws.pending, I32))
    draws.pending += 1
    draws.places += 1
    draws.used = True
    stream = cx.call("add", draws.first, Const(cx.scope.stream, I32))
    return _words(cx, number, stream, draws.seed)


def seeded(cx: Context, seed: Value, *, normal: bool, name: str) -> Value:
    """Return the number that a thread draws from a seed of its own, the same in every launch.

    Args:
        cx: The context.
        seed: The seed, an integer.
        normal: It is normal, else uniform in [0, 1).
        name: A name for it.
    """
    # Launches count their streams from 0 on.
    words = _words(cx, Const(0, I32), Const(-1, I32), cx.b.cast(seed, I32))
    made = _normal if normal else _fraction
    return made(cx, cx.float_type, words, name)


def _words(cx: Context, number: Value, stream: Value, seed: Value) -> list[Value]:
    # The number of the thread is its place among the iterations, the last axis fastest.
    thread: Value = Const(0, I32)
    for index, start, stop in cx.scope.axes:
        row = cx.call("mul", thread, cx.call("sub", stop, start))
        thread = cx.call("add", row, cx.call("sub", index, start))
    words = cx.call("random_bits", thread, number, stream, seed)
    return [cx.call("extract", words, Const(k, I32)) for k in range(4)]


@contextmanager
def only_on_one_side(cx: Context) -> Generator[None, None, None]:
    """Lower an expression that is not always run: its draws are counted as if it were.

    Raises:
        KernelError: How many they are is known at run time only.
    """
    before = cx.env[DRAWS]
    yield
    if cx.env[DRAWS] is not before:
        raise KernelError(
            "A func that draws in a loop or branch is called where an expression may skip it.",
            cx.b.span,
            hint="call it in a statement of its own, or write the condition as an 'if' statement.",
        )


def rand(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `dt.rand()` and `ti.random()`: uniform in [0, 1), or any integer of a type."""
    scalar = _asked(cx, node, (*FLOATS, *_WHOLE))
    words = random_words(cx)
    if scalar in _WHOLE:
        return cx.b.cast(words[0], scalar, name)
    if scalar == F16:
        part = cx.b.cast(_shifted(cx, words[0], 21), F32)
        return cx.b.cast(_scaled(cx, part, 2.0**-11), F16, name)
    return _fraction(cx, scalar, words, name)


def randn(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `dt.randn()`: normal with mean 0 and variance 1.

    By Box and Muller, A Note on the Generation of Random Normal Deviates (1958). The radius is
    taken from a number in (0, 1], so that its logarithm is finite: at most 6.8 in f32, 9.5 in f64.
    """
    return _normal(cx, _asked(cx, node, FLOATS), random_words(cx), name)


def _normal(cx: Context, scalar: Scalar, words: Sequence[Value], name: str) -> Value:
    wide = F64 if scalar == F64 else F32
    whole = cx.b.cast(words[0], wide)
    bits = 32
    if wide == F64:
        whole = cx.call("add", _scaled(cx, whole, 2.0**32), cx.b.cast(words[1], wide))
        bits = 64
    level = _scaled(cx, cx.call("add", whole, Const(0.5, wide)), 2.0**-bits)
    radius = cx.call("sqrt", _scaled(cx, cx.call("log", level), -2.0))
    angle = _scaled(cx, _fraction(cx, wide, words[2:]), 2 * math.pi)
    value = cx.call("mul", radius, cx.call("cos", angle), name=name)
    return cx.b.cast(value, scalar, name)


def randint(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `dt.randint(low, high)`: an integer from low up to high - 1, each as likely.

    By Lemire, Fast Random Integer Generation in an Interval (2019), without its rejection: from 64
    bits two integers differ in likelihood by 2**-32 at most.
    """
    arguments = counted_arguments(cx, node, 1, 2)
    bounds = [cx.integer(a, cx.operand(a), "a bound of 'dt.randint'") for a in arguments]
    low, high = bounds if len(bounds) == 2 else (Const(0, I32), bounds[0])
    if isinstance(low, Const) and isinstance(high, Const) and low.value >= high.value:
        raise TypeMismatch(
            cx.span(node),
            f"there is no integer from {low.value} up to {high.value}.",
            hint="the second bound is left out: 'dt.randint(0, 6)' gives 0 to 5.",
        )
    words = random_words(cx)
    extent = cx.call("sub", cx.b.cast(high, I64), cx.b.cast(low, I64))
    size = cx.b.cast(cx.call("max", extent, Const(1, I64)), U64)
    upper, lower = (cx.call("mul", cx.b.cast(word, U64), size) for word in words[:2])
    offset = _shifted(cx, cx.call("add", upper, _shifted(cx, lower, 32)), 32)
    return cx.call("add", low, cx.b.cast(offset, I32), name=name)


def _asked(cx: Context, node: ast.Call, known: Sequence[Scalar]) -> Scalar:
    """Return the number type that a call asks for, or the float type of the kernel."""
    given = [*node.args, *(k.value for k in node.keywords if k.arg in ("dtype", "dt"))]
    if len(given) != len(node.args) + len(node.keywords) or len(given) > 1:
        function = ast.unparse(node.func)
        raise CallMismatch(
            cx.span(node),
            f"'{function}' takes a type or nothing.",
            f"write '{function}()'; scale the number after.",
        )
    if not given:
        return cx.float_type
    type_ = type_of(cx, given[0])
    if type_ not in known:
        raise TypeMismatch(
            cx.span(given[0]),
            f"no random number of type {type_}.",
            hint=f"choose {', '.join(map(str, known))}, or build it from several.",
        )
    assert isinstance(type_, Scalar)
    return type_


def _fraction(cx: Context, scalar: Scalar, words: Sequence[Value], name: str = "") -> Value:
    """Return a number in [0, 1) of 24 bits in f32, of 53 in f64."""
    if scalar == F32:
        return _scaled(cx, cx.b.cast(_shifted(cx, words[0], 8), F32), 2.0**-24, name)
    upper, lower = (
        cx.b.cast(_shifted(cx, word, bits), F64) for word, bits in zip(words, (5, 6), strict=False)
    )
    return _scaled(cx, cx.call("add", _scaled(cx, upper, 2.0**26), lower), 2.0**-53, name)


def _shifted(cx: Context, word: Value, bits: int) -> Value:
    return cx.call("shr", word, Const(bits, word.type))


def _scaled(cx: Context, value: Value, factor: float, name: str = "") -> Value:
    return cx.call("mul", value, Const(factor, value.type), name=name)
