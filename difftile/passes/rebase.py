"""Parallel loops that count from zero: their pieces then end below 2**31, wherever they start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from difftile.ir.nodes import Block, Const, Let, ParallelFor, Program, Stmt, Value, Var
from difftile.ir.types import I32
from difftile.ir.walk import with_tasks
from difftile.ops.build import OpBuilder


def rebase(program: Program) -> Program:
    """Return the program with parallel loops from zero."""
    return with_tasks(program, _rebased)


def _rebased(task: ParallelFor) -> Iterator[Stmt]:
    before, b = OpBuilder(), OpBuilder()
    before.span = b.span = task.span
    indices: list[Var] = []
    stops: list[Value] = []
    for index, start, stop in zip(task.indices, task.starts, task.stops, strict=True):
        if start == Const(0, I32):
            indices.append(index)
            stops.append(stop)
            continue
        indices.append(Var(index.name, I32))
        b.append(Let(index, "add", (start, indices[-1]), task.span))
        stops.append((before.expr(stop).max(start) - start).value)
    starts = tuple(Const(0, I32) for _ in indices)
    body = Block((*b.stmts, *task.body.stmts), task.body.results)
    yield from before.stmts
    yield replace(task, indices=tuple(indices), starts=starts, stops=tuple(stops), body=body)
