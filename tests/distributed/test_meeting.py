"""Ranks that run different steps: found before they wait for each other, under debug."""

from __future__ import annotations

from types import SimpleNamespace
from unittest import mock

import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.diagnostics import RankError
from difftile.ranks import current
from difftile.recording import meeting
from difftile.recording.opaque import OpaqueStep
from difftile.recording.perform import perform
from difftile.recording.uses import Use
from tests.ranks import ranks


def differ(case: str) -> str:
    """Return the error of a program that is not the same on rank 1."""
    odd = current().rank == 1
    grid = dist.Grid((7,), halo=1)
    u, v = grid.field(ti.f64, grad=True), grid.field(ti.f32, grad=True)
    s = dt.zeros((), dtype=ti.f64, grad=True)
    with mock.patch.object(meeting, "current_session", lambda: SimpleNamespace(debug=True)):
        tape = dt.Tape()
        try:
            with tape:
                u.exchange()
                if case == "another step" and odd:
                    dist.sum(s)
                elif case == "another element" and odd:
                    grid.exchange(v)
                elif case != "an exchange less" or not odd:
                    u.exchange()
            tape.backward({u: 1.0})
            if case == "no tape" and odd:
                dist.sum(s)
            elif case == "no tape":
                u.exchange()
        except RankError as error:
            return str(error)
    return ""


@pytest.mark.parametrize(
    ("case", "zero", "one"),
    [
        ("the same", "", ""),
        ("another step", "the exchange", "dist.sum"),
        ("another element", "the exchange of a field of f64", "the exchange of a field of f32"),
        ("an exchange less", "the exchange", "backward() of a tape with 1 step that"),
        ("no tape", "the exchange", "dist.sum"),
    ],
)
def test_under_debug_an_error_names_the_first_step_that_differs(
    case: str, zero: str, one: str
) -> None:
    for text in ranks(2).run(differ, case):
        if not zero:
            assert text == ""
            continue
        lines = text.splitlines()
        assert lines[0] == "The ranks are at different steps, and would wait for each other:"
        assert lines[1].startswith(f"  rank 0: {zero}") and "(test_meeting.py:" in lines[1]
        assert lines[2].startswith(f"  rank 1: {one}") and "(test_meeting.py:" in lines[2]


class Together(OpaqueStep):
    """A step that claims to need all ranks."""

    communicates = True

    def run(self) -> None:
        """Do nothing."""

    def reverse(self, then: object, saved: object) -> None:
        """Do nothing."""


def count_differently(memory: int) -> str:
    """Return the error of a limited tape with a joint step more on rank 1."""
    x = dt.zeros(4, dtype=ti.f64, grad=True)
    with dt.Tape(memory=memory) as tape:
        for _ in range(3 + current().rank):
            perform(Together("step", [Use(x, True, True)]))
    try:
        tape.backward({x: 1.0})
    except RankError as error:
        return str(error)
    return ""


def test_a_tape_with_a_limit_refuses_different_counts_before_it_runs_anything_again() -> None:
    for text in ranks(2).run(count_differently, 10_000):
        assert "(3 on one rank and 4 on another)" in text


def swap_steps(memory: int) -> str:
    """Return the error of a limited tape with the same joint steps in another order on rank 1."""
    fields = [dt.zeros(shape, dtype=ti.f64, grad=True) for shape in (4, (2, 2))]
    with dt.Tape(memory=memory) as tape:
        for x in fields[:: 1 - 2 * current().rank]:
            perform(Together("step", [Use(x, True, True)]))
    try:
        tape.backward({fields[0]: 1.0})
    except RankError as error:
        return str(error)
    return ""


def test_a_tape_with_a_limit_refuses_another_order() -> None:
    for text in ranks(2).run(swap_steps, 10_000):
        assert "The ranks have recorded different exchanges and sums (2)." in text
