"""How the loops of a launch add to elements that iterations share: which way takes least time.

Atomic additions, a copy of the target for each thread, or one thread for the whole loop
(`privatise`). Atomic additions take long where threads meet at cache lines, copies where the target
is large in proportion to the additions, and one thread where there is more than it can do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import prod
from typing import Literal, get_args

from difftile.diagnostics import FieldError
from difftile.ir.nodes import Array
from difftile.ir.types import MAX_ELEMENTS, nbytes_of, numpy_dtype, scalar_of
from difftile.passes.privatise import ATOMICS, ORDERED_PARTS, Scatter, ScatterPlan
from difftile.passes.rows import STRIPES
from difftile.records import dataclass
from difftile.schedule.costs import DEFAULT, Costs
from difftile.schedule.speed import STEP
from difftile.schedule.work import LoopWork

Strategy = Literal["auto", "atomics", "copies", "serial"]
STRATEGIES: tuple[str, ...] = get_args(Strategy)

_LINE = 64  # bytes of a cache line
_NEAR = 1 << 20  # bytes that a thread has in caches of its own
_SMALL = 1 << 14  # numbers, which one thread adds up before others are awake
_MOST_PARTS = 128
_SHARE_OF_MEMORY = 8  # copies of a launch take at most such a part
_MOST_IN_ROWS = 1 << 28  # bytes that rows of a launch take at most


@dataclass(frozen=True, slots=True)
class ScatterChoice:
    """How the loops of a launch scatter.

    Args:
        plan: The loops that need no atomics.
        serial: The steps that scatters take if one thread runs the whole program, in addition to
            the steps counted for the loops.
        shared: The same for the plan, with all threads.
    """

    plan: ScatterPlan
    serial: float
    shared: float


def check_strategy(scatter: object) -> None:
    """Check the value of an option.

    Raises:
        FieldError: It is not a strategy.
    """
    if scatter not in STRATEGIES:
        *others, last = (f"'{name}'" for name in STRATEGIES)
        raise FieldError(f"scatter is {', '.join(others)} or {last}, not {scatter!r}.")


def parts_of(threads: int) -> int:
    """Return the number of copies for so many threads."""
    return min(threads, _MOST_PARTS)


def choose(
    scatters: tuple[Scatter, ...],
    loops: list[LoopWork],
    shapes: Mapping[Array, tuple[int, ...]],
    *,
    strategy: str,
    threads: int,
    costs: Callable[[], Costs],
) -> ScatterChoice:
    """Return how loops scatter.

    Args:
        scatters: The targets that the loops of a program add to.
        loops: The work of each of them.
        shapes: The shapes of the targets.
        strategy: The strategy for all, or "auto".
        threads: The number of threads.
        costs: Measures.
    """
    if strategy != "auto":
        return ScatterChoice(_forced(scatters, shapes, strategy, threads), 0.0, 0.0)
    in_order = {scatter.loop for scatter in scatters if scatter.ordered}
    if in_order:
        others = tuple(s for s in scatters if s.loop not in in_order)
        choice = choose(others, loops, shapes, strategy=strategy, threads=threads, costs=costs)
        return replace(choice, plan=_with_ordered(choice.plan, scatters, in_order, shapes))
    little = _Cheapest(scatters, loops, shapes, threads, DEFAULT)
    if little.serial_time() < DEFAULT.waking / 4:  # too little to wake threads for, at any cost
        return ScatterChoice(ATOMICS, 0.0, 0.0)
    return _Cheapest(scatters, loops, shapes, threads, costs()).choice()


def _with_ordered(
    plan: ScatterPlan,
    scatters: tuple[Scatter, ...],
    in_order: set[int],
    shapes: Mapping[Array, tuple[int, ...]],
) -> ScatterPlan:
    """Return the plan with copies for the scatters of ordered loops, on any number of threads."""
    here = [s for s in scatters if s.loop in in_order]
    added = copies_of(here, shapes, ORDERED_PARTS)
    return replace(plan, copied=(*plan.copied, *added.copied), small=plan.small | added.small)


def rows_of(
    scatters: tuple[Scatter, ...],
    loops: list[LoopWork],
    shapes: Mapping[Array, tuple[int, ...]],
) -> ScatterPlan:
    """Return the plan of a device: rows for the sums of ordered loops, where they are not too many.

    Args:
        scatters: The targets that the loops of a program add to.
        loops: The work of each of them.
        shapes: The shapes of the targets.
    """
    kept: list[Scatter] = []
    left = float(_MOST_IN_ROWS)
    for scatter in scatters:
        rows = max(STRIPES, prod(loops[scatter.loop].axes))
        nbytes = rows * _nbytes(scatter, shapes)
        fits = 2 * rows * _numbers(scatter, shapes) <= MAX_ELEMENTS
        if scatter.ordered and scatter.op == "add" and fits and nbytes <= left:
            left -= nbytes
            kept.append(scatter)
    return ScatterPlan(rows=tuple(kept))


def _forced(
    scatters: tuple[Scatter, ...],
    shapes: Mapping[Array, tuple[int, ...]],
    strategy: str,
    threads: int,
) -> ScatterPlan:
    if strategy == "serial":
        return ScatterPlan(serial=frozenset(s.loop for s in scatters))
    if strategy == "atomics":
        return ScatterPlan()
    plan = copies_of(scatters, shapes, threads)
    return plan if strategy == "copies" else _one_thread_for_others(plan, scatters)


def _one_thread_for_others(plan: ScatterPlan, scatters: tuple[Scatter, ...]) -> ScatterPlan:
    """Return the plan with one thread for the loops that have no copies of all their targets."""
    serial = frozenset(s.loop for s in scatters if s not in plan.copied)
    copied = tuple(s for s in plan.copied if s.loop not in serial)
    return ScatterPlan(serial, copied, plan.small & frozenset(copied))


def copies_of(
    scatters: Sequence[Scatter], shapes: Mapping[Array, tuple[int, ...]], threads: int
) -> ScatterPlan:
    """Return the plan with copies for all scatters that can have them together.

    Args:
        scatters: The scatters.
        shapes: The shapes of their targets.
        threads: The number of threads.
    """
    return _plan_of([s for s in scatters if _fits(s, shapes, threads)], shapes, threads)


def _plan_of(
    copied: list[Scatter], shapes: Mapping[Array, tuple[int, ...]], threads: int
) -> ScatterPlan:
    parts = parts_of(threads)
    kept: list[Scatter] = []
    left = _memory() / _SHARE_OF_MEMORY
    for scatter in copied:
        left -= parts * _nbytes(scatter, shapes)
        if left > 0:
            kept.append(scatter)
    small = frozenset(s for s in kept if parts * _numbers(s, shapes) <= _SMALL)
    return ScatterPlan(copied=tuple(kept), small=small)


def _fits(scatter: Scatter, shapes: Mapping[Array, tuple[int, ...]], threads: int) -> bool:
    """Tell whether a scatter can have copies."""
    if scatter.op is None:
        return False
    # Kernels index elements by i32, and the bytes between copies are few.
    return 2 * parts_of(threads) * _numbers(scatter, shapes) <= MAX_ELEMENTS


def _nbytes(scatter: Scatter, shapes: Mapping[Array, tuple[int, ...]]) -> int:
    return nbytes_of(scatter.target.type.element, shapes[scatter.target])


def _numbers(scatter: Scatter, shapes: Mapping[Array, tuple[int, ...]]) -> int:
    itemsize = numpy_dtype(scalar_of(scatter.target.type.element)).itemsize
    return _nbytes(scatter, shapes) // itemsize


@cache
def _memory() -> int:
    """Return the bytes of memory of this machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not known here
        return 8 << 30


