"""Fields in memory of a device, on machines without one: arrays of Taichi that Python cannot see.

The driver of CUDA is replaced by one that moves bytes of the host, and counts its calls.
"""

import ctypes
import dataclasses
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

import difftile as dt
from difftile.passes.tile_rows import TILE
from difftile.schedule.grids import Grid, Grids
from difftile.substrate import session
from difftile.substrate.compiler import private, ti
from difftile.substrate.family import build, cuda, device, ndarrays
from difftile.substrate.family.launcher import CompiledKernel
from difftile.substrate.family.operations import Operations

FEW = Grids(
    full=Grid(3),
    several=Grid(2, warp=1),
    few=Grid(2),
    private=Grid(6, 2, least=3),
    sharing=Grid(2, warp=1),
    tiled=Grid(4),
)
"""So few threads that small loops take many strides; a warp is a thread."""


class HostDriver:
    """The functions of the driver that `cuda.CudaMemory` calls, for memory of the host."""

    def enter(self) -> None:
        """Do nothing: the host has no contexts."""

    def call(self, name: str, *args: Any) -> None:
        if name == "cuStreamSynchronize":
            return
        if name.startswith("cuMemcpy3D"):
            self._copy(args[0]._obj)
            return
        target, source, size, *more = args
        if name.startswith("cuMemset"):
            bits = int(name.removesuffix("Async").rpartition("D")[2])
            if "2D" in name:  # address, distance of rows, value, width, height
                rows, value, width = range(more[1]), size, more[0]
                for row in rows:
                    self._set(target + row * source, bits, value, width)
            else:
                self._set(target, bits, source, size)
        else:
            ctypes.memmove(target, source, size)

    def _copy(self, copy: Any) -> None:
        """Copy lines of bytes."""
        for z in range(copy.depth):
            for y in range(copy.height):
                target, source = (
                    side.address + (z * side.height + y) * side.pitch
                    for side in (copy.target, copy.source)
                )
                ctypes.memmove(target, source, copy.width)

    def _set(self, target: int, bits: int, value: int, count: int) -> None:
        values = np.full(count, value, np.dtype(f"u{bits // 8}"))
        ctypes.memmove(target, values.ctypes.data, values.nbytes)


@contextmanager
def device_arrays(
    *,
    driver: bool = True,
    warps: bool = False,
    grids: Grids | None = None,
    deterministic: bool = False,
) -> Generator[None]:
    """Start on the CPU as on a device.

    Args:
        driver: Whether there is a driver; else Taichi moves all contents.
        warps: Whether programs are made for threads in warps; see `threads_alone`.
        grids: The threads of the device.
        deterministic: As for `dt.init`.
    """
    start = device.start
    on = Grids.on if grids is None else lambda *_, **__: grids

    def start_as_device(arch: str, settings: Any, stream: int) -> Any:
        return dataclasses.replace(start(arch, settings, stream), on_host=False, warps=warps)

    def memory_of(ndarray: Any) -> cuda.CudaMemory | None:
        arr = ndarray.arr
        program: Any = private.impl.get_runtime().prog
        address = program.get_ndarray_data_ptr_as_int(arr)
        found: Any = HostDriver()
        return (
            cuda.CudaMemory(found, address, arr.nelement() * arr.element_size()) if driver else None
        )

    try:
        with (
            mock.patch.object(device, "start", start_as_device),
            mock.patch.object(ndarrays, "memory_of", memory_of),
            mock.patch.object(session.Grids, "on", on),
        ):
            dt.init(arch="cpu", deterministic=deterministic)
            yield
    finally:
        dt.init(arch="cpu")


@ti.func
def lane(thread, place, row):
    return place - place


@ti.func
def total(shape: ti.template(), value, lane):
    return value


@ti.func
def adds(shape: ti.template(), found, lane):
    return lane == 0


@ti.func
def of_one(shape: ti.template(), value):
    return value


@ti.func
def meet():
    pass


@ti.func
def add(array: ti.template(), index, value, thread):
    array[index] += value


def tile(scalar: Any) -> Any:
    return shared(scalar, TILE)


def shared(scalar: Any, count: int) -> Any:
    runtime: Any = private.impl.get_runtime()
    to = Operations(runtime.compiling_callable.ast_builder())
    zero = to.constant(0 if scalar == ti.i32 else 0.0, scalar)
    return to.variable(to.tensor([zero] * count))


@ti.func
def row(thread):
    return thread - thread


@ti.func
def load_rows(tile: ti.template(), array: ti.template(), at: ti.template(), count, thread):
    for k in range(count):
        if ti.static(len(at) == 2):
            tile[k] = array[at[0], at[1] + k]
        elif ti.static(len(at) == 3):
            tile[k] = array[at[0], at[1], at[2] + k]
        else:
            tile[k] = array[at[0], at[1], at[2], at[3] + k]


@ti.func
def store_rows(tile: ti.template(), array: ti.template(), at: ti.template(), count, thread):
    for k in range(count):
        if ti.static(len(at) == 2):
            array[at[0], at[1] + k] = tile[k]
        elif ti.static(len(at) == 3):
            array[at[0], at[1], at[2] + k] = tile[k]
        else:
            array[at[0], at[1], at[2], at[3] + k] = tile[k]


@contextmanager
def threads_alone() -> Generator[None]:
    """Let each thread stand for a warp of its own, where there are no warps."""
    alone = dict.fromkeys(("all_add", "all_max", "all_min"), of_one)
    copies = {
        "shared": shared,
        "tile": tile,
        "row": row,
        "load_rows": load_rows,
        "store_rows": store_rows,
    }
    own = {"lane": lane, "total": total, "adds": adds, "add": add, "meet": meet}
    warps = SimpleNamespace(**own, **alone, **copies)
    with mock.patch.dict(build._NAMES, {"warps": warps}):
        yield


@contextmanager
def counted() -> Generator[Counter[str]]:
    """Count launches, kernels of Taichi's own, and calls of the driver without their suffixes."""
    counts: Counter[str] = Counter()

    def counting(owner: type, method: str, name: Any) -> Any:
        original = getattr(owner, method)

        def call(self: Any, *args: Any, **options: Any) -> Any:
            if args[:1] != ("cuStreamSynchronize",):  # part of a copy
                counts[name(*args)] += 1
            return original(self, *args, **options)

        return mock.patch.object(owner, method, call)

    def function(name: str, *_: Any) -> str:
        return name.removesuffix("_v2").removesuffix("Async").removeprefix("cu")

    with (
        counting(CompiledKernel, "launch", lambda *_: "launch"),
        counting(type(private.kernel_of(ndarrays._add)), "__call__", lambda *_: "kernel of Taichi"),
        counting(HostDriver, "call", function),
        counting(cuda.Driver, "call", function),
        mock.patch.object(cuda.Driver, "enter", lambda self: None),
    ):
        yield counts
