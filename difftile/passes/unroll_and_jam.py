"""Two iterations side by side, where each of them waits for its own results: unroll and jam.

`t = t * f` takes a processor some cycles, and the next iteration of its loop cannot begin before
they are over. A serial loop inside a parallel one is therefore run for two neighbouring iterations
of the latter at the same time, if both make as many turns: the steps of one fill the waiting time
of the other (Callahan, Cocke and Kennedy, "Estimating interlock and improving balance for pipelined
architectures", 1988). Iterations of a parallel loop may run in any order, and so in turns.

Sums that are not read before the end stay as they are, since they can be reordered, and so do
bodies that are long enough to keep a processor busy by themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set
from dataclasses import field

from difftile.ir.facts import arrays_written, count_uses, defined_in
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Const,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Program,
    Size,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import I32, is_float
from difftile.ir.walk import Cloner, definitions, literal_length, walk, with_some
from difftile.ops.build import OpBuilder
from difftile.passes.divergence import Divergence
from difftile.passes.equal_numbers import compares_numbers
from difftile.records import dataclass

_FEWEST = 256  # iterations along an axis: with fewer, threads or turns would be lost
_SHORT = 16  # turns of a serial loop, where they are a literal
_LONG = 40  # statements in the body of a serial loop that keep a processor busy
_LARGEST = 200  # statements in the parallel loop, which are compiled three times


def unroll_and_jam(program: Program, loops: Collection[int] | None = None) -> Program:
    """Return the program with such loops run for two iterations at a time.

    Args:
        program: A finished program, which neither prints nor reports failures.
        loops: The numbers of the parallel loops to look at; all by default.
    """
    if compares_numbers(program):
        return program
    written = arrays_written(program.body)

    def jammed(stmt: Stmt) -> list[Stmt]:
        return _of_loop(stmt, written) if isinstance(stmt, ParallelFor) else [stmt]

    return with_some(program, loops, jammed)


def _of_loop(loop: ParallelFor, written: Set[Array]) -> list[Stmt]:
    """Return the statements in place of a parallel loop."""
    if sum(1 for _ in walk(loop.body)) > _LARGEST:
        return [loop]
    varying = _Varying(loop, written, loop.indices[-1:])
    if not any(map(varying.waits, loop.body.stmts)):
        return [loop]
    jam, pair = _Jam(varying), Var("pair", I32)
    b = jam.b
    b.span = loop.span
    lengths = [b.expr(stop) - start for start, stop in zip(loop.starts, loop.stops, strict=True)]
    many = lengths[0] >= _FEWEST
    for length in lengths[1:]:
        many = many | (length >= _FEWEST)
    width = many.select(Const(2, I32), Const(1, I32)).named("width")
    pairs = lengths[-1].ceildiv(width).named("pairs")
    *outer, index = loop.indices
    single = Cloner()
    first, second = (Var(index.name, I32) for _ in range(2))
    single.env[index] = first
    for lane, at in zip(jam.lanes, (first, second), strict=True):
        lane.env[index] = at
    with b.region() as stmts:
        b.append(Let(first, "add", (loop.starts[-1], (b.expr(pair) * width).value), loop.span))
        both = many & (b.expr(first) < b.expr(loop.stops[-1]) - 1)
        with b.region() as jammed:
            b.append(Let(second, "add", (first, Const(1, I32)), loop.span))
            jam.block(loop.body)
        alone = single.block(loop.body)
        b.append(If(both.value, Block(tuple(jammed)), alone, (), loop.span))
    starts, stops = (*loop.starts[:-1], Const(0, I32)), (*loop.stops[:-1], pairs.value)
    body = Block(tuple(stmts))
    return [*b.stmts, ParallelFor((*outer, pair), starts, stops, body, loop.span)]


class _Varying(Divergence):
    """The values that differ between an iteration and its neighbour along the last axis."""

    def in_step(self, loop: For) -> bool:
        """Tell whether a loop runs for both iterations at a time."""
        return self.waits(loop)

    def waits(self, stmt: Stmt) -> bool:
        """Tell whether a statement is a loop that runs for both iterations at a time.

        It makes as many turns for both, and waits for its results; or a loop inside it does.
        """
        if not isinstance(stmt, For) or {stmt.start, stmt.stop} & self.found:
            return False
        inner = any(isinstance(s, (For, While)) for s in walk(stmt.body))
        if inner:
            return any(map(self.waits, stmt.body.stmts))
        return literal_length(stmt.start, stmt.stop) >= _SHORT and _has_recurrence(stmt)

    def is_shared(self, stmt: Stmt) -> bool:
        """Tell whether a statement is run once for both iterations."""
        match stmt:
            case Let(out) | Size(out) | Load(out):
                return out not in self.found
            case Alloc(array) | Store(array) | Accumulate(array):
                return array.size is not None and array not in self.found
            case _:
                return False


@dataclass
class _Jam:
    """Appends the statements of two iterations."""

    varying: _Varying
    b: OpBuilder = field(default_factory=OpBuilder)
    lanes: tuple[Cloner, Cloner] = field(default_factory=lambda: (Cloner(), Cloner()))

    def block(self, block: Block) -> None:
        """Append the statements of a block, for both iterations."""
        first, second = self.lanes
        for stmt in block.stmts:
            self.b.span = stmt.span
            if isinstance(stmt, For) and self.varying.waits(stmt):
                self.loop(stmt)
            elif self.varying.is_shared(stmt):
                self.b.append(first.stmt(stmt))
                self.share(definitions(stmt))
                if isinstance(stmt, Alloc):
                    second.arrays[stmt.array] = first.arrays[stmt.array]
            else:
                self.b.extend([lane.stmt(stmt) for lane in self.lanes])

    def share(self, variables: Iterable[Var]) -> None:
        """Let variables of the second iteration be the variables of the first."""
        first, second = self.lanes
        second.env.update((v, first.env[v]) for v in variables)

    def loop(self, loop: For) -> None:
        """Append a loop that runs the turns of both iterations."""
        first, _ = self.lanes
        every = range(len(loop.carries))
        own = [k for k in every if loop.carries[k] in self.varying.found]
        of_both = tuple(zip(self.lanes, (every, own), strict=True))

        def fresh(variables: tuple[Var, ...]) -> tuple[Var, ...]:
            made = tuple(lane.fresh(variables[k]) for lane, which in of_both for k in which)
            self.share(v for k, v in enumerate(variables) if k not in own)
            return made

        def values(originals: tuple[Value, ...]) -> tuple[Value, ...]:
            return tuple(lane.value(originals[k]) for lane, which in of_both for k in which)

        inits = values(loop.inits)
        start, stop = first.value(loop.start), first.value(loop.stop)
        index = first.fresh(loop.index)
        self.share((loop.index,))
        carries = fresh(loop.carries)
        with self.b.region() as stmts:
            self.block(loop.body)
        body = Block(tuple(stmts), values(loop.body.results))
        self.b.append(For(index, start, stop, carries, inits, body, fresh(loop.outs), loop.span))


def _has_recurrence(loop: For) -> bool:
    """Tell whether an innermost loop computes a float from its value in the turn before.

    Sums, products and maxima that only the next turn uses are not meant.
    """
    if sum(1 for _ in walk(loop.body)) > _LONG:
        return False
    inside = defined_in(loop.body)
    lets = {s.out: s for s in loop.body.stmts if isinstance(s, Let)}
    uses = count_uses(loop.body)

    def is_recurrence(carry: Var, result: Value) -> bool:
        if not is_float(carry.type) or result not in inside or not uses[carry]:
            return False
        let = lets.get(result)
        reduces = let is not None and let.op in _REDUCTIONS and carry in let.args
        return not (reduces and uses[carry] == 1)

    return any(map(is_recurrence, loop.carries, loop.body.results))


_REDUCTIONS = frozenset(("add", "sub", "mul", "min", "max"))
