"""Random programs of one step of a simulation, to be repeated.

A few loops over the same or different boxes read and write fields at their own index, at those of
neighbours, at indices from a field, in rows that belong to the step, and in 0-D sums; with branches
and serial loops. As Python, iterations run in order, so that programs with races have a
meaning as well: no pass may change it but by the order of sums.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from difftile.ir.nodes import (
    Array,
    Block,
    Const,
    For,
    If,
    ParallelFor,
    Program,
    Value,
    Var,
)
from difftile.ir.types import F64, I32, FieldType, Vector
from difftile.ops.build import OpBuilder

SIZE = 5  # of each axis
STEPS = 4  # rows of the fields that have one for each step


class PeriodProgram:
    """One random program.

    Args:
        rng: Draws it.
        friendly: Draw mostly loops over one box that keep to their own elements.
        short: Draw several short loops over few fields, which they mostly overwrite.

    Attributes:
        program: The program.
        step: Its parameter that says which step it is.
    """

    def __init__(
        self, rng: np.random.Generator, *, friendly: bool = False, short: bool = False
    ) -> None:
        self.rng = rng
        self.friendly = friendly
        self.short = short
        self.b = OpBuilder()
        self.step = Var("t", I32)
        self.h, self.few = Var("h", F64), Var("few", I32)
        self.lines = [Array(name, FieldType(F64, 1)) for name in "abcd"]
        self.grids = [Array(name, FieldType(F64, 2)) for name in ("g", "w")]
        self.slabs = [Array(name, FieldType(F64, 2)) for name in ("slab", "row")]
        self.sums = [Array(name, FieldType(F64, 0)) for name in ("s", "k")]
        self.table = Array("table", FieldType(F64, 1))
        self.vectors = Array("v", FieldType(Vector(2, F64), 1))
        self.places = Array("places", FieldType(I32, 1))
        self.counts = Array("counts", FieldType(I32, 1))
        self.top: list[Value] = [Const(0.5, F64), self.h]
        sizes = [self.b.size(array, 0) for array in (*self.lines[:2], *self.grids[:1])]
        self.size = sizes[0]
        for _ in range(rng.integers(3, 7) if short else rng.integers(1, 5)):
            if rng.random() < 0.3:
                self._between()
            self._loop()
        arrays = (*self.lines, *self.grids, *self.slabs, *self.sums)
        arrays = (*arrays, self.table, self.vectors, self.places, self.counts)
        params = (*arrays, self.h, self.few, self.step)
        self.program = Program("period", params, Block(tuple(self.b.stmts)))

    def one_of(self, *ways: Callable[[], None]) -> None:
        ways[self.rng.integers(len(ways))]()

    def choice(self, things: list) -> Value | Array:
        return things[self.rng.integers(len(things))]

    def inputs(self) -> tuple[dict[Array, np.ndarray], dict[Var, float]]:
        """Return contents of the fields, and numbers other than the step."""
        fields: dict[Array, np.ndarray] = {}
        for array in self.program.arrays:
            shape = (SIZE,) * array.type.ndim
            if array in self.slabs:
                shape = (STEPS, SIZE)
            elif array is self.table:
                shape = (STEPS,)
            elif array is self.vectors:
                shape = (SIZE, 2)
            if array in (self.places, self.counts):
                fields[array] = self.rng.integers(0, SIZE, shape).astype(np.int32)
            else:
                fields[array] = np.asarray(self.rng.uniform(-1, 1, shape))
        return fields, {self.h: 0.3, self.few: int(self.rng.integers(SIZE + 1))}

    @property
    def extents(self) -> dict[Array, tuple[str, ...]]:
        """The same word for extents that are the same."""
        lines = (*self.lines, self.vectors, self.places, self.counts)
        of_lines = {array: ("size",) for array in lines}
        of_grids = {array: ("size", "size") for array in self.grids}
        return of_lines | of_grids | {array: ("steps", "size") for array in self.slabs}

    # Statements of the top level

    def _between(self) -> None:
        def table() -> None:
            self.top.append(self.b.load(self.table, (self.step,)))

        def scalar() -> None:
            self.top.append(self.b.load(self.choice(self.sums), ()))

        def clear() -> None:
            self.b.store(self.choice(self.sums), (), Const(0.0, F64))

        def compute() -> None:
            self.top.append(self.b.call("mul", self.top[-1], self.h))

        self.one_of(table, table, scalar, clear, compute)

    def _loop(self) -> None:
        i, j = Var("i", I32), Var("j", I32)
        size = self.size
        if self.rng.random() < 0.5:  # the same number by another name
            size = self.b.size(self.lines[0], 0)
        zero = Const(0, I32)
        boxes: list[tuple[tuple[Var, ...], tuple[Value, ...], tuple[Value, ...]]] = [
            ((i,), (zero,), (size,)),
            ((i,), (Const(1, I32),), (size,)),
            ((i,), (zero,), (self.few,)),
            ((i, j), (zero, zero), (size, size)),
        ]
        usual = self.friendly or self.rng.random() < 0.6
        indices, starts, stops = boxes[0 if usual else self.rng.integers(len(boxes))]
        with self.b.region() as stmts:
            if self.short:
                self._few(indices, list(self.top))
            elif self.rng.random() < 0.8:
                self._body(indices, list(self.top), depth=0)
            if self.rng.random() < 0.3 or not stmts:
                array = self.choice(self.lines if len(indices) == 1 else self.grids)
                self.b.store(array, indices, Const(0.0, F64))
        body = Block(tuple(stmts))
        self.b.append(ParallelFor(indices, starts, stops, body))

    # Statements of a loop

    def _body(self, indices: tuple[Var, ...], values: list[Value], *, depth: int) -> None:
        for _ in range(self.rng.integers(2, 6)):
            self._statement(indices, values, depth)

    def _few(self, indices: tuple[Var, ...], values: list[Value]) -> None:
        """Append a few accesses of one or two fields."""
        fields = self.lines[:2] if len(indices) == 1 else self.grids
        for _ in range(self.rng.integers(1, 4)):
            array, index = self.choice(fields), indices
            if self.rng.random() < 0.25:
                index = tuple(
                    self.b.call("sub", self.b.call("sub", self.size, i), Const(1, I32))
                    for i in indices
                )
            drawn = self.rng.random()
            if drawn < 0.35:
                values.append(self.b.load(array, index))
            elif drawn < 0.65:
                self.b.store(array, index, Const(float(self.rng.integers(2)), F64))
            elif drawn < 0.75:
                self.b.store(array, index, self._value(values))
            else:
                self.b.accumulate(array, index, self._value(values))

    def _index(self, i: Var) -> Value:
        """Append an index of a line: mostly the loop's own."""
        drawn = self.rng.random() * (3 if self.friendly else 1.5)
        if drawn < 0.1:
            return self.b.load(self.places, (i,))
        if drawn < 0.2:
            return self.b.call("mod", self.b.call("add", i, Const(1, I32)), self.size)
        if drawn < 0.3:
            return Const(int(self.rng.integers(SIZE)), I32)
        if drawn < 0.4:  # its own by another name
            return self.b.call("sub", self.b.let("add", (i, Const(1, I32)), I32), Const(1, I32))
        return i

    def _element(self, indices: tuple[Var, ...]) -> tuple[Array, tuple[Value, ...]]:
        """Append an index into a field of floats."""
        if len(indices) == 2:
            i, j = indices
            grid = self.choice(self.grids)
            return (grid, indices) if self.rng.random() < 0.8 else (grid, (j, i))
        i = self._index(indices[0])
        drawn = self.rng.random()
        if drawn < 0.65:
            return self.choice(self.lines), (i,)
        if drawn < 0.8:
            return self.choice(self.slabs), (self.step, i)
        if drawn < 0.9:
            return self.vectors, (i, Const(int(self.rng.integers(2)), I32))
        return self.choice(self.grids), (i, Const(int(self.rng.integers(2)), I32))

    def _value(self, values: list[Value]) -> Value:
        a, b = self.choice(values), self.choice(values)
        op = ("add", "sub", "mul", "max")[self.rng.integers(4)]
        return self.b.call("sin", self.b.call(op, a, b))

    def _statement(self, indices: tuple[Var, ...], values: list[Value], depth: int) -> None:
        def load() -> None:
            values.append(self.b.load(*self._element(indices)))

        def store() -> None:
            self.b.store(*self._element(indices), self._value(values))

        def add() -> None:
            self.b.accumulate(*self._element(indices), self._value(values))

        def combine() -> None:
            old = Var("old", F64) if self.rng.random() < 0.3 else None
            op = ("max", "min", "add")[self.rng.integers(3)]
            self.b.combine(op, *self._element(indices), self._value(values), old)
            if old is not None:
                values.append(old)

        def total() -> None:
            target = self.choice(self.sums[1:] if self.friendly else self.sums)
            self.b.accumulate(target, (), self._value(values))

        def scalar() -> None:
            values.append(self.b.load(self.sums[0], ()))

        def count() -> None:
            self.b.accumulate(self.counts, (self.choice(list(indices)),), Const(1, I32))

        ways = [load, load, load, store, store, add, add, total, scalar, count]
        if depth < 2:
            ways += [lambda: self._branch(indices, values, depth)]
            ways += [lambda: self._serial(indices, values, depth)]
        if self.rng.random() < 0.1:
            ways = [combine]
        self.one_of(*ways)

    def _branch(self, indices: tuple[Var, ...], values: list[Value], depth: int) -> None:
        cond = self.b.call("lt", self.choice(values), Const(0.1, F64))
        if self.rng.random() < 0.3:
            cond = self.b.call("lt", indices[0], self.few)
        sides: list[Block] = []
        for _ in range(2):
            inner = list(values)
            with self.b.region() as stmts:
                if self.rng.random() < 0.7:
                    self._body(indices, inner, depth=depth + 1)
            sides.append(Block(tuple(stmts), (self.choice(inner),)))
        out = Var("chosen", F64)
        self.b.append(If(cond, sides[0], sides[1], (out,)))
        values.append(out)

    def _serial(self, indices: tuple[Var, ...], values: list[Value], depth: int) -> None:
        j, carry, out = Var("k", I32), Var("carry", F64), Var("carried", F64)
        inner = [*values, carry]
        with self.b.region() as stmts:
            self._body(indices, inner, depth=depth + 2)
        body = Block(tuple(stmts), (self.choice(inner),))
        stop = Const(2, I32) if self.rng.random() < 0.7 else self.few
        init = self.choice(values)
        self.b.append(For(j, Const(0, I32), stop, (carry,), (init,), body, (out,)))
        values.append(out)
