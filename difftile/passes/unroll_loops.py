"""Inner loops of a few iterations written out, where the loop around them is the innermost then.

Only innermost loops become vector instructions. LLVM writes out inner loops too, but often after it
has looked for loops to make vectors of.
"""

from __future__ import annotations

from collections.abc import Collection
from math import inf, prod

from difftile.ir.build import Builder
from difftile.ir.nodes import (
    Accumulate,
    Block,
    Combine,
    Const,
    For,
    Let,
    Load,
    ParallelFor,
    Program,
    Stmt,
    Store,
    While,
)
from difftile.ir.rewrite import Rewriter
from difftile.ir.types import I32, shape_of
from difftile.ir.walk import Cloner, literal_length, regions, walk, with_blocks, with_some
from difftile.ops.build import OpBuilder
from difftile.ops.table import OPS
from difftile.passes.fold import Folding

CALLS = frozenset(
    (
        *("sin", "cos", "tan", "asin", "acos", "atan2", "tanh", "exp", "expm1", "log", "log1p"),
        *("atan", "log2", "log10", "pow", "sigmoid", "log1pexp", "logit", "logsumexp"),
        *(op.name for op in OPS.values() if op.value),
    )
)
"""Functions that are calls of the library or polynomials, and formulas of them."""

LARGEST = 300
"""Instructions of a loop that is written out, about."""

_LARGEST_AROUND = 600  # of the loop around it
_OF_FUNCTIONS = 25  # instructions of a polynomial


def unroll_loops(program: Program, loops: Collection[int] | None = None) -> Program:
    """Return the program in which such loops are written out.

    Args:
        program: A finished program.
        loops: The numbers of the parallel loops in which they are; all by default. Those outside of
            parallel loops are, in any case.
    """
    return with_some(program, loops, lambda stmt: _Outer(Builder()).replaced(stmt))


class _Outer(Rewriter[Builder]):
    def rule(self, stmt: Stmt) -> None:
        if _becomes_innermost(stmt):
            self.b.append(with_blocks(stmt, _WrittenOut(OpBuilder()).block))
        else:
            self.keep(stmt)


def _becomes_innermost(stmt: Stmt) -> bool:
    if not isinstance(stmt, (For, ParallelFor)):
        return False
    size = _unrolled_size(stmt.body)
    inner = any(isinstance(s, For) for s in walk(stmt.body))
    return inner and size is not None and size <= _LARGEST_AROUND


def _unrolled_size(block: Block) -> int | None:
    """Return the number of instructions with all loops written out; None if one cannot be."""
    total = 0
    for stmt in block.stmts:
        if isinstance(stmt, While):
            return None
        sizes = [_unrolled_size(region) for region in regions(stmt)]
        size = sum(one for one in sizes if one is not None)
        if isinstance(stmt, For):
            turns = literal_length(stmt.start, stmt.stop)
            if turns == inf or None in sizes or turns * size > LARGEST:
                return None
            total += int(turns) * size
        elif None in sizes:
            return None
        else:
            total += weight(stmt) + size
    return total


def weight(stmt: Stmt) -> int:
    """Return about how many instructions a statement is, its regions left out."""
    match stmt:
        case Let(_, "vec" | "mat" | "extract" | "insert"):
            return 0
        case Let(out, op, args):
            each = _OF_FUNCTIONS if op in CALLS else 1
            return each * max([prod(shape_of(v.type)) for v in (out, *args)])
        case Load(out):
            return 2 * prod(shape_of(out.type))
        case Store(value=value) | Accumulate(value=value) | Combine(value=value):
            return 2 * prod(shape_of(value.type))
        case _:
            return 1


class _WrittenOut(Folding):
    """A loop without loops inside."""

    def rule(self, stmt: Stmt) -> None:
        match stmt:
            case For(index, Const(start), Const(stop), carries, carried, body, outs):
                for k in range(int(start), int(stop)):
                    given = dict(zip(carries, carried, strict=True)) | {index: Const(k, I32)}
                    copy = Cloner(given).block(body)
                    for inner in copy.stmts:
                        self.stmt(inner)
                    carried = self.env.all(copy.results)
                self.env.update(zip(outs, carried, strict=True))
            # An index of local memory is a literal then, and its element a variable.
            case Let(args=args) if not all(isinstance(arg, Const) for arg in args):
                self.keep(stmt)
            case _:
                super().rule(stmt)
