"""A program of one period, compiled for many: in the form that suits the work and the device."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, Protocol, TypeAlias

from difftile.compile.compiled import compiled
from difftile.compiling import deriving
from difftile.fusion.period import PeriodProgram, Slab, Slot, Unwritten
from difftile.ir.nodes import ParallelFor, Program, Size, Value, Var
from difftile.ir.types import I32
from difftile.ir.walk import size_of
from difftile.passes.align_loops import align_loops
from difftile.passes.dead_stores import dead_stores
from difftile.passes.merge_loops import merge_loops
from difftile.passes.optimise import join, simplify
from difftile.passes.privatise import scatters_of
from difftile.passes.sink_values import sink_values
from difftile.passes.time_loop import interchanged, serial, strips
from difftile.passes.unroll_periods import unroll_periods
from difftile.schedule.speed import speed_of
from difftile.schedule.work import Work, work_of
from difftile.substrate import CompiledProgram, KeptResults, current_session

_MOST_TASKS = 48  # parallel loops of one kernel on a GPU
_MOST_STATEMENTS = 1_200  # of one kernel: compiling takes a few seconds
_STEPS_OF_A_LAUNCH = 2_000_000  # of one thread; a launch takes a hundredth of that
_WORTH_THREADS = 4_000_000  # steps of a run
_WIDEST = 1024  # elements that stay in the nearest cache
_MOST_PERIODS = 8  # of one kernel on the CPU

Arguments = Callable[[Slot], Any]
"""Returns the argument for a slot."""

_Extent: TypeAlias = tuple[Slot, int]  # of an axis of an argument


class Make(Protocol):
    """The making of a program of one period."""

    def __call__(self, *, finished: bool) -> PeriodProgram:
        """Return the program, whose parts are in the form that is emitted or not."""
        ...


class FusedProgram:
    """A program of one period, and the kernels that run it many times.

    There are three forms. **Interchanged**: one parallel loop, in which each iteration runs all
    periods. **Serial**: all in one thread. **Unrolled**: parallel loops of several periods in one
    kernel, one after the other.

    Args:
        make: Makes the program.
        kept: What is kept of it on disk.
        name: Its name there.
        reverse: Whether later periods come first.

    Attributes:
        form: The form of the latest launch.
    """

    def __init__(self, make: Make, kept: KeptResults, name: str, *, reverse: bool) -> None:
        self._make, self._kept, self._name = make, kept, name
        self._reverse = reverse
        session = current_session()
        self._on_host = session.on_host
        self._threads = session.threads
        self._compiled: dict[object, CompiledProgram] = {}
        self._amounts: dict[tuple[Any, ...], tuple[float, bool]] = {}
        self.form = ""

    @cached_property
    def _finished(self) -> PeriodProgram:
        """The period, of parts in the form that is emitted: sums in blocks, scatters as gathers."""
        with deriving(f"joining steps, {self._name}"):
            return self._kept.get((self._name, "finished"), self._finish)

    def _finish(self) -> PeriodProgram:
        made = self._make(finished=True)
        lean = dead_stores(simplify(made.program), made.extents)
        return made.with_program(merge_loops(lean if self._on_host else align_loops(lean)))

    @cached_property
    def _in_order(self) -> bool:
        """Whether its sums must not depend on the number of threads of the CPU."""
        shared = scatters_of(self._finished.program) if self._on_host else ()
        return any(scatter.ordered for scatter in shared)

    @cached_property
    def _interchanged(self) -> tuple[PeriodProgram, _Extent | None, CompiledProgram] | None:
        """The program with the loop over time inside the parallel loop, if there is only one."""
        key = self._name, "interchanged"
        with deriving(f"joining steps, {self._name}"):
            found = self._kept.get(key, self._interchange)
        return found and (*found, compiled(found[0].program, None, self._kept, key))

    def _interchange(self) -> tuple[PeriodProgram, _Extent | None] | None:
        made = self._make(finished=False)
        sunk, bounds = sink_values(join(made.program, made.extents)), _bounds()
        if self._on_host:
            width = Var("width", I32)
            found = strips(sunk, made.t, *bounds, width, reverse=self._reverse)
        else:
            found = interchanged(sunk, made.t, *bounds, reverse=self._reverse)
        if found is None:
            return None
        # Loads that `finish` removes may be of contents that were not kept.
        contents = [made.slots[p] for p in found.params if p in made.slots]
        known = set(self._finished.slots.values())
        lost = any(isinstance(one, (Unwritten, Slab)) and one not in known for one in contents)
        return None if lost else (made.with_program(found), _extent(made))

    def launch(self, argument: Arguments, first: int, count: int) -> None:
        """Run periods.

        Args:
            argument: Returns the arguments.
            first: The first period.
            count: The number of periods.
        """
        if self._in_order:  # threads must not decide about the order of sums
            self.form = "unrolled"
            self._launch_unrolled(argument, first, count)
        elif self._pays_to_interchange(argument, count) and self._interchanged is not None:
            self.form = "interchanged"
            made, extent, found = self._interchanged
            width = self._width(extent, argument) if self._on_host else 0
            _launch(found, made, argument, {"first": first, "count": count, "width": width})
        elif self._on_host and self._amount(argument)[1]:
            self.form = "serial"
            found = self._kernel(self.form, self._serial)
            _launch(found, self._finished, argument, {"first": first, "count": count})
        else:
            self.form = "unrolled"
            self._launch_unrolled(argument, first, count)

    def _launch_unrolled(self, argument: Arguments, first: int, count: int) -> None:
        periods = self._periods(argument, count)
        whole = count // periods * periods
        starts = [(periods, start) for start in range(first, first + whole, periods)]
        starts += [(1, start) for start in range(first + whole, first + count)]
        if self._reverse:
            starts.reverse()
        slots = self._finished.slots
        args = {param: argument(slot) for param, slot in slots.items()}
        for together, start in starts:
            found = self._kernel(together, partial(self._unrolled, together))
            found.launch([args.get(p, start) for p in found.params])

    def _kernel(self, form: object, make: Callable[[], Program]) -> CompiledProgram:
        """Return a kernel that is made once, of a program in the form that is emitted."""
        found = self._compiled.get(form)
        if found is None:
            key = self._name, form
            with deriving(f"joining steps, {self._name}"):
                program = self._kept.get((*key, "form"), make)
            found = self._compiled[form] = CompiledProgram(program, kept=self._kept, key=key)
        return found

    def _serial(self) -> Program:
        made = self._finished
        return serial(made.program, made.t, *_bounds(), reverse=self._reverse)

    def _unrolled(self, periods: int) -> Program:
        made = self._finished
        program = unroll_periods(made.program, made.t, periods, reverse=self._reverse)
        return program if self._on_host else merge_loops(program)  # of different periods

    @cached_property
    def _most_periods(self) -> int:
        """The periods of one kernel, as far as compiling it takes no more than a few seconds."""
        most = _MOST_STATEMENTS // max(1, size_of(self._finished.program))
        if self._on_host:
            return max(1, min(most, _MOST_PERIODS))
        tasks = self._kept.get(
            (self._name, "tasks"), lambda: _tasks(self._unrolled(3)) - _tasks(self._unrolled(2))
        )
        return max(1, min(most, _MOST_TASKS // max(1, tasks)))

    def _pays_to_interchange(self, argument: Arguments, count: int) -> bool:
        """Tell whether several threads, with all periods of their own elements, finish sooner."""
        if not self._on_host:
            return True
        return self._threads > 1 and count * self._amount(argument)[0] > _WORTH_THREADS

    def _width(self, extent: _Extent | None, argument: Arguments) -> int:
        """Return how many elements, along the first axis, one thread takes at a time."""
        if extent is None:
            return _WIDEST
        slot, axis = extent
        return max(1, min(-(-argument(slot).shape[axis] // self._threads), _WIDEST))

    @cached_property
    def _work(self) -> Work:
        program = self._finished.program
        return work_of(program, speed_of(program, current_session().target))

    def _amount(self, argument: Arguments) -> tuple[float, bool]:
        """Return the steps of one period, and whether one thread is done before several are."""
        program, slots, work = self._finished.program, self._finished.slots, self._work
        params = (*program.params, *program.temps)
        given = {k: argument(slots[params[k]]) for k in work.positions if params[k] in slots}
        key = work.key([given.get(k, 0) for k in range(len(params))])
        found = self._amounts.get(key)
        if found is None:
            alone = work.amount(key)
            found = self._amounts[key] = alone, work.is_for_one(key, self._threads)
        return found

    def _periods(self, argument: Arguments, count: int) -> int:
        """Return how many periods one launch is to run."""
        most = self._most_periods
        if self._on_host:
            wanted = int(_STEPS_OF_A_LAUNCH // max(1.0, self._amount(argument)[0]))
            most = max(1, min(wanted, most))
        launches = -(-count // most)
        return max(1, count // launches)


def _extent(made: PeriodProgram) -> _Extent | None:
    """Return which extent of an array the first axis of the parallel loop has, if any."""
    loop = next(s for s in made.program.body.stmts if isinstance(s, ParallelFor))
    sizes = {s.out: s for s in made.program.body.stmts if isinstance(s, Size)}
    size = sizes.get(stop) if isinstance(stop := loop.stops[0], Var) else None
    return None if size is None else (made.slots[size.array], size.axis)


def _tasks(program: Program) -> int:
    return sum(isinstance(stmt, ParallelFor) for stmt in program.body.stmts)


def _bounds() -> tuple[Value, Value]:
    return Var("first", I32), Var("count", I32)


def _launch(
    program: CompiledProgram, made: PeriodProgram, argument: Arguments, numbers: dict[str, int]
) -> None:
    slots = made.slots
    program.launch([argument(slots[p]) if p in slots else numbers[p.name] for p in program.params])
