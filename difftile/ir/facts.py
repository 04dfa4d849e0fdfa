"""Facts about blocks: what passes ask of them, computed once and kept with them.

Blocks never change, and a pass hands on the blocks that it leaves as they are: what was found out
about a block holds in each program that it is part of. `@fact` makes a fact of a function of a
block. Facts about nested statements are combined from the facts of the inner blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from difftile.ir.nodes import Alloc, Array, Block, Load, Ruled, Stmt, Var
from difftile.ir.walk import EFFECTS, WRITES, array_of, bound, definitions, operands, regions, walk

P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item", bound=Hashable)


def fact(compute: Callable[Concatenate[Block, P], T]) -> Callable[Concatenate[Block, P], T]:
    """Return a function of a block, and of values with a hash, that keeps its results.

    Args:
        compute: The function. Its results are shared, and not to be changed.
    """

    @wraps(compute)
    def known(block: Block, *args: P.args, **others: P.kwargs) -> T:
        key = (compute, *args, *others.items()) if args or others else compute
        facts = block.facts
        if key not in facts:
            facts[key] = compute(block, *args, **others)
        return facts[key]

    return known


def gathered(of: Callable[[Stmt], Iterable[Item]]) -> Callable[[Block], frozenset[Item]]:
    """Return the union, over the statements of a block and of its regions, of what each has."""

    @wraps(of)
    def gather(block: Block) -> frozenset[Item]:
        found: set[Item] = set()
        for stmt in block.stmts:
            found.update(of(stmt))
            for region in regions(stmt):
                found |= known(region)
        return frozenset(found)

    known = fact(gather)
    return known


@gathered
def arrays_loaded(stmt: Stmt) -> Iterable[Array]:
    """Return the arrays that the block reads, but none that only rules name."""
    return (stmt.array,) if isinstance(stmt, Load) and stmt.array.in_rule is None else ()


@gathered
def arrays_written(stmt: Stmt) -> Iterable[Array]:
    """Return the arrays that the block stores, accumulates or combines into, but no gradients."""
    return (stmt.array,) if isinstance(stmt, WRITES) and stmt.array.gradient_of is None else ()


@gathered
def arrays_touched(stmt: Stmt) -> Iterable[Array]:
    """Return the arrays whose elements the block reads or writes, whatever they stand for."""
    array = array_of(stmt)
    return () if array is None else (array,)


@gathered
def declared_in(stmt: Stmt) -> Iterable[Array]:
    """Return the arrays of the thread that the block declares."""
    return (stmt.array,) if isinstance(stmt, Alloc) else ()


@gathered
def defined_in(stmt: Stmt) -> Iterable[Var]:
    """Return the variables defined or bound anywhere in the block."""
    return (*definitions(stmt), *bound(stmt))


@fact
def uses(block: Block) -> frozenset[Var]:
    """Return the variables read anywhere in the block, its results included."""
    found = {v for v in block.results if isinstance(v, Var)}
    for stmt in block.stmts:
        found.update(v for v in operands(stmt) if isinstance(v, Var))
        for region in regions(stmt):
            found |= uses(region)
    return frozenset(found)


@fact
def free_variables(block: Block) -> frozenset[Var]:
    """Return the variables that the block reads and does not define."""
    return uses(block) - defined_in(block)


@fact
def count_uses(block: Block) -> Counter[Var]:
    """Return how often each variable is used, as an operand or as the result of a block."""
    found: Counter[Var] = Counter()
    for one in (block, *(inner for stmt in walk(block) for inner in regions(stmt))):
        found.update(v for v in one.results if isinstance(v, Var))
        for stmt in one.stmts:
            found.update(v for v in operands(stmt) if isinstance(v, Var))
    return found


@fact
def gradients_in(block: Block) -> Mapping[Array, None]:
    """Return the gradients of fields that rules in the block read or add to, in order."""
    found: dict[Array, None] = {}
    for stmt in block.stmts:
        array = array_of(stmt)
        if array is not None and array.gradient_of is not None:
            found[array] = None
        for region in regions(stmt):
            found |= gradients_in(region)
    return found


@fact
def has_effects(block: Block) -> bool:
    """Tell whether running the block changes memory or prints; rules are not run."""
    for stmt in block.stmts:
        if isinstance(stmt, EFFECTS):
            return True
        inner = (stmt.body,) if isinstance(stmt, Ruled) else regions(stmt)
        if any(has_effects(region) for region in inner):
            return True
    return False
