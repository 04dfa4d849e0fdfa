"""Accesses of different iterations of a parallel loop that may touch one element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from difftile.ir.nodes import Accumulate, Block, Combine, Load, ParallelFor
from difftile.passes.accesses import Access, Task, scope_of
from difftile.passes.affine import definitions_of, disjoint, owns, place_of, ranges_of, unique_in
from difftile.passes.meetings import meeting


class Crossings:
    """Finds such accesses.

    Args:
        loop: The loop.
        body: The top level of the program, the loop included.
    """

    def __init__(self, loop: ParallelFor, body: Block) -> None:
        self._task = Task(loop, scope_of(body))
        self._defs = definitions_of(body)
        self._ranges, self._unique = ranges_of(loop.body), unique_in(loop.body)

    def owned(self, accesses: Iterable[Access]) -> bool:
        """Tell whether the forms of the indices show that no two iterations meet."""
        places = [place_of(access.stmt, self._defs) for access in accesses]
        indices, varying = self._task.loop.indices, self._task.varying
        return owns(places, indices, varying, self._ranges, self._unique)

    def among(self, pairs: Iterable[tuple[Access, Access]]) -> Iterator[tuple[Access, Access]]:
        """Yield the pairs with a write that different iterations may get to at one element."""
        for one, other in pairs:
            if isinstance(one.stmt, Load) and isinstance(other.stmt, Load):
                continue
            at, to = (place_of(access.stmt, self._defs) for access in (one, other))
            if disjoint(at, to, self._task.varying):
                continue
            if meeting(self._task, one, other) is not None:
                yield one, other


def commute(one: Access, other: Access) -> bool:
    """Tell whether two accesses of one element may come in either order."""
    match one.stmt, other.stmt:
        case Load(), Load():
            return True
        case Accumulate(), Accumulate():
            return True
        case Combine(out=None, op=op), Combine(out=None, op=of):
            return op == of
        case _:
            return False
