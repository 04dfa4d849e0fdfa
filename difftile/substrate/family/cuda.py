"""Fills of memory of CUDA, and copies from and to the host, by the driver.

Taichi fills, reads and writes ndarrays by kernels and through managed memory, and waits for the
device before and after each. The driver takes some microseconds, and waits only where the host
reads, or writes a large array.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from difftile.substrate.batch import start_launches
from difftile.substrate.compiler import private, ti
from difftile.substrate.memory import Box
from difftile.substrate.streams import NULL_STREAM

impl = private.impl

_NAME = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"

_MOST_CALLS = 16  # for a box, before a kernel takes less time
_ON_DEVICE = 2  # CU_MEMORYTYPE_DEVICE
_STAGED = 1 << 16  # bytes that the driver takes from the host without waiting for the device
_WITHOUT_TIMES = 2  # CU_EVENT_DISABLE_TIMING
_PORTABLE = 1  # CU_MEMHOSTALLOC_PORTABLE
_MULTIPROCESSORS, _RESIDENT = 16, 39  # attributes: how many, and the threads of each
_ADDRESS, _HOST, _SIZE, _STREAM = ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cuDevicePrimaryCtxRetain": (ctypes.POINTER(ctypes.c_void_p), ctypes.c_int),
    "cuCtxSetCurrent": (ctypes.c_void_p,),
    "cuDeviceGetAttribute": (ctypes.POINTER(ctypes.c_int), ctypes.c_int, ctypes.c_int),
    "cuGetErrorString": (ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)),
    "cuCtxSynchronize": (),
    "cuMemsetD8Async": (_ADDRESS, ctypes.c_ubyte, _SIZE, _STREAM),
    "cuMemsetD16Async": (_ADDRESS, ctypes.c_ushort, _SIZE, _STREAM),
    "cuMemsetD32Async": (_ADDRESS, ctypes.c_uint, _SIZE, _STREAM),
    "cuMemsetD2D8Async": (_ADDRESS, _SIZE, ctypes.c_ubyte, _SIZE, _SIZE, _STREAM),
    "cuMemsetD2D16Async": (_ADDRESS, _SIZE, ctypes.c_ushort, _SIZE, _SIZE, _STREAM),
    "cuMemsetD2D32Async": (_ADDRESS, _SIZE, ctypes.c_uint, _SIZE, _SIZE, _STREAM),
    "cuMemAlloc_v2": (ctypes.POINTER(_ADDRESS), _SIZE),
    "cuMemFree_v2": (_ADDRESS,),
    "cuMemHostAlloc": (ctypes.POINTER(ctypes.c_void_p), _SIZE, ctypes.c_uint),
    "cuMemFreeHost": (_HOST,),
    "cuMemcpyDtoHAsync_v2": (_HOST, _ADDRESS, _SIZE, _STREAM),
    "cuMemcpyHtoDAsync_v2": (_ADDRESS, _HOST, _SIZE, _STREAM),
    "cuMemcpyDtoDAsync_v2": (_ADDRESS, _ADDRESS, _SIZE, _STREAM),
    "cuMemcpy3DAsync_v2": (ctypes.c_void_p, _STREAM),
    "cuEventCreate": (ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint),
    "cuEventRecord": (ctypes.c_void_p, _STREAM),
    "cuEventDestroy_v2": (ctypes.c_void_p,),
    "cuStreamSynchronize": (_STREAM,),
    "cuStreamWaitEvent": (_STREAM, ctypes.c_void_p, ctypes.c_uint),
}


def _address_of(values: npt.NDArray[Any]) -> int:
    """Return where an array begins; `values.ctypes` takes longer than the call of the driver."""
    return values.__array_interface__["data"][0]


class CudaMemory:
    """Memory of an ndarray, by its address; each call belongs after all earlier work.

    Args:
        driver: The driver.
        address: Where the memory begins.
        nbytes: Its size.
    """

    __slots__ = ("_driver", "_nbytes", "address")

    def __init__(self, driver: Driver, address: int, nbytes: int) -> None:
        self._driver = driver
        self.address = address
        self._nbytes = nbytes

    def fill(self, number: npt.NDArray[Any]) -> bool:
        """Set the memory to one number again and again; return False if it is too long for that."""
        start_launches()
        pattern = number.tobytes()
        size = min(len(pattern), 4)
        if pattern != (pattern[:size] * 2)[: len(pattern)]:
            return False
        self._driver.enter()
        value, count = int.from_bytes(pattern[:size], sys.byteorder), self._nbytes // size
        self._driver.call(f"cuMemsetD{8 * size}Async", self.address, value, count, current_stream())
        return True

    def clear(self, box: Box, shape: tuple[int, ...], itemsize: int) -> bool:
        """Set a box of the memory to zero; return False if that takes too many calls.

        Args:
            box: Where it starts and stops along each axis.
            shape: Of the memory, as numbers.
            itemsize: Of a number [bytes].
        """
        offset, width, axes = _lines(box, shape, itemsize)
        (height, pitch), outer = (axes[0], axes[1:]) if axes else ((1, width), [])
        starts = _starts(outer)
        if starts is None:
            return False
        size = next(n for n in (4, 2, 1) if not (offset % n or width % n or pitch % n))
        start_launches()
        self._driver.enter()
        name, stream = f"cuMemsetD2D{8 * size}Async", current_stream()
        for at in starts:
            first = self.address + offset + at
            self._driver.call(name, first, pitch, 0, width // size, height, stream)
        return True

    def copy_box(
        self, box: Box, shape: tuple[int, ...], itemsize: int, packed: CudaMemory, *, back: bool
    ) -> bool:
        """Copy a box of the memory to memory that holds nothing else, or back.

        Args:
            box: Where it starts and stops along each axis.
            shape: Of this memory, as numbers.
            itemsize: Of a number [bytes].
            packed: The other memory.
            back: Whether the box is set from it.

        Returns:
            Whether it is done; False, with nothing done, if that takes too many calls.
        """
        offset, width, axes = _lines(box, shape, itemsize)
        (height, pitch), (depth, plane) = [*axes[:2], (1, width), (1, width)][:2]
        if len(axes) < 2:
            plane = pitch * height
        starts = _starts(axes[2:])
        if starts is None:
            return False
        start_launches()
        self._driver.enter()
        stream = current_stream()
        for k, at in enumerate(starts):
            here = self.address + offset + at, pitch, plane // pitch
            there = packed.address + k * width * height * depth, width, height
            source, target = (there, here) if back else (here, there)
            made = _Copy(_CopySide.of(*source), _CopySide.of(*target), width, height, depth)
            self._driver.call("cuMemcpy3DAsync_v2", ctypes.byref(made), stream)
        return True

    def read(self, offset: int, values: npt.NDArray[Any]) -> None:
        """Set an array of the host from a part of the memory."""
        start_launches()
        self._driver.enter()
        source, stream = self.address + offset, current_stream()
        given = _address_of(values), source, values.nbytes, stream
        self._driver.call("cuMemcpyDtoHAsync_v2", *given)
        self._driver.call("cuStreamSynchronize", stream)

    def write(self, offset: int, values: npt.NDArray[Any]) -> None:
        """Set a part of the memory from an array of the host."""
        start_launches()
        self._driver.enter()
        target, stream = self.address + offset, current_stream()
        staged = values.nbytes <= _STAGED
        if staged:
            values = values.copy()  # to memory that is not pinned, and so is read before the return
        given = target, _address_of(values), values.nbytes, stream
        self._driver.call("cuMemcpyHtoDAsync_v2", *given)
        if not staged:
            self._driver.call("cuStreamSynchronize", stream)

    def copy(self, other: CudaMemory) -> None:
        """Set all of the memory from memory of the same size."""
        self.copy_part(0, other, 0, self._nbytes)

    def copy_part(self, offset: int, other: CudaMemory, start: int, nbytes: int) -> None:
        """Set a part of the memory from bytes of other memory, from one on."""
        start_launches()
        self._driver.enter()
        given = self.address + offset, other.address + start, nbytes, current_stream()
        self._driver.call("cuMemcpyDtoDAsync_v2", *given)


class _CopySide(ctypes.Structure):
    """One side of a copy in three dimensions, as in CUDA_MEMCPY3D of the driver's interface."""

    _fields_: ClassVar[Any] = [
        *((name, _SIZE) for name in ("x", "y", "z", "level")),
        ("kind", ctypes.c_uint),
        ("host", _HOST),
        ("address", _ADDRESS),
        ("array", _HOST),
        ("reserved", _HOST),
        ("pitch", _SIZE),
        ("height", _SIZE),
    ]

    @classmethod
    def of(cls, address: int, pitch: int, height: int) -> _CopySide:
        """Return memory of the device: rows at a distance of some bytes, in planes of some rows."""
        return cls(kind=_ON_DEVICE, address=address, pitch=pitch, height=height)


