"""Memory to values: an element that one iteration owns and reads after writing becomes a local.

After this pass every load that the pass understood reads what the field held before the launch,
which is what the reverse program binds the field to. Stores stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Const,
    For,
    If,
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
from difftile.ir.types import BOOL, I32
from difftile.ir.walk import (
    array_of,
    arrays_written,
    bound,
    definitions,
    regions,
    substitute,
    walk,
    with_blocks,
    with_operands,
)
from difftile.ops.build import OpBuilder, zero
from difftile.passes.bounds import Ranges
from difftile.passes.exclusive import owned_arrays


def scalar_replacement(program: Program) -> Program:
    """Return the program with such elements carried as values."""
    ranges = Ranges(program)
    stmts: list[Stmt] = []
    for stmt in program.body.stmts:
        if isinstance(stmt, ParallelFor):
            owned = owned_arrays(stmt, program) - _written_under_rules(stmt.body)
            body = _Promoter(owned, ranges).scope(stmt.body)
            stmts.append(replace(stmt, body=body))
        else:
            stmts.append(stmt)
    body = replace(program.body, stmts=tuple(stmts))
    # The serial top level is one thread: all of it is exclusive.
    written = arrays_written(Block(tuple(s for s in stmts if not isinstance(s, ParallelFor))))
    parallel = [s for s in stmts if isinstance(s, ParallelFor)]
    touched = {array_of(s) for loop in parallel for s in walk(loop.body)}
    owned = written - touched - _written_under_rules(body)
    return replace(program, body=_Promoter(owned, ranges).scope(body))


def _written_under_rules(block: Block) -> set[Array]:
    """Return what bodies with rules write: its derivative goes by the gradient of the field."""
    found: set[Array] = set()
    for stmt in walk(block):
        if isinstance(stmt, Ruled):
            found |= arrays_written(stmt.body)
    return found


@dataclass
class _Promoter:
    """Replaces loads in one block; `known` maps an element to the value it holds now."""

    owned: set[Array]
    ranges: Ranges
    b: OpBuilder = field(default_factory=OpBuilder)
    env: dict[Var, Value] = field(default_factory=dict[Var, Value])
    known: dict[Array, tuple[tuple[Value, ...], Value]] = field(
        default_factory=dict[Array, tuple[tuple[Value, ...], Value]]
    )

    def scope(self, block: Block) -> Block:
        """Promote what can be promoted in this block, then in the blocks inside it."""
        chosen = self._chosen(block)
        with self.b.region() as stmts:
            outer = self.known
            self.known = {**outer}
            self._run(block.stmts, chosen)
            results = tuple(self.value(result) for result in block.results)
            self.known = outer
        return Block(tuple(stmts), results)

    def _chosen(self, block: Block) -> dict[Array, tuple[Value, ...]]:
        """Return the arrays to promote in this block, each with its one index."""
        return {
            array: index
            for array in self.owned
            if array not in self.known
            and (index := _only_index(array, block)) is not None
            and _reads_after_write(array, block)
            and not _in_one_branch(array, block)
        }

    def value(self, value: Value) -> Value:
        return self.env.get(value, value) if isinstance(value, Var) else value

    def _run(self, stmts: tuple[Stmt, ...], chosen: dict[Array, tuple[Value, ...]]) -> None:
        reached = {array_of(stmt) for stmt in stmts}
        for stmt in stmts:
            touched = {array_of(s) for s in (stmt, *(s for r in regions(stmt) for s in walk(r)))}
            for array in [a for a in chosen if a in touched]:
                index = tuple(self.value(i) for i in chosen.pop(array))
                self.b.span = stmt.span
                # Branches and loops may be what keeps an index inside the shape.
                doubtful = [] if array in reached else self.ranges.doubtful(array, index)
                self.known[array] = (index, self._loaded(array, index, doubtful))
            self._stmt(with_operands(stmt, self.value))

    def _loaded(self, array: Array, index: tuple[Value, ...], doubtful: list[int]) -> Value:
        """Append the load of an element, tested to be inside along the doubtful axes."""
        b = self.b
        if not doubtful:
            return b.load(array, index)
        inside: Value = Const(True, BOOL)
        for axis in doubtful:
            size = b.size(array, axis) if array.size is None else Const(array.size, I32)
            inside = b.call("and", inside, b.call("ge", index[axis], Const(0, I32)))
            inside = b.call("and", inside, b.call("lt", index[axis], size))
        with b.region() as stmts:
            found = b.load(array, index)
        out = Var(found.name, found.type)
        nothing = Block((), (zero(found.type),))
        b.append(If(inside, Block(tuple(stmts), (found,)), nothing, (out,), b.span))
        return out

    def _stmt(self, stmt: Stmt) -> None:
        self.b.span = stmt.span
        match stmt:
            case Load(out, array, index) if array in self.known:
                element = self.known[array][1]
                part = index[array.type.ndim :]
                self.env[out] = self.b.call("extract", element, *part) if part else element
            case Store(array, index, value) if array in self.known:
                self._update(array, index, value, add=False)
                self.b.append(stmt)
            case Accumulate(array, index, value) if array in self.known:
                self._update(array, index, value, add=True)
                self.b.append(stmt)
            case If():
                self._if(stmt)
            case For() | While():
                self._loop(stmt)
            case ParallelFor():
                self.b.append(substitute(stmt, self.value))
            case Ruled():
                self.b.append(with_blocks(stmt, self._inner))
            case _:
                self.b.append(stmt)

    def _update(self, array: Array, index: tuple[Value, ...], value: Value, *, add: bool) -> None:
        where, old = self.known[array]
        part = index[array.type.ndim :]
        if add:
            before = self.b.call("extract", old, *part) if part else old
            value = self.b.call("add", before, value)
        new = self.b.call("insert", old, *part, value) if part else value
        self.known[array] = (where, new)

    def _if(self, stmt: If) -> None:
        before = dict(self.known)
        changed = [
            a for a in before if a in arrays_written(stmt.then) | arrays_written(stmt.orelse)
        ]
        sides: list[Block] = []
        for block in (stmt.then, stmt.orelse):
            self.known = dict(before)
            with self.b.region() as stmts:
                inner = self._inner(block)
                results = (*inner.results, *(self.known[a][1] for a in changed))
            sides.append(Block((*stmts, *inner.stmts), results))
        outs = [Var(a.name, before[a][1].type) for a in changed]
        self.known = dict(before)
        for array, out in zip(changed, outs, strict=True):
            self.known[array] = (before[array][0], out)
        self.b.append(replace(stmt, then=sides[0], orelse=sides[1], outs=(*stmt.outs, *outs)))

    def _inner(self, block: Block) -> Block:
        """Promote in a nested block, with what is known carried in and, changed, out."""
        chosen = self._chosen(block)
        outer = set(self.known)
        with self.b.region() as stmts:
            self._run(block.stmts, chosen)
            results = tuple(self.value(result) for result in block.results)
        for array in [a for a in self.known if a not in outer]:
            del self.known[array]
        return Block(tuple(stmts), results)

    def _loop(self, stmt: For | While) -> None:
        before = dict(self.known)
        changed = [a for a in before if a in arrays_written(stmt.body)]
        carries = [Var(a.name, before[a][1].type) for a in changed]
        for array, carry in zip(changed, carries, strict=True):
            self.known[array] = (before[array][0], carry)
        if isinstance(stmt, While):
            stmt = replace(stmt, cond=self._inner(stmt.cond))
        body = self._inner(stmt.body)
        results = tuple(self.known[array][1] for array in changed)
        outs = [Var(a.name, before[a][1].type) for a in changed]
        self.known = dict(before)
        for array, out in zip(changed, outs, strict=True):
            self.known[array] = (before[array][0], out)
        self.b.append(
            replace(
                stmt,
                carries=(*stmt.carries, *carries),
                inits=(*stmt.inits, *(before[a][1] for a in changed)),
                outs=(*stmt.outs, *outs),
                body=Block(body.stmts, (*body.results, *results)),
            )
        )


def _only_index(array: Array, block: Block) -> tuple[Value, ...] | None:
    """Return the one index with which the block touches an array, known before the first touch."""
    indices = {
        stmt.index[: array.type.ndim]
        for stmt in walk(block)
        if isinstance(stmt, (Load, Store, Accumulate)) and stmt.array is array
    }
    if len(indices) != 1:
        return None
    (index,) = indices
    inner = {
        v
        for stmt in block.stmts
        for region in regions(stmt)
        for v in (*bound(stmt), *(d for s in walk(region) for d in (*definitions(s), *bound(s))))
    }
    return None if any(i in inner for i in index if isinstance(i, Var)) else index


def _in_one_branch(array: Array, block: Block) -> bool:
    """Tell whether one branch has all touches of an array; they are promoted inside of it."""
    touching = [s for s in block.stmts if any(array_of(w) is array for w in walk(Block((s,))))]
    return len(touching) == 1 and isinstance(touching[0], If)


def _reads_after_write(array: Array, block: Block) -> bool:
    """Tell whether a load may follow a store, back edges of loops counted."""

    def scan(block: Block, written: bool) -> tuple[bool, bool]:
        for stmt in block.stmts:
            if isinstance(stmt, Load) and stmt.array is array and written:
                return True, True
            if isinstance(stmt, (Store, Accumulate)) and stmt.array is array:
                written = True
            inner = list(regions(stmt))
            if inner and isinstance(stmt, (For, While)):
                written = written or array in arrays_written(stmt.body)
            after = written
            for region in inner:
                found, wrote = scan(region, written)
                if found:
                    return True, True
                after = after or wrote
            written = after
        return False, written

    return scan(block, False)[0]
