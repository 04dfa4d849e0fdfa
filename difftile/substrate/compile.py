"""Emitted source to a kernel that Taichi has compiled, and the launch of it.

Python marshalling is most of what a Taichi launch costs. The compiled kernel is therefore
launched through a context that is filled here: on the CPU one context is kept and only the
arguments that changed are set.
"""

from __future__ import annotations

import itertools
import linecache
import time
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn, Protocol, cast

import numpy as np
import taichi as ti
from taichi.lang import impl

from difftile.diagnostics import CompileError, DifftileError, FieldError, LaunchError
from difftile.ir.nodes import Accumulate, Array, Fail, Let, Print, Program, Var
from difftile.ir.types import (
    FLOATS,
    FieldType,
    numpy_dtype,
    scalar_of,
    shape_of,
)
from difftile.ir.walk import arrays_written, silent, walk
from difftile.substrate.device import at_end, current
from difftile.substrate.emit import Emitted, emit
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import Buffer
from difftile.substrate.report import is_silenced, report_of
from difftile.substrate.taichi import accurate, dense, linalg, predicates, warps
from difftile.substrate.taichi.names import to_taichi
from difftile.substrate.taichi.reading import (
    defining_emitted_source,
    reading_emitted_source,
    without_fast_math,
)
from difftile.substrate.taichi.translate import said, translated
from difftile.substrate.work import Work, work_of

_counter = itertools.count()
_MOST_ARGUMENTS = 64

# Storing instead of adding pays where memory is what takes the time; below, one variant is enough.
_FRESH_BYTES = 1 << 20


class Launchable(Protocol):
    """What runs on buffers and numbers, one for each parameter."""

    def launch(self, args: Sequence[Any]) -> None:
        """Run."""
        ...


