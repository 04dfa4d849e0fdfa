"""Accesses of two iterations of a parallel loop that can touch one element.

The indices of both iterations and of the serial loops around them, quotients, remainders and
loaded values are unknown integers (`forms`). Bounds of loops, conditions of branches and the
equality of the elements are constraints; `integers` decides whether all of them can hold.
"""

from __future__ import annotations

from collections.abc import Mapping

from difftile.passes.accesses import Access, Leaf, Task
from difftile.passes.affine import Affine
from difftile.passes.forms import Question, Side, touch_one_element
from difftile.passes.integers import at_least, solve, zero
from difftile.passes.iterations import Iterations, NotIntegers
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two iterations that may touch one element.

    Args:
        iterations: The loop indices of both; None where it is not known whether they meet.
    """

    iterations: tuple[tuple[int, ...], tuple[int, ...]] | None = None


def meeting(
    task: Task, a: Access, b: Access, known: Mapping[Leaf, int] | None = None
) -> Meeting | None:
    """Return how an element of one access and one of the other may be the same.

    Args:
        task: The parallel loop.
        a: One access.
        b: Another, or the same one.
        known: The values of sizes and numbers that the kernel is given; without them the answer
            is for all values.
    """
    question = Question(task.scope, task.varying, task.written, known)
    sides = (Side(question, 0), Side(question, 1))
    system = question.system
    gaps: list[Affine[int]] = []
    for index, start, stop in zip(
        task.loop.indices, task.loop.starts, task.loop.stops, strict=True
    ):
        first, last = sides[0].form(start), sides[0].form(stop) - 1
        here, there = (question.between(first, last) for _ in sides)
        # The difference is an unknown of its own: most proofs are about differences.
        gap = question.between(first - last, last - first)
        gaps.append(gap)
        system.constraints.append(zero(here + gap - there))
        sides[0].known[index], sides[1].known[index] = here, there
    # Where both accesses are the same, the second iteration may be taken for the later one.
    signs = (1,) if a is b else (1, -1)
    system.choices.append([(at_least(gap * s, 1),) for gap in gaps for s in signs])
    touch_one_element(question, sides, (a, b))
    for parts in question.unique.values():
        if all(side in parts for side in (0, 1)):
            pairs = list(zip(parts[0], parts[1], strict=True))
            system.choices.append([(at_least((p - q) * s, 1),) for p, q in pairs for s in (1, -1)])
    found = solve(system)
    if found is None:
        return None
    if found.values is None or not question.exact:
        return Meeting() if known is None else _tried(task, a, b, known)
    at = tuple(tuple(found.value(side.known[i]) for i in task.loop.indices) for side in sides)
    return Meeting((at[0], at[1]))


def _tried(task: Task, a: Access, b: Access, known: Mapping[Leaf, int]) -> Meeting | None:
    """Return the answer found by going through the iterations, where there are few."""
    loop = task.loop
    bounds = tuple(zip(loop.starts, loop.stops, strict=True))
    iterations = Iterations(loop.indices, bounds, task.scope.origin, known)
    depth = min(len(a.stmt.index), len(b.stmt.index))
    # Two iterations are enough: one of them is another than the one that comes.
    touchers: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    try:
        for at, element in iterations.touched(a.stmt.index, a.loops, a.branches):
            known_here = touchers.setdefault(element[:depth], [])
            if at not in known_here and len(known_here) < 2:
                known_here.append(at)
        for at, element in iterations.touched(b.stmt.index, b.loops, b.branches):
            for other in touchers.get(element[:depth], ()):
                if other != at:
                    return Meeting((other, at))
    except NotIntegers:
        return Meeting()
    return None
