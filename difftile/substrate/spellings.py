"""Taichi's spelling of each op, as one table by name.

A spelling names its kind of syntax, which determines where operands need parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from difftile.ops.random import INCREMENT, MULTIPLIER
from difftile.ops.table import OPS
from difftile.records import dataclass

# How tight an operator binds in the grammar of Python, the loosest first; ATOM is for calls, names
# and indexing.
OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, UNARY, POWER, ATOM = range(
    0, 130, 10
)


@dataclass(frozen=True, slots=True)
class Infix:
    """A left-associative operator between two operands."""

    sign: str
    precedence: int


@dataclass(frozen=True, slots=True)
class Prefix:
    """An operator before its operand; `operand` says how tight that must bind."""

    sign: str
    precedence: int
    operand: int


@dataclass(frozen=True, slots=True)
class CallSpelling:
    """A call of a function.

    Args:
        function: Its name in the source.
        typed: Its last argument is the number type of the first operand.
        source: Its definition, where the kernel brings it along.
    """

    function: str
    typed: bool = False
    source: str = ""
    precedence: int = ATOM


@dataclass(frozen=True, slots=True)
class Method:
    """A call of a method of the first operand."""

    name: str
    precedence: int = ATOM


@dataclass(frozen=True, slots=True)
class TextSpelling:
    """A text with a place `{0}`, `{1}` ... for each operand, none of which needs parentheses."""

    text: str
    precedence: int = ATOM


@dataclass(frozen=True, slots=True)
class Operand:
    """The operand itself: the op is a mark that compiled code does not see."""

    precedence: int = ATOM


@dataclass(frozen=True, slots=True)
class TypedSpelling:
    """Syntax that depends on types or indices; the emitter has a rule for each of these ops."""

    precedence: int = ATOM


@dataclass(frozen=True, slots=True)
class Formula:
    """A call of a function that the kernel brings along, written from the formula in the row."""

    precedence: int = ATOM


Spelling: TypeAlias = (
    Infix | Prefix | CallSpelling | Method | TextSpelling | Operand | TypedSpelling | Formula
)


def places(spelling: Spelling, count: int) -> list[int]:
    """Return how tight each of `count` operands must bind to stand without parentheses."""
    match spelling:
        case Infix(_, precedence):
            return [precedence, precedence + 1]
        case Prefix(operand=operand):
            return [operand]
        case Method():
            return [ATOM] + [0] * (count - 1)
        case Operand():
            return [ATOM]
        case _:
            return [0] * count


def written(spelling: Spelling, texts: Sequence[str], scalar: object = "") -> str:
    """Return the text of an op of operands, which have the parentheses that they need.

    Args:
        spelling: The spelling of the op.
        texts: The operands.
        scalar: The number type of the first one.
    """
    match spelling:
        case Infix(sign):
            return f"{texts[0]} {sign} {texts[1]}"
        case Prefix(sign):
            return f"{sign}{texts[0]}"
        case CallSpelling(function, typed):
            return f"{function}({', '.join([*texts, f'ti.{scalar}'] if typed else texts)})"
        case Method(name):
            return f"{texts[0]}.{name}({', '.join(texts[1:])})"
        case TextSpelling(text):
            return text.format(*texts)
        case Operand():
            return texts[0]
        case TypedSpelling() | Formula():
            raise AssertionError("their text depends on types")


def op_text(op: str, texts: Sequence[str]) -> str:
    """Return the text of an op of numbers as messages show it: without the names of modules."""
    spelling = SPELLINGS[op]
    match spelling:
        case TypedSpelling() | Formula() | CallSpelling(typed=True):
            return f"{op}({', '.join(texts)})"
        case Infix() | Prefix():
            return written(spelling, [f"({t})" if t.startswith("-") else t for t in texts])
        case _:
            return re.sub(r"\b[a-z]+\.(?=[a-z_.]+\()", "", written(spelling, texts))


_SIGMOID = """\
@ti.func
def sigmoid(x):
    return 1 / (1 + ti.exp(-x))
"""

_RANDOM_BITS = f"""\
@ti.func
def random_bits(thread, draw, stream, seed):
    words = ti.Vector([thread, draw, stream, seed])
    v = ti.cast(words, ti.u32) * ti.u32({MULTIPLIER}) + ti.u32({INCREMENT})
    v[0] += v[1] * v[3]
    v[1] += v[2] * v[0]
    v[2] += v[0] * v[1]
    v[3] += v[1] * v[2]
    v ^= v >> 16
    v[0] += v[1] * v[3]
    v[1] += v[2] * v[0]
    v[2] += v[0] * v[1]
    v[3] += v[1] * v[2]
    return v