class _Copy(ctypes.Structure):
    """CUDA_MEMCPY3D: a copy of some bytes of a row, of some rows, of some planes."""

    _fields_: ClassVar[Any] = [
        ("source", _CopySide),
        ("target", _CopySide),
        *((name, _SIZE) for name in ("width", "height", "depth")),
    ]


def _lines(
    box: Box, shape: tuple[int, ...], itemsize: int
) -> tuple[int, int, list[tuple[int, int]]]:
    """Return the lines of a box that have no gaps.

    Args:
        box: Where it starts and stops along each axis.
        shape: Of the memory, as numbers.
        itemsize: Of a number [bytes].

    Returns:
        The first byte, the bytes of a line, and how many lines there are along each other axis, and
        at which distance [bytes], from the last axis to the first.
    """
    axes = [(low, high, size) for (low, high), size in zip(box, shape, strict=True)]
    unit = itemsize
    while axes and axes[-1][:2] == (0, axes[-1][2]):
        unit *= axes.pop()[2]
    low, high, size = axes.pop() if axes else (0, 1, 1)
    offset, width, distance = low * unit, (high - low) * unit, size * unit
    found: list[tuple[int, int]] = []
    for low, high, size in reversed(axes):
        offset += low * distance
        found.append((high - low, distance))
        distance *= size
    return offset, width, found


