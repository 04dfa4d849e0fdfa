"""Elements that one iteration owns and reads after writing become values.

After this pass every load that the pass understood reads the contents of the field from before the
launch, to which the reverse program binds the field. Stores stay where they are.
"""

from __future__ import annotations

from dataclasses import replace

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
    Substitution,
    add_carries,
    array_of,
    arrays_written,
    bound,
    defined_in,
    regions,
    substitute,
    walk,
    with_blocks,
    with_operands,
    with_tasks,
)
from difftile.ops.build import OpBuilder, zero
from difftile.passes.bounds import Ranges
from difftile.passes.exclusive import owned_arrays


def scalar_replacement(program: Program) -> Program:
    """Return the program with such elements carried as values."""
    ranges = Ranges(program)

    def replaced(loop: ParallelFor) -> list[Stmt]:
        owned = owned_arrays(loop, program) - _written_under_rules(loop.body)
        return [replace(loop, body=_Elements(owned, ranges).block(loop.body))]

    program = with_tasks(program, replaced)
    # The serial top level is one thread: all of it is exclusive.
    parallel = [s for s in program.body.stmts if isinstance(s, ParallelFor)]
    serial = Block(tuple(s for s in program.body.stmts if not isinstance(s, ParallelFor)))
    touched = {array_of(s) for loop in parallel for s in walk(loop.body)}
    owned = arrays_written(serial) - touched - _written_under_rules(program.body)
    return replace(program, body=_Elements(owned, ranges).block(program.body))


def _written_under_rules(block: Block) -> set[Array]:
    """Return the arrays that bodies with rules write: derivatives go by the fields' gradients."""
    ruled = (stmt for stmt in walk(block) if isinstance(stmt, Ruled))
    return {array for stmt in ruled for array in arrays_written(stmt.body)}


class _Elements:
    """Replaces loads of owned elements by values.

    `known` has for an array the index of the one element that is followed, and its value now.
    """

    def __init__(self, owned: set[Array], ranges: Ranges) -> None:
        self.owned = owned
        self.ranges = ranges
        self.b = OpBuilder()
        self.env = Substitution()
        self.known: dict[Array, tuple[tuple[Value, ...], Value]] = {}

    def block(self, block: Block) -> Block:
        """Return a block with loads replaced; elements that are followed only in it are loaded."""
        outer = set(self.known)
        chosen = _followed(block, self.owned - outer)
        reached = {array_of(stmt) for stmt in block.stmts}
        with self.b.region() as stmts:
            for stmt in block.stmts:
                inside = (s for region in regions(stmt) for s in walk(region))
                touched = {array_of(s) for s in (stmt, *inside)}
                for array in [a for a in chosen if a in touched]:
                    index = self.env.all(chosen.pop(array))
                    self.b.span = stmt.span
                    # Branches and loops may keep an index inside the shape.
                    doubtful = [] if array in reached else self.ranges.doubtful(array, index)
                    self.known[array] = (index, self._loaded(array, index, doubtful))
                self._stmt(with_operands(stmt, self.env))
            results = self.env.all(block.results)
        for array in [a for a in self.known if a not in outer]:
            del self.known[array]
        return Block(tuple(stmts), results)

    def _loaded(self, array: Array, index: tuple[Value, ...], doubtful: list[int]) -> Value:
        """Append the load of an element, tested to be inside along the doubtful axes."""
        b = self.b
        if not doubtful:
            return b.load(array, index)
        inside = b.expr(Const(True, BOOL))
        for axis in doubtful:
            size = b.size(array, axis) if array.size is None else Const(array.size, I32)
            i = b.expr(index[axis])
            inside = inside & (i >= 0)
            inside = inside & (i < size)
        with b.region() as stmts:
            found = b.load(array, index)
        out = Var(found.name, found.type)
        nothing = Block((), (zero(found.type),))
        b.append(If(inside.value, Block(tuple(stmts), (found,)), nothing, (out,), b.span))
        return out

    def _stmt(self, stmt: Stmt) -> None:
        self.b.span = stmt.span
        match stmt:
            case Load(out, array, index) if array in self.known:
                self.env[out] = self._part(array, index)
            case Store(array, index, value) if array in self.known:
                self._update(array, index, value)
                self.b.append(stmt)
            case Accumulate(array, index, value) if array in self.known:
                self._update(array, index, self.b.call("add", self._part(array, index), value))
                self.b.append(stmt)
            case If():
                self._if(stmt)
            case For() | While():
                self._loop(stmt)
            case ParallelFor():
                self.b.append(substitute(stmt, self.env))
            case Ruled():
                self.b.append(with_blocks(stmt, self.block))
            case _:
                self.b.append(stmt)

    def _part(self, array: Array, index: tuple[Value, ...]) -> Value:
        element, part = self.known[array][1], index[array.type.ndim :]
        return self.b.call("extract", element, *part) if part else element

    def _update(self, array: Array, index: tuple[Value, ...], value: Value) -> None:
        where, old = self.known[array]
        part = index[array.type.ndim :]
        self.known[array] = (where, self.b.call("insert", old, *part, value) if part else value)

    def _if(self, stmt: If) -> None:
        before = dict(self.known)
        written = arrays_written(stmt.then) | arrays_written(stmt.orelse)
        changed = [a for a in before if a in written]
        sides: list[Block] = []
        for block in (stmt.then, stmt.orelse):
            self.known = dict(before)
            with self.b.region() as stmts:
                inner = self.block(block)
                results = (*inner.results, *(self.known[a][1] for a in changed))
            sides.append(Block((*stmts, *inner.stmts), results))
        outs = self._joined(changed, before)
        self.b.append(replace(stmt, then=sides[0], orelse=sides[1], outs=(*stmt.outs, *outs)))

    def _loop(self, stmt: For | While) -> None:
        before = dict(self.known)
        changed = [a for a in before if a in arrays_written(stmt.body)]
        carries = self._joined(changed, before)
        if isinstance(stmt, While):
            stmt = replace(stmt, cond=self.block(stmt.cond))
        body = self.block(stmt.body)
        results = (*body.results, *(self.known[array][1] for array in changed))
        inits = [before[a][1] for a in changed]
        outs = self._joined(changed, before)
        self.b.append(add_carries(stmt, carries, inits, outs, Block(body.stmts, results)))

    def _joined(
        self, changed: list[Array], before: dict[Array, tuple[tuple[Value, ...], Value]]
    ) -> list[Var]:
        """Let new variables stand for the elements that changed; return them."""
        variables = [Var(array.name, before[array][1].type) for array in changed]
        self.known = dict(before)
        for array, variable in zip(changed, variables, strict=True):
            self.known[array] = (before[array][0], variable)
        return variables


