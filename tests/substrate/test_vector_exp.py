"""Exponentials in loops of vectors near the largest number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import difftile as dt
from tests.vector_functions import computed

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponentials_are_finite_up_to_the_largest_number(dtype: Any) -> None:
    dt.init(arch="cpu")
    highest = math.log(float(np.finfo(dtype).max))
    x = np.array([0.99 * highest, 0.9999 * highest, 1.0001 * highest] * 11, dtype)
    (found,) = computed({"exp": (x,)}).values()
    expected = [math.exp(one) if one < highest else math.inf for one in x.tolist()]
    np.testing.assert_allclose(found, np.array(expected), rtol=4 * np.finfo(dtype).eps)
