"""Numbers that follow from the number of a step, beside Python's exact ones."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from difftile.fields.step_expression import STEP, StepConstant, StepExpression

SMALL = 1, 1000, 2**20
LARGE = 2**31 - 1, 2**31, 2**31 + 1, 3 * 10**9, 2**40, 2**52, 2**53 + 1


@pytest.mark.parametrize("apply", [operator.add, operator.sub, operator.mul])
@pytest.mark.parametrize("factor", [*SMALL, *LARGE])
def test_whole_numbers_of_steps_are_exact_of_any_size(factor: int, apply: object) -> None:
    scaled = StepExpression(operator.mul, (STEP, StepConstant.of(factor)), int)
    both = StepExpression(apply, (scaled, StepExpression(operator.neg, (scaled,), int)), int)
    steps = np.arange(-2, 5)
    expected = [apply(t * factor, -(t * factor)) for t in steps.tolist()]
    assert both.at(steps).tolist() == expected