def _starts(axes: Sequence[tuple[int, int]]) -> list[int] | None:
    """Return where calls for a part each start, beyond the first [bytes]; None if they are many."""
    if prod(count for count, _ in axes) > _MOST_CALLS:
        return None
    starts = [0]
    for count, distance in axes:
        starts = [at + k * distance for k in range(count) for at in starts]
    return starts


class Driver:
    """The functions of the driver, in the context that Taichi uses.

    Raises:
        OSError: There is no driver.
    """

    def __init__(self) -> None:
        self._library = ctypes.CDLL(_NAME)
        self._functions: dict[str, Any] = {}
        self.declare(_SIGNATURES)
        self._context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), 0)

    def declare(self, signatures: Mapping[str, tuple[Any, ...]]) -> None:
        """Prepare calls of functions, with the types of their arguments.

        Raises:
            AttributeError: The driver, which is an older one, lacks one of them.
        """
        for name, signature in signatures.items():
            function = self._functions[name] = getattr(self._library, name)
            function.argtypes, function.restype = signature, ctypes.c_int

    def enter(self) -> None:
        """Make Taichi's context current in the calling thread, as Taichi does at launches."""
        self.call("cuCtxSetCurrent", self._context)

    def call(self, name: str, *args: Any) -> None:
        """Call a function.

        Raises:
            RuntimeError: The driver, or earlier work on the device, has failed.
        """
        code: int = self._functions[name](*args)
        if code:
            text = ctypes.c_char_p()
            self._functions["cuGetErrorString"](code, ctypes.byref(text))
            reason = (text.value or b"no text").decode(errors="replace")
            raise RuntimeError(f"CUDA error {code}, {reason}, in {name}")


def memory_at(address: int, nbytes: int) -> CudaMemory | None:
    """Return memory that begins at an address of the session's device; None elsewhere."""
    found = driver()
    return None if found is None else CudaMemory(found, address, nbytes)


class Allocation:
    """Memory of the driver, which lives as long as this does, whatever becomes of Taichi.

    Args:
        driver: The driver.
        nbytes: The size of the memory.
    """

    __slots__ = ("_driver", "address")

    def __init__(self, driver: Driver, nbytes: int) -> None:
        found = ctypes.c_uint64()
        driver.enter()
        driver.call("cuMemAlloc_v2", ctypes.byref(found), nbytes)
        self._driver = driver
        self.address = found.value

    def __del__(self) -> None:
        self._driver.enter()
        self._driver.call("cuMemFree_v2", self.address)


def allocate(nbytes: int) -> Allocation | None:
    """Return memory that Taichi does not free when a session ends; None without CUDA.

    Raises:
        RuntimeError: The memory is not there.
    """
    found = driver()
    return None if found is None else Allocation(found, nbytes)


class _Pinned:
    """Memory of the host that the device copies from and to without a stop on the way.

    Args:
        driver: The driver.
        nbytes: The size of the memory, above zero.
    """

    __slots__ = ("__array_interface__", "_driver")

    def __init__(self, driver: Driver, nbytes: int) -> None:
        found = ctypes.c_void_p()
        driver.enter()
        driver.call("cuMemHostAlloc", ctypes.byref(found), nbytes, _PORTABLE)
        self._driver = driver
        self.__array_interface__ = {
            "data": (found.value, False),
            "shape": (nbytes,),
            "typestr": "|u1",
            "version": 3,
        }

    def __del__(self) -> None:
        if hasattr(self, "__array_interface__"):
            self._driver.enter()
            self._driver.call("cuMemFreeHost", self.__array_interface__["data"][0])


def staging_memory(nbytes: int) -> npt.NDArray[np.uint8]:
    """Return bytes of the host for copies from and to the device; pinned where that is CUDA."""
    found = driver()
    if found is None or not nbytes:
        return np.empty(nbytes, np.uint8)
    return np.asarray(_Pinned(found, nbytes))


