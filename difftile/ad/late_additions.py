"""Additions of a rule to gradients that it also reads, which come after it.

A func that reads and writes a field has one buffer for the gradients from after and from before the
call. Its rule reads the former, the stores of the func leave zero there, and then the latter are
added. For that, values from inside a branch of the rule leave it as results; for an array of the
thread, a second array takes the sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from difftile.diagnostics import NotDifferentiable
from difftile.ir.facts import uses
from difftile.ir.nodes import Accumulate, Array, Block, Const, For, If, Stmt, Var
from difftile.ir.types import I32
from difftile.ir.walk import Substitution, definitions, substitute, with_blocks
from difftile.ops.build import OpBuilder, zero
from difftile.records import dataclass


@dataclass
class Late:
    """The additions of a block.

    Args:
        name: The func.
        memory: The gradients to which they add.
        stmts: Takes the additions.
        sums: The arrays that take sums, by those to which they are added.
    """

    name: str
    memory: set[Array]
    stmts: list[Stmt]
    sums: dict[Array, Array] = field(default_factory=dict[Array, Array])

    def add(self, addition: Accumulate) -> Accumulate | None:
        """Note an addition; return what is to run in its place."""
        array = addition.array
        if array.size is None:
            self.stmts.append(addition)
            return None
        if array not in self.sums:
            self.sums[array] = replace(array, name=f"{array.name}_sum")
        return replace(addition, array=self.sums[array])

    def add_sums(self, b: OpBuilder) -> None:
        """Append the additions of the arrays that took sums."""
        for array, sums in self.sums.items():
            indices = tuple(Var("k", I32) for _ in array.lengths)
            with b.region() as stmts:
                b.accumulate(array, indices, b.load(sums, indices), atomic=False)
            for index, length in zip(reversed(indices), reversed(array.lengths), strict=True):
                ends = Const(0, I32), Const(length, I32)
                stmts = [For(index, *ends, (), (), Block(tuple(stmts)), (), b.span)]
            b.extend(stmts)

    def inside(self, block: Block, change: Callable[[Block], Block]) -> Block:
        """Return a block changed, whose values are gone after it.

        Raises:
            NotDifferentiable: An addition is in there.
        """
        outer, self.stmts = self.stmts, list[Stmt]()
        changed, inside, self.stmts = change(block), self.stmts, outer
        if inside:
            raise NotDifferentiable(
                inside[0].span,
                f"'{self.name}' reads and writes a field, and its rule adds to the gradient of "
                "that in a loop, or in a func with a rule.",
                "added here",
                hint="write out the loop, 'for k in ti.static(range(n))', or make it a kernel "
                "with a rule, which has gradients in and out apart.",
            )
        return changed

    def around(self, stmt: Stmt, change: Callable[[Block], Block]) -> Stmt:
        """Return a statement with its blocks changed, and note the additions of its branches.

        Raises:
            NotDifferentiable: An addition is in a loop.
        """
        if not isinstance(stmt, If):
            return with_blocks(stmt, lambda block: self.inside(block, change))
        first, second = list[Stmt](), list[Stmt]()
        outer, self.stmts = self.stmts, first
        then = change(stmt.then)
        self.stmts = second
        orelse = change(stmt.orelse)
        self.stmts = outer
        if not first and not second:
            return replace(stmt, then=then, orelse=orelse)
        then, orelse, outs, first = _with_results(then, orelse, first)
        orelse, then, more, second = _with_results(orelse, then, second)
        self.stmts.append(If(stmt.cond, Block(tuple(first)), Block(tuple(second)), (), stmt.span))
        return replace(stmt, then=then, orelse=orelse, outs=(*stmt.outs, *outs, *more))


def _with_results(
    block: Block, other: Block, stmts: list[Stmt]
) -> tuple[Block, Block, list[Var], list[Stmt]]:
    """Let a branch return what statements after it use; return these with the results instead.

    Args:
        block: The branch.
        other: The other branch, which returns zeros.
        stmts: The statements.
    """
    wanted = uses(Block(tuple(stmts)))
    used = [v for s in block.stmts for v in definitions(s) if v in wanted]
    outs = [Var(one.name, one.type) for one in used]
    change = Substitution(zip(used, outs, strict=True))
    block = replace(block, results=(*block.results, *used))
    other = replace(other, results=(*other.results, *(zero(one.type) for one in used)))
    return block, other, outs, [substitute(s, change) for s in stmts]
