"""The variants of the code of a program, one for each schedule, compiled on demand."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from difftile.compiling import compiling
from difftile.diagnostics import OutOfMemory
from difftile.ir.facts import arrays_written, has_effects
from difftile.ir.nodes import Array, Program
from difftile.ir.types import MAX_ELEMENTS
from difftile.meaning import print_python
from difftile.ops.scalar import is_exact
from difftile.passes.exact_sums import Bins
from difftile.passes.privatise import TargetCopies
from difftile.passes.rows import STRIPES, RowMemory
from difftile.schedule.analysis import Analysis
from difftile.schedule.apply import Applied, Memory, apply
from difftile.schedule.clears import without_clears
from difftile.schedule.schedule import Schedule, arrays_by_name
from difftile.schedule.target import Target
from difftile.substrate.backend import Backend, Launcher
from difftile.substrate.debug_report import FailureReport
from difftile.substrate.emit import Emitted, emit
from difftile.substrate.kept_code import KeptResults
from difftile.substrate.launchers import Count, Nothing, WithMemory
from difftile.substrate.lock import LOCK
from difftile.substrate.session import Session
from difftile.substrate.shaders import DEVICES
from difftile.substrate.slow_compiles import announce_slow_compile, note_slow_compile
from difftile.substrate.spellings import SHADER_SPELLINGS

_NOTHING = Nothing()


class Variants:
    """The compiled variants of a program.

    Args:
        of: The program.
        session: What it is compiled in.
        report: The memory in which it reports failures.
        kept: What is kept of the program on disk.
        key: Its name there.

    Attributes:
        seconds: That compiling took.
        known: The variants, by their schedules.
    """

    def __init__(
        self,
        of: Analysis,
        session: Session,
        report: FailureReport | None,
        kept: KeptResults,
        key: tuple[object, ...],
    ) -> None:
        self.of = of
        self.report = report
        self.seconds = 0.0
        self.known: dict[Schedule, Launcher] = {}
        self._backend: Backend = session.backend
        self._is_shader = session.device in DEVICES
        self._kept, self._key = kept, key

    def get(self, schedule: Schedule) -> Launcher:
        """Return the variant of a schedule."""
        with LOCK:
            found = self.known.get(schedule)
            if found is None:
                found = self.known[schedule] = self._made(schedule)
            return found

    def source(self, *, serial: bool = False) -> str:
        """Return the source in the language of the compiler, or in Python."""
        if self._backend.run:
            return print_python(self.of.program).text
        target = replace(self.of.target, threads=0, unrolls=False)
        schedule = Schedule(serial=serial)
        return self._emitted(apply(self.of.program, schedule, target), schedule, target).text

    def _made(self, schedule: Schedule) -> Launcher:
        program = self.of.program
        if self._backend.run:
            return self._as_it_is(program)
        if schedule.after and _only_clears(program, schedule):
            return _NOTHING
        started, spent = time.perf_counter(), time.process_time()
        with compiling(program.name):
            emitted, needed = self._kept.get(
                (*self._key, "text", schedule), lambda: self._text(schedule)
            )
            memory = self._counts(needed)
            more = tuple(array for array, _ in memory)
            params, count = self.of.params, len(self.of.params)
            variant = self._backend.compile(
                emitted,
                program,
                (*params, *more, *self._reported),
                written=[*self._written, *range(count, count + len(more))],
                on_host=self.of.target.on_host,
                as_written=is_exact(program),
            )
        if more:
            wanted = [(array.type.element, number) for array, number in memory]
            without = schedule.without_memory(self.of.target.parts)
            without = without.with_forms(self.of.forms(without))
            otherwise = None if self.of.target.repeats else lambda: self._made(without)
            variant = WithMemory(variant, wanted, otherwise)
        seconds = time.perf_counter() - started
        self.seconds += seconds
        # On a busy machine, other processes add to the time.
        note_slow_compile(program, min(seconds, time.process_time() - spent))
        return variant

    def _as_it_is(self, program: Program) -> Launcher:
        """Return the program ready to run without a compiler."""
        assert self._backend.run is not None
        report = None if self.report is None else (self.report.count, self.report.values)
        params = (*self.of.params, *self._reported)
        return self._backend.run(program, params, written=self._written, report=report)

    @property
    def _reported(self) -> tuple[Array, ...]:
        return () if self.report is None else self.report.arrays

    @property
    def _written(self) -> list[int]:
        """The positions of the arguments that the program writes."""
        written = {*arrays_written(self.of.program.body), *self._reported}
        params = (*self.of.params, *self._reported)
        return [k for k, param in enumerate(params) if param in written]

    def _text(self, schedule: Schedule) -> tuple[Emitted, Memory]:
        """Return the source of a variant, and the memory it needs besides its parameters."""
        made = apply(self.of.program, schedule, self.of.target)
        emitted = self._emitted(made, schedule, self.of.target)
        announce_slow_compile(emitted.name, emitted.text.count("\n"))  # not of what is on disk
        return emitted, made.memory

    def _emitted(self, made: Applied, schedule: Schedule, target: Target) -> Emitted:
        return emit(
            made,
            schedule,
            target,
            report=self._reported,
            spellings=SHADER_SPELLINGS if self._is_shader else self._backend.spellings,
            polynomials=self._backend.vector_math.spellings,
        )

    def _counts(self, memory: Memory) -> list[tuple[Array, Count]]:
        """Return the arrays of a program's own memory, and how many elements a launch needs."""
        parts = self.of.target.parts
        counts: list[tuple[Array, Count]] = [(c.array, self._of_copies(c)) for c in memory.copies]
        counts += [(array, lambda _: parts) for array in memory.sums]
        counts += [(one.array, self._of_bins(one)) for one in memory.bins]
        return counts + [pair for one in memory.rows for pair in self._of_rows(one)]

    def _of_copies(self, copies: TargetCopies) -> Count:
        position = self.of.params.index(copies.target)
        return lambda args: copies.count(args[position].shape)

    def _of_bins(self, bins: Bins) -> Count:
        position = self.of.params.index(bins.target)

        def count(args: Sequence[Any]) -> int:
            needed = max(1, bins.count(args[position].shape))
            if needed > MAX_ELEMENTS:
                raise OutOfMemory(
                    f"With deterministic=True, sums into '{bins.target.name}' of shape "
                    f"{args[position].shape} need {needed:,} integers, more than a kernel can "
                    f"index, {MAX_ELEMENTS:,}."
                )
            return needed

        return count

    def _of_rows(self, rows: RowMemory) -> list[tuple[Array, Count]]:
        """Return the memory for rows, and for their stripes, with the numbers of elements."""
        position, work = self.of.params.index(rows.scatter.target), self.of.work

        def whole(args: Sequence[Any]) -> int:
            loop = work.loops(work.key(args))[rows.scatter.loop]
            return max(1, int(prod(loop.axes)) * prod(args[position].shape))

        def stripes(args: Sequence[Any]) -> int:
            return STRIPES * prod(args[position].shape)

        return [(rows.array, whole), (rows.stripes, stripes)]


def _only_clears(program: Program, schedule: Schedule) -> bool:
    """Tell whether nothing is left of a program without its last stores of zeros."""
    arrays = arrays_by_name(program)
    left, _ = without_clears(program, [arrays[name] for name in schedule.after])
    return not has_effects(left.body)
