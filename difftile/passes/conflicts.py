"""Accesses of one field that do not go together: races of iterations, reads after writes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations_with_replacement

from difftile.diagnostics import Label, Race
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Combine,
    Const,
    Load,
    Memory,
    ParallelFor,
    Program,
    Store,
    Var,
)
from difftile.ir.types import is_float
from difftile.ir.walk import WRITES, walk
from difftile.passes.accesses import Access, Leaf, Task, accesses_of, leaves_of, scope_of
from difftile.passes.affine import definitions_of, disjoint, owns, place_of, ranges_of, unique_in
from difftile.passes.meetings import Meeting, meeting
from difftile.records import dataclass

_ACT = {
    Load: "read here",
    Store: "stored here",
    Accumulate: "added to here",
    Combine: "changed here",
}
_IN_ORDER = "run the loop in order: 'ti.loop_config(serialize=True)' before it."


@dataclass(frozen=True, slots=True)
class PossibleConflict:
    """Two accesses that may meet in one element for some sizes and numbers, one of them a write.

    Args:
        task: The parallel loop whose iterations they belong to.
        write: The write.
        other: The other access, or the same one in another iteration.
        found: Whether the loop reads the field as well.
        remedy: The end of the hint.
    """

    task: Task
    write: Access
    other: Access
    found: bool = True
    remedy: str = _IN_ORDER

    @property
    def leaves(self) -> list[Leaf]:
        """The numbers given to the kernel that decide."""
        return leaves_of(self.task, (self.write, self.other))

    @property
    def of_constants(self) -> bool:
        """Whether both are stores of constants."""
        stmts = (self.write.stmt, self.other.stmt)
        return all(isinstance(s, Store) and isinstance(s.value, Const) for s in stmts)

    def meeting(self, known: Mapping[Leaf, int] | None = None) -> Meeting | None:
        """Return how the accesses may meet, as `meetings.meeting`."""
        return meeting(self.task, self.write, self.other, known)

    def matters(self, active: Collection[Var], wanted: Collection[Array]) -> bool:
        """Tell whether derivatives pass through two stores, or through values read after them.

        Args:
            active: The values that vary with the fields that have derivatives.
            wanted: The fields that have derivatives.
        """
        stores = (self.write.stmt, self.other.stmt)
        if self.write.stmt.array in wanted and any(
            isinstance(one, Store) and one.value in active for one in stores
        ):
            return True
        return self.found and any(
            isinstance(one, WRITES) and one.array in wanted and one.value in active
            for one in walk(self.task.loop.body)
        )

    def race(self, meeting: Meeting) -> Race:
        """Return the error."""
        write, other = self.write.stmt, self.other.stmt
        if isinstance(write, Store) and isinstance(other, Store):
            return self._race_of_stores(write, other, meeting)
        assert other.span is not None
        hint = f"write to a second field, or {self.remedy}"
        if isinstance(write, Store) and isinstance(other, Load) and write.index == other.index:
            hint = f"add with '+=', whose order does not matter; else {hint}"
        label = Label(other.span, f"{_ACT[type(other)]}, maybe by another iteration")
        return Race(write.span, write.array.name, _ACT[type(write)], label, hint)

    def _race_of_stores(self, write: Store, other: Store, meeting: Meeting) -> Race:
        """Return the error for a gradient that one of two stores would have to get."""
        name = write.array.name
        if meeting.iterations is None:
            promise = (
                f"if no two iterations get the same index, promise it: '{name}[dt.unique(...)]'"
            )
            hint = f"{promise}; to add, write '+='; or {self.remedy}"
            first, second = "stored here", "maybe to the same element by another iteration"
        else:
            hint = f"add with '+=', whose order does not matter; or {self.remedy}"
            one, another = map(self._iteration, meeting.iterations)
            first, second = f"stored here by {one}", f"to the same element by {another}"
        if write is other:
            return Race(write.span, name, f"{first}, and {second}", None, hint)
        assert other.span is not None
        return Race(write.span, name, first, Label(other.span, f"stored {second}"), hint)

    def _iteration(self, at: tuple[int, ...]) -> str:
        names = [v.name for v in self.task.loop.indices]
        return ", ".join(f"{name} = {k}" for name, k in zip(names, at, strict=True))


def races(program: Program) -> list[PossibleConflict]:
    """Return the accesses of different kinds whose outcome may depend on the order of iterations.

    A load and a store at one index are not among them: the value that is found belongs to the
    element. Where a derivative passes, the stores must not meet (`clashes`).
    """
    defs = definitions_of(program.body)
    found: list[PossibleConflict] = []
    for task, accesses in _contested(program):
        for k, write in enumerate(accesses):
            for other in accesses[k + 1 :]:
                first, second = (other, write) if isinstance(write.stmt, Load) else (write, other)
                if _kind(first.stmt) == _kind(second.stmt):
                    continue
                at, to = place_of(first.stmt, defs), place_of(second.stmt, defs)
                varies = any(v in task.varying for form in at for v in form.factors)
                kinds = {type(first.stmt), type(second.stmt)}
                if kinds == {Load, Store} and varies and at == to:
                    continue  # the value that is found belongs to the element
                doubt = PossibleConflict(task, first, second)
                if not disjoint(at, to, task.varying) and doubt.meeting() is not None:
                    found.append(doubt)
    return found


def clashes(program: Program) -> list[PossibleConflict]:
    """Return the stores of different iterations that may meet in one element.

    The last one of them wins, and which one that is depends on timing: no gradient can pass. Local
    arrays and fields of integers have none.
    """
    found: list[PossibleConflict] = []
    for task, accesses in _contested(program):
        stores = [access for access in accesses if isinstance(access.stmt, Store)]
        read = len(stores) < len(accesses)
        for write, other in combinations_with_replacement(stores, 2):
            if is_float(write.stmt.array.type.element):
                doubt = PossibleConflict(task, write, other, read)
                if doubt.meeting() is not None:
                    found.append(doubt)
    return found


def _contested(program: Program) -> list[tuple[Task, Sequence[Access]]]:
    """Return the accesses of each field that some iteration writes and does not own."""
    defs = definitions_of(program.body)
    scope = scope_of(program.body)
    found: list[tuple[Task, Sequence[Access]]] = []
    for loop in program.body.stmts:
        if isinstance(loop, ParallelFor):
            task = Task(loop, scope)
            ranges, unique = ranges_of(loop.body), unique_in(loop.body)
            for accesses in accesses_of(loop.body).values():
                kinds = {_kind(access.stmt) for access in accesses}
                forms = [place_of(access.stmt, defs) for access in accesses]
                if kinds == {Load} or (len(kinds) == 1 and kinds != {Store}):
                    continue
                if not owns(forms, loop.indices, task.varying, ranges, unique):
                    found.append((task, accesses))
    return found


def _kind(stmt: Memory) -> type[Memory] | str:
    """Return the kind of an access; writes of one kind may meet in one element."""
    match stmt:
        case Accumulate():
            return "add"
        case Combine(op=op):
            return op
        case _:
            return type(stmt)
