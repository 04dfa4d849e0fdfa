"""The reverse of a loop: adjoints run backwards through the iterations.

Where an adjoint needs the value that a local had in each iteration, those values are kept in a
small array of the thread, one for each iteration of a loop that is short by its literal bounds. A
longer loop is checkpointed in levels: FANOUT positions are kept, the last segment between two of
them is run again with FANOUT positions inside it, and so on. Up to SLOTS (96) iterations are not
repeated at all, up to FANOUT**2 (1,024) once, up to FANOUT**3 (32,768) twice; the memory is SLOTS
values a carried scalar at any length. Beyond FANOUT**LEVELS the segments that are left get longer
than one and are run again for each of their iterations. (Griewank and Walther, chapter 12.4,
multi-level checkpointing.)

Of vectors that a loop changes by component, single numbers are kept instead (`component_logs`).

Of long vectors fewer states are kept, NUMBERS components in all: what does not fit is run again.

A `while` keeps its first checkpoints before it is known how long it runs, and drops every second
one each time there are SLOTS/2 of them, which leaves SLOTS/4 to SLOTS/2. `docs/loops.md` has the
figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from difftile.ad.reverser import Reverser
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
from difftile.ir.types import I32, FieldType, shape_of
from difftile.ir.walk import (
    Cloner,
    Substitution,
    add_carries,
    arrays_loaded,
    arrays_written,
    free_variables,
    substitute,
    walk,
)
from difftile.ops.build import Expr, OpBuilder, zero
from difftile.passes.dce import closed, slim_block

FANOUT = 32
LEVELS = 3
SLOTS = FANOUT * LEVELS
NUMBERS = 16 * SLOTS


@dataclass(frozen=True, slots=True)
class _ReversedIteration:
    """The reverse of one iteration, as the body of a loop over carried adjoints.

    Args:
        index: The iteration, in the primal's numbering.
        state: The stand-in for each carry of the primal, at the start of the iteration.
        stmts: The statements.
        keys: The variable that each carried adjoint belongs to.
        carries: The adjoints before the iteration (in reverse order), and `results` after it.
    """

    index: Var
    state: tuple[Var, ...]
    stmts: tuple[Stmt, ...]
    keys: tuple[Var, ...]
    carries: tuple[Var, ...]
    inits: tuple[Value, ...]
    results: tuple[Value, ...]

    def bound(self, b: OpBuilder, bindings: Mapping[Var, Value]) -> tuple[Value, ...]:
        """Append the iteration with its index and state bound; return its results."""
        values = Substitution(bindings)
        b.extend(substitute(stmt, values) for stmt in self.stmts)
        return values.all(self.results)


@dataclass(frozen=True, slots=True)
class _Checkpoints:
    """The checkpoints of one loop: the carries that are kept, and the local arrays with them."""

    carries: list[int]
    slots: tuple[Array, ...]
    at: Array

    @property
    def size(self) -> int:
        """The number of slots."""
        assert self.at.size is not None
        return self.at.size

    @property
    def fanout(self) -> int:
        """How many positions of a segment are kept."""
        return self.size // LEVELS

    @property
    def online(self) -> int:
        """How many checkpoints of a `while` there are when every second one is dropped."""
        return self.size // 2

    def read(self, b: OpBuilder, slot: Value) -> tuple[Value, ...]:
        return tuple(b.load(array, (slot,), array.name) for array in self.slots)

    def write(self, b: OpBuilder, slot: Value, position: Value, state: tuple[Value, ...]) -> None:
        b.store(self.at, (slot,), position)
        for array, value in zip(self.slots, state, strict=True):
            b.store(array, (slot,), value)

    def at_stride(self, b: OpBuilder, copy: For, state: tuple[Var, ...], stride: Value) -> For:
        """Return a loop that keeps a checkpoint at every stride-th iteration."""
        slot, due = Var("slot", I32), Var("due", I32)
        with b.region() as stores:
            done = b.expr(copy.index) - copy.start
            with b.region() as keeps:
                self.write(b, slot, done.value, state)
                results = (b.expr(slot) + 1).value, (b.expr(due) + stride).value
            after = Var("slot", I32), Var("due", I32)
            keep, skip = Block(tuple(keeps), results), Block((), (slot, due))
            b.append(If(done.eq(due).value, keep, skip, after, copy.span))
        body = Block((*stores, *copy.body.stmts), (*copy.body.results, *after))
        outs = Var("slot", I32), Var("due", I32)
        return add_carries(copy, (slot, due), (Const(0, I32),) * 2, outs, body)

    def thinning(self, b: OpBuilder, copy: While, state: tuple[Var, ...]) -> tuple[While, Value]:
        """Return a `while` that keeps checkpoints, and their stride at its end.

        Nobody knows before how long it runs. Whenever half of the slots are taken, every second
        one is dropped and the stride doubled, as in Stumm and Walther, New algorithms for optimal
        online checkpointing (2010), in its simplest form.
        """
        done = b.expr(copy.carries[-1])
        stride, after, out = Var("stride", I32), Var("stride", I32), Var("stride", I32)
        with b.region() as stores:
            due = (done % stride).eq(0)
            with b.region() as keeps:
                slot = (done // stride).named("slot")
                full = slot.eq(self.online)
                moved = Var("slot", I32)
                with b.region() as moves:
                    source = (b.expr(moved) * 2).value
                    for array in (*self.slots, self.at):
                        b.store(array, (moved,), b.load(array, (source,), array.name))
                half = Const(self.online // 2, I32)
                move = Block(tuple(moves))
                drop = For(moved, Const(0, I32), half, (), (), move, (), copy.span)
                b.append(If(full.value, Block((drop,)), Block(()), (), copy.span))
                wider = full.select(b.expr(stride) * 2, stride).value
                self.write(b, full.select(half, slot).value, done.value, state)
            keep, skip = Block(tuple(keeps), (wider,)), Block((), (stride,))
            b.append(If(due.value, keep, skip, (after,), copy.span))
        body = Block((*stores, *copy.body.stmts), (*copy.body.results, after))
        return add_carries(copy, (stride,), (Const(1, I32),), (out,), body), out


@dataclass(frozen=True, slots=True)
class LoopReversal:
    """A loop to be reversed.

    Args:
        r: The reverser.
        loop: The loop of the primal.
        copy: Its copy in the forward part of the adjoint, which takes the checkpoints; that of a
            `while` counts its iterations in its last carry. None if the loop has no results.
        positions: The position of each carry of the loop among those of the copy.
        out_bars: Adjoints of its results.
    """

    r: Reverser
    loop: For
    copy: For | While | None
    positions: tuple[int, ...]
    out_bars: list[Value | None]

    def append(self) -> dict[Var, Value]:
        """Append the reverse; return its parts of the adjoints of variables from outside."""
        r, loop = self.r, self.loop
        reverse = self._iteration()
        if not reverse.stmts and not reverse.carries:
            return {}
        slim = slim_block(Block(reverse.stmts, reverse.results))
        used = free_variables(slim)
        needed = [k for k, state in enumerate(reverse.state) if state in used]
        if needed:
            most = self._most_iterations(_slots_for(loop.carries[k] for k in needed))
            if most is None:
                outs = self._with_checkpoints(reverse, needed)
            else:
                outs = self._with_all_kept(reverse, needed, most)
        else:
            outs = self._without_checkpoints(reverse, slim)
        found: dict[Var, Value] = {}
        inits = dict(zip(loop.carries, loop.inits, strict=True))
        for key, out in zip(reverse.keys, outs, strict=True):
            target = inits.get(key, key)
            if isinstance(target, Var) and target in r.active:
                r.b.add_to(found, target, out)
        return found

    def _iteration(self) -> _ReversedIteration:
        """Return the reverse of one iteration, with a carry for each adjoint that is handed on."""
        r, loop = self.r, self.loop
        chosen = [k for k, bar in enumerate(self.out_bars) if bar is not None]
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
        keys = [loop.carries[k] for k in chosen]
        carries = [bars[k] for k in chosen]
        inits = [self.out_bars[k] or zero(loop.carries[k].type) for k in chosen]
        results = [found.get(key, zero(key.type)) for key in keys]
        with r.b.region() as adds:
            for key, bar in found.items():
                if key not in loop.carries:
                    total = Var(f"{key.name}_bar", bar.type)
                    keys.append(key)
                    carries.append(total)
                    inits.append(zero(bar.type))
                    results.append(r.b.call("add", total, bar))
        joined = tuple(keys), tuple(carries), tuple(inits), tuple(results)
        return _ReversedIteration(index, state, (*stmts, *adds), *joined)

    def _without_checkpoints(self, reverse: _ReversedIteration, slim: Block) -> tuple[Var, ...]:
        r, b, loop = self.r, self.r.b, self.loop
        start, stop = r.value(loop.start), r.value(loop.stop)
        outs = tuple(Var(carry.name, carry.type) for carry in reverse.carries)
        carried = any(
            key in loop.carries and result is not carry
            for key, carry, result in zip(
                reverse.keys, reverse.carries, reverse.results, strict=True
            )
        )
        # Adjoints only add, so that any order is right, unless an element is read or reset too.
        resets = any(isinstance(stmt, Store) for stmt in walk(slim))
        if not carried and not resets and not arrays_loaded(slim) & arrays_written(slim):
            index, body = reverse.index, Block(reverse.stmts, reverse.results)
        else:
            r.backwards = True
            index = Var(f"{reverse.index.name}_back", I32)
            with b.region() as stmts:
                last = b.expr(start) + stop - 1
                at = (last - index).named(reverse.index.name).value
                results = reverse.bound(b, {reverse.index: at})
            body = Block(tuple(stmts), results)
        b.append(For(index, start, stop, reverse.carries, reverse.inits, body, outs, loop.span))
        return outs

    def _most_iterations(self, slots: int) -> int | None:
        """Return the largest number of iterations, if each can have a slot."""
        start, stop = map(self.r.intervals.of, (self.loop.start, self.loop.stop))
        if start is None or stop is None:
            return None
        most = stop[1] - start[0]
        return most if 0 < most <= slots else None

    def _with_all_kept(
        self, reverse: _ReversedIteration, needed: list[int], most: int
    ) -> tuple[Var, ...]:
        """Append the reverse of a loop that keeps the state of each of its iterations."""
        r, b, loop, copy = self.r, self.r.b, self.loop, self.copy
        assert isinstance(copy, For)
        slots = [
            Array(f"{carry.name or 'carry'}_kept", FieldType(carry.type, 1), most)
            for carry in (loop.carries[k] for k in needed)
        ]
        place = next(k for k, stmt in enumerate(b.stmts) if stmt is copy)
        with b.region() as before, b.region() as stores:
            done = (b.expr(copy.index) - copy.start).value
            for array, k in zip(slots, needed, strict=True):
                b.store(array, (done,), copy.carries[self.positions[k]])
        before += [Alloc(array, loop.span) for array in slots]
        changed = replace(copy, body=replace(copy.body, stmts=(*stores, *copy.body.stmts)))
        b.stmts[place : place + 1] = [*before, changed]
        start, stop = b.expr(r.value(loop.start)), b.expr(r.value(loop.stop))
        n = (stop - start).named("n")
        r.backwards = True
        step = Var("back", I32)
        with b.region() as stmts:
            position = (n - step - 1).named("position")
            index = (start + position).named(loop.index.name).value
            bindings: dict[Var, Value] = {reverse.index: index}
            for array, k in zip(slots, needed, strict=True):
                bindings[reverse.state[k]] = b.load(array, (position.value,), array.name)
            results = reverse.bound(b, bindings)
        outs = tuple(Var(carry.name, carry.type) for carry in reverse.carries)
        body = Block(tuple(stmts), results)
        ends = Const(0, I32), n.value
        b.append(For(step, *ends, reverse.carries, reverse.inits, body, outs, loop.span))
        return outs

    def _with_checkpoints(self, reverse: _ReversedIteration, needed: list[int]) -> tuple[Var, ...]:
        r, b, loop = self.r, self.r.b, self.loop

        def read(kept: list[int]) -> set[Var]:
            results = tuple(loop.body.results[k] for k in kept)
            return free_variables(slim_block(r.repeatable(replace(loop.body, results=results))))

        carries = closed(loop.carries, needed, read)
        size = _slots_for(loop.carries[k] for k in carries)
        slots = tuple(
            Array(f"{carry.name or 'carry'}_kept", FieldType(carry.type, 1), size)
            for carry in (loop.carries[k] for k in carries)
        )
        kept = _Checkpoints(carries, slots, Array("kept_at", FieldType(I32, 1), size))
        start, stop = b.expr(r.value(loop.start)), b.expr(r.value(loop.stop))
        stride = self._checkpointed_copy(kept)
        n = (stop - start).max(0).named("n")
        top = ((n - 1) // stride).named("top").value
        r.backwards = True
        step = Var("back", I32)
        top_carry = Var("top", I32)
        with b.region() as stmts:
            position = (n - step - 1).named("position")
            base = b.expr(b.load(kept.at, (top_carry,), "base"))
            state, top_here = self._advance(kept, top_carry, base, position, start)
            index = (start + position).named(loop.index.name).value
            bindings: dict[Var, Value] = {reverse.index: index}
            bindings |= {reverse.state[k]: value for k, value in zip(carries, state, strict=True)}
            results = reverse.bound(b, bindings)
            reached = b.expr(b.load(kept.at, (top_here,))).eq(position)
            below = b.expr(top_here) - 1
            top_next = reached.select(below, top_here).named("top").value
        outs = tuple(Var(carry.name, carry.type) for carry in reverse.carries)
        b.append(
            For(
                step,
                Const(0, I32),
                n.value,
                (top_carry, *reverse.carries),
                (top, *reverse.inits),
                Block(tuple(stmts), (top_next, *results)),
                (Var("top", I32), *outs),
                loop.span,
            )
        )
        return outs

    def _checkpointed_copy(self, kept: _Checkpoints) -> Value:
        """Make the forward copy of the loop keep a checkpoint at every stride-th iteration.

        Returns:
            The stride.
        """
        b, copy = self.r.b, self.copy
        assert copy is not None
        place = next(k for k, stmt in enumerate(b.stmts) if stmt is copy)
        state = tuple(copy.carries[self.positions[k]] for k in kept.carries)
        with b.region() as before:
            for array in (*kept.slots, kept.at):
                b.append(Alloc(array, self.loop.span))
            if isinstance(copy, While):
                changed, stride = kept.thinning(b, copy, state)
            else:
                n = b.expr(copy.stop) - copy.start
                all_fit = n <= kept.size
                wide = _stride(n, kept.fanout)
                stride = all_fit.select(Const(1, I32), wide).named("stride").value
                changed = kept.at_stride(b, copy, state, stride)
        b.stmts[place : place + 1] = [*before, changed]
        return stride

    def _advance(
        self, kept: _Checkpoints, top: Var, base: Expr, position: Expr, start: Expr
    ) -> tuple[tuple[Value, ...], Value]:
        """Append the run from the last checkpoint to a position, which leaves more of them."""
        r, b, loop = self.r, self.r.b, self.loop
        distance = (position - base).named("distance")
        fanout = (kept.size - 1 - b.expr(top)).min(kept.fanout).max(1)
        stride = _stride(distance, fanout)
        results = tuple(loop.body.results[k] for k in kept.carries)
        carried = [loop.carries[k] for k in kept.carries]
        state = tuple(Var(carry.name, carry.type) for carry in carried)
        counter, here, due = Var("ahead", I32), Var("top", I32), Var("due", I32)
        with b.region() as stmts:
            done = base + counter
            slim = slim_block(r.repeatable(replace(loop.body, results=results)))
            outside = free_variables(slim) - {loop.index}
            cloner = Cloner({v: r.value(v) for v in outside})
            cloner.env[loop.index] = (start + done).named(loop.index.name).value
            cloner.env |= dict(zip(carried, state, strict=True))
            block = cloner.block(slim)
            r.note_loads(slim, cloner)
            b.extend(block.stmts)
            next_ = done + 1
            free = b.expr(here) < kept.size - 1
            keep = (next_.eq(due) & free).value
            with b.region() as keeps:
                above = (b.expr(here) + 1).named("top").value
                kept.write(b, above, next_.value, block.results)
                raised = above, (due + stride).value
            after = Var("top", I32), Var("due", I32)
            stays = Block((), (here, due))
            b.append(If(keep, Block(tuple(keeps), raised), stays, after, loop.span))
        outs = tuple(Var(v.name, v.type) for v in state)
        top_out = Var("top", I32)
        b.append(
            For(
                counter,
                Const(0, I32),
                distance.value,
                (here, due, *state),
                (top, (base + stride).value, *kept.read(b, top)),
                Block(tuple(stmts), (*after, *block.results)),
                (top_out, Var("due", I32), *outs),
                loop.span,
            )
        )
        return outs, top_out


def _slots_for(carries: Iterable[Var]) -> int:
    """Return how many states of some carries are kept: a multiple of twice LEVELS."""
    numbers = sum(math.prod(shape_of(carry.type)) for carry in carries)
    step = 2 * LEVELS
    return min(max(NUMBERS // numbers // step, 2) * step, SLOTS)


def _stride(n: Expr, fanout: Expr | int) -> Expr:
    """Append the distance of checkpoints over n iterations."""
    return n.ceildiv(fanout).max(1).named("stride")
