"""Who asks is told what is derived and compiled, and how much of it is done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import difftile as dt
from difftile.compiling import deriving, watch_compiling


@pytest.fixture
def told() -> Iterator[list[tuple[str, int]]]:
    found: list[tuple[str, int]] = []
    watch_compiling(lambda what, compiled: found.append((what, compiled)))
    yield found
    watch_compiling(None)


@pytest.mark.compiled
def test_the_programs_of_a_tape_are_told_once(told: list[tuple[str, int]]) -> None:
    @dt.kernel
    def square(x, loss):
        for i in x:
            loss[None] += x[i] ** 2

    x, loss = dt.ones(8, grad=True), dt.zeros((), grad=True)
    for _ in range(2):
        with dt.Tape(loss):
            square(x, loss)
    begun = [what for what, _ in told if what]
    assert begun[:3] == ["reading square", "deriving square, forward", "simplifying square"]
    assert begun.count("compiling square") == begun.count("compiling square_adjoint") == 1
    assert told[-1] == ("", 2)


def test_steps_are_told_again_after_their_parts(told: list[tuple[str, int]]) -> None:
    with deriving("reading f"):
        with deriving("reading g"):
            pass
    assert told == [("reading f", 0), ("reading g", 0), ("reading f", 0), ("", 0)]


def test_what_begins_ends(told: list[tuple[str, int]]) -> None:
    @dt.kernel
    def cut(x, y):
        for i in x:
            y[i] = x[i] ** 2

    cut(dt.ones(4), dt.zeros(4))
    assert told[-1][0] == ""
    assert all(what == "" for what, _ in told[1::2])