def _followed(block: Block, owned: set[Array]) -> dict[Array, tuple[Value, ...]]:
    """Return the arrays that are followed in a block, and the index of the element of each.

    A block touches the element with one index, which is known before the first touch, and may read
    it after writing. Not all of that happens in one branch, inside which it would be followed.
    """
    # In the order of the text: emitted programs are to be the same in every process.
    indices: dict[Array, set[tuple[Value, ...]]] = {}
    for stmt in walk(block):
        if isinstance(stmt, (Load, Store, Accumulate)) and stmt.array in owned:
            indices.setdefault(stmt.array, set()).add(stmt.index[: stmt.array.type.ndim])
    if not indices:
        return {}
    inner: set[Var] = set()
    for stmt in block.stmts:
        inner.update(bound(stmt))
        for region in regions(stmt):
            inner |= defined_in(region)
    read_again: set[Array] = set()
    _scan(block, set(), read_again)
    at: dict[Array | None, list[Stmt]] = {}
    for stmt in block.stmts:
        for array in {array_of(s) for s in walk(Block((stmt,)))}:
            at.setdefault(array, []).append(stmt)
    return {
        array: index
        for array, (index, *others) in indices.items()
        if not others
        and inner.isdisjoint(index)
        and array in read_again
        and not (len(at[array]) == 1 and isinstance(at[array][0], If))
    }


def _scan(block: Block, written: set[Array], read_again: set[Array]) -> set[Array]:
    """Find the arrays that a load may read after a store, back edges of loops counted.

    Args:
        block: The block.
        written: The arrays that are written before it.
        read_again: The arrays that are found are added to these.

    Returns:
        The arrays that are written before its end.
    """
    written = set(written)
    for stmt in block.stmts:
        if isinstance(stmt, Load) and stmt.array in written:
            read_again.add(stmt.array)
        if isinstance(stmt, (Store, Accumulate)):
            written.add(stmt.array)
        inner = list(regions(stmt))
        if inner and isinstance(stmt, (For, While)):
            written |= arrays_written(stmt.body)
        written = written.union(*[_scan(region, written, read_again) for region in inner])
    return written
