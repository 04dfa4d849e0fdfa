"""Launchers around variants of the code of a program, each with one thing to do besides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from difftile.diagnostics import OutOfMemory
from difftile.ir.nodes import Array, Var
from difftile.ir.types import Type
from difftile.substrate.backend import Launcher
from difftile.substrate.debug_report import FailureReport, is_silenced
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import Buffer
from difftile.substrate.session import current_session
from difftile.substrate.zeros import Zeros, ZerosOf

Count: TypeAlias = Callable[[Sequence[Any]], int]
"""Of the arguments of a launch."""

NativeLaunch: TypeAlias = Callable[[Sequence[Any]], bool]
"""Launches a native kernel in place of a program, on the program's arguments, if it can."""


class Nothing:
    """A launch without code: the program only clears arrays, and clears wait."""

    def launch(self, args: Sequence[Any]) -> None:
        """Do nothing."""


class LateLauncher:
    """A launcher that is made for its first launch.

    Args:
        make: Makes it.
    """

    def __init__(self, make: Callable[[], Launcher]) -> None:
        self._make = make
        self._made: Launcher | None = None

    def launch(self, args: Sequence[Any]) -> None:
        """Run."""
        if self._made is None:
            self._made = self._make()
        self._made.launch(args)


class WithMemory:
    """A variant of the code that is given memory of its own, with any contents.

    Args:
        launcher: The variant.
        memory: The type of the elements of each array, and how many a launch needs.
        without: Makes a variant that needs no memory; None if only this one will do.
    """

    def __init__(
        self,
        launcher: Launcher,
        memory: Sequence[tuple[Type, Count]],
        without: Callable[[], Launcher] | None,
    ) -> None:
        self._launcher = launcher
        self._memory = memory
        self._without = without
        self._other: Launcher | None = None

    def launch(self, args: Sequence[Any]) -> None:
        """Run with memory from the pool, or without any where there is none."""
        pool = current_session().pool
        memory: list[Buffer] = []
        try:
            for element, count in self._memory:
                memory.append(pool.allocate(element, (count(args),)))
        except OutOfMemory:
            if self._without is None:
                raise
            with LOCK:
                self._other = self._other or self._without()
            self._other.launch(args)
        else:
            self._launcher.launch([*args, *memory])
        finally:
            for buffer in memory:
                buffer.free()


class IntoZeros:
    """Variants of the code for arguments that hold zeros, before the launch or after it.

    Args:
        zeros: Finds the zeros of a launch.
        variant: Returns the variant for zeros.
    """

    def __init__(self, zeros: ZerosOf, variant: Callable[[Zeros], Launcher]) -> None:
        self._of = zeros
        self._variant = variant
        self._known: dict[Zeros, Launcher] = {}

    def launch(self, args: Sequence[Any]) -> None:
        """Run, and fill what is left to fill."""
        zeros, parts = self._of(args)
        variant = self._known.get(zeros)
        if variant is None:
            variant = self._known[zeros] = self._variant(zeros)
        if not self._of.on_host:
            for k in parts.added.intersection(zeros.before):
                args[k].abandon()
        variant.launch(args)
        for k in zeros.after:
            args[k].clear(parts.cleared[k])


class Reporting:
    """A variant that is given memory to report failures in.

    Args:
        variant: The variant.
        report: The report.
        params: The parameters of a launch.
    """

    def __init__(
        self, variant: Launcher, report: FailureReport, params: Sequence[Array | Var]
    ) -> None:
        self._variant = variant
        self._report = report
        self._params = params

    def launch(self, args: Sequence[Any]) -> None:
        """Run, and keep the first failure."""
        self._report.collect(
            lambda memory: self._variant.launch([*args, *memory]),
            lambda array: args[self._params.index(array)].shape,
        )


class UnlessSilenced:
    """A program that prints or reports, or another one while it must not.

    Args:
        launcher: The program.
        silent: The other one.
    """

    def __init__(self, launcher: Launcher, silent: Launcher) -> None:
        self._launcher = launcher
        self._silent = silent

    def launch(self, args: Sequence[Any]) -> None:
        """Run."""
        (self._silent if is_silenced() else self._launcher).launch(args)


class UnlessNative:
    """A program in whose place a native kernel may run.

    Args:
        launcher: The program.
        native: The kernel.
    """

    def __init__(self, launcher: Launcher, native: NativeLaunch) -> None:
        self._launcher = launcher
        self._native = native

    def launch(self, args: Sequence[Any]) -> None:
        """Run the native kernel, or the program where that cannot."""
        if not self._native(args):
            self._launcher.launch(args)


class OfOthers:
    """Another program with the same parameters, some of which it may lack.

    Args:
        program: The program.
        positions: Where its parameters are among the arguments.
    """

    def __init__(self, program: Launcher, positions: Sequence[int]) -> None:
        self._program = program
        self._positions = positions

    def launch(self, args: Sequence[Any]) -> None:
        """Run on the arguments of the program in whose place it stands."""
        self._program.launch([args[k] for k in self._positions])