class CompiledProgram:
    """A program ready to be launched; the variants of its code are compiled on first use.

    Args:
        program: A finished program: its parameters are what `launch` takes, its temps follow.
        marks: Memory that it uses besides, and that is zero before each launch.
    """

    def __init__(self, program: Program, marks: tuple[Array, ...] = ()) -> None:
        self.program = program
        self.params = (*program.params, *program.temps)
        if len(self.params) > _MOST_ARGUMENTS:
            raise CompileError(
                f"'{program.name}' needs {len(self.params)} arguments; Taichi passes at most "
                f"{_MOST_ARGUMENTS}.",
                None,
                hint="split the kernel, or put several fields into one of vectors.",
            )
        self._on_host = current().on_host
        self._threads = current().threads
        self._guarded = not current().on_host and current().fast_math
        self._work: Work = work_of(program)
        self.seconds = 0.0  # that compiling took
        self._variants: dict[tuple[bool, tuple[int, ...]], _Variant] = {}
        self._choice: dict[tuple[Any, ...], _Variant] = {}
        self._speaks = any(isinstance(stmt, (Print, Fail)) for stmt in walk(program.body))
        self._as_written = any(isinstance(s, Let) and s.op == "exact" for s in walk(program.body))
        self._report = report_of(program, marks)
        self._reported = () if self._report is None else self._report.arrays
        reported = self._reported
        written = {*arrays_written(program.body), *reported}
        adds = [s for s in walk(program.body) if isinstance(s, Accumulate)]
        stored = {s.array for s in adds if s.single_write}
        self._written = [k for k, param in enumerate((*self.params, *reported)) if param in written]
        self._stored = [k for k, param in enumerate(self.params) if param in stored]

    def source(self, *, serial: bool = False) -> str:
        """Return the Taichi source."""
        flat = not self._on_host
        return emit(
            self.program,
            serial=serial,
            flat=flat,
            guarded=self._guarded,
            report=self._reported,
        ).text

    @cached_property
    def _silent(self) -> CompiledProgram:
        """The same without what it prints and reports."""
        marks = () if self._report is None else self._report.marks
        return CompiledProgram(replace(self.program, body=silent(self.program.body)), marks)

    def launch(self, args: Sequence[Any]) -> None:
        """Run on buffers and numbers, one for each of `params`."""
        if self._speaks and is_silenced():
            self._silent.launch(args)
            return
        fresh = self._fresh(args) if self._stored and self._on_host else ()
        key = self._work.key(args)
        variant = self._chosen(fresh, key)
        if self._report is None:
            variant.launch(args)
        else:
            self._report.collect(
                lambda memory: variant.launch([*args, *memory]),
                lambda array: args[self.params.index(array)].shape,
            )

    def settled(self, args: Sequence[Any]) -> Launchable:
        """Return what launches the program on buffers of these shapes, and on any numbers.

        That is one variant of the code where shapes alone decide about it, else the program.
        """
        numbers_matter = any(isinstance(self.params[k], Var) for k in self._work.positions)
        zeros_matter = self._on_host and any(args[k].nbytes >= _FRESH_BYTES for k in self._stored)
        if self._speaks or numbers_matter or zeros_matter:
            return self
        return self._chosen((), self._work.key(args))

    def _chosen(self, fresh: tuple[int, ...], key: tuple[Any, ...]) -> _Variant:
        """Return the variant for some arguments that hold zeros, and what the work depends on."""
        known = self._choice.get((fresh, key))
        if known is not None:
            return known
        serial = self._on_host and self._work.is_for_one(key, self._threads)
        with LOCK:
            variant = self._variants.get((serial, fresh))
            if variant is None:
                variant = self._variants[(serial, fresh)] = self._variant(serial, fresh)
        self._choice[(fresh, key)] = variant
        return variant

    def _variant(self, serial: bool, fresh: tuple[int, ...]) -> _Variant:
        started = time.perf_counter()
        emitted = emit(
            self.program,
            serial=serial,
            flat=not self._on_host,
            guarded=self._guarded,
            threads=self._threads if self._on_host and not serial else 0,
            fresh=[param for k in fresh if isinstance(param := self.params[k], Array)],
            report=self._reported,
        )
        params = (*self.params, *self._reported)
        variant = _Variant(
            emitted, self.program, params, self._written, self._on_host, self._as_written
        )
        self.seconds += time.perf_counter() - started
        return variant

    def _fresh(self, args: Sequence[Any]) -> tuple[int, ...]:
        """Return the arguments that hold zeros, which what is added to them may replace."""
        large = [k for k in self._stored if args[k].nbytes >= _FRESH_BYTES and args[k].zeros]
        if not large:
            return ()
        addresses = [arg.address for arg in args if isinstance(arg, Buffer)]
        return tuple([k for k in large if addresses.count(args[k].address) == 1])


