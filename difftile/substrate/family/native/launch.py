"""Native kernels: kernels of Taichi in terms of warps and blocks, launched as emitted source is.

Taichi compiles them for the first launch of a session, without its search for sums over a whole
loop and its forwarding of stores: both take shared memory and counters for a thread's own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from difftile.ir.types import Type, numpy_dtype, scalar_of, shape_of
from difftile.records import dataclass
from difftile.substrate.compiler import private
from difftile.substrate.family.dtypes import type_of
from difftile.substrate.family.launcher import LaunchedKernel
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import Buffer
from difftile.substrate.pool import Pool

impl = private.impl


class NativeKernel:
    """A native kernel, which is called with buffers and numbers, one for each parameter.

    A parameter that is annotated with `ti.template()` is an integer that is known when the kernel
    is compiled: each one has code of its own. Arrays are annotated with their element and number
    of dimensions. The last parameters may be memory that the kernel is not called with, but keeps
    from one launch to the next; it begins with any contents.

    Args:
        kernel: Taichi's kernel.
        written: The names of the arrays that it writes, apart from that memory.
        memory: The number of elements of each array of memory, by name.
        searched: Whether Taichi looks for equal expressions, which takes long in large kernels.
    """

    def __init__(
        self, kernel: Any, written: tuple[str, ...], memory: Mapping[str, int], searched: bool
    ) -> None:
        self.kernel: Any = private.kernel_of(kernel)
        parameters = private.annotations_of(self.kernel)
        names, self._kinds = list(parameters), list(parameters.values())
        assert names[len(names) - len(memory) :] == list(memory) and parameters.keys() >= {*written}
        self._constants = [
            k for k, kind in enumerate(self._kinds) if isinstance(kind, private.template)
        ]
        called_with = range(len(names) - len(memory))
        self._passed = [k for k in called_with if k not in self._constants]
        self._constants_of, self._passed_of = _picked(self._constants), _picked(self._passed)
        self._written = [k for k, at in enumerate(self._passed) if names[at] in written]
        self.sizes = memory
        self._searched = searched
        self._memory = [(_element(parameters[name]), size) for name, size in memory.items()]
        self._ready: dict[tuple[int, ...], _Ready] = {}

    def __call__(self, *args: Any) -> None:
        """Run on buffers and numbers; no array that is written may be pinned."""
        constants = self._constants_of(args)
        ready = self._ready.get(constants)
        if ready is None or ready.kernel.ended:
            pool = next(arg.pool for arg in args if isinstance(arg, Buffer))
            ready = self._compiled(constants, pool)
        ready.kernel.launch((*self._passed_of(args), *ready.memory))

    def _compiled(self, constants: tuple[int, ...], pool: Pool) -> _Ready:
        """Compile for some constants in the running session, unless another thread has."""
        with LOCK:
            ready = self._ready.get(constants)
            if ready is None or ready.kernel.ended:
                memory = [pool.allocate(element, (size,)) for element, size in self._memory]
                ready = self._ready[constants] = _Ready(self._compile(constants), memory)
            return ready

    def _compile(self, constants: tuple[int, ...]) -> LaunchedKernel:
        given = iter(constants)
        examples = [
            next(given) if k in self._constants else _example(kind)
            for k, kind in enumerate(self._kinds)
        ]
        kernel = self.kernel
        program: Any = impl.get_runtime().prog
        with _as_it_stands(program, self._searched) as config:
            made: Any = private.materialised(kernel, examples)
            compiled: Any = private.compiled(program, config, made)
        floats = [isinstance(examples[k], float) for k in self._passed]
        return LaunchedKernel(
            kernel.func.__name__,
            made,
            compiled,
            is_float=floats + [False] * len(self._memory),
            written=self._written,
            on_host=False,
        )


@dataclass(frozen=True, slots=True)
class _Ready:
    """Code for some constants, and the memory that it keeps."""

    kernel: LaunchedKernel
    memory: Sequence[Buffer]


def native(
    *written: str, memory: Mapping[str, int] = MappingProxyType({}), searched: bool = True
) -> Callable[[Any], NativeKernel]:
    """Make a kernel of Taichi a native one; the decorator above `@ti.kernel`.

    Args:
        written: The names of the arrays that it writes.
        memory: The arrays that it keeps, and their numbers of elements.
        searched: Whether Taichi looks for equal expressions, which takes long in large kernels.
    """
    return lambda kernel: NativeKernel(kernel, written, memory, searched)


@contextmanager
def _as_it_stands(program: Any, searched: bool) -> Generator[Any]:
    """While this is open, Taichi compiles with the configuration that is handed out."""
    config = program.config()
    before = config.cfg_optimization, config.make_thread_local, config.opt_level
    config.cfg_optimization = config.make_thread_local = False
    config.opt_level *= searched
    try:
        yield config
    finally:
        config.cfg_optimization, config.make_thread_local, config.opt_level = before


def _picked(places: Sequence[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return a function that returns the items at some places."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda args: tuple([args[k] for k in places])


def _element(kind: Any) -> Type:
    """Return the type of the elements of an array."""
    return type_of(kind.dtype)


def _example(kind: Any) -> Any:
    """Return an argument of a parameter's type, to compile for."""
    if not isinstance(kind, private.NdarrayType):
        return 0.0 if private.is_real(kind) else 0
    element = _element(kind)
    shape = (1,) * cast(int, kind.ndim) + shape_of(element)
    return np.zeros(shape, numpy_dtype(scalar_of(element)))
