"""A program of one period, compiled for many: in the form that suits the work and the device."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

from difftile.compile.stage import compiled
from difftile.fusion.period import PeriodProgram, Slot
from difftile.ir.nodes import ParallelFor, Program, Value, Var
from difftile.ir.types import I32, Type
from difftile.passes.merge_loops import merge_loops
from difftile.passes.sink_values import sink_values
from difftile.passes.time_loop import interchanged, serial
from difftile.passes.unroll_periods import unroll_periods
from difftile.substrate import CompiledProgram, current_session, work_of

_MOST_TASKS = 48  # parallel loops of one kernel on a GPU: compiling takes a second
_STEPS_OF_A_LAUNCH = 2_000_000  # of one thread; a launch takes a hundredth of that
_MOST_PERIODS = 8  # of one kernel on the CPU

Arguments = Callable[[Slot], Any]
"""Returns what the program is given for a slot."""


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
        reverse: Whether later periods come first.

    Attributes:
        form: The form of the latest launch.
    """

    def __init__(self, make: Make, *, reverse: bool) -> None:
        self._make = make
        self._reverse = reverse
        session = current_session()
        self._on_host = session.on_host
        self._threads = session.threads
        self._compiled: dict[object, CompiledProgram] = {}
        self.form = ""

    @cached_property
    def _finished(self) -> PeriodProgram:
        made = self._make(finished=True)
        return made.with_program(merge_loops(made.program))

    @property
    def seconds(self) -> float:
        """The time that compiling took."""
        return sum(one.seconds for one in self._compiled.values())

    def type_of(self, slot: Slot) -> Type:
        """Return the type of the elements of an array."""
        return self._finished.types[slot]

    @cached_property
    def _interchanged(self) -> tuple[PeriodProgram, Program] | None:
        made = self._make(finished=False)
        sunk, bounds = sink_values(merge_loops(made.program)), _bounds()
        found = interchanged(sunk, made.t, *bounds, reverse=self._reverse)
        return None if found is None else (made, found)

    def launch(self, argument: Arguments, first: int, count: int) -> None:
        """Run periods.

        Args:
            argument: Returns the arguments.
            first: The first period.
            count: The number of periods.
        """
        # On the CPU one iteration would wait for its own results: many at a time are faster.
        if not self._on_host and self._interchanged is not None:
            self.form = "interchanged"
            made, program = self._interchanged
            found = self._compiled.get(self.form) or self._compiled.setdefault(
                self.form, compiled(program)
            )
            _launch(found, made, argument, first, count)
        elif self._on_host and self._amount(argument)[1]:
            self.form = "serial"
            found = self._compiled.get(self.form)
            if found is None:
                program = serial(
                    self._finished.program, self._finished.t, *_bounds(), reverse=self._reverse
                )
                found = self._compiled[self.form] = CompiledProgram(program)
            _launch(found, self._finished, argument, first, count)
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
        known: dict[Slot, Any] = {}

        def once(slot: Slot) -> Any:
            if slot not in known:
                known[slot] = argument(slot)
            return known[slot]

        for together, start in starts:
            found = self._compiled.get(together)
            if found is None:
                made = self._finished
                program = unroll_periods(made.program, made.t, together, reverse=self._reverse)
                found = self._compiled[together] = CompiledProgram(program)
            _launch(found, self._finished, once, start, together)

    def _amount(self, argument: Arguments) -> tuple[float, bool]:
        """Return the steps of one period, and whether one thread is done before several are."""
        program, slots = self._finished.program, self._finished.slots
        work = work_of(program)
        params = (*program.params, *program.temps)
        given = {k: argument(slots[params[k]]) for k in work.positions if params[k] in slots}
        key = work.key([given.get(k, 0) for k in range(len(params))])
        return work.amount(key), work.is_for_one(key, self._threads)

    def _periods(self, argument: Arguments, count: int) -> int:
        """Return how many periods one launch is to run."""
        if self._on_host:
            wanted = int(_STEPS_OF_A_LAUNCH // max(1.0, self._amount(argument)[0]))
            most = max(1, min(wanted, _MOST_PERIODS))
        else:
            stmts = self._finished.program.body.stmts
            tasks = sum(isinstance(stmt, ParallelFor) for stmt in stmts)
            most = max(1, _MOST_TASKS // max(1, tasks))
        launches = -(-count // most)
        return max(1, count // launches)


def _bounds() -> tuple[Value, Value]:
    return Var("first", I32), Var("count", I32)


def _launch(
    program: CompiledProgram, made: PeriodProgram, argument: Arguments, first: int, count: int
) -> None:
    numbers = {"first": first, "count": count}
    slots = made.slots
    program.launch([argument(slots[p]) if p in slots else numbers[p.name] for p in program.params])
