"""Common subexpressions: what was computed or read before, and still holds, is used again."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
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
from difftile.ir.walk import arrays_written, with_blocks, with_operands


def cse(program: Program) -> Program:
    """Return the program without repeated computations and loads."""
    body = _Scope({}, {}, {}).block(program.body)
    return replace(program, body=body)


class _Scope:
    """What is available in one region; inner regions see copies of the outer ones."""

    def __init__(
        self,
        env: dict[Var, Value],
        pure: dict[Hashable, Var],
        loads: dict[tuple[Array, tuple[Value, ...]], Var],
    ) -> None:
        self.env = env
        self.pure = pure
        self.loads = loads

    def value(self, value: Value) -> Value:
        return self.env.get(value, value) if isinstance(value, Var) else value

    def block(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            kept = self.stmt(with_operands(stmt, self.value))
            if kept is not None:
                stmts.append(kept)
        return Block(tuple(stmts), tuple(self.value(result) for result in block.results))

    def stmt(self, stmt: Stmt) -> Stmt | None:
        match stmt:
            case Let(out, op, args):
                return self.reuse(stmt, out, (op, args, out.type))
            case Size(out, array, axis):
                return self.reuse(stmt, out, (array, axis))
            case Load(out, array, index):
                known = self.loads.setdefault((array, index), out)
                if known is not out:
                    self.env[out] = known
                    return None
                return stmt
            case Store(array=array) | Accumulate(array=array) | Combine(array=array):
                self.forget({array})
                return stmt
            case For() | While() | If() | ParallelFor() | Ruled():
                return self.region(stmt)
            case _:
                return stmt

    def reuse(self, stmt: Stmt, out: Var, key: Hashable) -> Stmt | None:
        known = self.pure.setdefault(key, out)
        if known is not out:
            self.env[out] = known
            return None
        return stmt

    def forget(self, arrays: set[Array]) -> None:
        for key in [key for key in self.loads if key[0] in arrays]:
            del self.loads[key]

    def region(self, stmt: Stmt) -> Stmt:
        written: set[Array] = set()

        def note(block: Block) -> Block:
            written.update(arrays_written(block))
            return block

        with_blocks(stmt, note)
        if not isinstance(
            stmt, (If, Ruled)
        ):  # a later iteration may overwrite what an earlier one reads
            self.forget(written)
        changed = with_blocks(
            stmt, lambda block: _Scope(self.env, dict(self.pure), dict(self.loads)).block(block)
        )
        self.forget(written)
        return changed
