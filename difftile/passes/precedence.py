"""Loads and writes of one thread that touch the same element, in the order in which they run.

A load finds the contents from before the stage if no write comes before it, and those from after it
if no write comes after it. Of two accesses, one may come first in an earlier iteration of a loop
around both, or in the same iteration of all of them, by the order of the text; each is a question
about integers (`forms`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import cached_property

from difftile.ir.facts import arrays_written, defined_in, fact
from difftile.ir.nodes import Alloc, Array, Block, For, Load, Memory, ParallelFor, Stmt, Var
from difftile.ir.walk import regions
from difftile.passes.accesses import Access, Scope, accesses_of, scope_of
from difftile.passes.affine import Affine, definitions_of, differ, disjoint, place_of
from difftile.passes.forms import Question, Side, touch_one_element
from difftile.passes.integers import solve, zero


@fact
def stale_loads(body: Block) -> Mapping[Var, tuple[Load, Memory]]:
    """Return the loads that may follow a write of the same task, each with one such write.

    Their values cannot be read again from the fields as they were before the stage.
    """
    loads = StaleLoads(body)
    return {v: found for v in loads.candidates if (found := loads.find(v)) is not None}


class StaleLoads:
    """The loads of `stale_loads`, each of which is looked at when somebody asks for it.

    Passes that run a few statements again ask only for the loads among them.
    """

    def __init__(self, body: Block) -> None:
        self._body = body
        self._known: dict[Var, tuple[Load, Memory] | None] = {}

    @cached_property
    def candidates(self) -> dict[Var, tuple[_Task, Access, list[Access]]]:
        """The loads of fields that their tasks write, with the writes."""
        return {
            load.stmt.out: (task, load, writes)
            for task in _tasks(self._body)
            for load, writes in task.loads()
            if isinstance(load.stmt, Load)
        }

    def __contains__(self, load: Var) -> bool:
        """Tell whether a load may follow a write."""
        return self.find(load) is not None

    def find(self, load: Var) -> tuple[Load, Memory] | None:
        """Return a load with a write that it may follow, or None."""
        if load not in self._known:
            self._known[load] = self._found(load)
        return self._known[load]

    def _found(self, load: Var) -> tuple[Load, Memory] | None:
        if load not in self.candidates:
            return None
        task, access, writes = self.candidates[load]
        for write in writes:
            if task.may_precede(write, access):
                assert isinstance(access.stmt, Load)
                return access.stmt, write.stmt
        return None


class StaleLocals:
    """The loads of arrays of the thread that a write of their element may follow.

    Where a statement runs again after an array is complete, only the other loads find the same
    value. A loop in which an array is declared makes a new one in each iteration.
    """

    def __init__(self, body: Block) -> None:
        self._body = body
        self._known: dict[Var, tuple[Load, Memory] | None] = {}

    @cached_property
    def _candidates(self) -> dict[Var, tuple[_Task, Access, list[Access]]]:
        found: dict[Var, tuple[_Task, Access, list[Access]]] = {}
        defs, scope = definitions_of(self._body), scope_of(self._body)

        def look(block: Block, parallel: ParallelFor | None) -> None:
            declared = {s.array for s in block.stmts if isinstance(s, Alloc)}
            if declared:
                task = _Task(block, parallel, defs, scope)
                for array, accesses in accesses_of(block, own=True).items():
                    writes = [a for a in accesses if not isinstance(a.stmt, Load)]
                    for access in accesses if array in declared and writes else ():
                        if isinstance(access.stmt, Load):
                            found[access.stmt.out] = task, access, writes
            for stmt in block.stmts:
                for region in regions(stmt):
                    look(region, stmt if isinstance(stmt, ParallelFor) else parallel)

        look(self._body, None)
        return found

    def __getitem__(self, load: Var) -> tuple[Load, Memory]:
        """Return a load with a write that may follow it."""
        found = self.find(load)
        assert found is not None
        return found

    def find(self, load: Var) -> tuple[Load, Memory] | None:
        """Return a load with a write that may follow it, or None."""
        if load not in self._known:
            self._known[load] = self._found(load)
        return self._known[load]

    def _found(self, load: Var) -> tuple[Load, Memory] | None:
        if load not in self._candidates:
            return None
        task, access, writes = self._candidates[load]
        assert isinstance(access.stmt, Load)
        for write in writes:
            if task.may_precede(access, write):
                return access.stmt, write.stmt
        return None


@fact
def final_loads(body: Block) -> frozenset[Var]:
    """Return the loads that no write to their element follows, of arrays that their task writes.

    They find the contents of the field after the stage.
    """
    found: set[Var] = set()
    written: set[Array] = set()  # by later tasks
    for task in reversed(_tasks(body)):
        for load, writes in task.loads():
            assert isinstance(load.stmt, Load)
            if load.stmt.array not in written and not any(
                task.may_precede(load, write) for write in writes
            ):
                found.add(load.stmt.out)
        written |= arrays_written(task.block)
    return frozenset(found)


@fact
def _tasks(body: Block) -> Sequence[_Task]:
    defs, scope = definitions_of(body), scope_of(body)
    return [
        _Task(stmt.body, stmt, defs, scope)
        if isinstance(stmt, ParallelFor)
        else _Task(Block((stmt,)), None, defs, scope)
        for stmt in body.stmts
    ]


class _Task:
    """What one thread runs, and the parallel loop of which that is a part."""

    def __init__(
        self, block: Block, parallel: ParallelFor | None, defs: Mapping[Var, Stmt], scope: Scope
    ) -> None:
        self.parallel = parallel
        self.block = block
        self.defs = defs
        self.scope = scope

    def loads(self) -> list[tuple[Access, list[Access]]]:
        """Return the loads of fields that the task writes, each with the writes to its field."""
        if not arrays_written(self.block):
            return []
        found: list[tuple[Access, list[Access]]] = []
        for accesses in accesses_of(self.block).values():
            writes = [a for a in accesses if not isinstance(a.stmt, Load)]
            if writes:
                found += [(a, writes) for a in accesses if isinstance(a.stmt, Load)]
        return found

    def may_precede(self, first: Access, second: Access) -> bool:
        """Tell whether an access may touch an element before another one does, in one thread."""
        at, to = (place_of(access.stmt, self.defs) for access in (first, second))
        common = [loop for loop in first.loops if any(loop is other for other in second.loops)]
        for loop in common:
            varying = {*defined_in(loop.body), *loop.carries}
            if isinstance(loop, For):
                varying.add(loop.index)
            if not disjoint(at, to, varying) and self._may_meet(first, second, loop, varying):
                return True
        if first.order > second.order or differ(at, to):
            return False
        own = [loop for a in (first, second) for loop in a.loops[len(common) :]]
        varying = {v for loop in own for v in (*defined_in(loop.body), *loop.carries)}
        varying |= {loop.index for loop in own if isinstance(loop, For)}
        return self._may_meet(first, second, None, varying)

    def _may_meet(
        self, first: Access, second: Access, loop: Stmt | None, varying: Set[Var]
    ) -> bool:
        """Tell whether the accesses may touch one element.

        Args:
            first: An access.
            second: Another.
            loop: A loop around both, of which the second is in a later iteration; None if they are
                in the same iteration of all loops around both.
            varying: The values that may differ between them.
        """
        question = Question(self.scope, varying, arrays_written(self.block))
        sides = (Side(question, 0), Side(question, 1))
        system = question.system
        if self.parallel is not None:
            ends = zip(
                self.parallel.indices, self.parallel.starts, self.parallel.stops, strict=True
            )
            for index, start, stop in ends:
                here = question.between(sides[0].form(start), sides[0].form(stop) - 1)
                question.shared[index] = here
        if isinstance(loop, For):
            start, last = sides[0].form(loop.start), sides[0].form(loop.stop) - 1
            here, there = (question.between(start, last) for _ in sides)
            # The difference is an unknown of its own: most proofs are about differences.
            gap = question.between(Affine({}, 1), last - start)
            system.constraints.append(zero(here + gap - there))
            sides[0].known[loop.index], sides[1].known[loop.index] = here, there
        touch_one_element(question, sides, (first, second))
        return solve(system) is not None
