"""Common subexpressions: values that were computed or read before, and still hold, are reused."""

from __future__ import annotations

import math
from collections.abc import Hashable, Set
from typing import TypeVar

from difftile.ir.build import Builder
from difftile.ir.facts import arrays_written
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Program,
    Ruled,
    Size,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.rewrite import Rewriter
from difftile.ir.walk import regions

Key = TypeVar("Key", bound=Hashable)


def cse(program: Program) -> Program:
    """Return the program without repeated computations and loads."""
    return _Available(Builder()).program(program)


class _Available(Rewriter[Builder]):
    """The values available at a place; regions start with those outside of them."""

    def __init__(self, b: Builder) -> None:
        super().__init__(b)
        self.pure: dict[Hashable, Var] = {}
        self.loads: dict[tuple[Array, tuple[Value, ...]], Var] = {}

    def rule(self, stmt: Stmt) -> None:
        match stmt:
            case Let(out, op, args):
                # 0.0 and -0.0 are equal, and not the same argument.
                literals = (arg.value for arg in args if isinstance(arg, Const))
                signs = tuple(math.copysign(1, value) for value in literals)
                return self.reuse(stmt, out, self.pure, (op, args, signs, out.type))
            case Size(out, array, axis):
                return self.reuse(stmt, out, self.pure, (array, axis))
            case Load(out, array, index):
                return self.reuse(stmt, out, self.loads, (array, index))
            case Store(array=array) | Accumulate(array=array) | Combine(array=array):
                self.forget({array})
            case For() | While() | If() | ParallelFor() | Ruled():
                return self.region(stmt)
            case _:
                pass
        self.b.append(stmt)

    def reuse(self, stmt: Stmt, out: Var, values: dict[Key, Var], key: Key) -> None:
        known = values.setdefault(key, out)
        if known is out:
            self.b.append(stmt)
        else:
            self.env[out] = known

    def forget(self, arrays: Set[Array]) -> None:
        for key in [key for key in self.loads if key[0] in arrays]:
            del self.loads[key]

    def region(self, stmt: Stmt) -> None:
        written = {array for block in regions(stmt) for array in arrays_written(block)}
        if not isinstance(stmt, (If, Ruled)):
            self.forget(written)  # a later iteration may write where an earlier one reads
        self.keep(stmt)
        self.forget(written)

    def block(self, block: Block) -> Block:
        before = self.pure, self.loads
        self.pure, self.loads = dict(self.pure), dict(self.loads)
        try:
            return super().block(block)
        finally:
            self.pure, self.loads = before
