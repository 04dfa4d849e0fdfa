"""Loops over the items of objects, and structs that kernels make of dataclasses."""

from __future__ import annotations

import dataclasses
from typing import Any

import taichi as ti

import difftile as dt
from tests.harness import floats, held, ints, program


class Items:
    """What a loop over an object means, in Python."""

    def __iter__(self):
        for k in range(self.count()):
            if hasattr(self, "part"):
                yield from self.part(k)
            else:
                yield self.item(k)


@dataclasses.dataclass
class Row(Items):
    points: Any
    start: Any
    stop: Any
    step: int = 1

    @dt.func
    def count(self):
        return (self.stop - self.start) // self.step

    @dt.func
    def item(self, k):
        return self.points[self.start + k * self.step]


@dataclasses.dataclass
class Rows(Items):
    points: Any
    starts: Any

    @dt.func
    def row(self, i):
        return Row(self.points, self.starts[i], stop=self.starts[i + 1])

    @dt.func
    def count(self):
        return self.starts.shape[0] - 1

    @dt.func
    def part(self, k):
        return self.row(k)


@dataclasses.dataclass
class Steps(Items):
    """Numbers and their squares, with a derivative to the first number."""

    first: Any
    n: int

    @dt.func
    def count(self):
        return self.n

    @dt.func
    def item(self, k):
        at = self.first + 0.25 * k
        return at, at * at


ROWS = held(Rows, points=ints([3, 0, 0, 2, 1, 3]), starts=ints([0, 2, 2, 5, 6]))


@program(x=floats(4), y=floats(4), rows=ROWS)
def items_of_a_row(x, y, rows):
    for i in y:
        total = 1.0
        for j in rows.row(i):
            total *= 1.0 + x[i] * x[j]
        y[i] += total


@program(x=floats(4), y=floats(3), rows=ROWS)
def parts_with_jumps(x, y, rows):
    """A 'break' ends the loop over all parts."""
    for i in y:
        s = 0.0
        for j in rows:
            if j == 3 and s == 0.0:
                continue
            s += x[j] * x[i]
            if j == 1 or s > 1.5:
                break
        y[i] = ti.sin(s)


@program(x=floats(4), y=floats(), rows=ROWS)
def rows_in_parallel(x, y, rows):
    for j in rows:
        y[None] += x[j] * x[j]
    for j in rows.row(2):
        y[None] += 0.5 * x[j]


@program(x=floats(4), y=floats(4))
def items_with_derivatives(x, y):
    for i in x:
        for at, square in Steps(x[i], 3):
            y[i] += ti.cos(at) * square


@dt.func
def found(rows, x, least):
    for j in rows:
        if x[j] > least:
            return x[j] * x[j]
    return -1.0


@program(x=floats(4), y=floats(4), rows=ROWS)
def returned_from_a_loop(x, y, rows):
    for i in y:
        y[i] = found(rows, x, 0.5 * x[i])
