"""Sums that many iterations share, as loops over the elements: for devices with many threads.

`for i (parallel): for j: x[j] += a[i, j] * y[i]`, the adjoint of a product with a matrix, needs an
atomic a step, on elements that all threads share, and neighbouring threads read different rows.
Instead a loop of its own has a thread for each element and each piece of the sum, which adds the
piece up in a register and makes one atomic addition: neighbouring threads take neighbouring
elements, and so read memory side by side. The terms are computed again there. (Harris, Optimizing
Parallel Reduction in CUDA, 2007.)
"""

from __future__ import annotations

from difftile.ir.build import element_type
from difftile.ir.nodes import Block, Const, For, If, Load, ParallelFor, Program, Stmt, Value, Var
from difftile.ir.types import BOOL, I32
from difftile.ir.walk import Cloner, walk
from difftile.ops.build import Expr, OpBuilder, zero
from difftile.passes.affine import affine, definitions_of
from difftile.passes.shared_sums import Axis, SharedAxis, SharedSum, with_loops_of_their_own

_THREADS = 1 << 19  # enough to hide the time that memory takes
_ZERO, _ONE = Const(0, I32), Const(1, I32)
_FEWEST = 16  # terms that are worth an atomic
_MOST = 2  # sums without a serial loop of their own, each of which computes its terms again
_WARPS = 1 << 15  # as many as are worth having, where each takes a row
_RUN = 1024  # terms of a row that are worth a sum over a warp


def transpose_sums(program: Program, *, warps: bool = False) -> Program:
    """Return the program with a loop over the elements for each sum that iterations share.

    Args:
        program: The program.
        warps: Warps may run the loops over rows, and add up in any order.
    """

    def loop_of(b: OpBuilder, shared: SharedSum) -> ParallelFor | None:
        if not shared.in_loop and shared.beside > _MOST:
            return None
        made = _Transposed(b, shared)
        # Threads side by side, which differ in the last axis, add to one element otherwise.
        if shared.column is None and not shared.solved and not (warps and made.reads_rows):
            return None
        return made.parallel_loop()

    return with_loops_of_their_own(program, loop_of, deep=True)


