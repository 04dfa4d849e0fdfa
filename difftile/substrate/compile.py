"""Programs that are ready to run: which variant of their code a launch takes.

Variants are for one thread or several, for little work or more, for gradients that are known to
hold zeros, and on devices for arrays that are filled with zeros after the launch. Each is emitted
and compiled for the first launch that takes it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any, NamedTuple, TypeAlias

from difftile.diagnostics import KernelError, OutOfMemory
from difftile.ir.facts import arrays_written, has_effects
from difftile.ir.nodes import Accumulate, Array, Fail, For, Let, ParallelFor, Print, Program, Var
from difftile.ir.types import Type, shape_of
from difftile.ir.walk import silent, walk
from difftile.meaning import print_python
from difftile.ops.scalar import is_exact
from difftile.passes.privatise import ATOMICS, Copies, Plan, privatise, scatters_of
from difftile.passes.rows import STRIPES, Rows, in_rows
from difftile.passes.speculate import Usual
from difftile.passes.split_index_sets import BLOCK, split_index_sets
from difftile.passes.spread import has_long_sums, may_spread, spread
from difftile.passes.unroll_and_jam import unroll_and_jam
from difftile.passes.unroll_loops import unroll_loops
from difftile.substrate.backend import Launcher
from difftile.substrate.calibration import Costs, costs_on
from difftile.substrate.debug_report import is_silenced, report_of
from difftile.substrate.device_loops import DeviceLoops, Forms
from difftile.substrate.emit import Emitted, emit
from difftile.substrate.kept_code import Kept
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import Buffer
from difftile.substrate.opaque_steps import opaque_steps
from difftile.substrate.parallel import SHORT, parts_of_loops
from difftile.substrate.scatters import choose, parts_of, rows_of
from difftile.substrate.session import current_session
from difftile.substrate.shaders import DEVICES, for_shaders
from difftile.substrate.slow_compiles import note_slow_compile
from difftile.substrate.spellings import SHADER_SPELLINGS
from difftile.substrate.steps import Speed
from difftile.substrate.strips import in_strips
from difftile.substrate.vector_loops import LoopCode, loop_codes
from difftile.substrate.vectorise_functions import (
    Lengths,
    Vectorised,
    lengths_of,
    loops_of_functions,
    vectorise_functions,
)
from difftile.substrate.whole import NO_PARTS, Parts, WholeWrites, size_of
from difftile.substrate.work import work_of

# Storing instead of adding pays where memory is the bottleneck; below, one variant is enough.
_FRESH_BYTES = 1 << 20

# Vector instructions take longer to compile (a fifth), which pays where they save more than the
# launch itself takes. In elementary steps, of which one takes 0.1 to 0.2 ns without them.
_VECTORS = 5_000

# Poles of these ops tell zeros of both signs apart, which vector instructions of fast math do not.
_SIGNED_POLES = frozenset(("zeta", "polygamma"))


class _Zeros(NamedTuple):
    """The arguments of a launch that have memory of their own and zeros in all of it.

    Args:
        before: Those with zeros before the launch, into which additions may be stores.
        after: Those with zeros after it, which the program need not store.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]


_NO_ZEROS = _Zeros((), ())


def speed_of(program: Program) -> Speed:
    """Return how fast the loops of a program are in the running session, if they are long."""
    session = current_session()
    outlined = (
        session.on_host
        and session.compiles
        and not session.debug
        and not _speaks(program)
        and not any(isinstance(s, Let) and s.op in _SIGNED_POLES for s in walk(program.body))
    )
    functions = session.backend.vector_math.spellings.keys() if session.polynomials else ()
    return Speed(outlined, session.fast_math and not is_exact(program), functions)


def _speaks(program: Program) -> bool:
    return any(isinstance(stmt, (Print, Fail)) for stmt in walk(program.body))


