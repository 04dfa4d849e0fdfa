"""A program of one period, compiled for many: in the form that suits the work and the device."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from difftile.fusion.period import PeriodProgram
from difftile.ir.nodes import Array, ParallelFor, Program, Var
from difftile.ir.types import I32
from difftile.passes.merge_loops import merge_loops
from difftile.passes.time_loop import serial
from difftile.passes.unroll_periods import unroll_periods
from difftile.substrate import CompiledProgram, current_session, work_of

_MOST_TASKS = 48  # parallel loops of one kernel on a GPU: compiling takes a second
_STEPS_OF_A_LAUNCH = 2_000_000  # of one thread; a launch takes a hundredth of that


class FusedProgram:
    """A program of one period, and the kernels that run it many times.

    Args:
        made: The program.
        reverse: Whether later periods come first.
    """

    def __init__(self, made: PeriodProgram, *, reverse: bool) -> None:
        self.made = made
        self.reverse = reverse
        self.form = ""
        session = current_session()
        self._on_host = session.on_host
        self._threads = session.threads
        self._compiled: dict[object, CompiledProgram] = {}
        self._merged = merge_loops(made.program)
        self._tasks = sum(isinstance(s, ParallelFor) for s in self._merged.body.stmts)

    @property
    def params(self) -> tuple[Array | Var, ...]:
        """The parameters that `launch` is given arguments for."""
        return self.made.program.params[:-1]

    @property
    def seconds(self) -> float:
        """The time that compiling took."""
        return sum(one.seconds for one in self._compiled.values())

    @cached_property
    def _interchanged(self) -> Program | None:
        return None

    @cached_property
    def _serial(self) -> Program:
        first, count = Var("first", I32), Var("count", I32)
        return serial(self._merged, self.made.t, first, count, reverse=self.reverse)

    def launch(self, args: Sequence[Any], first: int, count: int) -> None:
        """Run periods.

        Args:
            args: The arguments for `params`.
            first: The first period.
            count: The number of periods.
        """
        if self._interchanged is not None:
            self.form = "interchanged"
            self._launch("interchanged", self._interchanged, args, (first, count))
            return
        if self._on_host and self._is_for_one(args):
            self.form = "serial"
            self._launch("serial", self._serial, args, (first, count))
            return
        self.form = "unrolled"
        periods = self._periods(args, count)
        starts = list(range(first, first + count - periods + 1, periods))
        single = list(range(first + len(starts) * periods, first + count))
        if self.reverse:
            starts.reverse()
            single.reverse()
        orders = [(periods, starts), (1, single)]
        for together, at in reversed(orders) if self.reverse else orders:
            for start in at:
                self._unrolled(together, args, start)

    def _launch(
        self, key: object, program: Program, args: Sequence[Any], more: tuple[int, ...]
    ) -> None:
        compiled = self._compiled.get(key)
        if compiled is None:
            compiled = self._compiled[key] = CompiledProgram(program)
        known = dict(zip(self.params, args, strict=True))
        extra = iter(more)
        given = [known[p] if p in known else next(extra) for p in compiled.params]
        compiled.launch(given)

    def _unrolled(self, periods: int, args: Sequence[Any], first: int) -> None:
        compiled = self._compiled.get(periods)
        if compiled is None:
            program = unroll_periods(self._merged, self.made.t, periods, reverse=self.reverse)
            compiled = self._compiled[periods] = CompiledProgram(program)
        known = dict(zip(self.params, args, strict=True))
        compiled.launch([known.get(p, first) for p in compiled.params])

    def _amount(self, args: Sequence[Any]) -> tuple[float, bool]:
        """Return the steps of one period, and whether one thread is done before several are."""
        work = work_of(self._merged)
        key = work.key([*args, 0])
        return work.amount(key), work.is_for_one(key, self._threads)

    def _is_for_one(self, args: Sequence[Any]) -> bool:
        return self._amount(args)[1]

    def _periods(self, args: Sequence[Any], count: int) -> int:
        """Return how many periods one launch is to run."""
        if self._on_host:
            wanted = int(_STEPS_OF_A_LAUNCH // max(1.0, self._amount(args)[0]))
            most = max(1, min(wanted, 8))
        else:
            most = max(1, _MOST_TASKS // max(1, self._tasks))
        launches = -(-count // most)
        return max(1, count // launches)
