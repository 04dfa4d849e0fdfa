"""Reverse mode: the adjoint of a program, as a program.

For each region the adjoint first computes the region's values again and then runs through its
statements backwards, as in Griewank and Walther, Evaluating Derivatives (2nd ed.), chapter 6.
Adjoints of values are values; adjoints of fields are fields of the same shape, shared between
before and after the launch: the adjoint of a store takes an element and leaves zero, the adjoint
of a load adds to it.

Every load reads the field as it was before the stage, or as it is after it (`passes.versions`); the
values that a load has found in between come from a log (`log`). Stores of the primal are never
repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import NoneType

from difftile.ad.activity import active_values
from difftile.ad.atomics import prepare, slope
from difftile.ad.checkpoints import LoopReversal
from difftile.ad.induction import unset_while, without_induction
from difftile.ad.log import Log, with_log
from difftile.ad.nonfinite import possibly_nonfinite
from difftile.ad.positions import NoPosition
from difftile.ad.reuse_results import reused_results
from difftile.ad.reverser import Reverser, overwritten, unrepeatable
from difftile.ad.ruled import reverse_ruled
from difftile.ir.derived import After, Bar, Before, Derived, Role, Same
from difftile.ir.facts import has_effects
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Program,
    Ruled,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import I32, FieldType, is_float, scalar_of, with_scalar
from difftile.ir.walk import with_ending_loops
from difftile.ops.build import zero
from difftile.ops.formula import adjoints, multiplies, unless_zero
from difftile.ops.table import ELEMENTWISE, OPS
from difftile.passes.afterwards import overwritten_later, reads_late
from difftile.passes.dce import dce
from difftile.passes.intervals import Intervals
from difftile.passes.precedence import StaleLocals, stale_loads
from difftile.passes.versions import late_loads, redirect

_OF_RULES = "pass the value to the func as an argument, or launch one step of the loop at a time."


def reverse(
    program: Program,
    wanted: frozenset[Array],
    *,
    read_back: bool = True,
    constant: bool = False,
    carried: frozenset[Array] = frozenset(),
) -> Derived:
    """Return the adjoint of one stage.

    The first parameters are the primal's, with contents from before the stage. After them come
    fields with contents from after it, and then the gradient buffers.

    Args:
        program: The primal, normalised and cut into stages.
        wanted: The fields that have a gradient buffer.
        read_back: Read values that took a loop back from where the stage stored them.
        constant: Take all that is computed as constants: no adjoint leaves the stores.
        carried: Fields that hand values on to the next window of a loop (`passes.windows`).

    Raises:
        NotDifferentiable: The adjoint would need a value that was overwritten within the stage.
    """
    # The adjoint follows a launch, which has ended: loops that nothing needs are dead.
    program = replace(program, body=with_ending_loops(program.body))
    fields = program.arrays
    bars = {f: Array(f"{f.name}_bar", f.type) for f in fields if f in wanted}
    after = {f: Array(f"{f.name}_new", f.type) for f in fields}
    all_bars = {**bars, **{after[f]: bar for f, bar in bars.items()}}
    late = late_loads(program.body)
    stale = {v: found for v, found in stale_loads(program.body).items() if v not in late}
    locals_ = StaleLocals(program.body)
    roles: dict[Array | Var, Role] = {
        p: Before(p) if isinstance(p, Array) else Same(p) for p in (*program.params, *program.temps)
    }
    roles |= {new: After(f) for f, new in after.items()}
    roles |= {bar: Bar(f) for f, bar in bars.items()}

    def adjoint(numbered: Program, log: Log | None) -> tuple[Derived, list[Load]]:
        body = redirect(numbered.body, late, after)
        kept = reused_results(numbered) if read_back else {}
        primal = replace(numbered, body=body)
        active = set[Var]() if constant else active_values(primal, all_bars.keys())
        sources: dict[Var, Var] = {}
        if log is not None:
            body, sources = log.read(body)
            active |= {source for out, source in sources.items() if out in active}
        reverser = Reverser(
            RULES,
            active,
            all_bars,
            possibly_nonfinite(primal),
            stale,
            {v: (after[array], index) for v, (array, index) in kept.items()},
            after,
            sources,
            overwritten_later(program.body) if reads_late(program.body) else {},
            locals_,
            Intervals(body),
        )
        if log is not None:
            reverser.b.extend(log.fill)
            reverser.temps += log.temps
        reverser.sweep(body, {})
        raw = Program(
            f"{program.name}_adjoint",
            (
                *program.params,
                *after.values(),
                *(bars[f] for f in fields if f in bars and f not in program.temps),
            ),
            reverser.b.block(),
            (*program.temps, *(bars[t] for t in program.temps if t in bars), *reverser.temps),
        )
        slim = dce(raw)
        return Derived(slim, roles), reverser.overwritten_loads(slim.body)

    try:
        return with_log(program, adjoint, after, carried=carried)
    except NoPosition as error:
        raise overwritten(*(stale.get(error.load) or locals_[error.load]), _OF_RULES) from None


def _let(r: Reverser, let: Let, bars: dict[Var, Value], loops: object) -> None:
    z_bar = bars.pop(let.out, None)
    if z_bar is None:
        return
    row = OPS[let.op]
    wanted = tuple(isinstance(arg, Var) and arg in r.active for arg in let.args)
    if not any(wanted) or not row.vjp:
        return
    args = r.index(let.args)
    masked = z_bar in r.masked
    used = (*let.args, let.out) if multiplies(row) else ()
    guard = masked and (row.singular or any(value in r.nonfinite for value in used))
    parts = adjoints(r.b, row, args, r.value(let.out), z_bar, wanted)
    for arg, part in zip(let.args, parts, strict=True):
        if part is None:
            continue
        if guard:
            # The adjoint may be zero because the value was not taken: 0 * inf must stay 0.
            guarded = unless_zero(r.b, z_bar, part, componentwise=let.op in ELEMENTWISE)
            r.add(bars, arg, guarded, masked=True)
        else:
            r.add(bars, arg, part, masked=masked or row.masks)


def _load(r: Reverser, load: Load, bars: dict[Var, Value], loops: object) -> None:
    bar = bars.pop(load.out, None)
    if bar is None:
        return
    if load.out in r.logged:
        r.add(bars, r.logged[load.out], bar)
    elif load.array in r.bars:
        shared = load.array.size is None
        r.b.accumulate(r.bars[load.array], r.index(load.index), bar, atomic=shared)


def _store(r: Reverser, store: Store, bars: dict[Var, Value], loops: object) -> None:
    buffer = r.bars.get(store.array)
    if buffer is None or not is_float(store.value.type):
        return
    index = r.index(store.index)
    bar = r.b.load(buffer, index, _bar_name(store.value, store.array))
    r.b.store(buffer, index, zero(bar.type))
    r.add(bars, store.value, bar)


def _accumulate(r: Reverser, add: Accumulate, bars: dict[Var, Value], loops: object) -> None:
    buffer = r.bars.get(add.array)
    if buffer is None or add.value not in r.active:
        return
    name = _bar_name(add.value, add.array)
    r.add(bars, add.value, r.b.load(buffer, r.index(add.index), name))


def _combine(r: Reverser, stmt: Combine, bars: dict[Var, Value], loops: object) -> None:
    if stmt.out is not None and bars.pop(stmt.out, None) is not None:
        in_order = "run the loop in order: 'ti.loop_config(serialize=True)' before it."
        raise unrepeatable(stmt, in_order)
    buffer = r.bars.get(stmt.array)
    if buffer is None or stmt.value not in r.active:
        return
    index = r.index(stmt.index)
    bar = r.b.load(buffer, index) if stmt.op == "add" else slope(r, stmt, index)
    r.add(bars, stmt.value, bar, masked=True)


def _bar_name(value: Value, array: Array) -> str:
    """Name the adjoint of a stored value after the user's local, or after the field."""
    name = value.name if isinstance(value, Var) else ""
    return f"{name}_bar" if name else f"{array.name}_bar_at"


