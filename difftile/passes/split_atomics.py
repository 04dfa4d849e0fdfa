"""Combinations of elements that one iteration owns become a load, an op and a store.

`k = ti.atomic_add(n[i], 1)` is exact and differentiable then. Combinations of shared elements stay
one step, component by component, and plain sums become accumulations.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

import numpy as np

from difftile.ir.nodes import (
    Array,
    Block,
    Combine,
    Const,
    For,
    Load,
    ParallelFor,
    Program,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import I32, Matrix, scalar_of, shape_of
from difftile.ir.walk import walk, with_blocks, with_stmts
from difftile.ops.build import OpBuilder
from difftile.passes.exclusive import owned_arrays


def split_atomics(program: Program) -> Program:
    """Return the program with such combinations split."""
    stmts: list[Stmt] = []
    for stmt in program.body.stmts:
        combines = [s for s in walk(Block((stmt,))) if isinstance(s, Combine)]
        if not combines:
            stmts.append(stmt)
        elif isinstance(stmt, ParallelFor):
            products = {s.array for s in combines if s.op in ("mul", "div") and s.out is None}
            # Where iterations also read or store the elements they multiply, each must have some of
            # its own, which the check for races sees to.
            touched = {s.array for s in walk(stmt.body) if isinstance(s, (Load, Store))}
            owned = owned_arrays(stmt, program) | products & touched
            stmts.append(replace(stmt, body=_block(stmt.body, owned)))
        else:
            stmts += _block(Block((stmt,)), None).stmts
    return with_stmts(program, stmts)


def serial(loop: ParallelFor) -> For:
    """Return a parallel loop as serial ones, one inside the other."""
    body = loop.body
    axes = list(zip(loop.indices, loop.starts, loop.stops, strict=True))
    for index, start, stop in reversed(axes[1:]):
        body = Block((For(index, start, stop, (), (), body, (), loop.span),))
    index, start, stop = axes[0]
    return For(index, start, stop, (), (), body, (), loop.span)


def _block(block: Block, owned: Set[Array] | None) -> Block:
    """Split combinations of owned arrays; None stands for all arrays."""
    b = OpBuilder()
    with b.region() as stmts:
        for stmt in block.stmts:
            b.span = stmt.span
            if not isinstance(stmt, Combine):
                b.append(with_blocks(stmt, lambda inner: _block(inner, owned)))
            elif owned is None or stmt.array in owned:
                old = stmt.out or Var(f"{stmt.array.name}_at", stmt.value.type)
                b.append(Load(old, stmt.array, stmt.index, stmt.span))
                new = b.call(stmt.op, old, stmt.value)
                b.append(Store(stmt.array, stmt.index, new, stmt.span))
            else:
                _shared(b, stmt)
    return Block(tuple(stmts), block.results)


def _shared(b: OpBuilder, stmt: Combine) -> None:
    """Append a combination that iterations share, by components of one number each."""
    op, value = stmt.op, stmt.value
    if op == "div":
        op, value = "mul", b.call("div", Const(1.0, scalar_of(value.type)), value)
    if op == "add" and stmt.out is None:
        b.accumulate(stmt.array, stmt.index, value)
        return
    shape = shape_of(value.type)
    if not shape:
        b.append(replace(stmt, op=op, value=value))
        return
    olds: list[Value] = []
    for cell in np.ndindex(*shape):
        part = tuple(Const(k, I32) for k in cell)
        out = None if stmt.out is None else Var(stmt.out.name, scalar_of(value.type))
        one = b.call("extract", value, *part)
        b.combine(op, stmt.array, (*stmt.index, *part), one, out)
        if out is not None:
            olds.append(out)
    if stmt.out is not None:
        b.let("mat" if isinstance(value.type, Matrix) else "vec", tuple(olds), value.type)
        b.stmts[-1] = replace(b.stmts[-1], out=stmt.out)  # pyrefly: ignore[unexpected-keyword]
