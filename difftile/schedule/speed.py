"""How long statements take, in elementary steps: an addition in a loop without vectors.

Loops that become vector instructions take a sixth of the time for the same arithmetic, and compute
functions by polynomials instead of calling the library. The figures are rounded from measurements
on one machine; a factor of two would hardly change the choices.
"""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from difftile.ir.facts import fact
from difftile.ir.nodes import Block, Fail, For, Let, ParallelFor, Print, Program, While
from difftile.ir.types import shape_of
from difftile.ir.walk import literal_length, regions, walk
from difftile.ops.scalar import is_exact
from difftile.passes.unroll_loops import CALLS
from difftile.records import dataclass
from difftile.schedule.target import Target
from difftile.schedule.vector_loops import obstacle

STEP = 0.15
"""Nanoseconds that a step takes."""

_IN_VECTORS = 1 / 6  # as long
_POLYNOMIAL = 30  # in a loop of vectors, before it is divided
_CALL = 100
_UNROLLED = 200  # statements of loops inside a loop that LLVM writes out

# Poles of these ops tell zeros of both signs apart, which vector instructions of fast math do not.
_SIGNED_POLES = frozenset(("zeta", "polygamma"))
_DENSE = ("determinant", "cofactors", "inverse", "solve", "cholesky", "polar", "svd", "sym_eig")
_STEPS = {
    **dict.fromkeys(("div", "mod", "floordiv", "raw_div", "raw_mod", "sqrt", "rsqrt"), 4),
    **dict.fromkeys(("norm", "normalized"), 10),
    **dict.fromkeys(_DENSE, _CALL),
    **dict.fromkeys(CALLS, _CALL),
    "random_bits": 40,
}


@dataclass(frozen=True, slots=True)
class Speed:
    """How a program is compiled.

    Args:
        outlined: Its loops may become vector instructions.
        reorders: Sums of floats may be computed in another order.
        polynomials: The functions that loops of vectors compute by polynomials.
    """

    outlined: bool = False
    reorders: bool = True
    polynomials: Collection[str] = ()

    def is_vector(self, loop: For | ParallelFor) -> bool:
        """Tell whether a loop becomes vector instructions, by the shape of its statements."""
        return (
            self.outlined
            and _written_out(loop.body) <= _UNROLLED
            and obstacle(loop, serial=True, reorders=self.reorders) is None
            and not any(isinstance(s, Let) and self._is_call(s) for s in walk(loop.body))
        )

    def _is_call(self, let: Let) -> bool:
        return let.op in CALLS and let.op not in self.polynomials

    def of(self, let: Let, *, in_vectors: bool) -> float:
        """Return the steps of an operation."""
        size = prod(shape_of(let.out.type))
        if let.op == "matmul":
            return size * 2 * shape_of(let.args[0].type)[-1]
        if in_vectors and let.op in self.polynomials:
            return size * _POLYNOMIAL
        return size * _STEPS.get(let.op, 1)


def in_vectors(steps: float) -> float:
    """Return the steps that so many take as vector instructions."""
    return steps * _IN_VECTORS


SCALAR = Speed()
"""No loop becomes vector instructions."""


def speed_of(program: Program, target: Target) -> Speed:
    """Return how fast the loops of a program are, if they are long."""
    outlined = (
        target.vectors
        and not speaks(program.body)
        and not any(isinstance(s, Let) and s.op in _SIGNED_POLES for s in walk(program.body))
    )
    functions = () if target.functions is None else target.functions.ops
    return Speed(outlined, reorders(program, target), functions)


def reorders(program: Program, target: Target) -> bool:
    """Tell whether sums of floats may be computed in another order than they are written in."""
    return target.fast_math and not is_exact(program)


@fact
def speaks(body: Block) -> bool:
    """Tell whether a program prints or reports failures."""
    return any(isinstance(stmt, (Print, Fail)) for stmt in walk(body))


def _written_out(block: Block) -> float:
    """Return how many statements a block has where its loops are written out."""
    count = 0.0
    for stmt in block.stmts:
        inner = sum(_written_out(region) for region in regions(stmt))
        match stmt:
            case For():
                count += inner * literal_length(stmt.start, stmt.stop)
            case While():
                count = float("inf")
            case _:
                count += 1 + inner
    return count
