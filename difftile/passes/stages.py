"""Cutting a kernel into stages, each of which reads fields as they were before or after it.

A stage ends where a statement would give a field a third version: it writes what an earlier one
of the stage has written and a later one has read. The reverse of a stage needs two versions of a
field at most, and the tape treats the stages of one kernel like launches of their own.
"""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.facts import arrays_loaded, arrays_written, has_effects, uses
from difftile.ir.nodes import (
    Array,
    Block,
    Combine,
    Const,
    Let,
    Load,
    Program,
    Size,
    Stmt,
    Store,
    Var,
)
from difftile.ir.types import BOOL, I32, FieldType
from difftile.ir.walk import Cloner, definitions, walk
from difftile.ops.build import OpBuilder


def split(program: Program) -> tuple[Program, ...]:
    """Return the stages of a program in order; together they are equivalent to the program."""
    groups: list[list[Stmt]] = [[]]
    written: set[Array] = set()
    final: set[Array] = set()  # read after their write: must not be written again
    for stmt in program.body.stmts:
        one = Block((stmt,))
        writes, late = arrays_written(one), written & arrays_loaded(one)
        # Results of calls that rules read stay until the stage ends.
        left = {s.array.contents_of for s in walk(one) if isinstance(s, Load) and s.array.late}
        combined = {s.array for s in walk(one) if isinstance(s, Combine)}
        # An adjoint needs the contents from before a combination and those from after it.
        if writes & (final | late) or combined & written:
            groups.append([])
            written.clear()
            final.clear()
            late.clear()
        groups[-1].append(stmt)
        written |= writes
        final |= late | combined | {array for array in left if array is not None}
    if len(groups) == 1:
        return (program,)
    return _programs(program, groups)


def _programs(program: Program, groups: list[list[Stmt]]) -> tuple[Program, ...]:
    numbers = {p for p in program.params if isinstance(p, Var)}
    cheap: dict[Var, Stmt] = {}  # values that follow only from shapes and numbers
    for stmt in program.body.stmts:
        if isinstance(stmt, Size) or (
            isinstance(stmt, Let)
            and all(isinstance(a, Const) or a in numbers or a in cheap for a in stmt.args)
        ):
            cheap[stmt.out] = stmt
    defined_at = {
        v: k for k, group in enumerate(groups) for stmt in group for v in definitions(stmt)
    }
    cells: dict[Var, Array] = {}
    needed: list[list[Var]] = []
    for k, group in enumerate(groups):
        used = uses(Block(tuple(group)))
        before = [v for v in defined_at if v in used and defined_at[v] < k]
        needed.append(before)
        for v in before:
            if v not in cheap:
                element = I32 if v.type == BOOL else v.type
                cells.setdefault(v, Array(v.name or "spilled", FieldType(element, 0)))
    stages: list[Program] = []
    for k, group in enumerate(groups):
        spilled = [(v, cell) for v, cell in cells.items() if defined_at[v] == k]
        body = Block(tuple(_stage(group, needed[k], spilled, cells, cheap)))
        if has_effects(body):
            stages.append(
                replace(
                    program,
                    name=f"{program.name}_{len(stages) + 1}",
                    body=body,
                    temps=(*program.temps, *cells.values()),
                )
            )
    return tuple(stages)


def _stage(
    group: list[Stmt],
    needed: list[Var],
    spilled: list[tuple[Var, Array]],
    cells: dict[Var, Array],
    cheap: dict[Var, Stmt],
) -> list[Stmt]:
    """Return the statements of a stage; values of earlier ones are computed again or loaded."""
    b = OpBuilder()
    cloner = Cloner()

    def again(v: Var) -> None:
        stmt = cheap[v]
        for arg in stmt.args if isinstance(stmt, Let) else ():
            if isinstance(arg, Var) and arg in cheap and arg not in cloner.env:
                again(arg)
        b.append(cloner.stmt(stmt))

    for v in needed:
        if v in cloner.env:
            continue
        if v in cheap:
            again(v)
            continue
        loaded = b.expr(b.load(cells[v], (), v.name))
        cloner.env[v] = (loaded.ne(0).named(v.name) if v.type == BOOL else loaded).value
    for stmt in group:
        b.append(cloner.stmt(stmt))
    for v, cell in spilled:
        value = cloner.value(v)
        b.append(Store(cell, (), b.cast(value, I32) if v.type == BOOL else value))
    return b.stmts
