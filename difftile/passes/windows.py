"""A stage of one loop, cut into windows: some iterations of the loop after others.

Where the log of a whole loop would take too much memory, its adjoint runs window by window, from
the last to the first. Iterations of a serial loop hand values on through hidden fields.
"""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.facts import has_effects
from difftile.ir.nodes import Array, Block, For, ParallelFor, Program, Store, Var
from difftile.ir.types import BOOL, I32, FieldType
from difftile.ops.build import OpBuilder
from difftile.passes.dce import dce
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Windowed:
    """A stage that runs some iterations of its one loop.

    Args:
        program: The stage.
        first: Its parameter for the first iteration, counted from 0.
        stop: Its parameter for the iteration after the last one.
        carried: The hidden fields for the values that a serial loop carries.
        is_parallel: Whether the loop is parallel; the window then is one of its first index.
        count: The program that finds the number of iterations.
        found: The hidden field in which it leaves that.
    """

    program: Program
    first: Var
    stop: Var
    carried: tuple[Array, ...]
    is_parallel: bool
    count: Program
    found: Array


def windowed(program: Program) -> Windowed | None:
    """Return the stage for windows of its loop; None where it is not one loop at the top level."""
    loops = [s for s in program.body.stmts if has_effects(Block((s,)))]
    if len(loops) != 1 or not isinstance(loops[0], (For, ParallelFor)):
        return None
    loop = loops[0]
    before = program.body.stmts[: next(k for k, s in enumerate(program.body.stmts) if s is loop)]
    first, stop, found = Var("first", I32), Var("stop", I32), Array("count", FieldType(I32, 0))
    b = OpBuilder()
    b.extend(before)
    b.span = loop.span
    is_parallel = isinstance(loop, ParallelFor)
    begins, ends = (loop.starts[0], loop.stops[0]) if is_parallel else (loop.start, loop.stop)
    start = (b.expr(begins) + first).value
    end = b.expr(ends).min(b.expr(begins) + stop).value
    carried: list[Array] = []
    if isinstance(loop, ParallelFor):
        starts, stops = (start, *loop.starts[1:]), (end, *loop.stops[1:])
        b.append(replace(loop, starts=starts, stops=stops))
    else:
        inits = list(loop.inits)
        at_start = b.expr(first).eq(0)
        for k, (carry, init) in enumerate(zip(loop.carries, loop.inits, strict=True)):
            kind = I32 if carry.type == BOOL else carry.type
            cell = Array(carry.name or "carried", FieldType(kind, 0))
            carried.append(cell)
            loaded = b.expr(b.load(cell, ()))
            handed = loaded.ne(0) if carry.type == BOOL else loaded
            inits[k] = at_start.select(init, handed).value
        b.append(replace(loop, start=start, stop=end, inits=tuple(inits)))
        for cell, out in zip(carried, loop.outs, strict=True):
            b.store(cell, (), b.cast(out, I32) if out.type == BOOL else out)
    made = replace(
        program,
        name=f"{program.name}_window",
        params=(*program.params, first, stop),
        body=b.block(),
        temps=(*program.temps, *carried),
    )
    b = OpBuilder()
    b.extend(before)
    trips = (b.expr(ends) - begins).max(0).value
    body = Block((*b.stmts, Store(found, (), trips)))
    count = replace(program, name=f"{program.name}_count", body=body, temps=(*program.temps, found))
    return Windowed(made, first, stop, tuple(carried), is_parallel, dce(count), found)
