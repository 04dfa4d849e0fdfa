"""Native kernels run by Python: each thread of a block is a thread, and meets the others in order.

Threads change only where they wait for each other, so that additions are atomic. Numbers have
double precision, except where their bits are asked for. Shared memory begins with NaN. This suits
kernels whose warps go ways of their own; `tests.warps` runs threads in step, and finds races.
"""

from __future__ import annotations

import ast
import math
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

WARP = 32


class Elements:
    """An array as kernels see it: elements may be vectors, and are copied when they are read."""

    def __init__(self, values: np.ndarray, ndim: int) -> None:
        self.values = values
        self.shape = values.shape[:ndim]

    def __getitem__(self, index: Any) -> Any:
        return np.copy(self.values[() if index is None else index])[()]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.values[() if index is None else index] = value


class _Group:
    """Threads that exchange values."""

    def __init__(self, size: int) -> None:
        self.values: list[Any] = [None] * size
        self.barrier = threading.Barrier(size)

    def exchange(self, place: int, value: Any) -> list[Any]:
        """Return the values of all threads, once all are here."""
        self.values[place] = value
        self.barrier.wait()
        found = self.values.copy()
        self.barrier.wait()
        return found


class Emulator:
    """The kernels of a file, as functions of arrays and numbers.

    Args:
        path: The file of native kernels; its imports are left out.
        names: More names that it imports.
        constants: Names of the file that get other values.
    """

    def __init__(self, path: Path, names: dict[str, Any], **constants: Any) -> None:
        self._here = threading.local()
        self._lock = threading.Lock()
        tree = ast.parse(path.read_text())
        tree.body = [s for s in tree.body if not isinstance(s, (ast.Import, ast.ImportFrom))]
        self.names: dict[str, Any] = {
            "ti": self._language(),
            "range": self._range,
            "native": lambda *_, **__: lambda kernel: kernel,
            "cache": lambda function: function,
            "Any": Any,
            "NativeKernel": Any,
            **names,
        }
        exec(compile(tree, str(path), "exec"), self.names)
        self.names.update(constants)

    def run(self, kernel: Callable[..., None], args: list[Any], blocks: int) -> None:
        """Run a kernel of one loop, a block after the other.

        Args:
            kernel: The function.
            args: Its arguments.
            blocks: How many blocks its grid has.
        """
        with _one_at_a_time():
            size = self._size(kernel, args)
            for block in range(blocks):
                self._run_block(kernel, args, block, size)

    def _size(self, kernel: Callable[..., None], args: list[Any]) -> int:
        """Return the number of threads of a block."""
        self._here.size = None
        try:
            kernel(*args)
        except _SizeFound:
            return self._here.size
        raise AssertionError("a kernel says how large its blocks are")

    def _run_block(self, kernel: Any, args: list[Any], block: int, size: int) -> None:
        whole = _Group(size)
        warps = [_Group(WARP) for _ in range(size // WARP)]
        shared: list[Elements] = []
        errors: list[BaseException] = []

        def thread(number: int) -> None:
            here = self._here
            here.size, here.number, here.arrays, here.looped = size, number, 0, False
            here.index, here.shared = block * size + number, shared
            here.block, here.warp = whole, warps[number // WARP]
            np.seterr(all="ignore")
            try:
                kernel(*args)
            except threading.BrokenBarrierError:
                pass
            except BaseException as error:
                errors.append(error)
                for group in (whole, *warps):
                    group.barrier.abort()

        threads = [threading.Thread(target=thread, args=(k,), daemon=True) for k in range(size)]
        for one in threads:
            one.start()
        for one in threads:
            one.join(60)
            assert not one.is_alive(), "threads wait for others that never come"
        if errors:
            raise errors[0]

    # What kernels name

    def _range(self, *bounds: int) -> Any:
        here = self._here
        if getattr(here, "looped", True):
            return range(*bounds)
        here.looped = True
        assert here.index < bounds[0]
        return (here.index,)

    def _language(self) -> SimpleNamespace:
        def loop_config(block_dim: int) -> None:
            if self._here.size is None:
                self._here.size = block_dim
                raise _SizeFound

        def shared_array(shape: tuple[int, ...], dtype: Any) -> Elements:
            here = self._here
            with self._lock:  # NumPy lets other threads run while it fills an array
                if here.arrays == len(here.shared):
                    blank = np.full(shape, 10**9) if dtype is int else np.full(shape, np.nan)
                    here.shared.append(Elements(blank, len(shape)))
            here.arrays += 1
            return here.shared[here.arrays - 1]

        def of_block(value: Any) -> list[Any]:
            return self._here.block.exchange(self._here.number, value)

        def of_warp(value: Any) -> list[Any]:
            return self._here.warp.exchange(self._here.number % WARP, value)

        def ballot(value: int) -> int:
            return sum(1 << k for k, one in enumerate(of_warp(value)) if one)

        def from_other(_: int, value: Any, lane: int) -> Any:
            return of_warp(value)[lane]

        warp = SimpleNamespace(
            ballot=ballot,
            any_nonzero=lambda _, value: int(any(of_warp(value))),
            shfl_sync_f32=from_other,
            shfl_sync_i32=from_other,
            sync=lambda _: of_warp(None),
        )
        block = SimpleNamespace(
            SharedArray=shared_array,
            sync=lambda: of_block(None),
            sync_count_nonzero=lambda value: sum(map(bool, of_block(value))),
        )
        types = SimpleNamespace(ndarray=lambda *_, **__: None, vector=lambda *_: None)
        return SimpleNamespace(
            func=lambda function: function,
            kernel=lambda function: function,
            template=lambda: None,
            static=lambda value: value,
            loop_config=loop_config,
            types=types,
            f32=float,
            i32=int,
            u32=int,
            bit_cast=_bit_cast,
            cast=lambda value, dtype: dtype(value),
            raw_div=lambda a, b: int(a / b),
            min=np.fmin,
            max=np.fmax,
            abs=np.abs,
            log=lambda x: math.log(x) if x > 0 else math.nan,
            Vector=np.array,
            Matrix=np.array,
            math=SimpleNamespace(vec2=None, vec3=None, clz=lambda x: WARP - int(x).bit_length()),
            simt=SimpleNamespace(warp=warp, block=block),
        )


class _SizeFound(Exception):
    """The size of a block is known."""


def _bit_cast(value: Any, dtype: Any) -> Any:
    if dtype is float:
        return np.uint32(value).view(np.float32)[()].astype(np.float64)
    return int(np.float32(value).view(np.uint32))


@contextmanager
def _one_at_a_time() -> Generator[None]:
    """While this is open, threads change only where one waits."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(100)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
