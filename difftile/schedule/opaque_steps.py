"""Loops of one thread whose step the compiler of machine code is not to know.

LLVM writes loops out at run time, several iterations behind a test, until a buffer of the processor
is full. LLVM 15 takes that buffer to hold 512 instructions on AMD's Zen 3 and later: each loop is
written out up to eight times, nested loops within each other, which takes 2 to 4 times as long to
compile and makes nothing faster. It does so where it can compute the number of iterations ahead,
and so not for a step that is a value in memory. Loops that are no vectors get such a step, which is
always 1.

Left as they are: loops that become vector instructions, and loops of a few iterations, which LLVM
writes out for good, with local arrays in registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from difftile.ir.nodes import For, ParallelFor, Program, Stmt, Var
from difftile.ir.walk import literal_length, walk
from difftile.schedule.vector_loops import LoopCode

_FEW = 64  # iterations up to which LLVM may write all of them out, if it knows the number

# LLVM may have vectors for loops with these obstacles.
_PERHAPS = frozenset(("few", "many"))


def opaque_steps(program: Program, codes: Sequence[Sequence[LoopCode]]) -> frozenset[Var]:
    """Return the indices of the loops that get an opaque step.

    Args:
        program: A program as it is emitted.
        codes: The forms of its innermost loops: `loop_codes`.
    """
    found = {index for stmt in walk(program.body) for index in _long_axes(stmt)}
    return frozenset(found.difference(_vectors(chain.from_iterable(codes))))


def _vectors(codes: Iterator[LoopCode]) -> Iterator[Var]:
    """Yield the indices of the loops that are vector instructions, or may be."""
    for code in codes:
        if code.obstacle is not None and code.obstacle.kind not in _PERHAPS:
            continue
        match code.loop:
            case For(index=index):
                yield index
            case ParallelFor(indices=indices):
                yield indices[-1]
            case _:
                pass


def _long_axes(stmt: Stmt) -> Iterator[Var]:
    """Yield the indices of a loop along axes of more than a few iterations."""
    match stmt:
        case For(index=index, start=start, stop=stop):
            axes = [(index, start, stop)]
        case ParallelFor(indices=indices, starts=starts, stops=stops):
            axes = list(zip(indices, starts, stops, strict=True))
        case _:
            axes = []
    for index, start, stop in axes:
        if literal_length(start, stop) > _FEW:
            yield index
