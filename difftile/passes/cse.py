"""Common subexpressions: values that were computed or read before, and still hold, are reused."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace
from typing import TypeVar

from difftile.ir.facts import (
    arrays_written,
)
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
from difftile.ir.walk import (
    Substitution,
    regions,
    with_blocks,
    with_operands,
)

Key = TypeVar("Key", bound=Hashable)


def cse(program: Program) -> Program:
    """Return the program without repeated computations and loads."""
    return replace(program, body=_Available(Substitution(), {}, {}).block(program.body))


class _Available:
    """The values available in one region; inner regions see copies of the outer ones."""

    def __init__(
        self,
        env: Substitution,
        pure: dict[Hashable, Var],
        loads: dict[tuple[Array, tuple[Value, ...]], Var],
    ) -> None:
        self.env = env
        self.pure = pure
        self.loads = loads

    def block(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            kept = self.stmt(with_operands(stmt, self.env))
            if kept is not None:
                stmts.append(kept)
        return Block(tuple(stmts), self.env.all(block.results))

    def stmt(self, stmt: Stmt) -> Stmt | None:
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
                return stmt
            case For() | While() | If() | ParallelFor() | Ruled():
                return self.region(stmt)
            case _:
                return stmt

    def reuse(self, stmt: Stmt, out: Var, values: dict[Key, Var], key: Key) -> Stmt | None:
        known = values.setdefault(key, out)
        if known is not out:
            self.env[out] = known
            return None
        return stmt

    def forget(self, arrays: set[Array]) -> None:
        for key in [key for key in self.loads if key[0] in arrays]:
            del self.loads[key]

    def region(self, stmt: Stmt) -> Stmt:
        written = {array for block in regions(stmt) for array in arrays_written(block)}
        if not isinstance(stmt, (If, Ruled)):
            self.forget(written)  # a later iteration may write where an earlier one reads
        changed = with_blocks(
            stmt, lambda block: _Available(self.env, dict(self.pure), dict(self.loads)).block(block)
        )
        self.forget(written)
        return changed
