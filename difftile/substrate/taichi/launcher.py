"""Emitted source to a kernel that Taichi has compiled, and the launch of it.

Python marshalling is most of the cost of a Taichi launch. The compiled kernel is therefore
launched through a context that is filled here: on the CPU one context is kept and only the
changed arguments are set.
"""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, cast

import numpy as np
import taichi as ti
from taichi.lang import impl

from difftile.diagnostics import DifftileError, FieldError, LaunchError
from difftile.ir.nodes import Array, Program, Var
from difftile.ir.types import FLOATS, numpy_dtype, scalar_of, shape_of
from difftile.substrate.emit import Emitted
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import Buffer
from difftile.substrate.taichi import (
    accurate,
    dense,
    linalg,
    predicates,
    vector_math,
    warps,
)
from difftile.substrate.taichi.names import dtype_of
from difftile.substrate.taichi.reading import (
    reading_emitted_source,
    without_fast_math,
)
from difftile.substrate.taichi.translate import said, translated

_counter = itertools.count()


class TaichiKernel:
    """A kernel that Taichi has compiled, and its launch context with the arguments that this holds.

    A launch takes the context away, so that threads never fill the same one; a launch that finds
    none makes another. An interrupted launch does not put it back, since its arguments are unknown.

    Args:
        name: Stands in messages.
        kernel: Taichi's kernel.
        compiled: Its code.
        is_float: Which parameters are numbers with a fraction.
        written: The positions of the buffers that it writes.
        on_host: Buffers are passed by their address.
        as_written: Fast math is left out, whatever the session has.
        least_ndim: As many axes has a buffer of shape ().
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
    ) -> None:
        self._name = name
        self._kernel = kernel
        self._compiled = compiled
        self._is_float = is_float
        self._places = [(position,) for position in range(len(is_float))]
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
        LIVING.add(self)

    @property
    def ended(self) -> bool:
        """Whether the session is over."""
        return self._kernel is None

    def end(self, why: str) -> None:
        """Refuse later launches, and release everything of Taichi."""

        def refuse(*_: object) -> NoReturn:
            raise FieldError(why)

        self._run = refuse
        self._program = self._kernel = self._compiled = self._held = None

    def launch(self, args: Sequence[Any]) -> None:
        """Run on buffers and numbers, one for each parameter."""
        for position in self._written:
            args[position].contents.known = None
        held = self._filled_on_host(args) if self._on_host else self._filled_on_device(args)
        try:
            self._run(self._compiled, held[0])
        except DifftileError:
            raise
        except Exception as error:
            raise LaunchError(f"Taichi could not launch '{self._name}': {said(error)}") from None
        # One that held ndarrays cannot be launched twice: the launcher rewrites it.
        if self._on_host:
            self._held = held

    def _filled_on_host(self, args: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return the context of the launch before, or an empty one, with these arguments."""
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
                # The context still has the sizes, and to set them takes half of the time.
                sizes = ()
                if before is None or before.shape != arg.shape:
                    sizes = arg.shape or self._least_shape
                context.set_arg_external_array_with_shape(
                    (position,), arg.address, arg.nbytes, sizes, 0
                )
            elif self._is_float[position]:
                context.set_arg_float((position,), arg)
            else:
                context.set_arg_int((position,), int(arg))
            last[position] = arg
        return held

    def _filled_on_device(self, args: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return a new context with these arguments."""
        held = self._fresh_context()
        context: Any = held[0]
        set_array = context.set_arg_ndarray
        for place, is_float, arg in zip(self._places, self._is_float, args, strict=True):
            if isinstance(arg, Buffer):
                device: Any = arg.device  # which memory of this session has here
                if arg.address:  # not of Taichi, which asks the driver where it is
                    shape = arg.shape or self._least_shape
                    context.set_arg_external_array_with_shape(
                        place, arg.address, arg.nbytes, shape, 0
                    )
                else:
                    set_array(place, device.handle)
            elif is_float:
                context.set_arg_float(place, arg)
            else:
                context.set_arg_int(place, int(arg))
        return held

    def _fresh_context(self) -> tuple[Any, list[Any]]:
        """Return an empty context and a list of its arguments, which ends with the program."""
        kernel, program = self._kernel, self._program
        if kernel is None:
            self._run(None, None)  # raises the reason
        kernel = cast(Any, kernel)
        # The context must not outlive the program, so the program is kept with it.
        return kernel.make_launch_context(), [None] * len(self._is_float) + [program]


LIVING: weakref.WeakSet[TaichiKernel] = weakref.WeakSet()


class CompiledKernel(TaichiKernel):
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
        examples = [_example(param, emitted.least_ndim) for param in params]

        def read() -> Any:
            with _built(emitted) as kernel:
                return kernel.compiled_kernels[kernel.ensure_compiled(*examples)]

        try:
            program: Any = impl.get_runtime().prog
            with reading_emitted_source(as_written=as_written) as config:
                kernel: Any = read()
                caps = program.get_device_caps()
                compiled: Any = program.compile_kernel(config, caps, kernel)
        except (DifftileError, RecursionError, MemoryError):
            raise
        except Exception as error:
            raise translated(emitted, of, error, read) from None
        super().__init__(
            emitted.name,
            kernel,
            compiled,
            is_float=[isinstance(p, Var) and scalar_of(p.type) in FLOATS for p in params],
            written=written,
            on_host=on_host,
            as_written=as_written,
            least_ndim=emitted.least_ndim,
        )


_HELPERS = {
    "accurate": accurate,
    "dense": dense,
    "linalg": linalg,
    "predicates": predicates,
    "vector_math": vector_math,
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
    for name, type_ in emitted.annotations.items():
        namespace[name] = ti.types.ndarray(dtype=dtype_of(type_.element), ndim=type_.ndim)
    noted: list[Any] = impl.get_runtime().kernels
    try:
        exec(compile(text, file, "exec", dont_inherit=True), namespace)
        yield namespace[emitted.name]._primal
    finally:
        noted[:] = [one for one in noted if one.func.__code__.co_filename != file]
        del linecache.cache[file]


def _example(param: Array | Var, least_ndim: int) -> Any:
    """Return an argument of a parameter's type, to compile for."""
    if isinstance(param, Var):
        return 0.0 if scalar_of(param.type) in FLOATS else 0
    element = param.type.element
    shape = (1,) * max(param.type.ndim, least_ndim) + shape_of(element)
    return np.zeros(shape, numpy_dtype(scalar_of(element)))