class _Which(NamedTuple):
    """One variant of the code.

    Args:
        serial: It runs on one thread.
        outlined: The code of a thread is a function.
        zeros: The arguments with zeros in them.
        plan: How its loops scatter.
        few: The numbers of the parallel loops with so few iterations that they are spread.
        short: All parallel loops are short: see `emit`.
        forms: The forms of its loops on a device.
        lengths: Which loops of functions are long and which are not, as far as that is known.
    """

    serial: bool
    outlined: bool
    zeros: _Zeros
    plan: Plan
    few: frozenset[int]
    short: bool
    forms: Forms
    lengths: Lengths = frozenset()


Count: TypeAlias = Callable[[Sequence[Any]], int]
"""Of the arguments of a launch."""


def _always(count: int) -> Count:
    return lambda _: count


class _Nothing:
    """A launch without code: the program only clears arrays, and clears wait."""

    def launch(self, args: Sequence[Any]) -> None:
        """Do nothing."""


_NOTHING = _Nothing()


class _WithMemory:
    """A variant of the code that is given memory of its own, with any contents.

    Args:
        launcher: The variant.
        memory: The type of the elements of each array, and how many a launch needs.
        without: Makes a variant that needs no memory.
    """

    def __init__(
        self,
        launcher: Launcher,
        memory: Sequence[tuple[Type, Count]],
        without: Callable[[], Launcher],
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
            with LOCK:
                self._other = self._other or self._without()
            self._other.launch(args)
        else:
            self._launcher.launch([*args, *memory])
        for buffer in memory:
            buffer.free()


class _OfOthers:
    """Another program with the same parameters, some of which it may lack."""

    def __init__(self, program: CompiledProgram, params: Sequence[Array | Var]) -> None:
        self._program = program
        self._positions = [params.index(param) for param in program.params]

    def launch(self, args: Sequence[Any]) -> None:
        """Run on the arguments of the program in whose place it stands."""
        self._program.launch([args[k] for k in self._positions])


class Speculation(NamedTuple):
    """What a program takes for granted, for most launches.

    Args:
        usual: What must hold.
        otherwise: Compiles the general form, which may have fewer parameters.
    """

    usual: Usual
    otherwise: Callable[[], CompiledProgram]


NativeLaunch: TypeAlias = Callable[[Sequence[Any]], bool]
"""Launches a native kernel in place of a program, on the program's arguments, if it can."""

Native: TypeAlias = Callable[[Program], NativeLaunch | None]
"""Returns what launches native kernels in place of a program, for the types of its parameters."""


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
        kept: Kept | None = None,
        key: tuple[object, ...] = (),
    ) -> None:
        self._rebased, self._speculation = rebased, speculation
        self._kept, self._key = kept or Kept(), key
        self._from_zero = from_zero
        session = current_session()
        shader = session.device in DEVICES
        if shader:
            program = for_shaders(program, session.device)
        self.program = program
        self.params = (*program.params, *program.temps)
        backend = session.backend
        self._compile = backend.compile
        self._spellings = SHADER_SPELLINGS if shader else backend.spellings
        self._on_host, self._grids = session.on_host, session.grids
        self._warps = session.warps
        self._threads = session.threads
        self._guarded = not session.on_host and session.fast_math
        self._native = native
        self.seconds = 0.0  # that compiling took
        self._variants: dict[_Which, Launcher] = {}
        self._choice: dict[tuple[Any, ...], Launcher] = {}
        self._fitting: dict[tuple[Any, ...], bool] = {}
        self._speaks = _speaks(program)
        self._strategy = session.scatter
        self._run = backend.run
        shares = session.on_host and session.threads > 1
        ordered = session.on_host or session.warps
        found = () if self._speaks or marks or self._run else scatters_of(program)
        in_order = {s.loop for s in found if s.ordered and ordered}
        self._scatters = tuple(s for s in found if shares or s.loop in in_order)
        self._as_written = is_exact(program)
        self._unrolls = backend.unrolls
        self._vector_math = backend.vector_math if session.polynomials else None
        speed = speed_of(program)
        self._outlines, self._reorders = speed.outlined, speed.reorders
        reorders = session.warps and speed.reorders
        self._device_loops = None if self._on_host else DeviceLoops(program, warps=reorders)
        taken = () if speculation is None else speculation.usual.params
        self._work = work_of(program, speed, (*(s.target for s in self._scatters), *taken))
        self._report = report_of(program, marks)
        self._reported = () if self._report is None else self._report.arrays
        reported = self._reported
        written = {*arrays_written(program.body), *reported}
        adds = [s for s in walk(program.body) if isinstance(s, Accumulate)]
        stored = {s.array for s in adds if s.single_write}
        if self._run:  # it adds to what is there
            stored = set[Array]()
        self._written = [k for k, param in enumerate((*self.params, *reported)) if param in written]
        self._stored = [k for k, param in enumerate(self.params) if param in stored]
        self._whole = WholeWrites(program, self.params)
        # Memory of the host is filled at once, which takes as long as to write it here.
        self._cleared = {} if self._on_host else self._whole.cleared
        self._zeroed = (*self._stored, *self._cleared)

    def source(self, *, serial: bool = False) -> str:
        """Return the source in the language of the compiler, or in Python."""
        if self._run:
            return print_python(self.program).text
        return self._emitted(self.program, serial=serial).text

    def _emitted(self, program: Program, **options: Any) -> Emitted:
        return emit(
            program,
            grids=self._grids,
            warps=self._warps,
            guarded=self._guarded,
            report=self._reported,
            spellings=self._spellings,
            **options,
        )

    @cached_property
    def _silent(self) -> CompiledProgram:
        """The program without its prints and reports."""
        marks = () if self._report is None else self._report.marks
        return CompiledProgram(replace(self.program, body=silent(self.program.body)), marks)

    def launch(self, args: Sequence[Any]) -> None:
        """Run on buffers and numbers, one for each of `params`."""
        if self._native is not None and self._native(args):
            return
        if self._speaks and is_silenced():
            self._silent.launch(args)
            return
        key = self._work.key(args)
        if self._speculation is not None and not self._fits(key):
            self._in_general.launch(args)
            return
        zeros, parts = self._zeros(args) if self._zeroed else (_NO_ZEROS, NO_PARTS)
        variant = self._chosen(zeros, key)
        if not self._on_host:
            for k in parts.added.intersection(zeros.before):
                args[k].abandon()
        if self._report is None:
            variant.launch(args)
        else:
            self._report.collect(
                lambda memory: variant.launch([*args, *memory]),
                lambda array: args[self.params.index(array)].shape,
            )
        for k in zeros.after:
            args[k].clear(parts.cleared[k])

    def first_failure(self, args: Sequence[Any]) -> tuple[Fail, list[float]] | None:
        """Run a program that can fail; return its failure, if there is one, and the values."""
        assert self._report is not None
        variant = self._chosen(_NO_ZEROS, self._work.key(args))
        return self._report.first_of(
            lambda memory: variant.launch([*args, *memory]), lambda array: ()
        )

    def settled(self, args: Sequence[Any]) -> Launcher:
        """Return a launcher of the program for buffers of these shapes and for any numbers.

        One variant of the code, where the shapes decide about it; else the program itself.
        """
        numbers_matter = any(isinstance(self.params[k], Var) for k in self._work.positions)
        zeros_matter = bool(self._large(self._zeroed, args))
        if self._speaks or numbers_matter or zeros_matter or self._native is not None:
            return self
        key = self._work.key(args)
        return self._chosen(_NO_ZEROS, key) if self._fits(key) else self._in_general

    def _chosen(self, zeros: _Zeros, key: tuple[Any, ...]) -> Launcher:
        """Return the variant for arguments of zeros and a key of the estimated work."""
        known = self._choice.get((zeros, key))
        if known is not None:
            return known
        try:
            self._work.check(key, flat=not self._on_host, from_zero=self._from_zero)
        except KernelError:  # too many iterations, or beyond what can be counted to
            if self._rebased is None:
                raise
            with LOCK:
                variant = _OfOthers(self._rebased(), self.params)
        else:
            which = self._which(zeros, key)
            with LOCK:
                variant = self._variants.get(which)
                if variant is None:
                    variant = self._variants[which] = self._variant(which)
        self._choice[zeros, key] = variant
        return variant

    @cached_property
    def general(self) -> CompiledProgram:
        """The program for launches of all sizes."""
        with LOCK:
            return self if self._speculation is None else self._speculation.otherwise()

    @cached_property
    def _in_general(self) -> Launcher:
        return _OfOthers(self.general, self.params)

    @property
    def speculates(self) -> bool:
        """Whether there is another form, for other launches."""
        return self._speculation is not None

    def _fits(self, key: tuple[Any, ...]) -> bool:
        """Tell whether what the program takes for granted holds in a launch."""
        if self._speculation is None:
            return True
        fits = self._fitting.get(key)
        if fits is None:
            fits = self._fitting[key] = self._speculation.usual.holds(self._given(key))
        return fits

    def _given(self, key: tuple[Any, ...]) -> dict[Array | Var, Any]:
        """Return the shapes and numbers of a launch by the parameters."""
        places = zip(self._work.positions, key, strict=True)
        return {self.params[k]: value for k, value in places}

    @cached_property
    def _loops_of_functions(self) -> list[For]:
        return [] if self._vector_math is None else loops_of_functions(self.program)

    def _which(self, zeros: _Zeros, key: tuple[Any, ...]) -> _Which:
        plan, scattering = self._plan(key)
        serial = self._on_host and self._work.is_for_one(
            key, self._threads, scattering, lambda: self._costs().waking
        )
        outlined = self._outlines and self._work.amount(key) >= _VECTORS
        few: frozenset[int] = frozenset()
        if outlined and not serial and plan == ATOMICS:
            few = self._few(key)
        short = outlined and not serial and self._is_short(key)
        forms = Forms()
        if self._device_loops and not plan.rows:  # which have other loops
            forms = self._device_loops.choose(self._work.loops(key))
        plan = plan.in_order if serial else plan
        lengths: Lengths = frozenset()
        if outlined and self._loops_of_functions:
            lengths = lengths_of(self.program, self._loops_of_functions, self._given(key))
        return _Which(serial, outlined, zeros, plan, few, short, forms, lengths)

    def _is_short(self, key: tuple[Any, ...]) -> bool:
        """Tell whether all loops end early, including the loops that add copies up."""
        numbers = [
            prod((*shape, *shape_of(target.type.element)))
            for target, shape in self._targets(key).items()
        ]
        return max(self._work.highest(key), *numbers, 0) < SHORT

    def _plan(self, key: tuple[Any, ...]) -> tuple[Plan, tuple[float, float] | None]:
        """Return how loops scatter, and the steps that this takes one thread and all."""
        if not self._scatters:
            return ATOMICS, None
        if not self._on_host:
            return rows_of(self._scatters, self._work.loops(key), self._targets(key)), None
        choice = choose(
            self._scatters,
            self._work.loops(key),
            self._targets(key),
            strategy=self._strategy,
            threads=self._threads,
            costs=self._costs,
        )
        return choice.plan, None if self._strategy == "atomics" else (choice.alone, choice.shared)

    def _targets(self, key: tuple[Any, ...]) -> dict[Array, tuple[int, ...]]:
        """Return the shapes of the arrays whose elements iterations share."""
        known = dict(zip(self._work.positions, key, strict=True))
        return {s.target: known[self.params.index(s.target)] for s in self._scatters}

    def _costs(self) -> Costs:
        return costs_on(current_session().backend, self._threads)

    def _few(self, key: tuple[Any, ...]) -> frozenset[int]:
        """Return the numbers of the loops that have more parts than iterations or rows."""
        if not self._reorders or not any(map(may_spread, self._loops)):
            return frozenset()
        most = parts_of_loops(self._threads) // 2
        found: set[int] = set()
        for number, (loop, work) in enumerate(zip(self._loops, self._work.loops(key), strict=True)):
            *outer, last = work.axes
            if has_long_sums(loop):
                few = prod(work.axes) <= most
            else:
                few = may_spread(loop) and prod(outer) <= most and last > 2 * BLOCK
            if few:
                found.add(number)
        return frozenset(found)

    @cached_property
    def _loops(self) -> list[ParallelFor]:
        return [stmt for stmt in self.program.body.stmts if isinstance(stmt, ParallelFor)]

    def _variant(self, which: _Which) -> Launcher:
        if self._run:
            report = None if self._report is None else (self._report.count, self._report.values)
            params = (*self.params, *self._reported)
            return self._run(self.program, params, written=self._written, report=report)
        started, spent = time.perf_counter(), time.process_time()
        program = self._whole.without_clears(which.zeros.after)
        if which.zeros.after and not has_effects(program.body):
            return _NOTHING
        pieces = parts_of_loops(self._threads)
        emitted, copies, partial, rows = self._kept.get(
            (*self._key, "text", which), lambda: self._text(program, which)
        )
        memory = [(one.array, self._count_of(one)) for one in copies]
        memory += [(array, _always(pieces)) for array in partial]
        memory += [pair for one in rows for pair in self._counts_of(one)]
        more = tuple(array for array, _ in memory)
        params = (*self.params, *more, *self._reported)
        variant = self._compile(
            emitted,
            self.program,
            params,
            written=[*self._written, *range(len(self.params), len(self.params) + len(more))],
            on_host=self._on_host,
            as_written=self._as_written,
        )
        if more:
            wanted = [(array.type.element, count) for array, count in memory]
            without = which._replace(plan=ATOMICS, few=frozenset())
            variant = _WithMemory(variant, wanted, lambda: self._variant(without))
        seconds = time.perf_counter() - started
        self.seconds += seconds
        # On a busy machine, other processes add to the time.
        note_slow_compile(self.program, min(seconds, time.process_time() - spent))
        return variant

    def _text(
        self, program: Program, which: _Which
    ) -> tuple[Emitted, tuple[Copies, ...], tuple[Array, ...], tuple[Rows, ...]]:
        """Return the source of a variant, and the memory it needs besides its parameters."""
        made, copies, partial, rows = self._formed(program, which)
        emitted = self._emitted(
            made.program,
            serial=which.serial,
            polynomials=made.polynomials,
            outlined=which.outlined,
            short=which.short,
            threads=self._threads if self._on_host and not which.serial else 0,
            fresh=self._arrays(which.zeros.before),
            tiled=which.forms.tiled,
            opaque=self._opaque(made, serial=which.serial),
        )
        return emitted, copies, partial, rows

    def _opaque(self, made: Vectorised, *, serial: bool) -> frozenset[Var]:
        """Return the indices of the loops whose step LLVM is not to know."""
        if not (self._on_host and self._unrolls):
            return frozenset()
        codes = loop_codes(made.program, made.polynomials, serial=serial, reorders=self._reorders)
        return opaque_steps(made.program, codes)

    def _count_of(self, copies: Copies) -> Count:
        position = self.params.index(copies.target)
        return lambda args: copies.count(args[position].shape)

    def _counts_of(self, rows: Rows) -> list[tuple[Array, Count]]:
        """Return the memory for rows, and for their stripes, with the numbers of elements."""
        position = self.params.index(rows.scatter.target)

        def whole(args: Sequence[Any]) -> int:
            work = self._work.loops(self._work.key(args))[rows.scatter.loop]
            return max(1, int(prod(work.axes)) * prod(args[position].shape))

        def stripes(args: Sequence[Any]) -> int:
            return STRIPES * prod(args[position].shape)

        return [(rows.array, whole), (rows.stripes, stripes)]

    def loop_codes(self, args: Sequence[Any]) -> list[list[LoopCode]] | str:
        """Return the machine code forms of the loops of a launch on the CPU.

        Args:
            args: As for `launch`; whatever has a shape stands for a buffer.

        Returns:
            The result of `loop_codes`; or why no loop is vectorised, as a clause.
        """
        if current_session().debug:
            return "debug sessions run without them"
        if self._speaks:
            return "kernels that print or report failures run without them"
        if self._run:
            return "it runs as Python"
        if not self._outlines:
            return "its functions tell zeros of both signs apart"
        key = self._work.key(args)
        if not self._fits(key):
            return self.general.loop_codes(
                [args[self.params.index(p)] for p in self.general.params]
            )
        which = self._which(_NO_ZEROS, key)
        if not which.outlined:
            return "launches as small as this one run without them"
        made, *_ = self._formed(self.program, which)
        return loop_codes(
            made.program, made.polynomials, serial=which.serial, reorders=self._reorders
        )

    def _formed(
        self, program: Program, which: _Which
    ) -> tuple[Vectorised, tuple[Copies, ...], tuple[Array, ...], tuple[Rows, ...]]:
        """Return the program of a variant, and the memory it needs besides its parameters."""
        parts, pieces = parts_of(self._threads), parts_of_loops(self._threads)
        functions = () if self._vector_math is None else self._vector_math.spellings
        if which.outlined:
            program = in_strips(program, functions, atomics=False, loops=which.plan.loops)
        program, copies = privatise(program, which.plan, parts)
        program, rows = in_rows(program, which.plan.rows)
        program, partial = spread(program, which.few, pieces)
        if self._device_loops:
            program = self._device_loops.formed(program, which.forms)
        if not which.outlined:
            return Vectorised(program, {}, ()), copies, partial, rows
        # Loops of a few iterations leave others innermost, of which the other passes take care.
        # Indices that are sums need no strips, and strips have loops of functions.
        program = split_index_sets(unroll_and_jam(unroll_loops(program)))
        program = in_strips(program, functions, atomics=not which.serial)
        if self._vector_math is None:
            return Vectorised(program, {}, ()), copies, partial, rows
        made = vectorise_functions(
            program,
            self._vector_math,
            serial=which.serial,
            reorders=self._reorders,
            lengths=which.lengths,
        )
        return made, copies, partial, rows

    def _arrays(self, positions: tuple[int, ...]) -> list[Array]:
        return [param for k in positions if isinstance(param := self.params[k], Array)]

    def _large(self, positions: Iterable[int], args: Sequence[Any]) -> list[int]:
        """Return which arguments are so large that it matters that they hold zeros.

        On devices, where each fill is a call besides, one that is large counts for all.
        """
        found = [k for k in positions if args[k].nbytes >= _FRESH_BYTES]
        return found if self._on_host or not found else [*positions]

    def _zeros(self, args: Sequence[Any]) -> tuple[_Zeros, Parts]:
        """Return the arguments with zeros in them, and the parts that the launch overwrites."""
        before = [k for k in self._large(self._stored, args) if args[k].zeros]
        after = self._large(self._cleared, args)
        parts = NO_PARTS
        if not self._on_host and (before or after):
            parts = self._whole.of(args)
            # A fill that waits takes as long as the stores where somebody does look.
            after = [k for k in after if 2 * size_of(parts.cleared.get(k)) >= prod(args[k].shape)]
        if not (before or after):
            return _NO_ZEROS, NO_PARTS
        memory = [arg.contents for arg in args if isinstance(arg, Buffer)]
        alone = {k for k in (*before, *after) if memory.count(args[k].contents) == 1}
        zeros = _Zeros(
            tuple([k for k in before if k in alone]), tuple([k for k in after if k in alone])
        )
        return zeros, parts
