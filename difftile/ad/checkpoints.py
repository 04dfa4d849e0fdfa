"""The reverse of a loop: adjoints run backwards through the iterations.

Where an adjoint needs the value that a local had in each iteration, the iterations are cut into
windows of WIDTH (128). The values of one window at a time are in a small array of the thread: of
the last window after the loop has run, of each earlier one after it has been run again
from the checkpoint before it. Checkpoints are values at starts of windows. Up to FANOUT (16) of
them are spread over the loop. Where a window is run again from a distant one, as many more are
spread over the way to it, and so on. Up to WIDTH iterations are not repeated at all, up to
FANOUT * WIDTH (2,048) once, up to FANOUT**2 * WIDTH (32,768) twice. The memory is WIDTH values and
2 * FANOUT checkpoints a carried scalar at any length: windows for which no checkpoint is left are
run again from the last one. (Griewank and Walther, chapter 12.4, multi-level checkpointing.)

A loop that is short by its literal bounds keeps the values of all its iterations, and of vectors
that a loop changes by component, single numbers are kept instead (`component_logs`). For long
vectors windows are narrower, with NUMBERS components in all.

A `while` keeps its first checkpoints before it is known how long it runs, and drops every second
one each time there are FANOUT, which leaves FANOUT/2 to FANOUT. `docs/loops.md` has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

from difftile.ad.reverser import Reverser
from difftile.ir.facts import arrays_loaded, arrays_written, declared_in, free_variables
from difftile.ir.nodes import (
    Alloc,
    Array,
    Block,
    Const,
    For,
    If,
    Let,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import I32, FieldType, shape_of
from difftile.ir.walk import Cloner, Substitution, add_carries, substitute, walk
from difftile.ops.build import Expr, OpBuilder, zero
from difftile.passes.dce import closed, slim_block
from difftile.records import dataclass

WIDTH = 128
FANOUT = 16
NUMBERS = 1280


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
class _Kept:
    """The values kept of one loop, in local arrays.

    Args:
        carries: The positions of the carries that are kept.
        window: Their values in each iteration of a window.
        starts: Their values at the checkpoints.
        at: The iterations of the checkpoints.
    """

    carries: list[int]
    window: tuple[Array, ...]
    starts: tuple[Array, ...]
    at: Array

    @property
    def arrays(self) -> tuple[Array, ...]:
        return *self.window, *self.starts, self.at

    @property
    def width(self) -> int:
        """The number of iterations of a window, a power of two."""
        assert self.window[0].size is not None
        return self.window[0].size

    @property
    def size(self) -> int:
        """The number of checkpoints."""
        assert self.at.size is not None
        return self.at.size

    @property
    def fanout(self) -> int:
        """The most checkpoints that a stretch is given at a time."""
        return self.size // 2

    def checkpoint(self, b: OpBuilder, slot: Value, at: Value, state: Iterable[Value]) -> None:
        """Append the stores of a checkpoint."""
        b.store(self.at, (slot,), at)
        for array, value in zip(self.starts, state, strict=True):
            b.store(array, (slot,), value)

    def note(self, b: OpBuilder, step: Value, state: Iterable[Value]) -> None:
        """Append the stores of an iteration, so many steps from the start of a window."""
        slot = b.expr(step) & (self.width - 1)
        for array, value in zip(self.window, state, strict=True):
            b.store(array, (slot.value,), value)

    def counted(self, b: OpBuilder, copy: For, state: list[int]) -> tuple[Expr, Expr, Value]:
        """Append a loop that keeps checkpoints and its last window.

        Args:
            b: Where it is appended.
            copy: The loop as it is.
            state: The positions of the carries that are kept.

        Returns:
            The numbers of iterations and of windows, and the slot of the last checkpoint. There may
            be one window for no iterations.
        """
        n = (b.expr(copy.stop) - copy.start).max(0).named("n")
        windows = n.ceildiv(self.width).named("windows")
        several = b.expr(b.call("exceeds", n.value, Const(self.width, I32)))
        windows = several.select(windows, Const(1, I32)).named("windows")
        across = windows.ceildiv(self.fanout).max(1).named("across")
        pieces = windows.ceildiv(across).named("pieces")
        stride = (across * self.width).named("stride")
        longest = n.min(stride).named("longest")
        piece, step = Var("piece", I32), Var("step", I32)
        carries, outs = _like(copy.carries), _like(copy.carries)
        with b.region() as stmts:
            begin = (b.expr(piece) * stride).named("begin")
            self.checkpoint(b, piece, begin.value, (carries[k] for k in state))
            with b.region() as stores:
                first = b.expr(copy.start) + begin
                b.append(Let(copy.index, "add", (first.value, step), copy.span))
                self.note(b, step, (copy.carries[k] for k in state))
            # The shorter of `longest` and the rest, of which the launch knows the former.
            length = (n - begin).min(longest).value
            body = replace(copy.body, stmts=(*stores, *copy.body.stmts))
            b.append(
                replace(
                    copy, index=step, start=_ZERO, stop=length, inits=carries, body=body, outs=outs
                )
            )
        body = Block(tuple(stmts), outs)
        ends = _ZERO, pieces.value
        b.append(For(piece, *ends, carries, copy.inits, body, copy.outs, copy.span))
        return n, windows, (pieces - 1).named("top").value

    def thinning(self, b: OpBuilder, copy: While, state: list[int]) -> tuple[Expr, Expr, Value]:
        """Append a `while` that keeps checkpoints and its last window; return as `counted` does.

        The number of iterations is not known in advance. Whenever there are `fanout` checkpoints,
        every second one is dropped and the stride doubled, as in Stumm and Walther, New algorithms
        for optimal online checkpointing (2010), in its simplest form.
        """
        done = b.expr(copy.carries[-1])
        values = [copy.carries[k] for k in state]
        names = "slot", "due", "stride"
        slot, due, stride = carries = tuple(Var(name, I32) for name in names)
        after, outs = _like(carries), _like(carries)
        with b.region() as stmts:
            self.note(b, done.value, values)
            with b.region() as keeps:
                full = b.expr(slot).eq(self.fanout)
                half = Const(self.fanout // 2, I32)
                moved = Var("slot", I32)
                with b.region() as moves:
                    source = (b.expr(moved) * 2).value
                    for array in (*self.starts, self.at):
                        b.store(array, (moved,), b.load(array, (source,), array.name))
                drop = For(moved, _ZERO, half, (), (), Block(tuple(moves)), (), copy.span)
                b.append(If(full.value, Block((drop,)), Block(()), (), copy.span))
                free = full.select(half, slot)
                self.checkpoint(b, free.value, done.value, values)
                wider = full.select(b.expr(stride) * 2, stride)
                results = (free + 1).value, (done + wider).value, wider.value
            keep, skip = Block(tuple(keeps), results), Block((), carries)
            b.append(If(done.eq(due).value, keep, skip, after, copy.span))
        body = Block((*stmts, *copy.body.stmts), (*copy.body.results, *after))
        inits = _ZERO, _ZERO, Const(self.width, I32)
        b.append(add_carries(copy, carries, inits, outs, body))
        n = b.expr(copy.outs[-1])
        windows = n.ceildiv(self.width).named("windows")
        return n, windows, (b.expr(outs[0]) - 1).named("top").value


@dataclass(frozen=True, slots=True)
class LoopReversal:
    """A loop to be reversed.

    Args:
        r: The reverser.
        loop: The loop of the primal.
        copy: Its copy in the forward part of the adjoint, which takes the checkpoints; the copy
            of a `while` counts its iterations in its last carry. None if the loop has no results.
        positions: The position of each carry of the loop among the carries of the copy.
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
            most = self._most_iterations(_width_for(loop.carries[k] for k in needed))
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
        # Turns of lanes have elements of their own.
        by_lanes = loop.by_lanes and not carried
        alone = not resets and not arrays_loaded(slim) & arrays_written(slim)
        if by_lanes or (alone and not carried):
            index, body = reverse.index, Block(reverse.stmts, reverse.results)
        else:
            r.backwards = True
            index = Var(f"{reverse.index.name}_back", I32)
            with b.region() as stmts:
                last = b.expr(start) + stop - 1
                at = (last - index).named(reverse.index.name).value
                results = reverse.bound(b, {reverse.index: at})
            body = Block(tuple(stmts), results)
        back = For(index, start, stop, reverse.carries, reverse.inits, body, outs, loop.span)
        b.append(replace(back, by_lanes=by_lanes))
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
        """Append the reverse of a loop of any length, window by window."""
        r, b, loop = self.r, self.r.b, self.loop
        kept = self._kept(needed)
        start = b.expr(r.value(loop.start))
        n, windows, last = self._checkpointed_copy(kept)
        longest = n.min(kept.width).named("longest")
        r.backwards = True
        turn, top, back = Var("turn", I32), Var("top", I32), Var("back", I32)
        outs, inner_outs, totals = (_like(reverse.carries) for _ in range(3))
        with b.region() as stmts:
            low = ((windows - 1 - turn) * kept.width).named("low")
            length = (n - low).min(longest).named("length")
            here = self._refill(kept, turn, top, low, length, windows)
            with b.region() as body:
                slot = (length - 1 - back).named("slot")
                index = (start + low + slot).named(loop.index.name).value
                bindings: dict[Var, Value] = {reverse.index: index}
                for k, array in zip(kept.carries, kept.window, strict=True):
                    bindings[reverse.state[k]] = b.load(array, (slot.value,), array.name)
                results = reverse.bound(b, bindings)
            block = Block(tuple(body), results)
            ends = _ZERO, length.value
            b.append(For(back, *ends, reverse.carries, totals, block, inner_outs, loop.span))
            reached = b.expr(b.load(kept.at, (here.value,))).eq(low)
            below = reached.select(here - 1, here).named("top").value
        block = Block(tuple(stmts), (below, *inner_outs))
        inits = last, *reverse.inits
        found = Var("top", I32), *outs
        ends = _ZERO, windows.value
        b.append(For(turn, *ends, (top, *totals), inits, block, found, loop.span))
        return outs

    def _kept(self, needed: list[int]) -> _Kept:
        """Return the arrays for the carries that are needed, and for those they depend on."""
        r, loop = self.r, self.loop

        def read(kept: list[int]) -> Set[Var]:
            results = tuple(loop.body.results[k] for k in kept)
            return free_variables(slim_block(r.repeatable(replace(loop.body, results=results))))

        carries = closed(loop.carries, needed, read)
        values = [loop.carries[k] for k in carries]
        width = _width_for(values)
        size = max(width * 2 * FANOUT // WIDTH, 4)
        window, starts = (
            tuple(
                Array(f"{v.name or 'carry'}_{name}", FieldType(v.type, 1), length) for v in values
            )
            for name, length in (("kept", width), ("start", size))
        )
        return _Kept(carries, window, starts, Array("start_at", FieldType(I32, 1), size))

    def _checkpointed_copy(self, kept: _Kept) -> tuple[Expr, Expr, Value]:
        """Make the forward copy of the loop keep checkpoints and its last window.

        Returns:
            The numbers of iterations and of windows, and the slot of the last checkpoint.
        """
        b, copy = self.r.b, self.copy
        assert copy is not None
        place = next(k for k, stmt in enumerate(b.stmts) if stmt is copy)
        state = [self.positions[k] for k in kept.carries]
        with b.region() as stmts:
            for array in kept.arrays:
                b.append(Alloc(array, self.loop.span))
            appended = (
                kept.counted(b, copy, state)
                if isinstance(copy, For)
                else kept.thinning(b, copy, state)
            )
        b.stmts[place : place + 1] = stmts
        return appended

    def _refill(
        self, kept: _Kept, turn: Var, top: Var, low: Expr, length: Expr, windows: Expr
    ) -> Expr:
        """Append the run from the last checkpoint through a window, which leaves more of them.

        Args:
            kept: The kept values.
            turn: How many windows have been reversed. Of the first one, all is there already.
            top: The last checkpoint.
            low: The first iteration of the window.
            length: Its length.
            windows: The number of windows.

        Returns:
            The last checkpoint after that.
        """
        r, b, loop = self.r, self.r.b, self.loop
        base = b.expr(b.load(kept.at, (top,), "base"))
        distance = (low - base).named("distance")
        pieces_at_most = (kept.size - b.expr(top)).min(kept.fanout)
        ahead = distance // kept.width + 1
        stride = (ahead.ceildiv(pieces_at_most) * kept.width).named("stride")
        pieces = b.expr(turn).eq(0).select(_ZERO, distance // stride + 1)
        # There are fewer than windows in any case; that much the launch knows.
        pieces = pieces.min(windows - 1).named("pieces")
        results = tuple(loop.body.results[k] for k in kept.carries)
        carried = [loop.carries[k] for k in kept.carries]
        piece, step = Var("piece", I32), Var("step", I32)
        outer, state, inner_outs, outs = (_like(carried) for _ in range(4))
        with b.region() as stmts:
            begin = (base + b.expr(piece) * stride).named("begin")
            kept.checkpoint(b, (b.expr(top) + piece).value, begin.value, outer)
            with b.region() as body:
                slim = slim_block(r.repeatable(replace(loop.body, results=results)))
                outside = free_variables(slim) - {loop.index}
                cloner = Cloner({v: r.value(v) for v in outside}, r.cloner.arrays)
                index = b.expr(r.value(loop.start)) + begin + step
                cloner.env[loop.index] = index.named(loop.index.name).value
                cloner.env |= dict(zip(carried, state, strict=True))
                kept.note(b, step, state)
                block = cloner.block(slim)
                r.note_loads(slim, cloner, declared_in(slim))
                b.extend(block.stmts)
            to = (low + length - begin).min(stride).value
            block = Block(tuple(body), block.results)
            b.append(For(step, _ZERO, to, state, outer, block, inner_outs, loop.span))
        inits = tuple(b.load(array, (top,), array.name) for array in kept.starts)
        block = Block(tuple(stmts), inner_outs)
        b.append(For(piece, _ZERO, pieces.value, outer, inits, block, outs, loop.span))
        return b.expr(top) + (pieces - 1).max(0)


_ZERO = Const(0, I32)


def _like(variables: Iterable[Var]) -> tuple[Var, ...]:
    """Return new variables of the same names and types."""
    return tuple(Var(v.name, v.type) for v in variables)


def _width_for(carries: Iterable[Var]) -> int:
    """Return how many states of some carries a window has: a power of two."""
    numbers = sum(math.prod(shape_of(carry.type)) for carry in carries)
    return min(max(1 << (NUMBERS // numbers).bit_length() >> 1, 8), WIDTH)
