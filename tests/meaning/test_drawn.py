"""Drawn kernels: what they mean by dual numbers, their derivatives, and their forms.

`python -m tests.hunt --show NUMBER` shows a program again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.hunt.report import examine
from tests.meaning.forms import checked_passes, low_thresholds
from tests.meaning.seeds import numbers

TOGETHER = 20
PROGRAMS = 2000
ALWAYS = 300  # in every run; of the others a run has some


@pytest.fixture(autouse=True)
def forms_of_long_loops() -> Iterator[None]:
    with low_thresholds(), checked_passes():
        yield


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(part, marks=[pytest.mark.always] if part * TOGETHER < ALWAYS else [])
        for part in range(PROGRAMS // TOGETHER)
    ],
)
def test_kernels_mean_what_python_says(part: int) -> None:
    counts: Counter[str] = Counter()
    for number in numbers(part, TOGETHER):
        word, finding = examine(number)
        assert finding is None, str(finding)
        counts[word] += 1
    # A generator whose programs are all refused, or all accepted, would find no faults.
    assert counts["accepted"] > 0.25 * TOGETHER, counts
