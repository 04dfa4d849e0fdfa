"""Parallel loops over one box of indices become one loop.

`parallel for i: x[i] = a; parallel for i: y[i] = f(x[i])` needs one task and, when elements are
values, one pass over memory. No iteration of one half of the merged loop may touch an
element that another iteration touches in the other half, unless both add. Statements between the
loops go before both or after both. (Kennedy and Allen, Optimizing Compilers for Modern
Architectures, section 6.2.5: loop fusion.)
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import replace
from functools import cached_property
from itertools import product

from difftile.ir.facts import uses
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Const,
    Fail,
    Let,
    Load,
    ParallelFor,
    Print,
    Program,
    Size,
    Stmt,
    Value,
    Var,
)
from difftile.ir.walk import (
    WRITES,
    Substitution,
    definitions,
    substitute,
    walk,
    with_blocks,
    with_stmts,
)
from difftile.passes.accesses import accesses_of
from difftile.passes.crossings import Crossings, commute
from difftile.records import dataclass


def merge_loops(program: Program) -> Program:
    """Return the program with such loops merged."""
    placed: list[_TopStatement] = []
    for stmt in program.body.stmts:
        part = _TopStatement(stmt)
        merged = _merged(placed, part) if isinstance(stmt, ParallelFor) else None
        placed = [*placed, part] if merged is None else merged
    return with_stmts(program, (part.stmt for part in placed))


@dataclass(frozen=True)
class _TopStatement:
    """A statement of the top level, with the accesses that others must not overtake."""

    stmt: Stmt

    @cached_property
    def touched(self) -> dict[Array, bool]:
        """The arrays that it touches, and whether it only adds to them."""
        found: dict[Array, bool] = {}
        for stmt in walk(Block((self.stmt,))):
            if isinstance(stmt, (Load, Alloc, *WRITES)):
                adds = isinstance(stmt, Accumulate)
                found[stmt.array] = found.get(stmt.array, True) and adds
        return found

    @cached_property
    def written(self) -> set[Array]:
        stmts = walk(Block((self.stmt,)))
        return {stmt.array for stmt in stmts if isinstance(stmt, (Alloc, *WRITES))}

    @cached_property
    def speaks(self) -> bool:
        """Whether it prints or reports failures."""
        return any(isinstance(stmt, (Print, Fail)) for stmt in walk(Block((self.stmt,))))

    @cached_property
    def used(self) -> Set[Var]:
        return uses(Block((self.stmt,)))

    def commutes(self, other: _TopStatement) -> bool:
        """Tell whether the two may come in either order."""
        if (self.speaks and other.speaks) or self.used & set(definitions(other.stmt)):
            return False
        if other.used & set(definitions(self.stmt)):
            return False
        return all(
            array not in other.touched or (adds and other.touched[array])
            for array, adds in self.touched.items()
            if array in self.written or array in other.written
        )


def _merged(before: Sequence[_TopStatement], part: _TopStatement) -> list[_TopStatement] | None:
    """Return the statements with a loop merged into one of them; None if that is not possible."""
    box = _Box(before)
    assert isinstance(part.stmt, ParallelFor)
    for k in reversed(range(len(before))):
        first = before[k].stmt
        if not isinstance(first, ParallelFor) or not box.equal(first, part.stmt):
            continue
        earlier, later = _sides(before[k], before[k + 1 :])
        if not all(stays.commutes(part) for stays in later):
            continue
        outside = [*(one.stmt for one in before[:k]), *(one.stmt for one in earlier)]
        loop = _joined(first, part.stmt, outside)
        if loop is not None:
            return [*before[:k], *earlier, _TopStatement(loop), *later]
    return None


def _sides(
    loop: _TopStatement, between: Sequence[_TopStatement]
) -> tuple[list[_TopStatement], list[_TopStatement]]:
    """Return the statements that may move before the loop that they follow, and the rest."""
    earlier: list[_TopStatement] = []
    later: list[_TopStatement] = []
    for part in between:
        moves = all(part.commutes(stays) for stays in (loop, *later))
        (earlier if moves else later).append(part)
    return earlier, later


class _Box:
    """Compares the bounds of loops: equal are computations of equal numbers."""

    def __init__(self, parts: Sequence[_TopStatement]) -> None:
        self._origin = {
            part.stmt.out: part.stmt for part in parts if isinstance(part.stmt, (Let, Size))
        }

    def equal(self, one: ParallelFor, other: ParallelFor) -> bool:
        ones, others = ((*loop.starts, *loop.stops) for loop in (one, other))
        return len(ones) == len(others) and all(
            self._key(a) == self._key(b) for a, b in zip(ones, others, strict=True)
        )

    def _key(self, value: Value) -> Hashable:
        if isinstance(value, Const):
            return value.value, value.type
        match self._origin.get(value):
            case Size(array=array, axis=axis):
                return array, axis
            case Let(op=op, args=args):
                return op, value.type, tuple(map(self._key, args))
            case _:
                return value


def _joined(first: ParallelFor, second: ParallelFor, outside: Sequence[Stmt]) -> ParallelFor | None:
    """Return one loop for two over one box, the statements before which are given, if it may be."""
    renamed = Substitution(zip(second.indices, first.indices, strict=True))
    half = Block(tuple(substitute(stmt, renamed) for stmt in second.body.stmts))
    parts = _TopStatement(first), _TopStatement(second)
    if all(part.speaks for part in parts):
        return None
    body = Block((*first.body.stmts, *half.stmts))
    loop = replace(first, body=body, ordered=first.ordered or second.ordered)
    crossings = Crossings(loop, Block((*outside, loop)))
    sums: set[Array] = set()
    ones, others = accesses_of(first.body), accesses_of(half)
    for array in ones.keys() & others.keys():
        if array not in parts[0].written | parts[1].written:
            continue
        if crossings.owned((*ones[array], *others[array])):
            continue
        for one, other in crossings.among(product(ones[array], others[array])):
            if not commute(one, other):
                return None
            sums.add(array)
    return replace(loop, body=_atomic(loop.body, sums))


def _atomic(block: Block, sums: set[Array]) -> Block:
    """Return a block whose accumulations into some arrays are atomic."""

    def changed(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Accumulate) and stmt.array in sums:
            return replace(stmt, atomic=True)
        return with_blocks(stmt, lambda inner: _atomic(inner, sums))

    return replace(block, stmts=tuple(map(changed, block.stmts))) if sums else block