"""

SPELLINGS: dict[str, Spelling] = {
    # Arithmetic
    "add": Infix("+", SUM),
    "sub": Infix("-", SUM),
    "mul": Infix("*", PRODUCT),
    "div": Infix("/", PRODUCT),
    "mod": Infix("%", PRODUCT),
    "floordiv": Infix("//", PRODUCT),
    "neg": Prefix("-", PRODUCT, PRODUCT),  # -a * b is -(a * b); but -a // b is not -(a // b)
    # Comparisons; floats have a rule of their own
    "lt": Infix("<", COMPARE),
    "le": Infix("<=", COMPARE),
    "gt": Infix(">", COMPARE),
    "exceeds": Infix(">", COMPARE),
    "ge": Infix(">=", COMPARE),
    "eq": Infix("==", COMPARE),
    "ne": Infix("!=", COMPARE),
    "isnan": CallSpelling("predicates.isnan", typed=True),
    "isinf": CallSpelling("predicates.isinf", typed=True),
    "isfinite": CallSpelling("predicates.isfinite", typed=True),
    # Logic and bits; `and` and `or` of vectors are spelled like the bitwise ops
    "and": Infix("and", AND),
    "or": Infix("or", OR),
    "not": Prefix("not ", NOT, NOT),
    "select": CallSpelling("ti.select"),
    "bit_and": Infix("&", BIT_AND),
    "bit_or": Infix("|", BIT_OR),
    "bit_xor": Infix("^", BIT_XOR),
    "invert": Prefix("~", UNARY, POWER),
    "shl": Infix("<<", SHIFT),
    "shr": Infix(">>", SHIFT),
    "shr_logical": CallSpelling("ti.bit_shr"),
    "raw_div": CallSpelling("ti.raw_div"),
    "raw_mod": CallSpelling("ti.raw_mod"),
    "ipow": CallSpelling("ti.pow"),
    "popcnt": CallSpelling("ti.math.popcnt"),
    "clz": CallSpelling("ti.math.clz"),
    # Functions of floats
    **{
        name: CallSpelling(f"ti.{name}")
        for name in (
            *("pow", "max", "min", "abs", "sin", "cos", "tan", "asin", "acos", "atan2", "tanh"),
            *("exp", "log", "sqrt", "rsqrt", "floor", "ceil", "round"),
        )
    },
    **{
        name: CallSpelling(f"accurate.{name}", typed=True)
        for name in (
            *("atan", "log2", "log10", "expm1", "log1p", "log1pexp", "logit", "logsumexp"),
            *("sign", "normalized"),
        )
    },
    "clamp": TextSpelling("ti.min(ti.max({0}, {1}), {2})"),
    "sigmoid": CallSpelling("sigmoid", source=_SIGMOID),
    # Vectors and matrices
    "dot": Method("dot"),
    "cross": Method("cross"),
    "outer": Method("outer_product"),
    "norm": Method("norm"),
    "sum": Method("sum"),
    "transpose": Method("transpose"),
    "trace": Method("trace"),
    "determinant": Method("determinant"),
    "matmul": Infix("@", PRODUCT),
    "cofactors": CallSpelling("dense.cofactors", typed=True),
    "inverse": CallSpelling("dense.inverse", typed=True),
    "solve": CallSpelling("dense.solve"),
    "solve_lower": CallSpelling("dense.solve_lower"),
    "solve_upper": CallSpelling("dense.solve_upper"),
    "cholesky": CallSpelling("dense.cholesky", typed=True),
    "svd": CallSpelling("linalg.svd", typed=True),
    "sym_eig": CallSpelling("linalg.sym_eig", typed=True),
    "polar": CallSpelling("linalg.polar", typed=True),
    # Building, indexing and casts
    **{name: TypedSpelling() for name in ("vec", "mat", "extract", "insert", "cast", "bit_cast")},
    # Marks
    "exact": Operand(),
    "stop_grad": Operand(),
    "unique": Operand(),
    "random_bits": CallSpelling("random_bits", source=_RANDOM_BITS),
    **{op.name: Formula() for op in OPS.values() if op.value},
}

SHADER_SPELLINGS: dict[str, Spelling] = {
    **SPELLINGS,
    "pow": CallSpelling("accurate.power", typed=True),
}
"""For SPIR-V, whose power has no value for a negative base, nor for 0 to the power 0."""
