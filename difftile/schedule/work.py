"""How much a launch has to do, estimated from shapes and numbers: do threads pay?

Iterations are counted in 32 bits, which the same estimate checks.

Loops of vector instructions take a fraction of the time (`steps`), and waking threads has a
cost of its own. One thread needs no atomics. An atomic addition of floats is a loop of compare and
exchange, which takes 4 to 5 ns where an elementary step takes 0.1 to 0.2 ns: two threads that
scatter take longer than one. In all, launches that scatter were measured to take three to five
times as much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf, prod
from typing import Any

import numpy as np

from difftile.diagnostics import IntegerTooLarge, KernelError
from difftile.ir.nodes import (
    Array,
    Const,
    For,
    Let,
    ParallelFor,
    Program,
    Size,
    Value,
    Var,
)
from difftile.ir.types import BOOL, FLOATS, I32, Scalar, integer_limits, scalar_of
from difftile.ir.walk import walk
from difftile.ops.table import OPS
from difftile.records import dataclass
from difftile.schedule.outline import Branches, Loop, Outline, always_run, outline
from difftile.schedule.speed import SCALAR, STEP, Speed, in_vectors

WAKING = 60_000.0  # ns, by default: a parallel loop wakes threads and waits for them
_RANGE = 16  # times as much or as little on other machines
_ATOMIC = 45  # steps, of one component
_MOST_BY_ATOMICS = 4  # times as long
LAST = 2**31 - 1
MOST_ITERATIONS = 2**31 - 2**12  # sizes are rounded up to blocks and threads
_COUNTING = frozenset(
    ("add", "sub", "mul", "neg", "max", "min", "floordiv", "mod", "cast", "gt", "select")
)
_FOLDING = frozenset(("floordiv", "mod", "cast"))  # what has wrapped around before means nothing
_EXACT = 2**53  # integers up to this one are floats as well
_LOOPS = For, ParallelFor
_PARTS = (
    "loop over the first {}, and over the others in a loop inside it; or launch the kernel for a "
    "part at a time."
)
_UNKNOWN_TRIPS = 16
_UNKNOWN_EXTENT = 1 << 20


@dataclass(frozen=True, slots=True)
class Work:
    """The estimate for one program.

    Args:
        program: The program.
        positions: Which arguments the estimate depends on.
        exact: Values of 32 bits that bounds of loops are sums and products of.
        outline: What it depends on, of the body.
        counts: The parallel loops that always run, and values that may not wrap around: bounds, and
            what passes compute for loops.
        latest: The estimates for the latest key, which several questions are about.
    """

    program: Program
    positions: tuple[int, ...]
    exact: frozenset[Var]
    outline: Outline
    counts: tuple[Let | ParallelFor, ...]
    latest: list[tuple[Any, dict[tuple[int, bool], _Estimate]]]

    def key(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """Return the shapes of fields and the integers that the estimate depends on."""
        return tuple([getattr(args[k], "shape", args[k]) for k in self.positions])

    def amount(self, key: tuple[Any, ...]) -> float:
        """Return the number of elementary steps of a launch: of its statements, all alike."""
        return self._estimate(key, alike=True).total

    def check(self, key: tuple[Any, ...], *, flat: bool, from_zero: bool = False) -> None:
        """Check that the iterations of a launch can be counted, as far as they are known.

        Args:
            key: The inputs of the estimate.
            flat: A loop over several axes is one over all of them (GPUs); else each axis is a
                loop of its own.
            from_zero: All loops are from zero, whatever integers their lengths follow from.

        Raises:
            KernelError: There are too many.
        """
        estimate = self._estimate(key)
        for stmt, count in estimate.counts(flat=flat):
            most = LAST if from_zero and isinstance(stmt, Let) else MOST_ITERATIONS
            if -LAST - 1 <= count <= most:
                continue
            if isinstance(stmt, Let) and (wrapped := self._wrapped(estimate)) is not None:
                let, number = wrapped
                hint = _PARTS.format("factor" if let.op == "mul" else "index")
                what = "this part of a range's bound"
                raise IntegerTooLarge(let.span, what, int(number), refused=True, hint=hint)
            what, label = "This loop has {} iterations in one launch.", "more than 2**31 - 4096"
            if isinstance(stmt, Let) and not -LAST - 1 <= count <= LAST:
                what = "This loop needs the number {} to count its iterations in one launch."
                label = "beyond 32 bits"
            raise KernelError(
                what.format(f"{count:.0f}"), stmt.span, label, hint=_PARTS.format("index")
            )

    def _wrapped(self, estimate: _Estimate) -> tuple[Let, float] | None:
        """Return the first integer of the kernel that bounds follow from and that wraps around."""
        spans = {stmt.span for stmt in walk(self.program.body) if isinstance(stmt, _LOOPS)}
        for stmt in walk(self.program.body):
            if isinstance(stmt, Let) and stmt.out in self.exact and stmt.span not in spans:
                number = estimate.values.get(stmt.out, 0.0)
                if not -LAST - 1 <= number <= LAST:
                    return stmt, number
        return None

    def _estimate(self, key: tuple[Any, ...], atomic: int = 1, *, alike: bool = False) -> _Estimate:
        """Return the estimate for a key; `alike` takes each statement for one step."""
        latest, known = self.latest[0]
        if latest != key:
            known = {}
            self.latest[0] = key, known
        found = known.get((atomic, alike))
        if found is None:
            found = known[atomic, alike] = _Estimate(self, key, atomic, alike=alike)
        return found

    def highest(self, key: tuple[Any, ...]) -> float:
        """Return where the last of the parallel loops ends; infinite if that is unknown."""
        return self._estimate(key).highest

    def loops(self, key: tuple[Any, ...]) -> list[LoopWork]:
        """Return the work of each parallel loop."""
        return self._estimate(key).loops

    def is_for_one(
        self,
        key: tuple[Any, ...],
        threads: int,
        scattering: tuple[float, float] | None = None,
        waking: Callable[[], float] = lambda: WAKING,
    ) -> bool:
        """Tell whether one thread is done before so many threads are.

        Args:
            key: The inputs of the estimate.
            threads: The number of threads.
            scattering: The steps that additions to shared elements take in all, beyond one each, on
                one thread and on so many; by default the steps of atomic additions.
            waking: Measures the nanoseconds that a parallel loop takes to wake threads and wait;
                called where the answer depends on them.
        """
        serial = self._estimate(key).total
        if scattering is not None:
            shared = serial / threads + scattering[1]
            serial += scattering[0]
        else:
            atomics = self._estimate(key, _ATOMIC).total
            shared = min(atomics, _MOST_BY_ATOMICS * serial) / threads
        loops = sum(isinstance(stmt, ParallelFor) for stmt in self.program.body.stmts)
        gain = (serial - shared) * STEP
        if not WAKING / _RANGE < gain / max(loops, 1) < WAKING * _RANGE:
            return gain <= loops * WAKING
        return gain <= loops * waking()


@dataclass(frozen=True, slots=True)
class LoopWork:
    """The work of one parallel loop.

    Args:
        steps: The elementary steps, where an atomic addition counts as one.
        added: How many numbers are added to elements that iterations share, by array.
        axes: The number of iterations along each axis; very many where that is unknown.
        trips: The serial loops in an iteration, each with its trip count, which is infinite where
            that is unknown.
    """

    steps: float
    added: dict[Array, float]
    axes: tuple[float, ...]
    trips: tuple[tuple[For, float], ...]

    def trip_count(self, loop: For) -> float:
        """Return the trip count of a serial loop."""
        return next(trips for one, trips in self.trips if one is loop)


def work_of(program: Program, speed: Speed = SCALAR, targets: Iterable[Array | Var] = ()) -> Work:
    """Return the estimate of a program, which depends on the bounds of its loops.

    Args:
        program: The program.
        speed: How fast its loops are.
        targets: Arrays whose shapes, and numbers whose values, matter as well.
    """
    stmts = list(walk(program.body))
    lets = {s.out: s for s in stmts if isinstance(s, Let)}
    sizes = {s.out: s.array for s in stmts if isinstance(s, Size)}
    loops = [s for s in stmts if isinstance(s, (For, ParallelFor))]
    ends = {value for loop in loops for value in _ends(loop)}
    spans = {loop.span for loop in loops}  # also of what passes compute for them
    bounds: set[Array | Var] = set(targets)
    exact: dict[Var, bool] = {}  # of the values that bounds follow from
    counted: set[Var] = set()
    needed: set[Var] = set()  # what the estimate looks at
    pending = [(value, True) for value in ends]
    while pending:
        value, fits = pending.pop()
        if isinstance(value, Var):
            needed.add(value)
        let = lets.get(value) if isinstance(value, Var) else None
        if let is None:
            if isinstance(value, Var):
                bounds.add(sizes.get(value, value))
            continue
        if let.out.type == I32 and (value in ends or let.span in spans):
            counted.add(let.out)
        fits = let.out.type == I32 and (fits or let.out in counted)
        if let.out not in exact or fits > exact[let.out]:
            exact[let.out] = fits
            # The results of other ops are unknown before the launch.
            args = let.args if let.op in _COUNTING else ()
            pending += [(arg, fits and let.op not in _FOLDING) for arg in args]
    params = (*program.params, *program.temps)
    positions = tuple(k for k, p in enumerate(params) if p in bounds)
    sums = frozenset(out for out, fits in exact.items() if fits)
    body = program.body
    latest: list[Any] = [(None, {})]
    known = outline(body, needed, speed), always_run(body, counted)
    return Work(program, positions, sums, *known, latest)


def _ends(loop: For | ParallelFor) -> tuple[Value, ...]:
    """Return the bounds of a loop."""
    if isinstance(loop, For):
        return loop.start, loop.stop
    return *loop.starts, *loop.stops


def _as_stored(number: float, scalar: Scalar) -> float | None:
    """Return a number as an integer type holds it; None where its last bits are not known."""
    low, high = integer_limits(scalar)
    if not abs(number) <= _EXACT:
        return None
    return float((int(number) - low) % (high - low + 1) + low)


class _Estimate:
    def __init__(self, work: Work, key: tuple[Any, ...], atomic: int, *, alike: bool) -> None:
        params = (*work.program.params, *work.program.temps)
        self.work = work
        self.known = {params[k]: given for k, given in zip(work.positions, key, strict=True)}
        self.atomic = atomic
        self.alike = alike
        self.in_vectors = False
        self.values: dict[Var, float] = {
            p: float(v)
            for p, v in self.known.items()
            if isinstance(p, Var) and not (isinstance(v, int) and abs(v) > _EXACT)
        }
        self.loops: list[LoopWork] = []
        self.added: dict[Array, float] = {}
        self.trip_counts: list[tuple[For, float]] = []
        self.times = 1.0  # that the present block runs in all
        self.highest = 0.0  # end of a parallel loop
        self.total = self.block(work.outline)

    def counts(self, *, flat: bool) -> Iterator[tuple[Let | ParallelFor, float]]:
        """Yield the integers that are computed for bounds, and the lengths of parallel loops."""
        for stmt in self.work.counts:
            if isinstance(stmt, Let):
                yield stmt, self.values.get(stmt.out, 0.0)
            else:
                axes = zip(stmt.starts, stmt.stops, strict=True)
                lengths = [self.trips(start, stop, 1.0) for start, stop in axes]
                yield stmt, prod(lengths) if flat else max(lengths)
                if flat:  # threads go on by large steps, which may pass the limit
                    yield from ((stmt, self.value(stop) or 0.0) for stop in stmt.stops)

    def value(self, value: Value) -> float | None:
        return float(value.value) if isinstance(value, Const) else self.values.get(value)

    def trips(self, start: Value, stop: Value, unknown: float) -> float:
        low, high = self.value(start), self.value(stop)
        return unknown if low is None or high is None else max(0.0, high - low)

    def axis(self, index: Var, start: Value, stop: Value, unknown: float) -> float:
        """Return the length of an axis, and let an iteration in the middle stand for all.

        Bounds of inner loops may follow from the index, as in a block's part of a sum.
        """
        trips = self.trips(start, stop, unknown)
        first = self.value(start)
        if first is not None and trips and self.value(stop) is not None:
            self.values[index] = first + (trips - 1) // 2
        return trips

    def block(self, block: Outline) -> float:
        total = block.in_vectors if self.in_vectors else block.steps
        if self.alike:
            total = block.alike
        for array, components in block.added:
            self.added[array] = self.added.get(array, 0.0) + self.times * components
            total += self.atomic * components
        for part in block.parts:
            match part:
                case Size(out, array, axis):
                    if array in self.known:
                        self.values[out] = float(self.known[array][axis])
                case Let(out, op, args):
                    self.let(out, op, args)
                case Loop(For() as stmt):
                    total += self.serial(part, stmt)
                case Loop(ParallelFor() as stmt):
                    total += self.parallel(part, stmt)
                case Branches(blocks, all_run):
                    found = [self.block(one) for one in blocks]
                    total += sum(found) if all_run else max(found)
        return total

    def serial(self, loop: Loop, stmt: For) -> float:
        self.trip_counts.append((stmt, self.trips(stmt.start, stmt.stop, inf)))
        trips = self.axis(stmt.index, stmt.start, stmt.stop, _UNKNOWN_TRIPS)
        return trips * self.iteration(loop, trips)

    def parallel(self, loop: Loop, stmt: ParallelFor) -> float:
        axes = tuple(
            self.axis(index, start, stop, _UNKNOWN_EXTENT)
            for index, start, stop in zip(stmt.indices, stmt.starts, stmt.stops, strict=True)
        )
        extent, self.added, self.trip_counts = prod(axes), {}, []
        ends = [inf if (end := self.value(stop)) is None else end for stop in stmt.stops]
        self.highest = max(self.highest, *ends)
        steps = extent * self.iteration(loop, extent)
        self.loops.append(LoopWork(steps, self.added, axes, tuple(self.trip_counts)))
        return steps

    def iteration(self, loop: Loop, trips: float) -> float:
        """Return the steps of an iteration of a loop, which has so many."""
        before, self.times = self.times, self.times * trips
        steps = self.steps_of(loop)
        self.times = before
        return steps

    def steps_of(self, loop: Loop) -> float:
        if self.in_vectors or self.alike or not loop.vectors:
            return 1 + self.block(loop.body)
        self.in_vectors = True
        steps = in_vectors(1 + self.block(loop.body))
        self.in_vectors = False
        return steps

    def let(self, out: Var, op: str, args: tuple[Value, ...]) -> None:
        known = [v for v in (self.value(arg) for arg in args) if v is not None]
        if len(known) == len(args) and op in _COUNTING:
            with np.errstate(all="ignore"):
                found = float(OPS[op].numpy(*known))
            scalar = scalar_of(out.type)
            if scalar not in (BOOL, *FLOATS) and (op == "cast" or out not in self.work.exact):
                found = _as_stored(found, scalar)
            if found is not None:
                self.values[out] = found
        elif op == "min" and known:
            self.values[out] = known[0]  # at most that
