"""The reverse of a loop: adjoints run backwards through the iterations.

Where an adjoint needs the value that a local had in each iteration, those values are kept in a
small array of the thread. A loop too long for it is checkpointed in levels: FANOUT positions
are kept, the last segment between two of them is run again with FANOUT positions inside it, and
so on. Up to SLOTS (96) iterations are not repeated at all, up to FANOUT**2 (1,024) once, up to
FANOUT**3 (32,768) twice; the memory is SLOTS values a carried scalar at any length. Beyond
FANOUT**LEVELS the segments that are left get longer than one and are run again for each of their
iterations. (Griewank and Walther, chapter 12.4, multi-level checkpointing.)

A `while` keeps its first checkpoints before it is known how long it runs, and drops every second
one each time there are ONLINE of them, which leaves ONLINE/2 to ONLINE. `docs/loops.md` has the
figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from difftile.ad.effects import pure_block
from difftile.ir.nodes import (
    Alloc,
    Array,
    Block,
    Const,
    For,
    If,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import I32, FieldType
from difftile.ir.walk import (
    Cloner,
    arrays_loaded,
    arrays_written,
    free_variables,
    substitute,
    walk,
)
from difftile.ops.build import OpBuilder, zero
from difftile.passes.dce import slim_block

FANOUT = 32
LEVELS = 3
SLOTS = FANOUT * LEVELS
ONLINE = SLOTS // 2


class Reversing(Protocol):
    """What the reverse of a loop needs of the reverser."""

    b: OpBuilder
    active: set[Var]
    backwards: bool  # whether a loop was made that runs from the last iteration to the first

    def value(self, value: Value) -> Value: ...  # noqa: D102
    def note_loads(self, block: Block, cloner: Cloner) -> None: ...  # noqa: D102
    def nested(  # noqa: D102
        self, block: Block, bars: Sequence[Value | None], bindings: Mapping[Var, Value]
    ) -> tuple[list[Stmt], dict[Var, Value]]: ...


@dataclass(frozen=True, slots=True)
class LoopReversal:
    """A loop to be reversed.

    Args:
        loop: The loop of the primal.
        copy: Its copy in the forward part of the adjoint, which takes the checkpoints; that of a
            `while` counts its iterations in its last carry. None if the loop has no results.
        positions: Which carry of the copy each carry of the loop is.
        out_bars: Adjoints of its results.
    """

    loop: For
    copy: For | While | None
    positions: tuple[int, ...]
    out_bars: list[Value | None]


@dataclass(frozen=True, slots=True)
class _Body:
    """The reverse of one iteration, as the body of a loop over carried adjoints.

    Args:
        index: The iteration, in the primal's numbering.
        state: What stands for each carry of the primal, at the start of the iteration.
        stmts: The statements.
        keys: What each carried adjoint belongs to.
        carries: The adjoints before the iteration (in reverse order), and `results` after it.
    """

    index: Var
    state: tuple[Var, ...]
    stmts: list[Stmt]
    keys: tuple[Var, ...]
    carries: tuple[Var, ...]
    inits: tuple[Value, ...]
    results: tuple[Value, ...]


def reverse_loop(r: Reversing, todo: LoopReversal) -> dict[Var, Value]:
    """Append the reverse of a loop; return what it adds to adjoints of variables from outside."""
    body = _reversed_body(r, todo)
    if not body.stmts and not body.carries:
        return {}
    slim = slim_block(Block(tuple(body.stmts), body.results))
    used = free_variables(slim)
    needed = [k for k, state in enumerate(body.state) if state in used]
    if needed:
        outs = _with_checkpoints(r, todo, body, _closure(todo.loop, needed))
    else:
        outs = _without_checkpoints(r, todo.loop, body, slim)
    found: dict[Var, Value] = {}
    position = {carry: init for carry, init in zip(todo.loop.carries, todo.loop.inits, strict=True)}
    for key, out in zip(body.keys, outs, strict=True):
        target = position.get(key, key)
        if isinstance(target, Var) and target in r.active:
            known = found.get(target)
            found[target] = out if known is None else r.b.call("add", known, out)
    return found


def _reversed_body(r: Reversing, todo: LoopReversal) -> _Body:
    """Return the reverse of one iteration; carries are added until no new one has an adjoint."""
    loop = todo.loop
    chosen = [k for k, bar in enumerate(todo.out_bars) if bar is not None]
    while True:
        index = Var(loop.index.name, I32)
        state = tuple(Var(carry.name, carry.type) for carry in loop.carries)
        bars = {k: Var(f"{loop.carries[k].name}_bar", loop.carries[k].type) for k in chosen}
        bindings = {loop.index: index, **dict(zip(loop.carries, state, strict=True))}
        result_bars = [bars.get(k) for k in range(len(loop.carries))]
        stmts, found = r.nested(loop.body, result_bars, bindings)
        more = [k for k, carry in enumerate(loop.carries) if k in chosen or carry in found]
        if more == chosen:
            break
        chosen = more
    carries: list[Var] = []
    inits: list[Value] = []
    results: list[Value] = []
    keys: list[Var] = []
    for k in chosen:
        init = todo.out_bars[k]
        keys.append(loop.carries[k])
        carries.append(bars[k])
        inits.append(zero(loop.carries[k].type) if init is None else init)
        results.append(found.get(loop.carries[k], zero(loop.carries[k].type)))
    with r.b.region() as adds:
        for key, bar in found.items():
            if key in loop.carries:
                continue
            total = Var(f"{key.name}_bar", bar.type)
            keys.append(key)
            carries.append(total)
            inits.append(zero(bar.type))
            results.append(r.b.call("add", total, bar))
    return _Body(
        index, state, [*stmts, *adds], tuple(keys), tuple(carries), tuple(inits), tuple(results)
    )


def _closure(loop: For, needed: list[int]) -> list[int]:
    """Return the carries from which the needed ones can be computed again."""
    while True:
        results = tuple(loop.body.results[k] for k in needed)
        used = free_variables(slim_block(pure_block(replace(loop.body, results=results))))
        more = [k for k, carry in enumerate(loop.carries) if k in needed or carry in used]
        if more == needed:
            return needed
        needed = more


def _order_matters(block: Block) -> bool:
    """Tell whether iterations must run backwards: some element is written and read or reset."""
    if arrays_loaded(block) & arrays_written(block):
        return True
    return any(isinstance(stmt, Store) for stmt in walk(block))


def _without_checkpoints(r: Reversing, loop: For, body: _Body, slim: Block) -> tuple[Var, ...]:
    b = r.b
    start, stop = r.value(loop.start), r.value(loop.stop)
    outs = tuple(Var(carry.name, carry.type) for carry in body.carries)
    carried = any(
        key in loop.carries and result is not carry
        for key, carry, result in zip(body.keys, body.carries, body.results, strict=True)
    )
    if not carried and not _order_matters(slim):
        whole = Block(tuple(body.stmts), body.results)
        b.append(For(body.index, start, stop, body.carries, body.inits, whole, outs, loop.span))
        return outs
    r.backwards = True
    counter = Var(f"{body.index.name}_back", I32)
    with b.region() as stmts:
        last = b.call("sub", b.call("add", start, stop), Const(1, I32))
        index = b.call("sub", last, counter, name=body.index.name)
        copied = _bound(b, body, {body.index: index})
    whole = Block(tuple(stmts), copied)
    b.append(For(counter, start, stop, body.carries, body.inits, whole, outs, loop.span))
    return outs


def _bound(b: OpBuilder, body: _Body, bindings: Mapping[Var, Value]) -> tuple[Value, ...]:
    """Append the reverse of an iteration with its index and state bound; return its results."""

    def change(value: Value) -> Value:
        return bindings.get(value, value) if isinstance(value, Var) else value

    for stmt in body.stmts:
        b.append(substitute(stmt, change))
    return tuple(change(result) for result in body.results)


@dataclass(frozen=True, slots=True)
class _Kept:
    """Where the checkpoints of one loop are: the carries that are kept, and their arrays."""

    carries: list[int]
    slots: tuple[Array, ...]
    at: Array

    def read(self, b: OpBuilder, slot: Value) -> tuple[Value, ...]:
        return tuple(b.load(array, (slot,), array.name) for array in self.slots)

    def write(self, b: OpBuilder, slot: Value, position: Value, state: tuple[Value, ...]) -> None:
        b.store(self.at, (slot,), position)
        for array, value in zip(self.slots, state, strict=True):
            b.store(array, (slot,), value)


def _with_checkpoints(
    r: Reversing, todo: LoopReversal, body: _Body, carries: list[int]
) -> tuple[Var, ...]:
    loop, b = todo.loop, r.b
    names = [loop.carries[k].name or "carry" for k in carries]
    slots = tuple(
        Array(f"{name}_kept", FieldType(loop.carries[k].type, 1), SLOTS)
        for k, name in zip(carries, names, strict=True)
    )
    kept = _Kept(carries, slots, Array("kept_at", FieldType(I32, 1), SLOTS))
    start, stop = r.value(loop.start), r.value(loop.stop)
    stride = _checkpointed_copy(r, todo, kept)
    n = b.call("max", b.call("sub", stop, start), Const(0, I32), name="n")
    top = b.call("floordiv", b.call("sub", n, Const(1, I32)), stride, name="top")
    r.backwards = True
    step = Var("back", I32)
    top_carry = Var("top", I32)
    with b.region() as stmts:
        position = b.call("sub", b.call("sub", n, step), Const(1, I32), name="position")
        base = b.load(kept.at, (top_carry,), "base")
        state, top_here = _advance(r, loop, kept, top_carry, base, position, start)
        index = b.call("add", start, position, name=loop.index.name)
        bindings: dict[Var, Value] = {body.index: index}
        bindings |= {body.state[k]: value for k, value in zip(carries, state, strict=True)}
        results = _bound(b, body, bindings)
        reached = b.call("eq", b.load(kept.at, (top_here,)), position)
        top_next = b.call(
            "select", reached, b.call("sub", top_here, Const(1, I32)), top_here, name="top"
        )
    outs = tuple(Var(carry.name, carry.type) for carry in body.carries)
    b.append(
        For(
            step,
            Const(0, I32),
            n,
            (top_carry, *body.carries),
            (top, *body.inits),
            Block(tuple(stmts), (top_next, *results)),
            (Var("top", I32), *outs),
            loop.span,
        )
    )
    return outs


def _stride(b: OpBuilder, n: Value, fanout: Value) -> Value:
    """Return the distance of checkpoints over n iterations: ceil(n / fanout), at least 1."""
    rounded = b.call("add", n, b.call("sub", fanout, Const(1, I32)))
    return b.call("max", b.call("floordiv", rounded, fanout), Const(1, I32), name="stride")


def _first_stride(b: OpBuilder, n: Value) -> Value:
    """Return the distance of the first checkpoints: 1 where the slots hold all iterations."""
    all_fit = b.call("le", n, Const(SLOTS, I32))
    wide = _stride(b, n, Const(FANOUT, I32))
    return b.call("select", all_fit, Const(1, I32), wide, name="stride")


def _checkpointed_copy(r: Reversing, todo: LoopReversal, kept: _Kept) -> Value:
    """Make the forward copy of the loop keep a checkpoint at every stride-th iteration.

    Returns:
        The stride.
    """
    b, copy = r.b, todo.copy
    assert copy is not None
    place = next(k for k, stmt in enumerate(b.stmts) if stmt is copy)
    state = tuple(copy.carries[todo.positions[k]] for k in kept.carries)
    with b.region() as before:
        for array in (*kept.slots, kept.at):
            b.append(Alloc(array, todo.loop.span))
        if isinstance(copy, While):
            changed, stride = _thinning(b, copy, kept, state)
        else:
            stride = _first_stride(b, b.call("sub", copy.stop, copy.start))
            changed = _at_stride(b, copy, kept, state, stride)
    b.stmts[place : place + 1] = [*before, changed]
    return stride


def _at_stride(b: OpBuilder, copy: For, kept: _Kept, state: tuple[Var, ...], stride: Value) -> For:
    """Return a loop that keeps a checkpoint at every stride-th iteration."""
    slot, due = Var("slot", I32), Var("due", I32)
    with b.region() as stores:
        done = b.call("sub", copy.index, copy.start)
        with b.region() as keeps:
            kept.write(b, slot, done, state)
            results = b.call("add", slot, Const(1, I32)), b.call("add", due, stride)
        after = Var("slot", I32), Var("due", I32)
        keep, skip = Block(tuple(keeps), results), Block((), (slot, due))
        b.append(If(b.call("eq", done, due), keep, skip, after, copy.span))
    body = copy.body
    return replace(
        copy,
        carries=(*copy.carries, slot, due),
        inits=(*copy.inits, Const(0, I32), Const(0, I32)),
        outs=(*copy.outs, Var("slot", I32), Var("due", I32)),
        body=replace(body, stmts=(*stores, *body.stmts), results=(*body.results, *after)),
    )


def _thinning(
    b: OpBuilder, copy: While, kept: _Kept, state: tuple[Var, ...]
) -> tuple[While, Value]:
    """Return a `while` that keeps checkpoints before it is known how long it runs, and its stride.

    Whenever ONLINE checkpoints are there it drops every second one and doubles the stride, as in
    Stumm and Walther, New algorithms for optimal online checkpointing (2010), in its simplest form.
    """
    done = copy.carries[-1]
    stride, after, out = Var("stride", I32), Var("stride", I32), Var("stride", I32)
    with b.region() as stores:
        due = b.call("eq", b.call("mod", done, stride), Const(0, I32))
        with b.region() as keeps:
            slot = b.call("floordiv", done, stride, name="slot")
            full = b.call("eq", slot, Const(ONLINE, I32))
            b.append(If(full, _every_second(b, kept, copy), Block(()), (), copy.span))
            twice = b.call("mul", stride, Const(2, I32))
            wider = b.call("select", full, twice, stride)
            free = b.call("select", full, Const(ONLINE // 2, I32), slot)
            kept.write(b, free, done, state)
        b.append(If(due, Block(tuple(keeps), (wider,)), Block((), (stride,)), (after,), copy.span))
    changed = replace(
        copy,
        carries=(*copy.carries, stride),
        inits=(*copy.inits, Const(1, I32)),
        outs=(*copy.outs, out),
        body=Block((*stores, *copy.body.stmts), (*copy.body.results, after)),
    )
    return changed, out


def _every_second(b: OpBuilder, kept: _Kept, copy: While) -> Block:
    """Return statements that move every second checkpoint to the front."""
    slot = Var("slot", I32)
    with b.region() as moves:
        source = b.call("mul", slot, Const(2, I32))
        for array in (*kept.slots, kept.at):
            b.store(array, (slot,), b.load(array, (source,), array.name))
    half = Const(ONLINE // 2, I32)
    loop = For(slot, Const(0, I32), half, (), (), Block(tuple(moves)), (), copy.span)
    return Block((loop,))


def _advance(
    r: Reversing,
    loop: For,
    kept: _Kept,
    top: Var,
    base: Value,
    position: Value,
    start: Value,
) -> tuple[tuple[Value, ...], Value]:
    """Append the run from the last checkpoint to a position, with new checkpoints on the way."""
    b = r.b
    distance = b.call("sub", position, base, name="distance")
    spare = b.call("sub", Const(SLOTS - 1, I32), top)
    fanout = b.call("max", b.call("min", spare, Const(FANOUT, I32)), Const(1, I32))
    stride = _stride(b, distance, fanout)
    primal = pure_block(
        replace(loop.body, results=tuple(loop.body.results[k] for k in kept.carries))
    )
    state = tuple(Var(loop.carries[k].name, loop.carries[k].type) for k in kept.carries)
    counter, here, due = Var("ahead", I32), Var("top", I32), Var("due", I32)
    with b.region() as stmts:
        done = b.call("add", base, counter)
        cloner = Cloner(_env(r, loop))
        cloner.env[loop.index] = b.call("add", start, done, name=loop.index.name)
        cloner.env |= {loop.carries[k]: v for k, v in zip(kept.carries, state, strict=True)}
        slim = slim_block(primal)
        block = cloner.block(slim)
        r.note_loads(slim, cloner)
        for stmt in block.stmts:
            b.append(stmt)
        next_ = b.call("add", done, Const(1, I32))
        free = b.call("lt", here, Const(SLOTS - 1, I32))
        keep = b.call("and", b.call("eq", next_, due), free)
        with b.region() as keeps:
            above = b.call("add", here, Const(1, I32), name="top")
            kept.write(b, above, next_, block.results)
            results = above, b.call("add", due, stride)
        after = Var("top", I32), Var("due", I32)
        stays = Block((), (here, due))
        b.append(If(keep, Block(tuple(keeps), results), stays, after, loop.span))
    outs = tuple(Var(v.name, v.type) for v in state)
    top_out = Var("top", I32)
    b.append(
        For(
            counter,
            Const(0, I32),
            distance,
            (here, due, *state),
            (top, b.call("add", base, stride), *kept.read(b, top)),
            Block(tuple(stmts), (*after, *block.results)),
            (top_out, Var("due", I32), *outs),
            loop.span,
        )
    )
    return outs, top_out


def _env(r: Reversing, loop: For) -> dict[Var, Value]:
    """Return what stands in the adjoint for the variables that the loop reads from outside."""
    return {v: r.value(v) for v in free_variables(loop.body) if v is not loop.index}