def _if(r: Reverser, stmt: If, bars: dict[Var, Value], loops: object) -> None:
    out_bars = [bars.pop(out, None) for out in stmt.outs]
    sides: list[tuple[list[Stmt], dict[Var, Value]]] = []
    for block in (stmt.then, stmt.orelse):
        sides.append(r.nested(block, out_bars, {}))
    keys = list({**sides[0][1], **sides[1][1]})
    blocks = [
        Block(tuple(stmts), tuple(found.get(key, zero(key.type)) for key in keys))
        for stmts, found in sides
    ]
    if not keys and not any(has_effects(block) for block in blocks):
        return
    outs = tuple(Var(f"{key.name or 't'}_bar", key.type) for key in keys)
    r.b.append(If(r.value(stmt.cond), blocks[0], blocks[1], outs, stmt.span))
    for key, out in zip(keys, outs, strict=True):
        r.add(bars, key, out, masked=True)


def _for(r: Reverser, loop: For, bars: dict[Var, Value], loops: dict[int, Stmt]) -> None:
    _reverse_counted(r, loop, frozenset(), loops.get(id(loop)), bars)


def _reverse_counted(
    r: Reverser, loop: For, unset: frozenset[Var], copy: Stmt | None, bars: dict[Var, Value]
) -> None:
    slim, positions = without_induction(loop, unset)
    for k, (init, out) in enumerate(zip(loop.inits, loop.outs, strict=True)):
        bar = None if k in positions else bars.pop(out, None)
        if bar is not None:  # the loop leaves it as it was
            r.add(bars, init, bar)
    out_bars = [bars.pop(out, None) for out in slim.outs]
    assert isinstance(copy, (For, While, NoneType))
    for key, bar in LoopReversal(r, slim, copy, positions, out_bars).append().items():
        r.add(bars, key, bar, masked=True)