def let_wait(waiting: int, stream: int) -> None:
    """Let later work on one stream wait for earlier work on another; the host does not wait.

    The legacy null stream is 0 or 1. It waits by itself for streams that others have made, and they
    for it, unless they were made without that.

    Args:
        waiting: The stream that waits.
        stream: The stream that it waits for.
    """
    start_launches()
    if max(waiting, NULL_STREAM) == max(stream, NULL_STREAM):
        return
    driver = _driver()
    if driver is None:
        return
    driver.enter()
    if _EVENTS.of is None or _EVENTS.of.driver is not driver:
        _EVENTS.of = _Event(driver)
    event = _EVENTS.of.handle
    driver.call("cuEventRecord", event, stream)
    driver.call("cuStreamWaitEvent", waiting, event, 0)  # for what is recorded now, not later


class _Event:
    """An event of the driver, whose context is current."""

    __slots__ = ("driver", "handle")

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.handle = ctypes.c_void_p()
        driver.call("cuEventCreate", ctypes.byref(self.handle), _WITHOUT_TIMES)

    def __del__(self) -> None:
        if self.handle:
            self.driver.enter()
            self.driver.call("cuEventDestroy_v2", self.handle)


class _Events(threading.local):
    """The event of each thread: between its two calls another thread may run."""

    of: _Event | None = None


_EVENTS = _Events()


def driver() -> Driver | None:
    """Return the driver, if the session's device is one of CUDA."""
    return _driver() if _LAUNCHES.on_cuda else None


@cache
def _driver() -> Driver | None:
    try:
        return Driver()
    except (OSError, AttributeError):
        return None


def enter() -> None:
    """Let the calling thread, which may be any, use the session's device as the session does."""
    found = driver()
    if found is not None:
        found.enter()
        take_stream()


class _Launches:
    """The device of the session, and the stream that launches and copies are on.

    Attributes:
        on_cuda: Whether the device is one of CUDA; the compiler takes microseconds to tell.
        stream: Its handle; None is the legacy null stream.
        changed: Whether a session of this process has had another stream. The compiler keeps the
            stream for each thread, so from then on it is set before each use.
    """

    on_cuda = False
    stream: int | None = None
    changed = False


_LAUNCHES = _Launches()


def use_stream(stream: int) -> None:
    """Have later work of the session that begins on a stream, once all earlier work is done."""
    _LAUNCHES.on_cuda = impl.current_cfg().arch == ti.cuda
    _LAUNCHES.stream = None if stream <= NULL_STREAM else stream
    _LAUNCHES.changed |= _LAUNCHES.stream is not None
    found = driver()
    if found is not None and _LAUNCHES.changed:
        found.enter()
        found.call("cuCtxSynchronize")
        take_stream()


def current_stream() -> int | None:
    """Return the handle of the stream of the session; None is the legacy null stream."""
    return _LAUNCHES.stream


def takes_stream() -> bool:
    """Tell whether threads have to take the session's stream before they launch."""
    return _LAUNCHES.changed


def take_stream(stream: int | None = None) -> None:
    """Let the calling thread launch on a stream, by default on the session's."""
    if _LAUNCHES.changed:
        program: Any = impl.get_runtime().prog
        program.set_current_cuda_stream(stream or _LAUNCHES.stream or 0)


def leave_stream() -> None:
    """Let the calling thread go back to the null stream, before the compiler is restarted."""
    if _LAUNCHES.changed and private.is_running():
        impl.get_runtime().prog.set_current_cuda_stream(0)
    _LAUNCHES.stream = None


def finish_null_stream() -> None:
    """Wait for what the compiler does to new memory, if the session has a stream of its own."""
    found = driver() if _LAUNCHES.stream is not None else None
    if found is not None:
        found.call("cuStreamSynchronize", None)


def finish_stream() -> None:
    """Wait for work on a stream of the session's own, before memory is freed on the null stream."""
    found = driver() if _LAUNCHES.stream is not None else None
    if found is not None:
        found.enter()
        found.call("cuStreamSynchronize", _LAUNCHES.stream)


def multiprocessors() -> tuple[int, int] | None:
    """Return how many multiprocessors the device has, and how many threads each holds."""
    driver = _driver()
    if driver is None:
        return None
    found: list[int] = []
    for attribute in (_MULTIPROCESSORS, _RESIDENT):
        number = ctypes.c_int()
        driver.call("cuDeviceGetAttribute", ctypes.byref(number), attribute, 0)
        found.append(number.value)
    return (found[0], found[1]) if found[0] else None


def memory_of(ndarray: Any) -> CudaMemory | None:
    """Return the memory of an ndarray; None where only Taichi can copy it."""
    found = driver()
    if found is None:
        return None
    arr = ndarray.arr
    program: Any = impl.get_runtime().prog
    address: int = program.get_ndarray_data_ptr_as_int(arr)
    return CudaMemory(found, address, arr.nelement() * arr.element_size())
