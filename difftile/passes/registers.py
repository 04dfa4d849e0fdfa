"""Elements that a serial loop works with stay in values: loaded before it, stored after it.

(Register promotion: Muchnick, Advanced Compiler Design and Implementation, section 16.2.)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

from difftile.ir.facts import arrays_written, defined_in
from difftile.ir.nodes import Array, Block, Derivative, For, Load, Ruled, Stmt, Store
from difftile.ir.walk import WRITES, array_of, walk, with_operands
from difftile.ops.build import zero
from difftile.passes.affine import Place, affine, definitions_of, differ
from difftile.passes.bounds import Ranges
from difftile.passes.elements import Element, Elements, element_of


def in_registers(
    loop: For, owned: set[Array], around: Block, ranges: Ranges
) -> tuple[list[Stmt], For, list[Stmt]]:
    """Return loads, a loop that runs at least once with such elements in values, and stores.

    Args:
        loop: The loop.
        owned: Arrays in which no other thread touches the elements that the loop touches.
        around: The block of the program that has the loop in it.
        ranges: The indices that are known to be inside.
    """
    promoted = _Promoted()
    b = promoted.b
    b.span = loop.span
    direct = {element_of(s) for s in loop.body.stmts if isinstance(s, (Load, *WRITES))}
    doubts: dict[Element, list[int]] = {}
    with b.region() as loads:
        for element in _fixed(loop, owned, around):
            doubts[element] = [] if element in direct else ranges.doubtful(*element)
            if _stored_first(loop.body, element):
                promoted.known[element] = zero(element[0].type.element)
            else:
                promoted.known[element] = promoted.loaded(element, doubts[element])
    with b.region() as changed:
        promoted.stmt(loop)
    (loop,) = (stmt for stmt in changed if isinstance(stmt, For))
    with b.region() as stores:
        for element, value in promoted.known.items():
            doubtful = doubts[element]
            inside = promoted.inside(element, doubtful) if doubtful else None
            with nullcontext() if inside is None else b.branch(inside):
                b.store(*element, value)
    return loads, loop, stores


class _Promoted(Elements):
    """Follows elements from before a loop until after it."""

    keeps_writes = False

    def block(self, block: Block) -> Block:
        """Return a block without accesses of the elements."""
        with self.b.region() as stmts:
            for stmt in block.stmts:
                self.stmt(with_operands(stmt, self.env))
            results = self.env.all(block.results)
        return Block(tuple(stmts), results)


def _fixed(loop: For, owned: set[Array], around: Block) -> list[Element]:
    """Return the elements to promote: accesses to an array with the same indices in every step.

    Two indices of one array are known to differ, or all of the array stays in memory.
    """
    under_rules = {
        array_of(s)
        for stmt in walk(loop.body)
        if isinstance(stmt, (Ruled, Derivative))
        for s in walk(Block((stmt,)))
    }
    inner = defined_in(Block((loop,)))
    found: dict[Array, list[Element]] = {}
    for element in dict.fromkeys(_elements_in(loop.body)):
        if element[0] in owned:
            found.setdefault(element[0], []).append(element)
    written = arrays_written(loop.body)
    defs = definitions_of(around)

    def place(element: Element) -> Place:
        return tuple(affine(i, defs) for i in element[1])

    return [
        element
        for array, elements in found.items()
        if array in written and array not in under_rules and array.size is None
        if all(inner.isdisjoint(index) for _, index in elements)
        if all(
            differ(place(one), place(other))
            for k, one in enumerate(elements)
            for other in elements[k + 1 :]
        )
        for element in elements
    ]


def _stored_first(body: Block, element: Element) -> bool:
    """Tell whether each step begins by storing the whole element."""
    for stmt in body.stmts:
        if isinstance(stmt, Store) and element_of(stmt) == element:
            return len(stmt.index) == element[0].type.ndim
        if element in _elements_in(Block((stmt,))):
            return False
    return False


def _elements_in(block: Block) -> Iterator[Element]:
    return (element_of(s) for s in walk(block) if isinstance(s, (Load, *WRITES)))