def _parallel(r: Reverser, loop: ParallelFor, bars: dict[Var, Value], loops: object) -> None:
    prepare(r, loop)
    indices = tuple(Var(index.name, index.type) for index in loop.indices)
    starts, stops = r.index(loop.starts), r.index(loop.stops)
    r.backwards = False
    stmts, found = r.nested(loop.body, (), dict(zip(loop.indices, indices, strict=True)))
    if r.backwards:
        # Any order is right. Where the loops inside run backwards, this one makes the whole sweep
        # over memory go one way, which caches foresee.
        counters = tuple(Var(f"{index.name}_back", I32) for index in indices)
        with r.b.region() as lets:
            for index, counter, *ends in zip(indices, counters, starts, stops, strict=True):
                last = (r.b.expr(ends[0]) + ends[1] - 1).value
                r.b.append(Let(index, "sub", (last, counter), r.b.span))
        indices, stmts = counters, [*lets, *stmts]
    cells: list[tuple[Var, Array]] = []
    with r.b.region() as adds:
        for key, bar in found.items():
            cell = Array(
                f"{key.name or 't'}_bar", FieldType(with_scalar(key.type, scalar_of(bar.type)), 0)
            )
            r.temps.append(cell)
            r.b.accumulate(cell, (), bar)
            cells.append((key, cell))
    for _, cell in cells:
        r.b.store(cell, (), zero(cell.type.element))
    body = Block((*stmts, *adds))
    r.b.append(ParallelFor(indices, starts, stops, body, loop.span, ordered=loop.ordered))
    for key, cell in cells:
        r.add(bars, key, r.b.load(cell, (), f"{key.name}_bar"))


def _while(r: Reverser, loop: While, bars: dict[Var, Value], loops: dict[int, Stmt]) -> None:
    """Reverse a `while` as a loop over the iterations that were counted on the way forward."""
    counted = For(
        Var("trip", I32),
        Const(0, I32),
        r.trips[id(loop)],
        loop.carries,
        loop.inits,
        loop.body,
        loop.outs,
        loop.span,
    )
    _reverse_counted(r, counted, unset_while(loop), loops.get(id(loop)), bars)


RULES: dict[type[Stmt], Callable[..., None]] = {
    Let: _let,
    Load: _load,
    Store: _store,
    Accumulate: _accumulate,
    Combine: _combine,
    If: _if,
    For: _for,
    ParallelFor: _parallel,
    While: _while,
    Ruled: reverse_ruled,
}
