"""The operators on values of a builder append the ops of the formula, from left to right."""

from __future__ import annotations

import pytest

from difftile.ir.nodes import Const, Let, Var
from difftile.ir.types import BOOL, F32, I32
from difftile.ops.build import OpBuilder


def _ops(b: OpBuilder) -> list[tuple[str, tuple[object, ...]]]:
    return [(s.op, s.args) for s in b.stmts if isinstance(s, Let)]


def test_operators_append_the_ops_of_the_formula_from_left_to_right() -> None:
    b = OpBuilder()
    x, y = Var("x", I32), Var("y", I32)
    total = (b.expr(x) * y + 1) // (y - b.expr(x))
    product, plus, minus, quotient = b.stmts
    assert _ops(b) == [
        ("mul", (x, y)),
        ("add", (product.out, Const(1, I32))),
        ("sub", (y, x)),
        ("floordiv", (plus.out, minus.out)),
    ]
    assert total.value is quotient.out


@pytest.mark.parametrize(
    ("formula", "op"),
    [
        (lambda x, y: x < y, "lt"),
        (lambda x, y: x <= y, "le"),
        (lambda x, y: x > y, "gt"),
        (lambda x, y: x >= y, "ge"),
        (lambda x, y: x.eq(y), "eq"),
        (lambda x, y: x.ne(y), "ne"),
        (lambda x, y: x.min(y), "min"),
        (lambda x, y: x.max(y), "max"),
        (lambda x, y: x % y, "mod"),
        (lambda x, y: x & y, "bit_and"),
        (lambda x, y: x | y, "bit_or"),
    ],
)
def test_binary_operators(formula, op: str) -> None:
    b = OpBuilder()
    x, y = Var("x", I32), Var("y", I32)
    formula(b.expr(x), y)
    assert _ops(b) == [(op, (x, y))]


def test_conditions_are_joined_by_logic() -> None:
    b = OpBuilder()
    p, q = Var("p", BOOL), Var("q", BOOL)
    _ = ~((b.expr(p) & q) | p)
    assert [op for op, _ in _ops(b)] == ["and", "or", "not"]


def test_python_numbers_take_the_type_of_the_other_operand() -> None:
    b = OpBuilder()
    n, x = Var("n", I32), Var("x", F32)
    _ = 1 - b.expr(n), 2 * b.expr(x)
    assert _ops(b) == [("sub", (Const(1, I32), n)), ("mul", (Const(2.0, F32), x))]
    assert all(isinstance(args[0].value, float) for op, args in _ops(b) if op == "mul")


def test_the_latest_value_can_be_named() -> None:
    b = OpBuilder()
    x = Var("x", I32)
    named = (b.expr(x) + 1).named("next")
    (let,) = b.stmts
    assert isinstance(let, Let)
    assert let.out.name == "next" and named.value is let.out


def test_values_that_were_there_before_keep_their_names() -> None:
    b = OpBuilder()
    x = Var("x", I32)
    assert (b.expr(x) + 0).named("y").value is x
    product = b.expr(x) * x
    (product + 0).named("again")
    assert [s.out.name for s in b.stmts if isinstance(s, Let)] == [""]


@pytest.mark.parametrize(("length", "size"), [(0, 4), (1, 4), (4, 4), (5, 4), (8, 4), (-3, 4)])
def test_pieces_of_a_length(length: int, size: int) -> None:
    pieces = OpBuilder().expr(Const(length, I32)).ceildiv(size)
    assert pieces.value == Const(-(-length // size), I32)
