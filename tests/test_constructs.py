"""The constructs of docs/peers.md in difftile: `benchmarks/constructs.py` has them, and Taichi's."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import difftile as dt
from benchmarks.constructs import CASES, Case, run_in_difftile

PAGE = Path(__file__).parents[1] / "docs" / "peers.md"
REFUSED = {
    "serial recurrence x[i] = f(x[i - 1])": "the value of 'x' read here is needed",
    "state carried through a field": "the value of 'y' read here is needed",
    "state carried through a field, a row for each iteration": "the value of 'y' read here",
    "Gauss-Seidel in place": "the value of 'x' read here is needed",
    "time loop in place": "the value of 'x' read here is needed",
    "sort in place": "the value of 'x' read here is needed",
    "early return in a kernel's branch": "'return' in a loop or branch of a kernel",
    "recursion by a template number": "calls itself",
    "vector as an argument": "'g' is a Vector",
}
"""What is refused, and a part of the message."""


@pytest.mark.parametrize("one", CASES, ids=[one.construct for one in CASES])
def test_a_construct_is_right_or_refused(one: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dt.GradientCut)  # of casts and integers
        found = run_in_difftile(one)
    message = REFUSED.get(one.construct)
    if message is None:
        assert found == "right"
    else:
        assert found.startswith("refuses: ") and message in found, found