class _Transposed:
    """Appends the statements of one sum.

    Args:
        b: Where they are appended.
        shared: The sum.
    """

    def __init__(self, b: OpBuilder, shared: SharedSum) -> None:
        self.b = b
        self.shared = shared
        self.type = element_type(shared.stmt.array, shared.stmt.index)
        kept = [*shared.kept, *([] if shared.column is None else [shared.column])]
        # Elements that lie side by side belong to threads that do.
        self.kept = sorted(kept, key=self._dimension)
        self.piece = Var("piece", I32)
        self.reads_rows = self._reads_rows()
        self.lengths = [self._length(axis) for axis in shared.summed]
        self.cloner = Cloner({axis.index: Var(axis.index.name, I32) for axis in kept})

    def parallel_loop(self) -> ParallelFor:
        """Return the parallel loop over pieces of the sum and over elements."""
        b = self.b
        axes = list(self.kept)
        pieces, terms = b.expr(_ONE), b.expr(_ONE)
        if self.lengths:
            elements = b.expr(_ONE)
            for axis in self.kept:
                elements = elements * self._length(axis)
            for length in self.lengths:
                terms = (terms * length).named("terms")
            threads, fewest = (_WARPS, _RUN) if self.reads_rows else (_THREADS, _FEWEST)
            pieces = (threads // elements.max(1)).min(terms.ceildiv(fewest))
            pieces = pieces.max(1).named("pieces")
            axes = [Axis(self.piece, _ZERO, pieces.value), *axes]
        with b.region() as body:
            self._append_sum(pieces, terms)
        return ParallelFor(
            tuple(self._new(axis.index) for axis in axes),
            tuple(axis.start for axis in axes),
            tuple(axis.stop for axis in axes),
            Block(tuple(body)),
            b.span,
        )

    def _dimension(self, axis: Axis) -> int:
        """Return the last dimension in which an axis moves the element."""
        return max(k for k, form in enumerate(self.shared.forms) if form.factor(axis.index))

    def _length(self, axis: Axis) -> Expr:
        return (self.b.expr(axis.stop) - axis.start).max(0)

    def _new(self, index: Var) -> Var:
        found = self.cloner.value(index)
        assert isinstance(found, Var)
        return found

    def _reads_rows(self) -> bool:
        """Tell whether terms that follow each other lie side by side, and elements do not.

        Pieces are runs of the sum then, whose terms the threads of a warp may deal out; otherwise
        neighbouring pieces take neighbouring terms.
        """
        if not self.shared.summed or self.shared.solved:
            return False
        along, across = self.shared.summed[-1].index, self.kept[-1].index
        inner = Block((*self.shared.row.stmts, *self.shared.inner.stmts))
        defs = definitions_of(inner)
        rows = False
        for stmt in walk(inner):
            if isinstance(stmt, Load) and (ndim := stmt.array.type.ndim):
                *outer, last = (affine(i, defs) for i in stmt.index[:ndim])
                if last.factor(across):
                    return False
                rows |= abs(last.factor(along)) == 1 and any(f.factor(across) for f in outer)
        return rows

    def _append_sum(self, pieces: Expr, terms: Expr) -> None:
        """Append the sum of one thread, and its addition to the element."""
        b, shared = self.b, self.shared
        loops = [*shared.turns, *(one.axis for one in shared.solved)]
        some = [b.expr(axis.start) < axis.stop for axis in loops]
        out = zero(self.type)
        if self.lengths:
            steps, out = self._piece(pieces, terms)
            some.append(steps > 0)
        else:
            out = self._turns(list(shared.turns), out)
        place = shared.index(b, self.cloner)
        # An empty sum must not touch the element at all: its index may be out of range.
        touched = shared.guards(b, place)
        for one in some:
            touched = touched & one
        with b.branch(touched.value):
            b.accumulate(shared.stmt.array, place, out)

    def _piece(self, pieces: Expr, terms: Expr) -> tuple[Expr, Var]:
        """Append a piece of the sum; return the number of its steps, and the sum."""
        b, step, carry = self.b, Var("step", I32), Var("sum", self.type)
        if self.reads_rows:
            size = terms.ceildiv(pieces)
            first, stride = (b.expr(self.piece) * size).named("first"), b.expr(_ONE)
            steps = (terms - first).min(size).named("steps")
        else:
            first, stride = b.expr(self.piece), pieces
            steps = ((terms - 1 - self.piece) // pieces + 1).named("steps")
        with b.region() as stmts:
            flat = (first + b.expr(step) * stride).named("term")
            for k in reversed(range(len(self.lengths))):
                along = flat % self.lengths[k] if k else flat
                axis = self.shared.summed[k]
                index = (axis.start + along).named(axis.index.name)
                self.cloner.env[axis.index] = index.value
                flat = flat // self.lengths[k] if k else flat
            total = self._turns(list(self.shared.turns), carry)
        return steps, self._loop(step, _ZERO, steps.value, carry, zero(self.type), stmts, total)

    def _loop(
        self,
        index: Var,
        start: Value,
        stop: Value,
        carry: Var,
        init: Value,
        stmts: list[Stmt],
        total: Value,
    ) -> Var:
        """Append a serial loop, and return its sum."""
        out = Var("sum", carry.type)
        body = Block(tuple(stmts), (total,))
        self.b.append(For(index, start, stop, (carry,), (init,), body, (out,), self.b.span))
        return out

    def _turns(self, turns: list[Axis], total: Value) -> Value:
        """Append serial loops that do not move the element; return the sum after them."""
        if not turns:
            return self._term(total)
        axis, b = turns[0], self.b
        solved = [one for one in self.shared.solved if one.turn is axis.index]
        start, stop = axis.start, axis.stop
        if solved:
            low, high = self._turns_that_reach(solved[0])
            start, stop = low.max(start).named("first").value, high.min(stop).named("last").value
        with b.region() as stmts:
            index, carry = self.cloner.fresh(axis.index), Var("sum", self.type)
            for one in solved:
                moved = b.expr(index) * one.factor
                found = (b.expr(self.cloner.value(one.element)) - moved).named(one.axis.index.name)
                self.cloner.env[one.axis.index] = found.value
            inner = self._turns(turns[1:], carry)
        return self._loop(index, start, stop, carry, total, stmts, inner)

    def _turns_that_reach(self, one: SharedAxis) -> tuple[Expr, Expr]:
        """Return the first turn that reaches an element from inside an axis, and the last one."""
        element, axis, factor = self.b.expr(self.cloner.value(one.element)), one.axis, one.factor
        if factor == 1:
            return element - axis.stop + 1, element - axis.start + 1
        if factor > 0:
            return (element - axis.stop + factor) // factor, (element - axis.start) // factor + 1
        below, above = self.b.expr(axis.start) - element, self.b.expr(axis.stop) - 1 - element
        return (below - factor - 1) // -factor, above // -factor + 1

    def _term(self, total: Value) -> Value:
        """Append the addition of a term."""
        b = self.b
        b.extend(self.cloner.block(self.shared.row).stmts)
        block = self.cloner.block(self.shared.inner)
        hit, value = block.results
        b.extend(block.stmts)
        if hit == Const(True, BOOL):
            return b.call("add", total, value)
        with b.region() as stmts:
            found = b.call("add", total, value)
        out = Var("sum", total.type)
        then = Block(tuple(stmts), (found,))
        b.append(If(hit, then, Block((), (total,)), (out,), b.span))
        return out
