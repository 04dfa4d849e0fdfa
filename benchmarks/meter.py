"""Measuring turn by turn, and the lines of a table that come of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

import taichi as ti

CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}


@dataclass(frozen=True)
class Meter:
    """Measures calls.

    Attributes:
        turns: How often each is measured.
        clock: Returns seconds.
    """

    turns: int
    clock: Callable[[], float]

    def timed(self, call: Callable[[], object]) -> float:
        """Return the seconds that a call takes, to the end of all that it started."""
        ti.sync()
        started = self.clock()
        call()
        ti.sync()
        return self.clock() - started

    def in_turn(self, *calls: Callable[[], float]) -> list[list[float]]:
        """Have calls measure themselves turn by turn, after a first turn that compiles them."""
        for call in calls:
            call()
        turns = [[call() for call in calls] for _ in range(self.turns)]
        return [list(column) for column in zip(*turns, strict=True)]

    def measure(self, *calls: Callable[[], object]) -> list[list[float]]:
        """Measure calls turn by turn."""
        return self.in_turn(*(lambda call=call: self.timed(call) for call in calls))


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        label: Name of the measurement.
        ours: Seconds, once for every turn.
        theirs: Times of the peer, if there is one.
        ratio: The largest acceptable ratio.
        rate: The required number per second.
        good: The sufficient number per second.
    """

    label: str
    ours: Sequence[float]
    theirs: Sequence[float] = ()
    ratio: float | None = None
    rate: float | None = None
    good: float | None = None

    def __str__(self) -> str:
        spent = median(self.ours)
        line = f"{self.label:48}{1e3 * spent:11.2f}{1 / spent:9.1f}"
        marks: list[str] = []
        if self.theirs:
            ratio = median(a / b for a, b in zip(self.ours, self.theirs, strict=True))
            line += f"{1e3 * median(self.theirs):11.2f}{ratio:8.2f}"
            if self.ratio is not None:
                met = "met" if ratio <= self.ratio else "not met"
                marks.append(f"ratio <= {self.ratio:g}, {met}")
        elif self.rate is not None:
            line += 19 * " "
        if self.rate is not None:
            met = "met" if 1 / spent >= self.rate else "not met"
            good = self.good is not None and 1 / spent >= self.good
            marks.append(f">= {self.rate:g} a second, {'good' if good else met}")
        return f"{line}   {'; '.join(marks)}".rstrip()


@dataclass
class Findings:
    """The rows of a table, and the differences of results from the peers'."""

    rows: list[Row] = field(default_factory=list[Row])
    apart: dict[str, float] = field(default_factory=dict[str, float])