class _Variant:
    """One compiled kernel and its launch context, with the arguments that this holds.

    A launch takes the context away, so that threads never fill the same one; who finds none makes
    another. A launch that is broken off does not put it back: what it holds is uncertain then.
    """

    def __init__(
        self,
        emitted: Emitted,
        of: Program,
        params: tuple[Array | Var, ...],
        written: Sequence[int],
        on_host: bool,
        as_written: bool,
    ) -> None:
        examples = [_example(param) for param in params]

        def compiled() -> Any:
            with _built(emitted) as kernel:
                return kernel.compiled_kernels[kernel.ensure_compiled(*examples)]

        try:
            program: Any = impl.get_runtime().prog
            with reading_emitted_source(as_written=as_written) as config:
                self._kernel: Any = compiled()
                caps = program.get_device_caps()
                self._compiled: Any = program.compile_kernel(config, caps, self._kernel)
        except (DifftileError, RecursionError, MemoryError):
            raise
        except Exception as error:
            raise translated(emitted, of, error, compiled) from None
        self._name = emitted.name
        self._written = written
        launch: Callable[[Any, Any], None] = program.launch_kernel
        self._run = launch if on_host or not as_written else _as_written(launch)
        self._program = program
        self._on_host = on_host
        self._held: tuple[Any, list[Any]] | None = None
        self._is_float = [isinstance(p, Var) and scalar_of(p.type) in FLOATS for p in params]
        _LIVING.add(self)

    def end(self, why: str) -> None:
        """Refuse to be launched from now on, and let go of what is Taichi's."""

        def refuse(*_: object) -> NoReturn:
            raise FieldError(why)

        self._run = refuse
        self._program = self._kernel = self._compiled = self._held = None

    def launch(self, args: Sequence[Any]) -> None:
        for position in self._written:
            args[position].contents.known = None
        held = self._held
        if held is None:
            held = self._fresh_context()
        self._held = None
        context, last = held
        for position, arg in enumerate(args):
            before = last[position]
            if arg is before:
                continue
            if isinstance(arg, Buffer):
                if self._on_host:
                    # The context still has the sizes, and to set them takes half of the time.
                    sizes = arg.shape if before is None or before.shape != arg.shape else ()
                    context.set_arg_external_array_with_shape(
                        (position,), arg.address, arg.nbytes, sizes, 0
                    )
                else:
                    context.set_arg_ndarray((position,), arg.ndarray.arr)
            elif self._is_float[position]:
                context.set_arg_float((position,), arg)
            else:
                context.set_arg_int((position,), int(arg))
            last[position] = arg
        try:
            self._run(self._compiled, context)
        except DifftileError:
            raise
        except Exception as error:
            raise LaunchError(f"Taichi could not launch '{self._name}': {said(error)}") from None
        # One that held ndarrays cannot be launched twice: the launcher rewrites it.
        if self._on_host:
            self._held = held

    def _fresh_context(self) -> tuple[Any, list[Any]]:
        """Return a context without arguments, and those; behind them the program, to keep alive."""
        kernel, program = self._kernel, self._program
        if kernel is None:
            self._run(None, None)  # says why there is none
        kernel = cast(Any, kernel)
        return kernel.make_launch_context(), [None] * len(self._is_float) + [program]


_LIVING: weakref.WeakSet[_Variant] = weakref.WeakSet()


@at_end
def _end_all(why: str) -> None:
    """Let nothing be launched that belongs to a session which ends; that would be a crash."""
    for variant in list(_LIVING):
        variant.end(why)
    _LIVING.clear()


def _as_written(launch: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Return a launch without fast math: on a GPU the first one writes the machine code."""

    def launched(compiled: Any, context: Any) -> None:
        with LOCK, without_fast_math():
            launch(compiled, context)

    return launched


_HELPERS = {
    "accurate": accurate,
    "dense": dense,
    "linalg": linalg,
    "predicates": predicates,
    "warps": warps,
}


@contextmanager
def _built(emitted: Emitted) -> Generator[Any]:
    """Define the kernel while this is open; Taichi reads its source back through `linecache`.

    Taichi notes every kernel for as long as the process lives: this one is taken off its list.
    """
    file = f"<difftile {emitted.name} {next(_counter)}>"
    text = emitted.text
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {"ti": ti, **_HELPERS}
    namespace |= {name: _annotation(type_) for name, type_ in emitted.annotations.items()}
    noted: list[Any] = impl.get_runtime().kernels
    try:
        with defining_emitted_source():
            exec(compile(text, file, "exec", dont_inherit=True), namespace)
        yield namespace[emitted.name]._primal
    finally:
        noted[:] = [one for one in noted if one.func.__code__.co_filename != file]
        del linecache.cache[file]


def _annotation(type_: FieldType) -> Any:
    return ti.types.ndarray(dtype=to_taichi(type_.element), ndim=type_.ndim)


def _example(param: Array | Var) -> Any:
    """Return an argument of a parameter's type, to compile for."""
    if isinstance(param, Var):
        return 0.0 if scalar_of(param.type) in FLOATS else 0
    element = param.type.element
    shape = (1,) * param.type.ndim + shape_of(element)
    return np.zeros(shape, numpy_dtype(scalar_of(element)))
