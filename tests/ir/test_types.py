"""The common types of operands, by the order of the types."""

from __future__ import annotations

import itertools

import pytest

from difftile.ir.types import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, promote

FLOATS = F16, F32, F64
INTEGERS = I8, U8, I16, U16, I32, U32, I64, U64
"""The narrower ones first, and of equal width the signed one."""


@pytest.mark.parametrize("order", [(*INTEGERS, *FLOATS), (BOOL, *INTEGERS), (BOOL, *FLOATS)])
def test_the_common_type_is_the_later_one_of_an_order(order: tuple[object, ...]) -> None:
    for first, second in itertools.combinations(order, 2):
        assert promote(first, second) == promote(second, first) == second
    assert promote(BOOL, BOOL) == I32
