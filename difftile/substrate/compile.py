"""Programs that are ready to run: each launch takes the variant of its schedule.

A schedule follows from the shapes and numbers of a launch (`schedule.choose`), and from which
arguments hold zeros. What a program does besides, such as reports, is a launcher around its
variant, chosen with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from difftile.diagnostics import KernelError
from difftile.ir.nodes import Array, Fail, ParallelFor, Program, Var
from difftile.ir.walk import parallel_loops, silent
from difftile.passes.exact_sums import check_repeatable
from difftile.passes.speculate import Usual
from difftile.schedule.analysis import Analysis, analyse
from difftile.schedule.choose import Chosen, choose
from difftile.schedule.costs import DEFAULT, Costs
from difftile.schedule.legal import Steps, others
from difftile.schedule.speed import speaks
from difftile.schedule.wishes import granted
from difftile.substrate.backend import Launcher
from difftile.substrate.calibration import costs_on
from difftile.substrate.debug_report import report_of
from difftile.substrate.kept_code import KeptResults
from difftile.substrate.launchers import (
    IntoZeros,
    LateLauncher,
    NativeLaunch,
    OfOthers,
    Reporting,
    UnlessNative,
    UnlessSilenced,
)
from difftile.substrate.lock import LOCK
from difftile.substrate.session import current_session
from difftile.substrate.shaders import DEVICES, for_shaders
from difftile.substrate.variants import Variants
from difftile.substrate.zeros import NO_ZEROS, Zeros, ZerosOf

Key: TypeAlias = tuple[Any, ...]
"""The shapes and numbers of a launch that its schedule depends on: `Work.key`."""

Native: TypeAlias = Callable[[Program], NativeLaunch | None]
"""Returns what launches native kernels in place of a program, for the types of its parameters."""


_MOST_KEYS = 4096  # some megabytes


class Speculation(NamedTuple):
    """What a program takes for granted, for most launches.

    Args:
        usual: What must hold.
        otherwise: Compiles the general form, which may have fewer parameters.
    """

    usual: Usual
    otherwise: Callable[[], CompiledProgram]


class Reduced(NamedTuple):
    """Code of a program that leaves out zeros.

    Args:
        launcher: The code.
        sets: The positions of arguments that it sets all of, which would be zeros before.
        writes: The positions of arguments that it writes.
    """

    launcher: Launcher
    sets: frozenset[int]
    writes: frozenset[int]


class CompiledProgram:
    """A program ready to be launched; the variants of its code are compiled on first use.

    Args:
        program: A finished program; `launch` takes its parameters and then its temps.
        marks: More memory of the program, which is zero before each launch.
        native: Launches a native kernel instead, where there is one for the arguments.
        rebased: Compiles the program with loops from zero, for loops that end beyond what pieces of
            a loop can be counted to.
        from_zero: This is such a program.
        speculation: What it takes for granted.
        kept: What is kept of it on disk.
        key: Its name there.

    Attributes:
        params: The parameters of a launch, in order: those of the program and its temps.
        variants: The compiled variants by schedule, each with the source that it was made from.
    """

    def __init__(
        self,
        program: Program,
        marks: tuple[Array, ...] = (),
        native: NativeLaunch | None = None,
        rebased: Callable[[], CompiledProgram] | None = None,
        *,
        from_zero: bool = False,
        speculation: Speculation | None = None,
        kept: KeptResults | None = None,
        key: tuple[object, ...] = (),
    ) -> None:
        session = current_session()
        if session.device in DEVICES:
            program = for_shaders(program, session.device)
        if session.target.repeats and not session.on_host:
            check_repeatable(program)
        taken = () if speculation is None else speculation.usual.params
        scatters = session.compiles and not marks
        kept = kept or KeptResults()
        # What schedules depend on: the program, its target, the estimate of its work.
        self._of = analyse(
            program,
            session.target,
            taken,
            scatters=scatters,
            recall=lambda name, make: kept.get((*key, name), make),
        )
        self.params = self._of.params
        self._native, self._rebased, self._speculation = native, rebased, speculation
        self._from_zero = from_zero
        report = report_of(program, marks)
        self.variants = Variants(self._of, session, report, kept, key)
        self._zeros = ZerosOf(program, self.params, on_host=session.on_host, adds=session.compiles)
        self.wish({})

    def wish(self, wishes: Mapping[int, str]) -> None:
        """Set the steps of some parallel loops for later launches.

        Args:
            wishes: Texts of steps, by the line of the loop.
        """
        self._wishes = wishes  # steps set by the user, for all later launchers
        # Launchers by shapes and numbers, with and without knowledge of zeros: dropped with wishes.
        self._known: dict[tuple[Key, Zeros], Launcher] = {}
        self._launchers: dict[Key, Launcher] = {}
        for other in (vars(self).get("general"), vars(self).get("_silent")):
            if other is not None and other is not self:
                other.wish(wishes)

    @property
    def program(self) -> Program:
        """The program."""
        return self._of.program

    @property
    def seconds(self) -> float:
        """The seconds that compiling took."""
        return self.variants.seconds

    def source(self, *, serial: bool = False) -> str:
        """Return the source in the language of the compiler, or in Python."""
        return self.variants.source(serial=serial)

    def launch(self, args: Sequence[Any]) -> None:
        """Run on buffers and numbers, one for each of `params`."""
        key = self._of.work.key(args)
        launchers = self._launchers  # once: another thread may set steps
        launcher = launchers.get(key)
        if launcher is None:
            if len(launchers) >= _MOST_KEYS:  # a number that is another one in each launch
                launchers.clear()
                self._known.clear()
            launcher = launchers[key] = self._launcher(key)
        launcher.launch(args)

    def first_failure(self, args: Sequence[Any]) -> tuple[Fail, list[float]] | None:
        """Run a program that can fail; return its failure, if there is one, and the values."""
        assert self.variants.report is not None
        variant = self._variant(self._of.work.key(args))
        return self.variants.report.first_of(
            lambda memory: variant.launch([*args, *memory]), lambda array: ()
        )

    def settled(self, args: Sequence[Any]) -> Launcher:
        """Return a launcher of the program for buffers of these shapes and for any numbers.

        One variant of the code, where the shapes decide about it; else the program itself.
        """
        if not self._is_settled or self._zeros.matter(args):
            return self
        return self._variant(self._of.work.key(args))

    @cached_property
    def _is_settled(self) -> bool:
        """Whether one variant of the code serves all launches on the same shapes."""
        numbers_matter = any(isinstance(self.params[k], Var) for k in self._of.work.positions)
        return not numbers_matter and self._native is None and not speaks(self.program.body)

    def reduced(
        self, args: Sequence[Any], fresh: Collection[int], spent: Collection[int]
    ) -> Reduced | None:
        """Return code that writes less; None where that is not known before the launch.

        Args:
            args: Buffers of the shapes of all later launches, and any numbers.
            fresh: The positions of arguments that would be filled with zeros before each launch.
            spent: The positions of arguments that are not read after a launch.
        """
        key = self._of.work.key(args)
        if not (self._is_settled and self._is_countable(key)):
            return None
        zeros = self._zeros.known(args, fresh, spent)
        written = self._zeros.written_without(zeros.after)
        return Reduced(self._variant(key, zeros), frozenset(zeros.before), written)

    def chosen(self, args: Sequence[Any]) -> tuple[Analysis, Chosen]:
        """Return the schedule of a launch whose arguments hold no zeros, with its program.

        Args:
            args: As for `launch`; whatever has a shape stands for a buffer.
        """
        of, key = self._form_of(args)
        return of._of, of._chosen(key)

    def alternatives(self, args: Sequence[Any]) -> list[tuple[ParallelFor, Steps, list[Steps]]]:
        """Return the parallel loops of a launch, with the steps that each has and could have."""
        of, key = self._form_of(args)
        schedule = of._chosen(key).schedule
        return [
            (loop, schedule.loops[k], [*others(of._of, k, key, schedule)])
            for k, loop in enumerate(parallel_loops(of.program))
        ]

    def _form_of(self, args: Sequence[Any]) -> tuple[CompiledProgram, Key]:
        """Return the form of the program for a launch, and the key of the launch there."""
        key = self._of.work.key(args)
        if self._fits(key):
            return self, key
        return self.general._form_of([args[k] for k in self._positions_of(self.general)])

    def _launcher(self, key: Key) -> Launcher:
        """Return the launcher for a key, with all that the program does besides."""
        fits = self._fits(key)
        if not fits:
            launcher = self._in_general
        elif self._zeros:
            launcher = IntoZeros(self._zeros, lambda zeros: self._reporting(key, zeros))
        else:
            launcher = LateLauncher(lambda: self._reporting(key, NO_ZEROS))
        if fits and speaks(self.program.body):  # the general form sees to that itself
            launcher = UnlessSilenced(launcher, LateLauncher(lambda: self._silent))
        if self._native is None or self._wishes:
            return launcher
        return UnlessNative(launcher, self._native)

    def _reporting(self, key: Key, zeros: Zeros) -> Launcher:
        variant, report = self._variant(key, zeros), self.variants.report
        return variant if report is None else Reporting(variant, report, self.params)

    def _variant(self, key: Key, zeros: Zeros = NO_ZEROS) -> Launcher:
        """Return the variant for a key, and arguments of zeros."""
        known = self._known.get((key, zeros))
        if known is not None:
            return known
        variant = self._fitting(key, zeros) if self._fits(key) else self._in_general
        self._known[key, zeros] = variant
        return variant

    def _fitting(self, key: Key, zeros: Zeros) -> Launcher:
        """Return the variant for a key of which holds what the program takes for granted."""
        try:
            self._check_counts(key)
        except KernelError:  # too many iterations, or beyond what can be counted to
            if self._rebased is None:
                raise
            with LOCK:
                return self._of_others(self._wishing(self._rebased()))
        before, after = (
            [param for k in positions if isinstance(param := self.params[k], Array)]
            for positions in zeros
        )
        return self.variants.get(self._chosen(key, before, after).schedule)

    def _check_counts(self, key: Key) -> None:
        self._of.work.check(key, flat=not self._of.target.on_host, from_zero=self._from_zero)

    def _is_countable(self, key: Key) -> bool:
        """Tell whether launches with a key run in this form of the program."""
        try:
            self._check_counts(key)
        except KernelError:
            return False
        return self._fits(key)

    def _chosen(
        self, key: Key, before: Sequence[Array] = (), after: Sequence[Array] = ()
    ) -> Chosen:
        """Return the schedule of a launch, with the steps that are set."""
        made = choose(self._of, key, self._costs, before, after)
        return granted(self._of, key, made, self._wishes) if self._wishes else made

    def _wishing(self, program: CompiledProgram) -> CompiledProgram:
        """Return another form of the program, with the same steps."""
        program.wish(self._wishes)
        return program

    def _costs(self) -> Costs:
        if self._of.target.repeats:  # and so do choices
            return DEFAULT
        return costs_on(current_session().backend, self._of.target.threads)

    @cached_property
    def _silent(self) -> CompiledProgram:
        """The program without its prints and reports."""
        report = self.variants.report
        marks = () if report is None else report.marks
        body = silent(self.program.body)
        return self._wishing(CompiledProgram(replace(self.program, body=body), marks))

    @cached_property
    def general(self) -> CompiledProgram:
        """The program for launches of all sizes."""
        with LOCK:
            if self._speculation is None:
                return self
            return self._wishing(self._speculation.otherwise())

    @cached_property
    def _in_general(self) -> Launcher:
        return self._of_others(self.general)

    def _of_others(self, program: CompiledProgram) -> Launcher:
        return OfOthers(program, self._positions_of(program))

    def _positions_of(self, program: CompiledProgram) -> list[int]:
        """Return the positions of another form's parameters among the parameters of this one."""
        return [self.params.index(param) for param in program.params]

    @property
    def speculates(self) -> bool:
        """Whether there is another form, for other launches."""
        return self._speculation is not None

    def _fits(self, key: Key) -> bool:
        """Tell whether what the program takes for granted holds in a launch."""
        return self._speculation is None or self._speculation.usual.holds(self._of.given(key))
