"""Elements that one iteration owns and reads after writing become values.

After this pass every load that the pass understood reads the contents of the field from before the
launch, to which the reverse program binds the field. Stores stay where they are.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from difftile.ir.facts import arrays_touched, arrays_written, declared_in, defined_in
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
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
from difftile.ir.walk import (
    array_of,
    bound,
    parallel_loops,
    regions,
    walk,
    with_operands,
    with_tasks,
)
from difftile.passes.bounds import Ranges
from difftile.passes.elements import Elements
from difftile.passes.exclusive import owned_arrays


def scalar_replacement(program: Program) -> Program:
    """Return the program with such elements carried as values."""
    ranges = Ranges(program)

    def replaced(loop: ParallelFor) -> list[Stmt]:
        owned = owned_arrays(loop, program) - _written_under_rules(loop.body)
        return [replace(loop, body=_Owned(owned, ranges).block(loop.body))]

    program = with_tasks(program, replaced)
    # The serial top level is one thread: all of it is exclusive.
    parallel = parallel_loops(program)
    serial = Block(tuple(s for s in program.body.stmts if not isinstance(s, ParallelFor)))
    touched = {array_of(s) for loop in parallel for s in walk(loop.body)}
    owned = arrays_written(serial) - touched - _written_under_rules(program.body)
    return replace(program, body=_Owned(owned, ranges).block(program.body))


def _written_under_rules(block: Block) -> set[Array]:
    """Return the arrays that bodies with rules write: derivatives go by the fields' gradients."""
    ruled = (stmt for stmt in walk(block) if isinstance(stmt, Ruled))
    return {array for stmt in ruled for array in arrays_written(stmt.body)}


class _Owned(Elements):
    """Follows one element of each owned array at a time."""

    keeps_writes = True

    def __init__(self, owned: Set[Array], ranges: Ranges) -> None:
        super().__init__()
        self.owned = owned
        self.ranges = ranges

    def block(self, block: Block) -> Block:
        """Return a block with loads replaced; elements that are followed only in it are loaded."""
        outer = set(self.known)
        chosen = _followed(block, self.owned - {array for array, _ in outer})
        reached = {array_of(stmt) for stmt in block.stmts}
        with self.b.region() as stmts:
            for stmt in block.stmts:
                touched = _touched(stmt) if chosen else frozenset[Array]()
                for array in [a for a in chosen if a in touched]:
                    index = self.env.all(chosen.pop(array))
                    self.b.span = stmt.span
                    # Branches and loops may keep an index inside the shape.
                    doubtful = [] if array in reached else self.ranges.doubtful(array, index)
                    self.known[array, index] = self.loaded((array, index), doubtful)
                self.stmt(with_operands(stmt, self.env))
            results = self.env.all(block.results)
        for element in [element for element in self.known if element not in outer]:
            del self.known[element]
        return Block(tuple(stmts), results)


def _followed(block: Block, owned: Set[Array]) -> dict[Array, tuple[Value, ...]]:
    """Return the arrays that are followed in a block, and the index of the element of each.

    A block touches the element with one index, which is known before the first touch, and may read
    it after writing. Not all of that happens in one branch, inside which it would be followed.
    """
    if owned.isdisjoint(arrays_touched(block)):
        return {}
    # In the order of the text: emitted programs are to be the same in every process.
    indices: dict[Array, set[tuple[Value, ...]]] = {}
    for stmt in walk(block):
        if isinstance(stmt, (Load, Store, Accumulate)) and stmt.array in owned:
            indices.setdefault(stmt.array, set()).add(stmt.index[: stmt.array.type.ndim])
    for stmt in walk(block):
        if isinstance(stmt, Combine):  # those into owned elements have been split
            indices.pop(stmt.array, None)
    if not indices:
        return {}
    inner: set[Var] = set()
    for stmt in block.stmts:
        inner.update(bound(stmt))
        for region in regions(stmt):
            inner |= defined_in(region)
            for array in declared_in(region):  # which is not known here
                indices.pop(array, None)
    read_again: set[Array] = set()
    _scan(block, set(), read_again)
    at: dict[Array, list[Stmt]] = {}
    for stmt in block.stmts:
        for array in _touched(stmt):
            at.setdefault(array, []).append(stmt)
    return {
        array: index
        for array, (index, *others) in indices.items()
        if not others
        and inner.isdisjoint(index)
        and array in read_again
        and not (len(at[array]) == 1 and isinstance(at[array][0], If))
    }


def _touched(stmt: Stmt) -> frozenset[Array]:
    """Return the arrays whose elements a statement touches, inside its regions too."""
    return arrays_touched(Block((stmt,)))


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