class _Cheapest:
    """The cheapest way of each loop."""

    def __init__(
        self,
        scatters: tuple[Scatter, ...],
        loops: list[LoopWork],
        shapes: Mapping[Array, tuple[int, ...]],
        threads: int,
        costs: Costs,
    ) -> None:
        self.scatters = scatters
        self.loops = loops
        self.shapes = shapes
        self.threads = threads
        self.costs = costs

    def choice(self) -> ScatterChoice:
        serial: set[int] = set()
        copied: list[Scatter] = []
        all_serial = all_shared = 0.0
        for number in dict.fromkeys(s.loop for s in self.scatters):
            here = [s for s in self.scatters if s.loop == number]
            work = self.loops[number]
            one = sum(self.plain(s) * self.added(s) for s in here)
            ways = [(self.atomics(s), self.copies(s), s) for s in here]
            many = sum(min(by_atomics, by_copies) for by_atomics, by_copies, _ in ways)
            all_serial += one
            whole = work.steps * STEP
            if whole + one < whole / self.threads + many:
                serial.add(number)
                # The other way is in the estimate of the program.
                many = one + whole * (1 - 1 / self.threads)
            else:
                copied += [s for by_atomics, by_copies, s in ways if by_copies < by_atomics]
            all_shared += many
        plan = _plan_of(copied, self.shapes, self.threads)
        return ScatterChoice(
            ScatterPlan(frozenset(serial), plan.copied, plan.small),
            all_serial / STEP,
            all_shared / STEP,
        )

    def serial_time(self) -> float:
        """Return the nanoseconds that the loops take one thread."""
        steps = sum(loop.steps for loop in self.loops) * STEP
        return steps + sum(self.plain(s) * self.added(s) for s in self.scatters)

    def plain(self, scatter: Scatter) -> float:
        """Return the nanoseconds of a plain addition at a random element."""
        near = _nbytes(scatter, self.shapes) <= _NEAR
        return self.costs.plain if near else self.costs.far

    def added(self, scatter: Scatter) -> float:
        return self.loops[scatter.loop].added.get(scatter.target, 0.0)

    def atomics(self, scatter: Scatter) -> float:
        """Return the nanoseconds that atomic additions take, at random elements."""
        lines = max(1.0, _nbytes(scatter, self.shapes) / _LINE)
        meets = min(1.0, (self.threads - 1) / lines)
        missing = self.plain(scatter) - self.costs.plain
        each = (self.costs.atomic + missing) / self.threads + self.costs.contended * meets
        return self.added(scatter) * each

    def copies(self, scatter: Scatter) -> float:
        """Return the nanoseconds that plain additions into copies take, and their sum."""
        if not _fits(scatter, self.shapes, self.threads):
            return float("inf")
        nbytes = parts_of(self.threads) * _nbytes(scatter, self.shapes)
        waking = 0.0
        if parts_of(self.threads) * _numbers(scatter, self.shapes) > _SMALL:
            waking = self.costs.waking
        plain = self.added(scatter) * self.plain(scatter) / self.threads
        return plain + nbytes * self.costs.copying + waking
