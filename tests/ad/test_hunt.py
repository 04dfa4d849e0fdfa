"""Kernels made at random have the derivatives that dual numbers have.

HUNT says how many programs are tried, and HUNT_COMPILED how many are compiled; three times as many
are slow tests. `python -m tests.hunt` tries others, and many more.
"""

from __future__ import annotations

import os
from collections import Counter
from unittest import mock

import numpy as np
import pytest

from difftile.ad import reverse
from tests.hunt.check import check
from tests.hunt.draw import HEAD
from tests.hunt.others import of_random_programs
from tests.hunt.program import Given, Launch, Program
from tests.hunt.reference import refer
from tests.hunt.report import examine

PROGRAMS = int(os.environ.get("HUNT", "600"))
COMPILED = int(os.environ.get("HUNT_COMPILED", "20"))
PARTS = 4  # the first one runs by default


FIRST_AND_SLOW = [
    0,
    *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 12)),
]


@pytest.mark.parametrize("part", FIRST_AND_SLOW)
def test_random_programs_have_the_derivatives_of_dual_numbers(part: int) -> None:
    counts: Counter[str] = Counter()
    first = part // PARTS * PROGRAMS
    for number in range(first + part % PARTS, first + PROGRAMS, PARTS):
        word, finding = examine(number)
        assert finding is None, str(finding)
        counts[word] += 1
    # A generator whose programs are all refused, or all accepted, would find no faults.
    if counts.total() >= 100:
        assert counts["accepted"] > 0.5 * counts.total(), counts
        assert counts["refused where iterations meet"] > 0.01 * counts.total(), counts
        assert counts["discarded"] < 0.2 * counts.total(), counts


@pytest.mark.parametrize("part", FIRST_AND_SLOW)
def test_compiled_programs_have_the_derivatives_of_dual_numbers(part: int) -> None:
    first = part // PARTS * COMPILED
    for number in range(first + part % PARTS, first + COMPILED, PARTS):
        _, finding = examine(10**6 + number, compiled=True)
        assert finding is None, str(finding)


@pytest.mark.parametrize("part", FIRST_AND_SLOW)
def test_programs_of_the_older_generator_have_them_too(part: int) -> None:
    first = part // PARTS * (PROGRAMS // 60)
    for seed in range(first + part % PARTS, first + PROGRAMS // 60, PARTS):
        check(of_random_programs(seed), thorough=seed % 8 == 0)


def test_wrong_adjoints_are_found_and_cut_down() -> None:
    with mock.patch.object(reverse, "stale_loads", lambda _: {}):
        found = next(finding for k in range(200) if (finding := examine(k)[1]) is not None)
    assert "<J^T w, v>" in found.error
    assert len(str(found.program).splitlines()) < 25


MEETINGS = {
    "x[0] = a[i]": True,
    "x[i // 2] = a[i]": True,
    "x[i] = x[(i + 1) % 4]": True,
    "x[q[i]] = a[i]; x[i] += a[i]": True,
    "x[0] += a[i]; x[1] *= a[i]": False,
    "x[0] += a[i]; x[0] *= a[i]": True,
    "ti.atomic_max(x[0], a[i]); x[i // 3] += 1.0": True,
    "ti.atomic_max(x[0], a[i]); x[1 + i // 3] += 1.0": False,
    "x[i] = a[3 - i]; x[i] *= x[i]": False,
    "x[q[i]] = a[i]": False,
    "x[i] += a[i]; a[i] = x[i]": False,
    "x[0] += a[i]; a[i] = x[0]": True,
    "x[i % 4] = a[i]": False,
}


@pytest.mark.parametrize("body", MEETINGS)
def test_iterations_that_meet_are_seen(body: str) -> None:
    text = f"{HEAD}\ndef k(x, a, q):\n    for i in range(4):\n        {body}\n"
    fields = {
        "x": Given(np.arange(1.0, 5)),
        "a": Given(np.array([0.3, -0.7, 1.1, 0.2])),
        "q": Given(np.array([2, 0, 3, 1], np.int32), (), False),
    }
    program = Program(0, text, fields, (Launch("k", ("x", "a", "q")),))
    still = {name: np.zeros(4) for name in "xa"}
    assert bool(refer(program, still, 0).met) == MEETINGS[body]
