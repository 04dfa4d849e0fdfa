"""Programs that no stage may produce, and copies that stay legal."""

from __future__ import annotations

import pytest

from difftile.ir.check_structure import IllegalProgram
from difftile.ir.derived import Before, Derived, Lane, Scratch
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Const,
    Let,
    Program,
    Rule,
    Ruled,
    Stmt,
    Var,
)
from difftile.ir.types import F32, F64, I32, U32, FieldType, Matrix, Vector, promote
from difftile.ir.walk import Cloner
from difftile.ops.check import check

A, Z, Z_BAR = Var("a", F32), Var("z", F32), Var("z_bar", F32)
ONE = Const(1.0, F32)


def negative(out: Var) -> Let:
    return Let(out, "neg", (A,))


def ruled(adjoint: Const | Var) -> Ruled:
    rule = Rule((Z_BAR,), Block((), (adjoint,)))
    return Ruled((Z,), (A,), Block((), (A,)), rule, None, "f")


ILLEGAL: list[tuple[str, tuple[Stmt, ...]]] = [
    ("z is defined twice", (negative(Z), negative(Z))),
    ("adjoints of args", (ruled(Const(1.0, F64)),)),
    ("mat", (Let(Var("m", Matrix(2, 2, F32)), "mat", (A, A, A)),)),
]


@pytest.mark.parametrize(("reason", "stmts"), ILLEGAL, ids=["twice", "adjoints", "sizes"])
def test_illegal_programs_are_refused(reason: str, stmts: tuple[Stmt, ...]) -> None:
    with pytest.raises(IllegalProgram, match=reason):
        check(Program("p", (A,), Block(stmts)))


def test_a_rule_with_adjoints_of_its_arguments_is_legal() -> None:
    check(Program("p", (A,), Block((ruled(Z_BAR),))))


def test_the_copy_of_a_rule_names_the_gradient_of_the_copy() -> None:
    kept = Array("k", FieldType(F32, 1), 2)
    bar = Array("k_bar", kept.type, gradient_of=kept)
    copy = Cloner().block(Block((Alloc(kept), Accumulate(bar, (Const(0, I32),), ONE))))
    alloc, add = copy.stmts
    assert isinstance(alloc, Alloc) and isinstance(add, Accumulate)
    assert alloc.array is not kept
    assert add.array.gradient_of is alloc.array


def test_memory_like_a_lane_has_the_shape_of_the_field() -> None:
    x, wide = Array("x", FieldType(F32, 1)), Array("x", FieldType(F32, 2))
    temp = Array("share", FieldType(F32, 2), like=wide)
    made = Derived(Program("p", (wide,), Block(()), (temp,)), {wide: Lane(Before(x))})
    assert made.role(temp) == Scratch(x)


def test_unsigned_integers_win_over_signed_ones_of_their_size() -> None:
    assert promote(U32, I32) == promote(I32, U32) == U32
    assert Vector(2, promote(I32, F32)) == Vector(2, F32)
