"""The type of a backend: everything that difftile asks of one compiler.

A backend is a package in this folder that makes one `Backend`. `Devices` is a module of it or an
object, and the other groups are classes. Backends share the kernel language in which source is
emitted, so the emitter belongs to none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from difftile.ir.nodes import Array, Program, Var
from difftile.ir.types import Type
from difftile.records import dataclass
from difftile.schedule.target import Polynomials
from difftile.substrate.batch import Graphs
from difftile.substrate.emit import Emitted
from difftile.substrate.memory import DeviceArray
from difftile.substrate.spellings import Spelling


@dataclass(frozen=True, slots=True)
class Device:
    """The device of a session, as a start of the backend has found and set it.

    Args:
        name: "cpu", "cuda", "vulkan" or "metal".
        on_host: Fields live in host memory, and kernels run on the CPU.
        threads: How many threads of the CPU share a parallel loop.
        fast_math: Sums may be computed in another order than they are written in.
        warps: Kernels run in warps of CUDA.
        multiprocessors: How many the device has, as a guess if need be.
        resident: How many threads each of them holds at a time; 0 if that is unknown.
    """

    name: str
    on_host: bool
    threads: int
    fast_math: bool
    warps: bool
    multiprocessors: int
    resident: int


class Devices(Protocol):
    """Starts of the backend, and the end of its compiled code."""

    ARCHS: dict[str, Any]
    HAS_STREAMS: bool  # launches may be on a stream of CUDA

    def settings_of(
        self, arch: str, seed: int, debug: bool, fast_math: bool, options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the settings of a start, with the user's options; no session is ended yet.

        Raises:
            FieldError: The architecture is not there, an option is unknown, or compiled kernels
                cannot be kept where an option says.
        """
        ...

    def running(self) -> str:
        """Return the architecture that the user has started the backend on, or "cpu"."""
        ...

    def start(self, arch: str, settings: Mapping[str, Any], stream: int = ...) -> Device:
        """Start or restart the backend, to launch on a stream of CUDA."""
        ...

    def end(self, why: str) -> None:
        """Refuse every later launch of compiled code, which would crash."""
        ...

    def abandon(self) -> None:
        """Keep a forked process from waiting for threads of its parent."""
        ...

    def cache_folder(self) -> Path:
        """Return the folder of compiled kernels, unless an option of a start names another."""
        ...

    def let_wait(self, waiting: int, stream: int) -> None:
        """Let later work on one stream of CUDA wait for earlier work on another."""
        ...


@dataclass(frozen=True, slots=True)
class VectorMath:
    """The functions that are polynomials in loops of vector instructions.

    Args:
        spellings: How emitted source writes the polynomial of each op.
        limits: The size from which on arguments have no polynomial, by op and type; ops that
            have one everywhere have no entry.
    """

    spellings: Mapping[str, Spelling]
    limits: Mapping[str, Mapping[Type, float]]

    @property
    def polynomials(self) -> Polynomials:
        """The functions, without how they are written."""
        return Polynomials(frozenset(self.spellings), self.limits)


class Launcher(Protocol):
    """One compiled kernel."""

    def launch(self, args: Sequence[Any]) -> None:
        """Run on buffers and numbers, one for each parameter."""
        ...


class NativeKernel(Protocol):
    """A kernel that the backend has written for warps, in place of one of the language."""

    def __call__(self, *args: Any) -> None:
        """Run on buffers and numbers, one for each parameter."""
        ...


class Compile(Protocol):
    """Emitted source to a kernel that runs."""

    def __call__(
        self,
        emitted: Emitted,
        of: Program,
        params: tuple[Array | Var, ...],
        *,
        written: Sequence[int],
        on_host: bool,
        as_written: bool,
    ) -> Launcher:
        """Compile the source of a program.

        Args:
            emitted: The source.
            of: The program, which has the user's lines.
            params: The parameters of a launch.
            written: The positions of the buffers that the program writes.
            on_host: Buffers are passed by their address.
            as_written: Leave fast math out, whatever the session has.

        Raises:
            CompileError: The backend refused the source.
        """
        ...


class Run(Protocol):
    """A program, as it is, to a function that runs."""

    def __call__(
        self,
        program: Program,
        params: tuple[Array | Var, ...],
        *,
        written: Sequence[int],
        report: tuple[Array, Array] | None,
    ) -> Launcher:
        """Make a program ready to run.

        Args:
            program: The program.
            params: The parameters of a launch.
            written: The positions of the buffers that the program writes.
            report: Where failures are counted, and where the first one leaves its number and
                values.
        """
        ...


@dataclass(frozen=True, slots=True)
class Backend:
    """One compiler, its memory and its names.

    Args:
        spellings: How emitted source writes each op.
        vector_math: The functions that may be polynomials.
        devices: Starts and ends.
        memory: Makes memory of a device, for elements of a type in a shape, with any contents.
        lent_memory: Makes an array of device memory lent by another library, by its address.
        shareable_memory: Allocates bytes of the device that outlive the session: the address, and
            the object that keeps them alive.
        staging_memory: Allocates bytes of the host for copies from and to the device.
        compile: Compiles emitted source.
        native: Kernels for devices with warps, by name; each stands for kernels of the language.
        graphs: Returns what makes graphs of launches on the device that was started; None where
            there are none.
        unrolls: Its LLVM writes loops out at run time, far beyond what pays on some processors.
        run: Makes programs ready as they are, for a backend without a compiler; None for others.
    """

    spellings: Mapping[str, Spelling]
    vector_math: VectorMath
    devices: Devices
    memory: Callable[[Type, tuple[int, ...]], DeviceArray]
    lent_memory: Callable[[Type, tuple[int, ...], int], DeviceArray]
    shareable_memory: Callable[[int], tuple[int, object]]
    staging_memory: Callable[[int], npt.NDArray[np.uint8]]
    compile: Compile
    native: Mapping[str, NativeKernel]
    graphs: Callable[[], Graphs | None]
    unrolls: bool = False
    run: Run | None = None
