"""Emitted source to a kernel that Taichi has compiled, and the launch of it.

Python marshalling is most of the cost of a Taichi launch. The compiled kernel is therefore
launched through a context that is filled here: on the CPU one context is kept and only the
changed arguments are set.
"""

from __future__ import annotations

import itertools
import struct
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn, cast

from difftile.diagnostics import DifftileError, FieldError, LaunchError
from difftile.ir.nodes import Array, ParallelFor, Program, Var
from difftile.ir.types import FLOATS, numpy_dtype, scalar_of
from difftile.substrate.batch import OPEN
from difftile.substrate.compiler import private
from difftile.substrate.emit import Emitted
from difftile.substrate.family.build import (
    UnreadSource,
    compiling,
    kernel_of,
    without_fast_math,
)
from difftile.substrate.family.cuda import take_stream, takes_stream
from difftile.substrate.family.translate import said, translated
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import Buffer

impl = private.impl
_numbers = itertools.count()  # of kernels


class LaunchedKernel:
    """A compiled kernel, and its launch context with the arguments that this holds.

    A launch takes the context away, so that threads never fill the same one; a launch that finds
    none makes another. An interrupted launch does not put it back, since its arguments are unknown.

    Args:
        name: Stands in messages.
        kernel: The kernel of the core.
        compiled: Its code.
        is_float: Which parameters are numbers with a fraction.
        written: The positions of the buffers that it writes.
        on_host: Buffers are passed by their address.
        as_written: Fast math is left out, whatever the session has.
        least_ndim: As many axes has a buffer of shape ().
        params: The parameters; None if they are not known.
        tasks: About how many tasks of a device a launch is.
    """

    def __init__(
        self,
        name: str,
        kernel: Any,
        compiled: Any,
        *,
        is_float: Sequence[bool],
        written: Sequence[int],
        on_host: bool,
        as_written: bool = False,
        least_ndim: int = 0,
        params: Sequence[Array | Var] | None = None,
        tasks: int = 1,
    ) -> None:
        self.number = next(_numbers)
        self.tasks = tasks
        self._packing = None if params is None else _packing(params, least_ndim)
        self._name = name
        self._kernel = kernel
        self._compiled = compiled
        self._is_float = is_float
        self._places = [private.place_of(position) for position in range(len(is_float))]
        self._written = written
        self._on_host = on_host
        self._least_shape = (1,) * least_ndim
        self._program: Any = impl.get_runtime().prog
        launch: Callable[[Any, Any], None] = self._program.launch_kernel

        def launch_as_written(compiled: Any, context: Any) -> None:
            """Launch without fast math: on a GPU the first launch writes the machine code."""
            with LOCK, without_fast_math():
                launch(compiled, context)

        self._run = launch if on_host or not as_written else launch_as_written
        self._held: tuple[Any, list[Any]] | None = None
        self._takes_stream = not on_host and takes_stream()
        LIVING.add(self)

    @property
    def ended(self) -> bool:
        """Whether the session is over."""
        return self._kernel is None

    def end(self, why: str) -> None:
        """Refuse later launches, and release everything of the compiler."""

        def refuse(*_: object) -> NoReturn:
            raise FieldError(why)

        self._run = refuse
        self._program = self._kernel = self._compiled = self._held = None

    def launch(self, args: Sequence[Any]) -> None:
        """Run on buffers and numbers, one for each parameter."""
        for position in self._written:
            args[position].contents.known = None
        if not self._on_host:
            for arg in args:
                if isinstance(arg, Buffer) and not arg.address:
                    _ = cast(Any, arg.device).handle  # with its fill
            if OPEN.batch is not None:
                OPEN.batch.add(self, args)
                return
        self.start(args)

    def start(self, args: Sequence[Any]) -> None:
        """Run now, on contents that are there; `launch` has seen to that."""
        held = self._filled_on_host(args) if self._on_host else self._filled_on_device(args)
        try:
            if self._takes_stream:
                take_stream()
            self._run(self._compiled, held[0])
        except DifftileError:
            raise
        except Exception as error:
            raise LaunchError(
                f"{private.NAME} could not launch '{self._name}': {said(error)}"
            ) from None
        # One that held ndarrays cannot be launched twice: the launcher rewrites it.
        if self._on_host:
            self._held = held

    def prepared(self, args: Sequence[Any]) -> tuple[Callable[[Any], None], Any]:
        """Return a launch on a device, and the context with its arguments that it takes."""
        context, _ = self._filled_on_device(args)
        return partial(self._run, self._compiled), context

    def packed(self, args: Sequence[Any]) -> bytes | None:
        """Return the arguments as code of a device reads them; None where that is not known."""
        if self._packing is None:
            return None
        values: list[Any] = []
        for arg in args:
            if isinstance(arg, Buffer):
                address = arg.address or cast(Any, arg.device).address
                if not address:
                    return None
                values += arg.shape or self._least_shape or (0,)
                values.append(address)
            else:
                values.append(arg)
        try:
            return self._packing.pack(*values)
        except (struct.error, OverflowError):  # numbers that a launch rounds or wraps
            return None

    def _filled_on_host(self, args: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return the context of the launch before, or an empty one, with these arguments."""
        held = self._held
        if held is None:
            held = self._fresh_context()
        self._held = None
        context, last = held
        places = self._places
        for position, arg in enumerate(args):
            before = last[position]
            if arg is before:
                continue
            if isinstance(arg, Buffer):
                # The context still has the sizes, and to set them takes half of the time.
                sizes = ()
                if before is None or before.shape != arg.shape:
                    sizes = arg.shape or self._least_shape
                # Memory of others often is the same again; what is packed has none any more.
                elif before.packed is None and before.address == arg.address:
                    continue
                context.set_arg_external_array_with_shape(
                    places[position], arg.address, arg.nbytes, sizes, 0
                )
            elif self._is_float[position]:
                context.set_arg_float(places[position], arg)
            else:
                context.set_arg_int(places[position], _signed(arg))
            last[position] = arg
        return held

    def _filled_on_device(self, args: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return a new context with these arguments."""
        held = self._fresh_context()
        context: Any = held[0]
        set_array = context.set_arg_ndarray
        for place, is_float, arg in zip(self._places, self._is_float, args, strict=True):
            if isinstance(arg, Buffer):
                # Taichi asks the driver where memory is that is not its own, unless there is none:
                # what is empty has one element in an ndarray, which a kernel would visit, and of
                # memory that was given back only the shape is read.
                own = arg.nbytes and not arg.address
                handle = cast(Any, arg.device).unfilled if own else None
                if handle is None:
                    nbytes = arg.nbytes if arg.address else 0
                    shape = arg.shape or self._least_shape
                    context.set_arg_external_array_with_shape(place, arg.address, nbytes, shape, 0)
                else:
                    set_array(place, handle)
            elif is_float:
                context.set_arg_float(place, arg)
            else:
                context.set_arg_int(place, _signed(arg))
        return held

    def _fresh_context(self) -> tuple[Any, list[Any]]:
        """Return an empty context and a list of its arguments, which ends with the program."""
        kernel, program = self._kernel, self._program
        if kernel is None:
            self._run(None, None)  # raises the reason
        kernel = cast(Any, kernel)
        # The context must not outlive the program, so the program is kept with it.
        return kernel.make_launch_context(), [None] * len(self._is_float) + [program]


LIVING: weakref.WeakSet[LaunchedKernel] = weakref.WeakSet()


class CompiledKernel(LaunchedKernel):
    """A kernel of emitted source."""

    def __init__(
        self,
        emitted: Emitted,
        of: Program,
        params: tuple[Array | Var, ...],
        *,
        written: Sequence[int],
        on_host: bool,
        as_written: bool,
    ) -> None:
        try:
            program: Any = impl.get_runtime().prog
            with compiling(as_written=as_written) as config:
                kernel: Any = kernel_of(emitted)
                compiled: Any = private.compiled(program, config, kernel)
        except (DifftileError, RecursionError, MemoryError):
            raise
        except UnreadSource as unread:
            raise translated(emitted, of, unread.error, unread.line) from None
        except Exception as error:
            raise translated(emitted, of, error, None) from None
        super().__init__(
            emitted.name,
            kernel,
            compiled,
            is_float=[isinstance(p, Var) and scalar_of(p.type) in FLOATS for p in params],
            written=written,
            on_host=on_host,
            as_written=as_written,
            least_ndim=emitted.least_ndim,
            params=params,
            tasks=sum(isinstance(stmt, ParallelFor) for stmt in of.body.stmts),
        )


def _signed(number: int) -> int:
    """Return an integer as the core takes it: of u64 the one of i64 with the same bits."""
    number = int(number)
    return number - 2**64 if number >= 2**63 else number


def _packing(params: Sequence[Array | Var], least_ndim: int) -> struct.Struct | None:
    """Return how arguments follow each other, as C has them: of an array sizes and the address."""
    text = "@"
    for param in params:
        if isinstance(param, Array):
            text += "0q" + "i" * max(param.type.ndim, least_ndim, 1) + "P"
        else:
            text += numpy_dtype(scalar_of(param.type)).char
    try:
        return struct.Struct(text + "0q")
    except struct.error:
        return None
