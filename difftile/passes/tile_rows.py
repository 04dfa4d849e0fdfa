"""Rows of memory that threads walk along, in tiles that the threads of a warp copy together.

Where the serial loop of an iteration goes along a row, `a[i, j, k]` for k after k, the threads of a
warp ask for elements that are rows apart, and memory gives each of them a line to itself, again and
again. The loop is therefore cut into tiles of TILE turns. Before the turns of a tile, a piece of
each row is copied into a local array, and elements written by the turns are copied out after them.
A device has tiles in memory that a warp shares, and copies them together, one row after the other
(`copies`): as lines of neighbouring elements.

All threads of a warp must get to each copy. So the parallel loop has one axis, of whole warps: its
last iterations, past the end, compute the last element again and store none of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Set
from dataclasses import replace

from difftile.ir.facts import arrays_written, defined_in
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Const,
    Fail,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Print,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import BOOL, F32, F64, I32, FieldType, numpy_dtype, scalar_of
from difftile.ir.walk import array_of, literal_length, walk, with_blocks
from difftile.ops.build import OpBuilder
from difftile.passes.affine import Affine, affine, definitions_of
from difftile.passes.divergence import Divergence
from difftile.records import dataclass

TILE = 32  # turns
WARP = 32  # threads
BLOCK = 64  # threads that have memory together
PITCH = TILE + 1  # numbers from row to row: elements of a column are in different banks
_SHARED = 48 << 10  # bytes of memory that a block has
_SHORT = 16  # turns of a loop that is written out
_ELEMENTS = (F32, F64, I32)
_MOST_AXES = 4  # of an array whose rows a warp copies
_ZERO = Const(0, I32)


@dataclass(frozen=True, slots=True)
class Tiled:
    """A parallel loop in tiles.

    Args:
        stmts: The statements in its place.
        tiles: The local arrays that a warp copies together.
        loops: The serial loops that have been cut.
    """

    stmts: tuple[Stmt, ...]
    tiles: frozenset[Array] = frozenset()
    loops: tuple[For, ...] = ()


@dataclass(frozen=True, slots=True)
class Copy:
    """A loop that copies a piece of a row into a tile, or out of it.

    Args:
        tile: The tile.
        array: The array that has the row.
        lead: The row: all indices but the last.
        begin: Where the piece begins.
        count: Its length, at least 1 where it is copied in.
        into: Copied into the tile.
    """

    tile: Array
    array: Array
    lead: tuple[Value, ...]
    begin: Value
    count: Value
    into: bool


def tile_rows(loop: ParallelFor, fresh: Collection[Array] = ()) -> Tiled:
    """Return a parallel loop with the rows that its iterations walk along in tiles.

    Args:
        loop: A loop of a finished program.
        fresh: Arrays that hold zeros, where a single addition becomes a store.
    """
    stmts = list(walk(loop.body))
    alone = any(
        isinstance(s, (Combine, Print, Fail)) or (isinstance(s, Accumulate) and s.aggregated)
        for s in stmts
    )
    if alone or not any(isinstance(s, For) for s in stmts):
        return Tiled((loop,))
    return _Tiling(loop, fresh).tiled()


def copy_of(loop: For, tiles: Collection[Array]) -> Copy | None:
    """Return the copy that a loop makes into or out of a tile; None for other loops."""
    match loop.body.stmts:
        case (
            Let(out=at, op="add", args=(begin, _)),
            Load(out=value, array=source, index=index),
            Store(array=target, index=to, value=stored),
        ) if stored == value and not loop.carries:
            if target in tiles and index[-1] == at:
                return Copy(target, source, index[:-1], begin, loop.stop, into=True)
            if source in tiles and to[-1] == at:
                return Copy(source, target, to[:-1], begin, loop.stop, into=False)
        case _:
            pass
    return None


@dataclass(slots=True)
class _WalkedRow:
    """An array that a serial loop walks along.

    Args:
        lead: The row.
        along: The index of the element, as a form of the loop's index.
        forwards: Turn after turn, one element on; else one back.
        tile: The local array that holds a piece of it.
        comes: The turns need the contents from before.
        goes: The turns write it.
    """

    lead: tuple[Value, ...]
    along: Affine[Var]
    forwards: bool
    tile: Array
    comes: bool
    goes: bool


class _Tiling:
    """The tiles of one parallel loop."""

    def __init__(self, loop: ParallelFor, fresh: Collection[Array]) -> None:
        self.loop = loop
        self.fresh = fresh
        self.defs = definitions_of(loop.body)
        self.written = {a for a in arrays_written(loop.body) if a.size is None}
        # Between the threads of a warp, and from each of them to the next one.
        self.divergence = Divergence(loop, self.written, loop.indices)
        self.across = Divergence(loop, self.written, loop.indices[-1:])
        self.tiles: dict[Array, None] = {}
        self.tile_of: dict[Array, Array] = {}
        self.cut: list[For] = []
        self.b = OpBuilder()
        self.alive: Value = Const(True, BOOL)

    def tiled(self) -> Tiled:
        """Return the loop in tiles; unchanged if no access in it walks along rows."""
        b, loop = self.b, self.loop
        b.span = loop.span
        lengths = [
            (b.expr(stop) - start).max(0)
            for start, stop in zip(loop.starts, loop.stops, strict=True)
        ]
        count = lengths[0]
        for length in lengths[1:]:
            count = count * length
        count = count.named("count")
        whole = (count.ceildiv(WARP) * WARP).named("whole")
        flat = Var("flat", I32)
        with b.region() as stmts:
            self.alive = (b.expr(flat) < count).named("alive").value
            left = b.expr(flat).min(count - 1)
            for k in range(len(lengths) - 1, -1, -1):
                place = left % lengths[k] if k else left
                b.append(Let(loop.indices[k], "add", (place.value, loop.starts[k]), loop.span))
                left = left // lengths[k] if k else left
            at = len(stmts)
            self.block(loop.body, uniform=True)
        if not self.tiles:
            return Tiled((loop,))
        stmts[at:at] = [Alloc(tile, loop.span) for tile in self.tiles]
        body = Block(tuple(stmts))
        one = ParallelFor((flat,), (_ZERO,), (whole.value,), body, loop.span, ordered=loop.ordered)
        b.append(one)
        return Tiled(tuple(b.stmts), frozenset(self.tiles), tuple(self.cut))

    def block(self, block: Block, *, uniform: bool) -> None:
        """Append the statements of a block; all threads of a warp run it (`uniform`), or not."""
        for stmt in block.stmts:
            self.b.span = stmt.span
            if not isinstance(stmt, For):
                self.b.append(self.guarded(stmt))
            elif not (uniform and self.divergence.in_step(stmt)):
                self.b.append(with_blocks(stmt, self.guarded_block))
            elif any(isinstance(s, (For, While)) for s in walk(stmt.body)):
                with self.b.region() as stmts:
                    self.block(stmt.body, uniform=True)
                body = replace(stmt.body, stmts=tuple(stmts))
                self.b.append(replace(stmt, body=body))
            else:
                rows = {} if literal_length(stmt.start, stmt.stop) <= _SHORT else self.rows(stmt)
                if rows:
                    self.cut.append(stmt)
                    self.loop_in_tiles(stmt, rows)
                else:
                    self.b.append(with_blocks(stmt, self.guarded_block))

    def guarded_block(self, block: Block) -> Block:
        """Return a block in which iterations past the end store no values."""
        return replace(block, stmts=tuple(map(self.guarded, block.stmts)))

    def guarded(self, stmt: Stmt) -> Stmt:
        if isinstance(stmt, (Store, Accumulate)) and stmt.array.size is None:
            return If(self.alive, Block((stmt,)), Block(()), (), stmt.span)
        return with_blocks(stmt, self.guarded_block)

    def rows(self, loop: For) -> dict[Array, _WalkedRow]:
        """Return the arrays that a loop without loops walks along."""
        inside = defined_in(loop.body) | {loop.index}
        found: dict[Array, _WalkedRow] = {}
        accesses: dict[Array, list[int]] = {}
        for k, stmt in enumerate(loop.body.stmts):
            array = array_of(stmt)
            if array is not None and array.size is None:
                accesses.setdefault(array, []).append(k)
        nested = [s for stmt in loop.body.stmts for s in _nested(stmt)]
        elsewhere = {array_of(stmt) for stmt in nested}
        for array, places in accesses.items():
            fits = array.type.element in _ELEMENTS and 2 <= array.type.ndim <= _MOST_AXES
            if array in elsewhere or not fits:
                continue
            stmts = [loop.body.stmts[k] for k in places]
            row = self.row(array, stmts, loop, inside)
            if row is None:
                continue
            self.give_tile(array, row, found, accesses)
            if row.tile in self.tiles or self.bytes(row.tile) <= _SHARED:
                self.tiles[row.tile] = None
                self.tile_of.setdefault(array, row.tile)
                found[array] = row
        return found

    def give_tile(
        self,
        array: Array,
        row: _WalkedRow,
        found: dict[Array, _WalkedRow],
        accesses: dict[Array, list[int]],
    ) -> None:
        """Give a row the tile of its array, or one that the loop does not need any more."""
        for other, known in found.items():
            done = max(accesses[other]) < min(accesses[array])
            free = done and known.comes and not known.goes and known.along == row.along
            used = any(one.tile is known.tile and one is not known for one in found.values())
            same = other.type.element == array.type.element
            if free and same and not used and not row.comes:
                row.tile = known.tile
                return
        if any(one.tile is row.tile for one in found.values()):
            row.tile = _tile_for(array)

    def row(
        self, array: Array, stmts: list[Stmt], loop: For, inside: Set[Var]
    ) -> _WalkedRow | None:
        """Return how a loop walks along an array, if all its accesses do so together."""
        indices: list[tuple[Value, ...]] = []
        comes = goes = False
        for stmt in stmts:
            match stmt:
                case Load(index=index):
                    comes = True
                case Store(index=index):
                    goes = True
                case Accumulate(index=index, atomic=False):
                    goes = True
                    comes = comes or not self.is_stored(stmt)
                case _:
                    return None
            indices.append(index)
        forms = [[affine(v, self.defs) for v in index] for index in indices]
        if len(indices[0]) != array.type.ndim or any(form != forms[0] for form in forms):
            return None
        *lead, _ = indices[0]
        along = forms[0][-1]
        fixed = {v for v in along.factors if v is not loop.index}
        if abs(along.factor(loop.index)) != 1 or not inside.isdisjoint({*fixed, *lead}):
            return None
        if not any(v in self.across.found for v in lead):
            return None
        # Writes of other iterations during this loop may be anywhere in a row.
        if comes and not goes and array in self.written:
            return None
        tile = self.tile_of.get(array) or _tile_for(array)
        forwards = along.factor(loop.index) > 0
        return _WalkedRow(tuple(lead), along, forwards, tile, comes, goes)

    def is_stored(self, stmt: Accumulate) -> bool:
        """Tell whether an addition is the only one to an element that holds zero."""
        return stmt.single_write and stmt.array in self.fresh

    def bytes(self, more: Array) -> int:
        """Return the memory that a block of threads needs with another tile."""
        tiles = {*self.tiles, more}
        sizes = [numpy_dtype(scalar_of(tile.type.element)).itemsize for tile in tiles]
        return sum(sizes) * BLOCK * PITCH

    def loop_in_tiles(self, loop: For, rows: dict[Array, _WalkedRow]) -> None:
        """Append a loop cut into tiles, with its rows copied."""
        b = self.b
        turns = (b.expr(loop.stop) - loop.start).max(0).named("turns")
        tile, step = Var("tile", I32), Var("step", I32)
        carries, outs = (tuple(Var(v.name, v.type) for v in loop.carries) for _ in range(2))
        with b.region() as stmts:
            done = (b.expr(tile) * TILE).named("done")
            count = (turns - done).min(TILE).named("count")
            first = (b.expr(loop.start) + done).named("first")
            begins = {
                array: self.begin(row, loop.index, first.value, count.value)
                for array, row in rows.items()
            }
            for array, row in rows.items():
                if row.comes:
                    self.copy(array, row, begins[array], count.value, into=True)
            with b.region() as body:
                b.append(Let(loop.index, "add", (first.value, step), loop.span))
                slots: dict[bool, Value] = {True: step}
                if not all(row.forwards for row in rows.values()):
                    slots[False] = (count - 1 - step).named("slot").value
                for stmt in loop.body.stmts:
                    b.span = stmt.span
                    array = array_of(stmt)
                    row = None if array is None else rows.get(array)
                    b.append(
                        self.guarded(stmt)
                        if row is None
                        else self.moved(stmt, row.tile, slots[row.forwards])
                    )
            inner = Block(tuple(body), loop.body.results)
            ends = _ZERO, count.value
            b.append(For(step, *ends, loop.carries, carries, inner, outs, loop.span))
            for array, row in rows.items():
                if row.goes:
                    written = b.expr(self.alive).select(count, _ZERO).value
                    self.copy(array, row, begins[array], written, into=False)
        tiles = turns.ceildiv(TILE).named("tiles").value
        body_of_tiles = Block(tuple(stmts), outs)
        b.append(For(tile, _ZERO, tiles, carries, loop.inits, body_of_tiles, loop.outs, loop.span))

    def begin(self, row: _WalkedRow, index: Var, first: Value, count: Value) -> Value:
        """Return where the piece of a row begins that some turns need."""
        b = self.b
        at = b.expr(first) if row.forwards else b.expr(first) + count - 1
        total = at if row.forwards else -at
        for variable, times in sorted(row.along.factors.items(), key=lambda one: one[0].name):
            if variable is not index:
                total = total + (b.expr(variable) * times if times != 1 else variable)
        return (total + row.along.constant).named("begin").value

    def copy(
        self, array: Array, row: _WalkedRow, begin: Value, count: Value, *, into: bool
    ) -> None:
        """Append a loop that copies a piece of a row."""
        b = self.b
        slot = Var("slot", I32)
        with b.region() as stmts:
            at = Var("at", I32)
            b.append(Let(at, "add", (begin, slot), b.span))
            ends = (array, (*row.lead, at)), (row.tile, (slot,))
            source, target = ends if into else ends[::-1]
            value = Var(array.name, array.type.element)
            b.append(Load(value, *source, b.span))
            b.append(Store(*target, value, b.span))
        b.append(For(slot, _ZERO, count, (), (), Block(tuple(stmts)), (), b.span))

    def moved(self, stmt: Stmt, tile: Array, slot: Value) -> Stmt:
        """Return an access as one to a tile."""
        match stmt:
            case Load():
                return replace(stmt, array=tile, index=(slot,))
            case Accumulate(value=value) if self.is_stored(stmt):
                return Store(tile, (slot,), value, stmt.span)
            case Accumulate():
                return replace(stmt, array=tile, index=(slot,), single_write=False)
            case Store():
                return replace(stmt, array=tile, index=(slot,))
            case _:
                raise AssertionError("no access")


def _tile_for(array: Array) -> Array:
    return Array(f"{array.name}_tile", FieldType(array.type.element, 1), TILE)


def _nested(stmt: Stmt) -> Iterator[Stmt]:
    """Yield the statements inside a statement."""
    yield from (one for one in walk(Block((stmt,))) if one is not stmt)


def _is_short(loop: For) -> bool:
    start, stop = loop.start, loop.stop
    if not (isinstance(start, Const) and isinstance(stop, Const)):
        return False
    return int(stop.value) - int(start.value) <= _SHORT
